"""Bots that answer from the dialog so far: rankers, functions, and a real server behind HTTP with all its moods."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from dialgauge.agents import CallableBot, HttpBot, ModelBot, Rules, SystemContext
from dialgauge.dialogue import Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import Point
from dialgauge.responses import evaluate
from dialgauge.worlds.restaurant import FactDatabase
from support.tiny_world import point, tiny_task

CONTEXT = SystemContext(dialogue_id="d", database=FactDatabase([]))


def said(bot: CallableBot | ModelBot, text: str, facts: tuple[Fact, ...] | None = None) -> str:
    reply = bot.respond(Turn(speaker="user", text=text, results=facts))
    assert reply.turn is not None
    return reply.turn.text


def test_a_bot_keeps_its_own_words_and_the_facts() -> None:
    seen: list[Point] = []

    def answer(point: Point) -> str:
        seen.append(point)
        return "i'm on it" if len(seen) == 1 else "well"

    bot = CallableBot(answer)
    bot.start(CONTEXT)
    assert said(bot, "hi") == "i'm on it"
    assert said(bot, "", (Fact("inn", "R_phone", "inn_phone"),)) == "well"
    bot.overrule(Turn(speaker="system", text=" not so well "))
    assert said(bot, "x", ()) == "well"
    assert [line.text for line in seen[2].history] == [
        "hi",
        "i'm on it",
        "inn R_phone inn_phone",
        "<SILENCE>",
        "not so well",
        "api_call no result",
    ]
    assert [(one.dialogue, one.turn) for one in seen] == [("d", 0), ("d", 1), ("d", 2)]
    bot.start(CONTEXT)
    said(bot, "hi")
    assert seen[-1].history == ()


@contextmanager
def server(respond: Callable[[dict[str, Any]], tuple[int, bytes]]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, body = respond(question)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up is part of the play."""

    running = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_address[1]}/reply"
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def test_a_bot_behind_http_is_evaluated_like_any_other() -> None:
    task = tiny_task(1)
    rules = Rules()
    rules.fit(task)
    asked: list[dict[str, Any]] = []

    def respond(question: dict[str, Any]) -> tuple[int, bytes]:
        asked.append(question)
        history = [(line["speaker"], line["text"]) for line in question["history"]]
        said = rules.reply(point(*history, utterance=question["utterance"]))
        return 200, json.dumps({"text": said}).encode()

    with server(respond) as url:
        bot = HttpBot(url)
        result = evaluate(bot, task.split("tst")[:5], task.candidates)
    assert result.per_dialog == 1.0
    assert set(asked[0]) == {"dialogue", "turn", "history", "utterance"}
    assert bot.options == {"url": url}


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (500, b"oops", "status 500"),
        (404, b"", "status 404"),
        (200, b"<html>", "did not answer"),
        (200, b'{"answer": "x"}', "answered neither"),
        (200, b'{"text": 3}', "did not answer"),
        (200, b"\xff\xff", "did not answer"),
        (200, b"x" * ((1 << 20) + 1), "more than 1,048,576 bytes"),
    ],
)
def test_failures_are_sentences_with_dialog_and_turn(status: int, body: bytes, message: str) -> None:
    with server(lambda question: (status, body)) as url:
        bot = HttpBot(url.replace("http://", "http://me:secret@") + "/sk-secret-path/bot?token=secret")
        with pytest.raises(DialgaugeError, match=message) as caught:
            bot.reply(point(("user", "hi"), ("bot", "hello")))
    assert (caught.value.dialogue, caught.value.turn) == ("made-up", 1)
    assert "secret" not in str(caught.value)
