"""The one exception for what a user can fix, and the one for being told to stop.

The first is raised with a sentence that says what was wrong, where, and what to do. The command line prints it and
exits with code 2; anything else that escapes is a bug of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TYPE_CHECKING = False  # typing's own would cost a third of the time of `dialgauge --help`
if TYPE_CHECKING:
    from typing import TypeVar

    Name = TypeVar("Name", bound=str)

#: Letters of a sentence; a value from a file that makes it longer is cut in the middle.
_LONGEST = 2000


class DialgaugeError(Exception):
    """Something the user can fix: the message is one clear sentence, with the place when it is known.

    >>> import dialgauge
    >>> dialgauge.read("nowhere.json")
    Traceback (most recent call last):
    dialgauge.errors.DialgaugeError: nowhere.json: there is no such file or folder
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        dialogue: str | None = None,
        turn: int | None = None,
        line: int | None = None,
        example: str = "",
        advice: str = "",
    ) -> None:
        """``example`` is what would do instead, in lines of its own, ``advice`` which options would help.

        ``finding`` is the message without advice, for callers that do not have these options.
        """
        self.finding = message
        self.message = message = f"{message}; {advice}" if advice else message
        self.example = example
        self.file = file
        self.dialogue = dialogue
        self.turn = turn
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.sentence()}\n{self.example}" if self.example else self.sentence()

    def sentence(self) -> str:
        """What is wrong, with its place, without an example."""
        location = [
            text
            for text, known in (
                (f"{self.file}", self.file),
                (f"line {self.line}", self.line is not None),
                (f"dialogue {self.dialogue}", self.dialogue),
                (f"turn {self.turn}", self.turn is not None),
            )
            if known
        ]
        sentence = f"{', '.join(location)}: {self.message}" if location else self.message
        return sentence if len(sentence) <= _LONGEST else f"{sentence[: _LONGEST - 500]} … {sentence[-400:]}"

    def at(self, **location: str | int | None) -> DialgaugeError:
        """The same error with the place filled in where it was unknown (``file``, ``dialogue``, ``turn``, ``line``)."""
        for key, value in location.items():
            if getattr(self, key) is None:
                setattr(self, key, value)
        return self


class UnknownNameError(DialgaugeError, KeyError):
    """A name that a mapping of ours does not have; the message says which are near."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, as a plain ``kill`` or a scheduler sends it: all is kept that Ctrl-C keeps."""


def terminate(*_: object) -> None:
    """The handler of SIGTERM."""
    raise Terminated


def nearest(word: object, known: Iterable[str], *, most: int = 3, likeness: float = 0.5, listed: bool = True) -> str:
    """A hint for a misspelt name: `` Did you mean 'JGA'?``; where none is near, the known names if ``listed``."""
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(str(word).lower(), [name.lower() for name in names], n=most, cutoff=likeness)
    chosen = [name for low in dict.fromkeys(near) for name in names if name.lower() == low]
    if chosen:
        return " Did you mean " + " or ".join(f"'{name}'" for name in chosen[:most]) + "?"
    return f" Known: {', '.join(names)}." if names and listed else ""


def choice(text: str, known: Sequence[Name], what: str) -> Name:
    """The text as one of a few names; an error where it is none of them."""
    for name in known:
        if name == text:
            return name
    raise DialgaugeError(f"{what} must be {', '.join(known[:-1])} or {known[-1]} (got '{text}')")


def missing_extra(package: str, extra: str, purpose: str) -> DialgaugeError:
    """The error for an optional dependency that is not installed; it carries the line that installs it."""
    return DialgaugeError(f"{purpose} needs the package {package}; install it with: pip install 'dialgauge[{extra}]'")
