"""What is said in a domain, and the same read back: one set of patterns for the speaker and the listener.

Each sentence has a pattern with fields; fields are made of items such as ``price at most 12 euros``. A listener that
hears a sentence of ours reads it exactly; whatever else is said is free English and not read here. A speaker reads its
own sentence before it says it, and puts values in quotes where it would be misread without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.agents.speech.vocabulary import ServiceVocabulary, Vocabulary
from dialgauge.dialogue import DONTCARE, Act, Speaker
from dialgauge.intents import INFORM, OFFER, REQUEST
from dialgauge.worlds.domain import ASKED, CHOICE, GENERAL, UNKNOWN, Role, SlotType, act, comparable, members, truth
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
#: "a {value}" is said "an electric", too.
_ARTICLE = re.compile(r"\ba $", re.IGNORECASE)
_VALUE = r'(?P<value>"(?:[^"]|"")*"|[^"]+?)'
_BOUNDARY = r"(?=, | and |$)"
_PREPOSITIONS = frozenset(
    (
        *("at", "from", "to", "in", "on", "by", "for", "with", "until", "till", "before", "after", "of", "between"),
        *("via", "every"),
    )
)
#: Labels that begin so are questions: "how many", "what you are making", "at which machine".
_QUESTIONING = re.compile(r"(?:(?:at|to|from|in|on|for|with) )?(?:how|what|which|who|whom|where|when|why)\b")
_HOW_MANY = re.compile(r"how (?:many|much)(?: (?P<noun>.+))?")
_PRONOUNS = frozenset(("it", "you", "they", "we", "i", "that"))
#: How labels begin that say what a row is, or does.
_ADJECTIVES = frozenset(
    (
        *("safe", "open", "good", "suitable", "fit", "close", "near", "ready", "easy", "vegan", "new"),
        *("free", "available", "online", "indoors", "outdoors", "vegetarian", "halal", "kosher", "organic", "private"),
    )
)
_DEEDS = frozenset(
    "comes speaks takes accepts allows serves sells offers works ships delivers teaches".split()  # noqa: SIM905
)
#: How labels end that say what is done with a thing: "induction needed".
_DONE = frozenset("needed required included allowed provided".split())  # noqa: SIM905
#: What is had without an article: wifi, parking, dust extraction, storage.
_MASS = re.compile(
    r"(?:wi-?fi|internet|breakfast|food|music|power|light|water|equipment|access|ing|ion|age|ance|ity|ed)$"
)
_AWKWARD = re.compile(r'[,.?!"]|\band\b')
_ROLES: tuple[Role, ...] = ("offer", "book")
#: A text longer than that is nobody's template.
_LONGEST = 4000
_KEPT = 20_000

Quote: TypeAlias = Callable[[str], str]
Given: TypeAlias = Iterable[tuple[str, str]]


class _Form(NamedTuple):
    """How a value of a slot is said: with ``{value}``, or as a whole where it says one value only."""

    slot: str
    template: str
    value: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        before, hole, behind = self.template.partition("{value}")
        value = _VALUE if hole else ""
        article = re.escape(before) if not (hole and _ARTICLE.search(before)) else f"{re.escape(before[:-1])}n? "
        return re.compile(f"{article}{value}{re.escape(behind)}{_BOUNDARY}", re.IGNORECASE)

    def say(self, value: str, quote: Quote) -> str:
        before, hole, behind = self.template.partition("{value}")
        if hole and value[:1].lower() in "aeio" and _ARTICLE.search(before):
            before = f"{before[:-1]}n "
        return f"{before}{quote(value) if hole else ''}{behind}"


class ItemList:
    """Items such as "price at most 12 euros", joined by commas and "and"."""

    def __init__(self, forms: Iterable[_Form], last: str = " and ") -> None:
        self._forms = list(forms)
        self._last = last

    @cached_property
    def _patterns(self) -> list[tuple[_Form, re.Pattern[str]]]:
        """The longest beginnings first, so that "leave at" is not taken for "leave"."""
        ordered = sorted(self._forms, key=lambda form: -len(form.template.partition("{value}")[0]))
        return [(form, form.pattern) for form in ordered]

    def say(self, given: Given, quote: Quote) -> str:
        """The items in words."""
        texts = [self._said(slot, value, quote) for slot, value in given]
        return ", ".join(texts[:-1]) + self._last + texts[-1] if len(texts) > 1 else "".join(texts)

    def _said(self, slot: str, value: str, quote: Quote) -> str:
        for form in self._forms:
            if form.slot == slot and (not form.value or comparable(form.value) == comparable(value)):
                return form.say(value, quote)
        return quote(value)

    def read(self, text: str) -> list[tuple[str, str]] | None:
        """The slots and values of a text; None where it is no such list."""
        offset, items = 0, []
        while True:
            for form, pattern in self._patterns:
                if match := pattern.match(text, offset):
                    items.append((form.slot, form.value or _unquoted(match["value"])))
                    break
            else:
                return None
            if match.end() == len(text):
                return items
            offset = match.end() + (2 if text.startswith(", ", match.end()) else len(" and "))


class ServiceGrammar:
    """The sentences of one service."""

    def __init__(self, words: ServiceVocabulary, vocabulary: Vocabulary) -> None:
        self.words, self.service = words, words.service
        self._domain = vocabulary.domain
        self._read: dict[tuple[str, str], tuple[Act, ...] | None] = {}

    # What fields are made of

    @cached_property
    def wishes(self) -> ItemList:
        """What follows "with": "class compact", "at least 4 seats", "no parking"."""
        return ItemList(form for slot in self.service.wishes for form in self._wish_forms(slot))

    @cached_property
    def should(self) -> ItemList:
        """The same as clauses: "the class should be compact", "it should have parking"."""
        return ItemList(map(self._clause, (form for slot in self.service.wishes for form in self._wish_forms(slot))))

    @cached_property
    def clauses(self) -> ItemList:
        """The same of what there is none of: "is safe for cats", "speaks Dutch"."""
        slots = filter(self.is_clause, self.service.wishes)
        return ItemList(map(self._relative, (form for slot in slots for form in self._wish_forms(slot))))

    @cached_property
    def counted(self) -> ItemList:
        """What a row has a number of: "6 seats"."""
        slots = [slot for slot in self.service.columns if self.is_counted(slot)]
        labels = [(slot, self.words.label(slot)) for slot in slots]
        return ItemList(
            form
            for slot, label in labels
            for form in (_Form(slot, f"1 {_singular(label)}", "1"), _Form(slot, f"{{value}} {label}"))
        )

    @cached_property
    def said(self) -> ItemList:
        """Wishes in the domain's own words: "a compact car"."""
        own = {slot: self.own_words(slot) for slot in self.service.wishes}
        return ItemList(form for slot, say in own.items() if say for form in _with_one(_Form(slot, say)))

    @cached_property
    def values(self) -> ItemList:
        """What a booking takes: "2 berths, passenger Ann"."""
        takes = self.service.booking_slots
        return ItemList((form for slot, kind in takes.items() for form in self._booking_forms(slot, kind)), ", ")

    @cached_property
    def _listed(self) -> ItemList:
        """The same in a list for a reader: "class compact"."""
        return ItemList(form for slot in self.service.wishes for form in self._wish_forms(slot, listed=True))

    def _wish_forms(self, slot: str, *, listed: bool = False) -> Iterator[_Form]:
        """How a wish is said; of one that has a unit, a single one in the singular."""
        unit = self.service.wishes[slot].unit
        for form in self._wish_ways(slot, listed):
            yield from _with_one(form) if unit else (form,)

    def _wish_ways(self, slot: str, listed: bool) -> Iterator[_Form]:
        wish, label = self.service.wishes[slot], self.words.label(slot)
        if wish.match == "yes-no":
            told = self.is_state(slot) or self.is_deed(slot)
            has = f"{label}: yes" if told else label if listed or _is_mass(label) else _with_article(label)
            yield from (_Form(slot, has, value) for value in ("yes", "true"))
            yield from (_Form(slot, f"{label}: no" if told else f"no {label}", value) for value in ("no", "false"))
            return
        if wish.match == "contains":
            yield _Form(slot, f"{{value}} among the {label}" if self.is_plural(slot) else f"{label} {{value}}")
            return
        value = f"{{value}} {wish.unit}" if wish.unit else "{value}"
        bare = listed or self.is_open_ended(slot)
        measured = f"{label} " if bare else f"{_with_article(label)} of "
        if wish.match == "same" and (bare or (self.words.slots[slot].kind == "number" and not self.is_counted(slot))):
            yield _Form(slot, measured + value)
        elif wish.match == "same" and self.is_counted(slot):
            yield from (_Form(slot, f"1 {_singular(label)}", "1"), _Form(slot, f"{{value}} {label}"))
        elif wish.match == "same":
            yield _Form(slot, f"{value} as the {label}")
        elif wish.timed:
            yield _Form(slot, f"{label} {{value}} or {'later' if wish.match == 'at-least' else 'earlier'}")
        else:
            limit = "at least" if wish.match == "at-least" else "at most"
            plural = not wish.unit and self.is_plural(slot)
            if plural:
                yield _Form(slot, f"{limit} 1 {_singular(label)}", "1")
            yield _Form(slot, f"{limit} {{value}} {label}" if plural else f"{measured}{limit} {value}")

    def _clause(self, form: _Form) -> _Form:
        label = self.words.label(form.slot)
        should = "should" if truth(form.value) else "shouldn't"
        if self.is_state(form.slot):
            return form._replace(template=f"it {should} be {label}")
        if self.is_deed(form.slot):
            return form._replace(template=f"it {should} {_infinitive(label)}")
        if self.is_clause(form.slot):
            be = self._begins(form.slot, _ADJECTIVES | _PREPOSITIONS)
            return form._replace(template=f"it should {f'be {form.template}' if be else _infinitive(form.template)}")
        for beginning in (f"{label} ", f"{_with_article(label)} of "):
            if form.template.startswith(beginning):
                return form._replace(template=f"the {label} should be {form.template.removeprefix(beginning)}")
        if form.template.endswith(behind := f" as the {label}"):
            return form._replace(template=f"the {label} should be {form.template.removesuffix(behind)}")
        thing, _, done = form.template.rpartition(" ")
        if self._is_wished(form.slot) and done in _DONE and thing not in ("", "no"):
            return form._replace(template=f"{thing} should be {done}")
        return form._replace(template=f"it should have {form.template}")

    def _relative(self, form: _Form) -> _Form:
        label, meant = self.words.label(form.slot), truth(form.value)
        if self.is_state(form.slot):
            return form._replace(template=f"is {'' if meant else 'not '}{label}")
        if self.is_deed(form.slot):
            return form._replace(template=label if meant else f"does not {_infinitive(label)}")
        be = self._begins(form.slot, _ADJECTIVES | _PREPOSITIONS)
        return form._replace(template=f"is {form.template}") if be else form

    def is_clause(self, slot: str) -> bool:
        """Is it said with a verb, as "is safe for cats", "comes on Sundays", "is good at metalwork", "speaks Dutch"?"""
        begins = self._begins(slot, _DEEDS | _ADJECTIVES | _PREPOSITIONS)
        return self.is_state(slot) or self.is_deed(slot) or (self.is_open_ended(slot) and begins)

    def _begins(self, slot: str, words: Container[str]) -> bool:
        return self.words.label(slot).lower().split()[0] in words

    def _booking_forms(self, slot: str, kind: SlotType) -> Iterator[_Form]:
        label = self.words.label(slot)
        if own := self.own_words(slot):
            yield from _with_one(_Form(slot, own))
        elif kind.kind == "number" and self.is_plural(slot):
            yield _Form(slot, f"1 {_singular(label)}", "1")
            yield _Form(slot, f"{{value}} {label}")
        elif (kind.kind, label) == ("day", "day"):
            yield _Form(slot, "on {value}")
        elif (kind.kind, label) == ("time", "time"):
            yield _Form(slot, "at {value}")
        elif many := _HOW_MANY.fullmatch(label.lower()):
            yield _Form(slot, f"{{value}} {many['noun'] or 'of them'}")
        elif self.is_question(slot):
            yield _Form(slot, f"{label}: {{value}}")
        else:
            yield _Form(slot, f"{label} {{value}}")

    def is_question(self, slot: str) -> bool:
        """Is its label a question, as "how many" or "what you are making"?"""
        return _QUESTIONING.match(self.words.label(slot).lower()) is not None

    def is_plural(self, slot: str) -> bool:
        """Are things counted by it, as by "seats" or "years in the trade"? "The light it needs" is one thing."""
        words = self.words.label(slot).lower().split()
        if set(words) & _PRONOUNS or words[0] in _DEEDS or words[-1] in _PREPOSITIONS:
            return False
        return re.search(r"(?:[^su]s|people|children)$", words[_head(words)]) is not None

    def is_counted(self, slot: str) -> bool:
        """Does a row have a number of these, as of seats?"""
        wish = self.service.wishes.get(slot)
        return self.words.slots[slot].kind == "number" and self.is_plural(slot) and not (wish and wish.unit)

    def is_open_ended(self, slot: str) -> bool:
        """Does its label want a value behind it, as "leave from" and "speaks" do?"""
        words = self.words.label(slot).lower().split()
        return words[-1] in _PREPOSITIONS or (words[0] in _DEEDS and not self.is_deed(slot))

    def is_state(self, slot: str) -> bool:
        """Is it something that a row is rather than has, as "on loan", "heated" or "safe for cats"?"""
        words = self.words.label(slot).lower().split()
        state = words[0] in _PREPOSITIONS or words[0] in _ADJECTIVES
        alone = len(words) == 1 or words[1] in _PREPOSITIONS
        return self._is_wished(slot) and (
            state or (alone and re.search(r"(?:ed|ble|free|friendly)$", words[0]) is not None)
        )

    def is_deed(self, slot: str) -> bool:
        """Is it something that a row does, as "comes on Sundays"?"""
        return self._is_wished(slot) and self.words.label(slot).lower().split()[0] in _DEEDS

    def _is_wished(self, slot: str) -> bool:
        wish = self.service.wishes.get(slot)
        return wish is not None and wish.match == "yes-no"

    def told_value(self, slot: str, value: str) -> str:
        """A value as it is told: with its unit, and of a cell that lists things, these."""
        wish = self.service.wishes.get(slot)
        if wish is not None and wish.match != "contains" and wish.unit and wish.unit not in value:
            return f"{value} {_single_unit(wish.unit) if value == '1' else wish.unit}"
        if wish is None or wish.match != "contains":
            return value
        *before, last = members(value) or [value]
        return f"{', '.join(before)} and {last}" if before else last

    @cached_property
    def _told_lists(self) -> dict[tuple[str, str], str]:
        """Cells that list things by how they are told."""
        lists = [slot for slot, wish in self.service.wishes.items() if wish.match == "contains"]
        return {
            (slot, self.told_value(slot, row[slot]).lower()): row[slot]
            for row in self.service.rows or ()
            for slot in lists
            if slot in row
        }

    def own_words(self, slot: str) -> str:
        """How the domain itself says a wish."""
        return self._domain.words_for(slot).say

    def own_question(self, slot: str) -> str:
        """How the domain itself asks for a slot."""
        return self._domain.words_for(slot).ask

    def asks_truth(self, slot: str) -> bool:
        """Are all its known values yes or no?"""
        return self.words.slots[slot].kind == "yes-no"

    def told_wishes(self, wishes: Mapping[str, str]) -> str:
        """Wishes as a list for a reader; without rows they are what the booking takes."""
        known = self.service.wishes
        return "; ".join(
            (self._listed if slot in known else self.values).say([(slot, value)], _bare)
            for slot, value in wishes.items()
        )

    def told_booking(self, booking: Mapping[str, str]) -> str:
        """What is to be booked, as a list for a reader."""
        return self.values.say(booking.items(), _where_awkward)

    def quoted_label(self, slot: str) -> str:
        """A label that stands for itself: in quotes where a value would be missed behind it."""
        label = self.words.label(slot)
        return f'"{label}"' if self.is_open_ended(slot) else label

    # Saying and reading

    def say(self, speaker: Speaker, way: str, acts: Sequence[Act], parts: Callable[[Quote], Mapping[str, str]]) -> str:
        """A sentence that is read as the acts it is said for; values are in quotes only where it is not read else."""
        text = ""
        for quote in (_bare, _where_awkward, _always):
            fields = {"title": self.service.title, "noun": self.words.noun, **parts(quote)}
            capital = {name.upper(): f"{text[:1].upper()}{text[1:]}" for name, text in fields.items()}
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
        inform = self.service.act_name("inform")
        if kind.startswith("need"):
            wishes = self.wishes.read(fields["wishes"]) if "wishes" in fields else []
            return None if wishes is None else [act(inform), *(act(inform, *wish) for wish in wishes)]
        if "clauses" in fields:
            wishes = self.wishes.read(fields["wishes"]) if "wishes" in fields else []
            clauses = self.clauses.read(fields["clauses"])
            none = self.service.act_name("no_offer")
            if wishes is None or clauses is None:
                return None
            return [act(none, *item) for item in (*wishes, *clauses)]
        for field, items, role in (
            ("wishes", self.wishes, "no_offer" if kind == "no_offer_with" else "inform"),
            ("should", self.should, "inform"),
            ("said", self.said, "inform"),
            ("counted", self.counted, "inform"),
            ("values", self.values, "no_book" if kind == "no_book_with" else "inform"),
        ):
            if field in fields:
                name, given = self.service.act_name(role), items.read(fields[field])  # type: ignore[arg-type]
                return None if given is None else [act(name, *item) for item in given]
        return self._told_acts(kind, fields)

    def _told_acts(self, kind: str, fields: Mapping[str, str]) -> list[Act] | None:
        service, inform = self.service, self.service.act_name("inform")
        if kind in ("no_offer", "no_book"):
            return [act(service.act_name(kind))]  # type: ignore[arg-type]
        if kind == "booked":
            return [act(service.act_name("book"))]
        if kind == "nothing_else":
            return [act(inform, "", DONTCARE)]
        if kind == "choose_any":
            return [act(self._select)]
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
        value = _unquoted(fields["value"])
        wish = service.wishes.get(slot)
        if value == fields["value"] and wish is not None and wish.unit:
            value = value.removesuffix(f" {wish.unit}").removesuffix(f" {_single_unit(wish.unit)}")
        return [act(inform, slot, self._told_lists.get((slot, value.lower()), value))]

    def in_role(self, statement: Act, role: Role) -> Act:
        """What is told after an offer or a booking belongs to it."""
        if role == "inform" or statement.intent != INFORM or not statement.slot or statement.slot == CHOICE:
            return statement
        return act(self.service.act_name(role), statement.slot, *statement.values)

    @cached_property
    def _select(self) -> str:
        return self.service.act_name("select") or f"{self.service.prefix}-Select"

    @cached_property
    def _names(self) -> dict[str, str]:
        return {name.lower(): name for name in self.words.names}

    def _read_name(self, text: str) -> str:
        """A name that is known stands as it is, another in quotes."""
        return self._names.get(text.lower()) or (_unquoted(text) if text != _unquoted(text) else "")

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

    def deed(self, slot: str) -> str:
        """ "come on Sundays" of "comes on Sundays"."""
        return _infinitive(self.words.label(slot))

    @cached_property
    def _asked_labels(self) -> ItemList:
        forms = []
        for label, slots in self._by_label.items():
            if slot := next((slot for slot in slots if slot in self.service.askable), ""):
                forms += [_Form(slot, f"{article}{label}", ASKED) for article in ("", "the ")]
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


