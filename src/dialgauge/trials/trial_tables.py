"""What people see of results of agents, from a run in memory or in a store: coverage first, then scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import polars as pl

from dialgauge import rendering
from dialgauge.measures import FLIPS, NOISE, PASS, Score, Signature, uneven_trials
from dialgauge.rendering import INTERVALS, SHARE, Cell, Column, RunSet, Table, score_column
from dialgauge.runs import Run
from dialgauge.text import counted, named_note
from dialgauge.trials.audit_tables import stored_integrity
from dialgauge.trials.graded_runs import GRADERS, grader_tables
from dialgauge.trials.reward_measures import COST, LABEL, MEAN_REWARD, SCORE, TOKENS, TOOL_CALLS, TURNS
from dialgauge.trials.trial_scores import TRIALS
from dialgauge.trials.trial_wordings import END_REASONS, trials_sentence
from dialgauge.worlds.tools import integrity_sentences, same_logs

#: What the JSON of a run has where the run does.
_OPTIONAL = ("standard_errors", "reported", GRADERS)
#: Up to so many files stand beside each other.
_BESIDE = 3
_TITLES = {FLIPS: "flip rate", NOISE: "noise floor over trials"}


class TrialRuns(RunSet):
    """Results of agents over trials, by file."""

    @property
    def notes(self) -> list[str]:
        """How much of each file there is, to be read before any number; then what else a reader should know."""
        return [
            *coverage_sentences(self.runs),
            *(named_note(run.name, note) for run in self.runs for note in run.notes),
        ]

    def tables(self) -> list[Table]:
        """pass^k and chance, rewards, costs, and how conversations ended."""
        return trial_tables(self.runs)

    def document(self) -> dict[str, Any]:
        """The JSON that ``dialgauge tasks score RESULTS --json`` writes, coverage first."""
        return {
            "complete": self.complete,
            "coverage": {run.name: _coverage(run) for run in self.runs},
            "signature": self.signature,
            "systems": [
                {
                    "name": run.name,
                    "complete": run.coverage.complete,
                    "scores": {
                        name: score.as_dict() | run.details.get("amounts", {}).get(name, {})
                        for name, score in run.scores.items()
                    },
                    "pass_1_on_these_tasks": run.details.get("pass_1_on_these_tasks", {}),
                    "conversations": run.details.get("conversations", {}),
                    **{key: run.details[key] for key in _OPTIONAL if key in run.details},
                    "notes": run.manifest.notes,
                    "note_kinds": run.manifest.note_kinds,
                }
                for run in self.runs
            ],
        }

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """The scores with their intervals, rewards also by part."""
        return rendering.run_figures(self, parts={MEAN_REWARD: "part of the reward"}, names=_REWARD_WORDS)


_REWARD_WORDS = {
    "r_actions": "right actions (r_actions)", "r_outputs": "right outputs (r_outputs)", "DB": "right database (DB)",
    "COMMUNICATE": "told the user (COMMUNICATE)", "ACTION": "right actions (ACTION)",
    "ENV_ASSERTION": "checks of the environment (ENV_ASSERTION)",
    "NL_ASSERTION": "checks in words (NL_ASSERTION)",
}  # fmt: skip


def coverage_sentences(runs: Sequence[Run]) -> list[str]:
    """For each file how much of it there is: to be read before any number."""
    sentences = []
    for run in runs:
        sentences.append(f"{run.name}: {trials_sentence(run)}.")
        if (integrity := stored_integrity(run)) is not None:
            sentences += integrity_sentences(run.name, integrity)
        if not run.coverage.complete:
            present = "the scores cover only the conversations present" if run.scores else "there is nothing to score"
            sentence = f"{run.name}: {present}."
            if missing := run.details["pass_1_if_missing"]:
                low, high = missing.values()
                sentence += (
                    f" Over all that was planned, pass^1 lies between {100 * low:.2f} (if the rest fails) and "
                    f"{100 * high:.2f} (if it passes)."
                )
            sentences.append(sentence)
        if domains := run.details.get("domains"):
            each = (f"{name} {100 * of['pass^1']:.2f} ({counted(of['tasks'], 'task')})" for name, of in domains.items())
            sentences.append(f"{run.name}: it mixes {len(domains)} domains, pass^1: {', '.join(each)}.")
        if uneven := uneven_tasks(run):
            sentences.append(f"{run.name}: {uneven}.")
    checked = ((run.name, integrity) for run in runs if (integrity := stored_integrity(run)) is not None)
    sentences += [f"{' and '.join(names)} are the same log under different names." for names in same_logs(checked)]
    return sentences


def uneven_tasks(run: Run) -> str:
    """How many tasks each pass^k rests on, where these are not the same ones; empty where they are."""
    return uneven_trials(run.details.get("pass_tasks", {}))


def trial_tables(runs: Sequence[Run]) -> list[Table]:
    """Files side by side: was the job done and every time, what it took, and how conversations ended."""
    names = list(dict.fromkeys(name for run in runs for name in run.scores))
    done = [name for name in names if name.startswith((f"{PASS}^", MEAN_REWARD, FLIPS, NOISE))]
    took = [name for name in names if name.startswith((COST, TURNS, TOOL_CALLS, TOKENS))]
    tables = [
        _side_by_side("Success and consistency", runs, sorted(done, key=_order)),
        _side_by_side("Scores", runs, [name for name in names if name.startswith(f"{SCORE}[")], per="task"),
        _side_by_side("Labels", runs, [name for name in names if name.startswith(f"{LABEL}[")], per="task"),
        *_amount_tables(runs, took),
        *(_reported(run, several=len(runs) > 1) for run in runs if run.details.get("reported")),
        *(_ends(run, several=len(runs) > 1) for run in runs),
    ]
    graders = [table for run in runs for table in _graders(run, several=len(runs) > 1)]
    for note, column in (*_legend(runs, done), *_partial(runs, done)):
        if len(runs) > _BESIDE:
            tables[0].explain(note, column)
        else:
            tables[0].notes.append(note)
    tables[-1].signature = Signature.shared(Signature.parse(run.signature) for run in runs).long()
    return [table for table in (*tables, *graders) if len(table)]


def _graders(run: Run, *, several: bool) -> list[Table]:
    tables = grader_tables(run)
    for table in tables if several else ():
        table.title = f"{table.title}: {run.name}"
    return tables


def _order(name: str) -> int:
    """Trials first, then rewards and their parts."""
    return 1 if name.startswith(MEAN_REWARD) else 0


def _side_by_side(
    title: str,
    runs: Sequence[Run],
    names: Sequence[str],
    spread: Mapping[str, Mapping[str, Any]] | None = None,
    per: str = "conversation",
) -> Table:
    """Scores with a column for each run; of one run with the spread of its amounts beside them."""
    units = {name: next((run.scores[name].unit for run in runs if name in run.scores), "") for name in names}
    shares = bool(units) and set(units.values()) == {SHARE}
    facts = [] if shares and per != "task" else [f"mean per {per}"]
    titled: dict[str, Any] = {"facts": facts, "unit": "percent" if shares else ""}
    titles = {}
    for name, unit in units.items():
        said = [
            "" if shares else "percent" if unit == SHARE else unit,
            "" if spread or len(runs) > _BESIDE else _rests_on(runs, name) or _rests_on_tasks(runs, name),
        ]
        titles[name] = _TITLES.get(name, name) + (f" ({', '.join(filter(None, said))})" if any(said) else "")
    if len(runs) > _BESIDE:
        table = _below_each_other(title, runs, titles, titled)
    else:
        heads = [Column("measure"), *(Column(_head(run), align="right") for run in runs), *(_SPREAD if spread else ())]
        table = Table(title, heads, **titled)
        for name, heading in titles.items():
            amounts = spread.get(name) if spread else None  # none where no scored conversation says it
            beside = _spread_cells(runs[0].scores[name], amounts) if amounts else [""] * len(_SPREAD if spread else ())
            table.add(heading, *(_cell(run.scores.get(name)) for run in runs), *beside)
    if "dollars" in units.values():
        table.notes.append("Costs are as the file gives them, taken to be US dollars.")
    return table


def _rests_on(runs: Sequence[Run], name: str) -> str:
    """How many conversations a mean rests on in each file, where any of them has scored others without it."""
    shares = [_share(run, name) for run in runs if name in run.scores]
    return f"n = {', '.join(dict.fromkeys(shares))}" if any(" of " in share for share in shares) else ""


def _rests_on_tasks(runs: Sequence[Run], name: str) -> str:
    """How many tasks a measure of trials rests on in each file, where in any of them these are fewer than pass^1's."""
    tasks = [(_tasks_of(run, name), _tasks_of(run, f"{PASS}^1")) for run in runs if name in run.scores]
    fewer = any(own is not None and own != every for own, every in tasks)
    return ", ".join(dict.fromkeys(counted(own, "task") for own, _ in tasks if own is not None)) if fewer else ""


