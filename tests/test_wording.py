from __future__ import annotations

from dialgauge.text import counted, times


def test_nouns_agree_with_their_number() -> None:
    assert [counted(count, "dialogue") for count in (0, 1, 2, 7368)] == [
        "0 dialogues",
        "1 dialogue",
        "2 dialogues",
        "7,368 dialogues",
    ]
    assert (counted(1, "reply", "replies"), counted(3, "reply", "replies")) == ("1 reply", "3 replies")
    assert (times(1), times(2)) == ("once", "2 times")
