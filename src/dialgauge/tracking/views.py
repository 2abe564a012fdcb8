"""How tracking runs are shown: scores by domain, turn and slot, what goes wrong, and states side by side."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import polars as pl

from dialgauge.dialogue import Dialogue, State
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Score
from dialgauge.report import (
    ERRORS,
    PERCENT,
    RIGHT,
    Cell,
    Chart,
    Column,
    Finding,
    Link,
    Mark,
    Number,
    Slots,
    Table,
    Tone,
    Transcript,
    Turn,
    View,
    count_cell,
    part_of,
    part_table,
    plain_verdict,
    score_cell,
    state_table,
)
from dialgauge.runs import Run
from dialgauge.text import counted
from dialgauge.tracking.comparing import compared_sensitivity, compared_sweep, correlation, rated, sensitivity, sweep
from dialgauge.tracking.details import tracking_details
from dialgauge.tracking.measures import DEFAULT_MEASURES
from dialgauge.tracking.sgd import ALL, OFFICIAL_NAMES
from dialgauge.tracking.slot_errors import first_errors, slot_episodes, slots_per_dialogue
from dialgauge.tracking.tables import (
    PART_SCORES,
    PREDICTIONS,
    SLOT_ERRORS,
    SLOT_REWORDINGS,
    SLOT_SCORES,
    TURN_SCORES,
    read_counts,
)
from dialgauge.values import Profile, profile_named

#: What flexible goal accuracy calls turns.
TURN_TYPES = {
    "exact": Mark("exact", "good"),
    "type1": Mark("new error (type 1)", "bad"),
    "type2": Mark("error carried over (type 2)", "bad"),
}
NOTHING = "(nothing)"
#: Measures of which a screen shows all.
_FEW = 12


def verdict(run: Run) -> str:
    """How many turns and dialogues are right, and what is wrong in the others."""
    if TURN_SCORES not in run.tables or SLOT_ERRORS not in run.tables or "JGA" not in run.scores:
        return plain_verdict(run)
    exact = run.table(TURN_SCORES).group_by("dialogue").agg(pl.col("exact").all())["exact"]
    errors = run.table(SLOT_ERRORS)["kind"].value_counts(sort=True).rows()
    total = sum(count for _, count in errors)
    kinds = ", ".join(f"{count / total:.0%} {ERRORS[kind]}" for kind, count in errors)
    of = "the turns" if run.coverage.complete else "the scored turns"
    return (
        f"{run.name} gets {float(run['JGA']):.1%} of {of} and {int(exact.sum()):,} of "
        f"{counted(len(exact), 'dialogue')} exactly right; slot errors: {kinds or 'none'}."
    )


def warnings(run: Run) -> list[str]:
    """Gold turns that were not scored."""
    return [] if run.coverage.complete else [f"{run.name}: {run.coverage.sentence()}."]


def heads(run: Run) -> list[str]:
    """All measures of the run if they are few, those of parts that were named too; else the usual ones of them."""
    usual = [name for name in run.scores if name in DEFAULT_MEASURES or part_of(name)]
    return usual if usual and len(run.scores) > _FEW else list(run.scores)


def by_domain(run: Run) -> Table | None:
    """Both states restricted to one domain."""
    if not (parts := _parts(run, "domain")) or SLOT_SCORES not in run.tables:
        return None
    frame = _gold_domains(run)
    counts = {domain: count_cell(frame, {"domain": domain}) for domain in sorted(frame["domain"].unique())}
    table = part_table("Scores by domain", "domain", parts, counts)
    table.notes.append("Turns whose gold state has the domain; both states are restricted to it.")
    return table


def by_turn(run: Run) -> Table | None:
    """How scores fall as dialogues go on."""
    if not (parts := _parts(run, "turn")):
        return None
    lengths = run.table(TURN_SCORES).group_by("user_turn").len().sort("user_turn").rows()
    table = part_table(
        "Scores by user turn", "user turn", parts, {f"turn={turn}": Cell(count) for turn, count in lengths}
    )
    for row in table.rows:
        row[0] = Cell(int(str(row[0].value).removeprefix("turn=")))
    table.chart, table.first = Chart("lines", tuple(column.name for column in table.columns[1:-1])), 12
    return table


def by_slot(run: Run) -> Table | None:
    """Each slot: how often it is right, and how it is wrong."""
    if SLOT_SCORES not in run.tables:
        return None
    table = Table(
        "Slots by errors",
        [
            Column("slot"),
            Column("F1", PERCENT, spare=1),
            Column("precision", PERCENT, spare=2),
            Column("recall", PERCENT, spare=2),
            *(Column(words, tone="bad") for words in ERRORS.values()),
            Column("dialogues", help="with an error in this slot", spare=1),
        ],
        notes=["Errors are counted in user turns."],
        chart=Chart("bars", tuple(ERRORS.values())),
        first=15,
    )
    errors, slot = _errors(run), pl.concat_str("domain", "slot", separator="-").alias("slot")
    counts = pl.col("correct", "wrong_value", "missed", "spurious").cast(pl.Int64).sum()
    rows = run.table(SLOT_SCORES).group_by(slot).agg(counts).iter_rows()
    for name, right, wrong, missed, spurious in sorted(rows, key=lambda row: (-sum(row[2:]), row[0])):
        gold, predicted = right + wrong + missed, right + wrong + spurious
        shares = [_share(2 * right, gold + predicted), _share(right, predicted), _share(right, gold)]
        table.add(name, *shares, wrong, missed, spurious, count_cell(errors, {"slot": name}))
    return table


def error_types(run: Run) -> Table | None:
    """Turns by what flexible goal accuracy calls them."""
    if TURN_SCORES not in run.tables or not (frame := _turn_types(run)).height:
        return None
    turns = dict(frame["turn type"].value_counts().rows())
    table = Table(
        "Turns by type of error",
        ["turn type", "turns", Column("share", PERCENT), Column("dialogues", help="with at least one such turn")],
        chart=Chart("bars", ("turns",)),
    )
    for mark in TURN_TYPES.values():
        count = turns.get(mark.text, 0)
        dialogues = count_cell(frame, {"turn type": mark.text})
        table.add(Cell(mark.text, tone=mark.tone), Cell(count, tone=mark.tone), _share(count, frame.height), dialogues)
    return table


def onset(run: Run) -> Table | None:
    """Where the first error falls, in dialogues that end with a wrong state (RSA paper, Figure 1)."""
    if TURN_SCORES not in run.tables:
        return None
    first = first_errors(run)
    table = Table("Position of the first error", ["part of the dialogue", "dialogues"], chart=_DIALOGUE_BARS)
    table.answer = (
        f"{counted(len(first.turn), 'dialogue')} {'ends' if len(first.turn) == 1 else 'end'} with a wrong state; "
        f"{len(first.recovering):,} of them {'was' if len(first.recovering) == 1 else 'were'} exact again in between."
    )
    for tenth, dialogues in enumerate(first.histogram()):
        table.add(f"{10 * tenth}–{10 * tenth + 10}%", dialogues)
    return table


def gold_slots(run: Run) -> Table | None:
    """How many gold slots dialogues have (RSA paper, Figure 2)."""
    if not _has_states(run):
        return None
    slots = slots_per_dialogue(read_counts(run)).tolist()
    table = Table("Gold slots per dialogue", ["slots", "dialogues"], chart=_DIALOGUE_BARS)
    for number in range(max(slots, default=-1) + 1):
        table.add(number, slots.count(number))
    return table


def confusions(run: Run) -> Table | None:
    """Which values are taken for which."""
    if not _has_states(run):
        return None
    keys = ("slot", "gold", "predicted")
    groups = _errors(run).group_by(keys).agg(turns=pl.len(), dialogues=pl.col("dialogue").n_unique())
    table = Table("Confused values", [*keys, "turns", Column("dialogues", spare=1)], first=15)
    for *values, turns, dialogues in groups.sort("turns", *keys, descending=[True, False, False, False]).iter_rows():
        link = Link(only=dict(zip(keys, values, strict=True)))
        table.add(*values, turns, Cell(dialogues, link=link))
    return table


def episodes(run: Run) -> Table | None:
    """How long slots stay wrong, and whether they recover."""
    if not _has_states(run):
        return None
    table = Table(
        "Episodes: slots that stay wrong over consecutive user turns",
        [
            Column("slot"),
            Column("episodes"),
            Column("begin in user turn", Number(1), help="mean, from 0"),
            Column("user turns", Number(1), help="that they last, mean"),
            Column("recovered", PERCENT, help="percent that end before the dialogue"),
        ],
        first=15,
    )
    for each in slot_episodes(run):
        table.add(each.slot, each.episodes, each.mean_origin, each.mean_turns, each.recovered / each.episodes)
    return table


def sgd(run: Run) -> Table | None:
    """SGD's official scores by group of services, under the official names."""
    if tracking_details(run).sgd is None:
        return None
    parts, whole = _parts(run, "service"), {name: run.scores.get(name) for name in OFFICIAL_NAMES}
    measures = [name for name, score in whole.items() if score is not None]
    names = [OFFICIAL_NAMES[name] for name in measures]
    table = Table(
        "SGD's official scores",
        ["services", *(Column(name, PERCENT, spare=place) for place, name in enumerate(names))],
        first=3,
    )
    table.add(ALL, *(score_cell(whole[name]) for name in measures))
    for group in dict.fromkeys(map(part_of, parts)):
        table.add(group, *(score_cell(parts.get(f"{name}[{group}]")) for name in measures))
    return table


