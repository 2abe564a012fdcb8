"""The same scores for parts of the corpus: by domain, service, slot, turn, and number of domains.

Turns grouped by a property of the turn keep the numerators and denominators they had, so the parts add up to the
whole. Domains are different: there the states themselves are cut down to the domain (RSA paper, Table 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures import Measure
from dialgauge.tracking.counts import Counts, TurnCounts
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.encode import Codes
from dialgauge.tracking.tables import COUNTS, SLOT_SCORES, TURN_DOMAINS, TURN_SCORES

if TYPE_CHECKING:
    import polars

    from dialgauge.report import Column, Table
    from dialgauge.runs import Run
    from dialgauge.tracking.results import TrackedSystem

#: Group name to what is known about the group.
View: TypeAlias = dict[str, dict[str, Any]]
VIEWS = ("domain", "service", "slot", "turn", "n-domains")
#: Slot accuracy that divides by the slots of the domain alone.
_OWN_SLOTS = "SA(T=domain)"
#: What the view by slot shows, whatever was asked for.
_OF_SLOTS = ("Accuracy", "Precision", "Recall", "F1")


def view(name: str, system: TrackedSystem) -> View:
    """One view by name."""
    require_view(name)
    run, measures = system.run, system.measures
    if name != "turn" and SLOT_SCORES not in run.tables:
        raise DialgaugeError(
            f"the view by {name} needs gold and predicted states, but there are only correctness flags"
        )
    makers: dict[str, Callable[[], View]] = {
        "domain": lambda: _by_domain(run, system.counts, measures, _domain_of),
        "service": lambda: _by_domain(run, system.counts, measures, lambda service: service),
        "slot": lambda: _by_slot(run, len(system.counts)),
        "turn": lambda: _by_group(system.counts, measures, system.counts.turn),
        "n-domains": lambda: _by_group(system.counts, measures, _domains_per_turn(run)),
    }
    return makers[name]()


def require_view(name: str) -> None:
    """An error with the nearest names where there is no such view."""
    if name not in VIEWS:
        raise DialgaugeError(f"there is no view by '{name}'.{nearest(name, VIEWS)}")


def left_out_of(name: str, system: TrackedSystem) -> dict[str, str]:
    """The measures of a system that a view cannot show, each with the reason."""
    obstacles = {str(measure): _obstacle(name, measure) for measure in system.measures}
    return {measure: why for measure, why in obstacles.items() if why}


def _obstacle(name: str, measure: Measure[Any]) -> str | None:
    if name == "slot":
        return None if str(measure) in _OF_SLOTS else "a slot has accuracy, precision, recall and F1 only"
    if measure.grouped:
        return "it is a mean over slots or domains, of which a part of the turns or slots is no part"
    if name in ("domain", "service") and "history" in measure.card.needs:
        return "it follows errors from turn to turn, and the turns with a domain are not whole dialogues"
    return None


def _by_group(counts: Counts, measures: Sequence[Measure[Any]], group: Codes) -> View:
    """Groups of turns: sums of the rows the turns have in the whole corpus."""
    rows = {str(measure): measure.rows(counts) for measure in measures if _obstacle("turn", measure) is None}
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


def domain_counts(run: Run, frame: polars.DataFrame, whole: Counts) -> dict[str, Counts]:
    """By domain the counts that the view by domain rests on, over the turns of ``frame``.

    ``frame`` is the table ``turn_scores`` or some whole dialogues of it, and ``whole`` its counts.
    """
    parts: dict[str, Counts] = {}
    for domain, (rows, turns) in _cut_down(run, frame, _domain_of).items():
        in_gold = (turns.correct + turns.wrong + turns.missed) > 0
        if in_gold.any():
            parts[domain] = _restricted(whole, turns, rows, in_gold)
    return parts


def _by_domain(run: Run, whole: Counts, measures: Sequence[Measure[Any]], group: Callable[[str], str]) -> View:
    """For each domain: the turns whose gold state has a slot of it, both states restricted to it.

    Slot accuracy keeps the whole inventory T in its denominator, as TRADE and SOM-DST do; ``SA(T=domain)`` is beside
    it where SA was asked for. Turns where the domain is predicted but not in gold are outside this rule and counted
    apart.
    """
    sizes: dict[str, int] = {}
    for domain, slots in tracking_details(run).evidence.slots_by_domain.items():
        sizes[group(domain)] = sizes.get(group(domain), 0) + slots
    per_turn = [measure for measure in measures if _obstacle("domain", measure) is None]
    own_slots = any(str(measure) == "SA" for measure in measures)
    groups: View = {}
    for domain, (rows, turns) in _cut_down(run, run.table(TURN_SCORES), group).items():
        in_gold = (turns.correct + turns.wrong + turns.missed) > 0
        spurious = int((~in_gold).sum())
        if not in_gold.any():
            groups[domain] = {"dialogues": 0, "turns": 0, "spurious_domain_turns": spurious, "scores": {}}
            continue
        counts = _restricted(whole, turns, rows, in_gold)
        errors = counts.errors.sum() / len(counts)
        size = sizes.get(domain, 0)
        groups[domain] = {
            "dialogues": counts.dialogues,
            "turns": len(counts),
            "spurious_domain_turns": spurious,
            "scores": {str(measure): measure.value(counts) for measure in per_turn}
            | ({_OWN_SLOTS: float((size - errors) / size) if size else math.nan} if own_slots else {}),
        }
    return groups


def _cut_down(run: Run, scored: polars.DataFrame, group: Callable[[str], str]) -> dict[str, tuple[Codes, TurnCounts]]:
    """By domain, in alphabetical order: the rows of the turns with a slot of it in either state, and their counts."""
    import polars

    places = scored.select("dialogue", "turn").with_row_index("row")
    frame = run.table(TURN_DOMAINS)
    owners = polars.Series("group", [group(domain) for domain in frame["domain"]], polars.String)
    summed = (
        frame.with_columns(owners)
        .join(places, on=["dialogue", "turn"], how="inner")
        .group_by("group", "row")
        .agg(polars.col(COUNTS).sum())
        .sort("group", "row")
    )
    parts = summed.partition_by("group", as_dict=True, maintain_order=True)
    return {
        str(name): (
            part["row"].to_numpy().astype(np.int32),
            _turn_counts(part),
        )
        for (name,), part in parts.items()
    }


def _turn_counts(frame: polars.DataFrame) -> TurnCounts:
    """The counts alone: what changed since the previous turn is not known of a part of the states."""
    correct, wrong, missed, spurious = (frame[name].to_numpy().astype(np.int32) for name in COUNTS)
    unknown = np.zeros(len(frame), bool)
    return TurnCounts(correct, wrong, missed, spurious, unknown, unknown, unknown)


def _restricted(whole: Counts, turns: TurnCounts, rows: Codes, chosen: Any) -> Counts:
    """Counts over chosen turns of the whole, dialogues numbered anew."""
    kept = rows[chosen]
    dialogue = whole.dialogue[kept]
    first = np.ones(len(kept), bool)
    first[1:] = dialogue[1:] != dialogue[:-1]
    return Counts(
        turns=TurnCounts(*(getattr(turns, name)[chosen] for name in TurnCounts.__struct_fields__)),
        dialogue=(np.cumsum(first) - 1).astype(np.int32),
        turn=whole.turn[kept],
        first=first,
        inventory=whole.inventory,
    )


def _by_slot(run: Run, turns: int) -> View:
    """The four counts of each slot over all turns, and what follows from them."""
    import polars

    sums = run.table(SLOT_SCORES).group_by("domain", "slot").agg(polars.col(COUNTS).cast(polars.Int64).sum())
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
    import polars

    in_gold = run.table(SLOT_SCORES).filter(polars.sum_horizontal(COUNTS[:3]) > 0)
    domains = in_gold.group_by("dialogue").agg(polars.col("domain").n_unique())
    turns = run.table(TURN_SCORES).select("dialogue").join(domains, on="dialogue", how="left", maintain_order="left")
    numbers: Codes = turns["domain"].fill_null(0).to_numpy().astype(np.int32)
    return numbers


#: Up to this many systems stand side by side in one table; more of them below each other, group by group.
_SIDE_BY_SIDE = 4


def view_table(name: str, systems: Sequence[TrackedSystem]) -> Table:
    """One view of all systems in one table: what is to be compared stands beside each other."""
    views = {title: system.by(name) for title, system in zip(_titles(systems), systems, strict=True)}
    layout = _ViewLayout(name, systems, views)
    if len(systems) == 1:
        table = layout.of_one()
    else:
        table = layout.side_by_side() if len(systems) <= _SIDE_BY_SIDE else layout.below_each_other()
    table.notes = [*_explained(name, layout.shares), *_left_out_notes(name, systems)]
    return table


def _explained(name: str, shown: Collection[str]) -> list[str]:
    """What the numbers of a view mean."""
    if name == "slot":
        return ["Every slot has the same numbers, whatever measures were asked for."]
    if name not in ("domain", "service"):
        return []
    divided = f" SA still divides by all slots, {_OWN_SLOTS} by the domain's." if _OWN_SLOTS in shown else ""
    return [
        f"Turns whose gold state has the domain, both states restricted to it.{divided}",
        "Spurious domain turns: turns where the domain is predicted but not in gold; not in the other numbers.",
    ]


def _left_out_notes(name: str, systems: Sequence[TrackedSystem]) -> list[str]:
    """A sentence for each reason why measures that were asked for are not in a view."""
    reasons: dict[str, dict[str, None]] = {}
    for system in systems:
        for measure, why in left_out_of(name, system).items():
            reasons.setdefault(why, {})[measure] = None
    return [f"Not by {name}: {', '.join(measures)} ({why})." for why, measures in reasons.items()]


def _titles(systems: Sequence[TrackedSystem]) -> list[str]:
    several = len({system.profile for system in systems}) > 1
    return [f"{system.name} {system.profile}" if several else system.name for system in systems]


class _ViewLayout:
    """The ways of laying a view out; counts and scores of a group, by system."""

    def __init__(self, name: str, systems: Sequence[TrackedSystem], views: Mapping[str, View]) -> None:
        self.name, self.systems, self.views = name, systems, views
        entries = [entry for view in views.values() for entry in view.values()]
        self.groups = _in_order(views.values())
        self.facts = list(dict.fromkeys(key for entry in entries for key in entry if key != "scores"))
        measures = dict.fromkeys(key for entry in entries for key in entry["scores"])
        self.shares = {measure: all(system.is_share(measure) for system in systems) for measure in measures}

    def _title(self, whose: str) -> str:
        percent = "percent" if all(self.shares.values()) else ""
        profiles = dict.fromkeys(system.profile for system in self.systems)
        told = ", ".join(filter(None, ["/".join(profiles), percent]))
        return f"{whose} by {self.name} ({told})"

    def _counts(self) -> list[Column]:
        from dialgauge.report import Column

        return [Column(fact.replace("_", " "), drop=place) for place, fact in enumerate(self.facts, start=1)]

    def _columns(self) -> list[Column]:
        from dialgauge.report import Column

        return [Column(measure, digits=2, percent=share) for measure, share in self.shares.items()]

    def _cells(self, entry: Mapping[str, Any]) -> list[Any]:
        scores = entry.get("scores", {})
        return [*(entry.get(fact) for fact in self.facts), *(scores.get(measure) for measure in self.shares)]

    def of_one(self) -> Table:
        """Groups down, counts and measures across."""
        from dialgauge.report import Table

        [(title, view)] = self.views.items()
        table = Table(self._title(title), [self.name, *self._counts(), *self._columns()])
        for group in self.groups:
            table.add(group, *self._cells(view[group]))
        return table

    def below_each_other(self) -> Table:
        """The same for several systems, those of one group below each other."""
        from dialgauge.report import Table

        table = Table(self._title("Systems"), [self.name, "system", *self._counts(), *self._columns()])
        for group in self.groups:
            for title, view in self.views.items():
                table.add(group, title, *self._cells(view.get(group, {})))
        return table

    def side_by_side(self) -> Table:
        """Groups and what is measured down, systems across."""
        from dialgauge.report import Cell, Column, Table

        table = Table(
            self._title("Systems"), [self.name, "measure", *(Column(title, align="right") for title in self.views)]
        )
        looks = [*self._counts(), *self._columns()]
        for group in self.groups:
            rows = zip(*(self._cells(view.get(group, {})) for view in self.views.values()), strict=True)
            for look, values in zip(looks, rows, strict=True):
                best = self._best(look.title, values) if look.title in self.shares else None
                cells = [Cell(value, like=look, bold=best is not None and value == best) for value in values]
                table.add(group, look.title, *cells)
        return table

    def _best(self, measure: str, values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None and not math.isnan(value)]
        scores = [system.scores[measure] for system in self.systems if measure in system.scores]
        lower = bool(scores) and scores[0].higher_is_better is False
        return (min(known) if lower else max(known)) if known and not self._several_profiles else None

    @property
    def _several_profiles(self) -> bool:
        return len({system.profile for system in self.systems}) > 1


def _in_order(views: Iterable[View]) -> list[str]:
    """The groups of all systems: numbers by size, names by the alphabet."""
    groups = {group for view in views for group in view}
    return sorted(groups, key=lambda group: (0, int(group), "") if group.isdecimal() else (1, 0, group))
