from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Scores
from dialgauge.runs import Annotations, DialogueNote, Run, Store, annotations as annotations_file, new_run
from support.made_runs import run_with
from support.soak import examples

HOSTILE = [
    "<script>alert(1)</script>",
    "a\x00b\x1b[31mred\x07",
    "right-to-left \u202e mark \u2028 line",
    "'; DROP TABLE annotations; --",
    "{{ 7 * 7 }} ${x} %s",
    "ä 汉 🙂",
]


@pytest.fixture
def run(store: Store, scored: Scores, dialogues: list[Dialogue]) -> Run:
    return store.add(new_run(kind="tracking", name="a", scores=scored, corpus=dialogues))


def test_a_run_that_nobody_wrote_about_has_no_annotations(store: Store, run: Run) -> None:
    assert store.annotations(run.id) == Annotations()
    assert not (run.path / "annotations.json").exists()
    assert store.sql("SELECT * FROM annotations").height == 0


def test_what_is_written_is_read_again_and_the_rest_stays(store: Store, run: Run) -> None:
    store.annotate(run.id, tags=["baseline", "half"], note="first\nsecond")
    store.annotate_dialogue(run.id[:-2], "b", labels=["wrong area"])
    store.annotate_dialogue(run.id, "b", note="see turn 3")
    answer = store.annotate_dialogue(run.id, "a", note="fine")
    expected = Annotations(
        tags=("baseline", "half"),
        note="first\nsecond",
        dialogues={"b": DialogueNote(("wrong area",), "see turn 3"), "a": DialogueNote(note="fine")},
    )
    assert answer == Store(store.folder).annotations(run.id) == expected
    assert store.annotate(run.id, note="other").tags == ("baseline", "half")
    assert json.loads((run.path / "annotations.json").read_text())["tags"] == ["baseline", "half"]
    store.open(run.id).verify()
    assert store.survey().problems == []
    assert sorted(path.name for path in (store.folder / ".work").iterdir()) == []


def test_what_is_emptied_is_removed(store: Store, run: Run) -> None:
    store.annotate(run.id, tags=["x"], note="y")
    store.annotate_dialogue(run.id, "a", labels=["l"], note="n")
    assert store.annotate_dialogue(run.id, "a", labels=[]).dialogues == {"a": DialogueNote(note="n")}
    assert store.annotate_dialogue(run.id, "a", note="  \n").dialogues == {}
    assert store.annotate(run.id, tags=[], note="") == Annotations() == store.annotations(run.id)


def test_each_label_counts_once_and_without_the_space_around_it(store: Store, run: Run) -> None:
    assert store.annotate(run.id, tags=[" b ", "a", "b", "two\n\twords"]).tags == ("b", "a", "two words")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"note": "x" * 10_001}, r"a note can have at most 10,000 characters \(got 10,001\)"),
        ({"tags": ["ok", "x" * 61]}, "a tag can have at most 60 characters; 'x{29}…' has 61"),
        ({"tags": [str(n) for n in range(51)]}, r"at most 50 tags are allowed \(got 51\)"),
        ({"tags": ["ok", " "]}, "a tag cannot be empty"),
    ],
)
def test_what_is_too_long_is_one_sentence_and_changes_nothing(
    store: Store, run: Run, given: dict[str, object], said: str
) -> None:
    store.annotate(run.id, note="before")
    with pytest.raises(DialgaugeError, match=said):
        store.annotate(run.id, **given)  # type: ignore[arg-type]
    renamed = {"labels" if key == "tags" else key: value for key, value in given.items()}
    with pytest.raises(DialgaugeError, match=said.replace("tag", "label")):
        store.annotate_dialogue(run.id, "a", **renamed)  # type: ignore[arg-type]
    assert store.annotations(run.id) == Annotations(note="before")


def test_the_longest_texts_fit(store: Store, run: Run) -> None:
    labels = [f"{n:060}" for n in range(50)]
    written = store.annotate_dialogue(run.id, "a", labels=labels, note="x" * 10_000)
    assert store.annotations(run.id) == written
    assert written.dialogues["a"] == DialogueNote(tuple(labels), "x" * 10_000)


@pytest.mark.parametrize("dialogue", ["c", "", "A", "../a", "\udcff", "x" * 10_000])
def test_a_dialogue_that_the_run_lacks_is_an_error(store: Store, run: Run, dialogue: str) -> None:
    with pytest.raises(DialgaugeError, match=f"run {run.id} has no dialogue") as error:
        store.annotate_dialogue(run.id, dialogue, note="x")
    assert len(str(error.value)) < 500
    assert store.annotations(run.id) == Annotations()


