"""Runs and their comparison as a short Markdown text, for a pull request: the answer first, then the numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from dialgauge.comparison import MISSING_OPTIONS, Comparison, score_table
from dialgauge.explorer.library import Library
from dialgauge.explorer.reading_list import reading_list
from dialgauge.explorer.sentences import run_sentences
from dialgauge.measures import Score
from dialgauge.presentation import DialogueRows, is_of_part, pages_of, value_of
from dialgauge.rendering import Cell, Column, Table, markdown, plain, score_column
from dialgauge.runs import Run, worst_first
from dialgauge.text import note_kind

#: Columns of the table of scores.
_MEASURES = 5
#: Dialogues that went worst: of all runs together, and of one.
_WORST, _WORST_OF_ONE = 9, 3
#: Conversations to read first that are named, of each kind.
_READ_FIRST = 3
#: Runs that have a paragraph of their own.
_PARAGRAPHS = 6
#: What would make a line of Markdown a list, a heading or a rule.
_BLOCK = re.compile(r"^(\d+)([.)])|^([-+=])")
#: Whoever is called so would be told of the pull request.
_MENTION = re.compile(r"(?<!\w)@(?=\w)")


def markdown_summary(runs: Sequence[Run], comparison: Comparison | None = None) -> str:
    """The verdict, what each run says, one table, the worst dialogues, the signatures: 60 lines for three systems."""
    names = _names(runs, comparison)
    answers = [f"{comparison.verdict}."] if comparison is not None else []
    tables = [_compared(comparison)] if comparison is not None else _tables(runs, names)
    parts = [
        _bullets(answers),
        "What each run says:" if answers and runs else "",
        "\n".join(
            f"- **{_escaped(name) or 'run'}** ({markdown(run.kind)}): {markdown(' '.join(run_sentences(run)))}"
            for name, run in zip(names[:_PARAGRAPHS], runs, strict=False)
        ),
        *(table.render("markdown").rstrip("\n") for table in tables),
        _reading(runs, names),
        _worst(runs, names),
        _signatures(runs, names, comparison),
    ]
    text = "\n\n".join(part for part in parts if part)
    return _MENTION.sub("@<!-- -->", text) + "\n"


def _names(runs: Sequence[Run], comparison: Comparison | None) -> list[str]:
    """What the runs are called: as in the comparison; by their ids where their names do not tell them apart."""
    compared = {run.id: name for name, run in comparison.runs.items()} if comparison is not None else {}
    distinct = len({run.name for run in runs}) == len(runs)
    return [compared.get(run.id, run.name if distinct else run.id) for run in runs]


def _escaped(text: str) -> str:
    """A text as one line of Markdown that is nothing but text."""
    shown = markdown(text).strip()
    return _BLOCK.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", shown)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {_escaped(line)}" for line in lines)


def _compared(comparison: Comparison) -> Table:
    """Systems by their first measures, best first; the signature stands with those of the runs."""
    measures = _first_measures(comparison.measures)
    table = score_table(comparison, measures)
    table.title = table.signature = ""
    notes = [note for note in table.notes if note_kind(note) != MISSING_OPTIONS]
    if left_out := len(comparison.measures) - len(measures):
        notes.append(f"Measures not shown: {left_out}.")
    table.notes = [" ".join(notes)]
    return table


def _first_measures(measures: Sequence[str]) -> list[str]:
    """The measures of the whole, as long as there are any; not those of parts, as in ``I-GCDF1[hotel]``."""
    whole = [measure for measure in measures if not is_of_part(measure, measures)]
    return (whole or list(measures))[:_MEASURES]


def _tables(runs: Sequence[Run], names: Sequence[str]) -> list[Table]:
    """The scores of runs that are not compared, a table for each kind."""
    tables = []
    for kind in dict.fromkeys(run.kind for run in runs if run.scores):
        own = [(name, run) for name, run in zip(names, runs, strict=True) if run.kind == kind and run.scores]
        known = list(dict.fromkeys(measure for _, run in own for measure in run.scores))
        measures = _first_measures(known)
        table = Table("", ["run", *(Column(measure, align="right") for measure in measures)])
        for name, run in own:
            scores = [run.scores.get(measure) for measure in measures]
            table.add(
                name,
                *(
                    None if score is None else Cell(score.value, score.low, score.high, like=score_column("", score))
                    for score in scores
                ),
            )
        tables.append(table)
    return tables


def _reading(runs: Sequence[Run], names: Sequence[str]) -> str:
    """How often users erred, and the conversations to read first, each kind of them in a line."""
    library = Library(runs=runs)
    lines = []
    for name, run in list(zip(names, runs, strict=True))[:_PARAGRAPHS]:
        if (reading := reading_list(library, run)) is None:
            continue
        faults = [f"{reading.faults}."] if reading.faults else []
        lines += [f"{name}: {line}" for line in (*faults, *reading.lines(_READ_FIRST))]
    return f"Read first:\n\n{_bullets(lines)}" if lines else ""


def _worst(runs: Sequence[Run], names: Sequence[str]) -> str:
    """The dialogues that went worst, each in a line."""
    each = min(_WORST_OF_ONE, max(1, _WORST // max(1, len(runs))))
    listed_worst = [
        (name, worst) for name, run in list(zip(names, runs, strict=True))[:_WORST] for worst in worst_of(run, each)
    ]
    lines = [
        f"{name}, {worst.dialogue}: {worst.value}{f'; {worst.phrase}' if worst.phrase else ''}"
        for name, worst in listed_worst
    ]
    bases = list(dict.fromkeys(worst.basis for _, worst in listed_worst))
    by = f", by {_escaped(bases[0])}" if len(bases) == 1 else ""
    return f"Worst dialogues{by}:\n\n{_bullets(lines)}" if lines else ""


class WorstDialogue(NamedTuple):
    """A dialogue, the verdict or its value of the measure that ranks the run's dialogues, and what went wrong."""

    dialogue: str
    value: str
    phrase: str
    #: What the dialogues are ranked by.
    basis: str


def worst_of(run: Run, most: int) -> list[WorstDialogue]:
    """The dialogues that went worst; none that are flawless."""
    ranking = worst_first(run)
    if ranking is None:
        return []
    score = run.scores[ranking.measure]
    flawless = score.upper if score.higher_is_better else score.lower
    if ranking.passed:
        failed = [name for name, passed in zip(ranking.dialogues, ranking.passed, strict=True) if passed is False]
        worst = [(name, "failed") for name in failed[:most]]
    else:
        ranked = zip(ranking.dialogues, ranking.values, strict=True)
        imperfect = islice((pair for pair in ranked if pair[1] != flawless), most)
        prefix = f"{plain(ranking.measure)} "
        worst = [(name, prefix + value_of(Score(value=value, unit=score.unit))) for name, value in imperfect]
    pages, tables = pages_of(run.kind), DialogueRows(run)
    return [WorstDialogue(plain(name), value, pages.went_wrong(tables, name), ranking.basis) for name, value in worst]


def _signatures(runs: Sequence[Run], names: Sequence[str], comparison: Comparison | None) -> str:
    signed = [(name, run.signature) for name, run in zip(names, runs, strict=True) if run.signature]
    if comparison is not None:
        signed.insert(0, ("comparison", comparison.signature))
    if not signed:
        return ""
    lines = [f"- {_escaped(name)}: {markdown(text)}" for name, text in signed]
    return "\n".join(["<details><summary>Signatures</summary>", "", *lines, "", "</details>"])
