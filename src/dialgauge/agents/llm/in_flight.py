"""An answer that is under way is paid for: when the process is told to stop, it is awaited for a moment and kept.

The first Ctrl-C or SIGTERM (``kill``, or a pool that ends its workers) waits until the call is over, :data:`GRACE`
seconds at most; the second ends at once. Outside of a call nothing changes. ``kill -9`` cannot be held back: then the
answers that were under way are lost, one for each process that was asking.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from dialgauge.errors import Terminated, terminate

#: Seconds that an answer which is under way is awaited.
GRACE = 5.0


class _Held:
    """What was asked while a call was under way."""

    def __init__(self, grace: float) -> None:
        self.number = 0
        self._grace = grace
        self._timer: threading.Timer | None = None

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Take note of the first signal; give way to the second, which comes by itself when the time is over."""
        if self.number:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        self.number = number
        self._timer = threading.Timer(self._grace, os.kill, (os.getpid(), number))
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


@contextmanager
def awaited(grace: float = GRACE) -> Iterator[None]:
    """Hold back what would end the process until the block is done; then it ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held = _Held(grace)
    # Whoever has a handler of its own, or ignores a signal as workers do the keyboard's, keeps to it.
    before: dict[signal.Signals, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    usual = (signal.SIG_DFL, signal.default_int_handler, terminate)
    ours = [number for number, handler in before.items() if handler in usual]
    for number in ours:
        signal.signal(number, held.hear)
    try:
        yield
    finally:
        held.end()
        for number in ours:
            signal.signal(number, before[number])
    if held.number:
        os.kill(os.getpid(), held.number)