def test_dialogues_of_a_run_without_a_corpus_are_those_of_its_scores(store: Store, scores: polars.DataFrame) -> None:
    made = store.add(run_with({"dialogue_scores": scores}))
    assert store.annotate_dialogue(made.id, "b", note="x").dialogues.keys() == {"b"}
    with pytest.raises(DialgaugeError, match="its table 'dialogue_scores' lists them"):
        store.annotate_dialogue(made.id, "c", note="x")


def test_hostile_texts_are_kept_as_they_are(store: Store, run: Run) -> None:
    tags = [" ".join(text.split()) for text in HOSTILE]
    for text in HOSTILE:
        assert store.annotate(run.id, tags=tags, note=text).note == text
        assert store.annotations(run.id) == Annotations(tags=tuple(tags), note=text)
        answer = store.sql("SELECT text FROM annotations WHERE kind = 'note'")
        assert answer.item() == text


def test_what_has_no_bytes_in_utf8_is_written_out(store: Store, run: Run) -> None:
    assert store.annotate(run.id, tags=["\udcff"], note="half \ud83d") == Annotations(("\\udcff",), "half \\ud83d")
    assert store.annotations(run.id).note == "half \\ud83d"


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(note=st.text(max_size=200), label=st.text(min_size=1, max_size=60))
def test_any_text_comes_back_as_it_was_answered(store: Store, run: Run, note: str, label: str) -> None:
    labels = [label] if label.strip() else []
    written = store.annotate_dialogue(run.id, "a", note=note, labels=labels)
    assert store.annotations(run.id) == written
    kept = written.dialogues.get("a", DialogueNote())
    assert (kept.note, kept.labels) == (note.strip(), tuple(" ".join(text.split()) for text in labels))


WRITER = """
import sys
from dialgauge.runs import Store
folder, run, who = sys.argv[1:]
store = Store(folder)
sys.stdin.readline()
for n in range(40):
    store.annotate_dialogue(run, f"{who}{n}", note=f"{who} {n}")
"""


def test_two_processes_that_annotate_at_once_lose_nothing(store: Store) -> None:
    dialogues = [Dialogue(id=f"{who}{n}", turns=()) for who in "xy" for n in range(40)]
    run = store.add(new_run(kind="k", name="n", corpus=dialogues))
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.folder), run.id, who], stdin=subprocess.PIPE, text=True
        )
        for who in "xy"
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for n in range(20):  # storing runs sweeps the place where the locks lie
        store.add(new_run(kind="k", name=f"other {n}"))
    for writer in writers:
        writer.communicate(timeout=300)
        assert writer.returncode == 0
    notes = {dialogue: one.note for dialogue, one in store.annotations(run.id).dialogues.items()}
    assert notes == {f"{who}{n}": f"{who} {n}" for who in "xy" for n in range(40)}


DYING = """
import os, signal, sys
from pathlib import Path
from dialgauge.runs import Store
folder, run = sys.argv[1:]
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Store(folder).annotate(run, note="half-written")
"""


def test_a_process_that_dies_while_writing_leaves_the_old_annotations(store: Store, run: Run) -> None:
    before = store.annotate(run.id, note="old")
    done = subprocess.run([sys.executable, "-c", DYING, str(store.folder), run.id], timeout=300, check=False)
    assert done.returncode == -9
    assert store.annotations(run.id) == before
    store.open(run.id).verify()
    assert store.annotate(run.id, tags=["new"]) == Annotations(("new",), "old") == store.annotations(run.id)
    names = ["annotations.json", "dialogue_scores.parquet", "run.json"]
    assert sorted(path.name for path in run.path.iterdir()) == names
    store.add(new_run(kind="k", name="sweeps"))
    assert list((store.folder / ".work").iterdir()) == []


def test_a_run_that_is_removed_takes_its_annotations_along(store: Store, run: Run) -> None:
    store.annotate(run.id, note="x")
    store.remove(run.id)
    with pytest.raises(DialgaugeError, match="there is no run"):
        store.annotations(run.id)
    with pytest.raises(DialgaugeError, match="there is no run"):
        store.annotate(run.id, note="y")
    assert not run.path.exists()


