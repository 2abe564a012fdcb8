"""What a reply in anybody's words tells of a slot: the right value, another one, that it is unknown, or nothing;
and what it says came of an attempt.

Who speaks freely writes "£12", "12 pounds" or "12.00 GBP", "3:03 pm" or "15:03", "manual: n" or "❌ No". A value
belongs to the slot whose label stands nearest in the same segment; one without a label may answer whatever was asked.
Where the reading is a guess it says so: ``unsure`` is never the fault of whoever spoke.

>>> from dialgauge.values import SpokenSlot
>>> price = SpokenSlot("price", ["10 pounds", "12 pounds", "15.50 pounds"])
>>> pets = SpokenSlot("pets", ["yes", "no"], labels=["pets allowed"])
>>> reader = AnswerReader([price, pets])
>>> reply = "It's **£12** a night.\\nPets: ❌"
>>> reader.read(reply, "price", "12 pounds", asked=["price", "pets"]).status
'right'
>>> reader.read(reply, "pets", "yes", asked=["price", "pets"]).status
'other'
>>> reader.read("Sorry, I have no information about that.", "price", "12 pounds", asked=["price"]).status
'unknown'
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from dialgauge.values.reply_bindings import NEGATION, BoundReply
from dialgauge.values.reply_text import ReplyText, phrase_of
from dialgauge.values.spoken_numbers import Place
from dialgauge.values.spoken_slots import (
    NOT_KNOWN,
    UNKNOWN,
    YES_NO,
    SpokenSlot,
    ToldValue,
    is_among,
    list_items,
    same_told,
)
from dialgauge.values.withdrawn import alternatives

#: ``right``, ``other`` and ``unknown`` are read outright; ``unsure``: something may be the answer; ``none``: nothing.
Status: TypeAlias = Literal["right", "other", "unknown", "unsure", "none"]


class AnswerReading(NamedTuple):
    """What a reply tells of a slot, and the words that tell it."""

    status: Status
    value: str = ""


class AnswerReader:
    """Reads what replies tell of the slots of one service."""

    def __init__(self, slots: Iterable[SpokenSlot], names: Iterable[str] = ()) -> None:
        """``names`` are those of the service's rows: a number in one of them answers nothing."""
        self.slots = {slot.name: slot for slot in slots}
        self._names: dict[str, tuple[str, ...]] = {phrase: (name,) for name in names if (phrase := phrase_of(name))}
        self._kept: tuple[str, BoundReply] | None = None

    def _bound(self, reply: str) -> BoundReply:
        if self._kept is None or self._kept[0] != reply:
            self._kept = (reply, BoundReply(ReplyText(reply), self.slots, self._names))
        return self._kept[1]

    def read(
        self, reply: str, name: str, truth: str, *, asked: Collection[str] = (), explained: Collection[str] = ()
    ) -> AnswerReading:
        """What the reply tells of a slot whose value is ``truth``.

        ``asked`` are the slots that it should answer; ``explained`` values that it may repeat for another reason: what
        the user said, other values of the row, how many were found.
        """
        bound, slot = self._bound(reply), self.slots[name]
        reading = self._read(bound, slot, truth, asked, explained)
        if reading.status == "none" and name in asked and bound.is_unread(slot):
            return AnswerReading("unsure")
        return reading

    def _read(
        self, bound: BoundReply, slot: SpokenSlot, truth: str, asked: Collection[str], explained: Collection[str]
    ) -> AnswerReading:
        name = slot.name
        alone = self._is_alone(slot, asked) and name in asked
        unknown = bound.unknown(slot, left=self._left(bound, slot, asked) if name in asked else 0)
        if truth.strip().lower() in NOT_KNOWN:
            if unknown:
                return AnswerReading("right", UNKNOWN)
            return _read_unknown(bound, slot, alone, asked=name in asked, explained=explained)
        if slot.kind == "yes-no":
            return _read_yes_no(bound, slot, YES_NO.get(truth.strip().lower(), truth), unknown, alone)
        if slot.kind == "list":
            return _read_list(bound, slot, truth, unknown)
        return _read_value(bound, slot, truth, unknown, alone, explained)

    def heard(self, reply: str, asked: Sequence[str], explained: Collection[str] = ()) -> dict[str, str]:
        """What somebody who asked for slots takes for answers: any value of the kind asked for."""
        bound = self._bound(reply)
        answers: dict[str, str] = {}
        for name in asked:
            slot = self.slots.get(name)
            if slot is None:
                continue
            value = self._heard(bound, slot, asked, explained)
            if not value and bound.unknown(slot, left=self._left(bound, slot, asked)):
                value = UNKNOWN
            if value:
                answers[name] = value
        return answers

    def _is_alone(self, slot: SpokenSlot, asked: Collection[str]) -> bool:
        """Is no other slot of its kind asked for?"""
        return sum(self.slots[other].kind == slot.kind for other in asked if other in self.slots) <= 1

    def _left(self, bound: BoundReply, slot: SpokenSlot, asked: Collection[str]) -> int:
        """How many of the slots asked for have no answer, this one among them."""
        others = [self.slots[other] for other in asked if other in self.slots and other != slot.name]
        return 1 + sum(not self._heard(bound, other, asked, ()) for other in others)

    def _heard(self, bound: BoundReply, slot: SpokenSlot, asked: Collection[str], explained: Collection[str]) -> str:
        alone = self._is_alone(slot, asked)
        if slot.kind == "yes-no":
            polarity = bound.polarity(slot, alone=alone)
            if bound.unknown(slot, left=int(alone)):
                return UNKNOWN
            return {"both": "yes", "perhaps": "yes"}.get(polarity, polarity)
        values = bound.told(slot)
        own = [value for value in values if bound.owner(value.place, slot) == slot.name]
        if slot.kind == "list" and own:
            return f"{slot.separator} ".join(dict.fromkeys(value.value for value in own))
        if own:
            return own[0].value.partition("|")[0]
        loose = [
            value for value in values if not bound.owner(value.place, slot) and not is_among(value.value, explained)
        ]
        if not alone and slot.kind not in ("code", "list", "day"):
            rivals = [self.slots[other] for other in asked if other in self.slots and other != slot.name]
            loose = [value for value in loose if not any(bound.could_have(rival, value.place) for rival in rivals)]
        if loose:
            return loose[0].value.partition("|")[0]
        remainder = _read_remainder(bound, slot, "")
        if remainder.status != "other":
            return ""
        return UNKNOWN if bound.unknown(slot, left=0) else remainder.value

    def labelled(self, reply: str) -> dict[str, str]:
        """What the reply tells of slots by their labels, asked for or not."""
        bound = self._bound(reply)
        values: dict[str, str] = {}
        for name, slot in self.slots.items():
            if slot.kind == "yes-no":
                polarity = bound.polarity(slot, alone=False)
                if polarity in ("yes", "no"):
                    values[name] = polarity
                continue
            own = [value.value for value in bound.told(slot) if bound.owner(value.place, slot) == name]
            if own and slot.kind == "list":
                values[name] = f"{slot.separator} ".join(dict.fromkeys(own))
            elif own:
                values[name] = own[0]
        return values


