"""How runs of the lab are shown: was the job done, whose fault failures were, what was misheard; and studies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec
import polars as pl

from dialgauge.agents import BROKEN_ENDS, END_WORDS
from dialgauge.dialogue import Act, Blame, Call, Dialogue, Outcome
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.lab.blame.reasons import CAUSE_WORDS, CAUSES, SIDE_OF, blame_sentence
from dialgauge.lab.blame.scores import BLAME, BLAME_SIDES
from dialgauge.lab.lab_run import FROM_WORDS
from dialgauge.measures import Score
from dialgauge.report import (
    PERCENT,
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
    count_table,
    part_table,
    recorded_slots,
    score_cell,
    state_table,
)
from dialgauge.runs import Run
from dialgauge.tasks import (
    ALIKE,
    CALLS,
    CONVERSATIONS,
    HEARD,
    NEEDS_ACTS,
    OUTCOMES,
    REASON_GROUPS,
    REASONS,
    paired_items,
    reason_texts,
)
from dialgauge.text import counted
from dialgauge.values import canonical

RULES = ("strict", "compat")
NOT_UNDERSTOOD = "not understood"
_DONE: Mapping[str, Tone] = {"done": "good", "not done": "bad", "not judged": "plain", NOT_UNDERSTOOD: "warn"}
_BOTH = ("Success", "Book", "InformRecall", "InformPrecision", "InformF1")
_STRICT_ONLY = ("SuccessOfSatisfiable", "EntityMatch", "RefusedThenFixed", "FailPath", "Complete")
#: The scores that are shown first: of the task, the tracker and the user.
_HEADS = ("Success(rules=strict)", "Success(rules=compat)", "JGA", "F1", "I-GCDF1", "R-GCDF1")
#: Who erred, and what came of it: what is worth reading first.
_READ: Mapping[tuple[bool, bool, bool], str] = {
    (False, True, False): "failed, only the user erred",
    (False, True, True): "failed, both erred",
    (False, False, True): "failed, only the system erred",
    (True, True, False): "done although the user erred",
    (True, False, True): "done although the system erred",
    (True, True, True): "done although both erred",
}
#: From so many user turns in a row with the same acts on, a conversation is in a loop.
LOOP = 3
_COUNTED = {"calls": "calls", "tokens_in": "tokens in", "tokens_out": "tokens out"}
#: The parts in which what was heard rightly agrees.
_SAME = slice(0, 3)
#: Columns of what a task ended with that a narrow screen leaves out.
_ENDED = (Column("ended up with", spare=1), Column("message", spare=1))


def verdict(run: Run) -> str:
    """In how many conversations users got everything they came for, and what most failures come from."""
    score = run.scores.get("Success(rules=strict)")
    if score is None or score.value is None:
        return f"{run.name}: {run.coverage.sentence()}."
    share, more = f"{score.value:.1%}", ""
    if score.low is not None and score.high is not None:
        more = f" (95% interval {100 * score.low:.1f} to {100 * score.high:.1f})"
    unread = run.scores.get("NotUnderstood")
    if unread is not None and unread.value:
        share += f" to {score.value + unread.value:.1%}"
        number = counted(_not_understood(run).height, "conversation")
        more = f" (in {number} the lab did not understand the assistant)"
    done = f"With {run.name} the users got everything they came for in {share} of conversations{more}"
    first = _blame(run)
    if not first.height:
        return f"{done}."
    cause, count = first["blamed on"].value_counts(sort=True).row(0)
    return f"{done}. Most frequent cause of failure: '{cause}' ({count:,} of {first.height:,})."


def warnings(run: Run) -> list[str]:
    """Conversations that were not held or could not be judged."""
    return [] if run.coverage.complete else [f"{run.coverage.sentence()}."]


def done(run: Run) -> Table:
    """The job under both rule sets, side by side."""
    table = Table("Was the job done?", ["measure", *(Column(rules, PERCENT) for rules in RULES)])
    missing = run.details.get("left_out") or {}
    for name in _BOTH:
        cells = [score_cell(run.scores.get(f"{name}(rules={rules})")) for rules in RULES]
        if str(missing.get(f"{name}(rules=compat)", "")).startswith(NEEDS_ACTS):
            cells[1] = Cell(NEEDS_ACTS)
        if any(not cell.is_empty for cell in cells):
            table.add(name, *cells)
    for name in _STRICT_ONLY:
        if name in run.scores:
            table.add(name, score_cell(run.scores[name]), None)
    table.notes.append("strict: what was said, booked and true. compat: ConvLab-2's rules, by what the user heard.")
    if run.manifest.config.get("acts", {}).get("system") == FROM_WORDS:
        table.notes.append("The system gave no acts: what it did is read from its calls, what it told from its text.")
    if "NotUnderstood" in run.scores:
        table.add("not understood", score_cell(run.scores["NotUnderstood"]), None)
        table.notes.append("strict success lies between Success and Success plus what was not understood.")
    return table


def by_domain(run: Run) -> Table | None:
    """Success in each domain."""
    frame = run.table(OUTCOMES).select("dialogue", "domain").unique().drop_nulls()
    counts = {name: count_cell(frame, {"domain": name}) for name in sorted(frame["domain"].unique())}
    scores = {
        name: score for name, score in run.scores.items() if name.startswith(("Success(", "EntityMatch", "Book("))
    }
    return part_table("By domain", "domain", scores, counts) if counts else None


def blame(run: Run) -> Table | None:
    """Whose fault failures were: the first broken link from goal to outcome decides."""
    first, rows = _blame(run), run.table(BLAME)
    if not first.height:
        return None
    failed = first["dialogue"].n_unique()
    table = Table(
        "Causes of failures",
        ["side", "cause", "conversations", Column("share", PERCENT, spare=1), Column("domains", spare=2)],
        chart=Chart("bars", ("conversations",)),
        answer=f"{counted(failed, 'failed conversation')}, each counted under its earliest cause.",
    )
    for cause in CAUSES:
        domains = rows.filter(pl.col("cause") == cause).height
        if domains:
            words = f"{SIDE_OF[cause]}: {CAUSE_WORDS[cause]}"
            share = score_cell(run.scores.get(f"Blame[{cause}]"))
            table.add(SIDE_OF[cause], CAUSE_WORDS[cause], count_cell(first, {"blamed on": words}), share, domains)
    return table


def erred(run: Run) -> Table | None:
    """Who erred at all, and how often the job was done all the same."""
    sides = run.table(BLAME_SIDES).drop_nulls()
    if not sides.height:
        return None
    table = Table("Who erred", ["user", "system", "conversations", "done", Column("success", PERCENT)])
    for user, system in ((False, False), (True, False), (False, True), (True, True)):
        own = sides.filter((pl.col("user_erred") == user) & (pl.col("system_erred") == system))
        success = int(own["success"].sum())
        words = ("erred" if user else "faultless", "erred" if system else "faultless")
        table.add(*words, own.height, success, success / own.height if own.height else None)
    score = run.scores.get("SuccessOfFaultlessUser")
    if score is not None and score.value is not None:
        cell = score_cell(score)
        text = f"{Column('', PERCENT).text(cell)} {Column('', PERCENT).interval(cell)}".rstrip()
        table.notes.append(f"Success with a faultless user: {text}.")
    return table


def why(run: Run) -> Table | None:
    """Why tasks failed, by rule set."""
    frame = _reasons(run)
    return count_table("Why tasks failed", frame, "reason", split="rules") if frame.height else None


def ends(run: Run) -> Table | None:
    """How conversations ended."""
    frame = _conversations(run)
    if not frame.height:
        return None
    return count_table("How conversations ended", frame, "end", split="strict", tones=_DONE)


def trials(run: Run) -> Table | None:
    """Goals that were tried several times, those first that were done sometimes."""
    several = run.table(CONVERSATIONS).filter(pl.len().over("goal") > 1)
    if not several.height:
        return None
    most = int(several.group_by("goal").len()["len"].max() or 0)  # type: ignore[arg-type]
    table = Table("Goals and their trials", ["goal", *(f"trial {number}" for number in range(most)), "done"], first=20)
    rows: list[tuple[tuple[bool, int, str], list[Cell | str | int]]] = []
    for (goal,), own in several.group_by("goal", maintain_order=True):
        flags = own["strict"].to_list()
        tried = [Cell(flag, link=Link(dialogue=name)) for name, flag in zip(own["dialogue"], flags, strict=True)]
        passed = sum(flag is True for flag in flags)
        padded = [*tried, *[Cell(None)] * (most - len(tried))]
        rows.append(((passed in (0, len(flags)), passed, str(goal)), [str(goal), *padded, passed]))
    for _, row in sorted(rows, key=lambda each: each[0]):
        table.add(*row)
    return table


def left_out(run: Run) -> Table | None:
    """What could not be judged, and why."""
    ends = _conversations(run).filter(pl.col("end").is_in([END_WORDS[end] for end in BROKEN_ENDS]))
    return count_table("What the lab could not judge", ends, "end") if ends.height else None


def cost(run: Run) -> Table | None:
    """Calls, tokens and money of each side that asked a language model."""
    spent: dict[str, Counter[str]] = {"user": Counter(), "system": Counter()}
    for outcome in run.table("dialogues")["outcome"].drop_nulls().to_list():
        for side, usage in msgspec.json.decode(outcome, type=Outcome).usage.items():
            amounts = {what: int(getattr(usage, what) or 0) for what in _COUNTED}
            spent["system" if side == "agent" else side].update(amounts)
    prices = run.manifest.config.get("prices", {})
    table = Table("What it cost", ["side", *_COUNTED.values(), Column("money", Number(4))])
    for side, amounts in spent.items():
        if any(amounts.values()):
            per_in, per_out = prices.get(side, (0.0, 0.0))
            money = (amounts["tokens_in"] * per_in + amounts["tokens_out"] * per_out) / 1_000_000
            table.add(side, *(amounts[what] for what in _COUNTED), money if per_in or per_out else None)
    return table if table.rows else None


def confusions(run: Run) -> Table | None:
    """What was heard for what."""
    wrong = (
        run.table(HEARD).filter(pl.col("same").not_()).sort("times", "said", "heard", descending=[True, False, False])
    )
    table = Table("Most frequent confusions", ["listener", "said", "heard", "times"], first=10)
    for row in wrong.iter_rows(named=True):
        other = "another value" if row["said"] == row["heard"] else row["heard"] or "nothing"
        table.add(row["listener"], row["said"] or "nothing", other, row["times"])
    return table if table.rows else None


def findings(run: Run) -> Mapping[str, Finding]:
    """What a failure is blamed on, with the turn; else why the first task failed."""
    reasons = run.table(REASONS).to_dicts()
    found: dict[str, Finding] = {}
    for (dialogue, domain, rule), text in reason_texts(reasons).items():
        if rule == "strict":
            found.setdefault(dialogue or "", Finding(f"{domain}: {text}"))
    for row in blame_rows(run.table(BLAME).to_dicts(), reasons):
        if row["first"]:
            found[row["dialogue"]] = Finding(f"[{row['side']}] {row['sentence']}", row["turn"])
    return found


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """By verdict and end, blame, who erred, reason, failed domain, and calls."""
    yield _conversations(run)
    yield _blame(run)
    key = pl.struct("success", "user_erred", "system_erred")
    words = key.map_elements(lambda row: _READ.get(tuple(row.values())), return_dtype=pl.String)
    yield run.table(BLAME_SIDES).drop_nulls().select("dialogue", read=words)
    yield _reasons(run)
    outcomes = run.table(OUTCOMES)
    failed = outcomes.filter(pl.col("success").not_())
    yield failed.select("dialogue", pl.col("domain").alias("failed domain"), pl.col("rule").alias("failed by"))
    yield outcomes.select("dialogue", "domain").unique().drop_nulls()
    yield run.table(CALLS).select("dialogue", "turn", call="name", outcome="outcome")


def transcript(run: Run, dialogue: Dialogue) -> Transcript:
    """Both sides turn by turn with calls, what was heard and believed; above them what became of every task."""
    own = pl.col("dialogue") == dialogue.id
    reasons = run.table(REASONS).filter(own).to_dicts()
    blamed = blame_rows(run.table(BLAME).filter(own).to_dicts(), reasons)
    conversation = next(iter(run.table(CONVERSATIONS).filter(own).to_dicts()), {})
    outcomes = run.table(OUTCOMES).filter(own).to_dicts()
    turns: list[Turn] = []
    before: Slots = {}
    for number, turn in enumerate(dialogue.turns):
        decides = any(row["turn"] == number for row in blamed)
        recorded = turn.acts is not None or turn.heard is not None
        beside = [_heard(turn.acts, turn.heard, "bad" if decides else "warn")] if recorded else []
        if turn.speaker == "user" and (slots := recorded_slots(turn)) is not None:
            beside.append(state_table(slots, before))
            before = slots
        turns.append(
            Turn(
                number=number,
                speaker=turn.speaker,
                text=turn.text or "; ".join(map(_words, _items(turn.acts or ()))),
                marks=[Mark(f"blame: {_cause(row)}", "bad") for row in blamed if row["turn"] == number],
                before=[_calls(turn.calls)] if turn.calls else [],
                beside=beside,
            )
        )
    tables = {
        "findings": _why(blamed, reasons),
        "tasks": _tasks(dialogue, outcomes, reasons),
    }
    shown = {name: table for name, table in tables.items() if table.rows}
    marks = [_verdict_mark(conversation[rules], rules) for rules in RULES] if conversation else []
    if dialogue.id in _not_understood(run)["dialogue"]:
        marks[:1] = [Mark(f"strict: {NOT_UNDERSTOOD}", "warn")]
    return Transcript(run=run.name, dialogue=dialogue.id, turns=turns, marks=marks, tables=shown)


VIEW = View(
    verdict=verdict,
    warnings=warnings,
    scores=lambda run: _HEADS,
    tables={
        "done": done,
        "by-domain": by_domain,
        "blame": blame,
        "erred": erred,
        "why": why,
        "ends": ends,
        "left-out": left_out,
        "cost": cost,
        "trials": trials,
        "confusions": confusions,
    },
    screen=("left-out", "blame", "erred", "cost"),
    transcript=transcript,
    columns=_HEADS,
    findings=findings,
    filters=filters,
    labels={"read": "worth reading", "rules": "by the rules", "reason": "why a task failed", "loop": "says it again"},
)


def blame_rows(blame: Iterable[Mapping[str, Any]], reasons: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the table ``blame``, each with its sentence; ``reasons`` are the rows of why tasks failed."""
    whys = reason_texts(row for row in reasons if row["rule"] == "strict")
    rows = []
    for row in blame:
        why = whys.get((row["dialogue"], row["domain"], "strict"), "")
        record = Blame(
            dialogue=row["dialogue"], unit=row["domain"] or "", side=row["side"] or "", turn=row["turn"],
            code=row["code"] or "", arguments=tuple(row["arguments"] or ()),
        )  # fmt: skip
        rows.append({**row, "sentence": blame_sentence(record, why)})
    return rows


