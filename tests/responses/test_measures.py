"""The cards of the family, and the measures against a plain reading of their formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.measures import cards, parse_measure
from dialgauge.rankers import Episode, Line, Point
from dialgauge.responses import RankingResult, evaluate, ranked, reply_measures, score_replies

DEFAULT = ("per-response", "per-dialog", "hits@2", "hits@5", "hits@10", "MRR")


def result_of(ranks: list[list[int]]) -> RankingResult:
    """A result with these ranks of the gold reply, dialogue by dialogue."""
    flat = np.array([rank for dialogue in ranks for rank in dialogue], dtype=np.int64)
    return RankingResult(
        ids=tuple(f"d{number}" for number in range(len(ranks))),
        dialogue=np.repeat(np.arange(len(ranks)), [len(dialogue) for dialogue in ranks]),
        turns=np.arange(len(flat)),
        classes=["fixed"] * len(flat),
        gold=np.zeros(len(flat), dtype=np.int64),
        chosen=np.zeros(len(flat), dtype=np.int64),
        ranks=flat,
        tied=np.zeros(len(flat), dtype=bool),
    )


def test_the_family_and_its_names() -> None:
    assert {"per-response", "per-dialog", "hits", "MRR"} <= set(cards("responses"))
    assert [str(measure) for measure in reply_measures()] == list(DEFAULT)
    assert str(parse_measure("hits@3")) == "hits@3"
    assert str(parse_measure("hits")) == "hits@10"
    assert [str(one) for one in reply_measures(["default,hits@1"])] == [*DEFAULT, "hits@1"]
    assert [str(parse_measure(f"per-dialog{k}")) for k in ("", "@1", "@10")] == ["per-dialog"] * 2 + ["per-dialog@10"]
    with pytest.raises(DialgaugeError, match="whole number ≥ 1"):
        parse_measure("hits@0.5")
    with pytest.raises(DialgaugeError, match=r"JGA is a measure of tracking|no measure named 'JGA'"):
        reply_measures(["JGA"])


@given(st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=6), min_size=1, max_size=8))
def test_values_against_the_formulas(ranks: list[list[int]]) -> None:
    scores = score_replies(result_of(ranks), resamples=20)
    flat = [rank for dialogue in ranks for rank in dialogue]
    expected = {
        "per-response": Fraction(sum(rank == 1 for rank in flat), len(flat)),
        "per-dialog": Fraction(sum(set(dialogue) == {1} for dialogue in ranks), len(ranks)),
        **{f"hits@{k}": Fraction(sum(rank <= k for rank in flat), len(flat)) for k in (2, 5, 10)},
        "MRR": sum((Fraction(1, rank) for rank in flat), Fraction(0)) / len(flat),
    }
    for name, value in expected.items():
        assert scores[name].value == pytest.approx(float(value), rel=1e-12), name
    assert set(scores.scores) == set(expected)
    assert scores.sums["per-dialog"][1].tolist() == [1.0] * len(ranks)
    assert result_of(ranks).per_dialog == scores["per-dialog"].value
    assert result_of(ranks).per_response == scores["per-response"].value
    assert scores.coverage["replies"].scored == len(flat)
    assert scores.coverage.complete


CANDIDATES = ("a", "b", "c", "d", "e")


class Saying:
    """Says sentences in the order of the replies."""

    name, seed = "saying", 0

    def __init__(self, said: list[str]) -> None:
        self.options: dict[str, str] = {}
        self._said = iter(said)

    def reply(self, point: Point) -> str:
        return next(self._said)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["a", "b ", "c", " d", "e", "", "z"])), min_size=1))
def test_a_sentence_ranks_as_scores_would_that_are_minus_infinity_everywhere_else(pairs: list[tuple[str, str]]) -> None:
    lines = [line for gold, _ in pairs for line in (Line("user", "x"), Line("bot", gold))]
    dialog = Episode("one", tuple(lines), tuple(range(0, len(lines), 2)))
    result = evaluate(Saying([said for _, said in pairs]), [dialog], CANDIDATES)
    scores = np.full((len(pairs), len(CANDIDATES)), -np.inf)
    for row, (_, said) in enumerate(pairs):
        if said.strip() in CANDIDATES:
            scores[row, CANDIDATES.index(said.strip())] = 0.0
    gold = np.array([CANDIDATES.index(reply) for reply, _ in pairs])
    columns = (result.gold, result.chosen, result.ranks, result.tied)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == list(ranked(scores, gold))


def test_a_dialogue_counts_at_k_when_all_its_gold_replies_are_among_the_first_k() -> None:
    scores = score_replies(
        result_of([[1, 1], [1, 3], [4, 9]]), reply_measures(["per-dialog,per-dialog@3,per-dialog@9"])
    )
    assert [scores[name].value for name in ("per-dialog", "per-dialog@3", "per-dialog@9")] == [1 / 3, 2 / 3, 1.0]
