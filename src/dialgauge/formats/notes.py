"""What a reader or writer has to say of a file beside its dialogues."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.formats.field_values import FieldValues
    from dialgauge.formats.mapping import Reading

#: What is noted of a prediction that no reading makes a state of.
INVALID = "invalid outputs, scored as empty predictions"
#: What is noted of steps of runs that are told beside these.
INNER_RUNS = "runs inside of other runs left out"
_MOST_PLACES = 20


class Notes:
    """What a reader or writer left out or changed, counted, so that nothing is dropped in silence."""

    def __init__(self, *, tolerant: bool = False) -> None:
        self.counts: Counter[str] = Counter()
        #: For what a score depends on: where it was, the first few places.
        self.places: dict[str, list[str]] = {}
        #: Of what was counted, fields that nobody reads, by what was counted.
        self.unread: dict[str, str] = {}
        self.unread_of_messages: dict[str, str] = {}
        #: Fields by which dialogues were judged, some of which may say nothing in others.
        self.judged_by: set[str] = set()
        #: Verdicts of a log that could not be placed: how many of what, and how they can be.
        self.unplaced_verdicts = ""
        #: Dialogues a tolerant reading left out because they could not be read, each with its reason and place.
        self.refused: list[DialgaugeError] = []
        #: How a mapping, or the common names, read the file.
        self.reading: Reading | None = None
        #: The number of the first turns in a file that numbers them one by one.
        self.numbered_from = 0
        #: What ConvLab-3's dialogues are called in the dataset that they are from, by their ids.
        self.original_ids: dict[str, str] = {}
        self._tolerant = tolerant

    @cached_property
    def unread_values(self) -> FieldValues:
        """What stands in the fields of a log that nobody reads."""
        from dialgauge.formats.field_values import FieldValues

        return FieldValues()

    def add(self, what: str, count: int = 1) -> None:
        """Count ``what`` (a short phrase: ``field span_info dropped``)."""
        if count:
            self.counts[what] += count

    def add_unread(self, field: str, *, of_messages: bool = False) -> None:
        """Count a field that nobody reads, of a log or of its messages."""
        what = f"field {field}{' of messages' if of_messages else ''} not read"
        (self.unread_of_messages if of_messages else self.unread)[what] = field
        self.add(what)

    def add_at(self, what: str, count: int, location: str) -> None:
        """Count ``what``, and keep the place while there are few."""
        self.add(what, count)
        places = self.places.setdefault(what, [])
        if len(places) < _MOST_PLACES:
            places.append(location)

    def refuse(self, error: DialgaugeError) -> None:
        """A dialogue cannot be read: the end of the reading, or one more entry of ``refused`` in a tolerant one."""
        if not self._tolerant:
            raise error
        self.refused.append(error)
