"""What is stored comes back, equal runs are stored once, and damage is found."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import polars
import pytest

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.files import parquet_bytes
from dialgauge.measures import Scores
from dialgauge.runs import Pieces, Run, Store, fingerprint, new_run, packed_run, unpacked_run
from runs.contract import assert_run_contract

FRAME = polars.DataFrame({"x": [1, 2, 3]})


def a_run(name: str = "augpt", kind: str = "tracking", **more: object) -> Run:
    return new_run(kind=kind, name=name, tables={"one": FRAME}, **more)  # type: ignore[arg-type]


def test_a_stored_run_says_what_the_one_in_memory_said(
    store: Store, scored: Scores, dialogues: list[Dialogue], tmp_path: Path
) -> None:
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "a.json").write_text("{}")
    run = new_run(
        kind="tracking",
        name="augpt",
        scores=scored,
        tables={"one": lambda: FRAME},
        corpus=dialogues,
        config={"profile": "canon"},
        inputs=[("gold", tmp_path / "gold")],
        seeds=3,
        details={"files": 2},
        notes=["half of it"],
    )
    stored = store.add(run)
    for each in (run, stored, unpacked_run(packed_run(run)), Store(tmp_path / "copy").add(stored)):
        assert_run_contract(each)
        assert msgspec.structs.replace(
            each.manifest, id="", command=[], corpus="", tables={}
        ) == msgspec.structs.replace(run.manifest, id="", command=[])
        assert list(each.dialogues()) == dialogues
        assert each.dialogue("B.json") == dialogues[1]
        for table in run.tables:
            assert each.table(table).equals(run.table(table)), table
    assert stored.table("one") is stored.table("one")
    lines = msgspec.json.encode(dialogues[0]) + b"\n" + msgspec.json.encode(dialogues[1]) + b"\n"
    assert stored.manifest.corpus == hashlib.sha256(lines).hexdigest()
    digest = hashlib.sha256(b"{}").hexdigest()
    assert stored.manifest.inputs[0].sha256 == hashlib.sha256(f"{digest}  a.json\n".encode()).hexdigest()
    with pytest.raises(DialgaugeError, match="no dialogue 'c'"):
        stored.dialogue("c")


def test_an_equal_run_is_found_and_any_difference_stores_another(store: Store, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("one")
    first = store.add(a_run(inputs=[tmp_path / "gold"]))
    (tmp_path / "moved").write_text("one")
    other = store.add(a_run("other"))
    assert store.open("latest").id == other.id
    again = store.add(a_run(inputs=[tmp_path / "moved"]))
    assert again.id == first.id == store.open("latest").id
    assert again.manifest.inputs[0].path == str(tmp_path / "moved")
    others = [
        a_run(inputs=[("gold", tmp_path / "gold")]),
        a_run(inputs=[tmp_path / "gold"], config={"profile": "canon"}),
        a_run(inputs=[tmp_path / "gold"], corpus=[Dialogue(id="d", turns=())]),
        new_run(kind="tracking", name="augpt", tables={"one": FRAME.reverse()}, inputs=[tmp_path / "gold"]),
    ]
    (tmp_path / "gold").write_text("two")
    assert len({first.id, *(store.add(run).id for run in [*others, a_run(inputs=[tmp_path / "gold"])])}) == 6
    (first.path / "one.parquet").write_bytes(b"damaged")
    (tmp_path / "gold").write_text("one")
    assert store.add(a_run(inputs=[tmp_path / "gold"])).id != first.id


def test_a_large_table_comes_in_pieces(store: Store, dialogues: list[Dialogue], tmp_path: Path) -> None:
    frames = [FRAME, FRAME.reverse(), FRAME.head(0)]
    run = new_run(kind="k", name="n", tables={"one": lambda: Pieces(lambda: iter(frames))}, corpus=dialogues)
    stored = store.add(run)
    assert [path.name for path in stored.files["one"]] == [
        "one-00000.parquet",
        "one-00001.parquet",
        "one-00002.parquet",
    ]
    assert stored.table("one")["x"].to_list() == [1, 2, 3, 3, 2, 1]
    assert stored.manifest.tables["one"].rows == 6
    assert store.sql("SELECT count(*) AS n FROM one")["n"].to_list() == [6]
    assert Store(tmp_path / "copy").add(stored).id == stored.id
    stored.files["one"][1].write_bytes(stored.files["one"][0].read_bytes())
    with pytest.raises(DialgaugeError, match="table 'one' does not have the bytes"):
        store.open(stored.id).table("one")


#: Prints the checksum of a table's bytes.
TABLE = """
import hashlib, polars
from dialgauge.files import parquet_bytes
texts = [str(n % 97) for n in range(300_000)]
frame = polars.DataFrame({"a": texts, "b": range(300_000), "c": [[text] for text in texts]})
for each in (frame, polars.concat([frame.head(1000), frame.tail(-1000)], rechunk=False)):
    print(hashlib.sha256(parquet_bytes(each)).hexdigest())
