"""The scores of one system, presented from a run in memory or in a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from dialgauge import rendering
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature
from dialgauge.rendering import Column, Display, RunSet, Table, score_cell, score_column, system_labels, talk_table
from dialgauge.runs import Run
from dialgauge.tasks.doubts import doubts
from dialgauge.tasks.measures import BLEU, COMBINED, COMPANIONS, INFORM, SUCCESS
from dialgauge.tasks.reasons import REASONS, reason_texts
from dialgauge.tasks.tables import VERDICTS
from dialgauge.text import named_note, some_of

KIND = "tasks"
GROUNDED = "(rules=grounded)"
#: How many missing dialogues are named.
_NAMED = 5


class TaskRuns(RunSet):
    """Whether systems did their users' jobs, by two rule sets, and what stands behind each verdict."""

    def _check(self, run: Run) -> None:
        if run.kind != KIND:
            raise DialgaugeError(f"the run {run.id} is not a run of 'dialgauge tasks score'")

    @property
    def notes(self) -> list[str]:
        """How much was scored of each system, what was switched, and what looks gamed."""
        notes: list[str] = []
        for run in self.runs:
            sentences = [run.coverage.sentence()]
            if lacking := run.details["missing_dialogues"]:
                sentences.append(f"no responses for {some_of(lacking, _NAMED)}; {run.coverage.policy}")
            sentences += [*run.notes, *(f"WARNING: {warning}" for warning in doubts(run))]
            notes += [named_note(run.name, sentence) for sentence in sentences]
        return notes

    def tables(self) -> list[Table]:
        """Systems side by side: the standard rules first, then ours, then the rest."""
        return score_tables(self.runs)

    def document(self) -> dict[str, Any]:
        """The JSON that ``dialgauge tasks score --json`` writes."""
        systems = [as_system(run) for run in self.runs]
        coverage = {system["name"]: system["coverage"] for system in systems}
        return {"signature": self.signature, "coverage": coverage, "systems": systems}

    def worst(self, n: int = 5, by: str | None = None) -> Display:
        """The dialogues of each system that failed most domains under ``grounded``, with reasons; or by a measure."""
        return super().worst(n, by) if by else Display(worst_dialogues(run, n) for run in self.runs)

    def _explained(self, run: Run, dialogue: str) -> list[Table]:
        return explanation(run, dialogue)

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """The scores with their intervals."""
        return rendering.run_figures(**figure_look(self.runs))


def score_tables(runs: Sequence[Run]) -> list[Table]:
    """Systems side by side: the standard rules first, then ours, then the rest; below each the human responses."""
    names = list(dict.fromkeys(name for run in runs for name in run.scores))
    by_domain = [name for name in names if "[" in name]
    standard = [name for name in names if name in _STANDARD]
    grounded = [name for name in names if name not in by_domain and (GROUNDED in name or name in COMPANIONS)]
    others = [name for name in names if name not in {*standard, *grounded, *by_domain}]
    tables = []
    if standard:
        tables.append(_side_by_side("Rule set mwzeval: the standard evaluator's numbers", runs, standard))
        tables[-1].notes += _modes(runs)
    if grounded:
        tables.append(_side_by_side("Rule set grounded: credit only for what is supported", runs, grounded))
        tables[-1].notes += _stuffed(runs)
    if others:
        tables.append(_side_by_side("Responses as texts", runs, others))
    parted = ([name for name in by_domain if (GROUNDED in name) == grounded] for grounded in (False, True))
    tables += [_domain_table(runs, part) for part in parted if part]
    if tables:
        tables[-1].signature = Signature.shared(Signature.parse(run.signature) for run in runs).long()
        tables[-1].notes += _bleu_settings(runs)
    return tables


