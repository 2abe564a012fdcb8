"""Numbers in sentences, and text from anywhere made fit to be printed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

#: The code of notes that have none.
REMARK = "remark"
#: Where a word begins in a name like ``firstName``.
CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Note(str):
    """A sentence for the readers of scores, with the code of what it is about, by which programs choose it.

    >>> Note("coverage", "half of it was scored").kind
    'coverage'
    """

    kind: str

    def __new__(cls, kind: str, text: str) -> Note:
        note = super().__new__(cls, text)
        note.kind = kind
        return note

    def __reduce__(self) -> tuple[type[Note], tuple[str, str]]:
        return Note, (self.kind, str(self))


def note_kind(note: str) -> str:
    """The code of a note; one that somebody else wrote as plain text is a remark."""
    return note.kind if isinstance(note, Note) else REMARK


def named_note(name: str, note: str) -> Note:
    """A note of one system among several."""
    return Note(note_kind(note), f"{name}: {note}")


def counted(count: int, singular: str, many: str = "") -> str:
    """The count with its noun in the right number; the plural ends in s unless it is given.

    >>> counted(1, "dialogue"), counted(2000, "dialogue"), counted(0, "reply", "replies")
    ('1 dialogue', '2,000 dialogues', '0 replies')
    """
    return f"{count:,} {singular if count == 1 else many or f'{singular}s'}"


def times(count: int) -> str:
    """How often.

    >>> times(1), times(12)
    ('once', '12 times')
    """
    return "once" if count == 1 else f"{count:,} times"


#: How many names a sentence lists where each of them may have to be looked at.
MANY_NAMED = 8


def some_of(names: Iterable[str], most: int = 3) -> str:
    """The first of some names, and how many more there are.

    >>> some_of(["a", "b"]), some_of(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    listed = list(names)
    more = f" and {len(listed) - most:,} more" if len(listed) > most else ""
    return f"{', '.join(listed[:most])}{more}"


def listed(items: Sequence[str], most: int = 0) -> str:
    """Items as a list in a sentence; those beyond ``most`` are counted.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    if 0 < most < len(items):
        return some_of(items, most)
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


def upper_first(text: str) -> str:
    """The text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """The text on one line, ended by a full stop."""
    shown = plain(text).strip()
    return shown if shown.endswith((".", "!", "?")) else f"{shown}."


def capitalised(text: str) -> str:
    """A note, which is a sentence without its full stop, as a sentence."""
    return sentence(upper_first(text))


def split_at_commas(text: str) -> list[str]:
    """The pieces between commas that stand outside parentheses and brackets, which belong to the name of a measure.

    >>> split_at_commas("JGA, FGA(rule=paper,over=turns)[hotel]")
    ['JGA', ' FGA(rule=paper,over=turns)[hotel]']
    """
    pieces: list[str] = []
    end, later = len(text), {"()": "", "[]": ""}  # the next of each pair, seen from the left
    for index in range(len(text) - 1, -1, -1):
        letter = text[index]
        if letter == ",":
            if later["()"] != ")" and later["[]"] != "]":
                pieces.append(text[index + 1 : end])
                end = index
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


#: What stands where a key stood.
BLOT = "[key]"
_URL = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/?#@]*@)?([^\s/?#]*)([^\s?#]*)(?:[?#]\S*)?")
#: The segment before a key in a path, and names before an equals sign.
_NAMES_A_KEY = re.compile(
    r"(?:api|access|auth)?[-_]?(?:keys?|tokens?|secrets?|password|passwd|pwd)|bearer", re.IGNORECASE
)
#: How keys of well-known services begin.
_KEY_START = re.compile(r"(?:[sprd]k|hf|gh[oprsu]|github_pat|glpat|gsk|xox[a-z])[-_].{6}|A(?:Iza|KIA).{8}")
_HEX, _LONGEST_WORD, _SHORTEST_NAMED = 16, 20, 8


def without_secrets(text: str) -> str:
    """The text with its URLs bare of user, password and query, and of segments of the path that look like keys.

    >>> without_secrets("url=https://me:secret@host/bot?key=1"), without_secrets("https://host/v1/sk-0123456789/chat")
    ('url=https://host/bot', 'https://host/v1/[key]/chat')
    """
    return _URL.sub(lambda url: f"{url[1]}{url[2]}{'/'.join(_blotted(url[3].split('/')))}", text)


def secrets_in(url: str) -> list[str]:
    """What looks like a key in the path of an address, and like no word that a text may hold by chance."""
    keys = [key for match in _URL.finditer(url) for segment in _keys(match[3].split("/")) if (key := segment[1])]
    return [key for key in keys if _looks_like_a_key(key) or (len(key) >= _SHORTEST_NAMED and re.search("[0-9]", key))]


def _blotted(segments: list[str]) -> Iterator[str]:
    for segment, key in _keys(segments):
        yield segment.removesuffix(key) + BLOT if key else segment


def _keys(segments: list[str]) -> Iterator[tuple[str, str]]:
    """Each segment of a path, and what of it is a key: all of it, what stands behind ``key=``, or nothing."""
    before = ""
    for segment in segments:
        name, _, value = segment.rpartition("=" if "=" in segment else ":")
        if _NAMES_A_KEY.fullmatch(name.rpartition(";")[2]):
            yield segment, value
        else:
            # Behind a plural may come any word: /tokens/count.
            named = _NAMES_A_KEY.fullmatch(before) and (not before.endswith("s") or re.search("[0-9]", segment))
            yield segment, segment if named or _looks_like_a_key(segment) else ""
        before = segment


def _looks_like_a_key(segment: str) -> bool:
    """Whether a segment begins as keys do, is a long hexadecimal number, or has a long word with letters and digits."""
    segment = re.sub("%([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), segment)
    words = re.findall("[A-Za-z0-9]+", segment)
    signs = "".join(words)
    if _KEY_START.match(segment) or (len(signs) >= _HEX and re.fullmatch("[0-9A-Fa-f]+", signs)):
        return True
    long_words = (word for word in words if len(word) >= _LONGEST_WORD)
    return any(re.search("[0-9]", word) and re.search("[A-Za-z]", word) for word in long_words)