def findings(run: Run) -> dict[str, Finding]:
    """The first error of each dialogue."""
    if SLOT_ERRORS not in run.tables:
        return {}
    first = run.table(SLOT_ERRORS).sort("turn", maintain_order=True).group_by("dialogue", maintain_order=True).first()
    rows = first.select("dialogue", "turn", "domain", "slot", "kind", "gold", "predicted").iter_rows()
    return {name: Finding(_error_words(*error), turn) for name, turn, *error in rows}


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """By error, by type of turn, and by the domains of gold."""
    if TURN_SCORES in run.tables:
        yield _turn_types(run)
    if _has_states(run):
        yield from (_errors(run), _gold_domains(run))


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """The words, and beside each user turn both states: what is new or wrong first, what is carried over folded."""
    own = pl.col("dialogue") == dialogue.id
    scores = {row["turn"]: row for row in run.table(TURN_SCORES).filter(own).iter_rows(named=True)}
    states = _compared_states(run, dialogue.id) if _has_states(run) else {}
    turns: list[Turn] = []
    before: Slots = {}
    for number, turn in enumerate(dialogue.turns):
        marks, beside = [], []
        if (row := scores.get(number)) is not None:
            weight = f", FGA@0.5 {row['FGA@0.5']:.2f}" if row.get("FGA@0.5") is not None else ""
            about = Mark(f"user turn {row['user_turn']}{weight}")
            marks = [TURN_TYPES.get(row["error_type"], Mark("wrong", "bad")), about]
            if number in states:
                beside, before = [state_table(states[number], before)], states[number]
        turns.append(Turn(number=number, speaker=turn.speaker, text=turn.text, marks=marks, beside=beside))
    exact = sum(bool(row["exact"]) for row in scores.values())
    tone: Tone = "good" if exact == len(scores) else "bad"
    summary = Mark(f"{exact} of {counted(len(scores), 'user turn')} exact", tone)
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=[summary])


