"""The learned rankers: what batching, padding, saving and moving must not change, and what training must learn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from numpy.typing import NDArray

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.lab import interact, move_to
from dialgauge.rankers import Point, load_ranker, points_of, ranker_class, ranker_names, save_ranker
from dialgauge.rankers.neural import (
    LearnedRanker,
    MemN2N,
    Training,
    Typed,
    margin_loss,
    sampled_candidates,
    with_said_replies,
    words_of,
)
from dialgauge.responses import evaluate
from dialgauge.worlds.restaurant import Half, Parameters
from support.soak import soak
from support.tensors import assert_close
from support.tiny_world import TINY, point, tiny_task

LEARNED = ("embeddings", "embeddings-bigrams", "embeddings-type", "memn2n", "memn2n-type", "typed")


def made(name: str, number: int = 1, **options: str) -> LearnedRanker:
    ranker = ranker_class(name)(seed=1)
    assert isinstance(ranker, LearnedRanker)
    ranker.options = {"epochs": "2", "dim": "8", "batch": "16", **options}
    ranker.fit(tiny_task(number))
    return ranker


@cache
def fitted(name: str, number: int = 5) -> LearnedRanker:
    """Fitted once; tests that change a ranker make their own."""
    return made(name, number)


def asked(number: int = 5, split: str = "tst") -> Sequence[Point]:
    return points_of(tiny_task(number).split(split))[:60]


def test_all_learned_rankers_are_here() -> None:
    assert set(LEARNED) <= set(ranker_names())


@pytest.mark.parametrize("name", LEARNED)
def test_batches_and_padding_never_change_a_score(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ranker, points = fitted(name), asked()[:20]
    whole = ranker.scores(points)
    alone = np.concatenate([ranker.scores([one]) for one in points])
    np.testing.assert_allclose(whole, alone, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(whole[::-1], ranker.scores(points[::-1]), rtol=1e-4, atol=1e-4)
    monkeypatch.setattr("dialgauge.rankers.neural.learned.EVALUATION_BATCH", 7)
    np.testing.assert_allclose(whole, ranker.scores(points), rtol=1e-4, atol=1e-4)
    assert np.isfinite(whole).all()


def naive_memory_scores(ranker: MemN2N, one: Point) -> NDArray[np.float64]:
    """One point through the formulas of the paper's appendix A, in numpy, without padding or batches."""
    weights = {name: value.detach().double().numpy() for name, value in ranker.module.named_parameters()}
    settings = ranker.settings()

    def bag(text: str, words: Sequence[str], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        place = {word: number for number, word in enumerate(words)}
        known = [matrix[place[word]] for word in words_of(text) if word in place]
        return np.sum(known, axis=0) if known else np.zeros(matrix.shape[1])

    query = bag(one.utterance, settings["words"], weights["words"])
    memories = [
        bag(line.text, settings["words"], weights["words"])
        + weights["speakers"][int(line.kind == "bot")]
        + weights["times"][len(one.history) - 1 - place]
        for place, line in enumerate(one.history)
    ]
    for _ in range(ranker.config.hops):
        if memories:
            logits = np.array([query @ memory for memory in memories])
            shares = np.exp(logits - logits.max())
            shares /= shares.sum()
            query = query + weights["rotation"] @ sum(s * m for s, m in zip(shares, memories, strict=True))
    stored = [bag(text, settings["candidate_words"], weights["candidates"]) for text in ranker.candidates]
    return np.array(stored) @ query


def test_memory_network_against_the_formulas() -> None:
    ranker = fitted("memn2n")
    assert isinstance(ranker, MemN2N)
    points = asked()[:15]
    found = ranker.scores(points)
    for row, one in enumerate(points):
        np.testing.assert_allclose(found[row], naive_memory_scores(ranker, one), rtol=1e-3, atol=1e-4)


def test_unknown_words_only_no_memory_and_many_memories() -> None:
    ranker = fitted("memn2n")
    history = [("fact", f"x{number} R_phone y") for number in range(1200)]
    found = ranker.scores([point(utterance="zzz qqq"), point(*history, utterance="zzz"), point(utterance="")])
    assert found.shape == (3, len(ranker.candidates))
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[0], found[2])


