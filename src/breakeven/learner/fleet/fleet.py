"""Many learners of one configuration, in arrays: one for every key, each as if it were alone.

What a key decides, believes and has spent is, to the bit, what a `Learner` of its own would: `learner(key)`
gives that one, and `put` takes it back. Arrivals of all keys go through one compiled loop.
"""

from collections.abc import Mapping
from math import inf, isnan, nan
from typing import Any, NamedTuple

import numpy as np

from breakeven.beliefs import TypeMeans
from breakeven.beliefs.types.weighing import posterior_mean
from breakeven.errors import InvalidInput, expect
from breakeven.errors.expect import Array
from breakeven.learner.book import LONGEST_NUMBER
from breakeven.learner.bulk.arrays import Answers, Before, Counts
from breakeven.learner.bulk.judges import COMPILED_RULES, rates_agree
from breakeven.learner.bulk.stream import COMPILED_BELIEFS, LARGEST_INTEGER
from breakeven.learner.bulk.worth_loop import TOLD
from breakeven.learner.fleet.blob import dump, read
from breakeven.learner.fleet.conversion import learner_of, put_learner
from breakeven.learner.fleet.fleet_state import FleetState
from breakeven.learner.fleet.judging import Arrivals, Judging
from breakeven.learner.fleet.passing import (
    CHARGED,
    FIT_MISSING,
    NOT_WITHDRAWN,
    PAID,
    PARTS_MISSING,
    BoughtRows,
    by_key,
    count_asked,
    note_arrivals,
    repeated,
)
from breakeven.learner.fleet.vocabulary import CheckedValues, ValueKind
from breakeven.learner.learner import Learner
from breakeven.learner.soundness import check_columns
from breakeven.rules import Value
from breakeven.values import EVEN, DecisionColumns, Reasons

LARGEST_WINDOW = 2**31 - 1


class LabelCounts(NamedTuple):
    """What became of labels: told; told again; of another value than before; kept for an arrival to come.

    `forgotten` are those kept longest, which had to go for others.
    """

    told: int = 0
    again: int = 0
    conflicting: int = 0
    early: int = 0
    forgotten: int = 0


class Incoming(NamedTuple):
    """Rows of arrivals: keys as rows of the fleet, codes of types and ids, labels found under the same id.

    `numbers` are ids that are numbers, as `note_arrivals` wants them, `money` the costs of labels if any are
    given, and `row` where each came in the call.
    """

    key: Counts
    types: Counts
    ids: Counts
    found: Counts
    numbers: Counts
    row: Counts
    money: Array | None

    def at(self, order: Counts) -> "Incoming":
        """These rows, in this order."""
        return Incoming(*(None if one is None else one[order] for one in self))  # type: ignore[arg-type]


class WithdrawnCounts(NamedTuple):
    """What became of withdrawals: done; done before; not known, or withdrawn before in the other way."""

    withdrawn: int = 0
    again: int = 0
    unknown: int = 0


def why_no_fleet(learner: Learner) -> str | None:
    """What about a learner a fleet cannot do; None if it can do all."""
    state = learner.state
    belief, rule = state.belief, state.rule
    cases = {
        "a belief other than TypeMeans and SeparateTypes": type(belief) not in COMPILED_BELIEFS,
        "a rule around a rule, or of your own": type(rule) not in COMPILED_RULES,
        "a name, which every key has for itself": bool(state.name),
        "several labellers": bool(state.costs.labellers),
        "a warm-up": state.warmup.wanted > 0,
        "fits outside": state.fitting != "inside",
        "a listener": bool(state.listeners),
    }
    if isinstance(belief, TypeMeans):
        cases |= {
            "noise, mean or scale to be found in the labels": belief.fit_schedule == "after_warmup",
            "forgetting": belief.forgetting is not None,
            "costs of errors that differ by their sign": belief.level != EVEN,
            "a prior under another rule than Value": belief.prior_std is not None and type(rule) is not Value,
        }
    return next((what for what, there in cases.items() if there), None)


