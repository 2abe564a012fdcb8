"""From acts to words: the template generator of both sides of the town.

Acts of one name become sentences together, up to three slots in one; different names keep the order in which they were
given. What is drawn is only which template is used, so the acts of a session do not depend on its wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from dialgauge.agents.speech.phrase_book import Hole, PhraseBook, PhraseTemplate, phrase_book
from dialgauge.dialogue import Act, Span, Speaker
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError, nearest

STYLES = ("plain", "varied")
#: What is said where there is no act.
_NOTHING = "Okay."
#: Acts of one name that are worded together.
_BLOCK = 12

#: Types as the database writes them, and as people do; nouns that types without an article of their own need.
_SPOKEN = {"swimmingpool": "swimming pool", "concerthall": "concert hall"}
_HEADS = {"architecture": "site", "entertainment": "venue", "multiple sports": "venue"}


class Wording(Struct, frozen=True):
    """What was said, where each value stands in it, and the templates it was made from."""

    text: str
    spans: tuple[Span, ...] = ()
    templates: tuple[str, ...] = ()


class Nlg(Protocol):
    """Puts acts into words."""

    def generate(self, acts: Sequence[Act], speaker: Speaker, draws: Draws) -> Wording: ...


class TemplateNlg:
    """Words for the acts of users and systems.

    ``plain`` always takes the first template of each kind, ``varied`` draws one. ``strict`` refuses an act without
    words; otherwise it is said in a generic sentence. ``phrases`` gives files of templates to use for a speaker instead
    of the package's own.

    >>> from dialgauge.worlds.town import act
    >>> acts = [act("Restaurant-Inform", "food", "italian"), act("Restaurant-Inform", "area", "centre")]
    >>> TemplateNlg("plain").generate(acts, "user", Draws(1)).text
    "I'd like italian food in the centre."
    """

    def __init__(
        self, style: str = "varied", *, strict: bool = False, phrases: dict[Speaker, str | Path] | None = None
    ) -> None:
        if style not in STYLES:
            raise DialgaugeError(f"there is no style '{style}'.{nearest(style, STYLES)}")
        self.style = style
        self._strict = strict
        self._files = phrases or {}
        self._books: dict[Speaker, PhraseBook] = {}

    def book(self, speaker: Speaker) -> PhraseBook:
        """The templates of a speaker, read when first needed."""
        book = self._books.get(speaker)
        if book is None:
            file = self._files.get(speaker)
            book = self._books[speaker] = PhraseBook(file, speaker) if file else phrase_book(speaker)
        return book

    def generate(self, acts: Sequence[Act], speaker: Speaker, draws: Draws) -> Wording:
        """The acts in words; one draw for each sentence in the style ``varied``, none in ``plain``."""
        if not acts:
            return Wording(_NOTHING, (), ("nothing",))
        book, varied = self._books.get(speaker) or self.book(speaker), self.style == "varied"
        text = ""
        spans: list[Span] = []
        names: list[str] = []
        for name, domain, slots, values in _grouped(acts):
            keys = tuple([book.key(name, slot, value) for slot, value in zip(slots, values, strict=True)])
            for taken, templates in book.plan(name, keys):
                if text:
                    text += " "
                given = {slots[index]: values[index] for index in taken}
                holes = templates and any(isinstance(part, Hole) for part in templates[0].parts)
                if not templates or (holes and not all(given.values())):
                    text += self._generic(name, given, book)
                    names.append("generic")
                    continue
                template = templates[int(draws.unit() * len(templates))] if varied else templates[0]
                text = _filled(text, template, given, domain, spans)
                names.append(template.name)
        return Wording(text, tuple(spans), tuple(names))

    def _generic(self, name: str, given: dict[str, str], book: PhraseBook) -> str:
        if self._strict:
            raise DialgaugeError(f"there are no words for the act '{name}' with {', '.join(given) or 'no slot'}")
        clauses = [f"the {book.label(name, slot)} is {value or 'not known'}" for slot, value in given.items() if slot]
        return f"Just so you know, {', '.join(clauses)}." if clauses else "Let me see."


@lru_cache(8)
def template_nlg(style: str = "varied") -> TemplateNlg:
    """The generator with the package's own templates; one serves a whole process."""
    return TemplateNlg(style)


def _grouped(acts: Sequence[Act]) -> list[tuple[str, str, list[str], list[str]]]:
    """The acts of each name together, in the order of first mention, in blocks that a plan is made for."""
    groups: dict[str, tuple[str, str, list[str], list[str]]] = {}
    done: list[tuple[str, str, list[str], list[str]]] = []
    for act in acts:
        group = groups.get(act.name)
        if group is None or len(group[2]) >= _BLOCK:
            group = groups[act.name] = (act.name, act.domain, [], [])
            done.append(group)
        for value in act.values or ("",):
            group[2].append(act.slot)
            group[3].append(value)
    return done


def _filled(text: str, template: PhraseTemplate, given: dict[str, str], domain: str, spans: list[Span]) -> str:
    """The text with the sentence behind it; the places of the values go to ``spans``."""
    for part in template.parts:
        if isinstance(part, str):
            # A value that ends in a full stop ends the sentence.
            text += part[1:] if part[:1] == "." and text[-1:] == "." else part
            continue
        slot, article, plural, counted = part
        value, before, after = given[slot], "", ""
        if article or plural:
            value, before, after = _noun(value, plural)
        elif counted:
            after = f" {counted[value not in ('1', 'one')]}"
        start = len(text) + len(before)
        text += before + value + after
        spans.append(Span(domain, slot, start, start + len(value)))
    return text


@lru_cache(1024)
def _noun(value: str, plural: bool) -> tuple[str, str, str]:
    """The word as people say it, and what stands before and after it."""
    spoken, head = _SPOKEN.get(value, value), _HEADS.get(value, "")
    if plural:
        return (spoken, "", f" {head}s") if head else (_plural(spoken), "", "")
    return spoken, "an " if spoken[:1] in "aeiou" else "a ", f" {head}" if head else ""


def _plural(word: str) -> str:
    if word.endswith(("ch", "sh", "s", "x")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
