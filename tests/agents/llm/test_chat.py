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


def test_empty_choices_are_tried_again(server: ModelServer) -> None:
    server.misbehave("no-choices")
    assert ask(client(server), "again") == "answer to again"
    assert len(server.received) == 2


def test_thoughts_are_not_spoken(server: ModelServer) -> None:
    for text in ("<think>a van?</think>Which day?", "a van?</think>\nWhich day?"):
        server.misbehave(f"raw:{json.dumps({'choices': [{'message': {'content': text}}]})}")
        assert ask(client(server)) == "Which day?"


def test_an_endpoint_gets_the_fields_it_wants(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_KEY", "topsecretvalue")
    settings = {
        "extra_body": '{"top_p": 0.9, "temperature": null, "max_tokens": null, "max_completion_tokens": 200}',
        "headers": "api-key: $DESK_KEY; X-Team: lab",
    }
    asked = client(server, **settings, endpoint=f"{server.url}?api-version=2024-06-01")
    assert ask(asked, "hello") == "answer to hello"
    request = server.received[0]
    assert request["max_completion_tokens"] == 200 and request["top_p"] == 0.9
    assert not request.keys() & {"temperature", "max_tokens"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"extra_body": "[1]"}, "must be a JSON object"),
        ({"extra_body": "{"}, "not valid JSON"),
        ({"headers": "nonsense"}, "the form 'Name: value"),
        ({"headers": "api-key: $NOT_SET_ANYWHERE"}, "names is not set"),
    ],
)
def test_fields_that_cannot_be_meant(server: ModelServer, settings: dict[str, str], sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=sentence):
        client(server, **settings)


def test_a_slow_server_is_not_waited_for(server: ModelServer) -> None:
    server.misbehave("hang", "hang")
    with pytest.raises(ChatError, match=r"did not answer within 0\.2 seconds"):
        ask(client(server, timeout=0.2, retries=1))
    assert len(server.received) == 2


def test_the_server_says_how_long_to_wait(server: ModelServer) -> None:
    waited: list[float] = []
    settings = ChatSettings(endpoint=server.url, model="m", backoff=8.0)
    server.misbehave("status:429,3", "status:429,100000", "status:429,nan", "status:500")
    ChatClient(settings, pause=waited.append).ask(QUESTION, seed=1)
    assert waited[:2] == [3.0, 120.0]
    assert 8.0 * 4 / 2 <= waited[2] <= 8.0 * 4
    assert 8.0 * 8 / 2 <= waited[3] <= 8.0 * 8


@pytest.mark.parametrize(
    ("way", "text"), [("empty", ""), ("null", ""), ("control", "[31mred  ? words"), ("no-usage", "answer to hello")]
)
def test_odd_answers(server: ModelServer, way: str, text: str) -> None:
    server.misbehave(way)
    assert ask(client(server)) == text


def test_long_text_is_cut(server: ModelServer) -> None:
    server.misbehave("long")
    assert len(ask(client(server))) == 20_000


def test_tokens_are_estimated_where_the_server_does_not_count(server: ModelServer) -> None:
    server.misbehave("no-usage")
    answer = client(server).ask(QUESTION, seed=1)
    assert answer.tokens_out == 4  # 15 characters
    assert answer.tokens_in > 0


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


def test_a_key_with_a_line_break_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "se\ncret")
    with pytest.raises(DialgaugeError, match="MY_KEY holds characters") as caught:
        ChatClient(ChatSettings(endpoint="http://localhost:1/v1", model="m", key_env="MY_KEY"))
    assert "cret" not in str(caught.value)


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
