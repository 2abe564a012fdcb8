"""How long finished units of work are kept: to the end of whoever needs their result, and beyond where that fails.

Every command imports this before it does anything, so it stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import TypeVar

_T = TypeVar("_T")
_END: ContextVar[ExitStack | None] = ContextVar("_END", default=None)


@contextmanager
def kept_to_the_end() -> Iterator[None]:
    """What :func:`until_the_end` opens in this block stays open to its end: by then a command has stored its runs."""
    with ExitStack() as stack:
        token = _END.set(stack)
        try:
            yield
        finally:
            _END.reset(token)


@contextmanager
def until_the_end(kept: AbstractContextManager[_T]) -> Iterator[_T]:
    """Open this to the end of the block around, if there is one, and else of this one."""
    stack = _END.get()
    if stack is not None:
        yield stack.enter_context(kept)
        return
    with kept as content:
        yield content
