"""Which slot each value of a reply belongs to, whether it is told as unknown, and whether yes or no is said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from dialgauge.values.reply_text import ReplyText, phrase_of
from dialgauge.values.spoken_numbers import Place, word_set
from dialgauge.values.spoken_slots import CURRENCIES, SpokenSlot, ToldValue, values_in
from dialgauge.values.withdrawn import is_denied, retracted_until

_YES = word_set("yes y yep yeah yup true sure certainly absolutely indeed definitely affirmative")
_NO = word_set("no n nope nah false negative none")
NEGATION = word_set(
    "no not n't never without none neither nor cannot lacks lack lacking unavailable excluded prohibited forbidden "
    "false n nope isnt doesnt dont arent hasnt missing"
)
_ASSERTING = word_set(
    "has have had is are does do can may available included includes include offers offer provides provide allowed "
    "allows allow welcome comes equipped accepted accepts supported with possible permitted free got features feature "
    "there"
)
#: Words that negate nothing.
_IDIOMS = re.compile(
    r"\bno (?:problem|worries|doubt|need|trouble|matter|additional|extra|further|hassle)\b"
    r"(?: (?:cost|charge|charges|fee|fees))?|\bnot only\b|\bwhy not\b|\bnot a problem\b|\bno\. ?(?=\d)"
)
_UNKNOWN = re.compile(
    r"\b(?:do|does|did) ?(?:n't|not|nt) (?:have|know|say|list|show|specify|mention|state|seem to have|actually have|"
    r"currently have|include|give|hold)\b"
    r"|\bno (?:information|info|data|record|records|details|detail|listing|entry|value)\b"
    r"|\b(?:dunno|idk|beats me|search me|who knows)\b|\bany(?:one|body) ?'s guess\b"
    r"|\b(?:have|has) n't got (?:\w+ ){1,4}(?:written|noted|recorded|listed|to hand|on file)\b"
    r"|\bunknown\b|\bunspecified\b|\bundisclosed\b|\bn ?/ ?a\b|\btbd\b|\btbc\b"
    r"|\b(?:not|n't) (?:been )?(?:currently )?(?:listed|known|specified|recorded|provided|given|stated|mentioned|shown|"
    r"published|on file|on record|available (?:in|to)|in (?:our|my|the)|included in (?:our|my|the)|disclosed|sure|"
    r"certain)\b"
    r"|\b(?:ca|can|could) ?(?:n't|not|nt) (?:find|tell|see|say|confirm)\b"
    r"|\bcannot (?:find|tell|see|say|confirm)\b|\b(?:unable|not able) to (?:find|tell|see|say|confirm)\b"
    r"|\b(?:no|not a|not the (?:faintest|slightest)) (?:idea|clue)\b"
    r"|\b(?:have|got|there (?:'s|is|are)) no (?:\w+ ){1,2}(?:on|for|about)\b"
    r"|\b(?:nobody|no one) (?:\w+ ){0,2}(?:knows?|wrote|told|tell|said|say|gave|give)\b"
    r"|\b(?:not|n't|never|nobody|cannot) (?:\w+ ){0,4}whether\b|(?:\b(?:is|are)|'s) (?:missing|blank|empty)\b"
)
#: Words that say that something is not so, or that somebody is sorry about it.
_LACKING = NEGATION | word_set("nobody nothing unable afraid sorry unfortunately sadly alas mystery")
#: Who says these of a slot has not tried to answer.
_PUTS_OFF = word_set("noted note thanks thank check checking look looking ask asking minute moment soon later shortly")
#: Kinds whose labels own no other values: "the other day" says nothing of a number.
_NARROW = ("day", "yes-no")
_ANSWERING = frozenset(("that", "it", "they", "there", "yes", "no", "nope"))
_CLAUSE_ENDS = (",", "-", "and", "or")
_BLANKS = frozenset(("-", "?", "/", "_"))
_INTERROGATIVE = word_set(
    "shall would do does did is are can could should will may want what which when where how any who anything"
)


class BoundReply:
    """A reply with the labels in it, and which slot each value belongs to."""

    def __init__(
        self,
        reply: ReplyText,
        slots: Mapping[str, SpokenSlot],
        names: dict[str, tuple[str, ...]],
        *,
        questions: bool = False,
    ) -> None:
        """With ``questions``, what stands in a question is told too: "Can you find me a van for 12 euros?"."""
        self.reply, self._questions = reply, questions
        self._slots = slots
        self._money = frozenset(slot.name for slot in slots.values() if slot.money)
        named = reply.phrases(names) if names else ()
        self._in_names = {index for name in named for index in range(name.first, name.last)}
        #: Places of labels by segment.
        self.labels: dict[int, list[Place[str]]] = {}
        literal = [
            span for slot in slots.values() for words in slot.literal for span in reply.literal(words, slot.name)
        ]
        for label in _longest([*reply.phrases(labels_of(slots)), *literal]):
            if label.first not in self._in_names:
                self.labels.setdefault(reply.tokens[label.first].segment, []).append(label)
        self._told: dict[str, tuple[ToldValue, ...]] = {}
        self._retracted = retracted_until(reply)

    def told(self, slot: SpokenSlot) -> tuple[ToldValue, ...]:
        """All values in the reply that the slot could have."""
        known = self._told.get(slot.name)
        if known is None:
            places = [
                value
                for value in values_in(self.reply, slot)
                if not {value.place.first, value.place.last - 1} <= self._in_names
            ]
            told = [value for value in places if not self._asks(value.place)]
            known = self._told[slot.name] = tuple(self.standing(slot, told))
        return known

    def standing(self, slot: SpokenSlot, values: Sequence[ToldValue]) -> Sequence[ToldValue]:
        """Of values of a slot, those that are neither denied nor taken back; all of them where questions are told."""
        if self._questions:
            return values
        until = self._retracted
        if until:
            named = [label for labels in self.labels.values() for label in labels if label.value == slot.name]
            if not any(span.first >= until for span in (*named, *(value.place for value in values))):
                until = 0
        return [value for value in values if value.place.first >= until and not is_denied(self.reply, value.place)]

    def _asks(self, span: Place[str]) -> bool:
        """Does it stand in a question? "It is 12, shall I book?" asks only in its last clause."""
        segment = self.reply.tokens[span.first].segment
        if self._questions or segment not in self.reply.questions:
            return False
        words = self.reply.tokens
        at = span.first
        while at > 0 and words[at - 1].segment == segment and words[at - 1].text not in _CLAUSE_ENDS:
            at -= 1
        later = [token.text for token in words[span.last :] if token.segment == segment]
        last = not any(word in _CLAUSE_ENDS for word in later)
        begins = at == 0 or words[at - 1].segment != segment
        return words[at].text in _INTERROGATIVE or (begins and last)

    def owner(self, span: Place[str], slot: SpokenSlot) -> str:
        """The slot whose label stands nearest to a value; empty where none does."""
        segment = self.reply.tokens[span.first].segment
        labels = [
            label
            for label in self.labels.get(segment, ())
            if not self._same(label, span)
            and (self._slots[label.value].kind not in _NARROW or self._slots[label.value].kind == slot.kind)
            and (label.value == slot.name or self._questions or self._may_own(label, span))
        ]
        if self._money and self._is_money(span):  # "5 seats, 12 pounds": the pounds are not the seats'
            if not slot.money:
                return next(iter(self._money))
            labels = [label for label in labels if label.value in self._money]
            if not labels and len(self._money) == 1:
                return slot.name
        if not labels:
            labels = self._heading(segment)
            return slot.name if any(label.value == slot.name for label in labels) else ""
        near: dict[str, float] = {}
        for label in labels:
            if label.last > span.first and self._begins_its_own(label, span):
                continue
            gap = span.first - label.last if label.last <= span.first else 1.5 + label.first - span.last
            near[label.value] = min(near.get(label.value, 99.0), gap)
        if not near:
            return ""
        best = min(near.values())
        return (
            slot.name if near.get(slot.name, 99.0) == best else next(name for name, gap in near.items() if gap == best)
        )

    def _may_own(self, label: Place[str], span: Place[str]) -> bool:
        """Can the slot of a label have a value there? "Looking after it: cut off brown tips" tells no time of day."""
        slot = self._slots[label.value]
        return self.could_have(slot, span) or (slot.kind == "text" and self._is_part(label, span))

    def could_have(self, slot: SpokenSlot, span: Place[str]) -> bool:
        """Could what stands at a place be a value of the slot?"""
        return any(value.place.first < span.last and span.first < value.place.last for value in self.told(slot))

    def _is_part(self, label: Place[str], span: Place[str]) -> bool:
        """Is it but a part of the text that a label introduces? The north of "address: 12 North Road" is no area."""
        words, (_, last) = self.reply.lower, self.scope(label)
        if words[label.last : label.last + 1] not in ((":",), ("=",), ("is",)) or span.last > last:
            return False
        rest = {*range(label.last + 1, last)} - {*range(span.first, span.last)}
        return span.first > label.last and any(words[at].isalnum() for at in rest)

    def _begins_its_own(self, label: Place[str], span: Place[str]) -> bool:
        """Does a label behind a value belong to what follows? "TR1465, duration: 85 minutes"."""
        between, words = self.reply.lower[span.last : label.first], self.reply.lower
        following = words[label.last] if label.last < len(words) else ""
        return following in (":", "=", "is", "are") or any(word in (",", ";", "(", "-", "and") for word in between)

    def _is_money(self, span: Place[str]) -> bool:
        around = self.reply.lower[max(0, span.first - 1) : span.last + 1]
        return any(word in CURRENCIES for word in around)

    def _same(self, label: Place[str], span: Place[str]) -> bool:
        return label.first >= span.first and label.last <= span.last

    def _heading(self, segment: int) -> list[Place[str]]:
        """The labels of the segment before where that is a mere heading: "**Price**" and below it the value."""
        before = self.labels.get(segment - 1, [])
        words = self.reply.segment(segment - 1) if before else ()
        if words and words[-1] == "?":  # "And the fee? That's 12 euros."
            following = self.reply.segment(segment)[:1]
            return before if len(words) <= 9 and following and following[0] in _ANSWERING else []
        return before if words and len(words) <= 5 else []

    def scope(self, label: Place[str]) -> tuple[int, int]:
        """The tokens around a label up to those that belong to other labels."""
        tokens, segment = self.reply.tokens, self.reply.tokens[label.first].segment
        inside = [index for index, token in enumerate(tokens) if token.segment == segment]
        first, last = inside[0], inside[-1] + 1
        for other in self.labels.get(segment, ()):
            if other.value == label.value or other.first == label.first:
                continue
            if other.last <= label.first:
                first = max(first, self._cut(other.last, label.first))
            elif other.first >= label.last:
                last = min(last, self._cut(label.last, other.first))
        return first, last

    def _cut(self, after: int, before: int) -> int:
        """Where between two labels the talk goes from one to the other."""
        tokens = self.reply.tokens
        for index in range(after, before):
            inside = tokens[index].text == "-" and tokens[index].start == tokens[index - 1].end  # B-12
            if tokens[index].text in (",", "and", "plus", "with", "-", "/", "|", "(") and not inside:
                return index
        return before

    def unknown(self, slot: SpokenSlot, *, left: int) -> bool:
        """Is it told that the slot's value is not known?

        ``left`` is how many slots were asked for and not answered, this one among them: "I don't know" without a label
        is said of them all if it is said as often. Zero where the slot was not asked for.
        """
        labels = [label for labels in self.labels.values() for label in labels if label.value == slot.name]
        if any(self._denies(label, slot) or self._is_asked_in_vain(label) for label in labels):
            return True
        if left > 1:
            segments = {token.segment for token in self.reply.tokens}
            bare = [self.reply.segment(segment) for segment in segments if not self.labels.get(segment)]
            return not labels and sum(self._is_unknown(" ".join(words)) for words in bare) >= left
        return left == 1 and not labels and self._is_unknown(" ".join(self.reply.lower))

    def _denies(self, label: Place[str], slot: SpokenSlot) -> bool:
        """Is the value of a label told as unknown? "No fee" is an amount, "no parking" an answer."""
        first, last = self.scope(label)
        if slot.kind not in ("yes-no", "number") and self.reply.lower[max(0, label.first - 1)] == "no":
            return True
        return self._is_unknown(" ".join(self.reply.lower[first:last])) or self._is_blank(label, last)

    def _is_asked_in_vain(self, label: Place[str]) -> bool:
        """Is the question repeated and then not answered, as in "Shampoo? No idea, sorry."?"""
        segment = self.reply.tokens[label.first].segment
        if segment not in self.reply.questions or label.last + 1 >= len(self.reply.tokens):
            return False
        answered = self.reply.lower[label.last] == "?" and not self.labels.get(segment + 1)
        return answered and self._is_unknown(" ".join(self.reply.segment(segment + 1)))

    def lacks(self, slot: SpokenSlot) -> Literal["", "perhaps", "yes"]:
        """Does the reply say that the slot has no value? ``perhaps`` if it says so without naming any slot."""
        said: Literal["", "perhaps"] = ""
        for segment in dict.fromkeys(token.segment for token in self.reply.tokens):
            labels = self.labels.get(segment, ())
            scopes = [self.scope(label) for label in labels if label.value == slot.name]
            if any(_LACKING & {*self.reply.lower[first:last]} for first, last in scopes):
                return "yes"
            words = _IDIOMS.sub(" ", " ".join(self.reply.segment(segment))).split()
            said = "perhaps" if not labels and _LACKING & {*words} else said
        return said

    def is_unread(self, slot: SpokenSlot) -> bool:
        """Does the reply speak of a slot by its own name in words that tell nothing we can read?"""
        if any(values_in(self.reply, slot)):
            return False
        for segment, labels in self.labels.items():
            words = self.reply.segment(segment)
            own = [label for label in labels if label.value == slot.name]
            named = [label for label in own if phrase_of(self.reply.words(label)) in slot.own_names]
            if named and segment not in self.reply.questions and not _PUTS_OFF.intersection(words):
                first, last = self.scope(named[0])
                if sum(word.isalpha() for word in self.reply.lower[first:last]) > named[0].last - named[0].first + 1:
                    return True
        return False

    @staticmethod
    def _is_unknown(words: str) -> bool:
        plain = words.replace(" n't", "n't").replace("n't", " n't").replace("  ", " ")
        return _UNKNOWN.search(_IDIOMS.sub(" ", plain)) is not None

    def _is_blank(self, label: Place[str], last: int) -> bool:
        rest = self.reply.lower[label.last : last]
        signs = [word for word in rest if word not in (":", ".", "=", "is")]
        return rest[:1] != ("?",) and bool(signs) and all(word in _BLANKS for word in signs)

    def polarity(self, slot: SpokenSlot, *, alone: bool) -> str:
        """``yes``, ``no``, ``both``, ``perhaps`` (a label and nothing said against it), or nothing."""
        polarities: list[str] = []
        for labels in self.labels.values():
            for label in labels:
                if label.value == slot.name:
                    polarities.append(self._said_of(label))
        outright = {polarity for polarity in polarities if polarity in ("yes", "no", "both")}
        if len(outright) == 1:
            return outright.pop()
        if outright:
            return "both"
        bare = self._bare() if alone else ""
        return bare or ("perhaps" if "perhaps" in polarities else "")

    def _said_of(self, label: Place[str]) -> str:
        first, last = self.scope(label)
        segment = self.reply.tokens[label.first].segment
        words = list(self.reply.lower[first:last])
        asks = segment in self.reply.questions and not self._questions
        field = self.reply.lower[label.last : label.last + 3]
        if asks and field[:1] == (":",) and field[2:] == (",",) and field[1] in _YES | _NO:  # "manual: n, else?"
            return "yes" if field[1] in _YES else "no"
        if asks and words and (words[0] in _INTERROGATIVE or words[-1] == "?"):
            return ""
        if not set(words) & (NEGATION | _ASSERTING | _YES | _NO):  # "parking and wifi are both included"
            until = max(index for index, token in enumerate(self.reply.tokens) if token.segment == segment) + 1
            words += list(self.reply.lower[last:until])
        rest = self.reply.lower[label.last : last]
        text = _IDIOMS.sub(" ", " ".join(words).replace(" n't", " not"))
        plain = text.split()
        explicit = {"yes" for word in plain if word in _YES} | {
            "no" for word in plain if word in ("no", "nope", "false", "n")
        }
        if _is_choice(plain) or explicit == {"yes", "no"}:
            return "both"
        if any(word in NEGATION for word in plain):
            return "no"
        asserted = explicit or any(word in _ASSERTING for word in plain) or (rest[:1] == (":",) and len(rest) > 1)
        return (
            "yes"
            if asserted and not (rest[:1] == (":",) and not explicit and not set(plain) & _ASSERTING)
            else "perhaps"
        )

    def _bare(self) -> str:
        """A yes or no that begins a sentence, or is all of a line."""
        polarities = set()
        starts = [
            index
            for index, token in enumerate(self.reply.tokens)
            if not index or token.segment != self.reply.tokens[index - 1].segment
        ]
        for place in starts:
            words = self.reply.segment(self.reply.tokens[place].segment)
            plain = _IDIOMS.sub(" ", " ".join(words).replace(" n't", " not")).split()
            if not plain or plain[-1] == "?":
                continue
            if _is_choice(plain):
                polarities.add("both")
            elif plain[0] in _YES or (
                plain[0] in ("it", "they", "there", "that")
                and plain[1:2]
                and plain[1] in _ASSERTING
                and "not" not in plain
                and "no" not in plain
                and len(plain) < 6
            ):
                polarities.add("yes")
            elif plain[0] in _NO or (
                plain[0] in ("it", "they", "there", "unfortunately", "sorry", "that")
                and set(plain[:5]) & {"not", "no", "cannot", "lacks"}
            ):
                polarities.add("no")
        return polarities.pop() if len(polarities) == 1 else "both" if polarities else ""


def labels_of(slots: Mapping[str, SpokenSlot]) -> dict[str, tuple[str, ...]]:
    """The phrases that name slots, each with those that it names."""
    labels: dict[str, tuple[str, ...]] = {}
    for slot in slots.values():
        for phrase in slot.labels:
            labels[phrase] = (*labels.get(phrase, ()), slot.name)
    return labels


def _longest(places: Sequence[Place[str]]) -> list[Place[str]]:
    """The labels that do not lie in a longer one: not "from" in "from hour"."""
    return [
        span
        for span in places
        if not any(
            other.first <= span.first and span.last <= other.last and other.last - other.first > span.last - span.first
            for other in places
        )
    ]


def _is_choice(words: Sequence[str]) -> bool:
    """ "yes/no", "[yes] [no]", "yes or no": both are named to choose from."""
    positive = [index for index, word in enumerate(words) if word in ("yes", "y")]
    negative = [index for index, word in enumerate(words) if word in ("no", "n")]
    return any(
        abs(position - other) <= 4
        and all(
            word in ("/", "or", "|", "[", "]", "(", ")", ",", "-")
            for word in words[min(position, other) + 1 : max(position, other)]
        )
        for position in positive
        for other in negative
    )
