"""Records with two columns of states, of which one may be gold: refused, for scoring gold as predicted is no score.

A second column is no matter where it always holds the same states, as the raw output that the first was read from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes
from dialgauge.formats.predictions.columns import Columns
from dialgauge.formats.predictions.written_states import StateReader, split_name

#: The beginning of a text that is a state and no sentence, and its first word.
_WRITTEN_STATE = re.compile(r"\s{0,9}(?:[\[{(<]|```|\w{1,40}[-.:/ ]\w[\w ]{0,40}[=:]|\w{1,40}\s?=)")
_FIRST_WORD = re.compile(r"[^A-Za-z]{0,10}([A-Za-z]+)")


def refuse_two_states(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> None:
    """An error where another column has states, too, which are not the same: one may be gold."""
    if not columns.others:
        return
    reader = StateReader(Notes())
    for row in rows:
        reader.learn(row.get(columns.state))
    ours = [reader.attempt(columns.state_of(row)) for row in rows]
    known = {pair for state in ours for pair in _slots_of(state)}
    domains = frozenset(domain for domain, _ in known)
    for name in columns.others:
        filled = [(mine, row.get(name)) for mine, row in zip(ours, rows, strict=True) if _is_filled(row.get(name))]
        likely = [(mine, given) for mine, given in filled if _looks_like_state(given, domains)]
        for _, given in likely:
            reader.learn(given)
        theirs = [(mine, reader.attempt(given), given) for mine, given in likely]
        states = [
            (mine, state)
            for mine, state, given in theirs
            if state and not (isinstance(given, str) and known.isdisjoint(_slots_of(state)))
        ]
        if 2 * len(states) > len(filled) and any(mine != state for mine, state in states):
            raise DialgaugeError(
                f"the columns '{columns.state[:60]}' and '{name[:60]}' both hold states, and nothing says which is the "
                "prediction; keep that one only, or call it 'prediction' and the other 'gold'"
            )


def _slots_of(state: State) -> Iterator[tuple[str, str]]:
    return ((domain, slot) for domain, slots in state.items() for slot in slots)


def _is_filled(given: object) -> bool:
    return isinstance(given, Mapping | list | tuple | str) and bool(given) and given not in ("{}", "[]")


def _looks_like_state(given: Any, domains: frozenset[str]) -> bool:
    """Are these slots with values, and no sentence? ``domains`` are those of states that are known."""
    if isinstance(given, str):
        word = _FIRST_WORD.match(given)
        return _WRITTEN_STATE.match(given) is not None or bool(word and word[1].lower() in domains)
    if isinstance(given, Mapping):
        inside = [(key, value) for key, value in given.items() if isinstance(key, str)]
        return any(isinstance(value, Mapping) or (split_name(key) and isinstance(value, str)) for key, value in inside)
    return isinstance(given, list | tuple) and any(
        _looks_like_state(item, domains) or (isinstance(item, Mapping) and "slot" in item) for item in given
    )
