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

from dialgauge.engine.units import Batch, Done, Results, Unit
from dialgauge.engine.worker import Crash, set_environment
from dialgauge.errors import DialgaugeError
from dialgauge.files import reason, system_error
from dialgauge.source import own_source

#: What a machine lacks for all units alike. No memory is not among them: that is mostly the fault of one unit.
_SICK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})


class Opened(NamedTuple):
    """The work is open: on this node, with this source of dialgauge."""

    node: str
    source: str


class WorkerFailure(NamedTuple):
    """What the machine of a worker lacks; another machine may do the same units."""

    node: str
    why: str


class Spent(NamedTuple):
    """Why a worker cannot go on although its machine is well."""

    why: str


class _Lack(Exception):
    """What the machine lacks, on its way out of a unit."""


class RayWorker:
    """Opens the work once, and does the batches it is given one after the other."""

    def __init__(self) -> None:
        self._work: Any = None
        self._state: Any = None

    def node(self) -> str:
        """Where this worker is; answered as soon as it lives, before the work is open."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def open(self, work: bytes, path: list[str], folder: str) -> Opened | Crash | WorkerFailure | Spent:
        """Open the work; ``path`` is where the driver finds its modules, ``folder`` where it was started."""
        try:
            set_environment()
            sys.path += [position for position in path if position not in sys.path]
            if Path(folder).is_dir():  # relative paths mean the same as for the driver
                os.chdir(folder)
            self._work = pickle.loads(work)  # noqa: S301 - from our own driver
            self._state = self._work.open()
        except BaseException as error:
            return self._ended(error)
        return Opened(self.node(), own_source())

    def do(self, batch: bytes) -> Results | Crash | WorkerFailure | Spent:
        try:
            units: Batch = pickle.loads(batch)  # noqa: S301 - from our own driver
            return [(position, self._perform(unit)) for position, unit in units]
        except BaseException as error:
            return self._ended(error)

    def _perform(self, unit: Unit[Any]) -> Done:
        try:
            return Done(unit.key, self._work.do(self._state, unit))
        except DialgaugeError as error:
            if lack := _lack(error):
                raise _Lack(lack) from error
            return Done(unit.key, None, str(error))

    def _ended(self, error: BaseException) -> Crash | WorkerFailure | Spent:
        if lack := _lack(error):
            return WorkerFailure(self.node(), lack)
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return Spent("because it ran out of memory")
        return Crash.of(error)


def _lack(error: BaseException | None) -> str:
    """What the machine lacks if that is behind the error; empty if it is not."""
    while error is not None:
        if isinstance(error, _Lack):
            return str(error)
        if (system := system_error(error)) and system.errno in _SICK:
            return reason(system)
        error = error.__cause__ or error.__context__
    return ""
