"""States as spans, as end-to-end systems write them (DAMD, UBAR, PPTOD): ``[hotel] area north stars 4``."""

from __future__ import annotations

import re

from dialgauge.formats.predictions.flags import FLAG_SLOTS

DOMAIN_TAG = re.compile(r"\[(\w{1,40}(?: \w{1,40})?)\]")
SPAN_SLOTS = re.compile(
    r"area|arrive(?:[Bb]y)?|day|departure|department|destination|food|internet|leave(?:[Aa]t)?|name|parking|people|"
    r"price(?:[Rr]ange)?|stars|stay|time|type"
)
_TWO_WORDS = re.compile(r"(?<!\[)\b(?:(book) (day|people|stay|time)|(leave) (at)|(arrive) (by)|(price) (range))\b")
#: What slots have around the word that names them in short.
_AROUND = re.compile("^book_|at$|by$|range$", re.IGNORECASE)
#: The slots of MultiWOZ's domains, in short: words in which values and slots are alike.
_SHORT = {domain: frozenset(_AROUND.sub("", slot) for slot in slots) for domain, slots in FLAG_SLOTS.items()}


def of_spans(text: str) -> tuple[list[tuple[str, str, str]], str]:
    """``[hotel] area north book day monday``, ``[hotel] [value_area] north`` and ``[hotel] [area] north``.

    And the words that belong to no slot. A word names a slot behind a value only where its domain has that slot:
    ``[taxi] destination whale of a time`` has no time.
    """
    domain = slot = ""
    triples: list[tuple[str, str, str]] = []
    words: list[str] = []
    rest: list[str] = []

    def end() -> None:
        value = " ".join(words).replace("\0", " ")
        if domain and slot and words:
            triples.append((domain, slot.replace("\0", " "), value))
        else:
            rest.extend(filter(None, (slot, value)))
        words.clear()

    joined = _TWO_WORDS.sub(lambda match: "\0".join(filter(None, match.groups())), text)
    for number, part in enumerate(DOMAIN_TAG.split(joined)):
        if number % 2:
            end()
            is_slot = part.startswith("value_") or (domain and SPAN_SLOTS.fullmatch(re.split("[_ ]", part)[-1]))
            domain, slot = (domain, part.removeprefix("value_")) if is_slot else (part, "")
            continue
        tagged = bool(slot)
        for word in part.split():
            if not tagged and _is_slot(word) and (not slot or (words and _has_slot(domain, word))):
                end()
                slot = word
            else:
                words.append(word)
    end()
    return triples, " ".join(rest)


def _is_slot(word: str) -> bool:
    return "\0" in word or SPAN_SLOTS.fullmatch(word) is not None


def _has_slot(domain: str, word: str) -> bool:
    """May a slot of the domain be called that? All may of a domain that is not known; ``pricerange`` is no value."""
    known = _SHORT.get(domain.lower())
    return known is None or "\0" in word or word in known or _AROUND.sub("", word) != word
