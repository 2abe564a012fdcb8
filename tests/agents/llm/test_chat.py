"""The client: tries again where that helps, gives up where not, and never shows a key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialgauge.agents.llm import BudgetSpent, ChatClient, ChatError, ChatSettings
from dialgauge.errors import DialgaugeError
from support.model_server import TOKENS_IN, TOKENS_OUT, ModelServer, model_server, said

KEY = "sk-very-secret-0123456789"
QUESTION = [{"role": "user", "content": "hello"}]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as one:
        one.reply = lambda question: said(f"answer to {question['messages'][-1]['content']}")
        yield one


def client(server: ModelServer, **settings: Any) -> ChatClient:
    given = {"endpoint": server.url, "model": "m", "backoff": 0.001, "timeout": 5.0, **settings}
    return ChatClient(ChatSettings(**given))


def ask(one: ChatClient, content: str = "hello", seed: int = 1) -> str:
    messages = [{"role": "user", "content": content}]
    return one.ask(messages, seed=seed).text


def test_what_is_sent(server: ModelServer) -> None:
    answer = client(server).ask(QUESTION, seed=7)
    assert server.received == [
        {
            "model": "m",
            "messages": QUESTION,
            "temperature": 0.0,
            "seed": 7,
            "max_tokens": 200,
            "stream": False,
        }
    ]
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("answer to hello", TOKENS_IN, TOKENS_OUT)


@pytest.mark.parametrize(
    "way", ["status:429,0", "status:500", "status:503", "half", "wrong-json", "close", "list", "deep"]
)
def test_tried_again(server: ModelServer, way: str) -> None:
    server.misbehave(*[way] * 5)
    assert ask(client(server)) == "answer to hello"
    assert len(server.received) == 6


@pytest.mark.parametrize("way", ["status:429,0", "status:500", "half", "wrong-json", "close"])
def test_given_up_after_five_more_tries(server: ModelServer, way: str) -> None:
    server.misbehave(*[way] * 50)
    one = client(server)
    for calls in (1, 2, 3):
        with pytest.raises(ChatError, match="6 tries"):
            ask(one)
        assert len(server.received) == 6 * calls, "a blip must not cost the next dialogue its tries"
    # What is down is not waited for in every dialogue, until it answers.
    with pytest.raises(ChatError, match=r"\(1 try\)"):
        ask(one)
    server.misbehave()
    assert ask(one) == "answer to hello"
    server.misbehave("status:500")
    assert ask(one, "again") == "answer to again"


@pytest.mark.parametrize("way", ["status:400", "status:401", "status:404", "odd-message", "endless"])
def test_not_tried_again(server: ModelServer, way: str) -> None:
    server.misbehave(way)
    with pytest.raises(ChatError):
        ask(client(server))
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('{"object": "list", "data": []}', "missing required field `choices`"),
        ('{"choices": [{"text": "hello"}]}', "missing required field `message`"),
        ('{"choices": [{"message": {"tool_calls": [7]}}]}', "Expected `object`, got `int`"),
        ('{"error": {"message": "out of\\n memory"}}', "the endpoint reports an error (out of memory)"),
        ('{"error": "out of memory", "choices": []}', "the endpoint reports an error (out of memory)"),
    ],
)
def test_an_answer_that_is_not_in_the_format_says_what_it_lacks(server: ModelServer, body: str, why: str) -> None:
    server.misbehave(f"raw:{body}")
    with pytest.raises(ChatError) as error:
        ask(client(server))
    assert why in str(error.value)


def test_thoughts_are_not_spoken(server: ModelServer) -> None:
    for text in ("<think>a van?</think>Which day?", "a van?</think>\nWhich day?"):
        server.misbehave(f"raw:{json.dumps({'choices': [{'message': {'content': text}}]})}")
        assert ask(client(server)) == "Which day?"


def test_a_key_travels_in_the_header_and_nowhere_else(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("OTHER", "other-environment-text")
    cassette = tmp_path / "tape.jsonl"
    one = client(server, key_env="MY_KEY", cassette=str(cassette))
    server.misbehave("headers")
    assert "[key]" in ask(one)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    server.misbehave("echo:401", *["echo:500"] * 9)
    for question in ("a", "b"):
        with pytest.raises(ChatError) as caught:
            ask(one, question)
        assert KEY not in str(caught.value)
        assert "[key]" in str(caught.value)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    for content in written:
        assert KEY.encode() not in content
        assert b"other-environment-text" not in content


def test_a_key_in_another_spelling(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk/secret+key")
    one = client(server, key_env="MY_KEY")
    server.misbehave('raw:{"choices": [{"message": {"content": "is it sk\\/secret+key?"}}]}')
    assert ask(one) == "is it [key]?"
    server.misbehave('raw:{"choices": [{"message": {"content": "or s\\u006b/secret+key?"}}]}')
    assert ask(one) == "or [key]?"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"endpoint": ""}, "needs an endpoint: --endpoint URL"),
        ({"endpoint": "ftp://x"}, "not a web address"),
        ({"endpoint": "https://me:secret@host/v1"}, "must not contain a user, password"),
        ({"endpoint": "https://host/v1?key=secret"}, "must not contain a user, password"),
        ({"model": ""}, "its endpoint knows it by: --model NAME"),
        ({"key_env": "sk-123-secret"}, "the name of an environment variable"),
        ({"key_env": "secret123"}, "is not set"),
        ({"mode": "replay"}, "needs a cassette"),
        ({"mode": "rewind"}, "must be record or replay"),
        ({"mode": "replay", "cassette": "/nowhere/tape.jsonl"}, "no such cassette"),
        ({"budget_tokens": 10}, "needs a cassette"),
        ({"budget_money": 1.0, "cassette": "x"}, "needs prices"),
        ({"max_tokens": 0}, "at least 1"),
        ({"timeout": 0.0}, "more than 0 seconds"),
        ({"price_in": -1.0}, "at least 0"),
    ],
)
def test_settings_that_cannot_be_meant(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=sentence) as caught:
        ChatClient(ChatSettings(**{"endpoint": "http://localhost:1/v1", "model": "m", **settings}))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "budget", [{"budget_tokens": 250}, {"budget_money": 0.0003, "price_in": 1.0, "price_out": 2.0}]
)
def test_budget_of_a_run(server: ModelServer, tmp_path: Path, budget: dict[str, Any]) -> None:
    # 110 tokens, or 0.00012 of money, a call: the third goes over, and no other.
    tape = str(tmp_path / "tape.jsonl")
    one = client(server, cassette=tape, **budget)
    for seed in range(3):
        ask(one, seed=seed)
    with pytest.raises(BudgetSpent, match="for the run is spent"):
        ask(one, seed=3)
    # Others that use the cassette, now or later, have no more either; what is on it is free.
    another = client(server, cassette=tape, **budget)
    assert ask(another, seed=1) == "answer to hello"
    with pytest.raises(BudgetSpent):
        ask(another, seed=4)
    assert len(server.received) == 3
