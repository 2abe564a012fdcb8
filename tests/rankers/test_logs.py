"""Chat logs as a task: the operators' replies are the candidates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import log_task

TOPICS = ("a table", "the menu", "parking", "opening hours", "a birthday cake")


def write_logs(path: Path, conversations: int = 30) -> Path:
    """Made-up logs: greetings, a question, an answer; some say things twice, some operators send empty messages."""
    lines = []
    for number in range(conversations):
        topic = TOPICS[number % len(TOPICS)]
        said = [
            ("customer", "hello"),
            ("operator", "good day,  how can I help?"),
            ("customer", f"I have a question about {topic}"),
            ("customer", "it is urgent"),
            ("operator", ""),
            ("operator", f"here is what I know about {topic}"),
            ("operator", "anything else?"),
            ("customer", "no"),
        ]
        lines += [{"dialogue": f"c{number}", "speaker": speaker, "text": text} for speaker, text in said]
    path.with_name(f"{path.name}.map.yaml").write_text(
        "reads: conversations\ndialogue: dialogue\nrole: speaker\ncontent: text\n"
        "roles: {customer: user, operator: assistant}\n"
    )
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return path


def test_operators_replies_are_the_candidates(tmp_path: Path) -> None:
    task = log_task(write_logs(tmp_path / "logs.jsonl"))
    assert set(task.candidates) == {
        "good day, how can I help?",
        "anything else?",
        *(f"here is what I know about {topic}" for topic in TOPICS),
    }
    assert {split: len(dialogs) for split, dialogs in task.splits.items()} == {"trn": 21, "dev": 3, "tst": 6}
    first = task.split("trn")[0].points()
    assert [one.utterance for one in first][1:] == [first[1].utterance, "<SILENCE>"]
    assert first[1].utterance.endswith("it is urgent")


def test_the_deal_depends_on_the_seed_alone_and_keeps_conversations_whole(tmp_path: Path) -> None:
    path = write_logs(tmp_path / "logs.jsonl")
    one, same, other = log_task(path, seed=1), log_task(path, seed=1), log_task(path, seed=2)
    assert one.splits == same.splits != other.splits
    names = [dialog.id for dialogs in one.splits.values() for dialog in dialogs]
    assert len(names) == len(set(names)) == 30


@pytest.mark.parametrize(("dev", "test"), [(0.0, 0.2), (0.5, 0.5), (0.1, -1.0)])
def test_shares_that_leave_nothing(tmp_path: Path, dev: float, test: float) -> None:
    with pytest.raises(DialgaugeError, match="shares of dev and test"):
        log_task(write_logs(tmp_path / "logs.jsonl"), dev=dev, test=test)


def test_too_few_conversations(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="2 conversations with a reply: too few"):
        log_task(write_logs(tmp_path / "logs.jsonl", 2))
