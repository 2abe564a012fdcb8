from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import Episode, Line, Point, Ranker, RankingTask, ScoreMatrix, Tell, silent
from dialgauge.responses import RankingResult, evaluate

CANDIDATES = ("a", "b", "c", "d")


class Fixed(Ranker):
    """Scores that a function gives."""

    name = "fixed"
    summary = "scores from a function"
    candidates = CANDIDATES

    def __init__(self, function: Callable[[Sequence[Point]], object]) -> None:
        super().__init__()
        self._function = function

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        """Nothing to learn."""

    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        return np.asarray(self._function(points), dtype=np.float64)


def dialog(name: str, *replies: str) -> Episode:
    lines = [line for reply in replies for line in (Line("user", "x"), Line("bot", reply))]
    return Episode(name, tuple(lines), tuple(range(0, len(lines), 2)))


def saying(said: Sequence[str], *dialogs: Episode) -> Fixed:
    """Says the sentences in the order of the dialogs' replies."""
    places = [(point.dialogue, point.turn) for one in dialogs for point in one.points()]
    plan = dict(zip(places, said, strict=True))
    return Fixed(lambda points: [[float(c == plan[one.dialogue, one.turn]) for c in CANDIDATES] for one in points])


def evaluated(said: Sequence[str], *dialogs: Episode) -> RankingResult:
    return evaluate(saying(said, *dialogs), dialogs)


def test_ties_go_to_the_first_in_the_file_and_are_counted() -> None:
    result = evaluate(Fixed(lambda points: [[0.0, 1.0, 1.0, 0.0]] * len(points)), [dialog("one", "b", "c")])
    assert result.ranks.tolist() == [1, 2]
    assert result.chosen.tolist() == [1, 1]
    assert result.tied.tolist() == [True, True]


def test_no_answer_is_never_right_and_ranks_behind_everything() -> None:
    result = evaluate(Fixed(lambda points: [[-math.inf] * 4] * len(points)), [dialog("one", "a")])
    assert result.per_response == 0.0
    assert result.ranks.tolist() == [5]
    assert result.unanswered == 1
    assert not result.tied.any()
    assert result.frame(CANDIDATES)["chosen"].to_list() == [""]


def test_an_infinite_score_is_an_answer() -> None:
    result = evaluate(Fixed(lambda points: [[0, math.inf, 0, 0]] * len(points)), [dialog("one", "b")])
    assert result.per_response == 1.0
    assert result.unanswered == 0


def test_an_empty_list_is_an_error() -> None:
    for dialogs in ([], [Episode("empty", (), ())]):
        with pytest.raises(DialgaugeError, match="no reply to predict"):
            evaluated("", *dialogs)


def test_wrong_number_of_scores() -> None:
    with pytest.raises(DialgaugeError, match=r"shape \(1, 3\) for 1 replies among 4 candidates"):
        evaluate(Fixed(lambda points: [[1.0, 2.0, 3.0]]), [dialog("one", "a")])


def test_a_score_that_is_no_number_names_dialog_and_turn() -> None:
    with pytest.raises(DialgaugeError, match=r"dialogue one, turn 1: .* not a number"):
        evaluate(
            Fixed(lambda points: [[0.0, (0.0, math.nan)[one.turn], 0.0, 0.0] for one in points]),
            [dialog("one", "a", "b")],
        )


def test_a_reply_that_is_no_candidate_of_the_model() -> None:
    with pytest.raises(DialgaugeError, match="dialogue one, turn 0: the reply 'z'"):
        evaluated("a", dialog("one", "z"))
