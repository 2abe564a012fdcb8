"""How runs of logs are shown: was the job done every time, was the test fair, what went wrong.

One frame holds what is known of each conversation (:func:`conversations`). Every count is a group of its rows, and its
columns are the filters of the list of dialogues, so a count and the list it leads to cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from dialgauge.measures import pass_rate
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
from dialgauge.text import counted, note_kind, some_of, upper_first
from dialgauge.trials.expected import expected_actions
from dialgauge.trials.judges import LOG, Estimate, JudgeFigures, majority
from dialgauge.trials.suspects import FAULT, SUSPECT
from dialgauge.trials.transcripts import transcript, turn_of
from dialgauge.trials.words import (
    CHANGES,
    COUNTED,
    ENDS,
    FACTS,
    MATCHES,
    SUSPECTED,
    UNFAIR,
    coverage_sentence,
    expectation_words,
    fault_words,
    match_sentence,
    measured_sentence,
    percent,
    rate_sentence,
    sign_words,
)
from dialgauge.worlds.tools import Integrity

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison

PASSED, FAILED, NOT_JUDGED = "passed", "failed", "not judged"
VERDICTS: Mapping[str, Tone] = {PASSED: "good", FAILED: "bad", NOT_JUDGED: "plain"}
AGREES, DIFFERS = "gives the recorded verdict", "contradicts it"
NO_WRITES = "no call that writes"
#: Tasks that a cell names, and that a sentence names.
_NAMED, _FEW = 8, 3
#: Failures that are shown unasked.
_SHOWN = 3
_ONLY_TAU = "not checked: only logs of τ-bench and τ²-bench hold tasks and every call"


def stored_integrity(run: Run) -> Integrity | None:
    """Whether the conversations of a run match their tasks; None where that was not checked."""
    checked = run.details.get("integrity")
    return None if checked is None else msgspec.convert(checked, Integrity)


def per_task_stands(run: Run) -> bool:
    """Whether what goes by task may be shown: not where conversations do not match their tasks."""
    integrity = stored_integrity(run)
    return integrity is None or integrity.per_task_stands


def contradicted(run: Run) -> list[str]:
    """Conversations whose verdict the replay contradicts, or what is stored with it."""
    return run.table("replays").drop_nulls("contradicts")["dialogue"].to_list() if "replays" in run.tables else []


def doubts(run: Run) -> list[str]:
    """What contradicts a log; nothing where it is sound."""
    integrity, odd = stored_integrity(run), contradicted(run)
    found = [match_sentence(integrity)] if integrity is not None and integrity.foreign else []
    if odd:
        found.append(f"{counted(len(odd), 'recorded verdict')} contradicted ({some_of(odd, _FEW)}).")
    found += [f"{upper_first(note)}." for note in run.notes if note_kind(note) == "instructions"]
    if not per_task_stands(run):
        found.append("What goes by task is withheld; totals are those of the log as it is.")
    return found


@lru_cache(maxsize=8)
def conversations(run: Run) -> pl.DataFrame:
    """Each conversation with its task, verdict and end, and what was found out about it."""
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
    told = []
    for each in run.dialogues():
        expected = None if each.ended.expected is None else expectation_words(expected_actions(each))
        why = next(filter(None, map(each.ended.facts.get, ("error", "explanation"))), None)
        told.append((each.id, expected, why))
    schema = {"dialogue": pl.String, "expected calls": pl.String, "explained": pl.String}
    yield pl.DataFrame(told, schema=schema, orient="row")
    if "task_match" in run.tables:
        words = {code: text for code, (text, _) in MATCHES.items()}
        yield run.table("task_match").select("dialogue", match=pl.col("match").replace(words))
    if "replays" in run.tables and not run.details["audit"]["no_replay"]:
        agrees = pl.when("agrees").then(pl.lit(AGREES)).otherwise(pl.lit(DIFFERS))
        idle = pl.when(pl.col("writes_done") + pl.col("writes_failed") == 0).then(pl.lit(NO_WRITES))
        yield run.table("replays").select("dialogue", replay=agrees, writes=idle)
    if "suspects" in run.tables:
        sign = pl.col("code").map_elements(sign_words, return_dtype=pl.String, skip_nulls=False)
        suspected = run.table("suspects").filter(cause=SUSPECT)
        yield suspected.select(
            "dialogue",
            message="turn",
            about="arguments",
            sign="code",
            suspect=pl.col("side").replace(SUSPECTED),
            why=sign,
        )
    if "task_facts" in run.tables:
        change = run.table("task_facts").filter(pl.col("fact").is_in(list(CHANGES)))
        yield change.select("task", change=pl.col("fact").replace(CHANGES))


def verdict(run: Run) -> str:
    """How often tasks are done, once and every time."""
    return rate_sentence(run)


def summary(run: Run) -> Table:
    """The answer of each check."""
    table = Table("", ["check", "answer"])
    if run.coverage.complete:
        table.add("log", f"{run.name}: {coverage_sentence(run)}.")
    stands = per_task_stands(run)
    for name, make in _CHECKS.items():
        if (made := make(run)) is not None and made.answer and (stands or name == "match"):
            table.add(Cell(name, tone=made.tone), made.answer)
    if stored_integrity(run) is None:
        table.add("replay", f"{upper_first(_ONLY_TAU)}.")
    return table


def flips(run: Run) -> Table | None:
    """Tasks that pass sometimes and fail sometimes."""
    frame = conversations(run).filter(pl.col("verdict") != NOT_JUDGED)
    tried = frame.group_by("task", maintain_order=True).agg(
        pl.col("success").sum().alias("passed"), pl.len().alias("trials"), pl.col("passes").first()
    )
    if not tried.height or tried["trials"].max() == 1:
        return None
    flipping = tried.filter((pl.col("passed") > 0) & (pl.col("passed") < pl.col("trials")))
    rows = sorted(
        flipping.select("task", "passed", "trials").rows(), key=lambda row: (row[1] / row[2], _numeric(row[0]))
    )
    table = Table("Tasks that flip", ["task", "passed", "trials"], first=20)
    for task, _, trials in rows:
        table.add(task, count_cell(frame.filter(task=task), {"task": task, "verdict": PASSED}), trials)
    named = some_of((task for task, _, _ in rows), _FEW)
    never = tried.filter(pl.col("passed") == 0).height
    shown = f" ({named})" if rows else ""
    table.answer = f"{len(rows):,} of {counted(tried.height, 'task')} flip{shown}; {never:,} never pass."
    return table


def consistency(run: Run) -> Table | None:
    """Tasks by how many of their trials pass."""
    frame = conversations(run).filter(pl.col("verdict") != NOT_JUDGED)
    table = Table(
        "Tasks by trials that pass", ["trials that pass", "tasks", "conversations"], chart=Chart("bars", ("tasks",))
    )
    for passes, tasks in frame.group_by("passes").agg(pl.col("task").n_unique()).sort("passes").iter_rows():
        table.add(passes, tasks, count_cell(frame, {"passes": passes}))
    return table if table.rows else None


def failures(run: Run) -> Table | None:
    """Failures with their reasons: one of each task before the second of any."""
    failed = conversations(run).filter(pl.col("verdict") == FAILED)
    found = findings(run)
    table = Table("", ["failure", "why"], first=_SHOWN)
    order = failed.with_columns(pl.int_range(pl.len()).over("task").alias("place")).sort("place", maintain_order=True)
    for name in [*_odd(run), *order["dialogue"]]:
        if name in found and all(row[0].value != name for row in table.rows):
            table.add(Cell(name, link=Link(dialogue=name, turn=found[name].turn)), found[name].text)
    return table if table.rows else None


def _odd(run: Run) -> list[str]:
    """Conversations to look at first: those of other tasks, then those with a contradicted verdict."""
    integrity = stored_integrity(run)
    return [*(each.conversation for each in (integrity.foreign if integrity else ())), *contradicted(run)]


def expected(run: Run) -> Table:
    """What became of the calls that tasks expect, in conversations that failed."""
    only, tones = {"verdict": FAILED}, {"dialogues": VERDICTS[FAILED]}
    return count_table("Where conversations failed", conversations(run), "expected calls", only=only, tones=tones)


def ends(run: Run) -> Table:
    """How conversations ended."""
    return count_table("How conversations ended", conversations(run), "end", split="verdict", tones=VERDICTS)


def match(run: Run) -> Table | None:
    """Is the log what it says? Conversations match the tasks they are filed under."""
    integrity, frame = stored_integrity(run), conversations(run)
    if integrity is None or "match" not in frame.columns:
        return None
    table = Table("Do conversations match their tasks?", ["match", "conversations"], answer=match_sentence(integrity))
    for words, tone in MATCHES.values():
        count = count_cell(frame, {"match": words})
        table.add(Cell(words, tone=tone if count.value else "plain"), count)
    table.tone = "bad" if integrity.foreign else "good"
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
    confirmed, unsure = known.filter("agrees").height, replays.height - known.height
    table = Table("Do verdicts replay?", ["the replay", "conversations"], tone="bad" if odd else "good")
    if audit["no_replay"]:
        why = {
            "no world": "the tools and records of its domain are not here (--domain FOLDER names them)",
            "calls in prose": "the agent wrote its calls into its texts",
        }[audit["no_replay"]]
        table.answer = f"Not replayed: {why}."
        table.tone = "bad" if odd else "plain"
    else:
        of = f"all {confirmed:,}" if confirmed == known.height else f"{confirmed:,} of {known.height:,}"
        table.answer = f"Replay confirms {of} recorded rewards." if known.height else "No reward can be replayed."
        tones: Mapping[str, Tone] = {AGREES: "good", DIFFERS: "bad"}
        for words, tone in tones.items():
            count = count_cell(frame, {"replay": words})
            table.add(Cell(words, tone=tone if count.value else "plain"), count)
    if odd:
        table.answer += f" {counted(len(odd), 'verdict')} contradicted ({some_of(odd, _FEW)})."
    if unsure and known.height and not audit["no_replay"]:
        table.answer += (
            f" {counted(unsure, 'conversation')} not replayed: their tasks have criteria that no rule knows."
        )
    calls = [f"{words} {audit['calls'][code]:,}" for code, words in _DRIFT.items() if audit["calls"].get(code)]
    if calls:
        table.notes.append(f"Calls made again: {', '.join(calls)}.")
    for old, new in audit["renamed"]:
        table.notes.append(f"In the records the key '{old}' is now '{new}'; no verdict rests on it.")
    doubtful = replays.filter(~pl.col("reliable"))["dialogue"].to_list()
    if doubtful:
        table.notes.append(f"A write came out otherwise than recorded: {some_of(doubtful, _NAMED)}.")
    return table


_DRIFT = {
    "equal": "equal results",
    "renamed": "equal but for a renamed key",
    "errors": "errors on both sides",
    "prose": "sentences, not compared",
    "differs": "results that differ",
    "skipped": "not made again",
}


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
        tried = own.group_by("task").agg(pl.col("success"))["success"].to_list()
        chances = [pass_rate(tried, k) for k in range(1, most + 1)]
        only = {"change": words}
        table.add(words, len(tried), count_cell(own, only), count_cell(own, {**only, "verdict": PASSED}), *chances)
    must, may = (percent(pass_rate_of(row)) for row in table.rows)
    table.answer = f"Tasks that require a change: {must} passed. Tasks that forbid one: {may}."
    if "writes" in frame.columns:
        idle = frame.filter((pl.col("writes") == NO_WRITES) & (pl.col("verdict") == PASSED)).height
        table.notes.append(f"{idle:,} of the passes make no call of a tool that writes.")
    if (idle_agent := run.details["audit"]["idle"]) is not None:
        table.notes.append(f"An agent that does nothing passes {percent(idle_agent[1])} of the tasks.")
    return table


def pass_rate_of(row: Sequence[Cell]) -> float | None:
    """pass^1 in a row of the split."""
    value = row[4].value
    return value if isinstance(value, float) else None


def fairness(run: Run) -> Table | None:
    """Were the tasks fair?"""
    if "task_facts" not in run.tables:
        return None
    frame, facts = conversations(run), _task_facts(run)
    table = Table("Were its tasks fair?", ["about the task", "tasks", "conversations", "which"])
    unfair: dict[str, list[str]] = {}
    for code, words in FACTS.items():
        if which := facts.filter(pl.col("fact") == words)["task"].unique(maintain_order=True).to_list():
            tone: Tone = "bad" if code in UNFAIR else "plain"
            table.add(Cell(words, tone=tone), len(which), count_cell(facts, {"fact": words}), some_of(which, _NAMED))
            unfair |= {words: which} if code in UNFAIR else {}
    tasks = counted(frame["task"].n_unique(), "task")
    named = "; ".join(f"{words} ({some_of(which, _FEW)})" for words, which in unfair.items())
    number = len({task for which in unfair.values() for task in which})
    table.answer = f"{number:,} of {tasks} look unfair: {named}." if unfair else f"None of {tasks} looks unfair."
    table.tone = "warn" if unfair else "good"
    if run.details["audit"]["no_replay"] == "no world":
        table.notes.append("Without the tools and records of its domain only what texts say is checked.")
    return table


def suspects(run: Run) -> Table | None:
    """Who is to be suspected of the failures?"""
    frame = conversations(run)
    if "suspect" not in frame.columns or not frame["suspect"].count():
        return None
    chart = Chart("bars", ("failures",))
    table = Table("Who is to be suspected of each failure?", ["suspect", "failures"], chart=chart)
    for words in SUSPECTED.values():
        if (count := count_cell(frame, {"suspect": words})).value:
            table.add(words, count)
    sides = ", ".join(f"{row[0].value} {row[1].value:,}" for row in table.rows)
    table.answer = f"Of {counted(frame['suspect'].count(), 'failure')}: {sides}. {measured_sentence()}"
    return table


def deciding(run: Run) -> Table | None:
    """What failures are suspected for."""
    frame = conversations(run)
    if "why" not in frame.columns:
        return None
    return count_table("Why they are suspected", frame.drop_nulls("suspect"), "why", split="suspect", tones=_SIDES)


def user_faults(run: Run) -> Table | None:
    """What the checks of users saw."""
    if "suspects" not in run.tables:
        return None
    faults = _faults(run)
    if not faults.height or conversations(run)["suspect"].count():
        return None
    table = count_table("What the user got wrong", faults, "fault of the user")
    listed = ", ".join(f"{row[0].value} {row[1].value}" for row in table.rows)
    erred = faults["dialogue"].n_unique()
    table.answer = (
        f"The user erred in {erred:,} of {conversations(run).height:,} conversations ({listed}); checks find a part."
    )
    return table


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


def parts(run: Run) -> Table | None:
    """Parts of the reward, scores and labels of the log, and pass^k by other scores than its verdict."""
    table = Table("Scores of parts", ["score", "value", "conversations"], chart=Chart("intervals", ("value",)))
    for name, score in run.scores.items():
        if "[" in name:
            table.add(name, score_cell(score), run.details["conversations"].get(name))
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
    """What passes under each grader, and where graders and log disagree."""
    figures = stored_graders(run)
    if figures is None:
        return None
    pairs = grader_pairs(run)
    passes = [name for name in run.scores if name.startswith("pass^") and "[" not in name]
    most = max((int(name.removeprefix("pass^")) for name in passes), default=run.details["planned"]["trials"])
    spread = Column(
        "spread", PERCENT, spare=2, help="standard deviation of pass^1 where each conversation is graded once"
    )
    columns = [Column("grader"), Column("graded"), Column("passes", PERCENT), Column("flips", PERCENT, spare=1),
               Column("passes what the log fails", spare=3), Column("fails what it passes", spare=3),
               *(Column(f"pass^{k}", PERCENT) for k in range(1, most + 1)), spread]  # fmt: skip
    table = Table("What passes, by grader", columns)
    rates = [each.pass_rate.value for each in figures.graders]
    beside = (
        f"{counted(len(rates), 'grader')}, the log among them"
        if figures.graders[0].grader == LOG
        else counted(len(rates), "grader")
    )
    table.answer = f"By {beside}, {percent(min(rates))} to {percent(max(rates))} of the conversations pass."
    for each in figures.graders:
        apart = [
            None if each.grader == LOG else count_cell(pairs, {"graders": against(each.grader, passed=passed)})
            for passed in (True, False)
        ]
        part = "" if each.grader == LOG else f"[{each.grader}]"
        scores = (score_cell(run.scores.get(f"pass^{k}{part}")) for k in range(1, most + 1))
        flip = estimate_cell(each.flip_rate)
        table.add(each.grader, each.conversations, estimate_cell(each.pass_rate), flip, *apart, *scores, each.spread)
    return table


def agreement(run: Run) -> Table | None:
    """How far graders agree, in pairs."""
    figures = stored_graders(run)
    if figures is None or not figures.pairs:
        return None
    kappa = Column("kappa", Number(2), help="by the majority of each grader's gradings; a tie is no pass")
    table = Table("Do graders agree?", ["graders", "both graded", Column("agree", PERCENT), kappa])
    for each in figures.pairs:
        named = f"{each.first}, {each.second}"
        table.add(named, each.conversations, estimate_cell(each.agreement), estimate_cell(each.kappa))
    if len(figures.graders) > 2 and figures.alpha is not None:
        table.answer = f"Krippendorff's alpha of all {len(figures.graders)} graders: {figures.alpha:.2f}."
    elif figures.pairs[0].agreement is not None and figures.pairs[0].kappa is not None:
        pair, agree, chance = figures.pairs[0], figures.pairs[0].agreement, figures.pairs[0].kappa
        table.answer = f"{pair.first} and {pair.second} agree on {percent(agree.value)} (kappa {chance.value:.2f})."
    return table


def corrected(run: Run) -> Table | None:
    """The pass rate behind a grader that errs, where another's verdicts count as right."""
    figures = stored_graders(run)
    if figures is None or not figures.corrected:
        return None
    shares = (Column(name, PERCENT) for name in ("sensitivity", "specificity", "majority", "corrected"))
    table = Table(f"Pass rate corrected for errors against {figures.truth}", ["grader", "labelled", *shares])
    for each in figures.corrected:
        table.add(
            each.grader, each.labelled, estimate_cell(each.sensitivity), estimate_cell(each.specificity), each.apparent,
            estimate_cell(each.corrected),
        )  # fmt: skip
        if each.refused:
            table.notes.append(f"{each.grader} is not corrected: {each.refused}.")
    told = [
        f"{each.grader} passes {percent(each.apparent)}, corrected for its errors {percent(each.corrected.value)}"
        for each in figures.corrected
        if each.corrected is not None
    ]
    table.answer = f"{'; '.join(told)}." if told else ""
    table.notes.append(
        "Rogan and Gladen's estimate, Lang and Reiczigel's 95% interval, as if conversations were independent and "
        "labelled at random."
    )
    return table


