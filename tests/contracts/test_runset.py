"""One contract for the results of all families: every verb of a RunSet, in memory and stored, and of a Comparison."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dialgauge
from dialgauge import DialgaugeError, Run, RunSet, Score, Store
from dialgauge.errors import UnknownNameError
from dialgauge.kinds import BUILT_IN, kind_named
from dialgauge.lab import write_release
from dialgauge.report import csv_table
from dialgauge.responses import evaluate_models
from dialgauge.runs import new_run
from dialgauge.text import note_kind
from dialgauge.worlds.restaurant import Parameters, load_world
from support.agent_results import tau_file
from support.talks import talk
from support.town import responses, write_town
from support.workbench import Workbench

HOTEL = {"hotel": dialgauge.Task(info={"area": "north"}, requests=("phone",))}
ANSWERED = (("hotel inform area=north", "hotel request phone"), ("hotel inform phone=1",))


def tracking(folder: Path) -> list[Run]:
    gold = {f"d{n}": [{"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": str(n)}] for n in range(6)}
    late = {name: [{}, states[1]] for name, states in gold.items()}
    return dialgauge.score(gold, {"right": gold, "late": late}, measures="JGA,F1", resamples=20).runs


def users(folder: Path) -> list[Run]:
    silent = [talk(HOTEL, ("hotel inform area=north",), ("hotel inform phone=1",), id=f"d{n}") for n in range(4)]
    whole = [talk(HOTEL, *ANSWERED, id=f"d{n}") for n in range(4)]
    return dialgauge.score_users({"whole": whole, "silent": silent}, resamples=20).runs


def tasks(folder: Path) -> list[Run]:
    for name in ("a", "b"):
        (folder / f"{name}.json").write_text(json.dumps(responses()))
    return dialgauge.score_tasks(write_town(folder), [folder / "a.json", folder / "b.json"], resamples=20).runs


def agent_files(folder: Path) -> list[Path]:
    return [tau_file(folder / f"{name}.json", {"t1": "+-+", "t2": "++-", "t3": last}) for name, last in
            (("a", "+++"), ("b", "---"))]  # fmt: skip


def trials(folder: Path) -> list[Run]:
    return dialgauge.review(agent_files(folder), resamples=20).runs


def faults(folder: Path) -> list[Run]:
    return dialgauge.user_faults(agent_files(folder), resamples=20).runs


def lab(folder: Path) -> list[Run]:
    held = [dialgauge.converse(name, "agenda", count=3, resamples=0) for name in ("rule-system", "rule-baseline")]
    return [run for results in held for run in results.runs]


def replies(folder: Path) -> list[Run]:
    world = load_world("restaurant")
    write_release(
        world, folder / "babi", tasks=[1], splits=["trn", "dev", "tst"], dialogs=6, parameters=Parameters(seed=1)
    )
    return evaluate_models(folder / "babi", ["rules", "nearest"], tasks=[1], store=folder / "runs").runs


#: How two runs of a kind are made in memory; those of other kinds are the workbench's.
FAMILIES: dict[str, Callable[[Path], list[Run]]] = {
    "tracking": tracking, "users": users, "tasks": tasks, "trials": trials, "faults": faults, "lab": lab,
    "responses": replies,
}  # fmt: skip
OTHERS = [kind for kind in BUILT_IN if kind_named(kind).view and kind_named(kind).cards and kind not in FAMILIES]


@pytest.fixture(scope="module", params=[*FAMILIES, *OTHERS])
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RunSet:
    kind: str = request.param
    if kind in FAMILIES:
        return RunSet(FAMILIES[kind](tmp_path_factory.mktemp(kind)))
    bench: Workbench = request.getfixturevalue("bench")
    return RunSet(bench.runs_of(kind)[:2])


def test_systems_and_scores(results: RunSet) -> None:
    assert len(results) == len(list(results)) == len(results.runs) == 2
    assert results._ipython_key_completions_() == list(results)
    for name, run in results.items():
        assert results[name] is run and name in results
        for measure in run.scores:
            score = run[measure]
            assert type(score) is Score
            assert float(score) == score.value or (score.value is None and math.isnan(float(score)))
            assert len(repr(score)) < 60 and score.signature
    assert results[0] is results.runs[0] and results[-1] is results.runs[-1]
    with pytest.raises(UnknownNameError):
        results["nobody"]
    assert results.get("nobody") is None and "nobody" not in results
    with pytest.raises(UnknownNameError):
        results[0]["nothing"]


def test_frames(results: RunSet) -> None:
    frame = results.frame()
    assert frame.height == sum(len(run.scores) for run in results.runs)
    assert {"system", "measure", "part", "value", "low", "high", "n", "signature"} <= set(frame.columns)
    assert frame["value"].to_list() == [score.value for run in results.runs for score in run.scores.values()]


def test_what_people_see(results: RunSet) -> None:
    assert results.table().title and "tabular" in results.to_latex()
    assert "<table>" in results._repr_html_() and "|" in str(results)
    assert results.page().runs == [run.id for run in results.runs]
    assert len(repr(results)) < 200 and repr(results).startswith("<RunSet ")
    for note in (note for run in results.runs for note in run.notes):
        assert {note_kind(shown) for shown in results.notes if shown.endswith(note)} <= {note_kind(note)}
    assert isinstance(results.complete, bool)


def test_worst_and_explain(results: RunSet) -> None:
    assert str(results.worst(2)) and "<div" in results.worst(2)._repr_html_()
    explained = results.explain(results.runs[0].table("dialogues")["dialogue"][0])
    assert explained.dialogues and str(explained) and "<div" in explained._repr_html_()
    with pytest.raises(UnknownNameError):
        results.explain("nowhere")


def test_a_picture_is_drawn(results: RunSet) -> None:
    assert results.plot()._repr_svg_().startswith("<svg")
    with pytest.raises(DialgaugeError):
        results.plot("nothing")


def test_a_store_gives_the_same(results: RunSet, tmp_path: Path) -> None:
    stored = results if results[0].stored else results.save(tmp_path)
    again = RunSet(Store(stored[0].path.parent).open(run.id) for run in stored.runs)
    assert list(again) == list(results)
    assert again.frame().equals(results.frame())
    assert csv_table(again.table()) == csv_table(results.table())
    assert again.notes == results.notes


def test_comparisons_have_the_same_verbs(results: RunSet) -> None:
    comparison = dialgauge.compare(results, resamples=100)
    first, second = comparison.systems
    assert list(comparison) == list(comparison.keys()) == [first, second]
    assert len(comparison) == len(comparison.values()) == 2 and first in comparison and "nobody" not in comparison
    assert comparison[0] == comparison[first] and comparison.get("nobody") is None
    with pytest.raises(UnknownNameError):
        comparison["nobody"]
    with pytest.raises(UnknownNameError):
        comparison[first]["nothing"]
    for name, scores in comparison.items():
        assert comparison[name] == scores and all(isinstance(score, Score) for score in scores.values())
    assert comparison.frame().height == len(comparison.measures)
    assert "tabular" in comparison.to_latex() and "|" in str(comparison) and "<table>" in comparison._repr_html_()
    assert all(isinstance(note, str) for note in comparison.notes)


def test_runs_of_a_kind_without_a_family_are_shown_too() -> None:
    results = RunSet([new_run(kind="other", name="x"), new_run(kind="other", name="x")])
    assert list(results) == ["x (1)", "x (2)"] and results.frame().is_empty()
    with pytest.raises(DialgaugeError):
        results.plot()


def test_sets_that_cannot_be() -> None:
    with pytest.raises(DialgaugeError):
        RunSet([])
    with pytest.raises(DialgaugeError, match="different kinds"):
        RunSet([new_run(kind="a", name="x"), new_run(kind="b", name="x")])
    with pytest.raises(DialgaugeError):
        dialgauge.compare("test.json")
    gold: Any = {"d": [{"hotel-area": "north"}]}
    with pytest.raises(DialgaugeError, match="already scored"):
        dialgauge.compare(dialgauge.score(gold, {"a": gold, "b": gold}), profile="canon", turns="auto")
    with pytest.raises(DialgaugeError):
        dialgauge.compare([1, 2])  # type: ignore[arg-type]


def test_what_is_of_no_use_is_refused_in_a_sentence() -> None:
    gold: Any = {"d": [{"hotel-area": "north"}]}
    results: Any = dialgauge.score(gold, {"a": gold}, measures="JGA", resamples=0)
    names: list[Callable[[], object]] = [
        lambda: results[None],
        lambda: results[["a"]],
        lambda: results["a"][None],
        lambda: results.explain(0),
    ]
    for unknown in names:
        with pytest.raises(UnknownNameError):
            unknown()
    anything: Any = dialgauge
    calls: list[Callable[[], object]] = [
        lambda: anything.score(5, gold),
        lambda: anything.score([5], gold),
        lambda: anything.score(gold, gold, measures=5),
        lambda: anything.score(gold, gold, profile=5),
        lambda: anything.score_users(5),
        lambda: anything.score_tasks("gold.json", 5),
        lambda: anything.converse(system=None),
        lambda: anything.simulate("restaurant"),
    ]
    for wrong in calls:
        with pytest.raises(DialgaugeError):
            wrong()


def held_in_memory(file: Path) -> dict[str, Any]:
    """What a file holds, in every form that is taken in its place."""
    corpus = dialgauge.read(file)
    forms: dict[str, Any] = {"corpus": corpus, "dialogues": list(corpus), "frame": corpus.to_polars()}
    if file.suffix == ".json":
        forms["rows"] = json.loads(file.read_text())
    return forms | ({"pandas": corpus.to_pandas()} if find_spec("pandas") else {})


def assert_all_score_alike(score: Callable[..., Any], file: Path, forms: dict[str, Any]) -> None:
    whole = score(file)[0].scores
    assert whole
    for form, held in forms.items():
        alone, named = score(held), score({"mine": held})
        assert len(alone) == 1 and list(named) == ["mine"]
        for run in (alone[0], named["mine"]):
            assert {name: score.value for name, score in run.scores.items()} == {
                name: score.value for name, score in whole.items()
            }, form


def test_results_of_agents_may_be_in_memory(tmp_path: Path) -> None:
    file = agent_files(tmp_path)[0]
    forms = held_in_memory(file)
    assert_all_score_alike(partial(dialgauge.review, resamples=0), file, forms)
    assert_all_score_alike(partial(dialgauge.user_faults, resamples=0), file, forms)
    assert dialgauge.review(forms["rows"], resamples=0)[0].details["integrity"]
    rows = [{"task_id": "a", "trial": trial, "success": trial < 3} for trial in range(4)]
    assert dialgauge.review({"mine": rows}, resamples=0)["mine"]["pass^1"] == 0.75
    assert dialgauge.review(pl.DataFrame(rows), resamples=0)[0]["pass^1"] == 0.75
    with pytest.raises(DialgaugeError, match="there is colour"):
        dialgauge.review([{"colour": "red"}])
    with pytest.raises(DialgaugeError, match="no field of the rows is a state"):
        dialgauge.user_faults(pl.DataFrame({"colour": ["red"]}))


def test_conversations_of_users_may_be_in_memory(tmp_path: Path) -> None:
    talks = [talk(HOTEL, *ANSWERED, id="d1"), talk(HOTEL, ("hotel inform area=north",), (), id="d2")]
    dialgauge.write(talks, tmp_path / "talks.jsonl", format="native")
    forms = held_in_memory(tmp_path / "talks.jsonl")
    assert_all_score_alike(partial(dialgauge.score_users, resamples=0), tmp_path / "talks.jsonl", forms)
    with pytest.raises(DialgaugeError, match="no field of the rows is a state"):
        dialgauge.score_users(pl.DataFrame({"colour": ["red"]}))


def test_responses_may_be_in_memory(tmp_path: Path) -> None:
    gold, file = write_town(tmp_path), tmp_path / "mine.json"
    file.write_text(json.dumps(responses()))
    score = partial(dialgauge.score_tasks, gold, resamples=0)
    whole = score(file)[0].scores
    for held in (responses(), dialgauge.read(file), list(dialgauge.read(file))):
        [run] = score({"mine": held}).runs
        assert {name: each.value for name, each in run.scores.items()} == {n: each.value for n, each in whole.items()}


def test_plain_states() -> None:
    gold: Any = {"d": [{"hotel-area": "north"}, {"hotel": {"area": "north", "stars": ["4", "four"]}}]}
    alone = dialgauge.score(gold, {"a": {"d": [{"hotel-area": "north"}, {"hotel-stars": "four"}]}}, measures="JGA")
    assert list(alone) == ["a"] and alone["a"]["JGA"] == 0.5
    named = dialgauge.score(gold, {"a": {"d": [{}, {}]}, "b": gold}, measures="JGA")
    assert [float(run["JGA"]) for run in named.runs] == [0.0, 1.0]
    with pytest.raises(DialgaugeError, match="neither a domain with slots nor of the form domain-slot"):
        dialgauge.score(gold, {"a": {"d": [{"area": "north"}]}})
    with pytest.raises(DialgaugeError, match="a file, a folder or a pattern is read here, not a dict"):
        dialgauge.score(gold, {"a": gold}, workers=2)