def _read_unknown(
    bound: BoundReply, slot: SpokenSlot, alone: bool, *, asked: bool, explained: Collection[str]
) -> AnswerReading:
    """The value is unknown, and none of the usual words says so."""
    if slot.kind == "yes-no":
        said = bound.polarity(slot, alone=alone)
        return AnswerReading("other", said) if said in ("yes", "no") else AnswerReading("unsure" if said else "none")
    owners = [(told.value, bound.owner(told.place, slot)) for told in bound.told(slot)]
    if own := [value for value, owner in owners if owner == slot.name]:
        return AnswerReading("other", own[0])
    loose = [value for value, owner in owners if not owner and not is_among(value, explained)]
    if loose and alone:
        return AnswerReading("unsure", loose[0])
    lacking = bound.lacks(slot) if asked else ""
    return AnswerReading("right", UNKNOWN) if lacking == "yes" else AnswerReading("unsure" if lacking else "none")


def _read_value(
    bound: BoundReply, slot: SpokenSlot, truth: str, unknown: bool, alone: bool, explained: Collection[str]
) -> AnswerReading:
    spelt = _found(bound, slot, truth)
    told = [value for value in bound.told(slot) if same_told(value.value, truth, slot.kind)]
    right = told or bound.standing(slot, spelt)
    if choice := _offered_choice(bound, slot, right):
        return AnswerReading("other", choice)
    owners = {bound.owner(value.place, slot) for value in right}
    wrong = [value for value in bound.told(slot) if not same_told(value.value, truth, slot.kind)]
    own = [value for value in wrong if bound.owner(value.place, slot) == slot.name and not _within(value, right)]
    if slot.name in owners:
        return AnswerReading("right", truth)
    if "" in owners and not own:
        return AnswerReading("right", truth)
    if own:
        doubtful = right or all(is_among(value.value, explained) for value in own)
        return AnswerReading("unsure" if doubtful else "other", own[0].value)
    if unknown:
        return AnswerReading("unknown", UNKNOWN)
    if right:  # the right value, but nearer to another label
        return AnswerReading("right" if alone else "unsure", truth)
    loose = [value for value in wrong if not bound.owner(value.place, slot) and not is_among(value.value, explained)]
    if loose and alone:
        return AnswerReading(
            "other" if slot.kind != "number" or len(bound.reply.tokens) <= 14 else "unsure", loose[0].value
        )
    if spelt:  # denied, or taken back
        return AnswerReading("none")
    return _read_remainder(bound, slot, truth)


