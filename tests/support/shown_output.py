"""What a page shows of a program's output, compared line by line with what the program printed.

What a page may do to the output that it shows:

    a line ``...``              any number of lines was left out
    ``...`` within a line       a part of the line was left out
    _VARIES                     what differs from one run to the next: the page shows an example

White space at the end of a line does not count, and neither do empty lines at either end.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

_CUT = "..."
#: Run ids (when, and a mark), addresses on this machine, times, and versions.
_VARIES = (
    (re.compile(r"\b\d{8}-\d{6}-([\w.-]+)-[0-9a-f]{4}\b"), r"<when>-\1-<mark>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:<port>"),
    (re.compile(r"\b\d+(?:\.\d+)? (s|seconds)\b"), r"<time> \1"),
    (re.compile(r"\b(v|version):\d+(?:\.\w+)+"), r"\1:<version>"),
)
#: How the comment after an expression begins where it is the expression's value.
_VALUE = re.compile(r"""[-+]?\d|['"\[{(<]|[A-Z]\w*\(|True\b|False\b|None\b""")


def steps(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    command, shown = "", ""
    for line in re.sub(r"\\\n\s*", "", body).splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], ""
        else:
            shown += f"{line}\n"
    if command:
        yield command, shown


def statements(code: str) -> Iterator[tuple[ast.stmt, str | None]]:
    """The statements of Python code, each with the value that the comment after it shows."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    comments = {one.start[0]: one.string.lstrip("# ") for one in tokens if one.type == tokenize.COMMENT}
    for node in ast.parse(code).body:
        comment = comments.get(node.end_lineno or 0, "")
        yield node, comment if isinstance(node, ast.Expr) and _VALUE.match(comment) else None


def difference(shown: str, printed: str) -> str | None:
    """Why this is not what was printed, in a sentence; nothing where it is."""
    expected, lines = _lines(shown), _lines(printed)
    segments: list[list[str]] = [[]]
    for line in expected:
        if line.strip() == _CUT:
            segments.append([])
        else:
            segments[-1].append(line)
    at = 0
    for number, segment in enumerate(segments):
        first, last = number == 0, number == len(segments) - 1
        end = len(lines) - len(segment)
        begins = range(at, end + 1)
        if first:
            begins = begins[:1]
        if last:
            begins = begins[-1:] if not first or at == end else range(0)
        found = next((begin for begin in begins if _same(segment, lines[begin:])), None)
        if found is None:
            return _why(segment, lines[at:])
        at = found + len(segment)
    return None


def value_differs(shown: str, value: object) -> str | None:
    """Why this is not the value, in a sentence; nothing where it is. A tuple may be shown without its brackets."""
    printed = repr(value)
    if any(_fits(shown, one) for one in (printed, printed[1:-1] if isinstance(value, tuple) else printed)):
        return None
    return f"it is {printed}, not {shown}"


def _lines(text: str) -> list[str]:
    for pattern, instead in _VARIES:
        text = pattern.sub(instead, text)
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def _same(segment: list[str], lines: list[str]) -> bool:
    return all(_fits(shown, line) for shown, line in zip(segment, lines, strict=False))


def _fits(shown: str, line: str) -> bool:
    if _CUT not in shown or shown == line:
        return shown == line
    return re.fullmatch(".*".join(map(re.escape, shown.split(_CUT))), line) is not None


def _why(segment: list[str], lines: list[str]) -> str:
    for shown in segment:
        if not any(_fits(shown, line) for line in lines):
            return f"this line was not printed: {shown}"
    return f"these lines were not printed one after the other there: {segment[0]} [{len(segment)} lines]"
