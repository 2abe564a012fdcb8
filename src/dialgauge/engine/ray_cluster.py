"""The connection to a Ray cluster: the one at an address, or one of this machine that ends with the connection.

Invariants
- An address where no cluster is, or where something else listens, is refused in seconds; Ray itself tries for minutes.
- Nothing of Ray's own is printed, whatever dies: what matters of it is in the errors raised here.
- A connection that was there before (of a script that uses Ray itself) is used and left as it is.
"""

from __future__ import annotations

import _thread
import logging
import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from dialgauge.errors import DialgaugeError

#: Seconds in which a cluster must take a connection and answer to it.
PATIENCE = 5.0
#: Seconds after which what listens at an address is taken for something else; a cluster takes a few.
CONNECTING = 60.0
#: What travels through the object store is small: per-dialogue sums, not turns.
_STORE_BYTES = 256 << 20
#: How a client greets an HTTP/2 server (gRPC is HTTP/2): the preface, and a frame of no settings.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
#: The longest folder in which Ray's sockets still find room for their names.
_LONGEST_FOLDER = 30


def ray_module() -> Any:
    """The package ray, or the sentence that says how to get it."""
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise DialgaugeError("--engine ray needs the extra 'ray': pip install 'dialgauge[ray]'") from error
    return ray


class RayConnection:
    """This process as a driver of a Ray cluster."""

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._ours = False
        self._folder: str | None = None
        self._undo: list[Callable[[], object]] = []

    def open(self, workers: int) -> None:
        """Connect, or start a cluster of so many workers."""
        ray = ray_module()
        if ray.is_initialized():
            return
        self._ours = True
        try:
            self._connect(ray, workers)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect, and end the cluster if it was started here."""
        if not self._ours:
            return
        self._ours = False
        try:
            ray_module().shutdown()
        finally:
            for undo in reversed(self._undo):
                undo()
            self._undo = []
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def name(self) -> str:
        return f"the Ray cluster at {self._address}" if self._address else "the Ray cluster of this machine"

    def head_answers(self) -> bool:
        """Whether the head of the cluster takes a connection."""
        host, _, port = str(ray_module().get_runtime_context().gcs_address).rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
        except OSError:
            return False
        return True

    def _connect(self, ray: Any, workers: int) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no network unless asked for
        if self._address is not None:
            _knock(self._address)
        self._hush(ray)
        quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
        with _termination_kept(), _stderr_aside() as said, _impatient(self._address is not None) as late:
            if self._address is None:
                self._folder = _new_folder()
                where: dict[str, Any] = {"address": "local", "num_cpus": workers, "_temp_dir": self._folder}
                where |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
            else:
                where = {"address": self._address}
            try:
                ray.init(**where, **quiet)
            except KeyboardInterrupt as error:
                if not late.is_set():
                    raise
                raise DialgaugeError(
                    f"what listens at {self._address} does not answer as a Ray cluster does; 'ray start' prints the "
                    "address of the one it starts"
                ) from error
            except Exception as error:
                raise DialgaugeError(f"{self.name} cannot be used ({_reason(error, said)})") from error

    def _hush(self, ray: Any) -> None:
        """Ray tells of every worker and node that died, on standard output, and of its own affairs in its logger."""
        logger, silence = logging.getLogger("ray"), logging.NullHandler()
        logger.addHandler(silence)
        self._undo.append(lambda: logger.removeHandler(silence))
        printer, name = ray._private.worker, "print_to_stdstream"
        before = getattr(printer, name, None)
        if before is not None:
            setattr(printer, name, lambda *_, **__: None)
            self._undo.append(lambda: setattr(printer, name, before))


@contextmanager
def _impatient(connecting: bool) -> Iterator[threading.Event]:
    """Interrupt the main thread when a connection takes too long: Ray itself would wait for many minutes.

    That happens where something speaks HTTP/2 and is no Ray cluster. The event says that it was not the keyboard.
    """
    late = threading.Event()

    def interrupt() -> None:
        late.set()
        _thread.interrupt_main()

    timer = threading.Timer(CONNECTING, interrupt)
    timer.daemon = True
    if connecting and threading.current_thread() is threading.main_thread():
        timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _knock(address: str) -> None:
    """Whether anybody listens who could be Ray."""
    if address == "auto":
        return
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise DialgaugeError(f"'{address}' is not the address of a Ray cluster; write HOST:PORT or auto")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), PATIENCE) as line:
            answers = os.environ.get("RAY_USE_TLS", "0") == "1" or _speaks_http2(line)
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise DialgaugeError(
            f"there is no Ray cluster at {address} ({why}); start one there, or leave --address out"
        ) from error
    if not answers:
        raise DialgaugeError(
            f"what listens at {address} is not a Ray cluster; 'ray start' prints the address of the one it starts"
        )


def _speaks_http2(line: socket.socket) -> bool:
    """Whether the other end answers the greeting as it must: first of all with a frame of its settings."""
    heard = b""
    try:
        line.settimeout(PATIENCE)
        line.sendall(_GREETING)
        while len(heard) < 9 and (more := line.recv(9 - len(heard))):
            heard += more
    except OSError:
        return False
    return len(heard) == 9 and heard[3] == 4


def _reason(error: Exception, said: BinaryIO) -> str:
    said.seek(0)
    if b"InvalidAuthToken" in said.read():
        return "it needs a different token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN to those of the cluster"
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _new_folder() -> str:
    """For the logs and sockets of a cluster of our own; Ray would leave them behind."""
    usual = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="dialgauge-ray-", dir=usual if len(usual) <= _LONGEST_FOLDER else "/tmp")  # noqa: S108


@contextmanager
def _stderr_aside() -> Iterator[BinaryIO]:
    """What is written to standard error, by Ray's C++ part too, goes to a file."""
    with tempfile.TemporaryFile() as aside:
        before = os.dup(2)
        os.dup2(aside.fileno(), 2)
        try:
            yield aside
        finally:
            os.dup2(before, 2)
            os.close(before)


@contextmanager
def _termination_kept() -> Iterator[None]:
    """Ray answers SIGTERM with a stack on the terminal; what was to happen before it came happens again."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)
