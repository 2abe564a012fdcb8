"""A call of somebody's function in a process of its own, with limits of time and memory.

The caller's process is forked, so the function sees the data as it is, and whatever it does (an endless loop, an
exception handler that swallows everything, ``os._exit``, ``9**9**9``) ends with the child. What comes back is JSON.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dialgauge.errors import DialgaugeError

_BLOCK = 1 << 16
_MEGABYTE = 1 << 20

#: As it is now: while agents talk, the session keeps them from ending the process, and a child must end.
_EXIT = os._exit


class CallLimits(Struct, frozen=True):
    """What one call may use: wall time, memory beyond what is there already, and the size of what it gives back."""

    seconds: float = 10.0
    megabytes: int = 512
    answer_megabytes: int = 64


class NoAnswer(DialgaugeError):
    """The call was stopped, or ended without an answer."""


def answer_of(work: Callable[[], bytes], limits: CallLimits) -> bytes:
    """What ``work`` returns when it runs in a child process."""
    if not hasattr(os, "fork"):
        return work()  # Windows: without limits, as the documentation says
    receive, send = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads: the child only runs the tool
        child = os.fork()
    if child == 0:
        os.close(receive)
        _work_and_leave(work, send, limits)
    os.close(send)
    try:
        return _received(receive, child, limits)
    finally:
        os.close(receive)
        os.waitpid(child, 0)


def _work_and_leave(work: Callable[[], bytes], send: int, limits: CallLimits) -> None:
    """In the child: never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - wherever they led
        _limit_memory(limits.megabytes * _MEGABYTE)
        answer = work()
        view = memoryview(len(answer).to_bytes(8, "big") + answer)
        while view:
            view = view[os.write(send, view) :]
        code = 0
    finally:
        _EXIT(code)


def _limit_memory(more: int) -> None:
    import resource

    pages = Path("/proc/self/statm")
    if pages.exists():  # elsewhere nobody says how much there is already
        now = int(pages.read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (now + more, hard))


def _received(receive: int, child: int, limits: CallLimits) -> bytes:
    """The answer: its length, then its bytes. A process that the tool left behind may hold the pipe open."""
    deadline = time.monotonic() + limits.seconds
    content = bytearray()
    while len(content) < 8 or len(content) < 8 + int.from_bytes(content[:8], "big"):
        ready, _, _ = select.select([receive], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            raise NoAnswer(f"the call was stopped: it took longer than {limits.seconds:g} seconds")
        block = os.read(receive, _BLOCK)
        if not block:
            raise NoAnswer("the call ended without an answer")
        content += block
        if len(content) > limits.answer_megabytes * _MEGABYTE:
            os.kill(child, signal.SIGKILL)
            raise NoAnswer(f"the call gave back more than {limits.answer_megabytes} MB")
    return bytes(content[8:])
