"""Every file format of the field, read into the one data model and, where it makes sense, written from it.

>>> import dialgauge
>>> corpus = dialgauge.read("predictions.json")         # doctest: +SKIP
>>> corpus.format, len(corpus.dialogues)               # doctest: +SKIP
('som-dst', 999)
"""

from __future__ import annotations

from dialgauge.formats.corpus import Corpus, read, read_ontology, stream, write

__all__ = ["Corpus", "read", "read_ontology", "stream", "write"]
