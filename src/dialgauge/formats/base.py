"""What a format is: a subclass of :class:`DialogueFormat` (dialogues or predictions) or of :class:`ResourceFormat`
(ontologies, knowledge bases, candidates, ...).

Ours stand in the table of ``registry.py``, those of other packages are entry points of the group ``dialgauge.formats``
(``docs/extend/format.md``). ``recognise`` looks at the beginning of a file, ``read`` turns a part into dialogues.
"""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import IO, Any, ClassVar, Literal, TypeAlias

import msgspec

from dialgauge.dialogue import Dialogue, Fact, Ontology, SlotSpec, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import RAW, are_lines, lines_of, sketch, without_nan
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import HEAD_BYTES, Part, is_document

#: Everything a turn or dialogue may carry beside its speaker and id.
ALL_FIELDS = frozenset({*Turn.__struct_fields__, *Dialogue.__struct_fields__} - {"id", "turns", "speaker"})

DialogueKind: TypeAlias = Literal["dialogues", "predictions"]
ResourceKind: TypeAlias = Literal["ontology", "knowledge base", "candidates", "values", "document"]


_UNSOUND = (msgspec.DecodeError, UnicodeError, RecursionError)


class Peek:
    """The beginning of a file, by which a format is recognised."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self.stem = part.stem

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked."""
        return self._part.head(HEAD_BYTES)

    @cached_property
    def content(self) -> bytes | mmap.mmap:
        """All bytes, unpacked once for all formats that ask."""
        return self._part.buffer()

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """The first rows of a Parquet file; empty for other files."""
        from dialgauge.formats.tables import MAGIC, parquet_rows

        return parquet_rows(self._part, 20) if self.head.startswith(MAGIC) else []

    @cached_property
    def lines(self) -> list[str]:
        """The first lines as text (undecodable bytes replaced), at most 50."""
        return [line.rstrip("\r") for line in self.head.decode("utf-8", "replace").split("\n", 50)[:50]]

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins with an opening bracket."""
        return self.head.lstrip()[:1] in (b"{", b"[")

    @cached_property
    def json(self) -> Any:
        """The file as one JSON object or array, of long ones the beginning; ``None`` when it is none."""
        if not self.is_json:
            return None
        if are_lines(self.content):
            return None
        try:
            return sketch(RAW.decode(self.content))
        except _UNSOUND:
            mended = without_nan(bytes(self.content))
        try:
            return sketch(RAW.decode(mended))
        except _UNSOUND:
            return None

    @cached_property
    def first(self) -> tuple[str, Any] | None:
        """The first entry of the JSON: key and value of an object, or ``""`` and the element of an array."""
        if isinstance(self.json, dict) and self.json:
            return next(iter(self.json.items()))
        if isinstance(self.json, list) and self.json:
            return "", self.json[0]
        return None

    @cached_property
    def first_line(self) -> dict[str, Any] | None:
        """The JSON object on the first line that is not blank; ``None`` when there is none."""
        if not self.is_json:
            return None
        _, line = next(lines_of(self.content))
        try:
            value = sketch(RAW.decode(line))
        except _UNSOUND:
            return None
        return value if isinstance(value, dict) else None


class DialogueFormat(ABC):
    """A way of writing dialogues or predictions down."""

    name: ClassVar[str]
    #: One line for the reference and error messages.
    summary: ClassVar[str]
    kind: ClassVar[DialogueKind] = "dialogues"
    #: Attributes of Turn and Dialogue that survive reading (and writing, for writers): what a round trip keeps.
    fields: ClassVar[frozenset[str]]
    writes: ClassVar[bool] = False
    #: May a dialogue begin in one file and end in the next? Such a format has a ``read_parts`` of its own.
    spans_files: ClassVar[bool] = False

    @abstractmethod
    def recognise(self, peek: Peek) -> bool:
        """Does the beginning of the file look like this format, and like no other?"""

    @abstractmethod
    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        """The dialogues of one file. Anything wrong is a :class:`DialgaugeError` with the place."""

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """The dialogues of several files that follow each other, with the file where each begins."""
        return ((part, dialogue) for part in parts for dialogue in self.read(part, notes))

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        """Write the dialogues to a binary stream; only for formats with ``writes``."""
        raise DialgaugeError(f"the format {self.name} can be read but not written")


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """What a file that is not dialogues holds; exactly the field of its kind is filled (none for a document)."""

    kind: ResourceKind
    ontology: Ontology | None = None
    facts: tuple[Fact, ...] = ()
    texts: tuple[str, ...] = ()
    #: For ``values``: slot to canonical value to paraphrases, as the file has it.
    values: dict[str, Any] = {}


class ResourceFormat(ABC):
    """A file that goes with dialogues: ontology, schema, knowledge base, candidates, list of ids, value map."""

    name: ClassVar[str]
    summary: ClassVar[str]
    kind: ClassVar[ResourceKind]

    @abstractmethod
    def recognise(self, peek: Peek) -> bool:
        """Does the beginning of the file look like this format, and like no other?"""

    @abstractmethod
    def load(self, part: Part, notes: Notes) -> Resource:
        """The content of one file."""


class Document(ResourceFormat):
    """A file for people to read; its content is not looked at."""

    name = "document"
    summary = "README, licence, checksums, MultiWOZ's acts, ids and databases: listed, not read"
    kind = "document"

    def recognise(self, peek: Peek) -> bool:
        return is_document(peek.stem)

    def load(self, part: Part, notes: Notes) -> Resource:
        return Resource(kind="document")


class SlotRecord(msgspec.Struct, gc=False):
    """A slot as schemas describe it."""

    name: str = ""
    description: str = ""
    is_categorical: bool = False
    possible_values: tuple[str, ...] = ()

    def spec(self) -> SlotSpec:
        """What it may hold."""
        return SlotSpec(values=self.possible_values, categorical=self.is_categorical, description=self.description)


def ontology_of(
    slots: Iterable[tuple[str, str, SlotSpec]], part: Part, intents: dict[str, tuple[str, ...]] | None = None
) -> Resource:
    """The ontology of (domain, slot, specification); a slot that is listed twice is an error."""
    domains: dict[str, dict[str, SlotSpec]] = {domain: {} for domain in intents or ()}
    for domain, slot, spec in slots:
        known = domains.setdefault(domain, {})
        if slot in known:
            raise DialgaugeError(f"the slot {slot!r} of {domain!r} is listed twice", file=part.name)
        known[slot] = spec
    if not domains:
        raise DialgaugeError("the ontology is empty", file=part.name)
    return Resource(kind="ontology", ontology=Ontology(domains=domains, intents=intents or {}))


AnyFormat: TypeAlias = DialogueFormat | ResourceFormat
