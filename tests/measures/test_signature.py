"""Signatures: one grammar, which parses back."""

from __future__ import annotations

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature


def test_keys_that_nobody_knows_stay_whole_and_ends_of_parts_are_escaped() -> None:
    made = Signature(model="a|b%", version="1")
    assert made.long() == "model:a%7Cb%25|version:1"
    assert Signature.parse(made.long())["model"] == "a|b%"


@pytest.mark.parametrize(
    "text",
    ["", "JGA", "profile:x", "Nothing:x|version:1", "profile:a|profile:b|version:1", "a:|version:1", "profile:a|v:1"],
)
def test_other_texts_are_no_signatures(text: str) -> None:
    with pytest.raises(DialgaugeError, match="is not a signature"):
        Signature.parse(text)


@pytest.mark.parametrize("key", ["", "a b", "A", "a:b", "a|b"])
def test_keys_that_would_not_parse_back_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="no part of a signature"):
        Signature(**{key: "x"})


def test_differences_are_readable_and_order_is_none() -> None:
    one, two = Signature(task="1", gold="a"), Signature(gold="b", task="1", model="x")
    assert one.differences(two) == {"gold": ("a", "b"), "model": (None, "x")}
    assert not Signature(a1="1", b1="2").differences(Signature(b1="2", a1="1"))
    assert Signature(a1="1", b1="2") == Signature(b1="2", a1="1")
    assert len({Signature(a1="1", b1="2"), Signature(b1="2", a1="1")}) == 1