def _offered_choice(bound: BoundReply, slot: SpokenSlot, right: Sequence[ToldValue]) -> str:
    """The values among which the right one is only one of several: "Nora or Gus". Empty where it is told outright."""
    chosen = ""
    known, left = {*right}, {value.place for value in right}
    for values in alternatives(bound.reply, [*{*bound.told(slot), *known}]):
        own = {value.place for value in values} & left
        outside = [value for value in values if value not in known and not _within(value, right)]
        if own and outside:
            left -= own
            chosen = " or ".join(dict.fromkeys(value.value.partition("|")[0] for value in values))
    return "" if left else chosen


def _found(bound: BoundReply, slot: SpokenSlot, truth: str) -> list[ToldValue]:
    """The right value by its own spelling, where the kind's shapes do not show it."""
    places: list[Place[str]] = []
    if slot.kind in ("text", "number"):
        for wording in (truth, *slot.also.get(truth, ())):
            places += bound.reply.phrase(wording)
    if slot.kind == "code" or (slot.kind == "text" and any(map(str.isdigit, truth))):
        code = bound.reply.code(truth)
        places += [code] if code is not None else []
    return [ToldValue(truth, span) for span in places]


def _within(value: ToldValue, right: Sequence[ToldValue]) -> bool:
    return any(other.place.first <= value.place.first and value.place.last <= other.place.last for other in right)


def _read_remainder(bound: BoundReply, slot: SpokenSlot, truth: str) -> AnswerReading:
    """Open text behind a label: "address: 12 Mill Road". Words of the right value among others leave it unsure."""
    for labels in bound.labels.values():
        for label in labels:
            if label.value != slot.name:
                continue
            _, last = bound.scope(label)
            rest = bound.reply.lower[label.last : last]
            if not rest or rest[0] not in (":", "is", "=", "-", "are") or slot.kind not in ("text", "code"):
                continue
            words = {word for word in rest[1:] if len(word) > 2 or word.isdigit()}
            if not words or bound.reply.tokens[label.first].segment in bound.reply.questions:
                continue
            shared = words & {token.text for token in ReplyText(truth).tokens}
            return AnswerReading("unsure" if shared else "other", " ".join(rest[1:]).strip(" ."))
    longer = {token.text for token in ReplyText(truth).tokens if len(token.text) > 3} if slot.kind == "text" else set()
    in_part = len(longer) > 1 and 2 * len(longer & set(bound.reply.lower)) >= len(longer)
    return AnswerReading("unsure" if in_part else "none")


def _read_list(bound: BoundReply, slot: SpokenSlot, truth: str, unknown: bool) -> AnswerReading:
    wanted = {phrase_of(item): item for item in list_items(truth, slot.separator)}
    by_phrase = {
        phrase_of(value.value): value
        for value in bound.told(slot)
        if bound.reply.lower[max(0, value.place.first - 1)] not in NEGATION
    }
    for phrase, item in wanted.items():
        if phrase not in by_phrase and (places := bound.reply.phrase(item)):
            by_phrase[phrase] = ToldValue(item, places[0])
    hits = wanted.keys() & by_phrase.keys()
    extra = [value.value for phrase, value in by_phrase.items() if phrase not in wanted]
    if hits == wanted.keys():
        return AnswerReading(
            "unsure"
            if [value for value in extra if bound.owner(by_phrase[phrase_of(value)].place, slot) == slot.name]
            else "right",
            truth,
        )
    if extra:
        return AnswerReading("other", f"{slot.separator} ".join(value.value for value in by_phrase.values()))
    if hits:
        return AnswerReading("unsure", f"{slot.separator} ".join(wanted[phrase] for phrase in hits))
    return AnswerReading("unknown", UNKNOWN) if unknown else _read_remainder(bound, slot, truth)


def _read_yes_no(bound: BoundReply, slot: SpokenSlot, truth: str, unknown: bool, alone: bool) -> AnswerReading:
    polarity = bound.polarity(slot, alone=alone)
    if unknown and polarity in ("no", ""):  # "we don't have information about pets" says no more than that
        return AnswerReading("unknown", UNKNOWN)
    if polarity in ("yes", "no"):
        return AnswerReading("right" if polarity == truth else "other", polarity)
    if polarity == "perhaps" and truth == "yes":
        return AnswerReading("right", "yes")
    return AnswerReading("unsure" if polarity else "none")


