"""Signatures: one grammar, which parses back."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from dialgauge import __version__
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature

KEYS = st.from_regex(r"[a-z][a-z0-9_-]{1,8}", fullmatch=True) | st.sampled_from(
    ["measure", "profile", "gold", "version"]
)


def test_the_text_of_a_tracking_score() -> None:
    base = Signature(
        profile="canon@1-ca683712", slots="30", coverage="intersection", dialogues="2", turns="5", gold="ab"
    )
    made = base.with_(interval="0.95-bootstrap-1000-0", measure="JGA(over=turns)")
    assert made.long() == (
        "measure:JGA(over=turns)|profile:canon@1-ca683712|slots:30|coverage:intersection|dialogues:2|turns:5|gold:ab"
        f"|interval:0.95-bootstrap-1000-0|version:{__version__}"
    )
    assert made["gold"] == "ab"


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


def test_what_several_share() -> None:
    one = Signature(measure="JGA", profile="canon", gold="a")
    assert Signature.shared([one, one.with_(measure="SA"), one.with_(gold="")]) == Signature(profile="canon")
    assert Signature.shared([one, one.with_(version="0")]) == one.with_(version="")
    assert Signature.shared([]) == Signature()


def test_a_part_can_be_taken_away() -> None:
    assert Signature(gold="a").with_(gold="", seed="1").long() == f"seed:1|version:{__version__}"
