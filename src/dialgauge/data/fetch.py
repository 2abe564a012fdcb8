"""Downloading one file: streamed, checked, and in place only when it is whole and right.

What has come so far lies in ``TARGET.part``. Where the checksum is known, a later try asks for the rest: halves of two
versions give a wrong checksum, and then the whole is fetched once more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.files import sha256_of, writing
from dialgauge.retry import TryAgain, is_temporary, retry_after, retrying

if TYPE_CHECKING:
    import httpx

#: How many bytes there are, as soon as that is known, and how many are here.
TransferProgress = Callable[[int | None, int], None]

DEFAULT_LIMIT = 8 << 30
_LONGEST_WAIT = 60.0


class Patience(Struct, frozen=True):
    """How often to try without getting a byte further, and how long to wait before the first repetition."""

    tries: int = 5
    first_wait: float = 1.0
    sleep: Callable[[float], None] = time.sleep


def fetch_file(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    progress: TransferProgress | None = None,
    patience: Patience | None = None,
    limit: int = DEFAULT_LIMIT,
) -> str:
    """Download ``url`` to ``target`` and give its sha256. A wrong size or checksum leaves nothing behind."""
    download = _Download(url, target, sha256, size, progress or (lambda total, here: None), limit)
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        again = True
        while True:
            resumed = download.run(patience or Patience())
            checksum = sha256_of(download.part)
            wrong = download.problem(checksum)
            if wrong is None:
                download.part.replace(target)
                return checksum
            download.forget()
            if not (resumed and again):
                raise wrong
            again = False


class _Download:
    """One file on its way; survives interruptions of the connection and of the process."""

    def __init__(
        self, url: str, target: Path, sha256: str | None, size: int | None, progress: TransferProgress, limit: int
    ) -> None:
        self.url, self.sha256, self.size, self.progress, self.limit = url, sha256, size, progress, limit
        self.part = target.with_name(target.name + ".part")

    def run(self, patience: Patience) -> bool:
        """Bring the part to its end; true if some of it was there before. Gives up after tries that gained nothing."""
        import httpx

        resumed = False

        def progress() -> int:
            nonlocal resumed
            here = self._here()
            resumed = resumed or here > 0
            return here

        timeout = httpx.Timeout(60.0, connect=15.0)
        try:
            with httpx.Client(follow_redirects=True, timeout=timeout) as client:
                continued = retrying(
                    lambda: self._attempt(client),
                    tries=patience.tries,
                    first_wait=patience.first_wait,
                    longest_wait=_LONGEST_WAIT,
                    sleep=patience.sleep,
                    progress=progress,
                )
            return continued or resumed
        except TryAgain as stop:
            message = f"the download failed {patience.tries} times in a row ({stop}); run the same command again"
            raise DialgaugeError(f"{message}, which resumes it" if self.sha256 else message, file=self.url) from stop
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise DialgaugeError(f"this address cannot be fetched ({error})", file=self.url) from error

    def _attempt(self, client: httpx.Client) -> bool:
        """One request; true if it continued an earlier one."""
        import httpx

        start = self._here() if self.sha256 is not None else 0
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
        try:
            with client.stream("GET", self.url, headers=headers) as response:
                continues = self._judge(response, start)
                self._receive(response, start if continues else 0)
                return continues
        except (httpx.TransportError, httpx.TooManyRedirects) as error:
            if isinstance(error, httpx.UnsupportedProtocol):
                raise
            raise TryAgain(str(error) or type(error).__name__) from error

    def _judge(self, response: httpx.Response, start: int) -> bool:
        """Does the answer go on where the part ends? Anything but a file raises."""
        status = response.status_code
        if is_temporary(status):
            wait = retry_after(response.headers.get("Retry-After", ""))
            raise TryAgain(f"the server answered with status {status}", wait)
        if status == 416:
            self.forget()
            raise TryAgain("the server has no such range")
        if status in (404, 410):
            raise DialgaugeError(f"the server says that there is no such file ({status})", file=self.url)
        if status not in (200, 206):
            raise DialgaugeError(f"the server refuses with status {status}", file=self.url)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise DialgaugeError("the server sends the file in an encoding that was not requested", file=self.url)
        if status == 200:
            return False
        if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            self.forget()
            raise TryAgain("the server sent a different range than requested")
        return True

    def _receive(self, response: httpx.Response, start: int) -> None:
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else self.size
        self._refuse_beyond_limit(total or 0)
        here = start
        with self.part.open("ab" if start else "wb") as out:
            self.progress(total, here)
            for block in response.iter_raw():
                out.write(block)
                here += len(block)
                self._refuse_beyond_limit(here)
                self.progress(total, here)

    def _refuse_beyond_limit(self, size: int) -> None:
        most = self.size if self.size is not None else self.limit
        if size > most:
            self.forget()
            known = "its known size is" if self.size is not None else "the limit is"
            raise DialgaugeError(f"the server sends {size:,} bytes or more, but {known} {most:,} bytes", file=self.url)

    def problem(self, checksum: str) -> DialgaugeError | None:
        """What is wrong with the finished part, if anything."""
        if self.size is not None and self._here() != self.size:
            message = f"the file has {self._here():,} bytes, but {self.size:,} were expected; nothing was kept"
            return DialgaugeError(message, file=self.url)
        if self.sha256 is not None and checksum != self.sha256:
            message = f"the file's sha256 is {checksum}, but {self.sha256} was expected; nothing was kept"
            return DialgaugeError(message, file=self.url)
        return None

    def forget(self) -> None:
        """Remove what came so far."""
        self.part.unlink(missing_ok=True)

    def _here(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0
