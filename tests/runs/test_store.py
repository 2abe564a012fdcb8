from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path

import polars
import pytest
from polars.testing import assert_frame_equal

from dialgauge import __version__
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Scores
from dialgauge.runs import Run, Store, new_run
from support.forgery import forge
from support.made_runs import run_with


def stored(store: Store, name: str, frame: polars.DataFrame, kind: str = "tracking") -> Run:
    return store.add(run_with({"dialogue_scores": frame}, kind=kind, name=name))


def visible(store: Store) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir() if not path.name.startswith("."))


def scratch(store: Store) -> list[str]:
    return sorted(path.name for path in (store.folder / ".work").iterdir())


def test_a_run_keeps_all_that_is_needed_to_repeat_it(
    store: Store, scores: polars.DataFrame, scored: Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["/usr/bin/dialgauge", "score"])
    gold = tmp_path / "gold.json"
    gold.write_text("{}")
    run = new_run(
        kind="tracking",
        name="AuGPT",
        scores=scored,
        config={"profile": "exact"},
        inputs=[("gold", gold)],
        seeds=3,
        signature="gold:ab|version:1",
        details={"half": "A"},
        notes=["mind the gap"],
    )
    again = store.open(store.add(run).id)
    manifest = again.manifest
    assert (manifest.kind, manifest.name, manifest.config) == ("tracking", "AuGPT", {"profile": "exact"})
    assert (manifest.seeds, manifest.signature, manifest.command) == ([3], "gold:ab|version:1", ["dialgauge", "score"])
    assert [(item.role, item.path) for item in manifest.inputs] == [("gold", str(gold))]
    assert manifest.versions["dialgauge"] == __version__
    assert {"python", "polars", "numpy"} <= set(manifest.versions)
    assert manifest.scores == scored.scores
    assert manifest.coverage["dialogues"].scored == 2
    assert (manifest.details, manifest.notes) == ({"half": "A"}, ["mind the gap"])
    assert again.tables["dialogue_scores"].rows == 3
    assert again.tables["dialogue_scores"].columns["num"] == "Float64"
    assert_frame_equal(again.table("dialogue_scores").head(2), scores)
    again.verify()


def test_other_tools_read_the_folder(store: Store, scores: polars.DataFrame) -> None:
    run = stored(store, "a", scores)
    assert sorted(path.name for path in run.path.iterdir()) == ["dialogue_scores.parquet", "run.json"]
    assert json.loads((run.path / "run.json").read_text())["id"] == run.id
    assert_frame_equal(polars.read_parquet(run.path / "dialogue_scores.parquet"), scores)


def test_the_default_folder_is_runs_or_what_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DIALGAUGE_RUNS", raising=False)
    assert Store().folder == Path("runs")
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "elsewhere"))
    assert Store().folder == tmp_path / "elsewhere"
    assert Store().list() == []
    assert not (tmp_path / "elsewhere").exists()


def test_runs_are_listed_oldest_first(store: Store, scores: polars.DataFrame) -> None:
    ids = [stored(store, name, scores).id for name in ("z", "a", "m")]
    assert [manifest.id for manifest in store.list()] == ids


def test_nothing_appears_before_the_end_or_after_an_error(store: Store, scores: polars.DataFrame) -> None:
    def stops() -> polars.DataFrame:
        assert visible(store) == []
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        store.add(run_with({"dialogue_scores": scores, "t": stops}))
    assert visible(store) == scratch(store) == []


def test_an_interrupt_leaves_nothing(store: Store) -> None:
    def interrupted() -> polars.DataFrame:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add(run_with({"t": interrupted}))
    assert visible(store) == scratch(store) == []


def test_a_table_is_written_under_a_safe_name(store: Store, scores: polars.DataFrame) -> None:
    with pytest.raises(DialgaugeError, match="cannot be called"):
        store.add(run_with({"../t": scores}))
    with pytest.raises(DialgaugeError, match="SQL would see that name twice"):
        store.add(run_with({"u": scores.with_columns(run=1)}))
    with pytest.raises(ValueError, match="has the columns"):
        store.add(run_with({"dialogue_scores": scores.drop("den")}))
    assert visible(store) == scratch(store) == []
    assert list(store.add(run_with({"t": scores})).tables) == ["dialogues", "turns", "dialogue_scores", "t"]


def test_a_missing_input_stops_the_run_before_it_starts(store: Store) -> None:
    with pytest.raises(DialgaugeError, match="no such file"):
        store.add(new_run(kind="k", name="n", inputs=["nowhere.json"]))
    assert not store.folder.exists()


