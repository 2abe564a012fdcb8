"""Stored runs that somebody changed: manifests, corpora, tables with forged checksums; and questions to them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from dialgauge.errors import DialgaugeError
from hostile.fuzz import mutations
from hostile.fuzz.dialogues import tracked
from hostile.fuzz.target import Target, damaging, in_file, kept_folder


def store_targets() -> Iterator[Target]:
    """Each file of a run, and SQL."""
    yield damaging("side:manifest", partial(_files_of_run, "run.json"), mutations.JSON, _manifest, 1)
    yield damaging("side:corpus", partial(_files_of_run, "corpus.json"), mutations.JSON, _corpus_file, 1)
    yield damaging("side:annotations", lambda: [_ANNOTATIONS], mutations.JSON, _annotations, 1)
    for name in ("dialogue_scores", "dialogues", "turns", "slot_scores"):
        seeds = partial(_files_of_run, f"{name}.parquet")
        yield damaging(f"side:{name}", seeds, mutations.BYTES, partial(_parquet, name), 1)
    yield damaging("side:sql", lambda: _QUERIES, mutations.TEXT, _sql, 1)


@cache
def stored_run() -> Path:
    """A store with one run, made once."""
    from dialgauge.runs import Store
    from dialgauge.tracking import score

    folder = kept_folder()
    gold, predicted = tracked()
    results = score(
        in_file(folder, gold, "gold.jsonl"), [in_file(folder, predicted, "system.json")], measures="JGA", resamples=5
    )
    store = Store(folder / "store")
    run = store.add(results.runs[0])
    facts = json.loads((run.path / "run.json").read_bytes())
    # The same in every process, so that a case is the same too.
    facts |= {"id": "20260101-000000-tracking-system-0000", "created": "2026-01-01T00:00:00Z", "command": ["score"]}
    facts["inputs"], facts["versions"] = [], {"dialgauge": "0"}
    (run.path / "run.json").write_text(json.dumps(facts, indent=1))
    run.path.rename(store.folder / facts["id"])
    return store.folder


def _files_of_run(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(stored_run().rglob(pattern))]


def _read_store(folder: Path) -> None:
    """Whatever the commands do with stored runs."""
    from dialgauge.report import run_page
    from dialgauge.runs import Store

    store = Store(folder)
    problems: list[DialgaugeError] = []
    store.sql("SELECT count(*), max(num) FROM dialogue_scores", on_problem=problems.append)
    for run in store.survey().runs:
        str(run_page(run))
        for name in run.tables:
            run.table(name)
        list(run.dialogues())


def _manifest(content: bytes, folder: Path) -> None:
    shutil.copytree(stored_run(), folder / "store")
    next((folder / "store").glob("2*/run.json")).write_bytes(content)
    _read_store(folder / "store")


def _annotations(content: bytes, folder: Path) -> None:
    from dialgauge.runs import Store

    shutil.copytree(stored_run(), folder / "store")
    run = next((folder / "store").glob("2*"))
    (run / "annotations.json").write_bytes(content)
    store = Store(folder / "store")
    store.sql("SELECT * FROM annotations").rows()
    before = store.annotations(run.name)
    assert store.annotate(run.name, note="another").dialogues == before.dialogues
    assert store.annotations(run.name).note == "another"


def _corpus_file(content: bytes, folder: Path) -> None:
    shutil.copytree(stored_run(), folder / "store")
    next((folder / "store").glob("corpora/*/corpus.json")).write_bytes(content)
    _read_store(folder / "store")


def _parquet(name: str, content: bytes, folder: Path) -> None:
    """A table whose checksum was forged with it."""
    shutil.copytree(stored_run(), folder / "store")
    table = next((folder / "store").rglob(f"{name}.parquet"))
    table.write_bytes(content)
    owner = next(path for path in (table.parent / "run.json", table.parent / "corpus.json") if path.exists())
    facts = json.loads(owner.read_bytes())
    facts["tables"][table.stem] |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    owner.write_text(json.dumps(facts))
    _read_store(folder / "store")


def _sql(content: bytes, folder: Path) -> None:
    from dialgauge.cli.runs import frame_table
    from dialgauge.files import parquet_bytes
    from dialgauge.report import Page, Terminal, csv_page, json_page
    from dialgauge.runs import Store

    frame = Store(stored_run()).sql(content.decode("utf-8", "replace")).head(50)
    page = Page(title="", tables={"answer": frame_table(frame)})
    Terminal().page(page), csv_page(page), json_page(page), parquet_bytes(frame)


_QUERIES = [
    b"SELECT run, measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY ALL ORDER BY ALL",
    b"SHOW TABLES",
    b"SELECT TIMESTAMP '2020-01-01 10:00:00', DATE '2020-01-01', 'NaN'::DOUBLE, 10::HUGEINT, 'infinity'",
    b"SELECT TIMESTAMPTZ 'epoch', TIME '12:00', UUID '00000000-0000-0000-0000-000000000000', '1'::BLOB",
    b"SELECT {'a': 1}, [1, 2], MAP {'a': 2}, '[1]'::JSON, 1.5::DECIMAL(38, 10), true, NULL, [DATE '2020-01-01']",
    b"SELECT * FROM runs",
    b"SELECT * FROM dialogues JOIN turns USING (dialogue) WHERE text ILIKE '%a%' LIMIT 3",
    b"WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t",
    b"SELECT TIMESTAMP_NS '2262-04-11 23:47:16', DATE '9990-01-01', TIME '1:00'",
]
_ANNOTATIONS = (
    b'{"tags": ["a", "b c"], "note": "two\\nlines \\ud83d\\ude00", '
    b'"dialogues": {"d1": {"labels": ["x"], "note": "y"}, "d2": {"note": "z"}}}'
)