def cross_evaluation(runs: Iterable[Run], measure: str = "Success(rules=strict)") -> Table:
    """Users down, systems across (Schatzmann et al., 2005): the measure in the run of each pair, and the means.

    A good user does well with several systems, a good system with several users. A pair without a run is left empty.
    """
    scores: dict[tuple[str, str], Score] = {}
    for run in runs:
        if run.kind != "lab":
            raise DialgaugeError(f"cross-evaluation needs runs of 'dialgauge lab run', but {run.id} is of {run.kind}")
        if measure not in run.scores:
            raise DialgaugeError(f"the run {run.id} has no measure '{measure}'.{nearest(measure, run.scores)}")
        user, system = str(run.manifest.config["user"]), str(run.manifest.config["system"])
        if (user, system) in scores:
            raise DialgaugeError(f"two runs have the user {user} and the system {system}; give one of them")
        scores[user, system] = run.scores[measure]
    users = list(dict.fromkeys(user for user, _ in scores))
    systems = list(dict.fromkeys(system for _, system in scores))
    columns = [Column(name, PERCENT) for name in (*systems, "mean")]
    table = Table(f"Cross-evaluation: {measure} of each user with each system", ["user", *columns])
    for user in users:
        row = [scores.get((user, system)) for system in systems]
        table.add(user, *map(score_cell, row), _mean(row))
    table.add("mean", *(_mean([scores.get((user, system)) for user in users]) for system in systems), None)
    return table


