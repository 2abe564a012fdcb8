"""Runs as one HTML file to mail: the answers, the tables, and a choice of dialogues, with no server and no network."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from msgspec.structs import replace

from dialgauge.comparison import compare_runs, comparison_page, comparison_report, telling_dialogues
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.report import (
    Page,
    RunSet,
    html_pages,
    markdown_page,
    run_page,
    run_report,
    screen_tables,
    worst_dialogues,
)
from dialgauge.runs import Run

#: Dialogues of a report unless asked for more or others.
DIALOGUES = 40


def write_report(
    path: str | Path,
    runs: Run | RunSet | Sequence[Run],
    *,
    dialogues: int = DIALOGUES,
    only: Sequence[str] = (),
    title: str = "",
) -> Path:
    """Write a report on some runs, atomically. ``only`` names dialogues; else those that say most are chosen.

    >>> import dialgauge
    >>> gold = {"d1": [{"hotel-area": "north"}]}
    >>> results = dialgauge.score(gold, {"mine": gold}, intervals=False)
    >>> dialgauge.write_report("mine.html", results).name
    'mine.html'
    """
    target = Path(path)
    chosen = [runs] if isinstance(runs, Run) else list(runs.values() if isinstance(runs, Mapping) else runs)
    content = report_html(chosen, dialogues=dialogues, only=only, title=title)
    with atomic(target) as scratch:
        scratch.write_bytes(content.encode("utf-8", "backslashreplace"))
    return target


def report_html(runs: Sequence[Run], *, dialogues: int = DIALOGUES, only: Sequence[str] = (), title: str = "") -> str:
    """The text of the report."""
    if not runs:
        raise DialgaugeError("a report needs at least one run; name some")
    groups = _by_kind(runs)
    each, rest = divmod(dialogues, len(groups))
    pages = [page for place, own in enumerate(groups) for page in _pages(own, each + (place < rest), only)]
    _require(only, pages)
    named = title or ", ".join(dict.fromkeys(run.name for run in runs))
    pages = [replace(pages[0], title=named)] if len(pages) == 1 and title else pages
    return _without_folders(html_pages(pages, named), runs)


def report_markdown(runs: Sequence[Run]) -> str:
    """The same in short, as Markdown for a pull request."""
    pages = []
    for own in _by_kind(runs):
        try:
            pages.append(run_page(own[0], screen_tables(own[0])) if len(own) == 1 else _compared(own))
        except DialgaugeError as error:
            pages += [replace(run_page(run, screen_tables(run)), warnings=[f"Not compared: {error}"]) for run in own]
    return _without_folders("\n".join(map(markdown_page, pages)), runs)


def _compared(runs: Sequence[Run]) -> Page:
    return comparison_page(compare_runs(runs), ["scores", "differences"])


def _by_kind(runs: Sequence[Run]) -> list[list[Run]]:
    kinds: dict[str, list[Run]] = {}
    for run in runs:
        kinds.setdefault(run.kind, []).append(run)
    return list(kinds.values())


def _pages(runs: Sequence[Run], dialogues: int, only: Sequence[str]) -> Iterator[Page]:
    """One run in full; several as their comparison with dialogues side by side, then each by itself."""
    if len(runs) == 1:
        yield run_report(runs[0], _named(runs[0], only) if only else worst_dialogues(runs[0], dialogues))
        return
    problem = []
    try:
        comparison = compare_runs(runs)
        first = next(iter(comparison.runs.values()))
        yield comparison_report(comparison, _named(first, only) if only else telling_dialogues(comparison, dialogues))
    except DialgaugeError as error:
        problem = [f"Not compared: {error}"]
    for run in runs:
        page = run_report(run, _named(run, only) if problem else [])
        yield replace(page, warnings=[*problem, *page.warnings])


def _named(run: Run, only: Sequence[str]) -> list[str]:
    """Those of the dialogues that a run has."""
    known = {dialogue_key(name): name for name in run.table("dialogues")["dialogue"]}
    return [known[dialogue_key(name)] for name in only if dialogue_key(name) in known]


def _require(only: Sequence[str], pages: Sequence[Page]) -> None:
    held = {dialogue_key(transcript.dialogue) for page in pages for reading in page.dialogues for transcript in reading}
    if unknown := next((name for name in only if dialogue_key(name) not in held), None):
        raise DialgaugeError(f"no run of this report has a dialogue '{unknown}'")


def _without_folders(text: str, runs: Sequence[Run]) -> str:
    """The same without the folders of this machine: files go by their names in what is mailed."""
    named = {word for run in runs for word in (*run.manifest.command, *(given.path for given in run.manifest.inputs))}
    named |= {str(run.path) for run in runs if run.stored}
    paths = sorted((path for path in named if PurePath(path).is_absolute()), key=len, reverse=True)
    for path in paths:
        text = text.replace(path, PurePath(path).name).replace(html.escape(path), html.escape(PurePath(path).name))
    return re.sub(r"\n{3,}", "\n\n", text)
