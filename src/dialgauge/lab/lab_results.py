"""What people see of lab runs: tables, figures, JSON, and the conversations as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dialgauge import rendering
from dialgauge.dialogue import Dialogue, Ontology
from dialgauge.files import atomic, together
from dialgauge.formats import write
from dialgauge.lab.blame.blame_scores import BLAME_SIDES
from dialgauge.lab.blame.blame_views import blame_document, blame_explanation, blame_tables
from dialgauge.lab.lab_config import AgentSpec
from dialgauge.lab.self_reports import cost_tables, coverage_tables, judged_by_acts, labels_note, report_tables
from dialgauge.measures import Signature
from dialgauge.rendering import Cell, Column, RunSet, Table, numbered
from dialgauge.runs import Run
from dialgauge.tasks import outcome_tables
from dialgauge.worlds.domain import Domain

#: What the parts of measures are that have no domains. Failures have a cause and a side at fault: two ways to divide
#: the same failures, and the last two are both.
_CAUSE, _SIDE = "cause", "side at fault"
_PARTS: dict[str, str | tuple[str, ...]] = {
    "Blame": _CAUSE, "Blame[user]": _SIDE, "Blame[system]": _SIDE, "Blame[world]": _SIDE, "Blame[limit]": _SIDE,
    "Blame[infrastructure]": (_CAUSE, _SIDE), "Blame[unclear]": (_CAUSE, _SIDE), "Erred": "side that erred",
}  # fmt: skip
_NAMES = {"Blame": "share of the failed conversations (Blame)", "Erred": "share of all conversations (Erred)"}


class LabRuns(RunSet):
    """Conversations of systems with simulated users, scored in every way."""

    def __init__(self, runs: Iterable[Run], refused: Sequence[tuple[str, str]] = ()) -> None:
        """``refused`` are goals that could not be pursued, with the reason."""
        super().__init__(runs)
        self.refused = list(refused)

    @property
    def complete(self) -> bool:
        """Was every conversation held, for every goal?"""
        return not self.refused and not any(run.notes for run in self.runs)

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores should know, and which goals were skipped."""
        if not self.refused:
            return super().notes
        (name, why), more = self.refused[0], len(self.refused) - 1
        rest = f"; {more:,} more, see 'dialgauge lab goals'" if more else ""
        return [*super().notes, f"skipped goal {name}: {why}{rest}"]

    def tables(self, *, detail: bool = False) -> list[Table]:
        """The verdicts on task, tracker and user, and whose fault failures were; with ``detail`` also how conversations
        went and what was misheard."""
        tables: list[Table] = []
        for run in self.runs:
            verdicts = [*outcome_tables(run.scores, run.table, detail=detail), _parts(run), *blame_tables(run)]
            verdicts[0].signature = run.signature
            tables += [*coverage_tables(run), *verdicts, *report_tables(run), *cost_tables(run)]
        return tables

    def document(self) -> dict[str, Any]:
        """The JSON that ``dialgauge lab run --json`` writes; of several runs a list of them."""
        runs = [
            {
                "run": run.id,
                "signature": run.signature,
                "scores": {name: msgspec.to_builtins(score) for name, score in run.scores.items()},
                "coverage": msgspec.to_builtins(run.coverage),
                "config": run.manifest.config,
                "blame": blame_document(run)["blame"],
            }
            for run in self.runs
        ]
        return runs[0] if len(runs) == 1 else {"runs": runs}

    def _explained(self, run: Run, dialogue: str) -> list[Table]:
        return blame_explanation(run, dialogue)

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """The scores of task, tracker, user and conversation, and whose fault failures were."""
        # The sum over all causes is 100% whatever the system does.
        talkers = dict(zip(numbered([_talkers(run) for run in self.runs]), self.runs, strict=True))
        return rendering.run_figures(talkers, parts=_PARTS, in_sections=True, names=_NAMES, without=("Blame",))


def _talkers(run: Run) -> str:
    """Who talked to whom, in words: the run's own name joins them with all their settings."""
    talked = Signature.parse(run.signature)
    if not {"system", "user"} <= talked.keys():
        return run.name
    names = []
    for agent in (AgentSpec.parse(talked[side]) for side in ("system", "user")):
        settings = ",".join(f"{name}: {value}" for name, value in agent.options.items()).replace("=", ": ")
        names.append(f"{agent.name} ({settings})" if settings else agent.name)
    return " with ".join(names)


def write_conversations(run: Run, folder: Path, domain: Domain, ontology: Ontology) -> list[Path]:
    """The conversations as native JSONL and as the GCDF1 evaluator reads them, with the schema of the domain.

    The success in an outcome is what the user believes; the verdict by the strict rules stands beside it.
    """
    verdicts = dict(run.table(BLAME_SIDES).select("dialogue", "success").iter_rows())
    held = [_with_verdict(dialogue, verdicts) for dialogue in run.dialogues()]
    files = [folder / "conversations.jsonl", folder / "gcdf1" / "dialogues_001.json", folder / "schema.json"]
    with together():
        write(held, files[0], format="native")
        write(held, files[1], format="gcdf1")
        with atomic(files[2]) as scratch:
            scratch.write_bytes(msgspec.json.format(msgspec.json.encode(_schema(domain, ontology)), indent=1) + b"\n")
    return files


def _with_verdict(dialogue: Dialogue, verdicts: Mapping[str, bool | None]) -> Dialogue:
    if dialogue.outcome is None:
        return dialogue
    words = {True: "done", False: "failed", None: "not judged"}[verdicts.get(dialogue.id)]
    outcome = msgspec.structs.replace(dialogue.outcome, facts={**dialogue.outcome.facts, "verdict": words})
    return msgspec.structs.replace(dialogue, outcome=outcome)


def _schema(domain: Domain, ontology: Ontology) -> list[dict[str, Any]]:
    """Services with their slots and values, as the schema beside the GCDF1 paper's conversations has them."""
    return [
        {
            "service_name": name,
            "slots": [
                {
                    "name": f"{name}-{slot}",
                    "description": spec.description or f"{slot} of the {name}",
                    "possible_values": list(spec.values),
                    "is_categorical": domain.is_choice(name, slot),
                }
                for slot, spec in slots.items()
            ],
            "intents": [{"name": f"find_{name}", "required_slots": [], "optional_slots": {}}],
        }
        for name, slots in ontology.domains.items()
    ]


def _parts(run: Run) -> Table:
    parts = Table(
        "Tracker and user",
        ["what", "measure", Column("score", digits=2, percent=True)],
        notes=[
            "The tracker against what the user said; the user against its goal."
            + (" Success is judged by the acts behind the words." if judged_by_acts(run) else "")
            + labels_note(run)
        ],
    )
    for what, names in {"tracker": ("JGA", "F1", "SA", "FGA@0.5"), "user": ("I-GCDF1", "R-GCDF1")}.items():
        for name in names:
            if name in run.scores:
                score = run.scores[name]
                parts.add(what, name, Cell(score.value, score.low, score.high))
    return parts
