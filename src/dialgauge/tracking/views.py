"""The same scores for parts of the corpus: by domain, service, slot, turn, and number of domains.

Turns grouped by a property of the turn keep the numerators and denominators they had, so the parts add up to the
whole. Domains are different: there the states themselves are cut down to the domain (RSA paper, Table 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures import Measure
from dialgauge.rendering import Cell, Column, Table
from dialgauge.tracking.counts import Counts, TurnCounts
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.encode import Codes
from dialgauge.tracking.fga import default_rule, weights
from dialgauge.tracking.measures import CARDS
from dialgauge.tracking.results import SIDE_BY_SIDE
from dialgauge.tracking.tables import COUNTS, FLAGS, SLOT_SCORES, TURN_DOMAINS, TURN_SCORES

if TYPE_CHECKING:
    from dialgauge.runs import Run
    from dialgauge.tracking.tracked_system import TrackedSystem

#: Group name to what is known about the group.
View: TypeAlias = dict[str, dict[str, Any]]
VIEWS = ("domain", "service", "slot", "turn", "n-domains")
#: Slot accuracy that divides by the slots of the domain alone.
_OWN_SLOTS = "SA(T=domain)"
_TOGETHER = "all of these"
#: What the view by slot shows, whatever was asked for.
_OF_SLOTS = ("Accuracy", "Precision", "Recall", "F1")


def view(name: str, system: TrackedSystem) -> View:
    """One view by name."""
    if name not in VIEWS:
        raise DialgaugeError(f"there is no view by '{name}'.{nearest(name, VIEWS)}")
    run, measures = system.run, system.measures
    if name != "turn" and SLOT_SCORES not in run.tables:
        raise DialgaugeError(
            f"the view by {name} needs gold and predicted states, but there are only correctness flags"
        )
    makers: dict[str, Callable[[], View]] = {
        "domain": lambda: _by_domain(system, _domain_of),
        "service": lambda: _by_domain(system, lambda service: service),
        "slot": lambda: _by_slot(run, len(system.counts)),
        "turn": lambda: _by_group(system.counts, measures, system.counts.turn),
        "n-domains": lambda: _by_group(system.counts, measures, _domains_per_turn(run)),
    }
    return makers[name]()


def left_out_of(name: str, system: TrackedSystem) -> dict[str, str]:
    """The measures of a system that a view cannot show, each with the reason."""
    obstacles = {str(measure): _obstacle(name, measure, system.run) for measure in system.measures}
    return {measure: why for measure, why in obstacles.items() if why}


def _obstacle(name: str, measure: Measure[Any], run: Run) -> str | None:
    if name == "slot":
        return None if str(measure) in _OF_SLOTS else "a slot has accuracy, precision, recall and F1 only"
    if measure.grouped:
        return "it is a mean over slots or domains, of which a part of the turns or slots is no part"
    if name not in ("domain", "service") or "history" not in measure.card.needs:
        return None
    if measure.card not in CARDS:
        return "it follows errors from turn to turn, and the turns with a domain are not whole dialogues"
    return None


def _by_group(counts: Counts, measures: Sequence[Measure[Any]], group: Codes) -> View:
    """Groups of turns: sums of the rows the turns have in the whole corpus."""
    rows = {str(measure): measure.rows(counts) for measure in measures if not measure.grouped}
    groups: View = {}
    for number in np.flatnonzero(np.bincount(group)).tolist():
        chosen = group == number
        scores = {}
        for measure, both in rows.items():
            above, below = (part[chosen].sum() for part in both)
            scores[measure] = float(above / below) if below else math.nan
        groups[str(number)] = {
            "dialogues": int(np.count_nonzero(np.bincount(counts.dialogue[chosen]))),
            "turns": int(chosen.sum()),
            "scores": scores,
        }
    return groups


def _domain_of(service: str) -> str:
    return service.split("_")[0]


def domain_counts(run: Run, frame: pl.DataFrame, whole: Counts) -> dict[str, Counts]:
    """By domain the counts that the view by domain rests on, over the turns of ``frame``.

    ``frame`` is the table ``turn_scores`` or some whole dialogues of it, and ``whole`` its counts.
    """
    cut = _cut_down(run, frame, whole, _domain_of)
    return {domain: part for domain, counts in cut.items() if len(part := _in_gold(counts))}


def own_rates(systems: Sequence[TrackedSystem], rates: Mapping[str, float]) -> dict[str, View]:
    """For each system and domain FGA at the domain's own lambda, and over the turns of all these domains together.

    The FGA paper expects tolerance to differ: little for booking a train, more for looking up a restaurant.
    """
    views = {}
    for title, system in zip(_titles(systems), systems, strict=True):
        if TURN_DOMAINS not in system.run.tables:
            raise DialgaugeError(f"λ by domain needs gold and predicted states, which the run of {title} does not keep")
        cut = domain_counts(system.run, system.run.table(TURN_SCORES), system.counts)
        if unknown := [domain for domain in rates if domain not in cut]:
            raise DialgaugeError(f"no gold state has the domain '{unknown[0]}'.{nearest(unknown[0], cut)}")
        weighed = {domain: weights(cut[domain], rate, default_rule(cut[domain])) for domain, rate in rates.items()}
        view: View = {
            domain: {"turns": len(each), "lambda": rates[domain], "FGA": float(each.mean())}
            for domain, each in weighed.items()
        }
        together = np.concatenate(list(weighed.values()))
        views[title] = {**view, _TOGETHER: {"turns": len(together), "lambda": None, "FGA": float(together.mean())}}
    return views


def own_rates_table(systems: Sequence[TrackedSystem], rates: Mapping[str, float]) -> Table:
    """:func:`own_rates` as a table."""
    numbers = [Column("turns"), Column("λ", digits=3), Column("FGA", digits=2, percent=True)]
    table = Table("FGA with a λ of its own for each domain", ["system", "domain", *numbers], unit="percent")
    for title, view in own_rates(systems, rates).items():
        for domain, entry in view.items():
            table.add(title, domain, *entry.values())
    table.notes.append(
        "Turns whose gold state has the domain, both states restricted to it; a turn with several counts in each."
    )
    return table


def _in_gold(counts: Counts) -> Counts:
    """The turns whose gold state has a slot of the domain that the states are cut down to."""
    return counts.part(np.flatnonzero(counts.gold_size).astype(np.int32))


def _by_domain(system: TrackedSystem, group: Callable[[str], str]) -> View:
    """For each domain: the turns whose gold state has a slot of it, both states restricted to it.

    Slot accuracy keeps the whole inventory T in its denominator, as TRADE and SOM-DST do; ``SA(T=domain)`` is beside
    it where SA was asked for. Turns where the domain is predicted but not in gold are outside this rule and counted
    apart; an error that such a turn makes is still an earlier error to the turns after it.
    """
    run, measures = system.run, system.measures
    sizes: dict[str, int] = {}
    for domain, slots in tracking_details(run).evidence.slots_by_domain.items():
        sizes[group(domain)] = sizes.get(group(domain), 0) + slots
    shown = [measure for measure in measures if _obstacle("domain", measure, run) is None]
    own_slots = any(str(measure) == "SA" for measure in measures)
    groups: View = {}
    for domain, whole in _cut_down(run, run.table(TURN_SCORES), system.counts, group).items():
        counts = _in_gold(whole)
        spurious = int(np.count_nonzero(whole.union)) - len(counts)
        if not len(counts):
            groups[domain] = {"dialogues": 0, "turns": 0, "spurious_domain_turns": spurious, "scores": {}}
            continue
        errors = counts.errors.sum() / len(counts)
        size = sizes.get(domain, 0)
        groups[domain] = {
            "dialogues": counts.dialogues,
            "turns": len(counts),
            "spurious_domain_turns": spurious,
            "scores": {str(measure): measure.value(counts) for measure in shown}
            | ({_OWN_SLOTS: float((size - errors) / size) if size else math.nan} if own_slots else {}),
        }
    return groups


def _cut_down(run: Run, scored: pl.DataFrame, whole: Counts, group: Callable[[str], str]) -> dict[str, Counts]:
    """By domain, in alphabetical order: the counts of all turns with both states cut down to it."""

    places = scored.select("dialogue", "turn").with_row_index("row")
    frame = run.table(TURN_DOMAINS).join(places, on=["dialogue", "turn"], how="inner", maintain_order="left")
    services: dict[str, list[TurnCounts]] = {}
    for (service,), part in sorted(frame.partition_by("domain", as_dict=True).items()):
        services.setdefault(group(str(service)), []).append(_spread(part.sort("row"), whole))
    return {
        domain: Counts(_together(parts), whole.dialogue, whole.turn, whole.first, whole.inventory)
        for domain, parts in sorted(services.items())
    }


def _spread(part: pl.DataFrame, whole: Counts) -> TurnCounts:
    """The rows of one service at the places of their turns; elsewhere both states lack it."""
    rows = part["row"].to_numpy()

    def placed(name: str, otherwise: Any) -> Any:
        filled = otherwise.copy()
        filled[rows] = part[name].fill_null(otherwise.dtype.type().item()).to_numpy()
        return filled

    counts = [placed(name, np.zeros(len(whole), np.int32)) for name in COUNTS]
    wrong_before = np.zeros(len(whole), bool)
    wrong_before[1:] = sum(counts[1:])[:-1] > 0
    absent = (np.zeros(len(whole), bool), np.ones(len(whole), bool), ~(wrong_before | whole.first))
    return TurnCounts(*counts, *(placed(name, otherwise) for name, otherwise in zip(FLAGS, absent, strict=True)))


def _together(services: Sequence[TurnCounts]) -> TurnCounts:
    """The services of one domain as one."""

    def over(combine: np.ufunc, name: str) -> Any:
        return combine.reduce([getattr(service, name) for service in services])

    correct, wrong, missed, spurious = (over(np.add, name) for name in ("correct", "wrong", "missed", "spurious"))
    return TurnCounts(
        correct,
        wrong,
        missed,
        spurious,
        over(np.logical_or, "new_error"),
        over(np.logical_and, "label_match"),
        over(np.logical_and, "same_errors"),
    )


def _by_slot(run: Run, turns: int) -> View:
    """The four counts of each slot over all turns, and what follows from them."""
    sums = run.table(SLOT_SCORES).group_by("domain", "slot").agg(pl.col(COUNTS).cast(pl.Int64).sum())
    groups: View = {}
    for domain, slot, correct, wrong, missed, spurious in sorted(sums.rows()):
        groups[f"{domain}-{slot}"] = {
            "turns": turns,
            "correct": correct,
            "wrong_value": wrong,
            "missed": missed,
            "spurious": spurious,
            "scores": {
                "Accuracy": (turns - wrong - missed - spurious) / turns,
                "Precision": _share(correct, correct + wrong + spurious),
                "Recall": _share(correct, correct + wrong + missed),
                "F1": _share(2 * correct, 2 * correct + 2 * wrong + missed + spurious),
            },
        }
    return groups


def _share(above: int, below: int) -> float:
    return above / below if below else math.nan


def _domains_per_turn(run: Run) -> Codes:
    """For each turn the number of domains that the gold states of its dialogue ever have."""
    in_gold = run.table(SLOT_SCORES).filter(pl.sum_horizontal(COUNTS[:3]) > 0)
    domains = in_gold.group_by("dialogue").agg(pl.col("domain").n_unique())
    turns = run.table(TURN_SCORES).select("dialogue").join(domains, on="dialogue", how="left", maintain_order="left")
    numbers: Codes = turns["domain"].fill_null(0).to_numpy().astype(np.int32)
    return numbers


def view_table(name: str, systems: Sequence[TrackedSystem]) -> Table:
    """One view of all systems in one table: what is to be compared stands beside each other."""
    views = {title: system.by(name) for title, system in zip(_titles(systems), systems, strict=True)}
    layout = _ViewLayout(name, systems, views)
    table = layout.side_by_side() if 1 < len(systems) <= SIDE_BY_SIDE else layout.down()
    reasons: dict[str, dict[str, None]] = {}
    for system in systems:
        for measure, why in left_out_of(name, system).items():
            reasons.setdefault(why, {})[measure] = None
    left_out = [f"Not by {name}: {', '.join(measures)} ({why})." for why, measures in reasons.items()]
    table.notes = [*_explained(name, layout.shares), *left_out]
    return table


def _explained(name: str, shown: Collection[str]) -> list[str]:
    """What the numbers of a view mean."""
    if name == "slot":
        return ["Every slot has the same numbers, whatever measures were asked for."]
    if name not in ("domain", "service"):
        return []
    divided = f" SA still divides by all slots, {_OWN_SLOTS} by the domain's." if _OWN_SLOTS in shown else ""
    return [
        f"Turns whose gold state has the domain, and their dialogues; both states restricted to it.{divided}",
        "Spurious domain turns: turns where the domain is predicted but not in gold; not in the other numbers.",
    ]


def _titles(systems: Sequence[TrackedSystem]) -> list[str]:
    several = len({system.profile for system in systems}) > 1
    return [f"{system.name} {system.profile}" if several else system.name for system in systems]


class _ViewLayout:
    """The ways of laying a view out; counts and scores of a group, by system."""

    def __init__(self, name: str, systems: Sequence[TrackedSystem], views: Mapping[str, View]) -> None:
        self.name, self.systems, self.views = name, systems, views
        entries = [entry for view in views.values() for entry in view.values()]
        groups = {group for view in views.values() for group in view}
        #: Numbers by size, names by the alphabet.
        self.groups = sorted(groups, key=lambda group: (0, int(group), "") if group.isdecimal() else (1, 0, group))
        self.facts = list(dict.fromkeys(key for entry in entries for key in entry if key != "scores"))
        measures = dict.fromkeys(key for entry in entries for key in entry["scores"])
        self.shares = {measure: all(system.is_share(measure) for system in systems) for measure in measures}

    def _table(self, whose: str, columns: list[str | Column]) -> Table:
        profiles = dict.fromkeys(system.profile for system in self.systems)
        unit = "percent" if all(self.shares.values()) else ""
        return Table(f"{whose} by {self.name}", columns, facts=["/".join(profiles)], unit=unit)

    def _columns(self) -> list[Column]:
        counts = (Column(fact.replace("_", " "), drop=place) for place, fact in enumerate(self.facts, start=1))
        return [*counts, *(Column(measure, digits=2, percent=share) for measure, share in self.shares.items())]

    def _cells(self, entry: Mapping[str, Any]) -> list[Any]:
        scores = entry.get("scores", {})
        return [*(entry.get(fact) for fact in self.facts), *(scores.get(measure) for measure in self.shares)]

    def down(self) -> Table:
        """Groups down, counts and measures across; of several systems those of one group below each other."""
        several = len(self.views) > 1
        whose = "Systems" if several else next(iter(self.views))
        table = self._table(whose, [self.name, *(["system"] if several else []), *self._columns()])
        for group in self.groups:
            for title, view in self.views.items():
                table.add(group, *([title] if several else []), *self._cells(view.get(group, {})))
        return table

    def side_by_side(self) -> Table:
        """Groups and what is measured down, systems across."""
        columns = [Column(title, align="right") for title in self.views]
        table = self._table("Systems", [self.name, "measure", *columns])
        for group in self.groups:
            rows = zip(*(self._cells(view.get(group, {})) for view in self.views.values()), strict=True)
            for look, values in zip(self._columns(), rows, strict=True):
                table.add(group, look.title, *(Cell(value, like=look) for value in values))
        return table
