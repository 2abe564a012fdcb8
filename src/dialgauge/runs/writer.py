"""A run in the making: tables go to the disk as they come, the manifest last."""

from __future__ import annotations

from pathlib import Path

import msgspec

from dialgauge.runs.annotations import Annotations, write_annotations
from dialgauge.runs.corpora import PIN, Corpora, EncodedCorpus
from dialgauge.runs.manifest import MANIFEST, Manifest, encode
from dialgauge.runs.tables import (
    DIALOGUE_SCORES,
    GivenTable,
    TableInfo,
    check_table_name,
    empty_table,
    whole,
    write_table,
)
from dialgauge.runs.workspace import write_durably, writing

_SCRATCH = f"{MANIFEST}.new"


class RunWriter:
    """Writes the tables and dialogues of a run into a folder that nobody else sees yet, and the manifest last."""

    def __init__(self, draft: Manifest, folder: Path, corpora: Corpora) -> None:
        self._draft = draft
        self._folder = folder
        self._corpora = corpora
        self._corpus = ""
        self._tables: dict[str, TableInfo] = {}
        self._scored: frozenset[str] | None = None
        self._stored: frozenset[str] | None = None

    def add_encoded(self, corpus: EncodedCorpus) -> None:
        """The dialogues of the run: the tables ``dialogues`` and ``turns``, shared with other runs of the same ones."""
        self._stored = corpus.ids
        if corpus.ids:
            self._corpora.add(corpus, self._folder)
            self._corpus = corpus.checksum

    def table(self, name: str, table: GivenTable) -> None:
        """Write a table as Parquet, durably."""
        check_table_name(name)
        if name == DIALOGUE_SCORES and self._stored is not None:
            self._scored = frozenset(whole(table)["dialogue"].unique())
        with writing(self._folder):
            self._tables[name] = write_table(name, table, self._folder)

    def annotate(self, annotations: Annotations) -> None:
        """Copy the annotations of the run that this one is copied from."""
        if annotations != Annotations():
            write_annotations(self._folder, annotations)

    def manifest(self) -> Manifest:
        """The manifest, with the checksums of all files; the id is still to come."""
        if DIALOGUE_SCORES not in self._tables:
            self.table(DIALOGUE_SCORES, empty_table(DIALOGUE_SCORES))
        if self._stored is not None and self._scored is not None:
            strangers = self._scored - self._stored
            if strangers:
                raise ValueError(f"the scores include dialogues missing from the corpus: {sorted(strangers)[:3]}")
        return msgspec.structs.replace(self._draft, corpus=self._corpus, tables=self._tables)

    def write_manifest(self, manifest: Manifest) -> None:
        """Write the manifest, the last file of a run."""
        with writing(self._folder):
            write_durably(self._folder / _SCRATCH, encode(manifest))
            (self._folder / _SCRATCH).rename(self._folder / MANIFEST)  # whoever looks for corpora in use reads it whole
            # The manifest names the corpus now; the note that did so until here would be a stranger in the run.
            (self._folder / PIN).unlink(missing_ok=True)
