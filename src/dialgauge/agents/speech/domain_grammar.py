"""What is said in a domain, and the same read back: one set of patterns for the speaker and the listener.

Each sentence has a pattern with fields; fields are made of items such as ``price at most 12 euros``. A listener that
hears a sentence of ours reads it exactly; whatever else is said is free English and not read here. A speaker reads its
own sentence before it says it, and puts values in quotes where it would be misread without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from dialgauge.agents.speech.slot_wording import (
    ItemForm,
    ItemList,
    Quote,
    SlotWording,
    always_quoted,
    quoted_where_awkward,
    single_unit,
    unquoted,
)
from dialgauge.agents.speech.vocabulary import ServiceVocabulary, Vocabulary
from dialgauge.dialogue import DONTCARE, Act, Speaker
from dialgauge.intents import INFORM, OFFER, REQUEST
from dialgauge.text import upper_first
from dialgauge.values import comparable, truth
from dialgauge.worlds.domain import ASKED, CHOICE, GENERAL, UNKNOWN, Role, act
from dialgauge.yaml_file import shipped_yaml


class _Ways(Struct, frozen=True, forbid_unknown_fields=True):
    general: dict[str, dict[str, tuple[str, ...]]]
    user: dict[str, tuple[str, ...]]
    system: dict[str, tuple[str, ...]]


_ways = shipped_yaml("dialgauge.agents.speech", "phrases", "domain.yaml").as_record(_Ways, "a file of sentences")
#: Sentences of no service, by speaker and intent; and those of a service, by speaker and what they are for.
GENERAL_WAYS = _ways.general
WAYS: dict[Speaker, dict[str, tuple[str, ...]]] = {"user": _ways.user, "system": _ways.system}
#: What is said where there is nothing to say.
NOTHING = "Okay."
_QUESTION_KINDS = (
    *("want_it", "want_state", "want_deed", "which_among", "how_many", "limit", "earliest", "latest", "which"),
)
_BOOKED_QUESTIONS = ("how_many_booked", "which_booked", "how_many_of_it", "under_booked")
#: Said before a sentence that is about another service than the one before it.
_ABOUT = "As for the {noun}, "
_ROLES: tuple[Role, ...] = ("offer", "book")
#: A text longer than that is nobody's template.
_LONGEST = 4000
_KEPT = 20_000


class ServiceGrammar(SlotWording):
    """The sentences of one service."""

    def __init__(self, words: ServiceVocabulary, vocabulary: Vocabulary) -> None:
        super().__init__(words, vocabulary.domain)
        self._read: dict[tuple[str, str], tuple[Act, ...] | None] = {}

    def say(self, speaker: Speaker, way: str, acts: Sequence[Act], parts: Callable[[Quote], Mapping[str, str]]) -> str:
        """A sentence that is read as the acts it is said for; values are in quotes only where it is not read else."""
        text = ""
        for quote in (str, quoted_where_awkward, always_quoted):
            fields = {"title": self.service.title, "noun": self.words.noun, **parts(quote)}
            capital = {name.upper(): upper_first(text) for name, text in fields.items()}
            text = way.format(**fields, **capital)
            if _sentences(text, self._literals) == [text] and _same(self.read(speaker, text), acts):
                break
        return text

    @cached_property
    def _literals(self) -> str:
        return literals_of([self.words], self._domain.words_for)

    def read(self, speaker: Speaker, sentence: str) -> tuple[Act, ...] | None:
        """The acts of a sentence of ours; None for any other."""
        key = (speaker, sentence)
        if key not in self._read:
            if len(self._read) >= _KEPT:
                self._read.clear()
            self._read[key] = self._first_reading(speaker, sentence)
        return self._read[key]

    def _first_reading(self, speaker: Speaker, sentence: str) -> tuple[Act, ...] | None:
        for kind, pattern in self._patterns[speaker]:
            match = pattern.fullmatch(sentence)
            if match is not None:
                acts = self._acts(kind, {name.lower(): text for name, text in match.groupdict().items()})
                if acts is not None:
                    return tuple(acts)
        return None

    @cached_property
    def _patterns(self) -> dict[Speaker, list[tuple[str, re.Pattern[str]]]]:
        return {
            speaker: [(kind, self._compiled(way)) for kind, ways in kinds.items() for way in ways]
            for speaker, kinds in WAYS.items()
        }

    def _compiled(self, way: str) -> re.Pattern[str]:
        known = {"title": self.service.title, "noun": self.words.noun}
        parts = re.split(r"\{(\w+)\}", way)
        pattern = "".join(
            re.escape(part) if index % 2 == 0 else re.escape(known[part]) if part in known else f"(?P<{part}>.+)"
            for index, part in enumerate(parts)
        )
        return re.compile(pattern, re.IGNORECASE | re.DOTALL)

    def _acts(self, kind: str, fields: Mapping[str, str]) -> list[Act] | None:
        """What a sentence of this kind says; None where its fields say nothing that the service knows."""
        service, inform = self.service, self.service.act_name("inform")
        if kind.startswith("need") or "clauses" in fields:
            wishes = self.wishes.read(fields["wishes"]) if "wishes" in fields else []
            clauses = self.clauses.read(fields["clauses"]) if "clauses" in fields else []
            if wishes is None or clauses is None:
                return None
            if kind.startswith("need"):
                return [act(inform), *(act(inform, *wish) for wish in wishes)]
            return [act(service.act_name("no_offer"), *item) for item in (*wishes, *clauses)]
        for field, items, role in (
            ("wishes", self.wishes, "no_offer" if kind == "no_offer_with" else "inform"),
            ("should", self.should, "inform"),
            ("said", self.said, "inform"),
            ("counted", self.counted, "inform"),
            ("values", self.values, "no_book" if kind == "no_book_with" else "inform"),
        ):
            if field in fields:
                name, given = service.act_name(role), items.read(fields[field])  # type: ignore[arg-type]
                return None if given is None else [act(name, *item) for item in given]
        return self._told_acts(kind, fields)

    def _told_acts(self, kind: str, fields: Mapping[str, str]) -> list[Act] | None:
        service, inform = self.service, self.service.act_name("inform")
        if kind in self._without_fields:
            return [self._without_fields[kind]]
        if kind == "found":
            return [act(inform, CHOICE, fields["count"])] if fields["count"].isdecimal() else None
        if "names" in fields:
            names = self._read_names(fields["names"])
            return None if names is None else [act(self._select, service.name_slot, name) for name in names]
        if "name" in fields:
            role: Role = "offer" if kind in ("offer", "still") else "inform"
            name = self._read_name(fields["name"])
            return [act(service.act_name(role), service.name_slot, name)] if name else None
        if "question" in fields:
            asked = self._own_questions.get(fields["question"].lower(), "")
            return [act(service.act_name("request"), asked, ASKED)] if asked else None
        if "labels" in fields:
            asked_for = self._asked_labels.read(fields["labels"])
            request = service.act_name("request")
            return None if asked_for is None else [act(request, slot, ASKED) for slot, _ in asked_for]
        return self._labelled(kind, fields)

    def _labelled(self, kind: str, fields: Mapping[str, str]) -> list[Act] | None:
        service, inform = self.service, self.service.act_name("inform")
        known, named = (self._deeds, "deed") if "deed" in fields else (self._by_label, "label")
        slots = known.get(fields[named].lower(), ())
        if kind in ("any", "any_booked", *_QUESTION_KINDS, *_BOOKED_QUESTIONS):
            booked = kind == "any_booked" or kind in _BOOKED_QUESTIONS
            slot = next((slot for slot in slots if slot in (service.booking_slots if booked else service.wishes)), "")
            if not slot:
                return None
            if kind.startswith("any"):
                return [act(inform, slot, DONTCARE)]
            return [act(service.act_name("request"), slot, ASKED)]
        tellable = (*service.columns, service.id_slot, *service.gives, *service.total)
        slot = next((slot for slot in slots if slot in tellable), "")
        if not slot:
            return None
        if kind == "unknown":
            return [act(inform, slot, UNKNOWN)]
        if kind in ("is_so", "is_not_so", "does", "does_not"):
            says = self.is_state if kind.startswith("is") else self.is_deed
            return [act(inform, slot, "no" if "not" in kind else "yes")] if says(slot) else None
        value = unquoted(fields["value"])
        wish = service.wishes.get(slot)
        if value == fields["value"] and wish is not None and wish.unit:
            value = value.removesuffix(f" {wish.unit}").removesuffix(f" {single_unit(wish.unit)}")
        return [act(inform, slot, self._told_lists.get((slot, value.lower()), value))]

    def in_role(self, statement: Act, role: Role) -> Act:
        """What is told after an offer or a booking belongs to it."""
        if role == "inform" or statement.intent != INFORM or not statement.slot or statement.slot == CHOICE:
            return statement
        return act(self.service.act_name(role), statement.slot, *statement.values)

    @cached_property
    def _without_fields(self) -> dict[str, Act]:
        """What sentences say that have no fields."""
        service = self.service
        return {
            "no_offer": act(service.act_name("no_offer")),
            "no_book": act(service.act_name("no_book")),
            "booked": act(service.act_name("book")),
            "nothing_else": act(service.act_name("inform"), "", DONTCARE),
            "choose_any": act(self._select),
        }

    @cached_property
    def _select(self) -> str:
        return self.service.act_name("select") or f"{self.service.prefix}-Select"

    @cached_property
    def _names(self) -> dict[str, str]:
        return {name.lower(): name for name in self.words.names}

    def _read_name(self, text: str) -> str:
        """A name that is known stands as it is, another in quotes."""
        return self._names.get(text.lower()) or (unquoted(text) if text != unquoted(text) else "")

    def _read_names(self, text: str) -> list[str] | None:
        """Two names, each of which may have an "and" in it."""
        for match in re.finditer(" and ", text):
            names = [self._read_name(text[: match.start()]), self._read_name(text[match.end() :])]
            if all(names):
                return names
        return None

    @cached_property
    def _by_label(self) -> dict[str, tuple[str, ...]]:
        slots: dict[str, tuple[str, ...]] = {}
        for slot in (*self.service.slots, *self.service.total):
            label = self.words.label(slot).lower()
            slots[label] = (*slots.get(label, ()), slot)
        return slots

    @cached_property
    def _deeds(self) -> dict[str, tuple[str, ...]]:
        """What rows do, by how it is said that they do not."""
        return {self.deed(slot).lower(): (slot,) for slot in self.service.wishes if self.is_deed(slot)}

    @cached_property
    def _asked_labels(self) -> ItemList:
        forms = []
        for label, slots in self._by_label.items():
            if slot := next((slot for slot in slots if slot in self.service.askable), ""):
                forms += [ItemForm(slot, f"{article}{label}", ASKED) for article in ("", "the ")]
        return ItemList(forms)

    @cached_property
    def _own_questions(self) -> dict[str, str]:
        return {ask.lower(): slot for slot in reversed(self.service.slots) if (ask := self.own_question(slot))}


class DomainGrammar:
    """The sentences of a domain."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.services = {name: ServiceGrammar(words, vocabulary) for name, words in vocabulary.services.items()}
        self._literals = literals_of(vocabulary.services.values(), vocabulary.domain.words_for)
        self._general: dict[str, dict[str, Act]] = {
            speaker: {way.lower(): act(f"{GENERAL}-{intent}") for intent, ways in intents.items() for way in ways}
            for speaker, intents in GENERAL_WAYS.items()
        }
        self._about = [
            (_ABOUT.format(noun=grammar.words.noun).lower(), name) for name, grammar in self.services.items()
        ]

    def about(self, service: str, sentence: str) -> str:
        """A sentence with what it is about before it."""
        return f"{_ABOUT.format(noun=self.services[service].words.noun)}{sentence}"

    def hear(self, text: str, speaker: Speaker, service: str) -> tuple[Act, ...] | None:
        """The acts of a text that has sentences of ours only; ``service`` is the one spoken of."""
        sentences = _sentences(text, self._literals) if 0 < len(text) <= _LONGEST else None
        if sentences is None:
            return None
        acts: list[Act] = []
        role: Role = "inform"
        for sentence in sentences:
            if (general := self._general[speaker].get(sentence.lower())) is not None:
                acts.append(general)
                continue
            if sentence == NOTHING:
                continue
            read = self._of_any(sentence, speaker, service)
            if read is None:
                return None
            service, statements = read
            grammar = self.services[service]
            for begins in _ROLES:
                if any(statement.name == grammar.service.act_name(begins) for statement in statements):
                    role = begins
            acts += (grammar.in_role(statement, role) for statement in statements)
        return tuple(dict.fromkeys(self._plain(acts)))

    def _of_any(self, sentence: str, speaker: Speaker, service: str) -> tuple[str, tuple[Act, ...]] | None:
        """The service that a sentence is about, and its acts."""
        lower = sentence.lower()
        for before, name in self._about:
            if lower.startswith(before):
                acts = self.services[name].read(speaker, sentence[len(before) :])
                return None if acts is None else (name, acts)
        for name in dict.fromkeys((service, *self.services)):
            if name in self.services and (acts := self.services[name].read(speaker, sentence)) is not None:
                return name, acts
        return None

    def _plain(self, acts: Sequence[Act]) -> Iterator[Act]:
        """Without a booking that is told with what it gives, and "nothing else matters" slot by slot."""
        for each in acts:
            service = self.services[each.domain].service if each.domain in self.services else None
            if service is None or each.slot:
                yield each
            elif each.values == (DONTCARE,):
                named = {other.slot for other in acts if other.domain == each.domain}
                others = [slot for slot in service.wishes if slot not in named and slot != service.name_slot]
                yield from (act(each.name, slot, DONTCARE) for slot in others)
            elif not any(other.name == each.name and other.slot for other in acts) or each.intent == INFORM:
                yield each


