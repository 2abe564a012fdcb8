"""How runs of agents over several trials are shown: was the job done every time, was the test fair, what went wrong.

One frame holds what is known of each conversation (:func:`conversations`). Every count is a group of its rows, and its
columns are the filters of the list of dialogues, so a count and the list it leads to cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from dialgauge.measures import pass_chance
from dialgauge.report import (
    PERCENT,
    Cell,
    Chart,
    Column,
    Finding,
    Link,
    Number,
    Table,
    TableMaker,
    Tone,
    View,
    count_cell,
    count_table,
    score_cell,
)
from dialgauge.runs import Run
from dialgauge.text import counted, some_of
from dialgauge.trials.audit_tables import stored_integrity
from dialgauge.trials.expected_calls import expected_actions
from dialgauge.trials.graded_runs import GRADINGS, LOG, against, grader_pairs, stored_graders
from dialgauge.trials.measured_blame import load_blame_record
from dialgauge.trials.transcripts import transcript, turn_of
from dialgauge.trials.trial_wordings import trials_sentence
from dialgauge.trials.words import (
    BLAMED,
    CHANGES,
    COUNTED,
    ENDS,
    FACTS,
    MATCHES,
    UNFAIR,
    expectation_words,
    match_sentence,
    sign_words,
)

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison

PASSED, FAILED, NOT_JUDGED = "passed", "failed", "not judged"
VERDICTS: Mapping[str, Tone] = {PASSED: "good", FAILED: "bad", NOT_JUDGED: "plain"}
AGREES, DIFFERS = "gives the recorded verdict", "contradicts it"
NO_WRITES = "no call that writes"
#: Tasks that a cell names.
_NAMED = 8


@lru_cache(maxsize=8)
def conversations(run: Run) -> pl.DataFrame:
    """Each conversation with its task, verdict and end, and what the audit and the rules of blame say of it."""
    success, task = pl.col("success"), pl.col("task")
    frame = run.table("trials").select(
        "dialogue",
        "task",
        "trial",
        "success",
        pl.col("reason").replace(ENDS).fill_null("not recorded").alias("end"),
        pl.col("end").replace(COUNTED).alias("counts as"),
        verdict=pl.when(success).then(pl.lit(PASSED)).when(~success).then(pl.lit(FAILED)).otherwise(pl.lit(NOT_JUDGED)),
        passes=pl.format("{} of {}", success.sum().over(task), success.count().over(task)),
    )
    for other in _more_facts(run):
        frame = frame.join(other, on=other.columns[0], how="left", maintain_order="left")
    return frame


def _more_facts(run: Run) -> Iterator[pl.DataFrame]:
    """What else is known, by dialogue or by task; a run that was not audited has less."""
    expected = [
        (each.id, expectation_words(expected_actions(each)))
        for each in run.dialogues()
        if each.ended.expected is not None
    ]
    yield pl.DataFrame(expected, schema={"dialogue": str, "expected calls": str}, orient="row")
    if "filings" in run.tables:
        words = {code: text for code, (text, _) in MATCHES.items()}
        yield run.table("filings").select("dialogue", match=pl.col("belonging").replace(words))
    if "replays" in run.tables and run.tables["replays"].rows:
        agrees = pl.when("agrees").then(pl.lit(AGREES)).otherwise(pl.lit(DIFFERS))
        idle = pl.when(pl.col("writes_done") + pl.col("writes_failed") == 0).then(pl.lit(NO_WRITES))
        yield run.table("replays").select("dialogue", replay=agrees, writes=idle)
    if "failure_blame" in run.tables:
        sign = pl.col("sign").map_elements(sign_words, return_dtype=pl.String, skip_nulls=False)
        yield run.table("failure_blame").select(
            "dialogue", "message", "about", "sign", "leans", blame="blamed", decided=sign
        )
    if "task_facts" in run.tables:
        change = run.table("task_facts").filter(pl.col("fact").is_in(list(CHANGES)))
        yield change.select("task", change=pl.col("fact").replace(CHANGES))


def verdict(run: Run) -> str:
    """How often tasks are done, once and every time."""
    passes = [name for name in run.scores if name.startswith("pass^")]
    if not passes:
        return f"{run.name}: {trials_sentence(run)}."
    once, always = run[passes[0]], run[passes[-1]]
    interval = f" {Column('', PERCENT).interval(score_cell(once))}" if once.low is not None else ""
    trials = f" and {float(always):.1%} in all of {passes[-1].removeprefix('pass^')}" if len(passes) > 1 else ""
    return f"{run.name} does {float(once):.1%}{interval} of its tasks in one trial{trials}; {trials_sentence(run)}."


def warnings(run: Run) -> list[str]:
    """An incomplete log, and one that is not what it says."""
    incomplete = [] if run.coverage.complete else [f"{trials_sentence(run)}. The scores cover only what is there."]
    integrity = stored_integrity(run)
    return [*incomplete, *([match_sentence(integrity)] if integrity is not None and integrity.foreign else [])]


def consistency(run: Run) -> Table | None:
    """Tasks by how many of their trials pass."""
    frame = conversations(run).filter(pl.col("verdict") != NOT_JUDGED)
    flipping = frame.filter(pl.col("verdict").n_unique().over("task") > 1)["task"].n_unique()
    table = Table(
        "Tasks by trials that pass",
        ["trials that pass", "tasks", "conversations"],
        answer=f"{flipping:,} of {counted(frame['task'].n_unique(), 'task')} pass sometimes and fail sometimes.",
        chart=Chart("bars", ("tasks",)),
    )
    for passes, tasks in frame.group_by("passes").agg(pl.col("task").n_unique()).sort("passes").iter_rows():
        table.add(passes, tasks, count_cell(frame, {"passes": passes}))
    return table if table.rows else None


def failures(run: Run) -> Table:
    """What became of the calls that tasks expect, in conversations that failed."""
    only, tones = {"verdict": FAILED}, {"dialogues": VERDICTS[FAILED]}
    return count_table("Where conversations failed", conversations(run), "expected calls", only=only, tones=tones)


def ends(run: Run) -> Table:
    """How conversations ended."""
    return count_table("How conversations ended", conversations(run), "end", split="verdict", tones=VERDICTS)


def match(run: Run) -> Table | None:
    """Is the log what it says? Conversations belong to their tasks, and their calls lead to their verdicts."""
    integrity, frame = stored_integrity(run), conversations(run)
    if integrity is None or "match" not in frame.columns:
        return None
    table = Table("Is it what it says?", ["check", "conversations"], answer=match_sentence(integrity))
    checks = [(words, {"match": words}, tone) for words, tone in MATCHES.values()]
    if "replay" in frame.columns:
        checks += [
            (f"the replay {AGREES}", {"replay": AGREES}, "good"),
            (f"the replay {DIFFERS}", {"replay": DIFFERS}, "bad"),
        ]
        table.answer += (
            f" Making its calls again {AGREES} in {frame.filter(replay=AGREES).height:,} of {frame.height:,}."
        )
    else:
        table.notes.append("Calls were not made again: the records and tools of the domain were not at hand.")
    for words, only, tone in checks:
        count = count_cell(frame, only)
        table.add(Cell(words, tone=tone if count.value else "plain"), count)
    table.tone = "bad" if any(row[0].tone == "bad" for row in table.rows) else "good"
    return table


def split(run: Run) -> Table | None:
    """What the pass rate blends: tasks in which something must change, and those in which nothing may."""
    frame = conversations(run).filter(pl.col("verdict") != NOT_JUDGED)
    if "change" not in frame.columns or frame["change"].n_unique() < 2:
        return None
    most = max(count for _, count in frame["task"].value_counts().rows())
    rates = [Column(f"pass^{k}", PERCENT, spare=k - 1) for k in range(1, most + 1)]
    table = Table("What does the pass rate blend?", ["tasks in which", "tasks", "conversations", "passed", *rates])
    for words in CHANGES.values():
        own = frame.filter(pl.col("change") == words)
        tried = own.group_by("task").agg(pl.col("success").sum(), pl.len()).select("success", "len").rows()
        chances = [
            _mean([pass_chance(passed, trials, k) for passed, trials in tried if trials >= k])
            for k in range(1, most + 1)
        ]
        only = {"change": words}
        table.add(words, len(tried), count_cell(own, only), count_cell(own, {**only, "verdict": PASSED}), *chances)
    must, may = (Column("", PERCENT).text(row[4]) for row in table.rows)
    table.answer = f"Two tests: where something must change {must}% pass, where nothing may change {may}%."
    if "writes" in frame.columns:
        idle = frame.filter((pl.col("writes") == NO_WRITES) & (pl.col("verdict") == PASSED)).height
        table.notes.append(f"{idle:,} of the passes make no call of a tool that writes.")
    return table


def fairness(run: Run) -> Table | None:
    """Were the tasks fair?"""
    if "task_facts" not in run.tables:
        return None
    frame, facts = conversations(run), _task_facts(run)
    unfair = facts.filter(pl.col("fact").is_in([FACTS[code] for code in UNFAIR]))["task"].n_unique()
    tasks = counted(frame["task"].n_unique(), "task")
    table = Table(
        "Were its tasks fair?",
        ["about the task", "tasks", "conversations", "which"],
        answer=f"Something is unfair about {unfair:,} of {tasks}." if unfair else f"None of {tasks} looks unfair.",
        tone="warn" if unfair else "good",
    )
    for code, words in FACTS.items():
        if which := _names(facts.filter(pl.col("fact") == words)["task"]):
            tone: Tone = "bad" if code in UNFAIR else "plain"
            table.add(Cell(words, tone=tone), len(which), count_cell(facts, {"fact": words}), some_of(which, _NAMED))
    return table


def blame(run: Run) -> Table | None:
    """Whose fault were the failures?"""
    frame, record = conversations(run), load_blame_record()
    if "blame" not in frame.columns or not frame["blame"].count():
        return None
    table = Table(
        "Whose fault were the failures?",
        ["whose", "failures", Column("leaning", help="unclear failures whose signs point to this side")],
        chart=Chart("bars", ("failures",)),
    )
    for side, words in BLAMED.items():
        firm, leaning = count_cell(frame, {"blame": side}), count_cell(frame, {"blame": "unclear", "leans": side})
        if firm.value or leaning.value:
            table.add(words, firm, leaning if side != "unclear" else None)
    sides = ", ".join(f"{row[0].value} {row[1].value:,}" for row in table.rows if row[1].value)
    table.answer = f"Of {counted(frame['blame'].count(), 'failure')}: {sides}."
    right, percent = Cell(record.right.value, record.right.low, record.right.high), Column("", Number(0, percent=True))
    table.notes.append(
        f"Of such verdicts {percent.text(right)}% {percent.interval(right)} were right on {record.failures} labelled "
        f"failures of unseen tasks; always blaming the agent would be right in {record.always_agent.value:.0%}. Read "
        "the evidence before you act on a verdict."
    )
    return table


def deciding(run: Run) -> Table | None:
    """What decided the failures."""
    frame = conversations(run)
    if "decided" not in frame.columns:
        return None
    return count_table("What decided the failures", frame.drop_nulls("blame"), "decided", split="blame", tones=_SIDES)


def task_grid(run: Run) -> Table:
    """Every task with its trials, those first that pass sometimes and fail sometimes."""
    frame = conversations(run).sort("trial")
    goals = {each.id: " ".join(each.goal.instruction) for each in run.dialogues() if each.goal is not None}
    trials = frame["trial"].drop_nulls().unique().sort().to_list()
    table = Table(
        "Tasks and their trials",
        ["task", *(f"trial {trial}" for trial in trials), "passed", Column("goal", spare=1)],
        first=20,
    )
    rows = []
    for (task,), own in frame.group_by("task", maintain_order=True):
        tried = {
            trial: Cell(success, link=Link(dialogue=name))
            for name, trial, success in own.select("dialogue", "trial", "success").iter_rows()
        }
        passed, judged = int(own["success"].sum()), own["success"].count()
        row = [
            task,
            *(tried.get(trial, Cell(None)) for trial in trials),
            passed,
            goals.get(own["dialogue"][0], "")[:100],
        ]
        rows.append((passed in (0, judged), passed, _numeric(str(task)), row))
    for *_, row in sorted(rows, key=lambda each: each[:3]):
        table.add(*row)
    return table


def rewards(run: Run) -> Table | None:
    """The reward by its parts."""
    table = Table("Parts of the reward", ["part", "mean", "conversations"], chart=Chart("intervals", ("mean",)))
    for name, score in run.scores.items():
        if name.startswith("Reward["):
            table.add(name[len("Reward[") : -1], score_cell(score), run.details["conversations"].get(name))
    return table if table.rows else None


def amounts(run: Run) -> Table | None:
    """What conversations take: means are for budgets, medians for what is usual."""
    largest = Column("largest", PERCENT, help="percent of the sum that is in one conversation", spare=1)
    table = Table("Cost and length of a conversation", ["measure", "mean", "median", "conversations", largest])
    for name, amount in run.details.get("amounts", {}).items():
        mean = score_cell(run.scores.get(name))
        table.add(name, mean, Cell(amount["median"], number=mean.number), amount["n"], amount["largest_share"])
    return table if table.rows else None


def tools(run: Run) -> Table:
    """Which tools were called."""
    tones: Mapping[str, Tone] = {"done": "plain", "failed": "bad"}
    return count_table("Conversations that call each tool", _calls(run), "tool", split="outcome", tones=tones)


def graders(run: Run) -> Table | None:
    """pass^k under each grader, and where graders and log disagree."""
    figures = stored_graders(run)
    if figures is None or GRADINGS not in run.tables:
        return None
    pairs = grader_pairs(run)
    values: dict[str, dict[int, float]] = {}
    parts: dict[str, float | None] = {}
    for part in figures.pass_parts:
        values.setdefault(part.grader, {})[part.k] = part.value
        if part.k == 1:
            parts[part.grader] = part.grader_part
    most = max((k for own in values.values() for k in own), default=0)
    rates = [each.pass_rate.value for each in figures.graders]
    columns = [Column("grader"), Column("graded"), Column("passes what the log fails", spare=1),
               Column("fails what it passes", spare=1), *(Column(f"pass^{k}", PERCENT) for k in range(1, most + 1)),
               Column("part", PERCENT, help="of the variance of pass^1 that is the grader", spare=2)]  # fmt: skip
    table = Table("How much of it is the grader?", columns)
    beside = counted(len(rates) - 1, "grader")
    table.answer = f"By the log and {beside} beside it, what passes goes from {min(rates):.1%} to {max(rates):.1%}."
    for each in figures.graders:
        apart = [
            None if each.grader == LOG else count_cell(pairs, {"graders": against(each.grader, passed=passed)})
            for passed in (True, False)
        ]
        chances = (values.get(each.grader, {}).get(k) for k in range(1, most + 1))
        table.add(each.grader, each.conversations, *apart, *chances, parts.get(each.grader))
    return table


def read_first(run: Run) -> Table | None:
    """Failures to begin with: one of each task, those with a verdict first."""
    failed = conversations(run).filter(pl.col("verdict") == FAILED)
    if "blame" in failed.columns:
        failed = failed.sort(pl.col("blame") == "unclear", maintain_order=True)
    found = findings(run)
    table = Table("Read these first", ["conversation", "why"], first=5)
    for name in failed.unique("task", keep="first", maintain_order=True)["dialogue"]:
        if name in found:
            table.add(Cell(name, link=Link(dialogue=name, turn=found[name].turn)), found[name].text)
    return table if table.rows else None


@lru_cache(maxsize=8)
def findings(run: Run) -> Mapping[str, Finding]:
    """Why each failure failed, with the turn that shows it; first of all that it belongs to another task."""
    failed = conversations(run).filter(pl.col("verdict") == FAILED)
    found: dict[str, Finding] = {}
    for row in failed.iter_rows(named=True):
        name, side, leans = row["dialogue"], row.get("blame"), row.get("leans")
        if row.get("match") == MATCHES["foreign"][0]:
            found[name] = Finding(row["match"])
        elif side is not None:
            whose = f"unclear, leans {leans}" if side == "unclear" != leans else side
            turn = None if row["message"] is None else turn_of(run.dialogue(name), row["message"])
            found[name] = Finding(f"[{whose}] {sign_words(row['sign'], row['about'])}", turn)
        elif row["expected calls"]:
            found[name] = Finding(row["expected calls"])
    return found


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """What is known of each conversation, its calls, and the facts about its task."""
    yield conversations(run).drop("success", "trial", "message", "about", "sign", strict=False)
    yield _calls(run)
    if GRADINGS in run.tables:
        yield grader_pairs(run)
    if "task_facts" in run.tables:
        yield _task_facts(run).drop("task")


def heads(run: Run) -> list[str]:
    """pass^1 and the largest k."""
    passes = [name for name in run.scores if name.startswith("pass^") and "[" not in name]
    return [*passes[:1], *passes[1:][-1:]]


def settling(comparison: Comparison) -> Table | None:
    """What it would take to settle the differences in pass^1."""
    from dialgauge.trials import trial_comparison

    if trial_comparison.PASS_1 not in comparison.measures:
        return None
    table = Table(
        "What would settle the difference in pass^1?",
        [
            Column("first"),
            Column("second"),
            Column("difference", Number(percent=True, signed=True)),
            Column("detectable", PERCENT, help="the true difference that is found with 80% power"),
            Column("trials needed", help="of each of these tasks, to find a true difference of this size"),
            Column("tasks needed", help="or this many tasks like these, with as many trials"),
            Column("unknown because", spare=1),
        ],
    )
    for pair in comparison.pairs:
        made = trial_comparison.settling(comparison, *(comparison.systems[place] for place in pair))
        needed = (made.trials_needed, made.tasks_needed, made.why)
        table.add(made.first, made.second, made.difference, made.detectable, *needed)
    return table


#: Sides in the order of columns.
_SIDES: Mapping[str, Tone] = {"agent": "bad", "user": "warn", "task": "plain", "unclear": "plain"}


def by_task(make: TableMaker) -> TableMaker:
    """A table that goes by task: None if too many conversations do not belong to the task they are filed under."""

    def made(run: Run) -> Table | None:
        integrity = stored_integrity(run)
        return make(run) if integrity is None or integrity.per_task_stands else None

    return made


VIEW = View(
    verdict=verdict,
    warnings=warnings,
    scores=heads,
    tables={
        "consistency": by_task(consistency),
        "failures": by_task(failures),
        "ends": ends,
        "read-first": read_first,
        "match": match,
        "split": by_task(split),
        "fairness": by_task(fairness),
        "blame": by_task(blame),
        "deciding": by_task(deciding),
        "tasks": by_task(task_grid),
        "graders": graders,
        "rewards": rewards,
        "amounts": amounts,
        "tools": tools,
    },
    screen=("match", "split", "fairness", "blame", "read-first"),
    transcript=transcript,
    columns=("Reward", "Turns", "ToolCalls"),
    findings=findings,
    filters=filters,
    labels={
        "passes": "trials of its task that pass",
        "match": "belongs to its task",
        "leans": "leans to",
        "decided": "what decided it",
        "change": "in its task",
        "outcome": "outcome of a call",
        "fact": "about its task",
    },
    compared={"settling": settling},
)


def _calls(run: Run) -> pl.DataFrame:
    return run.table("calls").select("dialogue", "turn", tool="name", outcome="outcome")


def _task_facts(run: Run) -> pl.DataFrame:
    """Each conversation with the facts about its task."""
    facts = run.table("task_facts").filter(pl.col("fact").is_in(list(FACTS)))
    words = facts.select("task", fact=pl.col("fact").replace(FACTS))
    return conversations(run).select("dialogue", "task").join(words, on="task")


def _names(tasks: pl.Series) -> list[str]:
    return tasks.unique(maintain_order=True).to_list()


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _numeric(name: str) -> tuple[int, str]:
    """Sorts 9 before 10."""
    return (int(name), "") if name.isdecimal() else (0, name)
