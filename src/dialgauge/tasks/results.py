"""The scores of one system, presented from a run in memory or in a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.measures import Score
from dialgauge.report import Cell, Column, Table, score_column
from dialgauge.tasks.measures import COMPANIONS, INFORM, REQUEST_PRECISION, SUCCESS
from dialgauge.tasks.published import published_mode
from dialgauge.tasks.tables import VERDICTS
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.runs import Run

KIND = "tasks"
GROUNDED = "(rules=grounded)"
#: A file that lists more domains a turn than this claims credit for what it does not talk about.
_MOST_DOMAINS = 2.0


class TaskScores:
    """Whether a system did its users' jobs, by two rule sets, and what stands behind each verdict."""

    def __init__(self, run: Run) -> None:
        if run.kind != KIND:
            raise DialgaugeError(f"the run {run.id} is not a run of 'dialgauge tasks score'")
        self.run = run

    def __getitem__(self, name: str) -> float | None:
        if name not in self.run.scores:
            raise DialgaugeError(f"there is no score '{name}'.{nearest(name, self.run.scores)}")
        return self.run.scores[name].value

    @property
    def name(self) -> str:
        """What the system is called."""
        return self.run.name

    @property
    def scores(self) -> Mapping[str, Score]:
        """Values with intervals and signatures, by measure."""
        return self.run.scores

    def explain(self, dialogue: str) -> str:
        """For each domain of a dialogue's goal what was offered and told, and why it failed, as Markdown."""
        return "\n".join(table.render("markdown") for table in explanation(self.run, dialogue))

    def as_dict(self) -> dict[str, Any]:
        """The shape of ``dialgauge tasks score --json``, for this one system."""
        return as_system(self.run)

    def __repr__(self) -> str:
        return f"<TaskScores of {self.run!r}>"

    def _repr_markdown_(self) -> str:
        return "\n".join(table.render("markdown") for table in score_tables([self.run]))

    def _repr_html_(self) -> str:
        return "\n".join(table.render("html") for table in score_tables([self.run]))

    __str__ = _repr_markdown_


def score_tables(runs: Sequence[Run]) -> list[Table]:
    """Systems side by side: the standard rules first, then ours with the human responses' values, then the rest."""
    names = list(dict.fromkeys(name for run in runs for name in run.scores))
    standard = [name for name in names if "[" not in name and not _is_grounded(name) and name in _HEAD]
    grounded = [name for name in names if "[" not in name and _is_grounded(name)]
    by_domain = [name for name in names if "[" in name]
    others = [name for name in names if name not in {*standard, *grounded, *by_domain}]
    tables = []
    if standard:
        table = _side_by_side("Rule set mwzeval: the standard evaluator's numbers", runs, standard, marks=True)
        table.notes += _modes(runs)
        tables.append(table)
    if grounded:
        table = _side_by_side("Rule set grounded: credit only for what is supported", runs, grounded)
        human = runs[0].details.get("human") or {}
        if human and all(run.name != "human" for run in runs):
            table.add("human responses", *(human.get(name) for name in grounded))
        tables.append(table)
    if others:
        tables.append(_side_by_side("Responses as texts, and other measures", runs, others))
    tables += _domain_tables(runs, by_domain)
    if tables:
        tables[-1].notes.append(runs[0].signature)
    return tables


_HEAD = (INFORM, SUCCESS, "BLEU", "Combined")


def _is_grounded(name: str) -> bool:
    return GROUNDED in name or name in COMPANIONS


def _side_by_side(title: str, runs: Sequence[Run], names: Sequence[str], *, marks: bool = False) -> Table:
    columns = [Column("system")]
    columns += [score_column(name.replace(GROUNDED, ""), _score(runs, name), best=len(runs) > 1) for name in names]
    table = Table(title, columns)
    for run in runs:
        cells = [_cell(run.scores.get(name)) for name in names]
        table.add(f"{run.name}{_policy(run) if marks else ''}", *cells)
    return table


def _policy(run: Run) -> str:
    return " *" if run.details["states"] == "gold" else ""


def _modes(runs: Sequence[Run]) -> list[str]:
    notes = []
    if any(run.details["states"] == "gold" for run in runs):
        notes.append("* with gold states: a score of the policy; never rank it with end-to-end scores.")
    by_mode: dict[str, list[str]] = {}
    for run in runs:
        by_mode.setdefault(run.details["domains"], []).append(run.name)
    for mode, names in by_mode.items():
        shown = "all systems" if len(by_mode) == 1 else ", ".join(names)
        notes.append(f"Active domains from {_MODES[mode]}: {shown}.")
    return notes


_MODES = {
    "file": "the file's own lists (file)",
    "state": "changes of the state (state)",
    "placeholders": "the placeholders' names (placeholders)",
}


def _domain_tables(runs: Sequence[Run], names: Sequence[str]) -> list[Table]:
    tables = []
    for grounded in (False, True):
        chosen = [name for name in names if (GROUNDED in name) == grounded]
        domains = list(dict.fromkeys(name.partition("[")[2].rstrip("]") for name in chosen))
        if not chosen:
            continue
        columns = [Column("domain")]
        aspects = list(dict.fromkeys(name.partition("[")[0] for name in chosen))
        for run in runs:
            columns += [
                score_column(f"{run.name} {aspect.replace(GROUNDED, '')}", _score(runs, f"{aspect}[{domains[0]}]"))
                for aspect in aspects
            ]
        table = Table(f"By domain, rule set {'grounded' if grounded else 'mwzeval'}", columns)
        for domain in domains:
            table.add(domain, *(_cell(run.scores.get(f"{aspect}[{domain}]")) for run in runs for aspect in aspects))
        tables.append(table)
    return tables


