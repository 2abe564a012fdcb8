"""Whatever JSON a model or a server thinks of, it is taken for what it can mean and never breaks anything."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, strategies as st

from dialgauge.draws import Draws
from dialgauge.lab import open_domain
from dialgauge.worlds.domain import ServiceDesk

TOWN = open_domain(count=1)
WORDS = st.sampled_from(
    ["hotel", "train", "north", "monday", "09:00", "TR1", "name", "leaveAt", "?", "", "-1", "25:99"]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS
NAMES = st.text(max_size=5) | st.sampled_from(
    ["domain", "constraints", "name", "day", "people", "time", "area", "leaveAt", "choices", "message", "content"]
)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5))
PLACES = st.sampled_from([*(row.name for row in TOWN.search.rows("restaurant")[:5]), "moon"])
ASKED = st.builds(lambda given, name: {**given, "name": name}, st.dictionaries(NAMES, ANYTHING, max_size=5), PLACES)


@given(st.sampled_from(["search_hotel", "search_train", "book_restaurant", "book_taxi", "fly"]), ANYTHING | ASKED)
def test_the_desk_answers_everything(tool: str, arguments: Any) -> None:
    backend = ServiceDesk(TOWN.search, Draws(1, "x"))
    answer = backend.call(tool, arguments).answer
    assert isinstance(answer, dict)
    json.dumps(answer)
    for call in backend.take_calls():
        assert all(type(name) is type(value) is str for name, value in call.arguments.items())
        json.dumps(call.arguments).encode()
