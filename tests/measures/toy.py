"""Small families that the generic base must be able to express: trackers, rankers, simulated users, repeated trials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.kinds import Kind
from dialgauge.measures import OVER, Card, Parameter, Rows, Setting, Settings

TEXTS: dict[str, Any] = {"title": "t", "summary": "s", "formula": "f", "source": "none"}


@dataclass(frozen=True)
class Turns:
    """Turns of a tracker: slots right and slots in all, for every turn and for every slot and dialogue."""

    dialogue: NDArray[np.int32]
    right: NDArray[np.float64]
    size: NDArray[np.float64]
    by_slot: Rows | None = None
    flags_only: bool = False

    @property
    def dialogues(self) -> int:
        return int(self.dialogue[-1]) + 1 if len(self.dialogue) else 0


@dataclass(frozen=True)
class Replies:
    dialogues: int
    dialogue: NDArray[np.int64]
    ranks: NDArray[np.int64]


@dataclass(frozen=True)
class Users:
    """F1 of every dialogue, overall and by domain."""

    dialogues: int
    f1: dict[str, dict[int, float]]

    @property
    def dialogue(self) -> NDArray[np.int64]:
        return np.arange(self.dialogues)


def _jga(turns: Turns, settings: Settings) -> Rows:
    return (turns.right == turns.size).astype(np.float64), np.ones(len(turns.size))


def _fga(turns: Turns, settings: Settings) -> Rows:
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


def _f1(turns: Turns, settings: Settings) -> Rows:
    return 2 * turns.right, 2 * turns.size


def _f1_slots(turns: Turns, settings: Settings) -> Rows:
    assert turns.by_slot is not None
    return turns.by_slot


def _hits(replies: Replies, settings: Settings) -> Rows:
    return (replies.ranks <= int(settings["k"])).astype(np.float64), np.ones(len(replies.ranks))


def _gcdf1(users: Users, settings: Settings) -> Rows:
    own = users.f1[str(settings.get("part", "combined"))]
    return (
        np.array([own.get(number, 0.0) for number in range(users.dialogues)]),
        np.array([float(number in own) for number in range(users.dialogues)]),
    )


def _mean(users: Users, settings: Settings) -> float:
    return float(np.mean(list(users.f1[str(settings.get("part", "combined"))].values())))


RULE = Parameter("rule", "auto", ("auto", "code", "paper"), "which")
AVERAGE = Parameter("average", "micro", ("micro", "slot"), "over what")

JGA = Card(name="JGA", family="tracking", rows=_jga, parameters=(OVER,), **TEXTS)
FGA = Card(
    name="FGA",
    family="tracking",
    rows=_fga,
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
    rows=_f1,
    groups=_f1_slots,
    grouped_by=("average", ("slot",)),
    parameters=(AVERAGE, OVER),
    **TEXTS,
)
LENGTH = Card(name="Length", family="tracking", rows=_f1, unit="slots", upper=math.inf, higher_is_better=False, **TEXTS)
HITS = Card(name="hits", family="responses", rows=_hits, cutoff=Parameter("k", 10, whole=True), **TEXTS)
PASS = Card(
    name="pass", family="responses", rows=_hits, cutoff=Parameter("k", 1, whole=True), mark="^", parts=True, **TEXTS
)
GCDF1 = Card(name="I-GCDF1", family="users", rows=_gcdf1, value=_mean, parts=True, **TEXTS)
PRECISION = Card(name="I-GCDF1 precision", family="users", rows=_gcdf1, parts=True, **TEXTS)

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