def test_an_id_may_be_shortened_while_it_is_unique(store: Store, scores: polars.DataFrame) -> None:
    one, two = stored(store, "alpha", scores).id, stored(store, "beta", scores).id
    assert store.open(one).id == one
    assert store.resolve(one[:-2]) == one
    with pytest.raises(DialgaugeError, match="'20' matches 2 runs"):
        store.open("20")
    near = two.replace("beta", "bata")
    with pytest.raises(DialgaugeError, match=f"there is no run '{near}'. Did you mean '{two}'"):
        store.open(near)
    with pytest.raises(DialgaugeError, match="there is no run ''"):
        store.open("")


def test_ids_cannot_leave_the_store(store: Store, scores: polars.DataFrame) -> None:
    outside = stored(store, "a", scores).id
    other = Store(store.folder / "inner")
    stored(other, "b", scores)
    with pytest.raises(DialgaugeError, match="there is no run"):
        other.remove(f"../{outside}")
    assert store.open(outside).id == outside


def test_asking_an_empty_store_says_that_it_is_empty(store: Store) -> None:
    with pytest.raises(DialgaugeError, match="The store is empty"):
        store.open("20261115")


def test_an_unknown_table_gets_the_nearest_name(store: Store, scores: polars.DataFrame) -> None:
    with pytest.raises(DialgaugeError, match=r"has no table 'dialog_scores'. Did you mean 'dialogue_scores'"):
        stored(store, "a", scores).table("dialog_scores")


def test_removing_takes_the_run_and_leaves_the_others(store: Store, scores: polars.DataFrame) -> None:
    one, two = stored(store, "a", scores), stored(store, "b", scores)
    store.remove(one.id)
    assert visible(store) == [two.id]
    assert scratch(store) == []


def test_removing_a_linked_run_removes_the_link_only(store: Store, scores: polars.DataFrame, tmp_path: Path) -> None:
    run = stored(store, "a", scores)
    elsewhere = run.path.rename(tmp_path / run.id)
    run.path.symlink_to(elsewhere)
    assert store.open(run.id).table("dialogue_scores").height == 2
    store.remove(run.id)
    assert visible(store) == []
    assert (elsewhere / "run.json").exists()


def test_damage_is_told_and_the_other_runs_still_listed(store: Store, scores: polars.DataFrame) -> None:
    ids = {name: stored(store, name, scores).id for name in ("whole", "empty", "gone", "cut", "unread")}
    (store.folder / ids["empty"] / "run.json").write_bytes(b"")
    (store.folder / ids["gone"] / "dialogue_scores.parquet").unlink()
    cut = store.folder / ids["cut"] / "dialogue_scores.parquet"
    cut.write_bytes(cut.read_bytes()[:-100])
    (store.folder / ids["unread"] / "run.json").unlink()
    (store.folder / "notes").mkdir()
    survey = store.survey()
    assert [run.id for run in survey.runs] == [ids["whole"]]
    told = {name: [str(problem) for problem in survey.problems if ids[name] in str(problem)] for name in ids}
    assert [len(told[name]) for name in ids] == [0, 1, 1, 1, 1]
    assert "cannot be understood" in told["empty"][0]
    assert "its table 'dialogue_scores' cannot be read (No such file" in told["gone"][0]
    assert "bytes where" in told["cut"][0]
    assert "it has no run.json" in told["unread"][0]
    store.remove(ids["cut"])
    assert ids["cut"] not in visible(store)


def test_bytes_that_changed_in_place_are_found(store: Store, scores: polars.DataFrame) -> None:
    run = stored(store, "a", scores)
    path = run.path / "dialogue_scores.parquet"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    for look in (run.verify, lambda: run.table("dialogue_scores")):
        with pytest.raises(DialgaugeError, match="does not have the bytes that were written") as error:
            look()
        assert run.id in str(error.value)


def test_a_file_that_is_no_parquet_is_one_sentence(store: Store, scores: polars.DataFrame) -> None:
    run = stored(store, "a", scores)
    content = b"x" * 1000
    forge(run, "dialogue_scores", content)
    with pytest.raises(DialgaugeError, match="its table 'dialogue_scores' cannot be read") as error:
        store.open(run.id).table("dialogue_scores")
    assert "\n" not in str(error.value)


def parquet(frame: polars.DataFrame) -> bytes:
    held = io.BytesIO()
    frame.write_parquet(held)
    return held.getvalue()


def test_a_table_that_took_anothers_place_is_found_whatever_its_checksum(
    store: Store, scores: polars.DataFrame
) -> None:
    run = stored(store, "a", scores)
    others = {
        "rows and columns": scores.select("dialogue"),
        "the rows and": scores.head(1),
        "the columns": scores.with_columns(num=polars.lit("x")),
        "are not numbers": scores.with_columns(num=polars.lit(None, polars.Float64)),
        "without a score": scores.with_columns(den=polars.lit(0.0)),
    }
    for words, other in others.items():
        forge(run, "dialogue_scores", parquet(other))
        with pytest.raises(DialgaugeError, match=f"the run is damaged: its table 'dialogue_scores' .*{words}"):
            store.open(run.id).table("dialogue_scores")


