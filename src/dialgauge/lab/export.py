"""The conversations of a run as files that other commands and evaluators read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue, Ontology
from dialgauge.files import atomic, together
from dialgauge.formats import write
from dialgauge.lab.blame.scores import BLAME_SIDES
from dialgauge.runs import Run
from dialgauge.worlds.domain import Domain


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