def figure_look(runs: Sequence[Run]) -> dict[str, Any]:
    """How figures name systems and measures: what tables mark, and the sentence about it, must be in them too."""
    labelled = system_labels(runs)
    marked = {f"{label} *" if _has_gold_states(run) else label: run for label, run in labelled.items()}
    return {
        "runs": marked,
        "names": {BLEU: f"{BLEU}@{_references(runs)}"},
        "remarks": [_POLICY] if any(map(_has_gold_states, runs)) else [],
    }


_POLICY = "* with gold states: a score of the policy; never rank it with end-to-end scores."
#: The row of the corpus's own responses; the star is that of gold states.
HUMAN = "human *"
_STANDARD = (INFORM, SUCCESS, BLEU, COMBINED)


def _side_by_side(title: str, runs: Sequence[Run], names: Sequence[str]) -> Table:
    table = Table(title, [Column("system"), *(_column(runs, name) for name in names)])
    for run in runs:
        table.add(_marked(run), *(score_cell(run.scores.get(name)) for name in names))
    human = _human(runs)
    if any(name in human for name in names):
        table.add(HUMAN, *(human.get(name) for name in names))
    return table


def _column(runs: Sequence[Run], name: str) -> Column:
    """The numbers of a measure; BLEU is nothing without its references, so its title names them."""
    score = next((run.scores[name] for run in runs if name in run.scores), None)
    title = f"{name}@{_references(runs)}" if name == BLEU else name.partition("(")[0].partition("[")[0]
    whole = score is not None and score.unit in ("words", "pairs", "triples")
    return msgspec.structs.replace(score_column(title, score), digits=0 if whole else 2)


def _references(runs: Sequence[Run]) -> str:
    names = dict.fromkeys(run.details["references"] for run in runs if BLEU in run.scores)
    return " or ".join(names)


def _human(runs: Sequence[Run]) -> dict[str, float | None]:
    """The human responses' values, which all runs of one gold file share."""
    return next((run.details["human"] for run in runs if run.details.get("human")), {})


def _marked(run: Run) -> str:
    return f"{run.name} *" if _has_gold_states(run) else run.name


def _has_gold_states(run: Run) -> bool:
    return bool(run.details["states"] == "gold")


def _modes(runs: Sequence[Run]) -> list[str]:
    notes = []
    if _human(runs) or any(map(_has_gold_states, runs)):
        human = f" {HUMAN}: the responses of the corpus." if _human(runs) else ""
        notes.append(f"{_POLICY}{human}")
    by_mode: dict[str, list[str]] = {}
    for run in runs:
        by_mode.setdefault(run.details["domains"], []).append(run.name)
    for mode, names in by_mode.items():
        shown = "" if len(by_mode) == 1 else f": {', '.join(names)}"
        notes.append(f"Active domains from {_MODES[mode]}{shown}.")
    return notes


_MODES = {
    "file": "the file's own lists (file)",
    "state": "changes of the state (state)",
    "placeholders": "the placeholders' names (placeholders)",
}


def _stuffed(runs: Sequence[Run]) -> list[str]:
    counts = [f"{run.name} {run.details['stuffed_responses']:,}" for run in runs if run.details["stuffed_responses"]]
    return [f"Stuffed responses: {', '.join(counts)}."] if counts else []


def _domain_table(runs: Sequence[Run], names: Sequence[str]) -> Table:
    """A row for each domain and system."""
    aspects = list(dict.fromkeys(name.partition("[")[0] for name in names))
    domains = list(dict.fromkeys(name.partition("[")[2].rstrip("]") for name in names))
    rules = "grounded" if GROUNDED in names[0] else "mwzeval"
    columns = [_column(runs, name) for name in (f"{aspect}[{domains[0]}]" for aspect in aspects)]
    table = Table(f"By domain, rule set {rules}", ["domain", "system", *columns])
    human = _human(runs)
    for domain in domains:
        scored = [f"{aspect}[{domain}]" for aspect in aspects]
        for run in runs:
            table.add(domain, _marked(run), *(score_cell(run.scores.get(name)) for name in scored))
        if any(name in human for name in scored):
            table.add(domain, HUMAN, *(human.get(name) for name in scored))
    if rules == "mwzeval":
        table.notes.append("Under mwzeval no domain succeeds in a dialogue in which another was not informed.")
    return table


