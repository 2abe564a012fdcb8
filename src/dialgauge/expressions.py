"""Regular expressions that people write in their files: compiled, and refused if a text could hold them up forever.

Python tries every way in which the repetitions of an expression can share out a text before it gives up. If two of them
can take the same letters, with nothing between them that tells where one ends, the ways grow with the length of the
text (``\\d+\\.?\\d*$``), or double with every letter (``(a+)+$``) or choice (``a?a?a?``). A limit of time would hold in
the main thread only, so such an expression is refused when it is read, and some harmless ones with it. What is left is
meant to take at worst a time that grows with the square of the length, which :data:`LONGEST` bounds.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from re import _constants as sre, _parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

from dialgauge.errors import DialgaugeError

#: Letters of a text on which an expression from a file is tried.
LONGEST = 10_000

#: What Python's own parser makes of an expression: pairs of an operation and what it works on.
_Items: TypeAlias = Iterable[tuple[Any, Any]]

#: One letter of each kind that expressions tell apart.
_LETTERS = frozenset(map(chr, range(0x20, 0x7F))) | frozenset("\t\n\x00é£²中")
#: A repetition that takes at most so many letters more or fewer is a choice like ``(a|b)``: it costs a factor.
_FEW = 10
#: In how many ways choices may be made together, and how many items there may be with repetitions written out.
_MOST_CHOICES, _MOST_ITEMS = 1_000, 100_000
_GIVING_BACK = (sre.MAX_REPEAT, sre.MIN_REPEAT)
_ONE_LETTER = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY)
_CATEGORIES = {
    sre.CATEGORY_DIGIT: re.compile(r"\d"),
    sre.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    sre.CATEGORY_SPACE: re.compile(r"\s"),
    sre.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    sre.CATEGORY_WORD: re.compile(r"\w"),
    sre.CATEGORY_NOT_WORD: re.compile(r"\W"),
}


def compiled(expression: str, what: str) -> re.Pattern[str]:
    """A regular expression that a person wrote; ``what`` says where: ``rule 2``.

    Python's own limits show as errors of several kinds: of numbers, of nesting, of the size of the machine it builds.
    """
    shown = expression if len(expression) <= 80 else f"{expression[:80]}…"
    try:
        with warnings.catch_warnings():  # what may come to mean something else one day; today it has a meaning
            warnings.simplefilter("ignore", FutureWarning)
            pattern = re.compile(expression)
            ambiguous = is_ambiguous(_parser.parse(expression))
    except (re.error, RecursionError, OverflowError, ValueError, MemoryError) as error:
        reason = str(error) or "nested too deeply"
        raise DialgaugeError(f"{what}: '{shown}' is not a valid regular expression ({reason})") from error
    if ambiguous:
        raise DialgaugeError(
            f"{what}: '{shown}' could take forever over a long text: its repetitions or choices can match it in many "
            "ways; make repetitions possessive (\\s*+ or [a-z]++ instead of \\s* or [a-z]+), or use fewer of them"
        )
    return pattern


def is_ambiguous(items: _Items) -> bool:
    """Whether repetitions can share out one run of letters in several ways, or choices multiply."""
    written = list(items)
    try:
        if _choices(written) > _MOST_CHOICES or _items(written) > _MOST_ITEMS:
            return True
        _walk(_that_can_fail(written), frozenset())
    except _Ambiguous:
        return True
    return False


def _choices(items: _Items) -> int:
    """In how many ways the choices among the items can be made, long repetitions apart."""
    ways = 1
    for kind, value in items:
        if kind in _GIVING_BACK and value[1] - value[0] <= _FEW:
            least, most, body = value
            ways *= (most - least + 1) * min(_choices(body), _MOST_CHOICES) ** min(most, _MOST_CHOICES)
        elif kind in (sre.BRANCH, sre.GROUPREF_EXISTS):
            ways *= sum(_choices(branch or ()) for branch in (value[1] if kind is sre.BRANCH else value[1:]))
        else:
            ways *= _choices(_body(kind, value))
        if ways > _MOST_CHOICES:
            break
    return ways


def _items(items: _Items) -> int:
    """How many items there are with the repetitions that must be made written out."""
    count = 0
    for kind, value in items:
        if kind is sre.BRANCH:
            count += sum(map(_items, value[1]))
        else:
            times = value[0] if kind in (*_GIVING_BACK, sre.POSSESSIVE_REPEAT) else 1
            count += max(1, times) * max(1, _items(_body(kind, value)))
    return count


def _body(kind: Any, value: Any) -> _Items:
    """The items inside an item that holds some in a row."""
    if kind in (*_GIVING_BACK, sre.POSSESSIVE_REPEAT):
        body: _Items = value[2]
    elif kind is sre.SUBPATTERN:
        body = value[3]
    elif kind is sre.ATOMIC_GROUP:
        body = value
    else:
        body = value[1] if kind in (sre.ASSERT, sre.ASSERT_NOT) else ()
    return body


def _that_can_fail(items: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The items without what an expression that is searched for can do without at its end: nothing tries it again."""
    while items:
        kind, value = items[-1]
        if kind is sre.SUBPATTERN:
            items = [*items[:-1], *value[3]]
        elif kind in _GIVING_BACK and value[0] <= 1:
            least, _, body = value
            _walk(body, frozenset())
            if least:
                return [*items[:-1], *body]
            items = items[:-1]
        else:
            break
    return items