def test_entity_dropout_leaves_out_words_of_the_knowledge_base_alone_and_only_in_training() -> None:
    ranker = made("memn2n", entity_dropout="0.5")
    listed = {word for fact in ranker.facts for word in (fact.entity.lower(), fact.value.lower())}
    words = ranker.settings()["words"]
    batches = ranker.training_batches(points_of(tiny_task(1).split("trn")), seed=3)
    left_out: list[str] = []
    for batch in batches:
        ranker.batch_loss(batch)
        assert batch.kept is not None
        left_out += [word for word, kept in zip(words, batch.kept.tolist(), strict=True) if not kept]
    assert set(left_out) <= listed
    entities = sum(word in listed for word in words)
    assert 0.4 < len(left_out) / (entities * len(batches)) < 0.6
    before = ranker.scores(asked(1))
    np.testing.assert_array_equal(before, ranker.scores(asked(1)))
    assert all(batch.kept is None for batch in ranker.batches_of(asked(1)))


def test_a_word_left_out_is_as_if_it_had_not_been_said() -> None:
    ranker = made("memn2n", entity_dropout="0.5")
    (point,) = asked(1)[3:4]
    word = next(word for word in point.utterance.lower().split() if word in ranker.settings()["words"])
    (batch,) = ranker.batches_of([point])
    batch.kept = torch.tensor([float(known != word) for known in ranker.settings()["words"]])
    silent = tuple(line._replace(text=_without(word, line.text)) for line in point.history)
    (other,) = ranker.batches_of([replace(point, history=silent, utterance=_without(word, point.utterance))])
    np.testing.assert_allclose(
        ranker.batch_scores(batch).detach().numpy(), ranker.batch_scores(other).detach().numpy(), atol=1e-6
    )


def _without(word: str, text: str) -> str:
    return " ".join(said for said in text.split() if said.lower() != word)


def test_margin_loss_against_a_loop() -> None:
    scores = torch.randn(5, 9, generator=torch.Generator().manual_seed(0))
    gold = torch.tensor([0, 8, 3, 3, 5])
    others = sampled_candidates(9, gold, 4, torch.Generator().manual_seed(7))
    found = margin_loss(scores, gold, 0.1, others)
    drawn = torch.randint(8, (5, 4), generator=torch.Generator().manual_seed(7))
    total = 0.0
    for row, right in enumerate(gold.tolist()):
        for number in drawn[row].tolist():
            other = number if number < right else number + 1
            assert other != right
            total += max(0.0, 0.1 - float(scores[row, right]) + float(scores[row, other]))
    assert float(found) == pytest.approx(total / 5, rel=1e-5)


def test_a_share_of_the_sampled_candidates_are_replies_as_often_as_they_are_said() -> None:
    """Of 4,000 candidates two are said, one of them three times as often; drawn alike they would hardly be met."""
    gold, said = torch.tensor([7, 9]), torch.tensor([7, 7, 7, 9])
    draws = torch.Generator().manual_seed(1)
    plain = sampled_candidates(4000, gold, 2000, draws)
    mixed = with_said_replies(plain, gold, said, 0.5, draws)
    assert mixed.shape == plain.shape
    assert not (mixed == gold[:, None]).any()
    assert_close(mixed[:, 1000:], plain[:, 1000:])
    rare, often = (mixed[0] == 9).sum().item(), (mixed[1] == 7).sum().item()
    assert 200 < rare < 300 < 700 < often < 800


