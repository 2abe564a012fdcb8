"""What can be counted in a dialog of tasks 1 to 5, straight from its text, released or simulated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from dialgauge.dialogue import Dialogue
from dialgauge.worlds.restaurant import FIELDS, Request, load_world

PHRASES = load_world().phrases
USER = PHRASES.user


def _pattern(text: str) -> str:
    return re.sub(r"\\{\w+\\}", r"\\S+", re.escape(text))


#: Each request piece with its field; the longer variant is tried first.
PIECES = sorted(
    ((pattern, field) for field in FIELDS for pattern in USER.request[field]), key=lambda item: -len(item[0])
)
ANSWERS = [(re.compile(_pattern(pattern)), pattern) for field in FIELDS for pattern in USER.answer[field]]
SENTENCES = {
    sentence: group for group in ("thanks", "reject", "accept", "nothing_else") for sentence in getattr(USER, group)
} | {sentence: f"ask {about}" for about, sentences in USER.ask.items() for sentence in sentences}


def features(dialogues: Iterable[Dialogue]) -> dict[str, Counter[str]]:
    """Feature to category to count, over all dialogs."""
    counts: dict[str, Counter[str]] = {}
    for dialogue in dialogues:
        for feature, category in _of_dialogue(dialogue):
            counts.setdefault(feature, Counter())[category] += 1
    return counts


def first_request(dialogue: Dialogue) -> Request:
    """The request a dialog starts from: its first API call, or (tasks 3 and 4) what its facts have in common."""
    for turn in dialogue.turns:
        if turn.speaker == "system" and turn.text.startswith("api_call "):
            cuisine, location, size, price = turn.text.split()[1:]
            return cuisine, location, size, price
    facts = {fact.relation: fact.value for fact in dialogue.turns[0].results or ()}
    return facts["R_cuisine"], facts["R_location"], facts["R_number"], facts["R_price"]


def _of_dialogue(dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    users = [turn.text for turn in dialogue.turns if turn.speaker == "user"]
    bots = [turn.text for turn in dialogue.turns if turn.speaker == "system"]
    yield "greeting", users[0]
    yield from _request(users[1])
    updates = [text for text in users if text.startswith(USER.update)]
    if updates:
        yield "number of updates", str(len(updates))
        yield from _updates(updates)
    for user, bot in zip(users[2:], bots[1:], strict=False):
        if bot in PHRASES.bot.ask.values():
            yield f"answer to {PHRASES.read(bot).words[0]}", _answer(user)
    for text in users[2:]:
        if text in SENTENCES:
            yield SENTENCES[text], text
    questions = [SENTENCES[text] for text in users[2:] if SENTENCES.get(text, "").startswith("ask ")]
    if questions:
        yield "questions", " then ".join(questions)
    yield from _options(users, bots, dialogue)


def _request(text: str) -> Iterator[tuple[str, str]]:
    opener = next(opener for opener in USER.opener if text.startswith(opener))
    yield "opener", opener
    if " at " in text:
        return
    fields = []
    for pattern, field in _pieces(text.removeprefix(opener)):
        fields.append(field)
        if len(USER.request[field]) > 1:
            yield f"piece for {field}", pattern
    yield "number of fields", str(len(fields))
    yield f"which {len(fields)} fields", " ".join(sorted(fields))
    if len(fields) > 1:
        yield (
            "is the first piece before the second in the order of the bot",
            str(FIELDS.index(fields[0]) < FIELDS.index(fields[1])),
        )
        yield f"first of {' '.join(sorted(fields))}", fields[0]


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    rest = text
    while rest:
        for pattern, field in PIECES:
            found = re.match(rf" {_pattern(pattern)}(?= |$)", rest)
            if found:
                yield pattern, field
                rest = rest[found.end() :]
                break
        else:
            raise AssertionError(f"not a request: {text!r}")


def _updates(updates: list[str]) -> Iterator[tuple[str, str]]:
    fields = []
    for text in updates:
        opener = next(opener for opener in USER.update if text.startswith(opener))
        yield "update opener", opener
        ((_, field),) = _pieces(text.removeprefix(opener))
        fields.append(field)
    assert len(set(fields)) == len(fields)
    yield "first updated field", fields[0]
    yield f"which {len(fields)} updates", " ".join(sorted(fields))


def _answer(text: str) -> str:
    return next(pattern for compiled, pattern in ANSWERS if compiled.fullmatch(text))


def _options(users: list[str], bots: list[str], dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    """Whether each option that is not the last was accepted."""
    results = sum(len(turn.results or ()) for turn in dialogue.turns) // 7
    offered = 0
    for place, bot in enumerate(bots[:-1]):
        if PHRASES.read(bot).kind == "option":
            offered += 1
            if offered < results:
                yield "option that is not the last", "accepted" if users[place + 1] in USER.accept else "rejected"