def stored_graders(run: Run) -> JudgeFigures | None:
    """What a run says of its graders; None where nobody graded it."""
    stored = run.details.get("graders")
    return None if stored is None else msgspec.convert(stored, JudgeFigures)


def estimate_cell(figure: Estimate | None) -> Cell:
    """A share with its interval; kappa is written by its column."""
    return Cell(None) if figure is None else Cell(figure.value, figure.low, figure.high)


def grader_pairs(run: Run) -> pl.DataFrame:
    """Each conversation with the graders that disagree with the log, by the majority of their gradings."""
    said = (
        run.table("gradings").group_by("dialogue", "grader", maintain_order=True).agg("passed", pl.col("log").first())
    )
    rows = [
        (dialogue, against(grader, passed=majority(replicates)))
        for dialogue, grader, replicates, recorded in said.iter_rows()
        if recorded is not None and majority(replicates) != recorded
    ]
    return pl.DataFrame(rows, schema={"dialogue": pl.String, "graders": pl.String}, orient="row")


def against(grader: str, *, passed: bool) -> str:
    """How a grader disagrees with the log."""
    return f"{grader} passes what the log fails" if passed else f"{grader} fails what the log passes"


@lru_cache(maxsize=8)
def findings(run: Run) -> Mapping[str, Finding]:
    """Why each failure failed, with the turn that shows it; first of all that it is another task's."""
    found: dict[str, Finding] = {}
    integrity = stored_integrity(run)
    fits = {each.conversation: each.fits for each in (integrity.foreign if integrity else ())}
    rows = _faults(run).reverse().iter_rows(named=True) if "suspects" in run.tables else ()
    faults = {row["dialogue"]: row for row in rows}
    odd = set(contradicted(run))
    for row in conversations(run).iter_rows(named=True):
        name, turn = row["dialogue"], row.get("message")
        if name in fits:
            found[name] = Finding(
                f"filed under task {row['task']}, but is {f'of task {fits[name]}' if fits[name] else 'of another'}"
            )
        elif name in odd:
            found[name] = Finding("its recorded verdict is contradicted")
        elif row["verdict"] != FAILED:
            continue
        elif row.get("suspect") is not None:
            both = "both: " if row["suspect"] == SUSPECTED["both"] else ""
            words = f"{both}{sign_words(row['sign'], row['about'])}"
            found[name] = Finding(words, None if turn is None else turn_of(run.dialogue(name), turn))
        elif name in faults:
            fault = faults[name]
            found[name] = Finding(f"the user erred: {fault['words']}", turn_of(run.dialogue(name), fault["message"]))
        else:
            found[name] = Finding(row["expected calls"] or row["explained"] or f"failed; {row['passes']} trials pass")
    return found