_DIALOGUE_BARS = Chart("bars", ("dialogues",))

VIEW = View(
    verdict=verdict,
    warnings=warnings,
    scores=heads,
    tables={
        "by-domain": by_domain,
        "by-slot": by_slot,
        "errors": error_types,
        "first-errors": onset,
        "by-turn": by_turn,
        "confusions": confusions,
        "episodes": episodes,
        "gold-slots": gold_slots,
        "sensitivity": sensitivity,
        "sgd": sgd,
        "sweep": sweep,
        "correlation": correlation,
        "ratings": rated,
    },
    screen=("sgd", "sensitivity", "ratings"),
    transcript=transcript,
    columns=("JGA", "FGA@0.5", "AGA", "RSA"),
    findings=findings,
    filters=filters,
    labels={
        "error": "kind of error",
        "slot": "slot with an error",
        "gold": "gold value",
        "predicted": "predicted value",
    },
    apart=("profile",),
    compared={"sweep": compared_sweep, "sensitivity": compared_sensitivity},
)


def _errors(run: Run) -> pl.DataFrame:
    """Every wrong slot: dialogue, turn, error, slot, gold, predicted."""
    return run.table(SLOT_ERRORS).select(
        "dialogue",
        "turn",
        pl.col("kind").replace(ERRORS).alias("error"),
        pl.concat_str("domain", "slot", separator="-").alias("slot"),
        pl.col("gold", "predicted").fill_null(NOTHING),
    )


