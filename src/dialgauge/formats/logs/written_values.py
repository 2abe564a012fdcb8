"""Values in texts that are neither JSON nor CSV: what other programs, and people, write about results.

Reports of tests in XML (JUnit), tables of Markdown, of HTML and drawn with bars, YAML, TOML, JSON values one after
another, Python's own way to write them, blocks of ``Task: buy`` lines, TAP. Each becomes what JSON would have held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import python_literal
from dialgauge.formats.logs.results import NAME, is_result, with_counts
from dialgauge.formats.logs.transcripts import transcripts_in
from dialgauge.formats.logs.wide_tables import is_wide

#: A longer text is no report that a person or a test runner wrote.
_LONGEST = 8 << 20
#: What the lines between the rows of a table consist of.
_RULE = frozenset("|+-=: \t─━┼├┤┌┐└┘┬┴│")
_BLOCK_LINE = re.compile(r"(?:[-*] )?\**([A-Za-z][\w #/-]{0,40}?)\**\s{0,9}[:=]\**\s(.{0,2000})")
_BLOCK_RULE = re.compile(r"[-=*#_ ]{3,200}")
_TAP = re.compile(r"(not ok|ok)\b\s{0,9}[0-9]{0,9}(?:\s-)?\s{0,9}([^#\n]{1,200})(?:#\s{0,9}(\w{1,20}))?")
_PYTHON = re.compile(r"[\[({\s]{1,9}'")
#: What parts documents of YAML in one file.
_DOCUMENT = re.compile(r"^---[ \t]{0,9}$", re.MULTILINE)
_FEWEST = 2
_CASE = "testcase"


def value_in(text: str) -> tuple[str, Any] | None:
    """What kind of a text it is, and the value that it means; None where it is none of these."""
    if not text.strip() or len(text) > _LONGEST or "\0" in text:
        return None
    start = text.lstrip()[:1]
    readers = _OF_TAGS if start == "<" else _OF_BRACKETS if start in "{[" else _OF_LINES
    return next(((kind, value) for kind, reader in readers.items() if (value := reader(text))), None)


def _xml(text: str) -> list[dict[str, Any]] | None:
    """The test cases of a report, or what is most often there with facts of its own."""
    from xml.etree.ElementTree import ParseError, XMLPullParser

    if "<!ENTITY" in text or any(tag in text[:2000].lower() for tag in ("<html", "<table")):
        return None
    parser: Any = XMLPullParser(["end"])
    records: dict[str, list[dict[str, Any]]] = {}
    try:
        parser.feed(text)
        for _, element in parser.read_events():
            inside = {child.tag: child.get("message") or child.text or child.tag for child in element}
            known = {**element.attrib, **inside}
            if element.tag == "testcase":
                records.setdefault(_CASE, []).append(_test_case(known, inside))
            elif element.tag.endswith("}UnitTestResult"):
                records.setdefault(_CASE, []).append(_unit_test(known))
            elif len(known) >= _FEWEST:
                records.setdefault(element.tag, []).append(known)
    except ParseError:
        return None
    cases = records.get(_CASE, [])
    several = len({case["class"] for case in cases}) > 1
    for case in cases:  # tests of one name in two classes are two
        owner, name = case.pop("class"), case[NAME]
        case[NAME] = f"{owner}.{name}" if several and owner else name
    return _of_tests(cases) or max(records.values(), key=len, default=[])


def _test_case(known: Mapping[str, Any], inside: Mapping[str, str]) -> dict[str, Any]:
    """A test case of JUnit; one that broke, or was left out, has no verdict."""
    success = None if {"error", "skipped"} & inside.keys() else "failure" not in inside
    case = {"class": known.get("classname", ""), NAME: known.get("name", ""), "success": success}
    broken = {"error": inside["error"][:200]} if "error" in inside else {}
    return {**case, **broken, **({"duration": known["time"]} if known.get("time") else {})}


def _unit_test(known: Mapping[str, Any]) -> dict[str, Any]:
    """A result of Visual Studio; one that is neither passed nor failed has no verdict."""
    success = {"Passed": True, "Failed": False}.get(known.get("outcome", ""))
    return {"class": "", NAME: known.get("testName", ""), "success": success}


def _of_tests(cases: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Test cases: a name that comes again is another trial; one that does not may hold the trial itself."""
    again = len({case[NAME] for case in cases}) < len(cases)
    return [{"test_name": case.pop(NAME), **case} if again else case for case in cases] or None