def filters(run: Run) -> Iterator[pl.DataFrame]:
    """What is known of each conversation, its calls, and the facts about its task."""
    yield conversations(run).drop("success", "trial", "message", "about", "sign", "explained", strict=False)
    yield _calls(run)
    if "gradings" in run.tables:
        yield grader_pairs(run)
    if "task_facts" in run.tables:
        yield _task_facts(run).drop("task")
    if "suspects" in run.tables:
        yield _faults(run).drop("words", "message")


def heads(run: Run) -> list[str]:
    """pass^1 and the largest k."""
    passes = [name for name in run.scores if name.startswith("pass^") and "[" not in name]
    return [*passes[:1], *passes[1:][-1:]]


def settled(comparison: Comparison) -> Table | None:
    """What it would take to settle the differences in pass^1."""
    from dialgauge.trials.comparison import PASS_1, settling

    if PASS_1 not in comparison.measures:
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
        made = settling(comparison, *(comparison.systems[place] for place in pair))
        needed = (made.trials_needed, made.tasks_needed, made.why)
        table.add(made.first, made.second, made.difference, made.detectable, *needed)
    return table


#: Suspects in the order of columns.
_SIDES: Mapping[str, Tone] = {"agent": "bad", "user": "warn"}


def by_task(make: TableMaker) -> TableMaker:
    """A table that goes by task: None if too many conversations do not match the task they are filed under."""

    def made(run: Run) -> Table | None:
        return make(run) if per_task_stands(run) else None

    return made


