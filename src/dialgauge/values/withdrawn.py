"""Values that stand in a reply and are not told all the same: denied ones, ones taken back, and mere alternatives.

>>> from dialgauge.values.reply_text import ReplyText
>>> reply = ReplyText("The groomer is Olu, and definitely not Nora.")
>>> [name for name in ("Olu", "Nora") if not is_denied(reply, reply.phrase(name)[0])]
['Olu']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dialgauge.values.reply_text import ReplyText
from dialgauge.values.spoken_numbers import Place, word_set
from dialgauge.values.spoken_slots import ToldValue

#: What may stand between a denial and the value that it denies.
_BEFORE_VALUE = word_set("the a an at by in on with be been actually really \" ' ( + £ $ €")
_DENIAL = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|isnt|wasnt|rather than|instead of|other than|no longer|unlike|n't)"
    r"|\b(?:n't|not|never) (?:confuse|mistake|mix)(?: \w+){0,3})$"
)
_DENIED_AFTER = re.compile(
    r"(?:is|was|'s) ?(?:not|n't) (?:it|the|their|its|right|correct|true)\b|(?:is|was) (?:wrong|incorrect|false)\b"
)
_NO_DENIAL = re.compile(r"\bwhy (?:not|do n't|\w+ not)$")
#: Words of a denial that are looked at, before and behind a value.
_REACH = 8
_RETRACTION = re.compile(
    r"\b(?:scrap|strike|forget|ignore|disregard|cancel|scratch) (?:that|this|it|what i (?:just )?said)\b"
    r"|\b(?:no|oh|oops|sorry) ,? ?wait\b|\bwait , no\b|\bactually , no\b|\bcorrection\b|\bi (?:meant|misspoke)\b"
    r"|\bmy (?:mistake|bad|error)\b|\b(?:take|took) (?:that|it) back\b|\blet me correct\b|\bi stand corrected\b"
)
#: What joins values to choose from.
_JOINS = word_set("or , / either maybe perhaps possibly else even the a an by at in on with it 's is could might be")


def is_denied(reply: ReplyText, span: Place[str]) -> bool:
    """Is it said that a value is not the one? "Not Nora", "rather than Nora", "Nora isn't the one"."""
    words, segment = reply.lower, reply.tokens[span.first].segment
    first = span.first
    while first and words[first - 1] in _BEFORE_VALUE and reply.tokens[first - 1].segment == segment:
        first -= 1
    before = " ".join(words[max(0, first - _REACH) : first])
    if first and reply.tokens[first - 1].segment == segment and _DENIAL.search(before):
        return not _NO_DENIAL.search(before)
    return _DENIED_AFTER.match(" ".join(words[span.last : span.last + _REACH])) is not None


def retracted_until(reply: ReplyText) -> int:
    """The token up to which what was said is taken back, if something else is said behind it: "scrap that"."""
    words = " ".join(reply.lower)
    ends = [match.end() for match in _RETRACTION.finditer(words)]
    return words[: ends[-1]].count(" ") + 1 if ends else 0


def alternatives(reply: ReplyText, values: Sequence[ToldValue]) -> Iterator[tuple[ToldValue, ...]]:
    """Values in a row that "or" joins: "Nora, Gus or Olu"."""
    chain: list[ToldValue] = []
    offered = False
    for value in sorted(values, key=lambda value: (value.place.first, value.place.last)):
        between = reply.lower[chain[-1].place.last : value.place.first] if chain else ()
        overlaps = bool(chain) and value.place.first < chain[-1].place.last
        if chain and (overlaps or (between and _JOINS.issuperset(between))):
            offered = offered or "or" in between
        else:
            if offered:
                yield tuple(chain)
            chain, offered = [], False
        chain.append(value)
    if offered:
        yield tuple(chain)