@pytest.mark.parametrize("step", ["read_annotations", "write_annotations"])
def test_a_run_that_is_removed_meanwhile_does_not_come_back(
    store: Store, run: Run, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., object] = getattr(annotations_file, step)

    def interrupted(*given: object) -> object:
        if run.path.exists():
            Store(store.folder).remove(run.id)
        return real(*given)

    monkeypatch.setattr(f"dialgauge.runs.store.{step}", interrupted)
    with pytest.raises(DialgaugeError, match="the run was removed meanwhile"):
        store.annotate(run.id, note="x")
    assert not run.path.exists()
    assert sorted(path.name for path in (store.folder / ".work").iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"tags": "x"}', b'{"tags": [1]}', b'{"newer": 1}', b"\xff\xfe", b'{"note": "\xff"}',
     b'{"note": "\\ud800"}', b'{"dialogues": {"a": []}}', b'{"dialogues": ' + b"[" * 100_000],
)  # fmt: skip
def test_a_damaged_file_is_one_sentence_and_is_never_written_over(store: Store, run: Run, content: bytes) -> None:
    path = run.path / "annotations.json"
    path.write_bytes(content)
    for ask in (
        lambda: store.annotations(run.id),
        lambda: store.annotate(run.id, note="x"),
        lambda: store.annotate_dialogue(run.id, "a", note="x"),
        lambda: Store(store.folder / "other").add(store.open(run.id)),
        lambda: store.sql("SELECT * FROM annotations"),
    ):
        with pytest.raises(DialgaugeError, match=r"the annotations are damaged .* or delete it") as error:
            ask()
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
    assert path.read_bytes() == content
    store.open(run.id).verify()
    assert store.survey().problems == []
    assert store.sql("SELECT count(*) FROM runs").item() == 1


def test_a_file_that_cannot_be_read_is_one_sentence(store: Store, run: Run) -> None:
    (run.path / "annotations.json").mkdir()
    with pytest.raises(DialgaugeError, match="this is not a file of annotations"):
        store.annotations(run.id)


def test_a_store_that_cannot_be_written_is_one_sentence(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        path.write_bytes(content[:5])
        raise OSError(28, "No space left on device")

    before = sorted(run.path.iterdir())

    monkeypatch.setattr(annotations_file, "write_durably", full)
    with pytest.raises(DialgaugeError, match=r"cannot be written \(the disk is full\)"):
        store.annotate(run.id, note="x")
    assert sorted(run.path.iterdir()) == before


def test_a_copy_in_another_store_has_the_annotations_too(store: Store, run: Run, tmp_path: Path) -> None:
    written = store.annotate_dialogue(run.id, "a", labels=["l"])
    other = Store(tmp_path / "other")
    copy = other.add(store.open(run.id))
    assert other.annotations(copy.id) == written
    other.annotate(copy.id, note="only here")
    assert store.annotations(run.id) == written
    bare = other.add(new_run(kind="k", name="bare"))
    assert sorted(path.name for path in bare.path.iterdir()) == ["dialogue_scores.parquet", "run.json"]


def test_annotations_are_a_table_of_sql(store: Store, run: Run) -> None:
    store.annotate(run.id, tags=["t1", "t2"], note="n")
    store.annotate_dialogue(run.id, "b", labels=["l"], note="m")
    assert store.sql("SELECT * FROM annotations").rows() == [
        (run.id, None, "tag", "t1"), (run.id, None, "tag", "t2"), (run.id, None, "note", "n"),
        (run.id, "b", "label", "l"), (run.id, "b", "note", "m"),
    ]  # fmt: skip
    query = "SELECT a.text FROM annotations a JOIN turns t USING (run, dialogue) WHERE kind = 'label'"
    assert store.sql(query)["text"].to_list() == ["l"]
    assert "annotations" in store.sql("SHOW TABLES")["name"].to_list()


def test_sql_leaves_out_damaged_annotations_when_someone_is_told(store: Store, run: Run) -> None:
    other = store.add(new_run(kind="k", name="other"))
    store.annotate(other.id, note="x")
    (run.path / "annotations.json").write_bytes(b"{")
    told: list[DialgaugeError] = []
    assert store.sql("SELECT run FROM annotations", on_problem=told.append).item() == other.id
    assert [run.id in str(problem) for problem in told] == [True]


def test_no_table_of_a_run_can_be_called_annotations() -> None:
    with pytest.raises(DialgaugeError, match="cannot be called 'annotations'"):
        new_run(kind="k", name="n", tables={"annotations": polars.DataFrame({"x": [1]})})
