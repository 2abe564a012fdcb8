"""What the commands print about users: scores, figures, confusions, loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dialgauge.report import Cell, Column, Table, plain
from dialgauge.users.evaluation import UserEvaluation
from dialgauge.users.figures import PaperFigure
from dialgauge.users.loops import CAUSES, Confusion
from dialgauge.users.records import COMBINED, MEASURES, VERDICTS
from dialgauge.users.summary import DomainSummary, MeanScore

NOTHING = "(nothing)"


def score_table(evaluation: UserEvaluation, summary: list[DomainSummary]) -> Table:
    """One row for each domain: F1 with interval, precision, recall and dialogues, for both measures."""
    columns = [Column("domain")]
    for measure in MEASURES:
        columns += [Column(measure), Column("P"), Column("R"), Column("dialogues")]
    found = {(row.measure, row.domain): row for row in summary}
    domains = [COMBINED, *sorted({row.domain for row in summary} - {COMBINED})]
    table = Table(f"{evaluation.name}: how the user expresses its goals", columns)
    for domain in domains:
        cells: list[Cell | float | int | None] = []
        for measure in MEASURES:
            row = found.get((measure, domain))
            if row is None or not row.dialogues:
                cells += [None] * 4
            else:
                cells += [_cell(row.f1), row.precision.value, row.recall.value, row.dialogues]
        table.add(domain, *cells)
    table.notes.append(evaluation.signature)
    return table


def figure_table(figure: PaperFigure) -> Table:
    """A figure's numbers: a row for each bar, a column for each domain."""
    digits = 2 if figure.unit == "percent" else 0
    columns = [Column(figure.unit), *(Column(domain, digits=digits) for domain in figure.domains)]
    table = Table(f"Figure {figure.key}. {figure.title}", columns)
    for bar, heights in figure.bars.items():
        if any(heights.values()):
            table.add(bar, *(heights.get(domain) for domain in figure.domains))
    if figure.totals:
        table.add("of", *(figure.totals.get(domain) for domain in figure.domains))
    return table


def slot_table(figure: PaperFigure) -> Table:
    """In how many dialogues a behaviour concerned which slot."""
    table = Table(f"Figure {figure.key} by slot", ["behaviour", "domain", "slot", "dialogues"])
    for bar, by_domain in figure.slots.items():
        for domain, slots in by_domain.items():
            for slot, count in sorted(slots.items(), key=lambda item: (-item[1], item[0])):
                table.add(bar, domain, slot, count)
    return table


def confusion_table(evaluation: UserEvaluation, most: int = 15) -> Table:
    """The commonest differences between what was said and what was heard."""
    counts: Counter[Confusion] = Counter()
    dialogues: Counter[Confusion] = Counter()
    for score in evaluation.scores:
        for confusion, count in score.confusions:
            counts[confusion] += count
            dialogues[confusion] += 1
    table = Table("What was said against what was heard", ["speaker", "fault", "said", "heard", "times", "dialogues"])
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0].said, item[0].heard, item[0].speaker))
    for confusion, count in ranked[:most]:
        said, heard = confusion.said or NOTHING, confusion.heard or NOTHING
        table.add(confusion.speaker, confusion.fault, said, heard, count, dialogues[confusion])
    if len(ranked) > most:
        table.notes.append(f"{len(ranked) - most} rarer confusions not shown")
    return table


def loop_table(evaluation: UserEvaluation, most: int = 15) -> Table:
    """Loops by domain and cause: how many, how long, and the main confusion behind them."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for score in evaluation.scores:
        for loop in score.loops:
            groups.setdefault((", ".join(loop.domains), loop.cause, loop.detail), []).append(loop.repeats)
    columns: list[str | Column] = ["domain", "cause", "main confusion", "loops", "longest"]
    columns.append(Column("mean length", digits=1))
    table = Table("Loops: the same user acts three or more times running", columns)
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    for (domains, cause, detail), repeats in ranked[:most]:
        table.add(domains, cause, detail or NOTHING, len(repeats), max(repeats), sum(repeats) / len(repeats))
    if len(ranked) > most:
        table.notes.append(f"{len(ranked) - most} rarer kinds not shown")
    used = {cause for _, cause, _ in groups}
    table.notes += [f"{cause}: {meaning}" for cause, meaning in CAUSES.items() if cause in used]
    return table


def verdict_table(evaluation: UserEvaluation) -> Table:
    """How often each verdict was given, for both measures."""
    counts = Counter((each.measure, each.verdict) for score in evaluation.scores for each in score.verdicts)
    table = Table("Verdicts on single mentions", ["verdict", *MEASURES, "meaning"])
    for verdict, meaning in VERDICTS.items():
        row = [counts[measure, verdict] for measure in MEASURES]
        if any(row):
            table.add(verdict, *row, meaning)
    return table


def failure_lines(evaluation: UserEvaluation, most: int = 10) -> Sequence[str]:
    """A sentence for each dialogue that failed, the first few of them."""
    lines = [plain(str(failure)) for failure in evaluation.failures[:most]]
    if len(evaluation.failures) > most:
        lines.append(f"... and {len(evaluation.failures) - most} more")
    return lines


def _cell(figure: MeanScore) -> Cell:
    return Cell(figure.value, figure.low, figure.high)
