"""Runs as one HTML file to mail: the answers, the tables, and a choice of dialogues, with no server and no network.

It is made of the same views and templates as the pages. Its one script is named by checksum in its own content policy,
so nothing else in the file could run, wherever it came from.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path, PurePath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dialgauge._version import __version__
from dialgauge.comparison import compare_runs, divergence_sizes
from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.breakdowns import BarChart, bar_charts
from dialgauge.explorer.comparing import Ranking, ranking, ranking_charts
from dialgauge.explorer.dialogue_list import DialogueList
from dialgauge.explorer.dialogue_query import DialogueQuery
from dialgauge.explorer.library import Library, stored_as_expected
from dialgauge.explorer.reading_list import ReadingList, reading_list
from dialgauge.explorer.sentences import run_sentences
from dialgauge.explorer.sides import MOST_SIDES, SideBySide, side_by_side
from dialgauge.explorer.summary import markdown_summary
from dialgauge.explorer.templating import render, shown
from dialgauge.files import atomic
from dialgauge.kinds import kind_named
from dialgauge.presentation import DialogueView, Panel, pages_of, run_charts
from dialgauge.rendering import RunSet, Table, drawn, markdown, missing_drawer, run_tables, unchecked
from dialgauge.runs import Run
from dialgauge.text import counted

#: Dialogues of a report unless asked for more or others.
DIALOGUES = 40
#: Tables about a run that are printed too.
_FACTS = ("scores", "coverage")
#: Charts of a comparison that a report shows, in this order.
_CHARTS = ("intervals",)


class Chart(Struct, frozen=True):
    """A chart as a picture inside the file."""

    name: str
    source: str


class RunPart(Struct, frozen=True):
    """A run in a report."""

    run: Run
    sentences: Sequence[str]
    tables: Sequence[Table]
    facts: Sequence[Table]
    settings: Sequence[Table]
    bars: Sequence[BarChart]
    charts: Sequence[Chart]
    first: ReadingList | None
    panels: Sequence[Panel]


class DialoguePart(Struct, frozen=True):
    """A dialogue in a report: one run's view of it, or several side by side."""

    anchor: str
    dialogue: Dialogue
    view: DialogueView | None
    side: SideBySide | None
    scores: Sequence[tuple[str, float | None, str | None]]


class ReportGroup(Struct, frozen=True):
    """The runs of one kind, which of them is better, and a choice of their dialogues."""

    kind: str
    runs: Sequence[RunPart]
    ranking: Ranking | None
    problem: str
    charts: Sequence[Chart]
    dialogues: Sequence[DialoguePart]
    chosen: str

    @property
    def verdict(self) -> str:
        """What all of it comes to, in a sentence."""
        if self.ranking is not None:
            return f"{self.ranking.comparison.verdict}."
        if self.problem:
            return f"Not compared: {self.problem}"
        return next(iter(self.runs[0].sentences), "")


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
    chosen = [runs] if isinstance(runs, Run) else runs.runs if isinstance(runs, RunSet) else runs
    with stored_as_expected():
        content = report_html(chosen, dialogues=dialogues, only=only, title=title)
    with atomic(target) as scratch:
        scratch.write_bytes(content.encode("utf-8", "backslashreplace"))
    return target


