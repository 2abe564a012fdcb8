"""No regular expression of ours takes long over anything."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.patterns import Expression, attacks, expressions
from support.soak import MANY

#: Characters; what is quadratic takes millions of steps over so many, and shows; what is linear takes microseconds.
LENGTH = 4_000 if MANY else 3_000
#: Seconds for one string, the best of three; and for all strings of one expression, before it is given up.
SLOW, HOPELESS = 5e-6 * LENGTH, 4.0
#: What takes so few seconds over so few characters, far less than anything quadratic, is not given more of them.
SHORT, QUICK = 1_000, 1e-4


class Late(Exception):
    pass


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """An expression looks for signals on its way, so that one that hangs fails and does not stall the tests."""

    def ring(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds_of(pattern: re.Pattern[Any], method: str, text: Any, enough: float) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        getattr(pattern, method)(text)
        best = min(best, time.process_time() - start)
        if best <= enough:
            break
    return best


def complaint(expression: Expression, hopeless: float = HOPELESS) -> str:
    """What an expression takes too long over, if anything."""
    text: Any = ""
    # What looks everywhere looks at the beginning too.
    methods = sorted(expression.methods - ({"match"} if "findall" in expression.methods else set()))
    try:
        with within(hopeless):
            for short, text in zip(
                attacks(expression.pattern, SHORT), attacks(expression.pattern, LENGTH), strict=True
            ):
                for method in methods:
                    if seconds_of(expression.pattern, method, short, QUICK) <= QUICK:
                        continue
                    taken = seconds_of(expression.pattern, method, text, SLOW)
                    if taken > SLOW:
                        return f"{expression.where}: {method} takes {taken:.3f} s over {text[:30]!r}…{text[-1:]!r}"
    except Late:
        return f"{expression.where}: takes more than {hopeless:g} s over {text[:30]!r}…{text[-1:]!r}"
    return ""


def test_no_expression_of_ours_takes_long_over_a_long_run() -> None:
    found = expressions()
    assert len(found) > 200
    assert not [said for one in found if (said := complaint(one))]


def test_a_careless_expression_is_found() -> None:
    """What the test above would say of expressions like those it once found."""
    for careless in (r"[a-z]\w*(?:[_/]\w+)+", r"\d+\.?\d*", r"\s+(?:or|and)\s+", r"key: *\w* *\w*;", r"(?:a|b|ab)*c"):
        assert complaint(Expression("here", re.compile(careless), frozenset({"findall", "fullmatch"})), 0.15), careless
    assert not complaint(Expression("here", re.compile(r"(?<!\s)\s+(?:or|and)\s+"), frozenset({"findall"})))