def test_turns_that_are_no_turns_are_found_whatever_their_checksum(store: Store, dialogues: list[Dialogue]) -> None:
    run = store.add(new_run(kind="k", name="a", corpus=dialogues))
    path, turns = run.files["turns"], run.table("turns")
    for record in ("{", "[]", '{"speaker": 3}', None, "[" * 100_000):
        path.write_bytes(content := parquet(turns.with_columns(record=polars.lit(record, polars.String))))
        corpus = json.loads((path.parent / "corpus.json").read_text())
        corpus["tables"]["turns"] |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        (path.parent / "corpus.json").write_text(json.dumps(corpus))
        with pytest.raises(DialgaugeError, match="its table 'turns' holds something that is not a dialogue"):
            list(store.open(run.id).dialogues())


def test_scratch_of_the_living_is_left_alone_and_of_the_dead_swept(store: Store, scores: polars.DataFrame) -> None:
    inner: list[str] = []

    def stores_another() -> polars.DataFrame:
        (store.folder / ".work" / "20260101-000000-k-dead-0000").mkdir()
        inner.append(stored(store, "inner", scores).id)
        assert "20260101-000000-k-dead-0000" not in scratch(store)
        assert outer.id in scratch(store)
        return scores

    outer = run_with({"t": stores_another}, name="outer")
    assert store.add(outer).id == outer.id
    assert visible(store) == sorted([outer.id, *inner])


def test_an_id_that_is_taken_is_not_given_again(
    store: Store, scores: polars.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = iter(["aaaa", "bbbb"])
    monkeypatch.setattr("dialgauge.runs.run.new_id", lambda _when, kind, _name: f"20260101-000000-{kind}-aaaa")
    monkeypatch.setattr(
        "dialgauge.runs.store.new_id", lambda _when, kind, _name: f"20260101-000000-{kind}-{next(drawn)}"
    )
    assert [stored(store, "a", scores).id[-4:] for _ in range(2)] == ["aaaa", "bbbb"]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DialgaugeError, match=r"the run store cannot be written .*DIALGAUGE_RUNS"):
        Store(tmp_path / "file").add(new_run(kind="k", name="n"))


def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    """The limit on file size stands in for a full disk: writing past it fails as writing to a full disk does."""
    script = (
        "import resource, polars\n"
        "from dialgauge.runs import Store, new_run\n"
        "from dialgauge.errors import DialgaugeError\n"
        "frame = polars.DataFrame({'x': list(range(100_000))})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        f"    Store({str(tmp_path / 'runs')!r}).add(new_run(kind='k', name='n', tables={{'t': frame}}))\n"
        "except DialgaugeError as error:\n"
        "    print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True)
    assert "written" in result.stdout
    assert len(result.stdout.splitlines()) == 1
    assert visible(Store(tmp_path / "runs")) == scratch(Store(tmp_path / "runs")) == []


def test_listing_runs_imports_no_array_or_table_library(store: Store) -> None:
    store.add(new_run(kind="k", name="n"))
    script = (
        "import sys\nfrom dialgauge.runs import Store\n"
        f"assert len(Store({str(store.folder)!r}).list()) == 1\n"
        "print({'numpy', 'polars', 'duckdb', 'scipy'} & set(sys.modules))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "set()\n"


def test_a_folder_that_cannot_be_looked_at_is_not_an_empty_store(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match=r"the run store cannot be read \(File name too long\)"):
        Store(tmp_path / ("x" * 5000)).survey()


def test_runs_by_name(store: Store, scores: polars.DataFrame) -> None:
    ids = [stored(store, name, scores).id for name in ("alpha", "beta", "alpha")]
    assert [store.resolve(name) for name in ("latest", "alpha", "beta")] == [max(ids), max(ids[0], ids[2]), ids[1]]
    store.annotate(ids[0], tags=["baseline"])
    assert store.resolve("baseline") == ids[0]
    assert store.resolve("latest:tracking") == max(ids)
    stored(store, "alpha", scores, kind="users")
    with pytest.raises(DialgaugeError, match="'alpha' has runs of the kinds tracking, users"):
        store.resolve("alpha")
    with pytest.raises(DialgaugeError, match="there is no run of the kind 'nothing'"):
        store.resolve("latest:nothing")
    with pytest.raises(DialgaugeError, match="there is no run 'gamma'"):
        store.resolve("gamma")