class Fleet:
    """One learner for every key, all of one configuration: a `Learner` without history, or its plain data.

    Keys, types and ids are integers or texts. `told_window` labels that were told or withdrawn are
    remembered, of all keys together, so that a label that comes twice is known as such; `early_window` labels
    are kept whose arrival has not come yet. An arrival that was not asked about is not remembered.

    After a call that was cut off, by an interrupt or a lack of memory, every further one raises
    `TornLearner`: load the fleet from its last `dump`.

    >>> from breakeven import Fleet, algorithm1
    >>> fleet = Fleet(algorithm1(label_cost=2.0, noise_std=0.5))
    >>> fleet.decide(["north", "south"], ["flu", "flu"], ids=[1, 1]).wants_label.tolist()
    [True, True]
    >>> fleet.tell(["north"], [1], [38.9]).told
    1
    >>> fleet.learner("north").predict("flu").mean
    38.9
    """

    def __init__(
        self,
        config: Learner | Mapping[str, Any],
        *,
        told_window: int = 100_000,
        early_window: int = 10_000,
    ) -> None:
        template = config if isinstance(config, Learner) else Learner.of(dict(config))
        if template.number != 1 or template.belief.labels or template.created is None:
            expect.refuse("config", "a learner without history", template)
        own = template if template is not config else Learner.of(template.config())
        self._begin(own, told_window, early_window)

    def _begin(self, template: Learner, told_window: int, early_window: int) -> None:
        """Begin with a learner that nobody changes from now on."""
        if (cause := why_no_fleet(template)) is not None:
            raise InvalidInput(
                f"config: expected what a fleet can do, got {cause}; use one Learner for each key"
            )
        if type(template.rule) is Value and not rates_agree():
            raise InvalidInput(
                "config: expected logarithms that are the same compiled and in Python, as Value needs them "
                "here, got others on this machine; use one Learner for each key"
            )
        self.state = FleetState(
            template,
            expect.whole("told_window", told_window, most=LARGEST_WINDOW),
            expect.whole("early_window", early_window, most=LARGEST_WINDOW),
        )
        self._judging = Judging(self.state.learner, self.state.members, self.state.cells)

    # -- looking at it ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return int((self.state.members["rounds"] > 0).sum())

    def __repr__(self) -> str:
        """One line: what it is made of, and how far it came."""
        learner, members = self.state.learner, self.state.members
        made = f"{type(learner.belief).__name__}, {type(learner.rule).__name__}"
        rounds, bought = int(members["rounds"].sum()), int(members["bought"].sum())
        return f"<Fleet of {len(self):,} keys: {made}, {rounds:,} arrivals, {bought:,} labels bought>"

    def config(self) -> dict[str, Any]:
        """How every learner is made up, as plain data."""
        return self.state.template.config()

    @property
    def keys(self) -> list[Any]:
        """The keys that had arrivals, in the order in which they came."""
        members = self.state.members
        return self.state.keys.values(members["code"][members["rounds"] > 0])

    @property
    def windows(self) -> tuple[int, int]:
        """How many labels are remembered that are told or withdrawn, and that came early."""
        return self.state.labels.windows

    @property
    def awaited(self) -> int:
        """Labels asked for and not told, of all keys."""
        return self.state.labels.counts()[0]

    # -- arrivals --------------------------------------------------------------------------------

    def decide(self, keys: Any, xs: Any, ids: Any, costs: Any = None) -> DecisionColumns:
        """Count arrivals and decide on them, each by the learner of its key, in the order of the rows.

        `costs` are what these labels cost; NaN stands for the agreed cost. All is checked before the first
        counts.
        """
        state = self.state
        given = state.keys.checked(keys), state.types.checked(xs), state.ids.checked(ids)
        count = len(given[0])
        for name, values in zip(("xs", "ids"), given[1:], strict=True):
            _same_length(name, len(values), count)
        money = None if costs is None else self._checked_costs(costs, count)
        with state.changing():
            state.labels.forget_ids(state.ids)
            key = state.members_of(state.keys.codes(given[0]))
            types, codes = state.types.codes(given[1]), state.ids.passing_codes(given[2])
            found, numbers = state.labels.find(key, codes), numbers_in(given[2])
            rows = Incoming(key, types, codes, found, numbers, np.arange(count), money)
            return self._decide(rows, given[2])

    def _decide(self, rows: Incoming, ids: CheckedValues) -> DecisionColumns:
        """Decide on the rows that are new, in the order of their keys; answer the others again."""
        count, members = len(rows.key), len(self.state.members)
        again = (rows.found >= 0) & ~self.state.labels.early(rows.found)
        order, touched, starts = by_key(rows.key, members)
        first = np.empty(count, dtype=np.int64)
        if repeated(order, starts, rows.ids, first) or again.any():
            new = np.flatnonzero(~again & (first < 0))
            order, touched, starts = by_key(rows.key[new], members)
            order = new[order]
        if len(order) == count and len(touched) == 1:
            return self._decide_in_order(rows, ids, touched, starts)  # they are in order already
        columns = _in_rows(self._decide_in_order(rows.at(order), ids, touched, starts), order, count)
        if len(order) < count:
            self._answer_again(columns, rows, np.flatnonzero(first >= 0), first, np.flatnonzero(again))
        return columns

    def _decide_in_order(
        self, rows: Incoming, ids: CheckedValues, touched: Counts, starts: Counts
    ) -> DecisionColumns:
        """Decide on rows that are in the order of their keys, and buy the labels that are wanted."""
        state, members, count = self.state, self.state.members, len(rows.key)
        learner, key = state.learner, rows.key
        events_besides = (members["number"] - members["rounds"])[key]
        cells = state.cells_of(key, rows.types)
        rounds = np.empty(count, dtype=np.int64)
        note_arrivals(touched, starts, rows.numbers, members["rounds"], members["next_number"], rounds)
        members["number"][touched] += np.diff(starts)
        given, costs, prices = np.full(count, nan), _same(learner.quote.cost, count), None
        if rows.money is not None:
            given, costs = rows.money, np.where(np.isnan(rows.money), learner.quote.cost, rows.money)
            prices = costs / learner.costs.error_cost
        room = Before.empty if isinstance(learner.rule, Value) else Before.without_worth
        out, before, chance = Answers.empty(count), room(count), self._judging.propensity
        names = [] if chance is None else state.keys.values(members["code"][touched])
        arrivals = Arrivals(touched, starts, cells, rounds, prices)
        reasons = self._judging.decide(arrivals, list(map(state.name_of, names)), out, before)
        check_columns(before.prediction, out.uncertainty)
        wanted = np.flatnonzero(out.wants_label)
        state.ids.keep(rows.ids, ids, wanted, rows.row)
        numbers = rounds + events_besides
        self._buy(BoughtRows(wanted, key, rows.ids, cells, rounds, numbers, rows.found, given, costs), out)
        prediction = before.prediction
        if learner.answers_within is not None:
            prediction = np.clip(prediction, *learner.answers_within)
        return DecisionColumns(
            out.wants_label,
            prediction,
            before.std,
            out.uncertainty,
            out.threshold,
            costs,
            out.wants_label.astype(float) if chance is None else _same(chance, count),
            *before.in_money(learner.costs.error_cost),
            rounds,
            reasons,
            _same(False, count),
        )

    def _buy(self, arrivals: BoughtRows, out: Answers) -> None:
        """Labels are awaited; those that came early are told, or dropped if nobody asked for them."""
        labels, members = self.state.labels, self.state.members
        ahead = labels.buy(arrivals, members["bought"], self.state.spend)
        unasked = arrivals.found[~out.wants_label]
        labels.drop(unasked[unasked >= 0])
        came = np.flatnonzero(~np.isnan(ahead))
        if len(came):
            rows = arrivals.wanted[came]
            self._tell(arrivals.keys[rows], arrivals.ids[rows], ahead[came])

    def _answer_again(
        self, columns: DecisionColumns, rows: Incoming, same: Counts, first: Counts, known: Counts
    ) -> None:
        """Answer rows that came before: as in this call, or with the prediction of now."""
        fields = [one for one in columns if isinstance(one, np.ndarray)] + [columns.reasons.codes]
        columns.repeated[same] = columns.repeated[known] = True
        for column in fields[1:-2]:
            column[known] = nan if column.dtype.kind == "f" else 0
        columns.wants_label[known] = True
        columns.prediction[known], columns.std[known] = self._predict_rows(rows.key[known], rows.types[known])
        for column in fields:
            column[same] = column[first[same]]
        columns.repeated[same] = True

    def _predict_rows(self, key: Counts, types: Counts) -> tuple[Array, Array]:
        """What is predicted of these types of these keys, and how sure that is."""
        state, members = self.state, self.state.members
        cells = state.cells_of(key, types)
        told, low_high = state.cells["told"][cells], state.learner.answers_within or (-inf, inf)
        with np.errstate(divide="ignore"):
            std = state.learner.belief.traits.noise_std / np.sqrt(members["prior_worth"][key] + told)
        mean = np.clip(state.cells["mean"][cells], *low_high)
        return mean, np.where(told > 0, std, members["prior_std"][key])

    def _checked_costs(self, costs: Any, count: int) -> Array:
        money = np.asarray(costs, dtype=float) if not isinstance(costs, str) else np.empty((0, 0))
        if money.ndim != 1:
            expect.refuse("costs", "one number for each row", costs)
        _same_length("costs", len(money), count)
        wrong = ~np.isnan(money) & ~((money >= expect.SMALLEST) & (money <= expect.LARGEST))
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            expect.positive(f"costs[{place}]", float(money[place]))
        return money

    # -- labels ----------------------------------------------------------------------------------

    def tell(self, keys: Any, ids: Any, ys: Any) -> LabelCounts:
        """Labels came, in the order of the rows. All is checked before the first counts.

        A label whose id is not known is kept for the arrival that may still come. A label that was withdrawn
        is learnt, as long as it is remembered.
        """
        state = self.state
        given = state.keys.checked(keys), state.ids.checked(ids)
        values = expect.vector("ys", ys)
        for name, column in (("ids", given[1]), ("ys", values)):
            _same_length(name, len(column), len(given[0]))
        with state.changing():
            state.labels.forget_ids(state.ids)
            key = state.members_of(state.keys.codes(given[0]))
            return self._tell(key, state.ids.codes(given[1]), values)

    def _tell(self, key: Counts, ids: Counts, ys: Array) -> LabelCounts:
        counts, done = np.zeros(5, dtype=np.int64), 0
        state, priors = self.state, self.state.priors
        cells = priors.by_key() if priors.learns and len(key) else None
        while done < len(key):
            done, why = state.labels.tell(key, ids, ys, state.type_sums(), counts, done)
            if why == PARTS_MISSING:
                state.sums.widen()
            elif why == FIT_MISSING and cells is not None:
                priors.fit(int(key[done - 1]), cells)
        if cells is not None:
            priors.guess(key, cells)
        return LabelCounts(*counts.tolist())

    def withdraw(self, keys: Any, ids: Any, *, charged: bool = False) -> WithdrawnCounts:
        """Labels will not come, or must go; `charged` says whether they are paid for all the same.

        A label that is ahead of its arrival goes, too; then its arrival is awaited as any other.
        """
        state, charged = self.state, expect.truth("charged", charged)
        given = state.keys.checked(keys), state.ids.checked(ids)
        _same_length("ids", len(given[1]), len(given[0]))
        with state.changing():
            key = state.members_of(state.keys.codes(given[0]))
            return self._withdraw_rows(key, state.ids.passing_codes(given[1]), charged)

    def _withdraw_rows(self, key: Counts, ids: Counts, charged: bool) -> WithdrawnCounts:
        state = self.state
        rows, labels = state.labels.find(key, ids), state.labels.columns
        early = state.labels.early(rows)
        ahead, again = np.unique(rows[early]), 0
        state.labels.drop(ahead)
        done, known = len(ahead), (rows >= 0) & ~early
        for member, row in zip(key[known].tolist(), rows[known].tolist(), strict=True):
            was = int(labels["withdrawn"][row])
            if was == NOT_WITHDRAWN or not isnan(labels["y"][row]):
                self._withdraw(member, row, charged)
                done += 1
            else:
                again += bool(was & CHARGED) == charged
        if state.priors.learns:
            state.priors.guess(key, state.priors.by_key())
        return WithdrawnCounts(done, again, len(key) - done - again)

    def _withdraw(self, key: int, row: int, charged: bool) -> None:
        """As `State.withdraw`: the label leaves the counts, and the mean if it was told."""
        state, members, labels = self.state, self.state.members, self.state.labels.columns
        k, y, cost = (labels[name][row].item() for name in ("cell", "y", "given"))
        census, first = members["census"][key], labels["withdrawn"][row] == NOT_WITHDRAWN
        members["number"][key] += 1
        if not isnan(y):
            state.sums.add(k, -y)
        types = state.type_arrays()
        if not isnan(y):
            types.told[k] -= 1.0
            census[TOLD] -= types.told[k] == 0.0
        count_asked(types, census, k, -1)
        members["asked"][key] -= 1
        told, prior = float(types.told[k]), float(members["prior_mean"][key])
        mean = float(types.parts[k, 0]) / told if told else prior
        types.mean[k] = (
            posterior_mean(mean, told, prior, float(members["prior_worth"][key])) if told else prior
        )
        if first and not charged:
            members["bought"][key] -= 1
            state.spend.add(key, -(state.learner.quote.cost if isnan(cost) else cost))
        paid = charged if first else labels["withdrawn"][row] & PAID  # what was given back stays so
        labels["y"][row], labels["withdrawn"][row] = nan, CHARGED * charged + PAID * bool(paid)
        if first and isnan(y):
            state.labels.settle(row)

    # -- keeping ---------------------------------------------------------------------------------

    def learner(self, key: Any) -> Learner:
        """The learner of one key, which goes on to the bit as the key would here.

        A fleet keeps no answers: decisions of labels awaited have NaN in place of what was answered.
        """
        self.state.check_whole()
        return learner_of(self.state, key)

    def put(self, key: Any, learner: Learner, ids: ValueKind = "texts") -> None:
        """Take up a learner of this configuration, with the key as its name, as that of a new key.

        Arrivals that it remembers and did not ask about are forgotten. `ids` says what ids will be,
        "integers" or "texts", if the fleet has none yet: those of a learner are text in any case.
        """
        self.state.check_whole()
        put_learner(self.state, key, learner, expect.one_of("ids", ids, ("integers", "texts")))

    def dump(self) -> bytes:
        """Everything, as bytes that `load` reads: the next decisions are the same to the bit."""
        self.state.check_whole()
        return dump(self.state)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled by what `dump` gives, so that no array is shared or laid out otherwise."""
        return type(self).load, (self.dump(),)

    @classmethod
    def load(cls, blob: bytes, *, told_window: int | None = None, early_window: int | None = None) -> "Fleet":
        """A fleet from what `dump` gave; damaged bytes, and what this version does not know, are refused.

        Windows are those it had, unless others are given; of labels that are too many, the last are kept.
        """
        template, (told, early), fill = read(blob)
        fleet = cls.__new__(cls)
        fleet._begin(
            template,
            told if told_window is None else told_window,
            early if early_window is None else early_window,
        )
        fill(fleet.state)
        return fleet


def numbers_in(ids: CheckedValues) -> Counts:
    """Ids that are numbers, as `note_arrivals` wants them."""
    if isinstance(ids, np.ndarray):
        return np.maximum(ids, -1)
    if not any(map(str.isdecimal, ids)):
        return np.full(len(ids), -1)
    return np.fromiter(map(number_in, ids), dtype=np.int64, count=len(ids))


def number_in(text: str) -> int:
    """The number that a text is, −1 if it is none; −2 − n if it is n, but not as automatic ids are written.

    >>> number_in("12"), number_in("case 12"), number_in("012")
    (12, -1, -14)
    """
    if not text.isdecimal():
        return -1
    if len(text) > LONGEST_NUMBER:
        return int(text) if len(text) == LONGEST_NUMBER + 1 and int(text) < LARGEST_INTEGER else -1
    number = int(text)
    return number if str(number) == text else -2 - number


def _same_length(name: str, came: int, count: int) -> None:
    if came != count:
        raise InvalidInput(f"{name}: expected {count}, as many as there are keys, got {came}")


def _same(value: Any, count: int) -> Any:
    """A column that has one value in every row, and takes no memory for it."""
    return np.broadcast_to(np.asarray(value), count)


def _in_rows(columns: DecisionColumns, order: Counts, count: int) -> DecisionColumns:
    """The columns in the order in which the rows came."""

    def placed(column: Any) -> Any:
        if column.strides == (0,) and len(order) == count:
            return column  # the same in every row
        rows = np.zeros(count, dtype=column.dtype)
        rows[order] = column
        return rows

    reasons = Reasons(placed(columns.reasons.codes), columns.reasons.words)
    others = {
        name: placed(column) for name, column in columns._asdict().items() if isinstance(column, np.ndarray)
    }
    return columns._replace(reasons=reasons, **others)
