"""The scores of runs as figures: every value in its interval with the number of cases, overall and by part.

A measure's parts are what stands in brackets behind it: the domains of ``Success[hotel]``, the kinds of
``UserFault[early_end]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Resampling, Score, Signature, parse_measure
from dialgauge.report.charts import domain_bars, interval_plot
from dialgauge.report.runs import SHARE
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: The table with what each dialogue adds to each measure.
_SUMS = "dialogue_scores"
_PART = re.compile(r"(.+)\[([^\[\]]+)\]")
#: ``Success(rules=grounded)``: name and settings.
_SETTINGS = re.compile(r"([^()]+)\((.+)\)")
#: ``@0.5`` and ``^2`` behind a name.
_CUTOFF = re.compile(r"[@^][\w.]+$")
#: What the parts of a measure are unless somebody says it.
_DOMAIN = "domain"
#: Systems whose numbers of cases are told one by one.
_TOLD = 6
#: Of the one panel that shows all measures of one system.
_WIDE = 420

Drawings = dict[str, Callable[[], Any]]


def run_figures(
    runs: Sequence[Run] | Mapping[str, Run],
    *,
    parts: Mapping[str, str] | None = None,
    sections: Mapping[str, str] | None = None,
) -> Drawings:
    """File name without ending to the function that draws the figure, for runs of one kind.

    The runs may be given by the names that the figures are to have for them.
    ``parts`` says of a measure what its parts are, where they are no domains: ``{"UserFault": "kind of fault"}``.
    ``sections`` divides the measures by their families, in words: a figure for each. Scores that are no shares have
    axes of their own, in a figure of their own.
    """
    scored = _Scored(runs if isinstance(runs, Mapping) else system_labels(runs), parts or {})
    figures: Drawings = {}
    divided: dict[str, list[_Row]] = {}
    for one in scored.rows:
        if not one.part:
            divided.setdefault(_section(one.measure, sections or {}), []).append(one)
    for section, ours in divided.items():
        ending, about = (f"_{_slug(section)}", f": {section}") if section else ("", "")
        if shares := [one for one in ours if one.share]:
            figures[f"scores{ending}"] = partial(_overall, scored, shares, about)
        if others := [one for one in ours if not one.share]:
            figures[f"other_units{ending}"] = partial(_other_units, scored, others, about)
    for what in dict.fromkeys(scored.what(one.measure) for one in scored.rows if one.part and one.share):
        ours = [one for one in scored.rows if one.part and one.share and scored.what(one.measure) == what]
        if len(scored.runs) == 1:
            figures[f"by_{_slug(what)}"] = partial(_parts_of_one, scored, ours, what)
        else:
            for measure in dict.fromkeys(one.measure for one in ours):
                chosen = [one for one in ours if one.measure == measure]
                figures[f"by_{_slug(what)}_{_slug(measure)}"] = partial(_parts_of_several, scored, chosen, what)
    return figures


def system_labels(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by the names of their systems; those that share one are numbered."""
    names = [run.name for run in runs]
    labels = [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, 1)]
    return dict(zip(labels, runs, strict=True))


@dataclass(frozen=True)
class _Row:
    """One score of one system; ``part`` is empty where it is over everything."""

    system: str
    measure: str
    part: str
    score: Score
    value: float
    cases: int | None

    @property
    def share(self) -> bool:
        return self.score.unit == SHARE

    def drawn(self, line: str, panel: str, about: str = "") -> dict[str, Any]:
        """The row as a line of a panel; without an interval it is a point."""
        low, high = self.score.low, self.score.high
        known = low is not None and high is not None
        return {
            "system": line,
            "measure": panel,
            "value": self.value,
            "low": low if known else self.value,
            "high": high if known else self.value,
            "percent": self.share,
            "about": about,
        }


class _Scored:
    """All defined scores of the runs, and what has to be said of them."""

    def __init__(self, runs: Mapping[str, Run], parts: Mapping[str, str]) -> None:
        self.runs = runs
        self._parts = parts
        self.rows = [row for label, run in runs.items() for row in _rows(label, run)]

    def what(self, measure: str) -> str:
        return self._parts.get(measure, _DOMAIN)

    @property
    def whose(self) -> str:
        """The systems of a title."""
        names = list(self.runs)
        return ", ".join(names) if len(names) <= 3 else counted(len(names), "system")

    def notes(self, rows: Sequence[_Row], *more: str) -> list[str]:
        """How many cases there are, and how the intervals were made."""
        told = {label: run.coverage.sentence() for label, run in self.runs.items()}
        same = set(told.values())
        lines = list(same) if len(same) == 1 else [f"{label}: {text}" for label, text in told.items()][:_TOLD]
        return [line for line in (*lines, *more, _interval_note(self.runs, rows)) if line]


def _rows(label: str, run: Run) -> Iterator[_Row]:
    cases = _cases(run)
    for name, score in run.scores.items():
        if score.value is not None:
            parted = _PART.fullmatch(name)
            measure, part = (parted[1], parted[2]) if parted else (name, "")
            yield _Row(label, measure, part.replace("_", " "), score, score.value, cases.get(name))


def _cases(run: Run) -> dict[str, int]:
    """By measure the number of dialogues (or tasks) that have a score; empty where the run does not keep them."""
    if _SUMS not in run.tables:
        return {}
    frame = run.table(_SUMS)
    scored = frame.filter(frame["den"] > 0)
    return dict(scored.group_by("measure").len().iter_rows())


