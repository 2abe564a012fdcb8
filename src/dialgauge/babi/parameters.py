"""What can be set in a simulation, with the values that give the released files, and what is refused."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from dialgauge.babi.phrases import FIELDS
from dialgauge.errors import DialgaugeError

TASKS = (1, 2, 3, 4, 5)

#: From, to; both included.
Range: TypeAlias = tuple[int, int]

FIELDS_SAID: dict[int, Range] = {1: (0, 4), 2: (4, 4), 3: (0, 4), 5: (1, 3)}
FIELDS_UPDATED: dict[int, Range] = {2: (1, 4), 5: (1, 3)}


class Parameters(Struct, frozen=True, kw_only=True):
    """How dialogs are drawn. The defaults are what the released files show (specification, section 3)."""

    seed: int = 0
    #: The probability that the user accepts an option that is not the last one left (tasks 3 and 5).
    accept: float = 0.25
    #: The least number of results of a request whose options are shown (tasks 3 and 5).
    min_results: int = 3
    #: The share of the requests that train dialogs draw from; dev and test share the others.
    pool_share: float = 0.5
    #: By task: how many fields the first request says. A task that is not named keeps its default.
    fields: dict[int, Range] = {}
    #: By task: how many fields the user changes afterwards. A task that is not named keeps its default.
    updates: dict[int, Range] = {}
    #: How often the user asks for the phone number only, for the address only, for both (tasks 4 and 5).
    info: tuple[float, float, float] = (0.25, 0.25, 0.5)

    def __post_init__(self) -> None:
        force_setattr(self, "fields", _completed("fields", self.fields, FIELDS_SAID))
        force_setattr(self, "updates", _completed("updates", self.updates, FIELDS_UPDATED))
        _check(self)


def _completed(name: str, given: dict[int, Range], known: dict[int, Range]) -> dict[int, Range]:
    for task in given:
        if task not in known:
            able = ", ".join(map(str, known))
            raise DialgaugeError(f"{name} can be set for the tasks {able}, not for task {task}")
    return {**known, **given}


def _check(parameters: Parameters) -> None:
    if not 0 <= parameters.accept <= 1:
        raise DialgaugeError(f"the acceptance probability must lie between 0 and 1, not {parameters.accept}")
    if not 0 < parameters.pool_share < 1:
        raise DialgaugeError(f"the pool share must lie between 0 and 1 (both excluded), not {parameters.pool_share}")
    if parameters.min_results < 1:
        raise DialgaugeError(f"the minimum number of results must be at least 1, not {parameters.min_results}")
    if not all(0 <= share < inf for share in parameters.info) or sum(parameters.info) <= 0:
        raise DialgaugeError("the shares of phone, address and both must not be negative, and not all zero")
    _ranges("fields", parameters.fields, least=0)
    _ranges("updates", parameters.updates, least=1)


def _ranges(name: str, ranges: dict[int, Range], *, least: int) -> None:
    most = len(FIELDS)
    for task, (low, high) in ranges.items():
        if not least <= low <= high <= most:
            raise DialgaugeError(
                f"{name} of task {task} must run from at least {least} to at most {most}, the smaller first, "
                f"not {low}-{high}"
            )
