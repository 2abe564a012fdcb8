"""A corpus that has nothing to do with restaurants: a help desk, with its own candidates and facts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import SILENCE, write
from dialgauge.rankers import (
    BUILT_IN,
    Point,
    Ranker,
    RankingTask,
    ScoreMatrix,
    Tell,
    log_task,
    ranker_class,
    silent,
    task_of_dialogues,
)
from dialgauge.responses import evaluate, evaluation_run
from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import dialgauge

DEVICES = ("printer", "router", "laptop", "phone", "screen")
GREETING = "help desk, what is broken?"
CANDIDATES = [GREETING, *(f"the {device} is mended in room {place}" for place, device in enumerate(DEVICES)), "bye"]
FACTS = [Fact(device, "room", str(place)) for place, device in enumerate(DEVICES)]


def call(number: int, *, own: bool = False) -> Dialogue:
    """A call about one of the devices; ``own``: turns bring the candidates they choose from."""
    place = number % len(DEVICES)
    device, answer = DEVICES[place], CANDIDATES[place + 1]
    other = CANDIDATES[(place + 1) % len(DEVICES) + 1]
    return Dialogue(
        id=f"call{number}",
        turns=(
            Turn(speaker="system", text=GREETING),
            Turn(speaker="user", text=f"my {device} is broken"),
            Turn(speaker="system", text=answer, candidates=(other, answer) if own else None),
            Turn(speaker="user", text="thanks", results=(Fact(device, "room", str(place)),)),
            Turn(speaker="system", text="bye"),
        ),
    )


class LastFirst(Ranker):
    """Prefers what stands last in the list."""

    name = "last-first"
    summary = "the last candidate"

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        self.candidates = task.candidates

    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        return np.tile(np.arange(len(self.candidates), dtype=np.float64), (len(points), 1))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Dialogues in the native format."""
    write([call(number) for number in range(30)], tmp_path / "calls.jsonl", format="native")
    return tmp_path / "calls.jsonl"


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "rules"])
def test_every_ranker_ranks_it(tmp_path: Path, name: str) -> None:
    splits = {"trn": range(20), "dev": range(20, 25), "tst": range(25, 35)}
    task = task_of_dialogues(
        {split: [call(number) for number in numbers] for split, numbers in splits.items()}, CANDIDATES, FACTS
    )
    model = ranker_class(name)(0)
    model.options = {
        key: value for key, value in {"epochs": "40", "dim": "16", "batch": "8"}.items() if key in model.settable
    }
    model.fit(task)
    run = evaluation_run(model, task, "tst")
    assert_run_contract(run)
    assert run.coverage["replies"].scored == 30
    if not name.startswith("tfidf"):
        assert run.scores["per-response"].value == 1.0
    assert_run_contract(Store(tmp_path).add(run))


def test_candidates_are_all_replies_or_those_of_a_list(corpus: Path, tmp_path: Path) -> None:
    assert set(log_task(corpus).candidates) == set(CANDIDATES)
    listed = tmp_path / "candidates.txt"
    listed.write_text("\n".join(["never  said", *CANDIDATES]) + "\n")
    task = log_task(corpus, candidates=listed)
    assert task.candidates == ("never said", *CANDIDATES)
    assert [role for role, _ in task.inputs] == ["dialogues", "candidates"]
    listed.write_text("".join(f"1 {text}\n" for text in CANDIDATES))
    assert log_task(corpus, candidates=listed).candidates == tuple(CANDIDATES)
    listed.write_text("bye\n")
    with pytest.raises(DialgaugeError, match=r"the reply 'help desk, .*' is not among the 1 candidates"):
        log_task(corpus, candidates=listed)


def test_the_deal_depends_on_the_seed_alone_and_keeps_conversations_whole(corpus: Path, tmp_path: Path) -> None:
    one, same, other = log_task(corpus, seed=1), log_task(corpus, seed=1), log_task(corpus, seed=2)
    assert one.splits == same.splits != other.splits
    assert {split: len(dialogs) for split, dialogs in one.splits.items()} == {"trn": 21, "dev": 3, "tst": 6}
    assert len({dialog.id for dialogs in one.splits.values() for dialog in dialogs}) == 30
    write([call(number) for number in range(2)], tmp_path / "few.jsonl", format="native")
    with pytest.raises(DialgaugeError, match="2 conversations with a reply: too few"):
        log_task(tmp_path / "few.jsonl")