class _Tables(HTMLParser):
    """The cells of all tables of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        self._inside = tag in ("td", "th") or (self._inside and tag not in ("tr", "table"))
        if tag in ("td", "th") and self.tables and self.tables[-1]:
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in ("td", "th", "tr", "table")

    def handle_data(self, data: str) -> None:
        if self._inside and self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data


def _html(text: str) -> list[dict[str, Any]] | None:
    parser = _Tables()
    parser.feed(text)
    return _only_table(parser.tables)


def _notebook(text: str) -> list[dict[str, Any]] | None:
    """The only table of results that a notebook of Jupyter shows."""
    try:
        notebook = json.loads(text) if '"nbformat"' in text else None
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    parser = _Tables()
    for cell in cells if isinstance(cells, list) else ():
        for output in (cell.get("outputs") or ()) if isinstance(cell, dict) else ():
            shown = output.get("data", {}).get("text/html", "") if isinstance(output.get("data", {}), dict) else ""
            parser.feed("".join(shown) if isinstance(shown, list) else str(shown))
    return _only_table(parser.tables)


def _tables_of_bars(text: str) -> list[dict[str, Any]] | None:
    """The only table whose cells stand between bars, as Markdown and terminals draw them."""
    tables: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        drawn = line.strip().replace("│", "|").replace("┃", "|")
        if drawn.startswith("|") and drawn.endswith("|") and len(drawn) > 1:
            if not _RULE.issuperset(drawn):
                tables[-1].append([cell.strip().strip("*`") for cell in drawn[1:-1].split("|")])
        elif not drawn or not _RULE.issuperset(drawn):
            tables.append([])
    return _only_table(tables)


def _only_table(tables: Sequence[Sequence[Sequence[str]]]) -> list[dict[str, Any]] | None:
    """The rows of the only table of results; where none looks like one, of the only table."""
    found = []
    for table in tables:
        header, *rows = [[" ".join(cell.split()) for cell in row] for row in table] or [[]]
        alike = [row for row in rows if len(row) == len(header)]
        if len(header) >= _FEWEST and alike and len(alike) == len(rows) and len(set(header)) == len(header):
            found.append(with_counts([dict(zip(header, row, strict=True)) for row in rows]))
    results = [rows for rows in found if is_result(rows[0]) or is_wide(rows[0])]
    only = results or found
    return only[0] if len(only) == 1 else None


def _tap(text: str) -> list[dict[str, Any]] | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if not any(line.startswith(("TAP version", "1..")) for line in lines):
        return None
    found = [match for line in lines if (match := _TAP.match(line))]
    return _of_tests([{NAME: match[2].strip(), "success": None if match[3] else match[1] == "ok"} for match in found])


def _blocks(text: str) -> list[dict[str, str]] | None:
    """Blocks of lines that each give a name and a value, between rules or empty lines; all begin with one name."""
    blocks: list[dict[str, str]] = [{}]
    others = total = 0
    for line in text.splitlines():
        if not line.strip() or _BLOCK_RULE.fullmatch(line):
            blocks.append({})
            continue
        total += 1
        if (said := _BLOCK_LINE.fullmatch(line.strip())) is None:
            others += 1
        elif said[1] in blocks[-1]:
            blocks.append({said[1]: said[2].strip()})
        else:
            blocks[-1][said[1]] = said[2].strip()
    found = [block for block in blocks if block]
    firsts = {next(iter(block)) for block in found}
    return found if len(found) >= _FEWEST and len(firsts) == 1 and not others and len(found) * 2 <= total else None


def _yaml(text: str) -> Any:
    from dialgauge.yaml_file import parse_yaml

    first = next(line for line in text.splitlines() if line.strip())
    if not (first.startswith(("-", "#", "%")) or ":" in first):
        return None
    documents = [each for each in _DOCUMENT.split(text) if each.strip()]
    if len(documents) > 1 and all("\n---" not in f"\n{each}" for each in documents):
        values = [_yaml(each) for each in documents]
        return values if all(isinstance(value, dict) for value in values) else None
    try:
        content = parse_yaml(text, "the text").content
        return json.loads(json.dumps(content, default=str)) if isinstance(content, list | dict) else None
    except (DialgaugeError, TypeError, ValueError, RecursionError):
        return None


def _toml(text: str) -> dict[str, Any] | None:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _values_in_a_row(text: str) -> list[Any] | None:
    """JSON values one after another, over several lines each."""
    decoder, values, place = json.JSONDecoder(), [], 0
    try:
        while place < len(text):
            if text[place].isspace() or text[place] == ",":
                place += 1
                continue
            value, place = decoder.raw_decode(text, place)
            values.append(value)
    except (ValueError, RecursionError):  # also of a number that is out of range
        return None
    return values if len(values) >= _FEWEST else None


def _python_lines(text: str) -> list[Any] | None:
    """Values as Python writes them: a list of them, or one a line."""
    if _PYTHON.match(text) is None:
        return None
    whole = python_literal(text.strip())
    if isinstance(whole, list | tuple):
        return list(whole)
    values = [whole] if whole is not None else [python_literal(line) for line in text.splitlines() if line.strip()]
    return values if all(isinstance(value, dict | list) for value in values) else None


_OF_TAGS: Mapping[str, Callable[[str], Any]] = {"test cases in XML": _xml, "a table in HTML": _html}
_OF_BRACKETS: Mapping[str, Callable[[str], Any]] = {
    "a table in a notebook": _notebook,
    "JSON values one after another": _values_in_a_row,
    "values as Python writes them": _python_lines,
    "TOML": _toml,
}
#: Conversations under headings, which may not say how they went.
TRANSCRIPTS = "conversations in a text"
_OF_LINES: Mapping[str, Callable[[str], Any]] = {
    TRANSCRIPTS: transcripts_in,
    "a table drawn with bars": _tables_of_bars,
    "TAP": _tap,
    "blocks of names and values": _blocks,
    "YAML": _yaml,
    "TOML": _toml,
}
