"""What a view runs into where a stored run is not what this version writes: files may have been changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec
from polars.exceptions import PolarsError

from dialgauge.errors import DialgaugeError

T = TypeVar("T")

#: What code runs into that takes a table for what it was: files may have been changed.
_ODD_CONTENT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, msgspec.MsgspecError, PolarsError)


@contextmanager
def stored_as_expected() -> Iterator[None]:
    """Turn any failure on the content of a run's tables into an error that says so."""
    try:
        yield
    except _ODD_CONTENT as error:
        if isinstance(error, DialgaugeError):
            raise
        reason = (str(error).splitlines() or [""])[0][:200]
        raise DialgaugeError(
            "this cannot be shown: a table or a detail of the run is not what this version of dialgauge writes "
            f"({type(error).__name__}: {reason}); score again, and if that does not help, it is a bug in dialgauge"
        ) from error


def made(make: Callable[[], T], otherwise: T) -> T:
    """``make()``, or ``otherwise`` if the stored tables are damaged, which the page says elsewhere."""
    try:
        with stored_as_expected():
            return make()
    except DialgaugeError:
        return otherwise