def report_html(runs: Sequence[Run], *, dialogues: int = DIALOGUES, only: Sequence[str] = (), title: str = "") -> str:
    """The text of the report."""
    if not runs:
        raise DialgaugeError("a report needs at least one run; name some")
    library = Library(runs=runs)
    kinds = list(dict.fromkeys(run.kind for run in runs))
    each, rest = divmod(dialogues, len(kinds))
    groups = [
        _group(library, [run for run in runs if run.kind == kind], each + (index < rest), only, index)
        for index, kind in enumerate(kinds)
    ]
    known = {dialogue_key(part.dialogue.id) for group in groups for part in group.dialogues}
    if unknown := next((name for name in only if dialogue_key(name) not in known), None):
        raise DialgaugeError(f"no run of this report has a dialogue '{unknown}'")
    script = _static("explorer.js")
    text = render(
        "report.html",
        title=title or ", ".join(dict.fromkeys(run.name for run in runs)),
        groups=groups,
        style=_static("explorer.css"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        links=_FileLinks(groups),
        without_charts=str(missing_drawer() or ""),
        version=__version__,
        made=datetime.now(UTC),
    )
    return _without_folders(_compact(text), runs)


def report_markdown(runs: Sequence[Run]) -> str:
    """The same in short, as Markdown for a pull request; runs of several kinds follow each other."""
    kinds = list(dict.fromkeys(run.kind for run in runs))
    parts = []
    for kind in kinds:
        own = [run for run in runs if run.kind == kind]
        heading = f"### {kind}\n\n" if len(kinds) > 1 else ""
        parts.append(heading + _summary(own))
    return _without_folders("\n".join(parts), runs)


def _summary(runs: Sequence[Run]) -> str:
    if len(runs) == 1:
        return markdown_summary(runs)
    try:
        return markdown_summary(runs, compare_runs(runs))
    except DialgaugeError as error:
        return f"Not compared: {markdown(str(error))}\n\n{markdown_summary(runs)}"


def _group(library: Library, runs: Sequence[Run], dialogues: int, only: Sequence[str], number: int) -> ReportGroup:
    ranked, problem = None, ""
    if len(runs) > 1:
        try:
            ranked = ranking(library, [run.id for run in runs])
        except DialgaugeError as error:
            problem = str(error)
    chosen, words = _chosen(library, runs, ranked, dialogues, only)
    shown = _shown_runs(runs, ranked)
    if len(runs) > len(shown):
        words += f"; {', '.join(run.name for run in shown)} are shown, the best {len(shown)} of {len(runs)} runs"
    figures = ranking_charts(ranked.comparison) if ranked else {}
    return ReportGroup(
        runs[0].kind,
        [_run_part(library, run) for run in runs],
        ranked,
        problem,
        _pictures({name: figures[name] for name in _CHARTS if name in figures}),
        [_dialogue_part(library, shown, name, f"k{number}-d{at}-") for at, name in enumerate(chosen)],
        words,
    )


def _run_part(library: Library, run: Run) -> RunPart:
    pages, facts = pages_of(run.kind), run_tables(run)
    return RunPart(
        run,
        run_sentences(run, notes=False),
        pages.tables(library, run),
        [table for name, table in facts.items() if name in _FACTS],
        [table for name, table in facts.items() if name not in (*_FACTS, "notes")],
        bar_charts(DialogueList(library, run)) if pages.breakdowns and library.size(run) else [],
        _pictures(run_charts(library, run)),
        reading_list(library, run),
        pages.panels(library, run),
    )


def _pictures(charts: dict[str, Callable[[], Any]]) -> list[Chart]:
    """Charts as pictures; one that has nothing to draw is left out, and all are where none can be drawn here."""
    if not charts or missing_drawer() is not None:
        return []
    with unchecked():
        made = [(name, draw()) for name, draw in charts.items()]
        contents = [(name, drawn(chart, "svg")) for name, chart in made if chart is not None]
    return [
        Chart(name, f"data:image/svg+xml;base64,{base64.b64encode(content).decode()}") for name, content in contents
    ]


def _chosen(
    library: Library, runs: Sequence[Run], ranked: Ranking | None, most: int, only: Sequence[str]
) -> tuple[list[str], str]:
    """The ids of the dialogues to show, and in words which these are."""
    if only:
        keys = {dialogue_key(name) for name in library.table(runs[0], "dialogues")["dialogue"]}
        return [name for name in only if dialogue_key(name) in keys], "the dialogues that were asked for"
    if ranked is not None:
        first, second = ranked.pair
        units = divergence_sizes(ranked.comparison, first, second, ranked.measure)
        names = [name for unit in units if (name := ranked.conversation(unit))][:most]
        return names, f"{counted(len(names), 'dialogue')} in which {first} and {second} differ most by {ranked.measure}"
    run = runs[0]
    ranked_names, listed = _failed(library, run), None
    if not ranked_names:
        listed = DialogueList(library, run)
        if not listed.columns:
            return list(listed.ids[:most]), f"the first {counted(min(most, len(listed.ids)), 'dialogue')}"
        measure, falling = listed.worst_first
        ranked_names = [listed.ids[int(at)] for at in listed.order(DialogueQuery(sort=measure, falling=falling))]
    reading = reading_list(library, run)
    urgent = reading.dialogues[:most] if reading is not None else []
    others = [name for name in ranked_names if name not in urgent][: most - len(urgent)]
    if listed is None:
        description = (
            f"{counted(len(others), 'failed conversation')} of {run.name}, those of tasks that pass sometimes first"
        )
    else:
        description = f"the {counted(len(others), 'dialogue')} of {run.name} that are worst by {listed.worst_basis}"
    if not urgent:
        return others, description
    beside = f", then {description}{' among the others' if listed is not None else ''}" if others else ""
    return [*urgent, *others], f"{counted(len(urgent), 'conversation')} to read first{beside}"


def _failed(library: Library, run: Run) -> list[str]:
    """Failed trials: one of each task, those of tasks that pass sometimes first, before a second of any."""
    trials = pages_of(run.kind).trials(library, run)
    passed = {trial.task for trial in trials if trial.success}
    failed: dict[str, list[str]] = {}
    for trial in trials:
        if trial.success is False:
            failed.setdefault(trial.task, []).append(trial.dialogue)
    rows = zip_longest(*(failed[task] for task in sorted(failed, key=lambda task: task not in passed)))
    return [name for row in rows for name in row if name is not None]


def _shown_runs(runs: Sequence[Run], ranked: Ranking | None) -> Sequence[Run]:
    """The runs whose dialogues stand side by side: the best ones where there are too many."""
    if ranked is None or len(runs) <= MOST_SIDES:
        return runs[:MOST_SIDES] if ranked is not None else runs[:1]
    values = ranked.comparison.oriented[:, 0]
    best = sorted(range(len(runs)), key=lambda index: -values[index])[:MOST_SIDES]
    return [ranked.runs[index] for index in best]


def _dialogue_part(library: Library, runs: Sequence[Run], name: str, anchor: str) -> DialoguePart:
    dialogue = library.dialogue(runs[0], name)
    scores = _dialogue_scores(library, runs, name)
    if len(runs) > 1:
        side = side_by_side(library, [run.id for run in runs], name, anchor)
        return DialoguePart(anchor, dialogue, None, side, scores)
    view = pages_of(runs[0].kind).dialogue(library, runs[0], dialogue)
    return DialoguePart(anchor, dialogue, replace(view, prefix=anchor), None, scores)


def _dialogue_scores(library: Library, runs: Sequence[Run], name: str) -> list[tuple[str, float | None, str | None]]:
    """What a dialogue scores: by the first measures of one run; of several the verdict of each, or its first one."""
    scores: list[tuple[str, float | None, str | None]] = []
    for run in runs:
        columns = pages_of(run.kind).columns(run)[: 1 if len(runs) > 1 else None]
        own = library.dialogue(run, name)
        values = {row["measure"]: row["num"] / row["den"] for row in library.rows(run, "dialogue_scores", own.id)}
        passed = own.outcome.success if own.outcome is not None else None
        mark = "" if passed is None else " ✓" if passed else " ✗"
        if mark and len(runs) > 1 and kind_named(run.kind).verdicts is not None:
            scores.append((f"{run.name}{mark} {'passed' if passed else 'failed'}", None, None))
            continue
        for measure in columns:
            label = f"{run.name}{mark}: {measure}" if len(runs) > 1 else measure
            scores.append((label, values.get(measure), run.scores[measure].unit))
    return scores


class _FileLinks:
    """Places in the file; what is not in it has no link, and stands as plain text."""

    def __init__(self, groups: Sequence[ReportGroup]) -> None:
        self._runs = {part.run.id: f"#{part.run.id}" for group in groups for part in group.runs}
        self._dialogues = {
            (part.run.id, dialogue.dialogue.id): dialogue.anchor
            for group in groups
            for part in group.runs
            for dialogue in group.dialogues
        }

    def run(self, run: str) -> str:
        return self._runs.get(run, "#main")

    def dialogues(self, run: str, query: str = "") -> str:
        return self.run(run)

    def dialogue(self, run: str, dialogue: str, query: str = "", turn: int | None = None) -> str:
        anchor = self._dialogues.get((run, dialogue))
        if anchor is None:
            return self.run(run)
        return f"#{anchor}" if turn is None else f"#{anchor}turn-{turn}"

    def trials(self, run: str, task: str = "") -> str:
        return self.run(run)

    def compare(self, runs: Iterable[str]) -> str:
        return "#main"

    def side(self, runs: Iterable[str], dialogue: str, measure: str = "") -> str:
        return self.dialogue(next(iter(runs), ""), dialogue)


def _without_folders(text: str, runs: Sequence[Run]) -> str:
    """The same without the folders of this machine: files go by their names in what is mailed."""
    named = {word for run in runs for word in (*run.manifest.command, *(given.path for given in run.manifest.inputs))}
    named |= {str(run.path) for run in runs if run.stored}
    paths = sorted((path for path in named if PurePath(path).is_absolute()), key=len, reverse=True)
    for path in paths:
        text = text.replace(html.escape(shown(path)), html.escape(shown(PurePath(path).name)))
    return text


def _static(name: str) -> str:
    return files("dialgauge.explorer").joinpath("static", name).read_text(encoding="utf-8")


def _compact(text: str) -> str:
    """The page without the white space that only lays out its source; texts keep theirs."""
    return re.sub(r">[^\S\n]*\n\s*<", "><", text)
