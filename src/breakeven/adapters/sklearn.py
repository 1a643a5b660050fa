"""A scikit-learn regressor that also says which rows are worth their label.

Besides scikit-learn's own verbs there is one more, `query`. A stream goes: query, buy what it asks for,
partial_fit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from breakeven.adapters.matching import learner_for, teach
from breakeven.beliefs.gp import Kernel, KernelName
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.learner import Learner


class AskingEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator with a learner underneath, `learner_`, and one more verb, `query`."""

    def _new_learner(self) -> Learner:
        """A learner of rows as wide as those seen first."""
        raise NotImplementedError

    def query(self, X: Any) -> NDArray[np.bool_]:
        """Count the rows as arrivals, in their order, and say which of them are worth their label.

        May be called before any `fit`. A label asked for counts as awaited, so a batch does not ask twice for
        the same. The first three labels must be given before more are asked for.
        """
        with self._unless_refused():
            X = validate_data(self, X, reset=self._is_new, dtype=np.float64)
            return np.array([one.wants_label for one in self._started().decide_many(X)])

    @contextmanager
    def _unless_refused(self) -> Iterator[None]:
        """What is set in here stays only if nothing is raised: scikit-learn sets some before it checks."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    @property
    def _is_new(self) -> bool:
        return not hasattr(self, "learner_")

    def _started(self) -> Learner:
        if self._is_new:
            self.learner_ = self._new_learner()
        return self.learner_

    def __getstate__(self) -> dict[str, Any]:
        """As it is, but for the learner, whose snapshot it is: joblib may map pickled arrays read-only."""
        state: dict[str, Any] = dict(super().__getstate__())
        return state if self._is_new else {**state, "learner_": self.learner_.snapshot()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up what `__getstate__` gave."""
        blob = state.get("learner_")
        super().__setstate__(state if blob is None else {**state, "learner_": Learner.restore(blob)})


class BreakevenRegressor(RegressorMixin, AskingEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A belief that says which labels to buy, and learns from any that it is given.

    A label costs `label_cost`, a unit of error `error_cost` (1 unless given), and `horizon` rows are
    expected in all; left out, 600, or as many again as came. Instead of `error_cost`, an answer too
    low by 1 may cost `under_cost` and one too high `over_cost`: predictions are then a quantile of the
    label. Inputs may be of any scale. How smooth the labels are and, unless `noise_std` is given, how
    noisy, is averaged over (`Averaged`); with a `kernel`, named or to start from, one
    Gaussian process is fitted instead. Labels bought test what was claimed of them, and a few more are
    drawn for that: `check` is the share of the expected error that these may cost, 0.07 unless given, or
    nothing at all with a `kernel`. `learner_` is the `Learner` underneath: it has the bill, what is
    awaited, and `reprice` for costs that change.

    >>> X = np.linspace(0.0, 6.0, 60).reshape(-1, 1)
    >>> regressor = BreakevenRegressor(label_cost=0.2, noise_std=0.1, horizon=60)
    >>> for x in np.random.default_rng(0).permutation(X):
    ...     if regressor.query([x])[0]:
    ...         _ = regressor.partial_fit([x], np.sin(x))
    >>> regressor.learner_.ledger.labels < 20
    True
    >>> bool(np.abs(regressor.predict(X) - np.sin(X[:, 0])).max() < 0.1)
    True
    """

    learner_: Learner

    def __init__(
        self,
        label_cost: float = 1.0,
        error_cost: float | None = None,
        noise_std: float | None = None,
        horizon: int | None = None,
        kernel: Kernel | KernelName | None = None,
        seed: int = 0,
        under_cost: float | None = None,
        over_cost: float | None = None,
        check: float | None = None,
    ) -> None:
        self.label_cost = label_cost
        self.error_cost = error_cost
        self.noise_std = noise_std
        self.horizon = horizon
        self.kernel = kernel
        self.seed = seed
        self.under_cost = under_cost
        self.over_cost = over_cost
        self.check = check

    def fit(self, X: Any, y: Any) -> Self:
        """Start afresh with these labels, all of them learnt and none of them paid for."""
        with self._unless_refused():
            X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
            self.learner_ = self._new_learner()
            teach(self.learner_, X, _numbers(y))
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn more labels: answers to `query` about the same rows, or labels that nobody asked for."""
        with self._unless_refused():
            X, y = validate_data(self, X, y, reset=self._is_new, dtype=np.float64, y_numeric=True)
            teach(self._started(), X, _numbers(y))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """The answer at every row, and if wanted the std of f: half of what lies between its 16% and 84%.

        The answer is the median of a label, or the quantile that uneven costs ask for. After a `query` and
        before the first label it is 0; until there are three labels the std is ∞: nothing says how large
        errors are. Intervals are `learner_.predict(x).interval(0.95, of="label")`.
        """
        check_is_fitted(self)
        predictions = self.learner_.predict_many(validate_data(self, X, reset=False, dtype=np.float64))
        means = np.array([one.mean for one in predictions])
        if not return_std:
            return means
        known = self.learner_.fits > 0
        return means, np.array([one.std if known else np.inf for one in predictions])

    def _new_learner(self) -> Learner:
        return learner_for(self.n_features_in_, **self.get_params(deep=False))


def _numbers(y: NDArray[Any]) -> NDArray[Any]:
    """Labels, unless they are words or truth values, which are another estimator's."""
    if y.dtype.kind in "USb":
        came = f"{expect.shown(y.tolist())}; for two classes there is BreakevenClassifier"
        expect.refuse("y", "a row of finite numbers", came, described=True)
    return y
