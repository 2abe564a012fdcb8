"""Small families that the generic base must be able to express: trackers, rankers, simulated users, repeated trials."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.kinds import Kind
from dialgauge.measures import OVER, Card, Floats, Parameter, Setting, Settings, UnitNumbers, Units, mean_of_ratios

TEXTS: dict[str, Any] = {"title": "t", "summary": "s", "formula": "f", "source": "none"}


@dataclass(frozen=True)
class Turns(Units):
    """Turns of a tracker: slots right and slots in all, of every turn, slot and dialogue; parts are turns."""

    dialogue: NDArray[np.int32]
    right: NDArray[np.float64]
    size: NDArray[np.float64]
    by_slot: tuple[Floats, Floats] | None = None
    flags_only: bool = False
    only: int | None = None

    @property
    def dialogues(self) -> int:  # type: ignore[override]
        return int(self.dialogue[-1]) + 1 if len(self.dialogue) else 0

    @property
    def scored(self) -> NDArray[np.bool_]:
        place = np.arange(len(self.dialogue))
        return place >= 0 if self.only is None else place == self.only

    def part(self, name: str) -> Turns:
        if not name.isdecimal() or int(name) >= len(self.dialogue):
            raise DialgaugeError(f"there is no turn {name}")
        return replace(self, only=int(name))


@dataclass(frozen=True)
class Replies(Units):
    dialogues: int
    dialogue: NDArray[np.int64]
    ranks: NDArray[np.int64]


@dataclass(frozen=True)
class Users(Units):
    """F1 of every dialogue, overall and by domain."""

    dialogues: int
    f1: dict[str, dict[int, float]]
    domain: str = "combined"

    @property
    def dialogue(self) -> NDArray[np.int64]:  # type: ignore[override]
        return np.arange(self.dialogues)

    def part(self, name: str) -> Users:
        if name not in self.f1:
            raise DialgaugeError(f"nobody speaks of '{name}'")
        return replace(self, domain=name)


def _jga(turns: Turns, settings: Settings) -> UnitNumbers:
    return (turns.right == turns.size).astype(np.float64), np.ones(len(turns.size))


def _fga(turns: Turns, settings: Settings) -> UnitNumbers:
    weight = {"code": 1.0, "paper": 0.5}[str(settings["rule"])] * (1 - math.exp(-float(settings["lambda"])))
    exact = turns.right == turns.size
    return np.where(exact, 1.0, weight), np.ones(len(exact))


def _auto(turns: Turns, settings: Settings) -> Settings:
    return {**settings, "rule": "code"} if settings["rule"] == "auto" else settings


def _no_flags(turns: Turns, settings: Settings) -> str | None:
    return f"rule {settings['rule']} needs states" if turns.flags_only and settings["rule"] != "auto" else None


def _rate(pairs: dict[str, str]) -> dict[str, Setting]:
    if not {"tf", "p"} & pairs.keys():
        return {}
    try:
        return {"lambda": -math.log(1 - float(pairs.pop("p"))) / float(pairs.pop("tf"))}
    except (KeyError, ValueError):
        raise DialgaugeError("lambda needs both tf and p") from None


def _f1(turns: Turns, settings: Settings) -> UnitNumbers:
    return 2 * turns.right, 2 * turns.size


def _f1_slots(turns: Turns, settings: Settings) -> Floats | None:
    return np.concatenate(turns.by_slot) if settings["average"] == "slot" and turns.by_slot else None


def _hits(replies: Replies, settings: Settings) -> UnitNumbers:
    return (replies.ranks <= int(settings["k"])).astype(np.float64), np.ones(len(replies.ranks))


def _gcdf1(users: Users, settings: Settings) -> UnitNumbers:
    own = users.f1[users.domain]
    return (
        np.array([own.get(number, 0.0) for number in range(users.dialogues)]),
        np.array([float(number in own) for number in range(users.dialogues)]),
    )


RULE = Parameter("rule", "auto", ("auto", "code", "paper"), "which")
AVERAGE = Parameter("average", "micro", ("micro", "slot"), "over what")

JGA = Card(name="JGA", family="tracking", units=_jga, parameters=(OVER,), parts=True, **TEXTS)
FGA = Card(
    name="FGA",
    family="tracking",
    units=_fga,
    parameters=(RULE, OVER),
    cutoff=Parameter("lambda", 0.5),
    resolve=_auto,
    obstacle=_no_flags,
    shorthand=_rate,
    **TEXTS,
)
F1 = Card(
    name="F1",
    family="tracking",
    units=_f1,
    sums=_f1_slots,
    of=mean_of_ratios,
    parameters=(AVERAGE, OVER),
    **TEXTS,
)
LENGTH = Card(
    name="Length", family="tracking", units=_f1, unit="slots", upper=math.inf, higher_is_better=False, **TEXTS
)
HITS = Card(name="hits", family="responses", units=_hits, cutoff=Parameter("k", 10, whole=True), **TEXTS)
PASS = Card(
    name="pass", family="responses", units=_hits, cutoff=Parameter("k", 1, whole=True), mark="^", parts=True, **TEXTS
)
GCDF1 = Card(name="I-GCDF1", family="users", units=_gcdf1, parts=True, **TEXTS)
PRECISION = Card(name="I-GCDF1 precision", family="users", units=_gcdf1, parts=True, **TEXTS)

CARDS: tuple[Card[Any], ...] = (JGA, FGA, F1, LENGTH)

TURNS = Turns(
    dialogue=np.array([0, 0, 0, 1], np.int32),
    right=np.array([1.0, 2.0, 1.0, 0.0]),
    size=np.array([1.0, 2.0, 3.0, 2.0]),
    by_slot=(np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 0.0]]), np.array([[4.0, 1.0], [2.0, 1.0], [0.0, 0.0]])),
)
REPLIES = Replies(3, np.array([0, 0, 2]), np.array([1, 11, 10]))
USERS = Users(3, {"combined": {0: 1.0, 2: 0.5}, "hotel": {2: 0.25}})

TRACKING_KIND = Kind("tracking", cards="measures.toy:CARDS")
RESPONSE_CARDS = (HITS, PASS)
RESPONSES_KIND = Kind("responses", cards="measures.toy:RESPONSE_CARDS")
USER_CARDS = (GCDF1, PRECISION)
USERS_KIND = Kind("users", cards="measures.toy:USER_CARDS")
