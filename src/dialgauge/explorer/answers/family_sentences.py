"""What a run of each family says in sentences: its headline in plain words, and what goes wrong most.

Everything comes from the scores, details and tables of the run. What a run lacks (a measure that nobody asked for, a
table that another version did not write) is not spoken of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dialgauge.agents import END_WORDS
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.answers.phrases import (
    Glossary,
    is_number,
    listed,
    percent,
    sentence,
    value_of,
    value_with_interval,
)
from dialgauge.explorer.answers.run_columns import columns, known, tallied
from dialgauge.explorer.kinds.reason_groups import reason_groups
from dialgauge.report import plain
from dialgauge.runs import Run
from dialgauge.tasks import REASONS
from dialgauge.tasks import warnings as task_warnings
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

#: Reasons, classes and the like that are named one by one.
_NAMED = 3
#: The user says the same so often in a row before it counts as a loop.
_LOOP = 3


def family_sentences(run: Run, words: Glossary) -> list[str]:
    """What the family of a run has to say; nothing for other kinds, and for runs without its headline."""
    told = _FAMILIES.get(run.kind)
    return [sentence(text) for text in told(run, words)] if told is not None and run.scores else []


# Tracking


def _tracking(run: Run, words: Glossary) -> Iterator[str]:
    exact = known(run, "JGA")
    if exact is not None:
        dialogues = _scored(run, "dialogues")
        about = words.said("JGA", *filter(None, [value_with_interval(exact), dialogues]))
        yield f"{plain(run.name)} gets {value_of(exact)} of the turns exactly right: {about}"
    else:
        yield from first_scores(run, words)
    yield from _whole_dialogues(run)
    yield from _slot_errors(run)


def _whole_dialogues(run: Run) -> Iterator[str]:
    frame = columns(run, "turn_scores", text=("dialogue",), number=("exact",))
    if frame is not None and frame.height:
        perfect = frame.group_by("dialogue").min()["exact"] > 0
        right, every = int(perfect.sum()), len(perfect)
        yield f"In {right:,} of {counted(every, 'dialogue')} ({percent(right, every)}) every turn is right"


#: Kinds of slot errors, by the column that counts them.
_ERRORS = {"missed": "missed slots", "spurious": "spurious slots", "wrong_value": "wrong values"}


def _slot_errors(run: Run) -> Iterator[str]:
    import polars as pl

    frame = columns(run, "slot_scores", text=("domain", "slot"), number=tuple(_ERRORS))
    if frame is None:
        return
    totals = {kind: float(frame[column].sum()) for column, kind in _ERRORS.items()}
    every = sum(totals.values())
    if not every:
        yield "No slot is ever wrong"
        return
    kinds = [
        f"{kind} ({percent(count, every)})" for kind, count in sorted(totals.items(), key=lambda one: -one[1]) if count
    ]
    first, *others = kinds
    by_slot = frame.group_by("domain", "slot").agg(wrong=pl.sum_horizontal(pl.col(*_ERRORS).sum()))
    domain, slot, wrong = by_slot.sort("wrong", "domain", "slot", descending=[True, False, False]).row(0)
    where = "-".join(filter(None, [domain, slot]))
    then = f", then {listed(others)}" if others else ""
    yield (
        f"Most errors are {first}{then}; the slot most often wrong is {plain(where)} "
        f"({percent(wrong, every)} of {counted(int(every), 'error')}, turn by turn)"
    )


# Responses


def _responses(run: Run, words: Glossary) -> Iterator[str]:
    right, whole = known(run, "per-response"), known(run, "per-dialog")
    if right is None:
        yield from first_scores(run, words)
    else:
        carried = f", and every reply right in {value_of(whole)} of the dialogues" if whole is not None else ""
        measures = [
            words.said(name, value_with_interval(run.scores[name]))
            for name in ("per-response", "per-dialog")
            if known(run, name)
        ]
        yield f"{plain(run.name)} gets {value_of(right)} of the replies right{carried}: {listed(measures)}"
    frame = columns(run, "replies", text=("class", "chosen"), number=("correct", "tied"))
    if frame is None or not frame.height:
        return
    yield from _reply_classes(frame)
    ties, unanswered = int((frame["tied"] > 0).sum()), int((frame["chosen"] == "").sum())
    if ties:
        yield (
            f"Several candidates shared the highest score in {counted(ties, 'reply', 'replies')} "
            f"({percent(ties, frame.height)}): there the order of the candidate file decided"
        )
    if unanswered:
        yield f"{counted(unanswered, 'reply', 'replies')} ({percent(unanswered, frame.height)}) had no answer"


def _reply_classes(frame: polars.DataFrame) -> Iterator[str]:
    import polars as pl

    by_class = frame.group_by("class").agg(right=(pl.col("correct") > 0).sum(), every=pl.len()).sort("class")
    rows = [(plain(name or ""), int(right), int(every)) for name, right, every in by_class.iter_rows()]
    wrong = sum(every - right for _, right, every in rows)
    if not wrong:
        yield "No reply of any class is wrong"
        return
    name, right, every = max(rows, key=lambda row: row[2] - row[1])
    never = [one for one, good, _ in rows if not good and one != name]
    also = f"; of the class{'es' if len(never) > 1 else ''} {listed(never)} none is right either" if never else ""
    own = f"{percent(right, every)} of that class are right" if right else "none of that class is right"
    yield (
        f"Most wrong replies are of the class {name} ({percent(every - right, wrong)} of "
        f"{counted(wrong, 'wrong reply', 'wrong replies')}; {own}){also if not right else also.replace(' either', '')}"
    )


# Users


_FAULTS = {
    "user NLU": "the user's understanding",
    "user policy": "the user's policy",
    "system NLU": "the system's understanding",
    "system policy": "the system's policy",
    "system": "the system",
}
#: Verdicts on what the user did not say.
_NEVER_SAID = ("missing", "pre-empted", "excused", "pooled")
_SAYS = {"I-GCDF1": "constraints", "R-GCDF1": "requests"}


def _users(run: Run, words: Glossary) -> Iterator[str]:
    told = False
    for measure, what in _SAYS.items():
        f1, recall, precision = (known(run, f"{measure}{aspect}") for aspect in ("", " recall", " precision"))
        parts = [f"expresses {value_of(recall)} of the {what} of its goal"] if recall else []
        # These are means over conversations; sentences that pool all of them say so.
        if precision:
            parts.append(
                f"{value_of(precision)} of the {what} it expresses belong there or are warranted by the context"
            )
        if f1:
            parts.append(f"together that is {words.said(measure, value_with_interval(f1))}")
        if parts:
            told = True
            yield (
                f"On average the user {'; '.join(parts)}" if recall else f"Of the user, on average: {'; '.join(parts)}"
            )
    if not told:
        yield from first_scores(run, words)
    yield from _repetitions(run)
    yield from _lost(run)
    ends = columns(run, "conversation_facts", text=("end",))
    if ends is not None and ends.height:
        loops = int((ends["end"] == "loop").sum())
        if loops:
            yield f"{percent(loops, ends.height)} of {counted(ends.height, 'conversation')} end in a loop{_causes(run)}"


def _causes(run: Run) -> str:
    frame = columns(run, "loops", text=("cause",))
    causes = tallied(frame["cause"]) if frame is not None else []
    if not causes:
        return ""
    every = sum(count for _, count in causes)
    shares = [f"{_fault(cause)} ({percent(count, every)})" for cause, count in causes[:_NAMED]]
    return f"; loops are caused by {listed(shares)}"


def _fault(name: str) -> str:
    return _FAULTS.get(name, plain(name))


def _repetitions(run: Run) -> Iterator[str]:
    frame = columns(run, "verdicts", text=("verdict", "fault"))
    if frame is None:
        return
    mentions = frame.filter(~frame["verdict"].is_in(_NEVER_SAID))
    repeated = mentions.filter(mentions["verdict"] == "repeated-penalised")
    if not mentions.height:
        return
    if not repeated.height:
        yield "The user repeats nothing needlessly"
        return
    faults = [
        f"{_fault(name)} ({percent(count, repeated.height)})" for name, count in tallied(repeated["fault"])[:_NAMED]
    ]
    blamed = f", caused by {listed(faults)}" if faults else ""
    yield (
        f"Over all conversations together, {percent(repeated.height, mentions.height)} of what the user says are "
        f"needless repetitions{blamed}"
    )


def _lost(run: Run) -> Iterator[str]:
    lost = run.details.get("lost")
    shares = lost.get("I-GCDF1", {}).get("combined", {}) if isinstance(lost, Mapping) else {}
    losses = [(str(name), share) for name, share in shares.items() if isinstance(share, float) and share > 0]
    if losses:
        losses.sort(key=lambda one: -one[1])
        parts = [f"{_fault(name)} {100 * share:.1f} points" for name, share in losses]
        yield f"What I-GCDF1 lacks is lost to {listed(parts)}"


# Tasks


def _tasks(run: Run, words: Glossary) -> Iterator[str]:
    human = run.details.get("human")
    human = human if isinstance(human, Mapping) else {}
    inform, success = known(run, "Inform"), known(run, "Success")
    if inform is None and success is None:
        yield from first_scores(run, words)
    else:
        parts = [_beside_humans(run, name, words, human) for name in ("Inform", "Success") if known(run, name)]
        yield f"{plain(run.name)} has {listed(parts)}"
    grounded = [f"{name}(rules=grounded)" for name in ("Inform", "Success")]
    parts = [_beside_humans(run, name, words, human) for name in grounded if known(run, name)]
    if parts:
        yield f"By the rule set grounded, which credits only what is supported, it has {listed(parts)}"
    texts = [
        f"{value_with_interval(run.scores[name])} by {words.said(name)}"
        for name in ("BLEU", "Combined")
        if known(run, name)
    ]
    if texts:
        yield f"Its wording has {listed(texts)}" if len(texts) == 1 else f"It has {listed(texts)}"
    yield from _failed_domains(run)
    yield from _doubts(run)


def _beside_humans(run: Run, name: str, words: Glossary, human: Mapping[str, Any]) -> str:
    theirs = human.get(name)
    beside = f"human responses: {100 * theirs:.1f}%" if isinstance(theirs, float) and is_number(theirs) else ""
    return f"{value_with_interval(run.scores[name])} by {words.said(name, beside)}"


def _failed_domains(run: Run) -> Iterator[str]:
    frame = columns(run, "task_verdicts", text=("rules",), number=("success",))
    reasons = _frequent_reasons(run, "grounded")
    if frame is not None and reasons:
        failed = frame.filter((frame["rules"] == "grounded") & (frame["success"] == 0))
        yield f"Of {counted(failed.height, 'domain')} that fail by grounded the most frequent reasons are: {reasons}"


def _doubts(run: Run) -> Iterator[str]:
    try:
        doubts = task_warnings(run)
    except (DialgaugeError, KeyError, TypeError, ValueError):  # details and coverage are those of another version
        return
    for doubt in doubts:
        yield f"Beware: {doubt}"


# Lab


def _lab(run: Run, words: Glossary) -> Iterator[str]:
    strict, compat = known(run, "Success(rules=strict)"), known(run, "Success(rules=compat)")
    if strict is not None:
        loose = (
            f"; by compat rules, ConvLab-2's, which go by what the user heard, in {value_with_interval(compat)}"
            if compat is not None
            else ""
        )
        held = _scored(run, "dialogues", "conversation")
        yield (
            f"With {plain(run.name)} the users got everything they came for in {value_with_interval(strict)} of "
            f"{held or 'the conversations'} (Success by strict rules){loose}"
        )
    else:
        yield from first_scores(run, words)
    frame = columns(run, "conversations", text=("reason",))
    if frame is not None and frame.height:
        ends = [
            f"{END_WORDS.get(end, plain(end))} ({percent(count, frame.height)})"
            for end, count in tallied(frame["reason"])
        ]
        if ends:
            yield f"Conversations ended because {listed(ends, 2 * _NAMED)}"
    yield from _loops(run)
    yield from _failed_goals(run)


def _loops(run: Run) -> Iterator[str]:
    frame = columns(run, "conversations", number=("longest_run",))
    if frame is None or not frame.height:
        return
    loops = int((frame["longest_run"] >= _LOOP).sum())
    if loops:
        held = f"{counted(loops, 'conversation')} ({percent(loops, frame.height)})"
        longest = max(map(int, frame["longest_run"]))
        yield f"In {held} the user says the same {_LOOP} times or more in a row, at most {longest} times"


def _frequent_reasons(run: Run, rule: str) -> str:
    """The groups of reasons that occur most, with their numbers."""
    frame = columns(run, REASONS, text=("dialogue", "domain", "rule", "reason"))
    if frame is None:
        return ""
    groups = tallied(reason_groups(frame.filter(frame["rule"] == rule))["group"])
    return "; ".join(f"{group} ({count:,})" for group, count in groups[:_NAMED])


def _failed_goals(run: Run) -> Iterator[str]:
    frame = columns(run, "outcomes", text=("rule",), number=("success",))
    reasons = _frequent_reasons(run, "strict")
    if frame is not None and reasons:
        failed = frame.filter((frame["rule"] == "strict") & (frame["success"] == 0))
        yield f"Of {counted(failed.height, 'failed task')} the most frequent reasons are: {reasons}"


def _scored(run: Run, unit: str, noun: str = "") -> str:
    """How many units were scored, in words; nothing where nobody knows."""
    count = run.coverage.units.get(unit)
    return counted(count.scored, noun or unit.removesuffix("s")) if count is not None and count.scored else ""


def first_scores(run: Run, words: Glossary) -> Iterator[str]:
    """The first scores, for runs of other kinds and where the headline of the family was not measured."""
    name = plain(run.name) or "the run"
    whole = {measure: score for measure, score in run.scores.items() if not measure.endswith("]")}
    shown = [
        f"{value_with_interval(score)} by {words.said(measure)}"
        + (", where lower is better," if score.higher_is_better is False else "")
        for measure, score in list((whole or run.scores).items())[:_NAMED]
    ]
    yield f"{name} has {listed(shown)}".removesuffix(",") if shown else f"{name} has no scores"


_FAMILIES: dict[str, Callable[[Run, Glossary], Iterator[str]]] = {
    "tracking": _tracking,
    "responses": _responses,
    "training": _responses,
    "users": _users,
    "tasks": _tasks,
    "lab": _lab,
}