def _interval_note(runs: Mapping[str, Run], rows: Sequence[_Row]) -> str:
    if all(row.score.low is None for row in rows):
        return "no intervals were computed"
    signed = [row.score.signature for row in rows] + [run.signature for run in runs.values()]
    for text in signed:
        try:
            how = Resampling.parse(Signature.parse(text).get("interval", "")) if text else None
        except DialgaugeError:  # of a run that another version wrote
            how = None
        if how is not None:
            return f"bars: {how.level:.0%} confidence intervals from {how.resamples:,} resamples"
    return "bars: 95% confidence intervals"


def _overall(scored: _Scored, rows: Sequence[_Row], about: str) -> Any:
    """Of one system all measures below each other from 0 to 100; of several a panel for each measure."""
    title = f"Scores of {scored.whose}{about}"
    if len(scored.runs) == 1:
        lines = [row.drawn(measure_words(row.measure), "score") for row in rows]
        return interval_plot(lines, whole_axis=True, width=_WIDE, title=title, note=scored.notes(rows))
    lines = [row.drawn(row.system, _short(row.measure), _title(row.measure)) for row in rows]
    return interval_plot(lines, title=title, note=scored.notes(rows))


def _other_units(scored: _Scored, rows: Sequence[_Row], about: str) -> Any:
    one = len(scored.runs) == 1
    lines = [
        row.drawn("" if one else row.system, _with_unit(row.measure, row.score.unit), _title(row.measure))
        for row in rows
    ]
    title = f"Scores of {scored.whose}{about}, each in its unit"
    return interval_plot(lines, title=title, note=scored.notes(rows))


def _parts_of_one(scored: _Scored, rows: Sequence[_Row], what: str) -> Any:
    """A panel for each measure, a line for each part."""
    sizes = _sizes(rows)
    measures = dict.fromkeys(row.measure for row in rows)
    lines = [
        row.drawn(
            f"{row.part} (n = {sizes[row.part]:,})" if row.part in sizes else row.part,
            _short(row.measure),
            _title(row.measure),
        )
        for row in rows
    ]
    look: dict[str, Any] = {"whole_axis": True, "title": f"Scores of {scored.whose} by {what}"}
    if len(measures) == 1:
        look["width"] = _WIDE
    return interval_plot(lines, note=scored.notes(rows, _cases_note(rows)), **look)


def _parts_of_several(scored: _Scored, rows: Sequence[_Row], what: str) -> Any:
    """Bars of the systems for each part of one measure."""
    bars: dict[str, dict[str, float | None]] = {row.part: {} for row in rows}
    ends: dict[str, dict[str, tuple[float, float]]] = {row.part: {} for row in rows}
    for row in rows:
        bars[row.part][row.system] = row.value
        if row.score.low is not None and row.score.high is not None:
            ends[row.part][row.system] = row.score.low, row.score.high
    sizes, measure = _sizes(rows), rows[0].measure
    return domain_bars(
        bars,
        title=f"{measure_words(measure)} by {what}",
        value=_short(measure),
        percent=True,
        counts=sizes,
        intervals=ends,
        note=scored.notes(rows, _cases_note(rows)),
    )


def _sizes(rows: Sequence[_Row]) -> dict[str, int]:
    """By part its number of cases: the largest, where a measure or a system has fewer."""
    sizes: dict[str, int] = {}
    for row in rows:
        if row.cases is not None:
            sizes[row.part] = max(row.cases, sizes.get(row.part, 0))
    return sizes


def _cases_note(rows: Sequence[_Row]) -> str:
    known = {(row.part, row.cases) for row in rows if row.cases is not None}
    if not known:
        return ""
    alike = len(known) == len({part for part, _ in known})
    return "n: cases behind each value" if alike else "n: cases behind each value; of some measures fewer"


def measure_words(name: str) -> str:
    """A measure in words, with its name and settings.

    >>> measure_words("FGA@0.5"), measure_words("Success(rules=grounded)")
    ('Flexible goal accuracy (FGA@0.5)', 'Success (rules: grounded)')
    """
    title, short = _title(name), _short(name)
    if not title:
        return short
    own, _, settings = short.removesuffix(")").partition(" (")
    return f"{title} ({own}, {settings})" if settings else f"{title} ({own})"


def _short(name: str) -> str:
    """A measure's name, its settings in words: ``Success (rules: grounded)``."""
    settings = _SETTINGS.fullmatch(name)
    return f"{settings[1]} ({settings[2].replace('=', ': ')})" if settings else name


def _with_unit(name: str, unit: str | None) -> str:
    return f"{_short(name)}, {unit}" if unit and unit not in _short(name).lower() else _short(name)


def _title(name: str) -> str:
    """What a measure is called in words; nothing where these say no more than its name."""
    try:
        title = parse_measure(name).card.title
    except DialgaugeError:  # of a plugin that is not installed here
        return ""
    settings = _SETTINGS.fullmatch(name)
    own = _CUTOFF.sub("", settings[1] if settings else name)
    return "" if _letters(_CUTOFF.sub("", title)) == _letters(own) else title


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _section(measure: str, sections: Mapping[str, str]) -> str:
    if not sections:
        return ""
    try:
        return sections[parse_measure(measure).card.family]
    except (DialgaugeError, KeyError):  # of a plugin
        return "other measures"


def _slug(text: str) -> str:
    """A text as part of a file name."""
    return "_".join(re.findall(r"[\w^@.-]+", text)) or "measure"
