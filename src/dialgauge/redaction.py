"""Texts without the personal data that rules can find: stand-ins for addresses, numbers, keys and known values.

The same value has the same stand-in wherever it stands. Names of people, postal addresses and whatever else has no
shape of its own are not found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.text import counted, times

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
_PHONE = re.compile(
    r"(?<![\w+])\+\d(?:[ ().-]{0,2}\d){7,14}(?!\w)"
    r"|(?<!\w)\(\d{3}\)[ .-]?\d{3}[ .-]\d{4}(?!\w)|(?<![\w-])\d{3}[-. ]\d{3}[-. ]\d{4}(?![\w-])"
)
_KEY = re.compile(
    r"(?<!\w)(?:sk|pk|rk)[-_][\w-]{16,}|(?<!\w)(?:AKIA|ASIA)[0-9A-Z]{16}(?!\w)|(?<!\w)gh[opsu]_\w{20,}"
    r"|(?<!\w)xox[abprs]-[\w-]{10,}|(?<!\w)eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?<!\w)AIza[\w-]{30,}"
    r"|(?<![\w/+-])(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Za-z])[A-Za-z0-9+/_-]{40,}={0,2}(?![\w/+])"
)
#: A value behind the name of a secret.
_SECRET = re.compile(
    r"(?P<name>\b(?:api[ _-]?key|access[ _-]?token|auth[ _-]?token|secret|password|passwd|bearer)\b[\"']?"
    r"(?:\s+is\s+|\s*[:=]\s*|\s+(?=\S*\d))[\"']?)"
    r"(?P<value>[^\s\"',;]{6,})",
    re.IGNORECASE,
)
#: What has two values of its own, whatever else they may be.
_SPEAKER = "speaker"
#: Shorter values are too common to be replaced wherever they stand.
_SHORTEST = 4
#: How many values one expression looks for.
_AT_ONCE = 500
#: Words in which the kinds are counted.
_KINDS = {
    "e-mail": "e-mail address", "phone": "phone number", "card": "card number", "key": "key or token",
    "known": "value that a user knows",
}  # fmt: skip
_PLURALS = {"e-mail": "e-mail addresses", "key": "keys or tokens", "known": "values that users know"}


class Redactor:
    """Texts with stand-ins. One redactor serves everything that is shown together."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = sorted({value.strip() for value in known}, key=lambda value: (-len(value), value))
        long_enough = [value for value in values if len(value) >= _SHORTEST]
        self.too_short = len(values) - len(long_enough)
        self._known = [
            re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, some))})(?!\w)", re.IGNORECASE)
            for some in _pieces(long_enough, _AT_ONCE)
        ]
        self._stand_ins: dict[tuple[str, str], str] = {}
        self._values: Counter[str] = Counter()
        #: How often a value of each kind was replaced.
        self.replaced: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """A text with stand-ins for what was found in it.

        >>> Redactor().text("ann@example.com or 415-555-0123, and ann@example.com")
        '[e-mail 1] or [phone 1], and [e-mail 1]'
        """
        text = _SECRET.sub(lambda found: f"{found['name']}{self._stand_in('key', found['value'])}", text)
        text = _EMAIL.sub(self._by("e-mail"), text)
        for pattern in self._known:
            text = pattern.sub(self._by("known"), text)
        text = _KEY.sub(self._by("key"), text)
        text = _CARD.sub(lambda found: self._stand_in("card", found[0]) if _is_card(found[0]) else found[0], text)
        return _PHONE.sub(self._by("phone"), text)

    def value(self, value: Any) -> Any:
        """The same for all texts in a JSON value; names of members stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        if isinstance(value, dict):
            return {key: one if key == _SPEAKER else self.value(one) for key, one in value.items()}
        return value

    def dialogue(self, dialogue: Dialogue) -> Dialogue:
        """A dialogue with stand-ins in its id, its texts, calls, goal and outcome."""
        return msgspec.convert(self.value(msgspec.to_builtins(dialogue)), Dialogue)

    def sentence(self) -> str:
        """How much was replaced, and that this is not all that there may be."""
        told = [
            f"{counted(self._values[kind], word, _PLURALS.get(kind, ''))} ({times(self.replaced[kind])})"
            for kind, word in _KINDS.items()
            if self._values[kind]
        ]
        short = f"; left, as shorter than {_SHORTEST} letters: {counted(self.too_short, 'known value')}"
        short = short if self.too_short else ""
        return (
            f"replaced: {', '.join(told) or 'nothing'}{short}. Names, postal addresses and other words without a shape "
            "of their own are not found: read it before you pass it on"
        )

    def _by(self, kind: str) -> Callable[[re.Match[str]], str]:
        return lambda found: self._stand_in(kind, found[0])

    def _stand_in(self, kind: str, value: str) -> str:
        plain = re.sub(r"[ ().-]", "", value) if kind in ("phone", "card") else value.lower()
        self.replaced[kind] += 1
        key = (kind, plain)
        if key not in self._stand_ins:
            self._values[kind] += 1
            self._stand_ins[key] = f"[{kind} {self._values[kind]}]"
        return self._stand_ins[key]


def _is_card(written: str) -> bool:
    """Whether a number has the check digit of card numbers (Luhn)."""
    digits = [int(letter) for letter in written if letter.isdigit()]
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _pieces(values: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    return (values[start : start + most] for start in range(0, len(values), most))
