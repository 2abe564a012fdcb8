"""What the papers print, from our YAML files, and their worked examples as scored dialogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.tracking.measures import parse_measures
from dialgauge.tracking.results import SystemScores
from dialgauge.tracking.scoring import score_study
from dialgauge.tracking.study import Study
from dialgauge.values import profile_named

#: The examples' states, written as the papers print them; slot accuracy counts MultiWOZ's 30 slots.
PROFILE = "plain"


def published(paper: str) -> dict[str, Any]:
    """Our file of what a paper prints."""
    import yaml

    text = files("dialgauge.reproduce").joinpath("published", f"{paper}.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def example(turns: Sequence[Mapping[str, Mapping[str, str]]], measures: Sequence[str]) -> SystemScores:
    """Scores of one dialogue given as gold and predicted states; keys are ``domain-slot``."""
    states = [Turn(speaker="user", state=_state(turn["gold"]), predicted=_state(turn["pred"])) for turn in turns]
    study = Study(None, {"example": [Dialogue(id="example", turns=tuple(states))]})
    return score_study(study, parse_measures(measures), [profile_named(PROFILE)], resampling=None)[0]


def _state(flat: Mapping[str, str]) -> State:
    state: State = {}
    for name, value in flat.items():
        domain, slot = name.split("-", 1)
        state.setdefault(domain, {})[slot] = (value,)
    return state


def marks(values: Sequence[object]) -> str:
    """A row of ones and zeros, as the papers' examples are kept in our files.

    >>> marks([True, False, True])
    '1 0 1'
    """
    return " ".join("1" if value else "0" for value in values)
