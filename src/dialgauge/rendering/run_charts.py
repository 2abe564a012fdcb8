"""The scores of runs as figures: every value in its interval with the number of cases, overall and by part.

A measure's parts are what stands in brackets behind it: the domains of ``Success[hotel]``, the kinds of
``UserFault[early_end]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named
from dialgauge.measures import Resampling, Score, Signature, parse_measure
from dialgauge.rendering.charts import domain_bars
from dialgauge.rendering.figures import SHADES
from dialgauge.rendering.interval_panels import interval_plot
from dialgauge.rendering.runs import SHARE, measure_and_part, system_labels
from dialgauge.text import counted, upper_first

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: The table with what each dialogue adds to each measure.
_SUMS = "dialogue_scores"
#: ``Success(rules=grounded)``: name and settings.
_SETTINGS = re.compile(r"([^()]+)\((.+)\)")
#: Settings that are read more easily as words than as ``name: value``.
_SETTING_WORDS = {
    "of=user": "of the user", "of=agent": "of the agent", "of=successful": "of successful conversations",
    "speaker=user": "of the user", "speaker=system": "of the system", "what=requests": "of requests",
    "what=constraints": "of constraints", "listener=user": "by the user", "listener=system": "by the system",
}  # fmt: skip
#: ``@0.5`` and ``^2`` behind a name.
_CUTOFF = re.compile(r"[@^][\w.]+$")
#: A capital within a word: ``ToolCalls``.
_JOINED = re.compile(r"[a-z][A-Z]")
#: What the parts of a measure are unless somebody says it.
_DOMAIN = "domain"
#: Different numbers of cases that are told one by one.
_TOLD = 6
#: Of the one panel that shows all measures of one system.
_WIDE = 420

Drawings = dict[str, Callable[[], Any]]


def run_figures(
    runs: Sequence[Run] | Mapping[str, Run],
    *,
    parts: Mapping[str, str | tuple[str, ...]] | None = None,
    in_sections: bool = False,
    names: Mapping[str, str] | None = None,
    without: Collection[str] = (),
    remarks: Sequence[str] = (),
) -> Drawings:
    """File name without ending to the function that draws the figure, for runs of one kind.

    The runs may be given by the names that the figures are to have for them.
    ``parts`` says of a measure what its parts are, where they are no domains, and of a single part where it is of
    another kind, or of two: ``{"Blame": "cause", "Blame[user]": "side at fault"}``. With ``in_sections``
    there is a figure for each section that the kinds of the measures name. Scores that are no shares have axes of their
    own, in a figure of their own. ``names`` has other words for a measure or a part, ``without`` names measures that
    are not drawn as a whole, and ``remarks`` stand below every title.
    """
    labelled = runs if isinstance(runs, Mapping) else system_labels(runs)
    scored = _Scored(labelled, parts or {}, names or {}, without, remarks)
    figures: Drawings = {}
    divided: dict[str, list[_Row]] = {}
    for row in scored.rows:
        if not row.part:
            divided.setdefault(_section(row.measure) if in_sections else "", []).append(row)
    for section, ours in divided.items():
        ending, about = (f"_{_slug(section)}", f": {section}") if section else ("", "")
        if shares := [our for our in ours if our.share]:
            figures[f"scores{ending}"] = partial(_overall, scored, shares, about)
        if others := [our for our in ours if not our.share]:
            figures[f"other_units{ending}"] = partial(_other_units, scored, others, about)
    parted = [row for row in scored.rows if row.part and row.share]
    for what in dict.fromkeys(what for row in parted for what in scored.what(row)):
        ours = [row for row in parted if what in scored.what(row)]
        if len(scored.runs) == 1:
            figures[f"by_{_slug(what)}"] = partial(_parts_of_one, scored, ours, what)
        else:
            for measure in dict.fromkeys(our.measure for our in ours):
                chosen = [our for our in ours if our.measure == measure]
                figures[f"by_{_slug(what)}_{_slug(measure)}"] = partial(_parts_of_several, scored, chosen, what)
    return figures


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

    def drawn(self, line: str, panel: str, *, cases: bool = False) -> dict[str, Any]:
        """The row as a line of a panel; without an interval it is a point."""
        known = self.score.low is not None and self.score.high is not None
        return {
            "system": line,
            "measure": panel,
            "value": self.value,
            "low": self.score.low if known else None,
            "high": self.score.high if known else None,
            "percent": self.share,
            "cases": self.cases if cases else None,
        }


class _Scored:
    """All defined scores of the runs, and what has to be said of them."""

    def __init__(
        self,
        runs: Mapping[str, Run],
        parts: Mapping[str, str | tuple[str, ...]],
        names: Mapping[str, str],
        without: Collection[str],
        remarks: Sequence[str],
    ) -> None:
        self.runs = runs
        self._parts, self._names, self._remarks = parts, names, remarks
        rows = [row for label, run in runs.items() for row in _rows(label, run)]
        self.rows = [row for row in rows if row.part or row.measure not in without]

    def what(self, row: _Row) -> tuple[str, ...]:
        """What the part of a row is one of."""
        words = self._parts.get(f"{row.measure}[{row.part}]", self._parts.get(row.measure, _DOMAIN))
        return (words,) if isinstance(words, str) else words

    def words(self, measure: str) -> str:
        return self._names.get(measure) or measure_words(measure)

    def part(self, row: _Row) -> str:
        return self._names.get(row.part) or row.part.replace("_", " ")

    @property
    def whose(self) -> str:
        names = list(self.runs)
        return ", ".join(names) if len(names) <= 3 else counted(len(names), "system")

    def notes(self, rows: Sequence[_Row], *more: str, marks: str = "bars") -> list[str]:
        """How many cases there are, and how the intervals were made."""
        covered: dict[str, list[str]] = {}
        for label, run in self.runs.items():
            covered.setdefault(run.coverage.sentence(), []).append(label)
        lines = [f"{', '.join(labels)}: {text}" if len(covered) > 1 else text for text, labels in covered.items()]
        if len(lines) > _TOLD:
            lines = [*lines[:_TOLD], f"and {counted(len(lines) - _TOLD, 'other number')} of cases"]
        how = interval_note([row.score for row in rows], self.runs.values(), marks)
        return [line for line in (*lines, *more, how, *self._remarks) if line]


def _rows(label: str, run: Run) -> Iterator[_Row]:
    cases = _cases(run)
    for name, score in run.scores.items():
        if score.value is not None:
            yield _Row(label, *measure_and_part(name), score, score.value, cases.get(name))


def _cases(run: Run) -> dict[str, int]:
    """By measure the number of dialogues (or tasks) that have a score; empty where the run does not keep them."""
    if _SUMS not in run.tables:
        return {}
    frame = run.table(_SUMS)
    scored = frame.filter(frame["den"] > 0)
    return dict(scored.group_by("measure").len().iter_rows())


def interval_note(scores: Collection[Score], runs: Iterable[Run], marks: str = "bars") -> str:
    """What the bars (or other marks) at these scores are; that there are none, where there are none."""
    lacking = sum(score.low is None or score.high is None for score in scores)
    if lacking == len(scores):
        return "no intervals were computed"
    note = f"{marks}: 95% confidence intervals"
    for text in (*(score.signature for score in scores), *(run.signature for run in runs)):
        try:
            how = Resampling.parse(Signature.parse(text).get("interval", "")) if text else None
        except DialgaugeError:  # of a run that another version wrote
            how = None
        if how is not None:
            note = f"{marks}: {how.level:.0%} confidence intervals from {how.resamples:,} resamples"
            break
    return f"{note}; a value without one has no interval" if lacking else note


def _overall(scored: _Scored, rows: Sequence[_Row], about: str) -> Any:
    """Of one system all measures below each other from 0 to 100; of several a panel for each measure."""
    title = f"Scores of {scored.whose}{about}"
    if len(scored.runs) == 1:
        lines = [row.drawn(scored.words(row.measure), "score") for row in rows]
        return interval_plot(lines, whole_axis=True, width=_WIDE, title=title, note=scored.notes(rows))
    lines = [row.drawn(row.system, scored.words(row.measure)) for row in rows]
    axes = "axes zoom in on the scores"
    return interval_plot(lines, title=title, note=scored.notes(rows, axes))


def _other_units(scored: _Scored, rows: Sequence[_Row], about: str) -> Any:
    single = len(scored.runs) == 1
    lines = [
        row.drawn("" if single else row.system, _with_unit(scored.words(row.measure), row.score.unit)) for row in rows
    ]
    title = f"Scores of {scored.whose}{about}, each in its unit"
    return interval_plot(lines, title=title, note=scored.notes(rows))


def _parts_of_one(scored: _Scored, rows: Sequence[_Row], what: str) -> Any:
    """A panel for each measure, a line for each part; n stands once at a part, or at each value where they differ."""
    sizes = _sizes(rows)
    alike = all(least == most for least, most in sizes.values())
    lines = [
        row.drawn(
            f"{scored.part(row)} (n = {row.cases:,})" if alike and row.part in sizes else scored.part(row),
            scored.words(row.measure),
            cases=not alike,
        )
        for row in rows
    ]
    look: dict[str, Any] = {"whole_axis": True, "title": f"Scores of {scored.whose} by {what}"}
    if len({row.measure for row in rows}) == 1:
        look["width"] = _WIDE
    return interval_plot(lines, note=scored.notes(rows, _cases_note(rows)), **look)


def _parts_of_several(scored: _Scored, rows: Sequence[_Row], what: str) -> Any:
    """Bars of the systems for each part of one measure."""
    bars: dict[str, dict[str, float | None]] = {scored.part(row): {} for row in rows}
    ends: dict[str, dict[str, tuple[float, float]]] = {part: {} for part in bars}
    for row in rows:
        bars[scored.part(row)][row.system] = row.value
        if row.score.low is not None and row.score.high is not None:
            ends[scored.part(row)][row.system] = row.score.low, row.score.high
    measure, known = rows[0].measure, _sizes(rows)
    sizes: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.part in known and row.cases is not None:
            sizes.setdefault(scored.part(row), {})[row.system] = row.cases
    points = len(scored.runs) > len(SHADES)
    differ = not points and any(least < most for least, most in known.values())
    cases = f"{_cases_note(rows)}, in the order of the bars" if differ else _cases_note(rows)
    return domain_bars(
        bars,
        title=f"{upper_first(scored.words(measure))} by {what}",
        value=_short(measure),
        percent=True,
        counts=sizes,
        intervals=ends,
        note=scored.notes(rows, cases, marks="bars" if points else "whiskers"),
    )


def _sizes(rows: Sequence[_Row]) -> dict[str, tuple[int, int]]:
    """By part the fewest and the most cases behind one of its values; without parts of which one is not known."""
    by_part: dict[str, list[int | None]] = {}
    for row in rows:
        by_part.setdefault(row.part, []).append(row.cases)
    known = {part: [case for case in cases if case is not None] for part, cases in by_part.items()}
    return {part: (min(cases), max(cases)) for part, cases in known.items() if len(cases) == len(by_part[part])}


def _cases_note(rows: Sequence[_Row]) -> str:
    return "n: cases behind each value" if any(row.cases is not None for row in rows) else ""


def measure_words(name: str) -> str:
    """A measure in words, with its name and settings.

    >>> measure_words("FGA@0.5"), measure_words("Success(rules=grounded)"), measure_words("ToolCalls(of=user)")
    ('Flexible goal accuracy (FGA@0.5)', 'Success (rules: grounded)', 'tool calls (of the user)')
    """
    own, settings = _divided(name)
    title = _title(name, own)
    added = own if title and not _repeats(own, title) else ""
    inside = ", ".join(text for text in (added, settings) if text)
    return f"{title or own} ({inside})" if inside else title or own


def _repeats(own: str, title: str) -> bool:
    """Does a name say nothing that the title does not: ``I-GCDF1 recall`` behind "recall of I-GCDF1"?"""
    return _letters(own) == _letters(title) or set(own.lower().split()) <= set(title.lower().split())


def _short(name: str) -> str:
    """A measure's name, its settings in words: ``Success (rules: grounded)``."""
    own, settings = _divided(name)
    return f"{own} ({settings})" if settings else own


def _divided(name: str) -> tuple[str, str]:
    """A measure's name, and its settings in words."""
    match = _SETTINGS.fullmatch(name)
    if not match:
        return name, ""
    return match[1], ", ".join(
        _SETTING_WORDS.get(setting, setting.replace("=", ": ")) for setting in match[2].split(",")
    )


def _with_unit(words: str, unit: str | None) -> str:
    return f"{words}, {unit}" if unit and unit not in words.lower() else words


def _title(name: str, own: str) -> str:
    """What a measure is called in words; nothing where its name is a word and says the same."""
    try:
        title = parse_measure(name).card.title
    except DialgaugeError:  # of a plugin that is not installed here
        return ""
    same = _letters(_CUTOFF.sub("", title)) == _letters(_CUTOFF.sub("", own))
    return "" if same and not _JOINED.search(own) else title


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _section(measure: str) -> str:
    with suppress(DialgaugeError):  # a measure of a plugin that is gone
        if section := kind_named(parse_measure(measure).card.family).section:
            return section
    return "other measures"


def _slug(text: str) -> str:
    """A text as part of a file name."""
    return "_".join(re.findall(r"[\w^@.-]+", text)) or "measure"