def _bleu_settings(runs: Sequence[Run]) -> list[str]:
    texts = [run.scores[name].signature for run in runs for name in (BLEU, COMBINED) if name in run.scores]
    if not texts:
        return []
    own = Signature.parse(texts[0])
    made = [f"{BLEU} and {COMBINED}: interval:{own['interval']}"] if "interval" in own else []
    return [f"{BLEU}: {own['bleu']}", *made]


def explanation(run: Run, dialogue: str) -> list[Table]:
    """For each domain of the goal, under both rule sets: offer, requests and the reason of a failure; and the talk."""
    import polars as pl

    own = pl.col("dialogue") == dialogue
    rows = run.table(VERDICTS).filter(own)
    whys = reason_texts(run.table(REASONS).filter(own).iter_rows(named=True))
    tables = [_goal_table(run, dialogue)]
    for rules in rows["rules"].unique(maintain_order=True):
        table = Table(
            f"{dialogue}, rule set {rules}",
            ["domain", "Inform", "Success", Column("turn", align="right"), "offered", "asked for", "why not"],
        )
        for row in rows.filter(pl.col("rules") == rules).iter_rows(named=True):
            offered = "" if row["fitting"] is None else f"{row['offered']} (fitting: {row['fitting']})"
            verdicts = ("yes" if row[aspect] else "no" for aspect in ("inform", "success"))
            why = whys.get((dialogue, row["domain"], rules))
            table.add(row["domain"], *verdicts, row["turn"], offered, ", ".join(row["requested"]), why)
        tables.append(table)
    return [*tables, talk_table(run, dialogue)]


def _goal_table(run: Run, dialogue: str) -> Table:
    import polars as pl

    goal = run.table("dialogues").filter(pl.col("dialogue") == dialogue)["goal"].item()
    table = Table(f"{dialogue}: what the user wants", ["domain", "constraints", "booking", "asks for"])
    for domain, task in (msgspec.json.decode(goal) if goal else {}).get("tasks", {}).items():
        written = [", ".join(f"{k}={v}" for k, v in task.get(part, {}).items()) for part in ("info", "book")]
        table.add(domain, *written, ", ".join(task.get("requests", [])))
    return table


def worst_dialogues(run: Run, number: int) -> Table:
    """The dialogues that failed most domains under ``grounded``, each with its reasons."""
    import polars as pl

    failed = run.table(VERDICTS).filter((pl.col("rules") == "grounded") & ~pl.col("success"))
    order = failed.group_by("dialogue", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    table = Table(f"{run.name}: where most went wrong (grounded)", ["dialogue", "domain", "why not"])
    reasons = run.table(REASONS).filter(pl.col("rule") == "grounded")
    for name in order["dialogue"].head(number):
        texts = reason_texts(reasons.filter(pl.col("dialogue") == name).iter_rows(named=True))
        for (_, domain, _), why in texts.items():
            table.add(name, domain, why)
    return table


def as_system(run: Run) -> dict[str, Any]:
    """One system in the shape of ``dialgauge score --json``."""
    by: dict[str, dict[str, Any]] = {}
    for name, score in run.scores.items():
        if "[" in name:
            measure, _, domain = name.partition("[")
            by.setdefault(domain.rstrip("]"), {"scores": {}})["scores"][measure] = score.value
    return {
        "name": run.name,
        "domains": run.details["domains"],
        "states": run.details["states"],
        "scores": {name: score.as_dict() for name, score in run.scores.items() if "[" not in name},
        "by": {"domain": by},
        "human": run.details.get("human") or None,
        "coverage": msgspec.to_builtins(run.coverage.units),
        "missing_dialogues": run.details["missing_dialogues"],
        "warnings": doubts(run),
        "notes": run.manifest.notes,
        "note_kinds": run.manifest.note_kinds,
    }
