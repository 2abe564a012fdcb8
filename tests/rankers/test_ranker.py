"""The registry of rankers, their options, and how they are kept in folders."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import (
    BUILT_IN,
    Point,
    Ranker,
    RankingTask,
    ReplyModel,
    load_ranker,
    options_by_model,
    points_of,
    ranker_class,
    save_ranker,
)
from support.tiny_world import tiny_task

ARRAYS = "arrays.npz"
MANIFEST = "ranker.json"

QUICK = {"epochs": "2", "dim": "8", "hops": "2"}


def fitted(name: str, number: int = 1) -> ReplyModel:
    ranker = ranker_class(name)(seed=3)
    ranker.options = {key: value for key, value in QUICK.items() if key in ranker.settable}
    ranker.fit(tiny_task(number))
    return ranker


def test_a_misspelt_name_gets_the_nearest() -> None:
    with pytest.raises(DialgaugeError, match=r"no model named 'tfdif'. Did you mean 'tfidf'"):
        ranker_class("tfdif")


def test_without_torch_the_error_has_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("dialgauge.rankers.neural.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "dialgauge.rankers.neural.models", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(DialgaugeError, match=r"pip install 'dialgauge\[neural\]'"):
        ranker_class("memn2n")


def test_options_go_to_the_models_that_take_them() -> None:
    found = options_by_model(["rules", "memn2n"], {"hops": "2", "device": "cpu"})
    assert found == {"rules": {}, "memn2n": {"device": "cpu", "hops": "2"}}
    with pytest.raises(DialgaugeError, match="there is no setting 'device' of rules"):
        options_by_model(["rules"], {"device": "cuda"})
    with pytest.raises(DialgaugeError, match=r"no setting 'hosp' of rules or memn2n. Did you mean 'hops'"):
        options_by_model(["rules", "memn2n"], {"hosp": "2"})


@pytest.mark.parametrize("model", ["memn2n", "rules"])
@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_no_generator_takes(model: str, seed: int) -> None:
    with pytest.raises(DialgaugeError, match=f"seed .*got {seed}"):
        ranker_class(model)(seed)


def answers(model: ReplyModel, points: Sequence[Point]) -> Any:
    """Scores, or the sentences of a model that gives none."""
    return model.scores(points) if isinstance(model, Ranker) else [model.reply(point) for point in points]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_saved_and_loaded_gives_the_same_answers(tmp_path: Path, name: str) -> None:
    ranker = fitted(name)
    save_ranker(ranker, tmp_path, 1)
    task = tiny_task(1)
    loaded = load_ranker(tmp_path, task=task)
    points = points_of(task.split("tst-OOV"))[:50]
    np.testing.assert_array_equal(answers(loaded, points), answers(ranker, points))
    assert (loaded.name, loaded.seed, loaded.options) == (ranker.name, ranker.seed, ranker.options)
    assert sorted(path.name for path in tmp_path.iterdir()) == [ARRAYS, MANIFEST]
    assert b"pickle" not in (tmp_path / ARRAYS).read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_ranker(fitted("nearest"), tmp_path, 1)
    return tmp_path


def edited(folder: Path, **changes: Any) -> None:
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_model_of_another_task_or_other_candidates(folder: Path) -> None:
    with pytest.raises(DialgaugeError, match=r"fitted on task 1 .* this is task 2"):
        load_ranker(folder, task=tiny_task(2))
    other = RankingTask(1, tiny_task(1).splits, tiny_task(1).candidates[::-1])
    with pytest.raises(DialgaugeError, match="another order"):
        load_ranker(folder, task=other)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="it holds no model"):
        load_ranker(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_a_manifest_that_is_none(folder: Path, content: bytes) -> None:
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(DialgaugeError, match="not the manifest of a model"):
        load_ranker(folder)


def test_arrays_that_were_changed_cut_or_lost(folder: Path) -> None:
    path = folder / ARRAYS
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DialgaugeError, match="checksum"):
        load_ranker(folder)
    path.write_bytes(b"junk")
    edited(folder, arrays_sha256=hashlib.sha256(b"junk").hexdigest())
    with pytest.raises(DialgaugeError, match="cannot be read"):
        load_ranker(folder)
    path.unlink()
    with pytest.raises(DialgaugeError, match="cannot be read"):
        load_ranker(folder)


def test_a_pickle_in_place_of_arrays_is_refused(folder: Path) -> None:
    path = folder / ARRAYS
    with path.open("wb") as out:
        np.savez(out, allow_pickle=True, answers=np.array([{"a": 1}], dtype=object))
    edited(folder, arrays_sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    with pytest.raises(DialgaugeError, match="cannot be read"):
        load_ranker(folder)


@pytest.mark.parametrize("settings", [{}, {"utterances": 7}, {"utterances": [1, 2]}])
def test_damaged_settings(folder: Path, settings: dict[str, Any]) -> None:
    edited(folder, settings=settings)
    with pytest.raises(DialgaugeError, match="settings of the model nearest are damaged"):
        load_ranker(folder)


@pytest.mark.parametrize(("shape", "answer"), [((1,), 0), ((), 0), (None, -1), (None, 10**9), (None, "x")])
def test_answers_that_are_not_one_candidate_for_each_utterance(
    folder: Path, shape: tuple[int, ...] | None, answer: int | str
) -> None:
    path = folder / ARRAYS
    with np.load(path) as held:
        wanted = held["answers"].shape if shape is None else shape
    with path.open("wb") as out:
        np.savez(out, answers=np.full(wanted, answer))
    edited(folder, arrays_sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    with pytest.raises(DialgaugeError, match="settings of the model nearest are damaged"):
        load_ranker(folder)
