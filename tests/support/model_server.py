"""An OpenAI-compatible server for tests: the same question gets the same answer, and it misbehaves on request."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKENS_IN, TOKENS_OUT = 100, 10
USER_LINES = (
    "I need a restaurant in the north.",
    "What is the phone number?",
    "Thank you, goodbye.\n[DONE]",
)
Answer = dict[str, Any]


class ModelServer:
    """Counts what it is asked. ``misbehave`` lists what happens to the next calls, one word each; then all is well."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        #: By a checksum of the question: how often it was answered in full. A second time would be paid twice.
        self.answered: Counter[str] = Counter()
        self.reply: Callable[[dict[str, Any]], Answer] = standard_reply
        self._misbehave: list[str] = []
        self._lock = threading.Lock()
        self.released = threading.Event()
        self._hanging = threading.Semaphore(0)

    def misbehave(self, *ways: str) -> None:
        self._misbehave = list(ways)

    def next_way(self, question: dict[str, Any], headers: dict[str, str]) -> str:
        with self._lock:
            self.received.append(question)
            self.headers.append(headers)
            return self._misbehave.pop(0) if self._misbehave else ""

    def finished(self, question: dict[str, Any], *, in_full: bool) -> None:
        """Before the answer goes out: afterwards the other side may have asked the next question already."""
        with self._lock:
            if in_full:
                self.answered[hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()] += 1

    def wait_until_hanging(self, calls: int) -> bool:
        """Wait until so many calls get no answer; false where they never come."""
        return all(self._hanging.acquire(timeout=120) for _ in range(calls))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    port = 0


def said(text: Any, **more: Any) -> Answer:
    """An answer in words."""
    return {"message": {"role": "assistant", "content": text, **more}, "finish_reason": "stop"}


def tool_call(name: str, arguments: Any) -> Answer:
    """An answer that wants a tool used."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": written}}
    return said(None, tool_calls=[call]) | {"finish_reason": "tool_calls"}


def standard_reply(question: dict[str, Any]) -> Answer:
    """A user that asks for a restaurant, a system that searches once a reply."""
    messages = question["messages"]
    prompt = messages[0]["content"]
    if prompt.startswith("You are a customer"):
        return said(USER_LINES[min(sum(one["role"] == "assistant" for one in messages), len(USER_LINES) - 1)])
    search = {"area": "north"}
    if "tools" in question:
        if messages[-1]["role"] == "tool":
            rows = json.loads(messages[-1]["content"])["rows"]
            return said(f"{rows[0]['name']} is in the north, its phone number is {rows[0]['phone']}.")
        return tool_call("search_restaurant", search)
    if "response_format" in question:
        if messages[-1]["content"].startswith("RESULT:"):
            return said('{"say": "Which area would you like?"}')
        return said(json.dumps({"tool": "search_restaurant", "arguments": search}))
    return said("How can I help?")


def _body(question: dict[str, Any], choice: Answer, **more: Any) -> bytes:
    usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT}
    return json.dumps(
        {"choices": [{"index": 0, **choice}], "usage": usage, "model": question["model"], **more}
    ).encode()


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            way = server.next_way(question, dict(self.headers))
            self._question = question
            with suppress(BrokenPipeError, ConnectionResetError):
                self._answer(way, question)

        def _answer(self, way: str, question: dict[str, Any]) -> None:
            name, _, value = way.partition(":")
            if name == "hang":
                server._hanging.release()
                server.released.wait(60)
            if name == "late":
                server._hanging.release()
                server.released.wait(60)
            if name in ("hang", "close"):
                server.finished(question, in_full=False)
                self.close_connection = True
                return
            if name == "status":
                code, _, wait = value.partition(",")
                self._send(int(code), b'{"error": {"message": "not now"}}', {"Retry-After": wait} if wait else {})
            elif name == "echo":
                told = f"bad key {self.headers['Authorization']}"
                self._send(int(value), json.dumps({"error": {"message": told}}).encode())
            elif name == "half":
                whole = _body(question, server.reply(question))
                self._begin(200, len(whole))
                self.wfile.write(whole[: len(whole) // 2])
                self.close_connection = True
            elif name == "endless":
                self._begin(200, 1 << 40)
                while True:
                    self.wfile.write(b'{"choices": "' + b"a" * 65536)
            elif name == "raw":
                self._send(200, value.encode())
            else:
                self._send(200, self._content(name, question))

        def _content(self, name: str, question: dict[str, Any]) -> bytes:
            choices: dict[str, Answer] = {
                "empty": said(""),
                "null": said(None),
                "control": said("\x1b[31mred\x00 \ud800 words\x07"),
                "long": said("word " * 100_000),
                "filter": said("") | {"finish_reason": "content_filter"},
                "unknown-tool": tool_call("format_disk", {"all": True}),
                "bad-arguments": tool_call("search_restaurant", "{not json"),
                "list-arguments": tool_call("search_restaurant", "[1, 2]"),
                "odd-arguments": tool_call("search_restaurant", {"area": ["north"], "food": 3}),
                "unknown-column": tool_call("search_restaurant", {"colour": "red"}),
                "unknown-domain": tool_call("search_moon", {}),
                "no-such-place": tool_call("book_hotel", {"name": "nowhere"}),
                "headers": said(json.dumps(dict(self.headers))),
            }
            bodies = {
                "wrong-json": b"{this is no JSON",
                "list": b"[]",
                "no-choices": b'{"choices": []}',
                "odd-message": b'{"choices": [{"message": "hello"}]}',
                "deep": b"[" * 100_000,
            }
            if name in bodies:
                return bodies[name]
            if name == "no-usage":
                return json.dumps({"choices": [server.reply(question)], "usage": None}).encode()
            return _body(question, choices[name] if name in choices else server.reply(question))

        def _begin(
            self, status: int, length: int, headers: dict[str, str] | None = None, *, in_full: bool = False
        ) -> None:
            server.finished(self._question, in_full=in_full)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(length))
            for header, value in (headers or {}).items():
                self.send_header(header, value)
            self.end_headers()

        def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self._begin(status, len(body), headers, in_full=status == 200)
            self.wfile.write(body)

    return Handler


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A server on a free port."""
    server = ModelServer()
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    http.daemon_threads = True
    server.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join()
