"""The far end of the Ray engine: an actor that opens the work and does batches.

Every answer is a value that says what came of the question; an exception would lose its traceback on the way.
"""

from __future__ import annotations

import errno
import os
import pickle
import sys
from pathlib import Path
from typing import Any, NamedTuple

from dialgauge.engine.units import Batch, Results, perform
from dialgauge.engine.worker import Crash, set_environment
from dialgauge.source import own_source


class Opened(NamedTuple):
    """The work is open: on this node, with this source of dialgauge."""

    node: str
    source: str


class Spent(NamedTuple):
    """Why a worker cannot go on."""

    why: str


class RayWorker:
    """Opens the work once, and does the batches it is given one after the other."""

    def __init__(self) -> None:
        self._work: Any = None
        self._state: Any = None

    def node(self) -> str:
        """Where this worker is; answered as soon as it lives, before the work is open."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def open(self, work: bytes, path: list[str], folder: str) -> Opened | Crash | Spent:
        """Open the work; ``path`` is where the driver finds its modules, ``folder`` where it was started."""
        try:
            set_environment()
            sys.path += [position for position in path if position not in sys.path]
            if Path(folder).is_dir():  # relative paths mean the same as for the driver
                os.chdir(folder)
            self._work = pickle.loads(work)  # noqa: S301 - from our own driver
            self._state = self._work.open()
        except BaseException as error:
            return _ended(error)
        return Opened(self.node(), own_source())

    def do(self, batch: bytes) -> Results | Crash | Spent:
        try:
            units: Batch = pickle.loads(batch)  # noqa: S301 - from our own driver
            return [(position, perform(self._work, self._state, unit)) for position, unit in units]
        except BaseException as error:
            return _ended(error)


def _ended(error: BaseException) -> Crash | Spent:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return Spent("because it ran out of memory")
    return Crash.of(error)
