from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.comparison import compare_runs
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.rankers import Point, RankingTask, points_of, task_of_dialogues
from dialgauge.responses import evaluation_run
from dialgauge.responses.pairing import PAIRING
from dialgauge.runs import Run, Store


def task() -> RankingTask:
    said = [("user", "hi"), ("system", "hello"), ("system", "how many?"), ("user", "two"), ("system", "done")]
    turns = tuple(Turn(speaker=speaker, text=text) for speaker, text in said)  # type: ignore[arg-type]
    return task_of_dialogues({"tst": [Dialogue(id=f"d{number}", turns=turns) for number in range(8)]})


class Bot:
    """Gives the gold reply, and in its places another sentence."""

    seed = 0

    def __init__(self, name: str, instead: dict[tuple[str, str], str]) -> None:
        self.name, self.options, self._instead = name, dict[str, str](), instead

    def reply(self, point: Point) -> str:
        gold = {(one.dialogue, one.turn): one.reply for one in points_of(task().split("tst"))}
        right = gold[point.dialogue, point.turn]
        return self._instead.get((point.dialogue, right), right)


def run_of(bot: Bot) -> Run:
    made = task()
    return evaluation_run(bot, made, "tst")


@pytest.fixture(params=["memory", "stored"])
def runs(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Run, Run]:
    first = run_of(Bot("good", {("d2", "how many?"): "hello"}))
    second = run_of(Bot("bad", {(f"d{n}", text): "what?" for n in range(4) for text in ("how many?", "done")}))
    if request.param == "stored":
        first, second = (Store(tmp_path).add(run) for run in (first, second))
    return first, second


def test_two_bots_are_compared_without_a_warning_about_their_models(runs: tuple[Run, Run]) -> None:
    comparison = compare_runs(runs, resamples=200)
    assert not [note for note in comparison.notes if "model" in note]


def test_scores_of_turns(runs: tuple[Run, Run]) -> None:
    frame = PAIRING.turn_scores(runs[0])
    assert frame is not None
    assert frame.columns == ["dialogue", "turn", "per-response"]
    assert frame["per-response"].sum() == 23.0
