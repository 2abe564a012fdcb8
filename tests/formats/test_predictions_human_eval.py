"""The human-evaluation text files: layout, hostile literals, and the 100 public dialogues."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.dialogue import State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.text import note_kind
from support.examples import EXAMPLES
from support.reading import read_bytes

EXAMPLE = EXAMPLES["human-eval"]


def test_the_system_speaks_before_the_user() -> None:
    [dialogue], notes = read_bytes("human-eval", EXAMPLE)
    both: State = {"hotel": {"area": ("north",), "pricerange": ("cheap",)}}
    assert dialogue.id == "MUL0001.json"
    assert dialogue.turns == (
        Turn(speaker="user", text="A hotel in the north, please.", state={"hotel": {"area": ("north",)}}, predicted={}),
        Turn(speaker="system", text="There are two.\nWhich one?"),
        Turn(speaker="user", text="The cheaper one.", state=both, predicted=both),
    )
    assert not notes.counts


def test_without_a_first_line_the_file_names_the_dialogue() -> None:
    content = EXAMPLE.split(b"\n", 1)[1]
    [dialogue], _ = read_bytes("human-eval", content, "folder/PMUL1.json.txt")
    assert dialogue.id == "PMUL1.json"


def test_an_utterance_may_look_like_a_label() -> None:
    content = EXAMPLE.replace(b"Which one?", b"Turn: 7\nPR  : {}\n-----")
    [dialogue], _ = read_bytes("human-eval", content)
    assert dialogue.turns[1].text == "There are two.\nTurn: 7\nPR  : {}\n-----"


def test_a_verdict_that_contradicts_the_states_is_noted() -> None:
    _, notes = read_bytes("human-eval", EXAMPLE.replace(b"Matched : False", b"Matched : True"))
    assert notes.counts == {"turns whose 'Matched' contradicts their states": 1}
    assert [note_kind(note) for note in notes.counts] == ["contradicted_match"], "what reproduce counts"


@pytest.mark.parametrize(
    "literal",
    [
        b"{'hotel': {'stars': 4}}",
        b"{'hotel': 'north'}",
        b"['hotel']",
        b"{'hotel': open('/etc/passwd')}",
        b"__import__('os').system('true')",
        b"{" * 5000 + b"}" * 5000,
        b"'" + b"x" * 100_001 + b"'",
        b"{'hotel'",
        b"{'a': {'b': 'c\x00'}}",
        b"",
    ],
)
def test_states_that_are_no_plain_literals_are_refused(literal: bytes) -> None:
    with pytest.raises(DialgaugeError, match="the state after PR is") as caught:
        read_bytes("human-eval", EXAMPLE.replace(b"{{}}", literal), "file.txt")
    assert str(caught.value).startswith("file.txt, dialogue MUL0001.json, turn 0: ")


def test_a_stray_line_and_an_early_end() -> None:
    with pytest.raises(DialgaugeError, match=r"line 11: 'Turn :' was expected here, not 'stray'"):
        read_bytes("human-eval", EXAMPLE.replace(b"Matched : False\n", b"Matched : False\nstray\n"))
    with pytest.raises(DialgaugeError, match="the file ends where 'Matched :' was expected"):
        read_bytes("human-eval", EXAMPLE.replace(b"Matched : True", b""))


def test_a_missing_turn_is_a_hole() -> None:
    [dialogue], notes = read_bytes("human-eval", EXAMPLE.replace(b"Turn: 1", b"Turn: 2"))
    assert [turn.state is None for turn in dialogue.user_turns()] == [False, True, False]
    assert notes.counts == {"missing turns, left as holes": 1}


def test_the_hundred_public_dialogues(shared_data: Path, expected: Path) -> None:
    corpus = read(shared_data / "dst_predictions" / "somdst_human100.tar.gz")
    wanted = json.loads((expected / "dst_somdst_human100.json").read_text())["per_dialogue"]
    found = {
        dialogue.id: {
            "turns": sum(1 for _ in dialogue.user_turns()),
            "exact": sum(turn.state == turn.predicted for turn in dialogue.user_turns()),
            "gold_empty": sum(turn.state == {} for turn in dialogue.user_turns()),
        }
        for dialogue in corpus.dialogues
    }
    assert found == {name: {key: row[key] for key in ("turns", "exact", "gold_empty")} for name, row in wanted.items()}
    assert sum(row["turns"] for row in found.values()) == 751
    assert not corpus.notes.counts
