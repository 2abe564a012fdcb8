"""Chat logs: how conversations are told apart, who speaks, and what is refused."""

from __future__ import annotations

import pytest

from dialgauge.errors import DialgaugeError
from support.reading import read_bytes


def test_conversations_by_id() -> None:
    log = b"""{"dialogue": 7, "speaker": "Customer", "text": "hi", "user_id": "u77"}
{"dialogue": 7, "speaker": "operator", "text": "hello"}
{"dialogue": "b", "speaker": "visitor", "text": "a table"}
"""
    dialogues, notes = read_bytes("chat-log", log)
    assert [(d.id, [(t.speaker, t.text) for t in d.turns]) for d in dialogues] == [
        ("7", [("user", "hi"), ("system", "hello")]),
        ("b", [("user", "a table")]),
    ]
    assert notes.counts == {"field user_id dropped": 1}


def test_conversations_by_empty_line() -> None:
    log = b'{"speaker":"user","text":"hi"}\n\n\n{"speaker":"bot","text":"ho"}\n{"speaker":"user","text":"hm"}\n'
    dialogues, _ = read_bytes("chat-log", log, "logs/may.jsonl")
    assert [(dialogue.id, len(dialogue.turns)) for dialogue in dialogues] == [("may-0001", 1), ("may-0002", 2)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"speaker":"operater","text":"hi"}', "Did you mean 'operator'"),
        (b'{"speaker":"user"}', "needs 'speaker' and 'text'"),
        (b'{"speaker":"user","text":5}', "needs 'speaker' and 'text'"),
        (b'{"speaker":"user","text":"hi","dialogue":[1]}', "must be a string or a number"),
        (b'{"speaker":"user","text":"hi"', "not valid JSON"),
        (b'["user","hi"]', "expected shape"),
    ],
)
def test_faults_name_the_line(line: bytes, said: str) -> None:
    with pytest.raises(DialgaugeError) as caught:
        read_bytes("chat-log", b'{"speaker":"user","text":"hi"}\n' + line + b"\n")
    assert caught.value.line == 2
    assert said in str(caught.value)


def test_messages_of_a_dialogue_must_stand_together() -> None:
    lines = [f'{{"dialogue":"{name}","speaker":"user","text":"hi"}}\n' for name in ("a", "b", "a")]
    with pytest.raises(DialgaugeError, match="the dialogue 'a' continues here after another one") as caught:
        read_bytes("chat-log", "".join(lines).encode())
    assert caught.value.line == 3
