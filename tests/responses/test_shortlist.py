from __future__ import annotations

from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.rankers import RankingTask, ReplyModel, fit_model, load_task, ranker_class, task_of_dialogues
from dialgauge.responses import CellKey, RankingResult, candidates_frame, evaluation_run, ranked, shortlists
from dialgauge.runs import Run, Store
from runs.contract import assert_run_contract
from support.tiny_world import tiny_task

KEPT = 5

COLUMNS = {
    "dialogue": polars.String(),
    "turn": polars.Int64(),
    "rank": polars.Int64(),
    "text": polars.String(),
    "score": polars.Float64(),
    "gold": polars.Boolean(),
}


def evaluated(name: str, task: RankingTask, split: str = "tst") -> Run:
    model: ReplyModel = ranker_class(name)()
    fit_model(model, task)
    return evaluation_run(CellKey.of(model, task, split), model, task)


def assert_agrees_with_replies(run: Run) -> None:
    kept, replies = run.table("candidates"), run.table("replies")
    assert dict(kept.schema) == COLUMNS
    key = ["dialogue", "turn"]
    answered = replies.filter(polars.col("chosen") != "")
    first = kept.filter(polars.col("rank") == 1)
    assert first.select(*key, chosen="text").equals(answered.select(*key, "chosen"))
    gold = kept.filter("gold")
    assert gold.select(*key, "rank", gold="text").equals(answered.select(*key, "rank", "gold"))
    assert kept.filter(~polars.col("gold"), polars.col("rank") > KEPT).is_empty()
    best = kept.filter(polars.col("rank") <= KEPT)
    assert (best.group_by(key).len()["len"] <= KEPT).all()
    ordered = best.group_by(key, maintain_order=True).agg("rank", "score", "text")
    for ranks, scores, texts in ordered.select("rank", "score", "text").iter_rows():
        assert ranks == list(range(1, len(ranks) + 1))
        assert scores == sorted(scores, reverse=True)
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(("name", "number"), [("tfidf", 5), ("tfidf", 1), ("nearest", 3), ("tfidf-type", 4)])
def test_the_best_candidates_of_every_reply_agree_with_the_replies(name: str, number: int, tmp_path: Path) -> None:
    run = evaluated(name, tiny_task(number))
    assert_run_contract(run)
    assert_agrees_with_replies(run)
    assert_agrees_with_replies(Store(tmp_path).add(run))


def test_ties_stand_in_the_order_of_the_file() -> None:
    task = tiny_task(3)
    run = evaluated("nearest", task)  # one candidate has 1, all others 0
    index = {text: place for place, text in enumerate(task.candidates)}
    lists = run.table("candidates").filter(polars.col("rank") > 1).group_by("dialogue", "turn").agg("text")
    places = [[index[text] for text in texts] for texts in lists["text"]]
    assert places
    assert all(row == sorted(row) for row in places)


def test_a_reply_with_its_own_candidates_is_ranked_among_those() -> None:
    def dialogue(name: str, *own: str) -> Dialogue:
        said = Turn(speaker="system", text="hello you", candidates=own or None)
        return Dialogue(id=name, turns=(Turn(speaker="user", text="well hello"), said))

    dialogues = [dialogue("all"), dialogue("own", "bye", "hello you", "no")]
    task = task_of_dialogues({"trn": dialogues, "dev": dialogues, "tst": dialogues}, ["hello hello", "bye", "so"])
    run = evaluated("tfidf", task)
    assert_agrees_with_replies(run)
    lists = dict(run.table("candidates").group_by("dialogue").agg("text").iter_rows())
    assert set(lists["own"]) == {"bye", "hello you", "no"}
    assert len(lists["all"]) == KEPT


def test_a_bot_that_says_sentences_ranks_nothing() -> None:
    assert "candidates" not in evaluated("rules", tiny_task(5)).tables


def test_candidates_without_a_score_are_none() -> None:
    scores = np.array([[-np.inf, 2.0, -np.inf], [-np.inf] * 3, [np.inf, 1.0, 1.0]])
    gold = np.array([0, 1, 2])
    answers = list(ranked(scores, gold))
    result = RankingResult(
        ids=("a",),
        dialogue=np.zeros(3, np.int64),
        turns=np.array([1, 3, 5]),
        classes=["fixed"] * 3,
        gold=gold,
        chosen=np.array([answer[1] for answer in answers]),
        ranks=np.array([answer[2] for answer in answers]),
        tied=np.array([answer[3] for answer in answers]),
        shortlists=tuple(shortlists(scores, gold, 5)),
    )
    assert candidates_frame(result, ["x", "y", "z"]).rows() == [
        ("a", 1, 1, "y", 2.0, False),
        ("a", 1, 2, "x", None, True),  # ruled out, but it is the gold reply, and its rank is known
        ("a", 5, 1, "x", None, False),
        ("a", 5, 2, "y", 1.0, False),
        ("a", 5, 3, "z", 1.0, True),
    ]
    assert [row[1] for row in candidates_frame(result.only([2]), ["x", "y", "z"]).rows()] == [5, 5, 5]


@given(
    scores=arrays(np.float64, (3, 7), elements=st.sampled_from([-np.inf, -1.0, 0.0, 1.0, 2.0])),
    keep=st.integers(1, 9),
)
def test_a_shortlist_is_the_beginning_of_the_whole_ranking(scores: np.ndarray, keep: int) -> None:
    before = scores.copy()
    for row, kept in zip(scores, shortlists(scores, np.zeros(3, np.int64), keep), strict=True):
        ranking = sorted((-score, place) for place, score in enumerate(row) if score > -np.inf)[:keep]
        assert [place for place in kept.places.tolist() if place >= 0] == [place for _, place in ranking]
        assert [score for score in kept.scores.tolist() if score > -np.inf] == [-score for score, _ in ranking]
    assert np.array_equal(scores, before)


@pytest.mark.soak
@pytest.mark.parametrize("number", [5, 6])
def test_the_released_dialogs(shared_data: Path, number: int) -> None:
    assert_agrees_with_replies(evaluated("tfidf", load_task(shared_data / "babi", number, ("trn", "dev", "tst"))))
