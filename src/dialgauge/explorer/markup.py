"""Texts of conversations as HTML: the Markdown that agents write, words that were looked for; nothing in them acts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from markupsafe import Markup, escape

from dialgauge.explorer.templating import shown

#: Bold and code within a line; what stands between the signs has none of them, so that no text takes long.
_INLINE = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`")
_ITEM = re.compile(r"( {0,12})([-*•]|\d{1,3}[.)]) +(?=\S)")
_HEADING = re.compile(r"#{1,6} +(?=\S)")
#: Marked words of a text, and the shortest that is marked.
_MOST_WORDS = 40
_SHORTEST = 2


def said(text: str, words: Iterable[str] = (), wrong: Iterable[str] = (), right: Iterable[str] = ()) -> Any:
    """A text with its paragraphs, lists, bold words and code; ``words`` are marked, and what is wrong or right."""
    mark = _Marker(words, wrong, right)
    pieces: list[Any] = []
    for depth, lines in _blocks(shown(text).split("\n")):
        if depth is None:
            own = Markup("\n").join(_inline(line, mark) for line in lines)
            pieces.append(Markup('<p class="text" dir="auto">{}</p>').format(own))
        else:
            items = (Markup('<li class="{}" dir="auto">{}</li>').format(at, _inline(line, mark)) for at, line in lines)
            pieces.append(Markup('<ul class="said-list">{}</ul>').format(Markup("").join(items)))
    return Markup("").join(pieces)


def marked(text: str, words: Iterable[str] = (), wrong: Iterable[str] = (), right: Iterable[str] = ()) -> Any:
    """A text as it is, with words marked."""
    return _Marker(words, wrong, right).text(shown(text))


def search_words(text: str) -> list[str]:
    """What a search looks for: each word, or a phrase in quotation marks.

    >>> search_words('cheap "north side" Hotel')
    ['cheap', 'north side', 'hotel']
    """
    pieces = re.findall(r'"([^"]+)"|(\S+)', text.lower())
    return [phrase.strip() or word for phrase, word in pieces if phrase.strip() or word]


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int | None, list[Any]]]:
    """Paragraphs, and lists as the depth and text of each item."""
    kind: int | None = None
    block: list[Any] = []
    for line in lines:
        item = _ITEM.match(line)
        if item is not None:
            number = f"{item[2]} " if item[2][0].isdigit() else ""
            look = f"d{min(len(item[1]) // 2, 3)}" + (" numbered" if number else "")
            if kind is None and block:
                yield None, block
                block = []
            kind = 0
            block.append((look, number + line[item.end() :]))
            continue
        if kind is not None or (not line.strip() and block):
            if not line.strip() and kind is not None:
                continue
            yield kind, block
            kind, block = None, []
        if line.strip():
            block.append(_HEADING.sub("", line))
    if block:
        yield kind, block


def _inline(line: str, mark: _Marker) -> Any:
    pieces, end = [], 0
    for match in _INLINE.finditer(line):
        pieces.append(mark.text(line[end : match.start()]))
        tag = "<b>{}</b>" if match[1] is not None else "<code>{}</code>"
        pieces.append(Markup(tag).format(mark.text(match[1] if match[1] is not None else match[2])))  # noqa: S704 - ours
        end = match.end()
    return Markup("").join([*pieces, mark.text(line[end:])])


class _Marker:
    """Puts marks around words, whatever their case."""

    def __init__(self, words: Iterable[str], wrong: Iterable[str], right: Iterable[str]) -> None:
        kinds = ((words, ""), (right, "right"), (wrong, "wrong"))
        self._kinds = {word.lower(): kind for group, kind in kinds for word in group if len(word.strip()) >= _SHORTEST}
        longest = sorted(self._kinds, key=len, reverse=True)[:_MOST_WORDS]
        self._pattern = re.compile("|".join(map(re.escape, longest)), re.IGNORECASE) if longest else None

    def text(self, text: str) -> Any:
        if self._pattern is None:
            return escape(text)
        pieces, end = [], 0
        for match in self._pattern.finditer(text):
            kind = self._kinds.get(match[0].lower(), "")
            pieces.append(escape(text[end : match.start()]))
            pieces.append(Markup('<mark class="{}">{}</mark>').format(kind, match[0]))
            end = match.end()
        return Markup("").join([*pieces, escape(text[end:])])
