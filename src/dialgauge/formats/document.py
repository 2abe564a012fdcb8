"""Files that accompany data without being data: README, LICENSE, PROVENANCE, checksums, scripts, marks of Spark.

They are told by their name alone, before any format looks at their content, so that a folder as it was downloaded can
be read whole: they are listed, and nothing is taken from them.
"""

from __future__ import annotations

import re

from dialgauge.formats.base import Resource, ResourceFormat
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

_NAMES = re.compile(
    r"""(?ix)  ^(?: (?:readme|licen[cs]e|copying|notice|provenance|changelog|changes|authors|citation)
                    (?:[._-][\w.-]*)?
                  | (?:sha\d+|md5)sums?(?:\.\w+)*
                  | _(?:success|started_\w+|committed_\w+)  # what Spark leaves beside the files it wrote
                  | [\w.-]+\.(?:md|rst|pdf|html?|sha\d+|md5|py|ipynb|sh|bib|png|svg)
                  | .+\.map\.yaml
                  # of MultiWOZ: sentences, acts that stand in data.json too, ids, databases
                  | slot_descriptions\.json | (?:system|dialogue|dialog)_acts\.json
                  | (?:test|val|train)listfile(?:\.\w+)? | \w+_db\.json
                )$"""
)


class Document(ResourceFormat):
    """A file for people to read; its content is not looked at."""

    name = "document"
    summary = "README, licence, checksums, MultiWOZ's acts, ids and databases: listed, not read"
    kind = "document"

    def recognise(self, peek: Peek) -> bool:
        return is_document(peek.stem)

    def load(self, part: Part, notes: Notes) -> Resource:
        return Resource(kind="document")


def is_document(stem: str) -> bool:
    """Does a file of this name accompany data without being data?

    >>> [is_document(name) for name in ("SHA256SUMS.uncompressed", "README.txt", "_SUCCESS", "test.json")]
    [True, True, True, False]
    """
    return _NAMES.match(stem) is not None
