"""What an instruction has the user keep to itself: ids, numbers and addresses it is told not to give, or not to know.

The order may stand anywhere and name the thing by its kind, by its value, or by a word for what was named before. An
order that only forbids to come forward with something ("unless asked") says nothing about an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from dialgauge.users.faults.conversation_view import sentences
from dialgauge.users.faults.entities import entities

#: How instructions call the things that agents ask for.
_CALLED = {
    "user id": r"user[ -]?(?:id|name)s?|(?<=your )ids?"
    r"|(?:customer|client|account|member(?:ship)?|login|profile) (?:id|name|number|code)s?",
    "reservation id": r"(?:reservation|confirmation|booking) (?:id|number|code|reference)s?|record locators?"
    r"|(?<=which )(?:reservation|booking)|(?:reservation|booking)s?(?=\s*(?:$|[.,;:)]|(?:or|and|nor)\b))",
    "phone number": r"(?:tele)?phone(?: number)?s?",
    "order id": r"order (?:id|number)s?",
    "e-mail address": r"e-?mails?(?: address(?:es)?)?",
}
#: Kinds of things and how they are called.
_Called: TypeAlias = Mapping[str, str]
_EVERYTHING = re.compile(
    r"\b(?:personal|private|identifying|identity|account|contact) (?:information|info|data|details)\b"
    r"|\bwho you are\b|\byour identity\b|\byour (?:details|data)\b",
    re.IGNORECASE,
)
_GIVE = (
    r"(?:giv(?:e|es|ing|en)|provid\w+|shar(?:e|es|ed|ing)|tell\w*|told|say\w*|said|reveal\w*|disclos\w+|divulg\w+|"
    r"mention\w*|speak\w*|hand\w* (?:over|out)|stat(?:e|es|ed|ing)|suppl(?:y|ies|ied|ying)|spell\w*|send\w*|show\w*|"
    r"confirm\w*|(?<!an )answer\w*|remember\w*|know\w*|recall\w*|access|have|find|identify)"
)
#: Words between a "not" and what is not to be done; those that turn the sense round, or open another clause, are none.
_BETWEEN = r"(?:(?!(?:and|but|that|if|so|because|hesitate|forget|mind|fail|only|need|have)\b)[\w'-]+ ){0,6}?"
_KEEPS = re.compile(
    rf"(?:\b(?:not|never|nor|cannot|no longer|without|unable|unwilling|reluctant|hesitant|avoid|refrain)\b"
    rf"|\buncomfortable\b|n't\b) {_BETWEEN}{_GIVE}\b"
    rf"|\b(?:refus(?:e|es|ing)|declin(?:e|es|ing))\b(?: to {_GIVE}\b)?"
    r"|\b(?:forgot(?:ten)?|lost|misplaced|withhold|conceal|hide)\b|\bno (?:idea|memory|recollection|access)\b"
    r"|\b(?:wrong|false|fake|incorrect|made-up)\b"
    r"|(?<=\bkeep )[^,;:]{0,60}?\b(?:secret|confidential|hidden|private|to yourself)\b"
    r"|\b(?:is|are) (?:secret|confidential|private)\b",
    re.IGNORECASE,
)
_OF_THE_AGENT = re.compile(r"\b(?:agents?|representative|service|they|he|she)\W+(?:\w+\W+)?$", re.IGNORECASE)
#: The user is to wait for the question, and then to answer it; a question that must come twice is another matter.
_TILL_ASKED = re.compile(
    r"\b(?:unless|until|till|before)\b(?!.{0,80}\b(?:twice|times|again|second|third|insist\w*)\b).{0,80}"
    r"\b(?:ask\w*|request\w*|prompt\w*|need\w*|necessary)\b|(?<!at )\bfirst\b(?! \w+ (?:rounds|turns|messages|times))"
    r"|\bon your own\b|\bunasked\b|\bunprompted\b|\bthan (?:is )?(?:necessary|needed|asked)\b|\bnot asked\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[,;:()]|\b(?:but|so|because|although|even|since|and you|when|if|unless|until|before)\b", re.IGNORECASE
)
_CLAUSE_BREAK = re.compile(r"[,;:()]|\b(?:but|and you)\b", re.IGNORECASE)
#: Characters before and behind an order in which its object is looked for: no sentence that people write is longer.
_REACH = 400
_SEVERAL = re.compile(r"\b(?:them|these|those|both|either|any of)\b", re.IGNORECASE)
#: "You do not know whether ...": what is not known is a matter, no thing.
_A_MATTER = re.compile(r"\s+(?:if|whether|when|why|how|where)\b", re.IGNORECASE)
#: Who is told, and words that stand for what was named before: what is left after these is a thing of another kind.
_REFERS = re.compile(
    r"\b(?:to|with|the|an?|any|agents?|representatives?|service|customer|anyone|anybody|them|it|this|that|these|those|"
    r"both|either|of|one|what|which|was|is|were|are|at|all|first|hand|in|on|chat|phone|again|now|information|always|"
    r"and|or|under|circumstances|even|by|you|be)\b|[^\w]",
    re.IGNORECASE,
)
#: Words before an order that name nothing which "it" could mean.
_NAMES_NOTHING = re.compile(
    r"\b(?:you|do|does|if|when|asked|asks?|for|the|agents?|representative|service|but|and|also|however|please|want|say|"
    r"that|would|will|should|must|ca|wo|claim|pretend|insist|it|to|have|has|are|is|really|simply|just|keep|give|an?)\b|\W",
    re.IGNORECASE,
)


def secret_items(instruction: str, others: Iterable[str] = ()) -> frozenset[str]:
    """The kinds of things that the user is told not to give, of those that agents usually ask for and of ``others``.

    >>> sorted(secret_items("Your user id is ann_lee_2041. Do not share it, nor tell your phone number."))
    ['phone number', 'user id']
    >>> sorted(secret_items("Your user id is ann_lee_2041. Do not give it unless you are asked."))
    []
    >>> sorted(secret_items("Your PIN is 4821. Never share your PIN.", ["pin"]))
    ['pin']
    """
    called = {**{name: re.escape(name) for name in others}, **_CALLED}
    kept: set[str] = set()
    before = ""
    for sentence in sentences(instruction):
        for order in () if _TILL_ASKED.search(sentence) else _KEEPS.finditer(sentence):
            if not _OF_THE_AGENT.search(sentence[max(0, order.start() - 60) : order.start()]):
                kept.update(_objects(sentence, order, before, called))
        before = sentence
    return frozenset(kept)


def things_named(text: str) -> set[str]:
    """The kinds of things that a text names.

    >>> things_named("What is your user id?")
    {'user id'}
    """
    return {kind for _, kind in _named(text)}


def _objects(sentence: str, order: re.Match[str], before: str, called: _Called) -> set[str]:
    """What one order is about: what follows it, or where that only refers to something, what was named before."""
    rest = sentence[order.end() : order.end() + _REACH]
    clause = _CLAUSE_END.split(rest, maxsplit=1)[0]
    if _EVERYTHING.search(clause):
        return set(called)
    if named := [kind for _, kind in _named(f"{order[0]}{clause}", called)]:
        return {*named, *_listed_after(rest[len(clause) :], called)}
    if _A_MATTER.match(rest) and not re.match(r"refus|declin", order[0], re.IGNORECASE):
        return set()
    return (
        set()
        if _REFERS.sub("", clause)
        else _referred_to(
            sentence[max(0, order.start() - _REACH) : order.start()], before[-_REACH:], f"{order[0]}{clause}", called
        )
    )


def _referred_to(earlier: str, before: str, order: str, called: _Called) -> set[str]:
    """What an order without a thing of its own means: in its own clause, its sentence, or the sentence before."""
    own = _CLAUSE_BREAK.split(earlier)[-1]
    if named := [kind for _, kind in _named(own, called)]:
        return set(named)
    if _NAMES_NOTHING.sub("", own):
        return set()
    positions = _named(earlier, called) or ([] if _NAMES_NOTHING.sub("", earlier) else _named(before, called))
    named = [kind for _, kind in sorted(positions)]
    return set(named) if _SEVERAL.search(order) else set(named[-1:])


def _listed_after(rest: str, called: _Called) -> Iterator[str]:
    """Things of a list that goes on behind a comma: ", your e-mail or your phone number"."""
    for item in rest.split(",")[1:]:
        named = _named(item, called)
        if not named or not re.match(r"\s*(?:(?:or|nor|and|your|the|any)\s+)*$", item[: min(named)[0]]):
            return
        yield from (kind for _, kind in named)


def _named(text: str, called: _Called = _CALLED) -> list[tuple[int, str]]:
    """The kinds of things in a text with their places, by name or by value."""
    positions = [
        (match.start(), kind)
        for kind, name in called.items()
        for match in re.finditer(rf"\b(?:{name})(?!\w)", text, re.IGNORECASE)
    ]
    for entity in entities(text):
        kind = "reservation id" if entity.kind == "booking code" else entity.kind
        if kind in called:
            positions.append((text.find(entity.written), kind))
    return positions
