"""How many requests go to one host at a time, and how fast: one rule for all processes of this user on this machine."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.files import FileLock, locked, reason, try_lock

#: Seconds between two tries to get a place.
_PAUSE = 0.02


class Gate:
    """Places for concurrent requests, and the time before the next may start."""

    def __init__(self, endpoint: str, *, concurrency: int, rate: float) -> None:
        name = hashlib.sha256(endpoint.encode()).hexdigest()[:16]
        user = os.getuid() if hasattr(os, "getuid") else 0
        self._folder = Path(tempfile.gettempdir()) / f"dialgauge-{user}" / name
        self._concurrency, self._rate = concurrency, rate

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Wait for a place and a moment, and hold the place."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = self._place()
            self._wait_for_turn()
        except OSError as error:
            raise DialgaugeError(f"requests cannot be counted ({reason(error)})", file=str(self._folder)) from error
        try:
            yield
        finally:
            lock.release()

    def _place(self) -> FileLock:
        for number in cycle(range(self._concurrency)):
            if lock := try_lock(self._folder / f"place-{number}"):
                return lock
            if number == self._concurrency - 1:
                time.sleep(_PAUSE)
        raise AssertionError("cycles do not end")

    def _wait_for_turn(self) -> None:
        if not self._rate:
            return
        file = self._folder / "next"
        with locked(self._folder / "turn"):
            now = time.time()
            allowed = now
            with suppress(OSError, ValueError):
                # No more than the places can wait: a time further ahead is of a slower rate, or of another clock.
                allowed = min(float(file.read_text()), now + self._concurrency * 60 / self._rate)
            start = max(now, allowed)
            file.write_text(repr(start + 60 / self._rate))
        time.sleep(max(0.0, start - now))
