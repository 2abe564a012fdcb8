"""Which input is gold and which are predictions: told from what the files carry, so that swapped files are refused.

A tracker's file may bring its own gold states beside the predictions. In GOLD's place it would be scored as gold, and a
gold file in PRED's place as perfect predictions: swapped arguments would score 100. So neither is taken, and what each
input was taken for is part of every signature.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.formats import carries
from dialgauge.tracking.encode import Kind
from dialgauge.tracking.inputs import SELF, SystemInput

#: Formats whose predictions have the shape of the dataset itself: their annotated states may be predicted ones.
_SAME_SHAPE = frozenset({"sgd"})

_ORDER = "the gold file comes first, then the predictions: GOLD PRED..."
_TAKEN_FOR: dict[Kind, str] = {"predicted": "predictions", "judged": "flags", "state": "states"}


def roles_text(kind: Kind, *, gold: bool, own: bool) -> str:
    """What each input was taken for, as signatures say it; ``own``: the gold states are those inside PRED.

    >>> roles_text("predicted", gold=True, own=False), roles_text("predicted", gold=True, own=True)
    ('GOLD=gold,PRED=predictions', 'PRED=gold+predictions')
    >>> roles_text("state", gold=True, own=False), roles_text("judged", gold=False, own=False)
    ('GOLD=gold,PRED=states', 'PRED=flags')
    """
    if own:
        return f"PRED=gold+{_TAKEN_FOR[kind]}"
    return f"GOLD=gold,PRED={_TAKEN_FOR[kind]}" if gold else f"PRED={_TAKEN_FOR[kind]}"


def require_roles(gold: SystemInput | None, systems: Sequence[SystemInput]) -> None:
    """An error that names the right order where an input cannot be what its place says."""
    if gold is not None:
        _require_gold(gold, systems)
    for system in systems:
        _require_predictions(system, gold, systems)
        paths = [Path(each.path) for each in (gold, system) if each is not None and each.path]
        if len(paths) == 2 and all(path.exists() for path in paths) and paths[0].samefile(paths[1]):
            raise DialgaugeError(
                f"it is given as both GOLD and PRED, and would score 100 against itself; {_ORDER}", file=_name(system)
            )


def _require_gold(gold: SystemInput, systems: Sequence[SystemInput]) -> None:
    if not _predicts(gold):
        if gold.kind == "predictions" and not carries(gold.dialogues, "state"):
            raise _refused(gold, f"it is a predictions file ({gold.format}) without gold states", "GOLD", gold, systems)
        return
    # Dialogues in memory come under a name, gold=..., which says what is meant: refused only if they are swapped.
    if gold.path or not any(_predicts(system) for system in systems):
        with_gold = " alongside its gold states" if carries(gold.dialogues, "state") else ""
        raise _refused(gold, f"it carries predictions{with_gold}", "GOLD", gold, systems)


def _require_predictions(system: SystemInput, gold: SystemInput | None, systems: Sequence[SystemInput]) -> None:
    if _predicts(system) or not carries(system.dialogues, "state") or not (system.path or system.read_as):
        return
    if gold is None:
        what = "one state per turn" if _may_predict(system) else "gold states"
        raise DialgaugeError(f"it has {what} but no predictions; name both files: GOLD PRED...", file=_name(system))
    if not _may_predict(system):
        message = (
            f"it has gold states but no predictions (if a system predicted these states, make predictions of this "
            f"{system.format} file: 'dialgauge data convert {shlex.quote(_name(system))} predictions.json --to sgd')"
        )
        raise _refused(system, message, "PRED", gold, systems)
    if _has_acts(system) and not _has_acts(gold) and gold.format in _SAME_SHAPE:
        raise _refused(
            system, "it is annotated with dialogue acts like the dataset, and the file before it is not", "PRED",
            gold, systems,
        )  # fmt: skip


def _may_predict(system: SystemInput) -> bool:
    """Are plain states of this format predictions? In SGD's shape they are, and in plugins without a field for them."""
    if system.format in _SAME_SHAPE:
        return True
    return system.kind == "predictions" and not {"predicted", "judged"} & system.fields


def _predicts(system: SystemInput) -> bool:
    return carries(system.dialogues, "predicted") or carries(system.dialogues, "judged")


def _has_acts(system: SystemInput) -> bool:
    return any(turn.acts for dialogue in system.dialogues for turn in dialogue.turns)


def _name(system: SystemInput) -> str:
    return system.path or system.name


def _refused(
    culprit: SystemInput, what: str, role: str, gold: SystemInput, systems: Sequence[SystemInput]
) -> DialgaugeError:
    message = f"{what}, so it cannot be {role}; {_ORDER}"
    advice = "--accept roles scores them as they are"
    return DialgaugeError(f"{message}{_suggestion(gold, systems)}", file=_name(culprit), advice=advice)


def _suggestion(gold: SystemInput, systems: Sequence[SystemInput]) -> str:
    """The named files in the right order, where what they carry tells it."""
    named = [gold, *systems]
    if not all(system.path for system in named):
        return ""
    golden = [system for system in named if carries(system.dialogues, "state") and not _predicts(system)]
    predicted = [system for system in named if _predicts(system)]
    if len(golden) == 1 and predicted:
        return f", here {' '.join(system.path for system in (*golden, *predicted))}"
    if not golden and all(carries(system.dialogues, "state") for system in named):
        return f"; for the gold states inside each file write {SELF} first: {SELF} {' '.join(o.path for o in named)}"
    return ""