def _mean(scores: Iterable[Score | None]) -> float | None:
    values = [score.value for score in scores if score is not None and score.value is not None]
    return fmean(values) if values else None


def _conversations(run: Run) -> pl.DataFrame:
    """Each conversation with its verdicts, its end, and whether its user repeats itself."""
    frame = run.table(CONVERSATIONS)
    verdicts = [
        pl.when(pl.col(rules)).then(pl.lit("done")).when(pl.col(rules).not_()).then(pl.lit("not done"))
        .otherwise(pl.lit("not judged")).alias(rules)
        for rules in RULES
    ]  # fmt: skip
    unread = pl.col("dialogue").is_in(_not_understood(run)["dialogue"].implode())
    verdicts[0] = pl.when(unread).then(pl.lit(NOT_UNDERSTOOD)).otherwise(verdicts[0]).alias("strict")
    end = pl.col("reason").replace(END_WORDS).fill_null("not recorded").replace("", "not recorded").alias("end")
    loop = pl.when(pl.col("longest_run") >= LOOP).then(pl.lit(f"{LOOP} times or more")).alias("loop")
    return frame.select("dialogue", *verdicts, end, pl.col("ended_by").alias("ended by"), loop)


def _not_understood(run: Run) -> pl.DataFrame:
    """The conversations that fail only by what the lab did not understand."""
    return (
        run.table(BLAME).group_by("dialogue", maintain_order=True).agg((pl.col("side") == "lab").all()).filter("side")
    )


