"""Numbers in sentences."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """The count with its noun in the right number; the plural ends in s unless it is given.

    >>> counted(1, "dialogue"), counted(2000, "dialogue"), counted(0, "reply", "replies")
    ('1 dialogue', '2,000 dialogues', '0 replies')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def times(count: int) -> str:
    """How often.

    >>> times(1), times(12)
    ('once', '12 times')
    """
    return "once" if count == 1 else f"{count:,} times"
