"""Swapped files are refused, by what they carry.

A tracker's file may bring its own gold states beside the predictions. In GOLD's place it would be scored as gold, and a
gold file in PRED's place as perfect predictions: swapped arguments would score 100. So neither is taken.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.formats import carries
from dialgauge.tracking.inputs import SELF, SystemInput

#: The format whose predictions have the shape of the dataset itself: its states may be predicted ones.
_SAME_SHAPE = "sgd"
_ORDER = "the gold file comes first, then the predictions: GOLD PRED..."


def require_roles(gold: SystemInput | None, systems: Sequence[SystemInput]) -> None:
    """An error that names the right order where an input cannot be what its place says."""
    inputs = [*([gold] if gold else []), *systems]
    if gold is not None and (why := _no_gold(gold, systems)):
        raise _refused(gold, f"{why}, so it cannot be GOLD", inputs)
    for system in systems:
        if why := _no_predictions(system, gold):
            if gold is None:
                raise DialgaugeError(f"{why}; name both files: GOLD PRED...", file=system.path or system.name)
            raise _refused(system, f"{why}, so it cannot be PRED", inputs)
        paths = [Path(each.path) for each in (gold, system) if each is not None and each.path]
        if len(paths) == 2 and all(path.exists() for path in paths) and paths[0].samefile(paths[1]):
            raise DialgaugeError(
                f"it is given as both GOLD and PRED, and would score 100 against itself; {_ORDER}", file=system.path
            )


def _no_gold(gold: SystemInput, systems: Sequence[SystemInput]) -> str:
    has_states = carries(gold.dialogues, "state")
    if not _predicts(gold):
        broken = gold.kind == "predictions" and not has_states
        return f"it is a predictions file ({gold.format}) without gold states" if broken else ""
    # Dialogues in memory come under a name, gold=..., which says what is meant: refused only if they are swapped.
    if not gold.path and any(map(_predicts, systems)):
        return ""
    return f"it carries predictions{' alongside its gold states' if has_states else ''}"


def _no_predictions(system: SystemInput, gold: SystemInput | None) -> str:
    if _predicts(system) or not carries(system.dialogues, "state") or not (system.path or system.read_as):
        return ""
    foreign = system.kind == "predictions" and not {"predicted", "judged"} & system.fields
    may_predict = system.format == _SAME_SHAPE or foreign
    if gold is None:
        return f"it has {'one state per turn' if may_predict else 'gold states'} but no predictions"
    if not may_predict:
        command = f"dialgauge data convert {shlex.quote(system.path or system.name)} predictions.json --to sgd"
        return (
            "it has gold states but no predictions (if a system predicted these states, make predictions of this "
            f"{system.format} file: '{command}')"
        )
    if _has_acts(system) and not _has_acts(gold) and gold.format == _SAME_SHAPE:
        return "it is annotated with dialogue acts like the dataset, and the file before it is not"
    return ""


def _predicts(system: SystemInput) -> bool:
    return carries(system.dialogues, "predicted") or carries(system.dialogues, "judged")


def _has_acts(system: SystemInput) -> bool:
    return any(turn.acts for dialogue in system.dialogues for turn in dialogue.turns)


def _refused(culprit: SystemInput, message: str, inputs: Sequence[SystemInput]) -> DialgaugeError:
    """The error, with the files in the right order where what they carry tells it."""
    paths = " ".join(each.path for each in inputs)
    hint = ""
    if all(each.path for each in inputs):
        if all(_predicts(each) and carries(each.dialogues, "state") for each in inputs):
            hint = f"; for the gold states inside each file write {SELF} first: {SELF} {paths}"
        elif sum(not _predicts(each) for each in inputs) == 1:
            hint = f", here {' '.join(each.path for each in sorted(inputs, key=_predicts))}"
    advice = "--accept roles scores them as they are"
    return DialgaugeError(f"{message}; {_ORDER}{hint}", file=culprit.path or culprit.name, advice=advice)
