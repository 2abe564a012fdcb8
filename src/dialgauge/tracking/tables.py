"""Results as tables for people: scores, views, where it goes wrong, sensitivity."""

from __future__ import annotations

from collections.abc import Iterable

from dialgauge.errors import DialgaugeError
from dialgauge.report import Cell, Column, Table
from dialgauge.tracking.faults import KINDS, Faults, slots_per_dialogue
from dialgauge.tracking.measures.base import Card
from dialgauge.tracking.profile_sensitivity import Sensitivity
from dialgauge.tracking.results import Results, SystemScores
from dialgauge.tracking.views import View

#: Up to this many systems stand side by side, measures below each other with their intervals.
_SIDE_BY_SIDE = 4


def score_table(results: Results) -> Table:
    """Measures down and systems across while that fits a screen, systems down otherwise."""
    if len(results) > _SIDE_BY_SIDE:
        return results.table()
    names = list(dict.fromkeys(name for system in results for name in system.scores))
    titles = [f"{system.name} {system.profile}" if results.several_profiles else system.name for system in results]
    table = Table(
        "State-tracking scores (percent)",
        ["measure", *(Column(title, digits=2, percent=True) for title in titles)],
        notes=results.notes(),
    )
    for name in names:
        values = [system.scores[name].value for system in results if name in system.scores]
        best = results.best(name)(values) if len(results) > 1 and not results.several_profiles else None
        table.add(name, *(_cell(system, name, best) for system in results))
    return table


def _cell(system: SystemScores, name: str, best: float | None) -> Cell:
    score = system.scores.get(name)
    if score is None:
        return Cell(None)
    return Cell(score.value, score.low, score.high, bold=best is not None and score.value == best)


def view_table(name: str, system: SystemScores, found: View) -> Table:
    """One view of one system."""
    facts = list(dict.fromkeys(key for entry in found.values() for key in entry if key != "scores"))
    measures = list(dict.fromkeys(key for entry in found.values() for key in entry["scores"]))
    table = Table(
        f"{system.name} by {name} ({system.profile}, percent)",
        [name, *facts, *(Column(measure, digits=2, percent=True) for measure in measures)],
    )
    for group, entry in found.items():
        cells = [entry["scores"].get(measure) for measure in measures]
        table.add(group, *(entry.get(fact) for fact in facts), *cells)
    if name in ("domain", "service"):
        table.notes = [
            "Turns whose gold state has the domain, both states cut down to it; SA keeps all slots in its denominator.",
            "spurious_domain_turns: turns where the domain is predicted but not in gold; outside the other columns.",
        ]
    return table


def fault_tables(system: SystemScores, most: int = 15) -> list[Table]:
    """Where errors begin, how long they last, and which values are confused."""
    if system.comparison.flags_only:
        raise DialgaugeError("where it goes wrong needs predicted states, and there are only flags", file=system.name)
    faults = Faults(system.comparison)
    slots = Table(
        f"{system.name}: errors by slot ({system.profile})",
        [
            "slot",
            "episodes",
            *KINDS.values(),
            Column("mean origin (turn)", digits=1),
            Column("mean length (turns)", digits=1),
            Column("recovered %", digits=1, percent=True),
        ],
        notes=[
            "An episode is a slot that stays wrong over consecutive turns; it recovers if it ends before the dialogue."
        ],
    )
    for entry in faults.by_slot()[:most]:
        slots.add(
            "-".join(entry.pair),
            entry.episodes,
            entry.wrong_value,
            entry.missed,
            entry.spurious,
            entry.mean_origin,
            entry.mean_turns,
            entry.recovered / entry.episodes,
        )
    confused = Table(f"{system.name}: confused values ({system.profile})", ["slot", "gold", "predicted", "turns"])
    for pair, gold, predicted, turns in faults.confusions(most):
        confused.add("-".join(pair), gold or "(absent)", predicted or "(absent)", turns)
    return [slots, confused, _first_error_table(system, faults)]


def _first_error_table(system: SystemScores, faults: Faults) -> Table:
    first = faults.first_errors()
    histogram = first.histogram()
    slots = slots_per_dialogue(system.comparison)
    table = Table(
        f"{system.name}: position of the first error in dialogues that end wrong ({system.profile})",
        ["part of the dialogue", "dialogues"],
        notes=[
            f"{first.dialogues} dialogues end wrong; {len(first.recovering)} of them were exact again in between.",
            f"Gold slots per dialogue: at most {int(slots.max())}; "
            f"{float((slots < 12).mean()):.1%} of the dialogues have fewer than 12.",
        ],
    )
    for place, number in enumerate(histogram):
        table.add(f"{place * 10}% to {place * 10 + 10}%", number)
    return table


def sensitivity_tables(found: Sensitivity) -> list[Table]:
    """One measure under all profiles, and what each rule does."""
    values = Table(
        f"{found.measure} under each profile (percent)",
        ["system", *(Column(profile, digits=2, percent=True, best="max") for profile in found.profiles)],
        notes=_swap_notes(found),
    )
    for system, by_profile in found.values.items():
        values.add(system, *(by_profile[profile] for profile in found.profiles))
    rules = Table(
        "Turns that each rule flips",
        ["profile", "rule", "system", "exact only with it", "exact only without it",
         Column(f"{found.measure} without it", digits=2, percent=True)],
        notes=["Each rule is left out by itself; rules that flip no turn of any system are not listed."],
    )  # fmt: skip
    for effect in found.rules:
        if effect.gained or effect.lost:
            rules.add(effect.profile, effect.rule, effect.system, effect.gained, effect.lost, effect.value_without)
    return [values, rules] if len(rules) else [values]


def _swap_notes(found: Sensitivity) -> list[str]:
    if len(found.values) < 2:
        return []
    if not found.swaps:
        return ["The order of the systems is the same under all profiles."]
    return [
        f"The order changes: {first} is ahead of {second} under {ahead}, behind under {behind}."
        for first, second, ahead, behind in found.swaps
    ]


def measure_table(cards: Iterable[Card]) -> Table:
    """What each measure means."""
    table = Table("Measures", ["name", "parameters", "formula", "meaning"])
    for card in cards:
        parameters = [f"@{card.cutoff.name}"] if card.cutoff else []
        parameters += [f"{p.name}={'|'.join(p.choices)}" for p in card.parameters]
        table.add(card.name, " ".join(parameters), card.formula, card.summary)
    return table
