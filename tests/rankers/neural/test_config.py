from __future__ import annotations

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rankers.neural.config import Hyperparameters, embedding_preset, memory_preset, updated


def test_texts_become_settings_of_the_right_kind() -> None:
    found = updated(Hyperparameters(), {"dim": "64", "learning_rate": "1e-2", "shared": "true", "loss": "margin"})
    assert (found.dim, found.learning_rate, found.shared, found.loss) == (64, 0.01, True, "margin")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dims": "3"}, "no setting 'dims'. Did you mean 'dim'"),
        ({"dim": "many"}, "wrong kind of value: Expected `int`, got `str` - at `..dim`"),
        ({"dim": "0"}, "dim must be from 1 to 4,096, not 0"),
        ({"patience": "-1"}, "patience must be from 1 to 10,000, not -1"),
        ({"loss": "hinge"}, "wrong kind of value"),
        ({"learning_rate": "0"}, "above 0"),
        ({"learning_rate": "nan"}, "learning_rate must be a finite number"),
        ({"margin": "inf"}, "margin must be a finite number"),
        ({"said_negatives": "1.5"}, "said_negatives must be from 0 to 1, not 1.5"),
        ({"entity_dropout": "1"}, "entity_dropout must be at least 0 and below 1, not 1.0"),
    ],
)
def test_settings_that_cannot_be(options: dict[str, str], message: str) -> None:
    with pytest.raises(DialgaugeError, match=message):
        updated(Hyperparameters(), options)


def test_presets_are_the_papers_sizes() -> None:
    assert (memory_preset(6).dim, memory_preset(6).hops) == (128, 4)
    paper = memory_preset(1, "paper")
    assert (paper.optimiser, paper.learning_rate, paper.dim, paper.batch) == ("sgd", 0.01, 128, 1)
    assert [memory_preset(task, "paper").epochs for task in range(1, 6)] == [12, 12, 12, 12, 40]
    embeddings = embedding_preset(3, "paper")
    assert embeddings.batch == 1
    assert [embedding_preset(task, "paper").said_negatives for task in range(1, 7)] == [0.5, 0, 0, 0, 0.5, 0]
    assert [task for task in range(1, 7) if embedding_preset(task, "paper").shared] == [1]
    assert not any(embedding_preset(task).shared for task in range(1, 7))
    assert (embeddings.loss, embeddings.margin, embeddings.negatives, embeddings.history) == (
        "margin",
        0.1,
        1000,
        False,
    )
    assert embedding_preset(5).loss == "softmax"
    with pytest.raises(DialgaugeError, match=r"no preset 'papers'. Did you mean 'paper'"):
        memory_preset(1, "papers")