def _blame(run: Run) -> pl.DataFrame:
    """What each failed conversation is blamed on first."""
    words = {cause: f"{SIDE_OF[cause]}: {CAUSE_WORDS[cause]}" for cause in CAUSES}
    return (
        run.table(BLAME).filter("first").select("dialogue", "turn", pl.col("cause").replace(words).alias("blamed on"))
    )


def _reasons(run: Run) -> pl.DataFrame:
    frame = run.table(REASONS)
    group = pl.col("reason").replace_strict(REASON_GROUPS, return_dtype=pl.String)
    given = frame.filter(pl.col("reason").fill_null("") != "")
    return given.select("dialogue", reason=group, rules="rule").unique(maintain_order=True)


def _cause(row: Mapping[str, Any]) -> str:
    return f"{row['side'] or 'unclear'}: {row['cause'] or 'unclear'}".replace("_", " ")


def _verdict_mark(success: bool | None, rules: str) -> Mark:
    word = "not judged" if success is None else "done" if success else "not done"
    return Mark(f"{rules}: {word}", _DONE[word])


def _why(blamed: Sequence[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("Why it failed", ["finding", "message"])
    for row in blamed:
        domain = f" ({row['domain']})" if row["domain"] else ""
        turn = Cell(row["turn"], link=None if row["turn"] is None else Link(turn=row["turn"]))
        table.add(Cell(f"{_cause(row)}{domain}: {row['sentence']}", tone="bad"), turn)
    if not blamed:
        for (_, failed, rule), text in reason_texts(reasons).items():
            if rule == "strict":
                table.add(Cell(f"{failed}: {text}", tone="bad"), None)
    return table


def _tasks(dialogue: Dialogue, outcomes: Sequence[Mapping[str, Any]], reasons: Sequence[Mapping[str, Any]]) -> Table:
    """What was wanted, what the user ended up with, and by which rules that will do."""
    tasks = dialogue.goal.tasks if dialogue.goal is not None else {}
    whys = reason_texts(reasons)
    table = Table("Its tasks", ["domain", *RULES, "why not", "wanted", *_ENDED])
    for domain in dict.fromkeys([*tasks, *(row["domain"] or "unknown" for row in outcomes)]):
        rows = {row["rule"]: row for row in outcomes if (row["domain"] or "unknown") == domain}
        settled = next((row for row in rows.values() if row["entity"]), None)
        task = tasks.get(domain)
        wanted = (
            []
            if task is None
            else [*task.info.items(), *((f"book {slot}", value) for slot, value in task.book.items())]
        )
        asked = [] if task is None else [f"asks for {', '.join(task.requests)}"] if task.requests else []
        turn = None if settled is None else settled["turn"]
        why = next((text for (_, own, rule), text in whys.items() if own == domain and rule == "strict"), None)
        table.add(
            domain,
            *(rows[rules]["success"] if rules in rows else None for rules in RULES),
            why,
            ", ".join([*(f"{slot} {value}" for slot, value in wanted), *asked]),
            None if settled is None else settled["entity"],
            Cell(turn, link=None if turn is None else Link(turn=turn)),
        )
    return table


def _calls(calls: Sequence[Call]) -> Table:
    table = Table("", ["call", "arguments", "outcome", "rows"])
    for call in calls:
        arguments = ", ".join(f"{slot} {value}" for slot, value in call.given.items())
        tone: Tone = "bad" if call.failed else "plain"
        words = call.outcome_words or "no outcome recorded"
        table.add(f"{call.name} {call.domain}".strip(), arguments, Cell(words, tone=tone), len(call.rows) or None)
    return table


def _heard(said: Sequence[Act] | None, heard: Sequence[Act] | None, tone: Tone) -> Table:
    """What was said against what was heard: the same first matched, then acts that differ least; errors come first.

    ``tone`` is that of errors: bad in a turn that is blamed, in doubt where nothing may have come of them.
    """
    if said is None or heard is None:
        table = Table("", ["said" if heard is None else "heard"])
        for item in _items(said or heard or ()):
            table.add(_words(item))
        return table
    lost, invented = list(_items(said)), list(_items(heard))
    right = list(paired_items(lost, invented, _SAME))
    wrong = [pair for parts in ALIKE for pair in paired_items(lost, invented, parts)]
    table = Table("", ["said", "heard", "verdict"], first=len(wrong) + len(lost) + len(invented))
    for own, other in wrong:
        table.add(_words(own), _words(other), Cell("misheard", tone=tone))
    for item in lost:
        table.add(_words(item), None, Cell("missed", tone=tone))
    for item in invented:
        table.add(None, _words(item), Cell("never said", tone=tone))
    for own, other in right:
        table.add(_words(own), _words(other), Cell("understood", tone="good"))
    return table


def _items(acts: Sequence[Act]) -> Iterator[tuple[str, str, str, str]]:
    """Name, slot, value as values are compared, value as it was said."""
    return ((act.name, act.slot, canonical(value), value) for act in acts for value in act.values or ("",))


def _words(item: tuple[str, str, str, str]) -> str:
    name, slot, _, value = item
    words = f"{name} {slot}".strip()
    return f"{words} = {value}" if value else words
