"""One class for runs in memory and in a store: the same answers from both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars
import pytest
from polars.testing import assert_frame_equal

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Scores, Signature
from dialgauge.runs import Run, Store, new_run
from dialgauge.text import Note, note_kind
from runs.contract import assert_run_contract, scores_of

FRAME = polars.DataFrame({"dialogue": ["a", "b"], "slot": ["x", "y"]})


@pytest.fixture
def run(scored: Scores, dialogues: list[Dialogue], tmp_path: Path) -> Run:
    gold = tmp_path / "gold.json"
    gold.write_text("{}")
    return new_run(
        kind="tracking",
        name="augpt",
        scores=scored,
        tables={"slot_scores": FRAME, "verdicts": lambda: FRAME.head(1)},
        corpus=dialogues,
        config={"profile": "canon"},
        inputs=[("gold", gold)],
        seeds=3,
        details={"profile": "canon"},
        notes=["careful", Note("coverage", "half of it")],
    )


def test_every_kind_of_run_keeps_the_contract(run: Run, store: Store) -> None:
    assert_run_contract(run)
    assert_run_contract(store.add(run))
    assert_run_contract(new_run(kind="training", name="nothing"))
    assert_run_contract(store.add(new_run(kind="training", name="nothing")))
    for manifest in store.list():
        assert_run_contract(store.open(manifest.id))


def test_a_stored_run_says_what_the_one_in_memory_said(run: Run, store: Store, dialogues: list[Dialogue]) -> None:
    stored = store.add(run)
    assert (run.stored, stored.stored) == (False, True)
    assert stored.id == run.id
    assert (stored.kind, stored.name, stored.notes, stored.details) == (run.kind, run.name, run.notes, run.details)
    assert stored.manifest.note_kinds == [note_kind(note) for note in stored.notes] == ["remark", "coverage"]
    assert store.sql("SELECT note_kinds FROM runs").item().to_list() == ["remark", "coverage"]
    assert (stored.scores, stored.coverage, stored.signature) == (run.scores, run.coverage, run.signature)
    assert (stored.manifest.inputs, stored.manifest.seeds) == (run.manifest.inputs, [3])
    assert list(stored.tables) == list(run.tables)
    for name in run.tables:
        assert_frame_equal(stored.table(name), run.table(name))
    assert list(stored.dialogues()) == list(run.dialogues()) == dialogues


def test_a_run_can_go_to_several_stores(run: Run, store: Store, tmp_path: Path) -> None:
    first = store.add(run)
    second = store.add(run)
    assert first.id != second.id
    elsewhere = Store(tmp_path / "elsewhere").add(first)
    assert elsewhere.id == first.id
    assert_run_contract(elsewhere)
    assert elsewhere.manifest.corpus == first.manifest.corpus


def test_nothing_is_made_that_nobody_asks_for(scored: Scores, tmp_path: Path) -> None:
    asked: list[str] = []

    def table() -> polars.DataFrame:
        asked.append("table")
        return FRAME

    def corpus() -> Iterator[Dialogue]:
        asked.append("corpus")
        return iter([Dialogue(id=name, turns=()) for name in "ab"])

    missing = tmp_path / "gone.json"
    run = new_run(kind="k", name="n", scores=scored, tables={"t": table}, corpus=corpus, inputs=[missing])
    assert (run.scores["JGA"].value, run.kind, run.coverage.complete) == (4 / 6, "k", True)
    assert "t" in run.tables and list(run.tables) and repr(run)
    assert asked == []
    assert run.table("t") is run.table("t")
    assert asked == ["table"]
    assert run.tables["dialogues"].rows == 2
    assert asked == ["table", "corpus"]
    with pytest.raises(DialgaugeError, match="no such file"):
        _ = run.manifest


def test_the_signature_is_what_the_scores_share(run: Run, scored: Scores) -> None:
    assert Signature.parse(run.signature) == Signature(gold="ab")
    given = new_run(kind="k", name="n", scores=scored, signature=Signature(profile="canon"))
    assert Signature.parse(given.signature)["profile"] == "canon"
    assert new_run(kind="k", name="n").signature == ""


def test_why_measures_were_left_out_is_kept() -> None:
    scores = scores_of([], {})
    scores = Scores(dialogues=(), sums={}, scores={}, coverage=scores.coverage, left_out={"SA": "no inventory"})
    assert new_run(kind="k", name="n", scores=scores).details == {"left_out": {"SA": "no inventory"}}


def test_a_table_that_the_system_does_not_open_is_no_damage(
    run: Run, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To make the run again and remove this one would help nobody."""
    stored = store.add(run)

    def refused(*_: object, **__: object) -> None:
        raise OSError("Too many open files (os error 24): x.parquet")  # as polars says it

    monkeypatch.setattr(polars, "read_parquet", refused)
    with pytest.raises(DialgaugeError, match=r"'dialogue_scores' of the run cannot be read \(Too many open files\)$"):
        stored.table("dialogue_scores")


def test_a_short_picture_of_a_run(run: Run, store: Store) -> None:
    assert repr(run) == "<Run tracking 'augpt' (not stored): JGA 0.6667, Exact 1>"
    assert repr(store.add(run)) == f"<Run tracking 'augpt' ({run.id}): JGA 0.6667, Exact 1>"
    many = scores_of(["a"], {name: ([0.5], [1.0]) for name in "PQRST"})
    assert repr(new_run(kind="k", name="n", scores=many)).endswith("P 0.5, Q 0.5, R 0.5 and 2 more>")
    assert repr(new_run(kind="k", name="n")).endswith(": no scores>")


def test_mistakes(run: Run) -> None:
    with pytest.raises(DialgaugeError, match=r"the run 'augpt' has no table 'slot_score'. Did you mean 'slot_scores'"):
        run.table("slot_score")
    with pytest.raises(KeyError):
        run.tables["nothing"]
    with pytest.raises(ValueError, match="in memory only"):
        _ = run.path
    with pytest.raises(ValueError, match="in memory only"):
        run.verify()
    with pytest.raises(DialgaugeError, match="cannot be called 'turns'"):
        new_run(kind="k", name="n", tables={"turns": FRAME})
    with pytest.raises(ValueError, match="comes from the scores"):
        new_run(kind="k", name="n", tables={"dialogue_scores": FRAME})
    with pytest.raises(DialgaugeError, match="SQL would see that name twice"):
        new_run(kind="k", name="n", tables={"t": FRAME.with_columns(Run=1)}).table("t")
