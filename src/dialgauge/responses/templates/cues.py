"""Cues for what to say next: words of the user, the state of the talk, and what the bot said before.

Cues are texts, so that a weight can be read; a classifier numbers them. Values are left out of the user's words (their
kind stands there instead), so that nothing is learned about a particular cuisine or area.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialgauge.responses.templates.inventory import Ints
from dialgauge.responses.templates.talk import Talk

#: Groups of cues, each of which can be left out to see what it buys.
GROUPS = ("words", "state", "bot", "history")

_ALWAYS = "always"
_SILENT = "<silence>"


class Cues:
    """The cues of a point in a dialog; ``act_of`` maps templates to acts, so that paraphrases give the same cue.

    ``stand_in`` maps templates that training lacks to those that they count as.
    """

    def __init__(self, act_of: Ints, groups: Sequence[str] = GROUPS, stand_in: Ints | None = None) -> None:
        self._act_of, self._groups = act_of, tuple(groups)
        self._stand_in = np.arange(len(act_of)) if stand_in is None else stand_in
        self._fitting: dict[tuple[str, ...], int] = {}

    def of(self, talk: Talk) -> tuple[list[str], list[str]]:
        """(cues of the chosen groups, cues of all groups), each without repetition."""
        found = {
            "words": _words(talk),
            "state": [*_state(talk), *self._matches(talk)],
            "bot": [f"reply -{back}: {self._act(talk, back)}" for back in (1, 2)],
            "history": [f"said {self._stand_in[template]}" for template in talk.replies if template >= 0],
        }
        chosen, every = ([cue for group in groups for cue in found[group]] for groups in (self._groups, GROUPS))
        return list(dict.fromkeys([_ALWAYS, *chosen])), list(dict.fromkeys([_ALWAYS, *every]))

    def _act(self, talk: Talk, back: int) -> int:
        """The act of the reply so many replies back; -1 for a template unknown to training, -2 before the first."""
        template = talk.replies[-back] if len(talk.replies) >= back else -2
        return int(self._act_of[self._stand_in[template]]) if template >= 0 else template

    def _matches(self, talk: Talk) -> list[str]:
        """How many names of the knowledge base have all the values the user wishes."""
        wishes = tuple(talk.wish(field) for field in talk.lexicon.fields)
        if wishes not in self._fitting:
            wanted = {(field, value) for field, value in zip(talk.lexicon.fields, wishes, strict=True) if value}
            self._fitting[wishes] = sum(wanted <= facts.items() for facts in talk.lexicon.about.values())
        many = _size(self._fitting[wishes])
        return [f"matches {many}", f"matches {many} {_mentions(talk)} {_outcome(talk)}"]


def _words(talk: Talk) -> list[str]:
    """Words and adjacent pairs of the user's utterance."""
    words = [_typed(talk, word) for word in talk.words] or [_SILENT]
    pairs = zip(["^", *words], [*words, "$"], strict=True)
    return [*(f"word {word}" for word in words), *(f"words {one} {two}" for one, two in pairs)]


def _typed(talk: Talk, word: str) -> str:
    slot = talk.lexicon.value(word)
    return f"<{slot.kind}>" if slot else word


def _state(talk: Talk) -> list[str]:
    """Calls, results, proposals and wishes, alone and in the combinations that decide what is possible."""
    called = "just" if talk.just_called else "before" if talk.calls else "never"
    outcome, mentions, now, changes = _outcome(talk), _mentions(talk), _now(talk), _changes(talk)
    waiting = sum(name not in talk.offered for name in talk.results or ())
    filled = _filled(talk)
    cues = [
        f"called {called}",
        f"calls {_size(len(talk.calls))}",
        f"outcome {outcome}",
        f"outcome {outcome} called {called}",
        f"call {filled}",
        f"call {filled} {outcome} {called}",
        f"results {_size(len(talk.results or ()))}",
        f"waiting {_size(waiting)} called {called}",
        f"offered {_size(len(talk.offered))}",
        f"mentions {mentions}",
        f"mentions {mentions} {outcome} {called}",
        f"now {now}",
        f"now {now} {outcome} {bool(talk.offered)}",
        f"changes {changes}",
        f"changes {changes} {now} {outcome}",
        f"turn {_size(talk.turn)}",
    ]
    for field in talk.lexicon.fields:
        cues.extend(_of_field(talk, field))
    return cues


def _of_field(talk: Talk, field: str) -> list[str]:
    wish = talk.wish(field)
    cues = [f"{field} {_mention(talk, field)}", f"{field} {_change(talk, field)} {field in talk.now}"]
    if wish and not any(facts.get(field) == wish for facts in talk.lexicon.about.values()):
        cues.append(f"{field} unknown {field in talk.now}")
    if len({said.value for said in talk.by_user[field]}) > 1:
        cues.append(f"{field} several")
    return cues


def _outcome(talk: Talk) -> str:
    """Did the latest call find anything?"""
    if talk.results is None:
        return "none"
    return "some" if talk.results else "empty"


def _filled(talk: Talk) -> str:
    """Which fields the latest call set."""
    if not talk.calls:
        return "none"
    return "".join(
        "-" if value == field else "x" for field, value in zip(talk.lexicon.fields, talk.calls[-1], strict=True)
    )


def _mention(talk: Talk, field: str) -> str:
    if not talk.by_user[field]:
        return "."
    return "N" if field in talk.now else "o"


def _mentions(talk: Talk) -> str:
    """Per field: not mentioned by the user, mentioned now, or before."""
    return "".join(_mention(talk, field) for field in talk.lexicon.fields)


def _now(talk: Talk) -> str:
    return "".join("x" if field in talk.now else "-" for field in talk.lexicon.fields)


def _change(talk: Talk, field: str) -> str:
    wish = talk.wish(field)
    if not wish:
        return "."
    return "=" if talk.calls and talk.calls[-1][talk.lexicon.fields.index(field)] == wish else "!"


def _changes(talk: Talk) -> str:
    """Per field: no wish, the value of the latest call, or another."""
    return "".join(_change(talk, field) for field in talk.lexicon.fields)


def _size(number: int) -> str:
    """A number, roughly."""
    if number < 3:
        return str(number)
    return "3-5" if number < 6 else "6-10" if number < 11 else "11+"