def _turn_types(run: Run) -> pl.DataFrame:
    words = {code: mark.text for code, mark in TURN_TYPES.items()}
    return run.table(TURN_SCORES).select("dialogue", "turn", pl.col("error_type").replace(words).alias("turn type"))


def _gold_domains(run: Run) -> pl.DataFrame:
    """The domains that the gold states of each dialogue have."""
    in_gold = pl.sum_horizontal("correct", "wrong_value", "missed") > 0
    return run.table(SLOT_SCORES).filter(in_gold).select("dialogue", "domain").unique(maintain_order=True)


def _has_states(run: Run) -> bool:
    """Whether the run has states and not only correctness flags, or sums."""
    return {TURN_SCORES, SLOT_ERRORS, SLOT_SCORES, SLOT_REWORDINGS, PREDICTIONS} <= set(run.tables)


def _parts(run: Run, by: str) -> dict[str, Score]:
    """The stored scores of each domain, slot or turn, by the measure with its part."""
    if PART_SCORES not in run.tables:
        return {}
    rows = run.table(PART_SCORES).filter(pl.col("by") == by).select("measure", "value", "low", "high")
    units = {name: score.unit for name, score in run.scores.items()}
    return {
        name: Score(value=value, low=low, high=high, unit=units.get(name.partition("[")[0]))
        for name, value, low, high in rows.iter_rows()
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _error_words(domain: str, slot: str, kind: str, gold: str | None, predicted: str | None) -> str:
    words = {"wrong": f"is ‘{predicted}’, not ‘{gold}’", "missed": f"is missed (‘{gold}’)"}
    return f"{domain}-{slot} {words.get(kind, f'is ‘{predicted}’, and nobody asked for it')}"


def _compared_states(run: Run, dialogue: str) -> dict[int, dict[str, tuple[str, str, str]]]:
    """Both states of every scored turn, with values as the profile compares them.

    Runs store predictions, and the slots in which they are not gold word by word; all others are right.
    """
    profile = _profile(run)
    own = pl.col("dialogue") == dialogue
    states: dict[int, dict[str, tuple[str, str, str]]] = {}
    for turn, written in run.table(PREDICTIONS).filter(own).select("turn", "state").iter_rows():
        state = msgspec.json.decode(written or "{}", type=State)
        states[turn] = {slot: (value, value, RIGHT) for slot, value in _normalised(state, profile)}
    for table in (SLOT_REWORDINGS, SLOT_ERRORS):
        for row in run.table(table).filter(own).iter_rows(named=True):
            values = (row["gold"] or "", row["predicted"] or "", row.get("kind", RIGHT))
            states.setdefault(row["turn"], {})[f"{row['domain']}-{row['slot']}"] = values
    return states


def _profile(run: Run) -> Profile | None:
    """The profile that the run was scored under; None if this program does not have it."""
    try:
        return profile_named(tracking_details(run).profile)
    except DialgaugeError:
        return None


def _normalised(state: State, profile: Profile | None) -> Iterator[tuple[str, str]]:
    for domain, slots in state.items():
        for slot, values in slots.items():
            if profile is None:
                yield f"{domain}-{slot}", " | ".join(values)
                continue
            pair = profile.pair(domain, slot)
            if pair is not None and (compared := profile.normalise(pair, values, "predicted")):
                yield "-".join(pair), " | ".join(compared)
