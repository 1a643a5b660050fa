"""A scikit-learn classifier for yes/no labels that also says which rows are worth their label.

Besides scikit-learn's own verbs there is one more, `query`. A stream goes: query, buy what it asks for,
partial_fit. The yes is the second of the two classes, in their order. Labels that were all no so far may be
the first of many: so a class that says yes or no by itself brings the other with it, and of any other pair
both must be named before the first label.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from breakeven.adapters.matching import teach
from breakeven.adapters.sklearn import AskingEstimator
from breakeven.beliefs import AveragedShares
from breakeven.errors import expect
from breakeven.errors.expect import Array
from breakeven.learner import Learner
from breakeven.rules import Value, checked

KNOWN_PAIRS: tuple[tuple[Any, Any], ...] = ((0, 1), ("no", "yes"), ("No", "Yes"), ("NO", "YES"))


class BreakevenClassifier(ClassifierMixin, AskingEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Answers one of two classes, says which labels to buy, and learns from any that it is given.

    A label costs `label_cost`, a wrong answer `error_cost` (1 unless given), or a miss `miss_cost` and a
    false alarm `false_alarm_cost`; `horizon` rows are expected in all; left out, 600, or as many again as
    came. Labels bought test what was claimed of them, and a few more are drawn for that: `check`
    is the share of the expected error that these may cost, 0.07 unless given. `predict` gives the class
    that costs less on average. `learner_` is the `Learner` underneath: it has the bill, what is awaited,
    and `reprice` for costs that change.
    """

    learner_: Learner
    classes_: NDArray[Any]

    def __init__(
        self,
        label_cost: float = 1.0,
        error_cost: float | None = None,
        miss_cost: float | None = None,
        false_alarm_cost: float | None = None,
        horizon: int | None = None,
        seed: int = 0,
        check: float | None = None,
    ) -> None:
        self.label_cost = label_cost
        self.error_cost = error_cost
        self.miss_cost = miss_cost
        self.false_alarm_cost = false_alarm_cost
        self.horizon = horizon
        self.seed = seed
        self.check = check

    def __sklearn_tags__(self) -> Any:
        """As scikit-learn asks for them: two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Start afresh with these labels, all of them learnt and none of them paid for."""
        with self._unless_refused():
            X, y = validate_data(self, X, y, dtype=np.float64)
            self.classes_ = _classes_in(y)
            self.learner_ = self._new_learner()
            teach(self.learner_, X, self._numbers(y))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn more labels: answers to `query` about the same rows, or labels that nobody asked for.

        `classes` are both of them, where the first call does not have both; 0 and 1, False and True, no and
        yes are known by one of them.
        """
        with self._unless_refused():
            X, y = validate_data(self, X, y, reset=self._is_new, dtype=np.float64)
            self.classes_ = self._both_classes(y, classes)
            teach(self._started(), X, self._numbers(y))
        return self

    def _both_classes(self, y: NDArray[Any], named: Any) -> NDArray[Any]:
        """Those known, or those named, or those of the first labels."""
        if hasattr(self, "classes_"):
            if named is not None and not np.array_equal(_classes_in(np.asarray(named)), self.classes_):
                expect.refuse("classes", f"{self.classes_.tolist()}, as before", named)
            return self.classes_
        found = _classes_in(y if named is None else np.asarray(named))
        if len(found) < 2:
            expect.refuse("classes", "both of them, before the first label", found.tolist())
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row that costs less on average."""
        says_yes = np.array([one.mean > 0.5 for one in self._predictions(X)], dtype=bool)
        answers: NDArray[Any] = np.where(says_yes, self.classes_[-1], self.classes_[0])
        return answers

    def predict_proba(self, X: Any) -> Array:
        """The probability of either class, in the order of `classes_`."""
        yes = np.array([one.probability for one in self._predictions(X)], dtype=np.float64)
        return np.column_stack([1.0 - yes, yes]) if len(self.classes_) > 1 else np.ones((len(yes), 1))

    def _predictions(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        return self.learner_.predict_many(validate_data(self, X, reset=False, dtype=np.float64))

    def _numbers(self, y: NDArray[Any]) -> Array:
        """1 for the second class, 0 for the first."""
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            known, way = self.classes_.tolist(), "ask about one class at a time"
            if len(known) == 1:
                way = "begin with `partial_fit`, which takes both as `classes`"
            expect.refuse("y", f"the classes {known}", f"{unknown.tolist()}; {way}", described=True)
        return (y == self.classes_[-1]).astype(float) if len(self.classes_) > 1 else np.zeros(len(y))

    def _new_learner(self) -> Learner:
        return Learner(
            AveragedShares(self.n_features_in_),
            checked(Value(self.horizon, scored="labels"), self.check, averaged=True),
            label_cost=self.label_cost,
            error_cost=self.error_cost,
            miss_cost=self.miss_cost,
            false_alarm_cost=self.false_alarm_cost,
            seed=self.seed,
            fitting="outside",
        )


def _classes_in(y: NDArray[Any]) -> NDArray[Any]:
    """The classes, two at most; where all labels are one of a known pair, both.

    >>> _classes_in(np.array([False, False])).tolist(), _classes_in(np.array(["Yes"])).tolist()
    ([False, True], ['No', 'Yes'])
    """
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: ask about one class "
            "at a time"
        )
    found = np.unique(y)
    pair = next((pair for pair in KNOWN_PAIRS if len(found) == 1 and found[0] in pair), None)
    return found if pair is None else np.array(pair, dtype=found.dtype if found.dtype.kind != "U" else None)