"""


def test_equal_tables_have_equal_bytes_in_any_process() -> None:
    digests: set[str] = set()
    for threads in ("1", "2", "3"):
        environment = {**os.environ, "POLARS_MAX_THREADS": threads}
        command = [sys.executable, "-c", TABLE]
        digests |= set(
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
        )
    assert len(digests) == 1


def test_what_means_a_run(store: Store) -> None:
    first, second = store.add(a_run("augpt")), store.add(a_run("trippy", kind="users"))
    store.tag(first.id, ["baseline"])
    for word in (first.id, "augpt", "baseline", "latest:tracking", first.id[:-2]):
        assert store.open(word).id == first.id
    assert store.open("latest").id == second.id
    for word in ("", "nobody", "..", "../runs", f"{first.id}/..", "20", "latest:nothing"):
        with pytest.raises(DialgaugeError):
            store.open(word)


def test_tags_and_notes(store: Store, dialogues: list[Dialogue]) -> None:
    run = store.add(a_run(corpus=dialogues))
    assert store.tag(run.id, [" a  b ", "c"]).tags == ("a b", "c")
    assert store.tag(run.id, ["d"], without=["c"]).tags == ("a b", "d")
    store.annotate(run.id, note="n\x1b[2Jö")
    written = store.annotate(run.id, dialogue="a", labels=["wrong"], note="why")
    assert list(written.rows()) == [
        (None, "tag", "a b"),
        (None, "tag", "d"),
        (None, "note", "n\x1b[2Jö"),
        ("a", "label", "wrong"),
        ("a", "note", "why"),
    ]
    assert store.sql("SELECT dialogue, text FROM annotations WHERE kind = 'label'").rows() == [("a", "wrong")]
    for tags in (["latest"], ["latest:tracking"], [""], ["x" * 61]):
        with pytest.raises(DialgaugeError):
            store.tag(run.id, tags)
    with pytest.raises(DialgaugeError, match="no dialogue"):
        store.annotate(run.id, dialogue="z", note="x")
    (run.path / "annotations.json").write_text("{")
    with pytest.raises(DialgaugeError, match="damaged"):
        store.tag(run.id, ["x"])
    assert (run.path / "annotations.json").read_text() == "{"


def test_tags_given_at_the_same_time_are_all_kept(store: Store) -> None:
    run = store.add(a_run())
    code = (
        "import sys; from dialgauge.runs import Store\n"
        f"for n in range(10): Store({str(store.folder)!r}).tag({run.id!r}, [sys.argv[1] + str(n)])"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, letter]) for letter in "abcd"]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert set(store.annotations(run.id).tags) == {f"{letter}{n}" for letter in "abcd" for n in range(10)}


def test_a_full_disk_keeps_the_store_whole_and_lets_runs_be_removed(
    store: Store, dialogues: list[Dialogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store.add(a_run(corpus=dialogues))

    def present() -> list[str]:
        return sorted(path.name for path in store.folder.rglob("*") if path.name != ".work")

    before, real = present(), os.fsync

    def full(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").is_file():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DialgaugeError, match="the disk is full"):
        store.add(a_run("other"))
    assert present() == before
    with pytest.raises(DialgaugeError, match="the disk is full"):
        Store(store.folder.parent / "new").add(a_run(corpus=dialogues))
    assert not (store.folder.parent / "new").exists()
    store.remove(run.id)
    assert store.list() == [] and not [path for path in store.folder.rglob("*") if path.is_file()]


def test_a_corpus_is_stored_once_and_goes_with_its_last_run(store: Store, dialogues: list[Dialogue]) -> None:
    runs = [store.add(a_run(name, corpus=dialogues)) for name in ("a", "b")]
    [corpus] = [path for path in (store.folder / "corpora").iterdir() if path.is_dir()]
    store.remove(runs[0].id)
    assert list(store.open(runs[1].id).dialogues()) == dialogues
    (corpus / "turns.parquet").write_bytes(b"cut")
    with pytest.raises(DialgaugeError, match="table 'turns' has 3 bytes"):
        list(store.open(runs[1].id).dialogues())
    mended = store.add(a_run("c", corpus=dialogues))
    assert list(store.open(runs[1].id).dialogues()) == dialogues
    store.remove(mended.id)
    store.remove(runs[1].id)
    assert not corpus.exists()
    with pytest.raises(DialgaugeError, match="two dialogues have this id"):
        store.add(a_run(corpus=[Dialogue(id="d", turns=()), Dialogue(id="d", turns=(Turn(speaker="user"),))]))


DAMAGE: list[tuple[Callable[[Path], object], str]] = [
    (lambda run: (run / "one.parquet").write_bytes(b"x"), "has 1 bytes"),
    (lambda run: (run / "one.parquet").unlink(), "cannot be read"),
    (lambda run: swap(run / "one.parquet"), "does not have the bytes"),
    (lambda run: (run / "run.json").unlink(), "no run.json"),
    (lambda run: (run / "run.json").write_text("{"), "cannot be understood"),
    (lambda run: (run / "run.json").write_text("[" * 100_000), "cannot be understood"),
    (lambda run: edit(run, schema_version=99), "upgrade dialgauge"),
    (lambda run: edit(run, id="20261115-104500-k-n-0000"), "belongs to"),
    (lambda run: edit(run, corpus="../../etc"), "no corpus can be called"),
    (lambda run: edit(run, tables={"../x": {}}), "no table can be called"),
]


def swap(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def edit(run: Path, **changed: object) -> None:
    manifest = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**manifest, **changed}))


@pytest.mark.parametrize(("damage", "said"), DAMAGE)
def test_damage_is_one_sentence_and_the_others_are_still_listed(
    store: Store, damage: Callable[[Path], object], said: str
) -> None:
    bad, good = store.add(a_run("bad")), store.add(a_run("good"))
    damage(bad.path)
    with pytest.raises(DialgaugeError, match=said) as told:
        store.open(bad.id).verify()
    assert bad.id in str(told.value)
    assert good.id in [run.id for run in store.survey().runs]
    problems: list[DialgaugeError] = []
    assert store.sql("SELECT DISTINCT run FROM one", on_problem=problems.append)["run"].to_list() == [good.id]
    assert said in str(problems[0])
    store.remove(bad.id)
    assert [run.id for run in store.list()] == [good.id]


def test_a_forged_table_is_refused_whatever_its_checksum(store: Store, scored: Scores) -> None:
    run = store.add(new_run(kind="k", name="n", scores=scored))
    forged = parquet_bytes(run.table("dialogue_scores").with_columns(den=polars.lit(0.0)))
    (run.path / "dialogue_scores.parquet").write_bytes(forged)
    tables = json.loads((run.path / "run.json").read_text())["tables"]
    tables["dialogue_scores"] |= {"size": len(forged), "sha256": hashlib.sha256(forged).hexdigest()}
    edit(run.path, tables=tables)
    with pytest.raises(DialgaugeError, match="cannot be used"):
        store.open(run.id).table("dialogue_scores")


@pytest.mark.parametrize("name", ["runs", "turns", "Upper", "a-b", "../x", "", "x" * 64])
def test_table_names_that_are_refused(store: Store, name: str) -> None:
    with pytest.raises(DialgaugeError):
        store.add(new_run(kind="k", name="n", tables={name: FRAME}))
    with pytest.raises(DialgaugeError):
        store.add(new_run(kind="k", name="n", tables={"one": polars.DataFrame({"Run": [1]})}))


def test_finished_units_are_found_again_until_the_work_is_stored(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.kept_units(kind="lab", name="n", config={"a": 1}) as units:
        units["../1"] = b"one"
        raise ZeroDivisionError
    with store.kept_units(kind="lab", name="n", config={"a": 2}) as units:
        assert list(units) == []
    [left] = store.unfinished()
    with store.kept_units(kind="lab", name="n", config={"a": 1}) as units:
        assert dict(units) == {"../1": b"one"}
        with (
            pytest.raises(DialgaugeError, match="another process"),
            store.kept_units(kind="lab", name="n", config={"a": 1}),
        ):
            pass
    assert store.unfinished() == []
    assert left.startswith("resume-lab-n-")


def test_names_and_addresses_are_shown_without_harm(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    monkeypatch.setattr(sys, "argv", ["dialgauge", "score", "http://me:secret@host/x?key=abcdef"])
    run = a_run("bad\x1b]0;name\x07")
    assert "\x1b" not in repr(run) + repr(store.add(run))
    assert "secret" not in str(run.manifest.command) and "abcdef" not in str(run.manifest.command)
    with pytest.raises(DialgaugeError, match="no such file"):
        fingerprint("nowhere")
    with pytest.raises(DialgaugeError, match="file, not a run store"):
        Store(Path(__file__)).list()
