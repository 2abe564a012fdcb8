"""Names of runs that stand beside each other: what differs between them; what they share is said once."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: A name in its pieces: words with the settings in brackets apart from what they are settings of.
_PIECES = re.compile(r"[^\s(),/]+")
#: And in words.
_SMALL_PIECES = re.compile(r"[^\s(),/_-]+")


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names without the pieces that all of them have; whole where that would not tell them apart.

    >>> distinct_names(["rule(channel=mild)-agenda(channel=mild)", "rule(channel=clean)-agenda(channel=clean)"])
    ['mild', 'clean']
    >>> distinct_names(["rules-task5-tst", "nearest-task5-tst"])
    ['rules', 'nearest']
    >>> distinct_names(["augpt", "dots"]), distinct_names(["same", "same"])
    (['augpt', 'dots'], ['same', 'same'])
    """
    if len(set(names)) < 2:
        return list(names)
    for pattern in (_PIECES, _SMALL_PIECES):
        short = _without_shared(names, pattern)
        # Runs of one name have one label, but no two others do.
        if all(short) and len(set(short)) == len(set(names)):
            return short
    return list(names)


def _without_shared(names: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    pieces = [list(dict.fromkeys(pattern.findall(name))) for name in names]
    shared = set.intersection(*map(set, pieces))
    own = [[piece.strip("-") for piece in own if piece not in shared] for own in pieces]
    keys = {piece.partition("=")[0] for each in own for piece in each}
    if len(keys) == 1 and all("=" in piece for each in own for piece in each):
        own = [[piece.partition("=")[2] for piece in each] for each in own]
    return [" · ".join(each) if shared else "" for each in own]


def shared_words(names: Sequence[str]) -> str:
    """What all names have, in the order of the first one."""
    whole = [_PIECES.findall(name) for name in names]
    pieces = whole if set.intersection(*map(set, whole)) else [_SMALL_PIECES.findall(name) for name in names]
    shared = set.intersection(*map(set, pieces)) if len(names) > 1 else set()
    return ", ".join(dict.fromkeys(piece.strip("-") for piece in pieces[0] if piece in shared)) if pieces else ""