def _head(words: Sequence[str]) -> int:
    """Where the noun of a label stands: before what a preposition adds to it."""
    return next((index - 1 for index, word in enumerate(words) if index and word in _PREPOSITIONS), len(words) - 1)


def _is_mass(label: str) -> bool:
    return _MASS.search(label.lower()) is not None


def _with_article(label: str) -> str:
    """ "a bed width", "an hourly rate", "opening hours"."""
    words = label.lower().split()
    if re.search(r"[^su]s$", words[_head(words)]):
        return label
    return f"{'an' if words[0][0] in 'aeio' else 'a'} {label}"


def _infinitive(label: str) -> str:
    """ "come on Sundays" of "comes on Sundays"."""
    deed, _, rest = label.partition(" ")
    return f"{re.sub(r'(?<=ch)es$|s$', '', deed)} {rest}".rstrip()


def _singular(label: str) -> str:
    """ "1 berth", "1 child"."""
    irregular = {"people": "person", "children": "child"}
    words = label.split(" ")
    noun = words[_head(words)]
    single = re.sub(r"ies$", "y", re.sub(r"(ch|sh|ss|x)es$", r"\1", noun))
    words[_head(words)] = irregular.get(noun) or re.sub(r"(?<=[^su])s$", "", single)
    return " ".join(words)


def _with_one(form: _Form) -> Iterator[_Form]:
    """A form of a number before it in the singular: "at most 1 euro", "for 1 week"."""
    before, _, unit = form.template.partition("{value} ")
    if _single_unit(unit) != unit:
        yield form._replace(template=f"{before}1 {_single_unit(unit)}", value="1")
    yield form


def _single_unit(unit: str) -> str:
    """ "euro per day" of "euros per day"."""
    first, space, rest = unit.partition(" ")
    return f"{_singular(first)}{space}{rest}"


def _bare(value: str) -> str:
    return value


def _where_awkward(value: str) -> str:
    return _always(value) if _AWKWARD.search(value) else value


def _always(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text


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
