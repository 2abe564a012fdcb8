"""A call that is under way when the process is told to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.agents.llm import ChatClient, ChatSettings, DialogueBudget, awaited
from support.model_server import ModelServer, model_server

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
LONG = 600.0


@pytest.fixture(autouse=True)
def usual_keyboard() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_interrupt_waits_for_the_end_of_the_call() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), awaited(LONG):
        interrupt()
        done.append("the call")
    assert done == ["the call"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_interrupt_ends_the_call() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), awaited(LONG):
        interrupt()
        interrupt()
        done.append("the call")
    assert not done


def test_a_call_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(KeyboardInterrupt), awaited(0.05):
        interrupt()
        threading.Event().wait(LONG)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_call_that_fails_in_the_meantime_says_so() -> None:
    with pytest.raises(ValueError, match="half a body"), awaited(LONG):
        raise ValueError("half a body")
    interrupted = False
    try:
        interrupt()
    except KeyboardInterrupt:
        interrupted = True
    assert interrupted, "outside of a call the keyboard is obeyed at once"


def test_who_ignores_the_keyboard_goes_on_ignoring_it() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with awaited(LONG):
        interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_worker_that_is_ended_finishes_its_call_and_goes() -> None:
    program = (
        "import os, signal\n"
        "from dialgauge.agents.llm.in_flight import awaited\n"
        "with awaited(600):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('kept', flush=True)\n"
        "print('never')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "kept\n"), done.stderr


def test_an_answer_is_on_the_disk_before_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written is forced out, and nobody has the answer before."""
    order: list[str] = []
    real = os.fsync

    def forced(handle: int) -> None:
        order.append(f"forced {os.fstat(handle).st_size > 0}")
        real(handle)

    monkeypatch.setattr(os, "fsync", forced)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with model_server() as server:
        settings = ChatSettings(endpoint=server.url, model="m", cassette=str(tmp_path / "tape.jsonl"))
        order.append(_asked(server, settings))
    assert order == ["forced True", "How can I help?"]


def _asked(server: ModelServer, settings: ChatSettings) -> str:
    client = ChatClient(settings)
    return client.ask([{"role": "user", "content": "Hello"}], seed=1, purse=DialogueBudget(settings)).text
