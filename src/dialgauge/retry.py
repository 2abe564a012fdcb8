"""Requests over HTTP that are tried again where that may help: which answers, how often, and after which wait."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")
_TRY_AGAIN, _SERVER_ERROR = frozenset({408, 425, 429}), 500


class TryAgain(Exception):
    """It may go better next time; ``wait`` is how many seconds the server asked for."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


def is_temporary(status: int) -> bool:
    """Whether an answer with this status may be another one later."""
    return status in _TRY_AGAIN or status >= _SERVER_ERROR


def retry_after(header: str) -> float | None:
    """The seconds that a ``Retry-After`` asks to wait, given as a number or as a date; None where it says nothing.

    >>> retry_after("1.5"), retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), retry_after("soon"), retry_after("nan")
    (1.5, 0.0, None, None)
    """
    try:
        wait = float(header)
    except ValueError:
        try:
            wait = parsedate_to_datetime(header).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(wait, 0.0) if wait == wait else None


def retrying(
    attempt: Callable[[], T],
    *,
    tries: int,
    first_wait: float,
    longest_wait: float,
    sleep: Callable[[float], None],
    spread: bool = False,
    progress: Callable[[], int] = lambda: 0,
) -> T:
    """What ``attempt`` returns; it raises :class:`TryAgain` where it may be called again.

    The last of ``tries`` failures in a row is raised. Those after which ``progress`` is further than ever do not count.
    Waits double, and with ``spread`` each is shortened by a random part, so that many clients do not come back at once.
    """
    failures = furthest = 0
    while True:
        try:
            return attempt()
        except TryAgain as again:
            here = progress()
            failures = 0 if here > furthest else failures + 1
            furthest = max(furthest, here)
            if failures >= tries:
                raise
            wait = again.wait
            if wait is None:
                wait = min(first_wait * 2 ** max(failures - 1, 0), longest_wait)
                wait *= random.uniform(0.5, 1.0) if spread else 1.0  # noqa: S311 - spreads tries, decides nothing
            sleep(min(wait, longest_wait))