def test_replies_that_are_said_are_sampled_in_training() -> None:
    """All draws from what is said: words of candidates that nobody says are met only where the gold reply was drawn."""

    def unsaid_words(rate: str, share: str) -> NDArray[np.float64]:
        ranker = made(
            "embeddings",
            loss="margin",
            optimiser="sgd",
            batch="1",
            epochs="1",
            learning_rate=rate,
            said_negatives=share,
        )
        said = {word for place in set(ranker.said.tolist()) for word in words_of(ranker.candidates[place])}
        places = [place for place, word in enumerate(ranker.settings()["candidate_words"]) if word not in said]
        return ranker.arrays()["candidates"][places]

    first = unsaid_words("1e-30", "0")
    alike = np.linalg.norm(unsaid_words("0.003", "0") - first)
    said = np.linalg.norm(unsaid_words("0.003", "1") - first)
    assert 0 < said < 0.7 * alike


@pytest.mark.parametrize("name", ["embeddings", "embeddings-type"])
def test_embeddings_with_margin_loss_shared_matrix_and_without_history(name: str) -> None:
    ranker = made(name, loss="margin", shared="true", history="false", epochs="1")
    names = [parameter for parameter, _ in ranker.module.named_parameters()]
    assert "candidates" not in names
    last_only = [replace(one, history=()) for one in asked(1)]
    np.testing.assert_allclose(ranker.scores(asked(1)), ranker.scores(last_only), rtol=1e-5, atol=1e-6)


def test_a_shared_matrix_survives_saving(tmp_path: Path) -> None:
    ranker = made("embeddings", shared="true")
    save_ranker(ranker, tmp_path, 1)
    loaded = load_ranker(tmp_path)
    assert isinstance(loaded, LearnedRanker)
    np.testing.assert_array_equal(loaded.scores(asked(1)), ranker.scores(asked(1)))


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    one, same = made("memn2n"), made("memn2n")
    other = MemN2N(2)
    other.options = dict(one.options)
    other.fit(tiny_task(1))
    for name, weights in one.arrays().items():
        np.testing.assert_array_equal(weights, same.arrays()[name])
        assert not np.array_equal(weights, other.arrays()[name])


def test_training_learns_what_to_say_when() -> None:
    """API calls of requests never seen take more dialogs than this."""
    ranker = MemN2N(1)
    ranker.options = {"epochs": "20", "batch": "16", "dim": "32"}
    ranker.fit(tiny_task(1, 150))
    right, of = evaluate(ranker, tiny_task(1, 150).split("tst")).by_class()["fixed"]
    assert right / of > 0.98
    assert [line["epoch"] for line in ranker.log] == list(range(1, len(ranker.log) + 1))


@pytest.mark.parametrize("name", ["memn2n", "embeddings"])
def test_interrupted_training_resumes_to_the_same_weights(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"epochs": "4", "loss": "margin" if name == "embeddings" else "softmax"}
    whole = made(name, 1, **options)
    saved = Training._save

    def dying(self: Training, *, done: bool) -> None:
        saved(self, done=done)
        if len(self.log) == 2:
            raise KeyboardInterrupt

    interrupted = ranker_class(name)(seed=1)
    assert isinstance(interrupted, LearnedRanker)
    interrupted.options, interrupted.checkpoint = dict(whole.options), tmp_path / "checkpoint.npz"
    monkeypatch.setattr(Training, "_save", dying)
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(tiny_task(1))
    monkeypatch.setattr(Training, "_save", saved)
    told: list[str] = []
    resumed = ranker_class(name)(seed=1)
    assert isinstance(resumed, LearnedRanker)
    resumed.options, resumed.checkpoint = dict(whole.options), tmp_path / "checkpoint.npz"
    resumed.fit(tiny_task(1), told.append)
    assert told[0] == "resumed after epoch 2"
    for weights, same in zip(whole.arrays().values(), resumed.arrays().values(), strict=True):
        np.testing.assert_array_equal(weights, same)

    other = ranker_class(name)(seed=1)
    assert isinstance(other, LearnedRanker)
    other.options, other.checkpoint = dict(whole.options), tmp_path / "checkpoint.npz"
    told.clear()
    other.fit(tiny_task(1, seed=8), told.append)
    assert "from another training" in told[0]


