"""What can be said in a domain: for each service its noun, its names, and how the values of its slots may be told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from dialgauge.dialogue import Ontology, SlotSpec
from dialgauge.values import AnswerReader, Kind, SpokenSlot, minutes, phrase_of
from dialgauge.worlds import town
from dialgauge.worlds.domain import Domain, Service

_ARTICLE = re.compile(r"^(?:an?|the|some)\s+", re.IGNORECASE)
_MATCH_KINDS: dict[str, Kind] = {"yes-no": "yes-no", "contains": "list"}
#: What people call slots whose names are short for something.
_CALLED = {
    "ref": "reference number",
    "leaveat": "departure time",
    "arriveby": "arrival time",
    "openhours": "opening hours",
    "trainid": "train ID",
    "phone": "phone number",
    "pricerange": "price range",
}
#: Nouns for verbs that columns of clock times are called by.
_TIME_NOUNS = {
    "opens": "opening time",
    "closes": "closing time",
    "starts": "starting time",
    "begins": "starting time",
    "ends": "finishing time",
    "finishes": "finishing time",
    "leaves": "departure time",
    "departs": "departure time",
    "arrives": "arrival time",
}
_TYPE_KINDS: dict[str, Kind] = {"day": "day", "time": "time", "number": "number"}


class ServiceVocabulary:
    """How people speak of one service."""

    def __init__(self, domain: Domain, service: Service, known: Mapping[str, SlotSpec]) -> None:
        self.service, self._domain, self._known = service, domain, known
        #: Without its article: "rental car".
        self.noun = _ARTICLE.sub("", service.title).strip() or service.name

    @cached_property
    def slots(self) -> dict[str, SpokenSlot]:
        """How the values of each slot may be told."""
        return {slot: self._spoken(slot) for slot in self.service.slots}

    @cached_property
    def reader(self) -> AnswerReader:
        """Reads what replies tell of a row or a booking."""
        return AnswerReader(self.slots.values(), self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self._values(self.service.name_slot)) if self.service.name_slot else ()

    def _values(self, slot: str) -> dict[str, None]:
        in_rows = dict.fromkeys(row[slot] for row in self.service.rows or () if slot in row)
        return in_rows | dict.fromkeys(self._known[slot].values if slot in self._known else ())

    @cached_property
    def name_phrases(self) -> dict[str, tuple[str, ...]]:
        """Names by the phrases that say them: whole, and shortened to what no other name has and nothing else means."""
        whole = self.whole_names
        short: dict[str, set[str]] = {}
        for name in self.names:
            for words in _shortened(name):
                short.setdefault(phrase_of(words), set()).add(name)
        taken = {phrase for slot in self.slots.values() for known in (slot.phrases, slot.labels) for phrase in known}
        taken |= self.phrases | whole.keys()
        alone = {phrase: tuple(names) for phrase, names in short.items() if len(names) == 1 and len(phrase) > 4}
        return {phrase: names for phrase, names in alone.items() if phrase not in taken} | whole

    @cached_property
    def whole_names(self) -> dict[str, tuple[str, ...]]:
        """Names by the phrases that say them whole."""
        return {phrase: (name,) for name in self.names if (phrase := phrase_of(name))}

    @cached_property
    def phrases(self) -> frozenset[str]:
        words = self.noun.split()
        called = [self.noun, self.service.name.replace("-", " "), *([words[-1]] if len(words) > 1 else [])]
        return frozenset(phrase_of(word) for word in called)

    def label(self, slot: str) -> str:
        """What a slot is called in a sentence."""
        return self._labels.get(slot) or self._label(slot)

    def described(self, slot: str) -> str:
        """The label with other words for it: "stay: nights"."""
        return ": ".join(filter(None, (self.label(slot), ", ".join(self._domain.words_for(slot).also))))

    @cached_property
    def _labels(self) -> dict[str, str]:
        """Labels of slots; "closes" is said "closing time" where it is one and no other slot is called that."""
        labels = {slot: self._label(slot) for slot in self.service.slots}
        if not self._domain.multiwoz:
            columns = {labels[slot] for slot in self.service.columns if slot not in self.service.gives}
            for slot in self.service.gives:
                labels[slot] += " of the booking" if labels[slot] in columns else ""
            for slot, label in list(labels.items()):
                noun = _TIME_NOUNS.get(label, "")
                if noun and noun not in labels.values() and any(map(minutes, self._values(slot))):
                    labels[slot] = noun
        return labels

    def _label(self, slot: str) -> str:
        label = self.service.say(slot)
        if label != slot:
            return label
        return _CALLED.get(slot.lower()) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label).lower()

    def _spoken(self, slot: str) -> SpokenSlot:
        service, words = self.service, self._domain.words_for(slot)
        wish, takes = service.wishes.get(slot), service.booking_slots.get(slot)
        values: Iterable[str] = self._values(slot)
        kind: Kind | None = _MATCH_KINDS.get(wish.match) if wish is not None else None
        if wish is not None:
            values = dict.fromkeys((*values, *wish.values))
        if takes is not None:
            values = dict.fromkeys((*values, *takes.words))
            kind = kind or _TYPE_KINDS.get(takes.kind)
        if service.book is not None and slot in service.book.gives and slot not in service.book.made:
            kind = "code"
        labels = [
            self.label(slot),
            self._label(slot),
            *words.also,
            *([wish.unit] if wish is not None and wish.unit else []),
        ]
        also = {value: tuple(others) for value, others in words.values.items()}
        if self._domain.multiwoz:
            said = town.spoken_town().also_said.get(slot, {})
            also |= {value: (*also.get(value, ()), *others) for value, others in said.items()}
        return SpokenSlot(slot, values, kind=kind, labels=labels, also=also)


class Vocabulary:
    """How people speak in a domain; one serves all conversations of a process."""

    def __init__(self, domain: Domain, ontology: Ontology | None = None) -> None:
        """``ontology`` are the values that everybody may know, for a domain whose rows are not to be seen."""
        self.domain = domain
        known = (ontology or domain.ontology).domains
        self.services = {
            name: ServiceVocabulary(domain, service, known.get(name, {})) for name, service in domain.services.items()
        }

    def __getitem__(self, service: str) -> ServiceVocabulary:
        return self.services[service]

    def __contains__(self, service: object) -> bool:
        return service in self.services


def _shortened(name: str) -> Iterator[str]:
    """Parts of a name that may stand for it: without the first or the last word, or what follows a bracket or comma."""
    words = re.split(r"[(,:]| - ", name)[0].split()
    if len(words) > 1 and " ".join(words) != name:
        yield " ".join(words)
    if len(words) > 2:
        yield " ".join(words[:-1])
        yield " ".join(words[1:])
    elif len(words) == 2:
        yield from (word for word in words if len(word) > 4 and word.isalpha())
