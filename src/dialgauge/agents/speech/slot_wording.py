"""How the slots of a service are worded, whatever the sentence: what their labels are, and items such as "price at most
12 euros" that are said and read back by the same patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from dialgauge.agents.speech.vocabulary import ServiceVocabulary
from dialgauge.values import comparable, truth
from dialgauge.worlds.domain import Domain, SlotType, members

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

Quote: TypeAlias = Callable[[str], str]
Given: TypeAlias = Iterable[tuple[str, str]]


class ItemForm(NamedTuple):
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

    def __init__(self, forms: Iterable[ItemForm], last: str = " and ") -> None:
        self._forms = list(forms)
        self._last = last

    @cached_property
    def _patterns(self) -> list[tuple[ItemForm, re.Pattern[str]]]:
        """The longest beginnings first, so that "leave at" is not taken for "leave"."""
        ordered = sorted(self._forms, key=lambda form: -len(form.template.partition("{value}")[0]))
        return [(form, form.pattern) for form in ordered]

    def say(self, given: Given, quote: Quote) -> str:
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
                    items.append((form.slot, form.value or unquoted(match["value"])))
                    break
            else:
                return None
            if match.end() == len(text):
                return items
            offset = match.end() + (2 if text.startswith(", ", match.end()) else len(" and "))


class SlotWording:
    """The words for the slots of one service."""

    def __init__(self, words: ServiceVocabulary, domain: Domain) -> None:
        self.words, self.service, self._domain = words, words.service, domain

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
        slots = filter(self.is_counted, self.service.columns)
        return ItemList(form for slot in slots for form in self._counted_forms(slot))

    @cached_property
    def said(self) -> ItemList:
        """Wishes in the domain's own words: "a compact car"."""
        own = {slot: self.own_words(slot) for slot in self.service.wishes}
        return ItemList(form for slot, say in own.items() if say for form in _with_one(ItemForm(slot, say)))

    @cached_property
    def values(self) -> ItemList:
        """What a booking takes: "2 berths, passenger Ann"."""
        takes = self.service.booking_slots
        return ItemList((form for slot, kind in takes.items() for form in self._booking_forms(slot, kind)), ", ")

    @cached_property
    def _listed(self) -> ItemList:
        """The same in a list for a reader: "class compact"."""
        return ItemList(form for slot in self.service.wishes for form in self._wish_forms(slot, listed=True))

    def _wish_forms(self, slot: str, *, listed: bool = False) -> Iterator[ItemForm]:
        """How a wish is said; of one that has a unit, a single one in the singular."""
        unit = self.service.wishes[slot].unit
        for form in self._wish_ways(slot, listed):
            yield from _with_one(form) if unit else (form,)

    def _wish_ways(self, slot: str, listed: bool) -> Iterator[ItemForm]:
        wish, label = self.service.wishes[slot], self.words.label(slot)
        if wish.match == "yes-no":
            told = self.is_state(slot) or self.is_deed(slot)
            has = f"{label}: yes" if told else label if listed or _MASS.search(label.lower()) else _with_article(label)
            yield from (ItemForm(slot, has, value) for value in ("yes", "true"))
            yield from (ItemForm(slot, f"{label}: no" if told else f"no {label}", value) for value in ("no", "false"))
            return
        if wish.match == "contains":
            yield ItemForm(slot, f"{{value}} among the {label}" if self.is_plural(slot) else f"{label} {{value}}")
            return
        value = f"{{value}} {wish.unit}" if wish.unit else "{value}"
        bare = listed or self.is_open_ended(slot)
        measured = f"{label} " if bare else f"{_with_article(label)} of "
        if wish.match == "same" and (bare or (self.words.slots[slot].kind == "number" and not self.is_counted(slot))):
            yield ItemForm(slot, measured + value)
        elif wish.match == "same" and self.is_counted(slot):
            yield from self._counted_forms(slot)
        elif wish.match == "same":
            yield ItemForm(slot, f"{value} as the {label}")
        elif wish.timed:
            yield ItemForm(slot, f"{label} {{value}} or {'later' if wish.match == 'at-least' else 'earlier'}")
        else:
            limit = "at least" if wish.match == "at-least" else "at most"
            plural = not wish.unit and self.is_plural(slot)
            if plural:
                yield ItemForm(slot, f"{limit} 1 {_singular(label)}", "1")
            yield ItemForm(slot, f"{limit} {{value}} {label}" if plural else f"{measured}{limit} {value}")

    def _counted_forms(self, slot: str) -> Iterator[ItemForm]:
        label = self.words.label(slot)
        yield ItemForm(slot, f"1 {_singular(label)}", "1")
        yield ItemForm(slot, f"{{value}} {label}")

    def _clause(self, form: ItemForm) -> ItemForm:
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

    def _relative(self, form: ItemForm) -> ItemForm:
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

    def _booking_forms(self, slot: str, kind: SlotType) -> Iterator[ItemForm]:
        label = self.words.label(slot)
        if own := self.own_words(slot):
            yield from _with_one(ItemForm(slot, own))
        elif kind.kind == "number" and self.is_plural(slot):
            yield from self._counted_forms(slot)
        elif (kind.kind, label) == ("day", "day"):
            yield ItemForm(slot, "on {value}")
        elif (kind.kind, label) == ("time", "time"):
            yield ItemForm(slot, "at {value}")
        elif many := _HOW_MANY.fullmatch(label.lower()):
            yield ItemForm(slot, f"{{value}} {many['noun'] or 'of them'}")
        elif self.is_question(slot):
            yield ItemForm(slot, f"{label}: {{value}}")
        else:
            yield ItemForm(slot, f"{label} {{value}}")

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
            return f"{value} {single_unit(wish.unit) if value == '1' else wish.unit}"
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
            (self._listed if slot in known else self.values).say([(slot, value)], str) for slot, value in wishes.items()
        )

    def told_booking(self, booking: Mapping[str, str]) -> str:
        """What is to be booked, as a list for a reader."""
        return self.values.say(booking.items(), quoted_where_awkward)

    def quoted_label(self, slot: str) -> str:
        """A label that stands for itself: in quotes where a value would be missed behind it."""
        label = self.words.label(slot)
        return f'"{label}"' if self.is_open_ended(slot) else label

    def deed(self, slot: str) -> str:
        """ "come on Sundays" of "comes on Sundays"."""
        return _infinitive(self.words.label(slot))


def _head(words: Sequence[str]) -> int:
    """Where the noun of a label stands: before what a preposition adds to it."""
    return next((index - 1 for index, word in enumerate(words) if index and word in _PREPOSITIONS), len(words) - 1)


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


def _with_one(form: ItemForm) -> Iterator[ItemForm]:
    """A form of a number before it in the singular: "at most 1 euro", "for 1 week"."""
    before, _, unit = form.template.partition("{value} ")
    if single_unit(unit) != unit:
        yield form._replace(template=f"{before}1 {single_unit(unit)}", value="1")
    yield form


def single_unit(unit: str) -> str:
    """ "euro per day" of "euros per day"."""
    first, space, rest = unit.partition(" ")
    return f"{_singular(first)}{space}{rest}"


def quoted_where_awkward(value: str) -> str:
    """In quotes where it has what ends an item or a sentence."""
    return always_quoted(value) if _AWKWARD.search(value) else value


def always_quoted(value: str) -> str:
    """In quotes; those inside it are doubled."""
    return '"' + value.replace('"', '""') + '"'


def unquoted(text: str) -> str:
    """The value that a text stands for."""
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text
