"""What a long call tells while it works. Python users hear nothing unless they pass a listener; commands draw bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager


class Progress:
    """Listens to a long call: override what is to be shown. This one is silent."""

    def say(self, text: str) -> None:
        """A sentence about the work."""

    @contextmanager
    def bar(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """While work in steps lasts; the yielded function is called with the number of steps done."""
        yield lambda steps: None

    def reading(self, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
        """While inputs are read that are kept to the end."""
        return self.bar("reading", total)


SILENT = Progress()
