"""A search over settings: every combination, judged on development dialogs alone, taken up where it stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.responses import best_of, combinations, search_settings, search_table
from dialgauge.runs import Store
from support.tiny_world import tiny_task

OPTIONS = {"input": "history,utterance", "bigrams": "true,false"}


def test_every_combination_is_tried_once_and_the_best_on_dev_is_named(tmp_path: Path) -> None:
    task, store = tiny_task(1), Store(tmp_path)
    tried = list(search_settings("tfidf", task, OPTIONS, [0], store, lambda _: None))
    assert [one.settings for one in tried] == combinations({"bigrams": "true,false", "input": "history,utterance"})
    assert {run.manifest.config["split"] for one in tried for run in one.runs} == {"dev"}
    reached = [one.reached("per-response") for one in tried]
    assert best_of(tried).reached("per-response") == max(reached) > min(reached)
    page = search_table("tfidf", task, tried).render("markdown")
    assert f"input={best_of(tried).settings['input']}" in page
    again = list(search_settings("tfidf", task, OPTIONS, [0], store, lambda _: None))
    assert [run.id for one in again for run in one.runs] == [run.id for one in tried for run in one.runs]


def test_what_cannot_be_searched_is_said(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="the setting dim has no value to try"):
        combinations({"dim": " , "})
    many = {"input": ",".join(f"x{number}" for number in range(2_000))}
    with pytest.raises(DialgaugeError, match="2,000 trainings; at most 1,000"):
        list(search_settings("tfidf", tiny_task(1), many, [0], Store(tmp_path), lambda _: None))
