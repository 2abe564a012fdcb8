"""A run on its way from one process to another: everything but the files it was read from, as bytes."""

from __future__ import annotations

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.files import parquet_bytes
from dialgauge.runs.manifest import Manifest, plain
from dialgauge.runs.provenance import this_command
from dialgauge.runs.run import Frame, Run, run_in_memory
from dialgauge.runs.tables import CORPUS_TABLES, TableParts


class _Parcel(msgspec.Struct):
    manifest: Manifest
    tables: dict[str, bytes]
    #: The dialogues; None where the run has no corpus.
    corpus: list[Dialogue] | None


def packed_run(run: Run) -> bytes:
    """A run as bytes; the same run gives the same bytes."""
    tables = {name: parquet_bytes(run.given_table(name)) for name in run.tables if name not in CORPUS_TABLES}
    corpus = list(run.dialogues()) if run.has_corpus else None
    return msgspec.msgpack.encode(_Parcel(run.manifest, tables, corpus))


def unpacked_run(content: bytes) -> Run:
    """The run in memory, as it was packed, by the command of this process."""
    parcel = msgspec.msgpack.decode(content, type=_Parcel)
    frames: dict[str, Frame] = {name: TableParts([table]) for name, table in parcel.tables.items()}
    manifest = msgspec.structs.replace(parcel.manifest, command=plain(this_command()))  # not the worker's
    return run_in_memory(manifest, frames, parcel.corpus)
