"""Corpora: one checksum, stored once, gone with the last run that needs them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import polars
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.dialogue import Act, Dialogue, Goal, Outcome, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Scores
from dialgauge.runs import Store, decode_corpus, encode_corpus, new_run
from support.made_runs import run_with
from support.reading import write_bytes
from support.soak import examples

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
STATES = st.none() | st.dictionaries(
    TEXT, st.dictionaries(TEXT, st.lists(TEXT, max_size=2).map(tuple), max_size=2), max_size=2
)
TURN = st.builds(
    Turn,
    speaker=st.sampled_from(["user", "system"]),
    text=TEXT,
    state=STATES,
    acts=st.none() | st.lists(st.builds(Act, name=TEXT, slot=TEXT), max_size=2).map(tuple),
)
DIALOGUE = st.builds(
    Dialogue,
    id=TEXT,
    turns=st.lists(TURN, max_size=3).map(tuple),
    goal=st.none()
    | st.builds(Goal, tasks=st.dictionaries(TEXT, st.builds(Task, info=st.dictionaries(TEXT, TEXT)), max_size=2)),
    domains=st.lists(TEXT, max_size=2).map(tuple),
    outcome=st.none() | st.builds(Outcome, success=st.none() | st.booleans(), reason=TEXT),
)


def corpora(store: Store) -> list[str]:
    folder = store.folder / "corpora"
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.exists() else []


def stored(store: Store, name: str, dialogues: list[Dialogue]) -> str:
    return store.add(new_run(kind="k", name=name, corpus=dialogues)).id


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(DIALOGUE, max_size=4, unique_by=lambda one: one.id))
def test_any_dialogues_come_back_and_the_checksum_is_that_of_the_native_file(dialogues: list[Dialogue]) -> None:
    corpus = encode_corpus(iter(dialogues))
    assert list(decode_corpus(corpus.tables["dialogues"].frame(), corpus.tables["turns"].frame())) == dialogues
    native, _ = write_bytes("native", dialogues)
    assert corpus.checksum == hashlib.sha256(native).hexdigest()


def test_todays_native_lines_are_unchanged_and_an_outcome_is_read_back() -> None:
    plain = Dialogue(id="a", turns=(Turn(speaker="user", text="hi"),))
    assert msgspec.json.encode(plain) == b'{"id":"a","turns":[{"speaker":"user","text":"hi"}]}'
    ended = Dialogue(id="a", turns=(), outcome=Outcome(success=None, ended_by="limit"))
    assert msgspec.json.decode(msgspec.json.encode(ended), type=Dialogue) == ended
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"id":"a","turns":[],"outcome":{"success":true,"sucess":1}}', type=Dialogue)


def test_equal_dialogues_are_stored_once(store: Store, dialogues: list[Dialogue]) -> None:
    one, two = stored(store, "a", dialogues), stored(store, "b", list(dialogues))
    other = stored(store, "c", dialogues[:1])
    assert store.open(one).manifest.corpus == store.open(two).manifest.corpus
    assert corpora(store) == sorted({store.open(one).manifest.corpus, store.open(other).manifest.corpus})
    assert list(store.open(two).dialogues()) == dialogues
    assert [path.name for path in store.open(one).path.iterdir()].count("turns.parquet") == 0


def test_a_corpus_goes_with_the_last_run_that_needs_it(store: Store, dialogues: list[Dialogue]) -> None:
    one, two = stored(store, "a", dialogues), stored(store, "b", dialogues)
    store.remove(one)
    assert list(store.open(two).dialogues()) == dialogues
    store.remove(two)
    assert corpora(store) == []
    assert list((store.folder / ".work").iterdir()) == []
    again = stored(store, "c", dialogues)
    assert list(store.open(again).dialogues()) == dialogues


def test_a_run_that_fails_takes_its_corpus_along_unless_another_has_it(store: Store, dialogues: list[Dialogue]) -> None:
    def fails() -> polars.DataFrame:
        assert len(corpora(store)) == 1
        raise RuntimeError

    for others in (False, True):
        if others:
            stored(store, "other", dialogues)
        with pytest.raises(RuntimeError):
            store.add(run_with({"t": fails}, dialogues))
        assert len(corpora(store)) == int(others)


def test_a_corpus_is_kept_for_a_run_in_the_making(store: Store, dialogues: list[Dialogue]) -> None:
    first = stored(store, "a", dialogues)

    def removes() -> polars.DataFrame:
        store.remove(first)
        assert len(corpora(store)) == 1
        return polars.DataFrame({"x": [1]})

    run = store.add(run_with({"t": removes}, dialogues))
    assert [manifest.id for manifest in store.list()] == [run.id]
    assert list(run.dialogues()) == dialogues


def test_what_the_dead_left_is_swept(store: Store, dialogues: list[Dialogue]) -> None:
    """A process that died between storing its corpus and its run leaves a folder that names the corpus."""
    dead = store.folder / ".work" / "20260101-000000-k-dead-0000"
    store.open(stored(store, "n", dialogues)).path.rename(dead)
    assert [len(store.survey().runs), len(corpora(store))] == [0, 1]
    store.add(new_run(kind="k", name="next"))
    assert corpora(store) == []
    assert list((store.folder / ".work").iterdir()) == []


def test_a_damaged_run_may_need_any_corpus(store: Store, dialogues: list[Dialogue]) -> None:
    one, two = stored(store, "a", dialogues), stored(store, "b", dialogues[:1])
    manifest = store.open(two).path / "run.json"
    manifest.write_text("{")
    store.remove(one)
    assert len(corpora(store)) == 2
    store.remove(two)
    assert corpora(store) == []


def test_a_missing_or_cut_corpus_is_told_and_mended_by_the_next_run(store: Store, dialogues: list[Dialogue]) -> None:
    run = store.open(stored(store, "a", dialogues))
    path = run.table_path("turns")
    path.write_bytes(path.read_bytes()[:-10])
    (problem,) = store.survey().problems
    assert run.id in str(problem)
    assert "its table 'turns' has" in str(problem)
    (path.parent / "corpus.json").unlink()
    (problem,) = store.survey().problems
    assert run.id in str(problem)
    assert "the corpus cannot be read" in str(problem)
    stored(store, "b", dialogues)
    assert store.survey().problems == []
    assert list(store.open(run.id).dialogues()) == dialogues
    assert len(corpora(store)) == 1


def test_two_dialogues_of_one_id_are_refused(store: Store) -> None:
    with pytest.raises(DialgaugeError, match="dialogue a: two dialogues have this id"):
        stored(store, "a", [Dialogue(id="a", turns=()), Dialogue(id="b", turns=()), Dialogue(id="a", turns=())])
    assert list(store.folder.iterdir()) == [store.folder / ".work"]


def test_scores_must_be_of_dialogues_of_the_corpus(store: Store, dialogues: list[Dialogue], scored: Scores) -> None:
    with pytest.raises(ValueError, match=r"dialogues missing from the corpus: \['b'\]"):
        store.add(new_run(kind="k", name="n", scores=scored, corpus=dialogues[:1]))
    assert (store.list(), corpora(store)) == ([], [])


def test_no_dialogues_are_no_corpus(store: Store) -> None:
    run = store.open(stored(store, "a", []))
    assert (run.manifest.corpus, list(run.dialogues()), corpora(store)) == ("", [], [])


def test_a_store_that_cannot_be_written_is_one_sentence(tmp_path: Path, dialogues: list[Dialogue]) -> None:
    store = Store(tmp_path)
    (tmp_path / "corpora").write_text("in the way")
    with pytest.raises(DialgaugeError, match="the run store cannot be written"):
        stored(store, "a", dialogues)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == [".work"]
