"""The leaderboard: what can be compared is ranked on the dialogues that all have, and flagged where it differs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from dialgauge import Store, compare, score
from dialgauge.comparison import comparable_signature
from dialgauge.explorer import boards, write_leaderboard
from dialgauge.measures import Signature
from dialgauge.runs import Run, new_run
from support.commands import dialgauge
from support.explorer_store import tracked, tracking_store

HOSTILE = "<img src=/x onerror=alert(1)>"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[Run]]:
    store, runs = tracking_store(
        tmp_path_factory.mktemp("board") / "runs", count=60, systems=("alpha", "beta", "gamma")
    )
    return store, runs


def test_runs_that_were_measured_alike_are_ranked_with_letters(stored: tuple[Store, list[Run]]) -> None:
    [board] = boards(stored[1])
    values = [row.scores[0].score.value or 0.0 for row in board.rows if row.scores[0].score is not None]
    assert values == sorted(values, reverse=True) and len(values) == 3
    comparison = compare(stored[1])
    for one in board.rows:
        for other in board.rows:
            if one.run.id < other.run.id:
                difference = comparison.difference(one.run.name, other.run.name, "JGA")
                shared = set(one.scores[0].letters) & set(other.scores[0].letters)
                assert bool(shared) != difference.significant


def test_runs_that_were_measured_otherwise_are_ranked_on_what_all_have_and_flagged(
    stored: tuple[Store, list[Run]],
) -> None:
    gold = tracked(60, 0)
    other_profile = score(gold, {"verbatim": tracked(60, 0)}, profile="verbatim").runs[0]
    fewer = score(gold[:40], {"fewer": tracked(40, 0)}).runs[0]
    [board] = boards([*stored[1], other_profile, fewer])
    assert len(board.rows) == 5 and board.shared == "40 dialogues that all have"
    unlike = {row.run.name: " ".join(row.unlike) for row in board.rows}
    assert "profile verbatim" in unlike["verbatim"] and unlike["fewer"] and not unlike["beta"]
    comparison = compare([*stored[1], other_profile, fewer])
    for row in board.rows:
        shown = row.scores[0].score
        assert shown is not None and shown.value == comparison[row.run.name]["JGA"].value


def test_runs_on_other_dialogues_are_another_board(stored: tuple[Store, list[Run]]) -> None:
    apart = score(None, {"apart": [replace(one, id=f"X{one.id}") for one in tracked(6, 0)]}).runs[0]
    made = boards([*stored[1], apart])
    assert [len(board.rows) for board in made] == [3, 1] and made[1].rows[0].rank == ""


def test_the_number_of_resamples_keeps_nobody_apart(stored: tuple[Store, list[Run]]) -> None:
    again = score(tracked(60, 0), {"delta": tracked(60, 3)}, resamples=50).runs[0]
    assert [len(board.rows) for board in boards([*stored[1], again])] == [4]


def test_runs_without_scores_and_of_other_kinds(stored: tuple[Store, list[Run]], tmp_path: Path) -> None:
    made = boards([new_run(kind="study", name="bare"), stored[1][0]])
    assert [board.kind for board in made] == ["tracking"]
    assert "No run has scores" in write_leaderboard(tmp_path / "b.html", []).read_text("utf-8")


def test_the_command_writes_one_static_page(
    stored: tuple[Store, list[Run]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "board.html"
    outcome = dialgauge(capsys, "leaderboard", "--store", stored[0].folder, "-o", target, "--title", HOSTILE)
    text = target.read_text("utf-8")
    assert outcome.code == 0 and target.as_uri() in outcome.out
    assert "<img" not in text and "<script" not in text and "default-src 'none'" in text
    for run in stored[1]:
        assert run.name in text and f"{100 * (run.scores['JGA'].value or 0):.2f}%" in text


def test_what_cannot_be_ranked_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "does not exist" in dialgauge(capsys, "leaderboard", "--store", tmp_path / "none").err
    (tmp_path / "empty").mkdir()
    empty = dialgauge(capsys, "leaderboard", "--store", tmp_path / "empty", "--out", tmp_path / "a.html")
    assert empty.code == 2 and "holds no runs; 'dialgauge score GOLD PRED --run' stores one" in empty.err
    assert not (tmp_path / "a.html").exists()
    outcome = dialgauge(
        capsys, "leaderboard", "--store", tmp_path / "empty", "--kind", "lab", "-o", tmp_path / "b.html"
    )
    assert outcome.code == 2 and "no lab runs" in outcome.err and not (tmp_path / "b.html").exists()


@pytest.mark.parametrize(
    ("first", "second", "columns", "ranks", "note"),
    [
        (["JGA"], ["JGA", "F1"], ["JGA"], True, "only some systems have these measures of beta"),
        (
            ["JGA", "F1(average=slot)"], ["JGA", "F1(average=slot)"], ["JGA", "F1(average=slot)"], True,
            "F1(average=slot) cannot be compared dialogue by dialogue (each run has its value); left out of the tests",
        ),
        (
            ["F1(average=slot)"], ["F1(average=slot)"], ["F1(average=slot)"], False,
            "not tested: F1(average=slot) cannot be compared dialogue by dialogue",
        ),
        (
            ["JGA"], ["F1"], [], False,
            "no measure was scored in all of these runs, so none is ranked: alpha has JGA; beta has F1",
        ),
    ],
)  # fmt: skip
def test_measures_that_not_all_runs_have_are_told(
    first: list[str], second: list[str], columns: list[str], ranks: bool, note: str
) -> None:
    runs = [
        score(tracked(60, 0), {name: tracked(60, place)}, measures=measures, resamples=50).runs[0]
        for place, (name, measures) in enumerate({"alpha": first, "beta": second}.items())
    ]
    [board] = boards(runs)
    assert (list(board.measures), all(row.rank for row in board.rows)) == (columns, ranks)
    assert board.note.startswith(note)


def test_damaged_runs_are_left_out_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, (run, other) = tracking_store(tmp_path / "runs", count=8)
    (run.path / "run.json").write_text("{")
    outcome = dialgauge(capsys, "leaderboard", "--store", store.folder, "-o", tmp_path / "b.html")
    assert outcome.code == 1 and run.id in outcome.err
    assert other.name in (tmp_path / "b.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        ({"system": "llm-system"}, True),
        ({"user": "agenda-baseline"}, False),
        ({"system": "rule-system(channel=paper2021)"}, False),
        ({"user_files": "channel=12ab"}, False),
        ({"exchanges": "5"}, False),
    ],
)
def test_systems_of_the_lab_are_ranked_before_the_same_user_and_channel(other: dict[str, str], alike: bool) -> None:
    parts = {"user": "agenda", "system": "rule-system", "level": "act", "goals": "g", "exchanges": "20"}
    first, second = (new_run(kind="lab", name="one", signature=Signature(**{**parts, **more})) for more in ({}, other))
    assert (comparable_signature(first) == comparable_signature(second)) is alike