def _score(runs: Sequence[Run], name: str) -> Score | None:
    return next((run.scores[name] for run in runs if name in run.scores), None)


def _cell(score: Score | None) -> Cell | None:
    return None if score is None else Cell(score.value, score.low, score.high)


def warnings(run: Run) -> list[str]:
    """What should make a reader doubt the numbers of a system."""
    found = []
    details = run.details
    if stuffed := details["stuffed_responses"]:
        found.append(
            f"{counted(stuffed, 'stuffed response')} (a venue and a train at once, or nearly everything that can be "
            "asked for): mwzeval rewards them, grounded gives them nothing"
        )
    human = (details.get("human") or {}).get(REQUEST_PRECISION)
    told = run.scores.get(REQUEST_PRECISION)
    if human and told and told.value is not None and told.value < 0.6 * human:
        found.append(
            f"only {told.value:.0%} of what it tells was asked for (human responses: {human:.0%}): "
            "telling everything pays under mwzeval"
        )
    listed = details.get("listed_domains")
    if listed is not None and listed > _MOST_DOMAINS:
        found.append(
            f"its lists claim {listed:.1f} active domains a turn; mwzeval believes them, and longer lists score higher"
        )
    published = published_mode(run.name)
    if published and published != details["domains"]:
        found.append(
            f"its published row was made with active domains from '{published}', this one with "
            f"'{details['domains']}': the two are not comparable; use --domains {published}"
        )
    return found


def explanation(run: Run, dialogue: str) -> list[Table]:
    """For each domain of the goal, under both rule sets: offer, requests and the reason of a failure; and the talk."""
    import polars as pl

    verdicts = run.table(VERDICTS)
    ids = verdicts["dialogue"].unique(maintain_order=True).to_list()
    key = next((name for name in ids if dialogue_key(name) == dialogue_key(dialogue)), None)
    if key is None:
        hint = nearest(dialogue, ids)
        raise DialgaugeError(f"there is no dialogue '{dialogue}'.{hint if 'Did you mean' in hint else ''}")
    rows = verdicts.filter(pl.col("dialogue") == key)
    tables = [_goal_table(run, key)]
    for rules in rows["rules"].unique(maintain_order=True):
        table = Table(
            f"{key}, rule set {rules}",
            ["domain", "Inform", "Success", Column("turn", align="right"), "offered", "asked for", "why not"],
        )
        for row in rows.filter(pl.col("rules") == rules).iter_rows(named=True):
            offered = "" if row["fitting"] is None else f"{row['offered']} (fitting: {row['fitting']})"
            table.add(
                row["domain"], _yes(row["inform"]), _yes(row["success"]), row["turn"], offered, row["requested"],
                row["reason"],
            )  # fmt: skip
        tables.append(table)
    return [*tables, _talk(run, key)]


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def _goal_table(run: Run, dialogue: str) -> Table:
    import polars as pl

    goal = run.table("dialogues").filter(pl.col("dialogue") == dialogue)["goal"].item()
    table = Table(f"{dialogue}: what the user wants", ["domain", "constraints", "booking", "asks for"])
    for domain, task in (msgspec.json.decode(goal) if goal else {}).get("tasks", {}).items():
        written = [", ".join(f"{k}={v}" for k, v in task.get(part, {}).items()) for part in ("info", "book")]
        table.add(domain, *written, ", ".join(task.get("requests", [])))
    return table


def _talk(run: Run, dialogue: str) -> Table:
    import polars as pl

    table = Table("What was said", [Column("turn", align="right"), "speaker", "text"])
    for turn in run.table("turns").filter(pl.col("dialogue") == dialogue).iter_rows(named=True):
        table.add(turn["turn"], turn["speaker"], turn["text"])
    return table


def worst_dialogues(run: Run, number: int) -> Table:
    """The dialogues that failed most domains under ``grounded``, each with its reasons."""
    import polars as pl

    failed = run.table(VERDICTS).filter((pl.col("rules") == "grounded") & ~pl.col("success"))
    order = failed.group_by("dialogue", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    table = Table(f"{run.name}: where most went wrong (grounded)", ["dialogue", "domain", "why not"])
    for name in order["dialogue"].head(number):
        for row in failed.filter(pl.col("dialogue") == name).iter_rows(named=True):
            table.add(name, row["domain"], row["reason"])
    return table


def as_system(run: Run) -> dict[str, Any]:
    """One system in the shape of ``dialgauge score --json``."""
    by: dict[str, dict[str, Any]] = {}
    for name, score in run.scores.items():
        if "[" in name:
            measure, _, domain = name.partition("[")
            by.setdefault(domain.rstrip("]"), {"scores": {}})["scores"][measure] = score.as_dict()
    return {
        "name": run.name,
        "domains": run.details["domains"],
        "states": run.details["states"],
        "scores": {name: score.as_dict() for name, score in run.scores.items() if "[" not in name},
        "by": {"domain": by},
        "human": run.details.get("human") or None,
        "coverage": msgspec.to_builtins(run.coverage.units),
        "missing_dialogues": run.details["missing_dialogues"],
        "warnings": warnings(run),
        "notes": list(run.notes),
    }