class _Ambiguous(Exception):
    """Raised to stop the search when an ambiguity is found."""


def _walk(items: _Items, taken: frozenset[str]) -> frozenset[str]:
    """The letters that a repetition before the end of the items may have taken, if nothing ended it since."""
    for kind, value in items:
        if kind in _GIVING_BACK:
            least, most, body = value
            taken = _after_repetition(least, most, body, taken)
        elif kind is sre.BRANCH:
            taken = frozenset().union(*(_walk(branch, taken) for branch in value[1]))
        elif kind is sre.SUBPATTERN:
            taken = _walk(value[3], taken)
        elif kind is sre.POSSESSIVE_REPEAT:
            _walk(value[2], frozenset())
        elif kind in (sre.ATOMIC_GROUP, sre.ASSERT, sre.ASSERT_NOT):
            _walk(value if kind is sre.ATOMIC_GROUP else value[1], frozenset())
        elif kind is sre.GROUPREF_EXISTS:
            taken = frozenset().union(*(_walk(branch or (), taken) for branch in value[1:]))
        elif kind in _ONE_LETTER and not taken & _letters(kind, value):
            taken = frozenset()  # a letter that the repetition cannot have taken
    return taken


def _after_repetition(least: int, most: int, body: _Items, taken: frozenset[str]) -> frozenset[str]:
    if most > 1 and _varies(body):
        raise _Ambiguous
    if most - least > _FEW:
        letters = _all_letters(body)
        if taken & letters:
            raise _Ambiguous
        return letters if least else taken | letters
    after = _walk(body, taken)
    return after if least else taken | after


def _varies(items: _Items) -> bool:
    """Whether there are several ways to take the items."""
    return any(
        kind is sre.BRANCH or (kind in _GIVING_BACK and value[0] != value[1]) or _varies(_body(kind, value))
        for kind, value in items
        if kind not in (sre.ATOMIC_GROUP, sre.POSSESSIVE_REPEAT)
    )


def _all_letters(items: _Items) -> frozenset[str]:
    """The letters that can occur in what the items take."""
    letters: frozenset[str] = frozenset()
    for kind, value in items:
        if kind in _ONE_LETTER:
            letters |= _letters(kind, value)
        elif kind in (*_GIVING_BACK, sre.POSSESSIVE_REPEAT):
            letters |= _all_letters(value[2])
        elif kind is sre.SUBPATTERN:
            letters |= _all_letters(value[3])
        elif kind not in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            return _LETTERS
    return letters


def _letters(kind: Any, value: Any) -> frozenset[str]:
    """The letters that an item for one letter takes; those that an expression names are among them."""
    if kind is sre.ANY:
        return _LETTERS
    if kind is sre.IN:
        return frozenset(letter for letter in _LETTERS | _named(value) if _is_in(letter, value))
    return _LETTERS - {chr(value)} if kind is sre.NOT_LITERAL else frozenset(_cases(chr(value)))


def _named(choices: _Items) -> frozenset[str]:
    named = (value for kind, value in choices if kind in (sre.LITERAL, sre.RANGE))
    return frozenset(chr(code) for value in named for code in (value if isinstance(value, tuple) else (value,)))


def _is_in(letter: str, choices: _Items) -> bool:
    inside, negated = False, False
    for kind, value in choices:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.CATEGORY:
            inside |= _CATEGORIES[value].match(letter) is not None
        else:
            low, high = value if kind is sre.RANGE else (value, value)
            inside |= any(low <= ord(case) <= high for case in _cases(letter))
    return inside != negated


def _cases(letter: str) -> set[str]:
    """The letter in both cases: an expression may ignore case."""
    return {case for case in (letter, letter.lower(), letter.upper()) if len(case) == 1}
