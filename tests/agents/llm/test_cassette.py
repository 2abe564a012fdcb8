"""Cassettes: nothing is asked twice, nothing is lost, and a miss says what was missed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialgauge.agents.llm import (
    Cassette,
    ChatClient,
    ChatError,
    ChatSettings,
    Completion,
    TapeEntry,
    request_key,
)
from support.model_server import ModelServer, model_server, said


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as one:
        one.reply = lambda question: said(f"answer {question['seed']}")
        yield one


def ask(tape: Path, mode: str, endpoint: str = "", seed: int = 1, **settings: Any) -> str:
    one = ChatClient(ChatSettings(endpoint=endpoint, model="m", cassette=str(tape), mode=mode, retries=0, **settings))
    messages = [{"role": "user", "content": "where is the station"}]
    return one.ask(messages, seed=seed).text


def test_recorded_once_and_replayed_without_an_endpoint(server: ModelServer, tmp_path: Path) -> None:
    tape = tmp_path / "new" / "tape.jsonl"
    assert [ask(tape, "record", server.url, seed) for seed in (1, 2, 1)] == ["answer 1", "answer 2", "answer 1"]
    assert len(server.received) == 2
    assert ask(tape, "replay", seed=2) == "answer 2"
    with pytest.raises(ChatError, match=r"has no answer .* the request \w{12} that ends with “where is the station”"):
        ask(tape, "replay", seed=3)
    assert len(tape.read_text().splitlines()) == 2


def test_the_key_is_model_messages_and_parameters() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "é"}], "seed": 1}
    assert request_key(request) == request_key(dict(reversed(request.items())))
    others = [{**request, "model": "n"}, {**request, "seed": 2}, {**request, "messages": []}, {**request, "tools": []}]
    assert len({request_key(one) for one in [request, *others]}) == 5


def entry(key: str) -> TapeEntry:
    return TapeEntry(
        key=key, request={"messages": []}, answer=Completion(text=key, tokens_in=3, tokens_out=4), cost=0.5
    )


def test_what_others_add_is_seen(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    mine, theirs = Cassette(tape), Cassette(tape)
    theirs.keep(entry("a"))
    mine.keep(entry("b"))
    theirs.keep(entry("c"))
    assert [mine.find(key) is not None for key in "abc"] == [True] * 3
    assert mine.tokens == 21