#: The checks that the summary answers, in its order.
_CHECKS: Mapping[str, TableMaker] = {
    "flips": flips,
    "match": match,
    "replay": replayed,
    "change": split,
    "fairness": fairness,
    "suspects": suspects,
    "user": user_faults,
    "graders": graders,
    "agreement": agreement,
    "corrected": corrected,
}

VIEW = View(
    verdict=verdict,
    warnings=doubts,
    scores=heads,
    tables={
        "summary": summary,
        "flips": by_task(flips),
        "failures": failures,
        "consistency": by_task(consistency),
        "expected": by_task(expected),
        "ends": ends,
        "match": match,
        "replay": by_task(replayed),
        "split": by_task(split),
        "fairness": by_task(fairness),
        "suspects": by_task(suspects),
        "deciding": by_task(deciding),
        "user": user_faults,
        "tasks": by_task(task_grid),
        "graders": by_task(graders),
        "agreement": agreement,
        "corrected": corrected,
        "parts": parts,
        "amounts": amounts,
        "tools": tools,
    },
    screen=("summary", "failures"),
    transcript=transcript,
    columns=("Reward", "Turns", "ToolCalls"),
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


def _calls(run: Run) -> pl.DataFrame:
    return run.table("calls").select("dialogue", "turn", tool="name", outcome="outcome")


def _faults(run: Run) -> pl.DataFrame:
    """What the user got wrong in each conversation."""
    rows = [
        (name, message, code.replace("_", " "), fault_words(code, about))
        for name, message, code, about in run.table("suspects")
        .filter(cause=FAULT)
        .select("dialogue", "turn", "code", "arguments")
        .iter_rows()
    ]
    schema = {"dialogue": pl.String, "message": pl.Int64, "fault of the user": pl.String, "words": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _task_facts(run: Run) -> pl.DataFrame:
    """Each conversation with the facts about its task."""
    facts = run.table("task_facts").filter(pl.col("fact").is_in(list(FACTS)))
    words = facts.select("task", fact=pl.col("fact").replace(FACTS))
    return conversations(run).select("dialogue", "task").join(words, on="task")


def _numeric(name: str) -> tuple[int, str]:
    """Sorts 9 before 10."""
    return (int(name), "") if name.isdecimal() else (0, name)