# Outcomes. People say that something failed in countless ways, and often only by asking for something else. So any hint
# counts as saying it: a negation, a regret, an alternative, a question. That it was done is read only where there is no
# such hint.

ToldOutcome: TypeAlias = Literal["failed", "done", ""]

#: Politeness, which hints at nothing.
_FORMULA = re.compile(
    r"\b(?:no|not a|any) (?:problem|problems|worries|trouble|questions?|doubt|fuss|hassle|hitch(?:es)?)\b|\bnot only\b"
    r"|\bno need\b|\bnothing (?:\w+ ){0,2}(?:unavailable|wrong|amiss|refused|rejected|declined|missing)\b|\bif not ,"
    r"|\b(?:need ?n't|need not|do ?n't (?:need|have) to) (?:do|worry about) anything(?: else| more| further)?\b"
    r"|\b(?:sorry|apologies|apologise|apologize) (?:for|about) (?:the|that|your|this|keeping|making)\b"
    r"|\bdo ?n't (?:hesitate|forget|worry|mind)\b|\bca ?n't wait\b|\bwithout (?:any|further|a)\b"
)
#: A sentence that offers further help.
_MORE_HELP = re.compile(
    r"\banything else\b|\banything (?:more|further)\b|\bany other\b|\bwhat else\b|\bsomething else i can\b"
    r"|\b(?:can|could|may|shall) i (?:help|assist|be of)\b|\belse \?$"
)
_FAILED = re.compile(
    r"\b(?:no|not|n't|never|none|neither|nor|nothing|nobody|cannot|dont|cant|wont|couldnt|isnt|without|unable|hardly"
    r"|unfortunately|sadly|regrettably|alas|sorry|afraid|regrets?|apolog\w+|pity|shame|oops|hmm?|however|but"
    r"|fail\w*|refus\w+|reject\w*|declin\w+|den(?:y|ied|ies)|unavailable|unsuccessful\w*|impossible|invalid|turned"
    r"|full|fully|sold|taken|gone(?! (?:through|in|ahead))|gone in (?:the|a)|nope|nah|naw"
    r"|occupied|closed|blocked|clash\w*|conflict\w*|exceed\w*|limit\w*|too"
    r"|problem\w*|trouble|error|issue\w*|already|only|instead|another|other|different\w*|else|alternativ\w+|rather"
    r"|try|tried|retry|change|adjust|choose|pick|reconsider|waiting list|waitlist)\b"
)
#: Words for the booking itself, and for what was answered to it.
_NAMES_BOOKING = re.compile(
    r"\b(?:booking|reservation|appointment|they(?:'ve)? (?:said|say|told me|answered|replied))\b", re.IGNORECASE
)
_DONE = re.compile(
    r"\b(?:booked|reserved|confirmed|confirmation|scheduled|arranged|secured|ordered|placed|sorted|completed?|done"
    r"|success\w*|made|all set|in place|(?:went|gone) (?:through|ahead)|gone in"
    r"|is yours|are yours|see you|look forward|looking forward|enjoy|yes"
    r"|(?:reference|confirmation|booking|order) (?:number|code|id)|reference)\b"
)


def _without_help(words: str) -> str:
    """A sentence without its clauses that offer further help: "No dice, try something else?" says no dice."""
    if not _MORE_HELP.search(words):
        return words
    return " ".join(clause for clause in re.split(r" [,:-] ", words) if not _MORE_HELP.search(clause))


def told_outcome(text: str) -> ToldOutcome:
    """What a reply says came of an attempt: that it failed, that it was done; empty where nothing in it says so.

    >>> [told_outcome(text) for text in ("Monday is taken. Another day?", "Great, it is booked!", "The sky is blue.")]
    ['failed', 'done', '']
    >>> told_outcome("It's all set. Sorry for the wait! Can I help you with anything else?")
    'done'
    """
    reply = ReplyText(text)
    segments = [" ".join(reply.segment(number)) for number in dict.fromkeys(token.segment for token in reply.tokens)]
    said = [_without_help(_FORMULA.sub(" ", words)) for words in segments]
    if any(map(_FAILED.search, said)):
        return "failed"
    asked = [words for words in said if words.endswith("?")]
    if any(_DONE.search(words) for words in said if words not in asked):
        return "done"
    return "failed" if asked else ""


def names_booking(text: str) -> bool:
    """Does a reply name the booking itself, or what was answered to it?"""
    return _NAMES_BOOKING.search(text) is not None
