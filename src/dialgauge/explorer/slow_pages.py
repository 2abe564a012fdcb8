"""Pages that take long: the browser gets an answer at once, which says what is being computed and asks again."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

#: Pages that are being made, or were made and not yet fetched; whoever asks for more waits as long as it takes.
_MOST = 16


class SlowPages:
    """Makes pages in threads, and keeps those for which nobody waited until they are asked for again."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, tuple[asyncio.Task[bytes], float]] = OrderedDict()

    async def made(self, request: Request, make: Callable[[], bytes], patience: float) -> tuple[bytes | None, float]:
        """The page, None where it is not ready within so many seconds, and since when it is being made, in seconds.

        Only a browser is told to come back; whoever asks otherwise gets the page itself.
        """
        address = str(request.url)
        known = self._pages.get(address)
        task, begun = known or (_started(make), monotonic())
        if not _is_browser(request) or (known is None and not self._has_room()):
            return await asyncio.shield(task), monotonic() - begun
        self._pages[address] = task, begun
        done, _ = await asyncio.wait({task}, timeout=patience)
        waited = monotonic() - begun
        if not done:
            return None, waited
        self._pages.pop(address, None)
        return task.result(), waited

    def forget(self) -> None:
        """Let go of pages that were made before something changed."""
        self._pages.clear()

    def _has_room(self) -> bool:
        for address in [address for address, (task, _) in self._pages.items() if task.done()]:
            if len(self._pages) < _MOST:
                break
            del self._pages[address]
        return len(self._pages) < _MOST


def _started(make: Callable[[], bytes]) -> asyncio.Task[bytes]:
    task = asyncio.create_task(run_in_threadpool(make))
    # What went wrong may never be asked for, and is no matter for the log then.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


def _is_browser(request: Request) -> bool:
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")
