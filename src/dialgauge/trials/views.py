"""How runs of logs are shown: was the job done every time, was the test fair, what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import polars as pl

from dialgauge.measures import pass_rate
from dialgauge.report import (
    PERCENT,
    Cell,
    Chart,
    Column,
    Finding,
    Link,
    Table,
    TableMaker,
    Tone,
    View,
    count_cell,
    count_table,
    number_of,
    score_cell,
)
from dialgauge.runs import Run
from dialgauge.text import MANY_NAMED, counted, some_of, upper_first
from dialgauge.trials.comparison import settled
from dialgauge.trials.conversations import (
    AGREES,
    DIFFERS,
    FAILED,
    FEW,
    NO_WRITES,
    NOT_JUDGED,
    PASSED,
    VERDICTS,
    contradicted,
    conversations,
    doubts,
    facts_of_tasks,
    per_task_stands,
    reasons,
    rows,
    stored_integrity,
    user_faults,
)
from dialgauge.trials.grader_views import agreement, corrected, grader_pairs, graders
from dialgauge.trials.transcripts import transcript, turn_of
from dialgauge.trials.words import (
    CHANGES,
    FACTS,
    MATCHES,
    SUSPECTED,
    UNFAIR,
    coverage_sentence,
    match_sentence,
    measured_sentences,
    percent,
    rate_sentence,
)

#: Tasks that the summary names, and failures that are shown unasked.
_FLIPPING, _SHOWN = 4, 3


def summary(run: Run) -> Table:
    """The answer of each check."""
    table = Table("Checks", ["check", "answer"])
    if run.coverage.complete:
        table.add("log", f"{run.name}: {coverage_sentence(run)}.")
    for check, name in _CHECKS.items():
        if (made := _TABLES[name](run)) is not None and made.answer:
            table.add(Cell(check, tone=made.tone), made.answer)
    if stored_integrity(run) is None and run.details["benchmark"] != "dialgauge":
        table.add("replay", "Not checked: this is not a log of τ-bench or τ²-bench.")
    return table


def failures(run: Run) -> Table | None:
    """Failures with their reasons: doubtful ones, then one of each task before the second of any."""
    failed = conversations(run).filter(pl.col("verdict") == FAILED)
    by_turns = failed.with_columns(pl.int_range(pl.len()).over("task").alias("place"))
    order = by_turns.sort("place", maintain_order=True)["dialogue"]
    found, table = findings(run), Table("Failures", ["failure", "why"], first=_SHOWN)
    for name in dict.fromkeys([*odd_conversations(run), *order]):
        table.add(Cell(name, link=Link(dialogue=name, turn=found[name].turn)), found[name].text)
    return table if table.rows else None


@lru_cache(maxsize=8)
def findings(run: Run) -> Mapping[str, Finding]:
    """The gravest reason of each conversation that failed or is in doubt, with the turn that shows it."""
    failed = conversations(run).filter(pl.col("verdict") == FAILED)["dialogue"]
    gravest = {name: reasons(run)[name][0] for name in dict.fromkeys([*odd_conversations(run), *failed])}
    return {name: Finding(reason.text, turn_of(run.dialogue(name), reason.message)) for name, reason in gravest.items()}


def odd_conversations(run: Run) -> list[str]:
    """Conversations of other tasks, then those with a contradicted verdict."""
    return [*(row["dialogue"] for row in rows(run, "task_match", match="foreign")), *contradicted(run)]


def expected_table(run: Run) -> Table | None:
    """What became of the calls that tasks expect, in conversations that failed."""
    only, tones = {"verdict": FAILED}, {"dialogues": VERDICTS[FAILED]}
    title = "Expected calls of conversations that failed"
    table = count_table(title, conversations(run), "expected calls", only=only, tones=tones)
    return table if table.rows else None


def ends_table(run: Run) -> Table:
    """How conversations ended."""
    return count_table("How conversations ended", conversations(run), "end", split="verdict", tones=VERDICTS)


def match_table(run: Run) -> Table | None:
    """Is the log what it says? Conversations match the tasks they are filed under."""
    integrity, frame = stored_integrity(run), conversations(run)
    if integrity is None or "match" not in frame.columns:
        return None
    table = Table("Do conversations match their tasks?", ["match", "conversations"], answer=match_sentence(integrity))
    for words, tone in MATCHES.values():
        count = count_cell(frame, {"match": words})
        table.add(Cell(words, tone=tone if count.value else "plain"), count)
    table.tone = "bad" if integrity.foreign else "good" if integrity.belongs else "plain"
    if integrity.identical:
        groups = counted(len(integrity.identical), "group of conversations is", "groups of conversations are")
        table.answer += f" {groups} word for word the same ({', '.join(integrity.identical[0][:3])})."
    return table


def replayed(run: Run) -> Table | None:
    """Do the recorded calls lead to the recorded verdicts?"""
    if "replays" not in run.tables:
        return None
    frame, replays, audit = conversations(run), run.table("replays"), run.details["audit"]
    known, odd = replays.drop_nulls(["recorded", "replayed"]), contradicted(run)
    table = Table("Does replay confirm the verdicts?", ["replay", "conversations"], tone="bad" if odd else "good")
    if why := _NO_REPLAY.get(audit["no_replay"]):
        answers = [f"Not replayed: {why}."]
        table.tone = "bad" if odd else "plain"
    else:
        confirmed = known.filter("agrees").height
        of = f"all {confirmed:,}" if confirmed == known.height else f"{confirmed:,} of {known.height:,}"
        answers = [f"Replay confirms {of} recorded rewards." if known.height else "No reward can be replayed."]
        tones: Mapping[str, Tone] = {AGREES: "good", DIFFERS: "bad"}
        for words, tone in tones.items():
            count = count_cell(frame, {"replay": words})
            table.add(Cell(words, tone=tone if count.value else "plain"), count)
    if odd:
        answers.append(f"{counted(len(odd), 'verdict')} contradicted ({some_of(odd, FEW)}).")
    if known.height and (unsure := replays.height - known.height) and not why:
        answers.append(
            f"{counted(unsure, 'conversation')} not replayed: their tasks have criteria that dialgauge does not know."
        )
    table.answer = " ".join(answers)
    if calls := [f"{words} {audit['calls'][code]:,}" for code, words in _DRIFT.items() if audit["calls"].get(code)]:
        table.notes.append(f"Replayed calls: {', '.join(calls)}.")
    if doubtful := replays.filter(~pl.col("reliable"))["dialogue"].to_list():
        table.notes.append(f"A write returned something other than recorded: {some_of(doubtful, MANY_NAMED)}.")
    return table


_NO_REPLAY = {
    "no world": "the tools and records of its domain are missing (name them: --domain FOLDER)",
    "calls in prose": "the agent wrote its calls into its texts",
}
_DRIFT = {
    "equal": "equal results",
    "renamed": "equal but for a renamed key",
    "errors": "errors on both sides",
    "prose": "sentences, not compared",
    "differs": "results that differ",
    "skipped": "not replayed",
}


def split(run: Run) -> Table | None:
    """What the pass rate blends: tasks in which something must change, and those in which nothing may."""
    frame = conversations(run).filter(pl.col("verdict") != NOT_JUDGED)
    if "change" not in frame.columns or frame["change"].n_unique() < 2:
        return None
    most = max(count for _, count in frame["task"].value_counts().rows())
    rates = [Column(f"pass^{k}", PERCENT, spare=k - 1) for k in range(1, most + 1)]
    table = Table("Pass rate by what the task asks for", ["tasks in which", "tasks", "conversations", "passed", *rates])
    answers = []
    for words in CHANGES.values():
        own = frame.filter(pl.col("change") == words)
        tried = own.group_by("task").agg(pl.col("success"))["success"].to_list()
        chances = [pass_rate(tried, k) for k in range(1, most + 1)]
        only = {"change": words}
        table.add(words, len(tried), count_cell(own, only), count_cell(own, {**only, "verdict": PASSED}), *chances)
        answers.append(f"{percent(chances[0])}")
    table.answer = "Tasks that require a change: {} passed. Tasks that forbid one: {}.".format(*answers)
    if "writes" in frame.columns:
        idle = frame.filter((pl.col("writes") == NO_WRITES) & (pl.col("verdict") == PASSED)).height
        table.notes.append(f"{idle:,} of the passes make no call of a tool that writes.")
    if (idle_agent := run.details["audit"]["idle"]) is not None:
        table.notes.append(f"An agent that does nothing passes {percent(idle_agent[1])} of the tasks.")
    return table


def fairness(run: Run) -> Table | None:
    """Were the tasks fair?"""
    if "task_facts" not in run.tables:
        return None
    frame, facts = conversations(run), facts_of_tasks(run)
    table = Table("Are the tasks fair?", ["about the task", "tasks", "conversations", "which"])
    unfair: dict[str, list[str]] = {}
    for code, words in FACTS.items():
        if which := facts.filter(pl.col("fact") == words)["task"].unique(maintain_order=True).to_list():
            tone: Tone = "bad" if code in UNFAIR else "plain"
            table.add(
                Cell(words, tone=tone), len(which), count_cell(facts, {"fact": words}), some_of(which, MANY_NAMED)
            )
            unfair |= {words: which} if code in UNFAIR else {}
    tasks = counted(frame["task"].n_unique(), "task")
    named = "; ".join(f"{words} ({some_of(which, FEW)})" for words, which in unfair.items())
    number = len({task for which in unfair.values() for task in which})
    look = "looks" if number == 1 else "look"
    table.answer = f"{number:,} of {tasks} {look} unfair: {named}." if unfair else f"None of {tasks} looks unfair."
    table.tone = "warn" if unfair else "good"
    if run.details["audit"]["no_replay"] == "no world":  # all that makes a task unfair shows in its world alone
        table.answer, table.tone = "Not checked: this needs the tools and records of the domain.", "plain"
    return table


def suspects(run: Run) -> Table | None:
    """Who is to be suspected of the failures, and for what."""
    frame = conversations(run)
    if "suspect" not in frame.columns or not frame["suspect"].count():
        return None
    suspected = frame.drop_nulls("suspect")
    title = "Who is suspected of each failure, and why?"
    table = count_table(title, suspected, "why", split="suspect", tones=_SIDES)
    counts = [(words, suspected.filter(suspect=words).height) for words in SUSPECTED.values()]
    sides = ", ".join(f"{words} {count:,}" for words, count in counts if count)
    table.answer = f"Of {counted(suspected.height, 'failure')}: {sides}."
    if suspected.filter(pl.col("suspect") != SUSPECTED["unclear"]).height:
        right, measured_on = measured_sentences()
        table.answer += f" {right}"
        table.notes.append(measured_on)
    return table


def erring_users(run: Run) -> Table | None:
    """What the checks of users saw."""
    if "suspects" not in run.tables:
        return None
    faults = user_faults(run)
    if not faults.height or conversations(run)["suspect"].count():
        return None
    table = count_table("What the user got wrong", faults, "fault of the user")
    listed = ", ".join(f"{row[0].value} {row[1].value}" for row in table.rows)
    erred, of = faults["dialogue"].n_unique(), conversations(run).height
    table.answer = f"The user seems to err in {erred:,} of {of:,} conversations ({listed})."
    return table


def tasks(run: Run) -> Table:
    """Tasks with a cell for each trial, which leads to its conversation; the task leads to all of them side by side.

    Those come first that pass sometimes and fail sometimes.
    """
    frame = conversations(run).sort("trial")
    goals = {each.id: " ".join(each.goal.instruction) for each in run.dialogues() if each.goal is not None}
    trials = frame["trial"].drop_nulls().unique().sort().to_list()
    heads: list[Column | str] = ["task", *(f"trial {trial}" for trial in trials), "passed", Column("goal", spare=1)]
    table = Table("Tasks and their trials", heads, first=10)
    counts = frame.group_by("task").agg(passed=pl.col("success").sum(), judged=pl.col("success").count())
    flipping = {task for task, passed, judged in counts.iter_rows() if 0 < passed < judged}
    rates = {task: passed / max(judged, 1) for task, passed, judged in counts.iter_rows()}
    for task in sorted(rates, key=lambda task: (task not in flipping, rates[task], _numeric(task))):
        own = frame.filter(pl.col("task") == task)
        names = own["dialogue"].to_list()
        tried = {
            trial: Cell(success, link=Link(dialogue=name))
            for name, trial, success in own.select("dialogue", "trial", "success").iter_rows()
        }
        beside = Cell(task, link=Link(dialogue=names[0], beside=tuple(names[1:])))
        cells = (tried.get(trial, Cell(None)) for trial in trials)
        table.add(beside, *cells, int(own["success"].sum()), goals.get(names[0], "")[:100])
    judged = counts.filter(pl.col("judged") > 0)
    if judged.height and judged["judged"].max() != 1:
        named = f" ({some_of(sorted(flipping, key=_numeric), _FLIPPING)})" if flipping else ""
        flip = "flips" if len(flipping) == 1 else "flip"
        never = judged.filter(pl.col("passed") == 0).height
        passes = "passes" if never == 1 else "pass"
        table.answer = f"{len(flipping):,} of {counted(judged.height, 'task')} {flip}{named}; {never:,} never {passes}."
    return table


def parts(run: Run) -> Table | None:
    """Parts of the reward, scores and labels of the log, and pass^k by other scores than its verdict."""
    table = Table("Scores of parts", ["score", "value", "conversations"], chart=Chart("intervals", ("value",)))
    for name, score in run.scores.items():
        if "[" in name:
            table.add(name, score_cell(score), run.details["conversations"].get(name))
    return table if table.rows else None


def amounts(run: Run) -> Table | None:
    """What conversations take: means are for budgets, medians for what is usual."""
    table = Table("Cost and length of a conversation", ["measure", "mean", "median", "conversations"])
    known: Mapping[str, Mapping[str, float]] = run.details.get("amounts", {})
    for name, amount in known.items():
        mean = score_cell(run.scores.get(name))
        table.add(name, mean, Cell(amount["median"], number=mean.number), amount["n"])
    taken = [
        words.format(float(run.scores[name]), known[name]["median"]) for name, words in _TAKEN.items() if name in known
    ]
    table.answer = f"{upper_first('; '.join(taken))}." if taken else ""
    return table if table.rows else None


#: What a conversation takes, with its mean and median.
_TAKEN = {
    "Seconds": "a conversation takes {:.1f} s (median {:.1f} s)",
    "Latency": "a reply takes {:.1f} s (median {:.1f} s)",
    "Cost": "a conversation costs ${:.2g} (median ${:.2g})",
}


def effort(run: Run) -> Table | None:
    """What each conversation took, in the order of the log: cost, tokens, time and length where the log has them."""
    measures = [name for name in run.details.get("amounts", {}) if name in run.scores and "(" not in name]
    scores = run.table("dialogue_scores").filter(pl.col("measure").is_in(measures) & (pl.col("den") > 0))
    values = {(dialogue, measure): num / den for dialogue, measure, num, den in scores.iter_rows()}
    table = Table(
        "What each conversation took",
        ["conversation", "dialogue", *(Column(name, number_of(run.scores[name])) for name in measures)],
        first=5,
        chart=Chart("strips", tuple(measures)),
        notes=["Filled points passed, hollow ones failed, in the order of the log."],
    )
    tones: Mapping[bool | None, Tone] = {True: "good", False: "bad", None: "plain"}
    for number, (dialogue, success) in enumerate(run.table("trials").select("dialogue", "success").iter_rows(), 1):
        taken = (Cell(values.get((dialogue, name)), tone=tones[success]) for name in measures)
        table.add(number, Cell(dialogue, link=Link(dialogue=dialogue)), *taken)
    return table if measures and table.rows else None


def tools(run: Run) -> Table | None:
    """Which tools were called."""
    tones: Mapping[str, Tone] = {"done": "plain", "failed": "bad"}
    table = count_table("Conversations that call each tool", tool_calls(run), "tool", split="outcome", tones=tones)
    return table if table.rows else None


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """What is known of each conversation, its calls, and the facts about its task."""
    yield conversations(run).drop("success", "trial")
    yield tool_calls(run)
    if "gradings" in run.tables:
        yield grader_pairs(run)
    if "task_facts" in run.tables:
        yield facts_of_tasks(run).drop("task")
    if "suspects" in run.tables:
        yield user_faults(run)


def heads(run: Run) -> list[str]:
    """pass^1 and the largest k; without any, all scores."""
    passes = [name for name in run.scores if name.startswith("pass^") and "[" not in name]
    return [*passes[:1], *passes[1:][-1:]] or list(run.scores)


#: Suspects in the order of columns.
_SIDES: Mapping[str, Tone] = {"agent": "bad", "user": "warn"}


def by_task(make: TableMaker) -> TableMaker:
    """A table that goes by task: None if too many conversations do not match the task they are filed under."""

    def made(run: Run) -> Table | None:
        return make(run) if per_task_stands(run) else None

    return made


#: The checks that the summary answers, each with its table.
_CHECKS: Mapping[str, str] = {
    "flips": "tasks",
    "match": "match",
    "replay": "replay",
    "change": "split",
    **{name: name for name in ("fairness", "suspects", "user", "graders", "agreement", "corrected", "amounts")},
}
_TABLES: Mapping[str, TableMaker] = {
    "summary": summary,
    "failures": failures,
    "expected": by_task(expected_table),
    "ends": ends_table,
    "match": match_table,
    "replay": by_task(replayed),
    "split": by_task(split),
    "fairness": by_task(fairness),
    "suspects": by_task(suspects),
    "user": erring_users,
    "tasks": by_task(tasks),
    "graders": by_task(graders),
    "agreement": agreement,
    "corrected": corrected,
    "parts": parts,
    "amounts": amounts,
    "effort": effort,
    "tools": tools,
}


VIEW = View(
    verdict=rate_sentence,
    warnings=doubts,
    scores=heads,
    tables=_TABLES,
    screen=("summary", "failures"),
    transcript=transcript,
    columns=("Reward", "ToolCalls"),
    findings=findings,
    filters=filters,
    labels={
        "passes": "trials of its task that pass",
        "match": "matches its task",
        "why": "why it is suspected",
        "change": "in its task",
        "outcome": "outcome of a call",
        "fact": "about its task",
    },
    compared={"settling": settled},
)


def tool_calls(run: Run) -> pl.DataFrame:
    """The calls of tools, by conversation."""
    return run.table("calls").select("dialogue", "turn", tool="name", outcome="outcome")


def _numeric(name: str) -> tuple[int, str]:
    """Sorts 9 before 10."""
    return (int(name), "") if name.isdecimal() else (0, name)
