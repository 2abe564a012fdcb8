"""The connection to a Ray cluster: the one at an address, or one of this machine that ends with the connection.

Invariants
- An address where no cluster is, or where something else listens, is refused in a minute at the latest; Ray itself
  tries for many minutes, blocks signals meanwhile and may end its process. So another process goes first.
- Nothing of Ray's own is printed, whatever dies: what matters of it is in the errors raised here.
- A connection that was there before (of a script that uses Ray itself) is used and left as it is.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dialgauge.errors import DialgaugeError

#: Seconds in which a cluster must take a connection and answer to it.
PATIENCE = 5.0
#: Seconds after which what listens at an address is taken for something else; a cluster takes a few.
CONNECTING = 60.0
#: What travels through the object store is small: per-dialogue sums, not turns.
_STORE_BYTES = 256 << 20
_HINT = "'ray start' prints the address of the one it starts"
#: How Ray is asked to keep quiet.
_QUIET = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
#: Connects to an address and disconnects; an error is one line. It ends with the process that started it.
_TRIAL = f"""
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(1)), daemon=True).start()
import ray
try:
    ray.init(address=sys.argv[1], **{_QUIET})
except Exception as error:
    sys.exit((str(error).strip().splitlines() or [type(error).__name__])[0])
ray.shutdown()
os._exit(0)
"""
#: The token of clusters that this process starts. Ray would make one and leave it in the home folder, where every head
#: that is started later finds it and wants it from others too.
_OWN_TOKEN = secrets.token_hex(32)
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
        self._node: tuple[str, int] | None = None
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

    def node_answers(self) -> bool:
        """Whether the raylet that this process is connected to still runs: without it, Ray soon ends this process."""
        try:
            if self._node is not None:
                socket.create_connection(self._node, PATIENCE).close()
        except ConnectionRefusedError:
            return False
        except OSError:
            return True  # it may just be slow
        return True

    def _connect(self, ray: Any, workers: int) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no network unless asked for
        if self._address is not None:
            _require_listener(self._address)
            self._try_out(self._address)
            where: dict[str, Any] = {"address": self._address}
        else:
            self._folder = _new_folder()
            self._set_token()
            where = {"address": "local", "num_cpus": workers, "_temp_dir": self._folder}
            where |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
        self._hush(ray)
        with _termination_kept(), _stderr_aside() as printed:
            try:
                ray.init(**where, **_QUIET)
            except Exception as error:
                printed.seek(0)
                raise self._unusable(str(error).strip() or type(error).__name__, printed.read()) from error
        here = ray.get_runtime_context().get_node_id()
        self._node = next(
            ((node["NodeManagerAddress"], node["NodeManagerPort"]) for node in ray.nodes() if node["NodeID"] == here),
            None,
        )

    def _try_out(self, address: str) -> None:
        """Connect from another process, which is killed when that takes too long."""
        line = os.pipe()  # its other end closes with this process
        try:
            command = [sys.executable, "-P", "-c", _TRIAL, address]
            done = subprocess.run(  # noqa: S603 - our own code
                command, stdin=line[0], capture_output=True, timeout=CONNECTING, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise DialgaugeError(f"what listens at {address} does not answer as a Ray cluster does; {_HINT}") from error
        finally:
            for end in line:
                os.close(end)
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise self._unusable(lines[-1] if lines else "Ray gives no reason", done.stderr)

    def _unusable(self, reason: str, printed: bytes) -> DialgaugeError:
        why = _token_needed() if b"InvalidAuthToken" in printed else reason.splitlines()[0]
        return DialgaugeError(f"{self.name} cannot be used ({why})")

    def _set_token(self) -> None:
        """Give the cluster a token of ours, unless the user has a say in that. Ray itself sets the mode."""
        if not {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys():
            os.environ["RAY_AUTH_TOKEN"] = _OWN_TOKEN
            self._undo.append(lambda: [os.environ.pop(name, None) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_MODE")])

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


def _require_listener(address: str) -> None:
    """An error where nobody listens at the address."""
    if address == "auto":
        return
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise DialgaugeError(f"'{address}' is not the address of a Ray cluster; write HOST:PORT or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise DialgaugeError(
            f"there is no Ray cluster at {address} ({why}); start one there, or leave --address out"
        ) from error


def _token_needed() -> str:
    """What to do about a token that the cluster wants: Ray sends one to an address only when told to."""
    file = Path.home() / ".ray" / "auth_token"
    source = next(
        (name for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH") if os.environ.get(name)),
        str(file) if file.is_file() else "",
    )
    if os.environ.get("RAY_AUTH_MODE", "").lower() == "token":
        return f"it wants another token than the one in {source}; set RAY_AUTH_TOKEN to its token"
    if source:
        return f"it wants a token, and none was sent; set RAY_AUTH_MODE=token to send the one in {source}"
    return "it wants a token, and none is set here; set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to its token"


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
