from __future__ import annotations

import msgspec
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Count, Coverage

PARTIAL = Coverage(
    {"dialogues": Count(expected=2, read=2, scored=2, failed=0), "turns": Count(expected=1200, scored=1000, failed=3)},
    policy="intersection",
)


def test_every_number_has_its_unit() -> None:
    assert PARTIAL["turns"].scored == 1000
    assert PARTIAL["dialogues"].complete
    assert not PARTIAL.complete
    assert PARTIAL.sentence() == "2 of 2 dialogues scored; 1,000 of 1,200 turns scored, 3 failed"
    with pytest.raises(DialgaugeError, match=r"how many turn were scored. Did you mean 'turns'"):
        PARTIAL["turn"]


def test_what_nobody_knows_is_null() -> None:
    assert not Count(scored=3).complete
    assert Coverage({"replies": Count(scored=3)}).sentence() == "3 replies scored"
    assert msgspec.json.decode(msgspec.json.encode(PARTIAL), type=Coverage) == PARTIAL
    assert msgspec.to_builtins(PARTIAL)["units"]["turns"]["read"] is None
