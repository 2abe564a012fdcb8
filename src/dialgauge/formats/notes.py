"""What readers and writers report beside dialogues."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.formats.mapping import Reading

#: What is noted of a prediction that no reading makes a state of.
INVALID = "invalid outputs, scored as empty predictions"
#: What is noted of a conversation that names no trial.
NEXT_TRIAL = "conversation counted as the next trial of its task_id, as it names no trial"
_MOST_PLACES = 20


class Notes:
    """What a reader or writer left out or changed, counted, so that nothing is dropped in silence."""

    def __init__(self, *, tolerant: bool = False) -> None:
        self.counts: Counter[str] = Counter()
        #: For what a score depends on: where it was, the first few places.
        self.places: dict[str, list[str]] = {}
        #: The tasks that a log stores, as they stand there, and the statistics that it gives of itself.
        self.tasks: list[dict[str, Any]] = []
        self.reported: dict[str, float] = {}
        #: The field that says whether a conversation passed, as whoever reads names it, and as it was read.
        self.verdict = self.verdict_read = ""
        #: Words of a verdict that say neither, by field.
        self.unjudged: dict[str, dict[str, None]] = {}
        #: Dialogues a tolerant reading left out because they could not be read, each with its reason and place.
        self.refused: list[DialgaugeError] = []
        #: How a mapping, or the common names, read the file.
        self.reading: Reading | None = None
        #: The number that a file gives to first turns, and the distance to the next.
        self.numbered = (0, 1)
        self._tolerant = tolerant

    def add(self, what: str, count: int = 1) -> None:
        """Count ``what`` (a short phrase: ``field span_info dropped``)."""
        if count:
            self.counts[what] += count

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
