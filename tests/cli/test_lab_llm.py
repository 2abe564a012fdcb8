"""``dialgauge lab`` with language models and servers: recorded, replayed, killed and resumed, within the budget."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from dialgauge.dialogue import Act
from dialgauge.runs import Run, Store
from support.commands import Outcome, dialgauge, dialgauge_in
from support.model_server import ModelServer, model_server, standard_reply
from support.soak import soak

KEY = "sk-very-secret-0123456789"
COMMAND = [sys.executable, "-m", "dialgauge"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.delenv("DIALGAUGE_RUNS", raising=False)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as one:
        yield one


def words(server: ModelServer | None, *more: object, store: str = "runs", **settings: object) -> list[str]:
    """A run with language models on both sides."""
    given = {"model": "m", "cassette": "tape.jsonl", "backoff": 0.001, **settings}
    if server is not None:
        given["endpoint"] = server.url
    asked = [f"{name}={value}" for name, value in given.items()]
    both = [part for side in ("--user-set", "--system-set") for one in asked for part in (side, one)]
    start = ["lab", "run", "--user", "llm-user", "--system", "llm-system", "--level", "text", "--resamples", "0"]
    return [*start, "--store", store, *both, *map(str, more)]


def only_run(store: str = "runs") -> Run:
    (run,) = Store(Path(store)).survey().runs
    return run


def files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def test_a_run_is_recorded_and_replayed_with_the_same_bytes(
    server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    first = dialgauge(capsys, *words(server, "-n", 3, "--trials", 2, "--out", "a"))
    assert first.code == 0, first.err
    assert only_run().manifest.config["acts"] == {"user": "observer", "system": "words and calls"}
    asked = len(server.received)
    assert asked == 6 * 9  # trials differ in their seeds, so nothing was asked once for two
    replayed = dialgauge(capsys, *words(None, "-n", 3, "--trials", 2, "--out", "b", mode="replay", store="other"))
    parallel = dialgauge(capsys, *words(server, "-n", 3, "--trials", 2, "--out", "c", store="third", workers=""))
    assert parallel.code == 2  # workers is no setting
    parallel = dialgauge(capsys, *words(server, "-n", 3, "--trials", 2, "--out", "c", "--workers", 2, store="third"))
    assert (replayed.code, parallel.code) == (0, 0), replayed.err + parallel.err
    assert len(server.received) == asked
    talks = [Path(name, "conversations.jsonl").read_bytes() for name in ("a", "b", "c")]
    assert talks[0] == talks[1] == talks[2]
    runs = [only_run(store) for store in ("runs", "other", "third")]
    assert len({run.signature for run in runs}) == len({run.manifest.name for run in runs}) == 1
    assert runs[0].scores == runs[1].scores == runs[2].scores
    assert runs[0].manifest.config == runs[1].manifest.config


def test_a_replay_without_an_answer_says_which(server: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert dialgauge(capsys, *words(server, "-n", 1)).code == 0
    outcome = dialgauge(capsys, *words(None, "-n", 2, mode="replay", store="other"))
    assert outcome.code == 1
    assert "tape.jsonl has no answer to a request" in " ".join(outcome.out.split())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the models say when nobody stops them."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    with model_server() as fresh:
        assert dialgauge_in(folder, {}, words(fresh, "-n", 4, "--out", "whole")).code == 0
    return (folder / "whole" / "conversations.jsonl").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("how", [signal.SIGKILL, soak(signal.SIGINT), soak(signal.SIGTERM)])
@pytest.mark.parametrize("workers", [1, soak(2)])
def test_a_stopped_run_resumes_without_repeating_a_paid_call(
    server: ModelServer, how: signal.Signals, workers: int, uninterrupted: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers that are under way are lost, one for each worker."""
    server.misbehave(*[""] * 20, *["late"] * workers)
    command = words(server, "-n", 4, "--workers", workers, "--out", "talks")
    stopped = subprocess.Popen([*COMMAND, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert server.wait_until_hanging(workers), "it never asked so often"
    stopped.send_signal(how)
    if how == signal.SIGKILL:
        stopped.wait(60)
    server.released.set()
    _, told = stopped.communicate(timeout=60)
    code = {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130, signal.SIGTERM: 143}[how]
    assert stopped.returncode == code, told
    kept = len(Path("tape.jsonl").read_bytes().splitlines())
    assert kept == 20 if how == signal.SIGKILL else kept >= 20, kept
    again = dialgauge(capsys, *command)
    assert again.code == 0, again.err
    assert len(server.answered) == 4 * 9
    paid_twice = sum(server.answered.values()) - len(server.answered)
    assert paid_twice <= workers
    assert Path("talks/conversations.jsonl").read_bytes() == uninterrupted


@pytest.mark.parametrize("workers", [1, soak(3)])
def test_a_budget_is_exceeded_by_one_call_of_each_worker_at_most(
    server: ModelServer, capsys: pytest.CaptureFixture[str], workers: int
) -> None:
    def slowly(question: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.1)  # all workers are under way when the budget ends
        return standard_reply(question)

    server.reply = slowly
    outcome = dialgauge(capsys, *words(server, "-n", 6, "--workers", workers, budget_tokens=1500))
    assert outcome.code == 1
    assert "the budget of 1,500 tokens for the run is spent" in " ".join(outcome.out.split())
    spent = 110 * len(server.received)
    assert 1500 <= spent < 1500 + 110 * workers
    reasons = [one.outcome.reason for one in only_run().dialogues() if one.outcome]
    assert len(reasons) == 6
    if workers == 1:
        # Nine calls a conversation: one was finished, one broken off, and no other began.
        assert reasons == ["user_done", *["token_budget"] * 5]
        assert [bool(one.turns) for one in only_run().dialogues()] == [True, True, *[False] * 4]
    # With more money it goes on where it stopped.
    server.reply = standard_reply
    more = dialgauge(capsys, *words(server, "-n", 6, "--workers", workers, budget_tokens=100_000, store="more"))
    assert more.code == 0, more.err
    assert set(server.answered.values()) == {1}


def test_no_key_header_or_environment_in_any_file(
    server: ModelServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    monkeypatch.setenv("SOMETHING_ELSE", "text-of-the-environment")
    server.misbehave("headers", "", "echo:401", "headers", "", *["echo:500"] * 12)
    outcome = dialgauge(capsys, *words(server, "-n", 3, "--out", "talks", "--json", "s.json", key_env="THE_KEY"))
    assert outcome.code == 1
    assert {one["Authorization"] for one in server.headers} == {f"Bearer {KEY}"}
    written = {str(path): path.read_bytes() for path in files(Path())}
    assert any("tape.jsonl" in name for name in written)
    assert any(only_run().id in name for name in written)
    for name, content in [*written.items(), ("screen", (outcome.out + outcome.err).encode())]:
        for secret in (KEY, "text-of-the-environment", "Bearer sk"):
            assert secret.encode() not in content, name
            assert secret not in name
    assert "[key]" in outcome.out


@pytest.mark.parametrize("key", [KEY, "0123456789abcdef" * 2, "dGhpcyBpcyBhIHNlY3JldCBrZXk0Mg", "key/hunter2hunter2"])
def test_no_key_in_the_path_of_an_endpoint_in_any_file(
    server: ModelServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    address = f"{server.url.removesuffix('/v1')}/{key}/v1"
    said_back = f'raw:{{"choices": [{{"message": {{"content": "you asked /{key}/v1"}}}}]}}'
    server.misbehave(said_back, "", *["status:500"] * 12)
    given = words(None, "-n", 2, "--out", "talks", "--json", "s.json", endpoint=address)
    monkeypatch.setattr("sys.argv", ["dialgauge", *given])
    outcome = dialgauge(capsys, *given)
    assert outcome.code == 1
    assert "[key]/v1" in outcome.out
    written = {str(path): path.read_bytes() for path in files(Path())}
    assert any(only_run().id in name for name in written) and b"[key]/v1" in written["tape.jsonl"]
    secret = key.rpartition("/")[2]
    for name, content in [*written.items(), ("screen", (outcome.out + outcome.err).encode())]:
        assert secret.encode() not in content, name
        assert secret not in name
    assert f"{address.replace(secret, '[key]')}" in " ".join(only_run().manifest.command)


# A server of somebody's own, behind the agent http.


@contextmanager
def own_server(reply: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

    http = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}/bot", asked
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def lab_http(capsys: pytest.CaptureFixture[str], url: str, *more: object) -> Outcome:
    start = ["lab", "run", "--system", "http", "--system-set", f"url={url}", "-n", 2, "--exchanges", 3]
    return dialgauge(capsys, *start, "--level", "text", "--store", "runs", *more)


def test_a_server_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    reply = "How about Ottershaw Art Rooms? It is a museum in the west."
    with own_server({"text": reply}) as (url, asked):
        outcome = lab_http(capsys, url.replace("http://", "http://me:hidden@") + "?token=hidden")
    assert outcome.code == 0, outcome.err
    run = only_run()
    turns = [turn for one in run.dialogues() for turn in one.turns if turn.speaker == "system"]
    assert {turn.text for turn in turns} == {reply}
    # The user of the first goal looks for a museum and hears an offer; the second wants a taxi.
    offer = Act(name="Attraction-Inform", domain="attraction", slot="name", values=("ottershaw art rooms",))
    assert [offer in (turn.acts or ()) for turn in turns] == [True] * 3 + [False] * 3
    assert len(asked) == len(turns)
    assert asked[1]["history"][0]["speaker"] == "user"
    assert "I-GCDF1" in run.scores
    assert all(b"hidden" not in path.read_bytes() for path in files(Path("runs")))


def test_a_server_that_writes_nonsense(capsys: pytest.CaptureFixture[str]) -> None:
    with own_server({"text": "\x1b[2J\x00 a" + "b" * 5000}) as (url, _):
        outcome = lab_http(capsys, url)
    assert outcome.code == 0, outcome.err
    assert all(len(turn.text) <= 2000 for one in only_run().dialogues() for turn in one.turns)
    with own_server({"answer": 1}) as (url, _):
        outcome = lab_http(capsys, url)
    assert outcome.code == 1
    assert "answered neither" in outcome.out
    assert lab_http(capsys, url, "--level", "act").code == 2


# One endpoint for both sides


def test_an_endpoint_for_both_sides_and_what_it_cost(server: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    start = ["lab", "run", "--user", "llm-user", "--system", "llm-system", "--level", "text", "-n", 2]
    where = ["--endpoint", server.url, "--model", "m", "--cassette", "t.jsonl", "--store", "runs"]
    outcome = dialgauge(capsys, *start, *where, "--system-set", "price_in=10", "--system-set", "price_out=100")
    assert outcome.code == 0, outcome.err
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["user", "6", "600", "60", "–"] in rows
    # 12 calls of 100 tokens at 10 for a million and 10 at 100.
    assert ["system", "12", "1200", "120", "0.0240"] in [[word.replace(",", "") for word in row] for row in rows]
    assert only_run().manifest.config["prices"] == {"system": [10.0, 100.0]}
    assert len(Path("t.jsonl").read_text().splitlines()) == 18