def test_a_rate_that_breaks_the_training_is_an_error() -> None:
    with pytest.raises(DialgaugeError, match="training broke down in its first epoch"):
        made("memn2n", learning_rate="1e30", optimiser="sgd", clip="1e30")


def test_weights_of_another_vocabulary(tmp_path: Path) -> None:
    ranker = made("memn2n")
    settings, arrays = ranker.settings(), ranker.arrays()
    other = MemN2N()
    other.candidates = ranker.candidates
    with pytest.raises(DialgaugeError, match="weights do not fit its vocabulary"):
        other.restore({**settings, "words": settings["words"][:-1]}, arrays)


@pytest.mark.parametrize("number", [soak(1), soak(2), soak(3), 4, soak(5)])
def test_typed_solves_tasks_with_entities_it_never_saw(number: int) -> None:
    ranker = Typed(0)
    ranker.options = {"epochs": "40", "patience": "20", "batch": "16"}
    ranker.fit(tiny_task(number, 200))
    for split in ("tst", "tst-OOV"):
        assert evaluate(ranker, tiny_task(number, 200).split(split)).per_dialog == 1.0
    world = replace(
        TINY,
        halves=(Half(name="A", locations=("kyoto", "lima"), cuisines=("fusion", "vegan")),),
        prices=("low", "high"),
        sizes=("one", "nine"),
        ratings=tuple(range(11, 23)),
    )
    move_to(ranker, world, seed=5)
    run = interact(ranker, world, number, "A", 25, Parameters(seed=5))
    assert (run.scores["completed"].value, run.scores["per-dialog"].value) == (1.0, 1.0)


@pytest.mark.parametrize("name", LEARNED)
def test_moving_to_the_same_world_keeps_scores_by_candidate(name: str, tmp_path: Path) -> None:
    ranker = made(name)
    before, order = ranker.scores(asked(1)), ranker.candidates
    facts = sorted(ranker.facts, key=lambda fact: (fact.relation, fact.entity))
    ranker.move(sorted(order), facts)
    back = [ranker.candidates.index(text) for text in order]
    np.testing.assert_allclose(ranker.scores(asked(1))[:, back], before, rtol=1e-4, atol=1e-5)
    save_ranker(ranker, tmp_path, 1)
    loaded = load_ranker(tmp_path)
    assert isinstance(loaded, LearnedRanker)
    np.testing.assert_array_equal(loaded.scores(asked(1)), ranker.scores(asked(1)))


def test_a_world_with_a_relation_never_seen() -> None:
    ranker = made("typed")
    with pytest.raises(DialgaugeError, match="R_stars, which the model never saw"):
        ranker.move(ranker.candidates, [Fact("inn", "R_stars", "5")])


def test_no_gpu_when_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DialgaugeError, match="a GPU was asked for"):
        made("memn2n", device="cuda")


def test_the_papers_preset_learns_in_its_first_pass() -> None:
    """Averaged over batches of 64, steps of 0.01 leave it at 8% after one pass over these dialogs."""
    ranker = ranker_class("memn2n")(0)
    ranker.options = {"preset": "paper", "epochs": "1", "device": "cpu"}
    ranker.fit(tiny_task(1))
    assert ranker.log[0]["dev"] > 0.5


def test_a_point_that_is_a_batch_of_its_own_meets_other_candidates_in_every_epoch() -> None:
    ranker = fitted("embeddings")
    points = asked(1)[:4]

    def drawn(size: int, seed: int) -> dict[tuple[int, ...], int]:
        ranker.config = replace(ranker.config, batch=size)
        return {tuple(b.rows): ranker.draws(b).initial_seed() for b in ranker.training_batches(points, seed)}

    before = ranker.config
    first, again, second = drawn(1, 1), drawn(1, 1), drawn(1, 2)
    whole = drawn(4, 1), drawn(4, 2)
    ranker.config = before
    assert first == again
    assert first.keys() == second.keys()
    assert not set(first.values()) & set(second.values())
    assert len(whole[0]) == len(whole[1]) == 1
