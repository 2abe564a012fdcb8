"""An error of a worker that is no failure of a unit, on its way to the process that raises it."""

from __future__ import annotations

import pickle
import traceback
from typing import NamedTuple, NoReturn


class WorkerTraceback(Exception):
    """Where in a worker an error happened; the cause of that error as it is raised here."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Crash(NamedTuple):
    """The error, pickled if it can be, with the worker's traceback as text."""

    error: bytes
    traceback: str

    @classmethod
    def of(cls, error: BaseException) -> Crash:
        """What is known of an error where it happened."""
        text = "".join(traceback.format_exception(error)).rstrip()
        try:
            packed = pickle.dumps(error)
            pickle.loads(packed)  # noqa: S301 - some errors cannot be made again from their pickle
        except Exception:
            packed = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
        return cls(packed, text)

    def reraise(self) -> NoReturn:
        """Raise the error here."""
        raise pickle.loads(self.error) from WorkerTraceback(self.traceback)  # noqa: S301 - from our own worker
