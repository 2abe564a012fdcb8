"""Numbers in sentences, and text from anywhere made fit to be printed."""

from __future__ import annotations

import re
import unicodedata


def counted(count: int, one: str, many: str = "") -> str:
    """The count with its noun in the right number; the plural ends in s unless it is given.

    >>> counted(1, "dialogue"), counted(2000, "dialogue"), counted(0, "reply", "replies")
    ('1 dialogue', '2,000 dialogues', '0 replies')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def times(count: int) -> str:
    """How often.

    >>> times(1), times(12)
    ('once', '12 times')
    """
    return "once" if count == 1 else f"{count:,} times"


def split_at_commas(text: str) -> list[str]:
    """The pieces between commas that stand outside parentheses and brackets, which belong to the name of a measure.

    >>> split_at_commas("JGA, FGA(rule=paper,over=turns)[hotel]")
    ['JGA', ' FGA(rule=paper,over=turns)[hotel]']
    """
    pieces: list[str] = []
    end, later = len(text), {"()": "", "[]": ""}  # the next of each pair, seen from the left
    for place in range(len(text) - 1, -1, -1):
        letter = text[place]
        if letter == ",":
            if later["()"] != ")" and later["[]"] != "]":
                pieces.append(text[place + 1 : end])
                end = place
        elif letter in "()":
            later["()"] = letter
        elif letter in "[]":
            later["[]"] = letter
    return [text[:end], *reversed(pieces)]


def plain(text: str) -> str:
    """One line without control characters: nothing a file holds may move the cursor or colour the screen.

    >>> plain("two\\nlines, \\x1b[31mred")
    'two lines, \\ufffd[31mred'
    """
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character in "\n\r\t\v\f\u2028\u2029":
        return " "
    # Cf holds the marks that reverse reading order, with which a name can look like another one. The last two code
    # points are no characters in XML, and so in no SVG.
    odd = unicodedata.category(character) in ("Cc", "Cf", "Cs") or character in "\ufffe\uffff"
    return "\ufffd" if odd else character


def encodable(text: str) -> str:
    """The text with what UTF-8 has no bytes for written out, as in names of files that are not UTF-8.

    >>> encodable("odd\\udcff.json")
    'odd\\\\udcff.json'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


_URL = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/?#@]*@)?([^\s?#]*)(?:[?#]\S*)?")


def without_secrets(text: str) -> str:
    """The text with its URLs bare of user, password and query, where keys are written.

    >>> without_secrets("url=https://me:secret@host/bot?key=1")
    'url=https://host/bot'
    """
    return _URL.sub(r"\1\2", text)