def literals_of(services: Iterable[ServiceVocabulary], words_for: Callable[[str], object]) -> str:
    """A pattern of all that a domain calls things with a full stop inside, which ends no sentence."""
    texts: set[str] = set()
    for words in services:
        texts |= {words.service.title, words.noun, *words.names}
        for slot in words.service.slots:
            known = words_for(slot)
            texts |= {words.label(slot), str(getattr(known, "ask", "")), str(getattr(known, "say", ""))}
            texts |= {wish.unit for wish in (words.service.wishes.get(slot),) if wish is not None}
    parts = {part[:-1] if part[-1:] in ".?!" else part for text in texts for part in text.split("{value}")}
    kept = sorted((part for part in parts if re.search(r"[.?!](?: |$)", part)), key=len, reverse=True)
    return "|".join(map(re.escape, kept))


def _sentences(text: str, literals: str) -> list[str] | None:
    """The sentences of a text; None where it does not consist of whole ones."""
    known = f"{literals}|" if literals else ""
    sentence = re.compile(rf'(?:{known}(?<= )"(?:[^"]|"")*"|(?![.?!](?: |$)).)+[.?!](?: |$)', re.DOTALL | re.IGNORECASE)
    offset, sentences = 0, []
    while offset < len(text):
        match = sentence.match(text, offset)
        if match is None:
            return None
        sentences.append(match[0].rstrip(" "))
        offset = match.end()
    return sentences


def _same(read: Sequence[Act] | None, meant: Sequence[Act]) -> bool:
    """Is what was read what was meant? An offer tells what it says of a row, and yes is true."""
    return read is not None and [_essence(statement) for statement in read] == [
        _essence(statement) for statement in meant
    ]


def _essence(statement: Act) -> tuple[object, ...]:
    name = "" if statement.intent in (INFORM, OFFER) else statement.name
    values = [ASKED] if statement.intent == REQUEST else [comparable(value) for value in statement.values]
    if values and (meaning := truth(statement.values[0])) is not None:
        return (name, statement.slot, meaning)
    return (name, statement.slot, *values)
