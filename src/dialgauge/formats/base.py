"""What a format is: a subclass of :class:`DialogueFormat` (dialogues or predictions) or of :class:`ResourceFormat`
(ontologies, knowledge bases, candidates, ...).

Ours stand in the table of ``registry.py``, those of other packages are entry points of the group ``dialgauge.formats``
(``docs/extend/format.md``). ``recognise`` looks at the beginning of a file, ``read`` turns a part into dialogues.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, ClassVar, Literal, TypeAlias

import msgspec

from dialgauge.dialogue import Dialogue, Fact, Ontology, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

#: Everything a turn or dialogue may carry beside its speaker and id.
ALL_FIELDS = frozenset({*Turn.__struct_fields__, *Dialogue.__struct_fields__} - {"id", "turns", "speaker"})

DialogueKind: TypeAlias = Literal["dialogues", "predictions"]
ResourceKind: TypeAlias = Literal["ontology", "knowledge base", "candidates", "values", "document"]


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


AnyFormat: TypeAlias = DialogueFormat | ResourceFormat