def _tasks_of(run: Run, name: str) -> int | None:
    tried_again = run.details.get("tried_again")
    tasks: int | None = {**run.details.get("pass_tasks", {}), FLIPS: tried_again, NOISE: tried_again}.get(name)
    return tasks


def _share(run: Run, name: str) -> str:
    """``3 of 4`` of the scored conversations, ``4`` of all of them, and nothing of a run that does not say it.

    Scores and labels of the log are also taken of conversations that are not judged.
    """
    number = run.details.get("conversations", {}).get(name)
    if number is None:
        return ""
    scored: int = run.details["scored"]
    every: int = run.details["finished"] if name.startswith((SCORE, LABEL)) else scored
    return f"{number:,}" if number == scored == every else f"{number:,} of {every:,}"


def _partial(runs: Sequence[Run], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The same below a table that has files in rows, for whose heads it would be too long."""
    if len(runs) <= _BESIDE:
        return
    for name in names:
        some = [f"{run.name} {share}" for run in runs if " of " in (share := _share(run, name))]
        if some:
            yield f"{name} rests on a part of the conversations: {', '.join(some)}.", _TITLES.get(name, name)


_SPREAD = (
    Column("median", align="right"),
    Column("n", align="right"),
    Column("largest (%)", digits=1, percent=True, align="right"),
)


def _amount_tables(runs: Sequence[Run], names: Sequence[str]) -> list[Table]:
    """Means of amounts and, as one conversation may make most of a mean, medians: beside them if there is one file."""
    spread = [run.details["amounts"] for run in runs]
    means = _side_by_side("Cost and length", runs, names, spread[0] if len(runs) == 1 else {})
    tables = [means]
    if len(runs) > 1:
        heads = [Column("measure"), Column("system", exact=True), *_SPREAD]
        tables.append(Table("Cost and length (median conversation)", heads))
        for name in names:
            for run, amounts in zip(runs, spread, strict=True):
                if name in amounts:
                    tables[-1].add(name, run.name, *_spread_cells(run.scores[name], amounts[name]))
    if any(spread):
        tables[-1].notes.append("n: conversations that say it. Largest: the share of the largest one in their sum.")
    return tables


def _spread_cells(score: Score, amount: Mapping[str, Any]) -> list[Cell]:
    median = Cell(amount["median"], like=Column("median", digits=_digits(score), align="right"))
    return [median, Cell(amount["n"]), Cell(amount["largest_share"])]


def _digits(score: Score) -> int:
    return {"dollars": 4, "points": 3}.get(score.unit or "", 2)


def _reported(run: Run, *, several: bool) -> Table:
    """What the log itself says of its scores, beside the same made of its conversations."""
    numbers = [Column(head, digits=6, align="right") for head in ("the log", "dialgauge")]
    heads: list[str | Column] = ["score", "statistic", *numbers]
    table = Table(f"The log's own results{f': {run.name}' if several else ''}", heads)
    for name, value in run.details["reported"].items():
        score, _, metric = name.rpartition("/")
        table.add(score, metric, value, _same_statistic(run, score, metric))
    table.notes.append("Standard errors are over tasks (samples), of the means over their trials (epochs).")
    return table


def _same_statistic(run: Run, score: str, metric: str) -> float | None:
    """Our value of a statistic that the log names; None where it is another one."""
    names = [f"{SCORE}[{score}]", *([f"{PASS}^1"] if score == run.details.get("verdict_score") else [])]
    name = next((each for each in names if each in run.scores), None)
    if name is None:
        return None
    if metric == "stderr":
        error: float | None = run.details["standard_errors"].get(name)
        return error
    return run.scores[name].value if metric in ("accuracy", "mean") else None


def _below_each_other(title: str, runs: Sequence[Run], titles: Mapping[str, str], titled: Mapping[str, Any]) -> Table:
    """A row for each of many files, none of which a narrow screen may leave out: it leaves out measures, last first."""
    measures = [Column(title, align="right", drop=index) for index, title in enumerate(titles.values())]
    table = Table(title, [Column("system", exact=True), *measures], stacked=True, **titled)
    for run in runs:
        table.add(_head(run), *(_cell(run.scores.get(name)) for name in titles))
    return table


def _head(run: Run) -> str:
    """The name; of an incomplete file also how much of it there is, so that no table stands without it."""
    count = run.coverage["conversations"]
    return run.name if run.coverage.complete else f"{run.name} ({count.scored:,} of {count.expected:,})"


def _cell(score: Score | None) -> Cell | None:
    if score is None:
        return None
    look = score_column("", score)
    return Cell(score.value, score.low, score.high, like=msgspec.structs.replace(look, digits=_digits(score)))


def _legend(runs: Sequence[Run], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What numbers mean, each note with the title of those that it is about."""
    if any(_intervals(run) for run in runs):
        yield "95% intervals are about tasks like these, each with as many trials.", INTERVALS
    for run in runs:
        if same := run.details.get("pass_1_on_these_tasks"):
            low, high = 100 * same["low"], 100 * same["high"]
            whose = f" of {run.name}" if len(runs) > 1 else ""
            yield f"pass^1{whose} on these very tasks, were they tried again: [{low:.2f}, {high:.2f}].", f"{PASS}^1"
    if any(name.startswith(NOISE) for name in names):
        yield "Flip rate: how often a second trial of a task changes the verdict.", _TITLES[FLIPS]
        # Where tasks have other numbers of trials, the floor is that of those tried more than once.
        which = (
            "on the tasks tried more than once, with as many trials,"
            if any(_rests_on_tasks([run], NOISE) for run in runs)
            else ("with as many tasks and trials")
        )
        yield (
            f"Noise floor: two runs of the same agent {which} differ by less in pass^1, 95% of the time.",
            _TITLES[NOISE],
        )


def _intervals(run: Run) -> bool:
    return any(score.low is not None for score in run.scores.values())


def _ends(run: Run, *, several: bool) -> Table:
    table = Table(
        f"How conversations ended{f': {run.name}' if several else ''}",
        ["reason", "counts as", Column("conversations", align="right"), Column("passed", align="right")],
    )
    frame = run.table(TRIALS)
    passed = pl.col("success").sum()
    if "verdict_score" in run.details:  # a log need not judge its conversations
        passed = pl.when(pl.col("success").count() > 0).then(passed)
    grouped = frame.group_by("reason", "end").agg(pl.len().alias("count"), passed.alias("success"))
    for row in grouped.sort("count", "reason", descending=[True, False]).iter_rows(named=True):
        reason = END_REASONS.get(row["reason"], row["reason"]) or "not recorded"
        table.add(reason, _COUNTS[row["end"]], row["count"], row["success"])
    return table


_COUNTS = {"finished": "finished", "limit": "failed at a limit", "unknown": "finished",
           "infrastructure": "infrastructure: not counted"}  # fmt: skip


def _coverage(run: Run) -> dict[str, Any]:
    kept = ("planned", "begun", "finished", "infrastructure", "not_judged", "pass_1_if_missing")
    return {
        "complete": run.coverage.complete,
        "sentence": trials_sentence(run),
        "integrity": run.details.get("integrity"),
        **{key: run.details[key] for key in kept},
        "domains": run.details.get("domains", {}),
        "pass_tasks": run.details.get("pass_tasks", {}),
        "beyond_plan": run.details.get("beyond_plan", {}),
        "pass_on_other_tasks": uneven_tasks(run),
        "units": msgspec.to_builtins(run.coverage.units),
    }