def test_messages_in_a_row_are_one_line_and_empty_replies_are_none() -> None:
    said = [("user", "hello"), ("user", "it  is urgent"), ("system", ""), ("system", "I see"), ("system", "bye")]
    turns = tuple(Turn(speaker=speaker, text=text) for speaker, text in said)  # type: ignore[arg-type]
    task = task_of_dialogues({"trn": [Dialogue(id="one", turns=turns)]})
    assert task.candidates == ("I see", "bye")
    assert [one.utterance for one in task.split("trn")[0].points()] == ["hello it is urgent", SILENCE]


def test_facts_from_a_file(corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv"
    path.write_text("colour printer\tin room\t7 b\n\nrouter\troom\t1\n")
    assert log_task(corpus, facts=path).facts == (Fact("colour_printer", "in_room", "7 b"), Fact("router", "room", "1"))
    path.write_text("router\troom\t1\nrouter room\n")
    with pytest.raises(DialgaugeError, match=r"facts.tsv.*line 2.*between tabs"):
        log_task(corpus, facts=path)


def test_a_turn_with_its_own_candidates_is_ranked_among_those() -> None:
    task = task_of_dialogues(
        {"trn": [call(number, own=True) for number in range(5)], "tst": [call(number, own=True) for number in (5, 6)]}
    )
    assert set(task.candidates) == set(CANDIDATES)
    ranker = LastFirst()
    ranker.fit(task)
    result = evaluate(ranker, task.split("tst"))
    places = [task.index[text] for text in (GREETING, "bye")]
    assert result.ranks[result.turns == 0].tolist() == [len(CANDIDATES) - places[0]] * 2
    assert result.ranks[result.turns == 4].tolist() == [len(CANDIDATES) - places[1]] * 2
    own = [[task.index[text] for text in one.choices[1] or ()] for one in task.split("tst")]
    assert result.ranks[result.turns == 2].tolist() == [1 if gold > other else 2 for other, gold in own]
    assert result.chosen[result.turns == 2].tolist() == [max(pair) for pair in own]

    class Parrot:
        name, seed, options = "parrot", 0, dict[str, str]()

        def reply(self, point: object) -> str:
            return "bye"

    said = evaluate(Parrot(), task.split("tst"), task.candidates)
    assert said.chosen[said.turns == 2].tolist() == [-1, -1]
    assert said.ranks[said.turns == 2].tolist() == [3, 3]
    assert said.correct[said.turns == 4].all()


def test_a_gold_reply_outside_its_own_candidates_is_an_error() -> None:
    turns = (Turn(speaker="user", text="hi"), Turn(speaker="system", text="hello", candidates=("bye", "no")))
    with pytest.raises(DialgaugeError, match="the reply 'hello' is not among the 2 candidates"):
        task_of_dialogues({"trn": [Dialogue(id="one", turns=turns)]})


def test_on_the_command_line(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    (tmp_path / "candidates.txt").write_text("\n".join(CANDIDATES))
    (tmp_path / "facts.tsv").write_text("".join(f"{fact.entity}\t{fact.relation}\t{fact.value}\n" for fact in FACTS))
    given = ("--logs", corpus, "--candidates", tmp_path / "candidates.txt", "--facts", tmp_path / "facts.tsv")
    trained = dialgauge(
        capsys, "babi", "train", *given, "--out", tmp_path / "m", "--set", "epochs=40", "--set", "batch=8"
    )
    assert trained.code == 0, trained.err
    evaluated = dialgauge(
        capsys, "babi", "evaluate", *given, "--model", tmp_path / "m", "--split", "tst", "--json", tmp_path / "e.json"
    )
    assert evaluated.code == 0, evaluated.err
    [run] = json.loads((tmp_path / "e.json").read_text())["runs"]
    assert run["scores"]["per-response"]["value"] > 0.6  # training ends when the three dialogues of dev are right
    roles = [[one.role for one in manifest.inputs] for manifest in Store().list()]
    assert roles == [["dialogues", "candidates", "facts"]] * 2
    for manifest in Store().list():
        assert_run_contract(Store().open(manifest.id))
    misplaced = dialgauge(capsys, "babi", "evaluate", "--data", tmp_path, "--facts", tmp_path / "facts.tsv")
    assert misplaced.code == 2
    assert "--data has candidates and facts; leave out --facts" in misplaced.err
