"""The promise (docs/promise.md): a store that a released version wrote is read whole by every later one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.cli import main
from dialgauge.explorer import report_html
from dialgauge.runs import Store

#: One folder for each release: a store as that version wrote it. They are never written again.
KEPT = sorted((Path(__file__).parent / "kept").iterdir())
#: What each store says of its first measures.
FIRST = {
    "0.2.0": {
        "tracking": ("JGA", 0.6923076923, 3),
        "trials": ("pass^1", 0.5833333333, 12),
        "lab": ("Success(rules=strict)", 1.0, 2),
    }
}


@pytest.fixture(params=KEPT, ids=lambda folder: folder.name)
def store(request: pytest.FixtureRequest) -> Store:
    return Store(request.param)


def test_every_release_with_a_store_is_checked() -> None:
    assert {folder.name for folder in KEPT} == set(FIRST)


def test_every_run_is_read_with_all_that_it_holds(store: Store, without_pictures: None) -> None:
    survey = store.survey()
    assert survey.problems == []
    runs = {manifest.kind: store.open(manifest.id) for manifest in survey.runs}
    expected = FIRST[store.folder.name]
    assert set(runs) == set(expected)
    for kind, run in runs.items():
        run.verify()
        measure, value, n = expected[kind]
        assert (next(iter(run.scores)), run[measure].n) == (measure, n)
        assert run[measure].value == pytest.approx(value)
        assert all(run.table(name).height for name in ("dialogues", "turns", "dialogue_scores"))
        assert len(list(run.dialogues())) == run.table("dialogues").height
        assert run.name in report_html([run], dialogues=1)
    searches = [call for talk in runs["lab"].dialogues() for turn in talk.turns for call in turn.calls or ()]
    found = [(call.outcome, call.found) for call in searches if call.name == "search"]
    assert found[:3] == [("found", 1), ("found", 8), ("found", 30)]
    assert list(store.annotations("careful").tags) == ["baseline"]


def test_commands_take_its_runs(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["runs", "show", "careful"], ["runs", "list"], ["sql", "SELECT count(*) AS n FROM dialogue_scores"]):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--store", str(store.folder)])
        assert not ended.value.code, capsys.readouterr().err
