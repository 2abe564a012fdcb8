"""The benchmark table of the MultiWOZ repository (Nekvinda and Dušek 2021): sixteen systems, those computed whose files
are here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dialgauge import tasks
from dialgauge.data import dataset_file
from dialgauge.reproduce.reproduction import Reproduction

_TITLE = "MultiWOZ benchmark: end-to-end and policy systems"
_CITATION = (
    "Nekvinda and Dušek 2021, Shades of BLEU, Flavours of Success: The Case of MultiWOZ (GEM); the table is that of "
    "the MultiWOZ repository, Benchmarks, Response Generation"
)
#: Column of the table, our measure, and how the table prints it.
_COLUMNS = {
    "inform": ("Inform", "Inform", "{:.1f}%"),
    "success": ("Success", "Success", "{:.1f}%"),
    "bleu": ("BLEU", "BLEU", "{}"),
    "tokens": ("words per response", "tokens", "{:.2f}"),
    "conditional entropy": ("conditional entropy of words", "conditional entropy", "{:.2f}"),
    "unigrams": ("different words", "unigrams", "{}"),
    "trigrams": ("different triples of words", "trigrams", "{}"),
}
_GOLD_STATES = "theirs with the gold states of MultiWOZ 2.2, which are not here; ours with those of 2.1"
_REFERENCES = "theirs against the references mwz22, which are not here; ours against mwz21-span"
_WORDS = "theirs are the human responses of MultiWOZ 2.2, ours those of 2.1"
_PARTS = {"end-to-end": "End-to-end systems (their own states)", "policy": "Policies (gold states)"}
_HUMAN = "Human responses (gold states)"
_NOTES = {
    _PARTS["end-to-end"]: [
        "Every row has the active domains that it was made with: dots 'state', although its file brings lists ('file' "
        "gives 80.5 / 70.5). A score without its mode is not comparable.",
    ],
    _PARTS["policy"]: [
        "Inform and Success differ by at most 2 dialogues in 1,000, because of the gold states: MUL1811, for one, has "
        "an attraction of type 'pool' in 2.1, which matches nothing, so every policy fails it.",
        "Never rank these with end-to-end systems.",
    ],
    _HUMAN: [
        "Two published systems exceed the humans on Inform, one on Success: near its top the measure says little."
    ],
}


def reproduce(data: Path | None) -> Reproduction:
    """All rows of the table, each with the active domains with which it was made."""
    record = Reproduction("mwzeval", _TITLE, _CITATION)
    gold = dataset_file(data, "multiwoz-2.1", "test.json")
    files = {name: dataset_file(data, "dst_predictions", f"{name}.json") for name in tasks.published_rows()}
    _missing(record, gold, files)
    options = tasks.TaskOptions(measures=("default", "richness"), resamples=0)
    evaluation = tasks.TaskEvaluation(gold, options=options) if gold else None
    for name, row in tasks.published_rows().items():
        path = files[name]
        if evaluation is not None and path is not None:
            scores = evaluation.score(tasks.read_predictions(path), human=False, mode=row.mode)
            _row(record, row, {measure: score.value for measure, score in scores.scores.items()}, "")
        else:
            _row(record, row, {}, "its predictions are not here" if evaluation else "the gold file is not here")
    values = evaluation.human_values if evaluation else {}
    for column, theirs in tasks.published_human().items():
        _line(record, _HUMAN, "", column, theirs, values, "the gold file is not here", _WORDS)
    record.notes = _NOTES
    return record


def _missing(record: Reproduction, gold: Path | None, files: Mapping[str, Path | None]) -> None:
    if gold is None:
        record.lacks("multiwoz-2.1", "the gold file and its database: multiwoz-2.1/test.json and multiwoz-2.1/db")
    if absent := [f"{name}.json" for name, path in files.items() if path is None]:
        record.lacks("dst_predictions", f"predictions in dst_predictions: {', '.join(absent)}")
    record.missing.append("the references mwz22, and the gold states of MultiWOZ 2.2 for policies")


def _row(record: Reproduction, row: tasks.PublishedRow, values: Mapping[str, float | None], obstacle: str) -> None:
    for column in _COLUMNS:
        why = _GOLD_STATES if column in ("inform", "success") and row.kind == "policy" else ""
        _line(record, _PARTS[row.kind], f"{row.system}, ", column, row.figures[column], values, obstacle, why)


def _line(
    record: Reproduction,
    part: str,
    system: str,
    column: str,
    theirs: float,
    values: Mapping[str, float | None],
    obstacle: str,
    why: str,
) -> None:
    title, measure, look = _COLUMNS[column]
    what, printed, ours = f"{system}{title}", look.format(theirs), values.get(measure)
    note, reason = (_REFERENCES, "") if column == "bleu" else ("", why)
    absent = obstacle or "it cannot be computed here"
    record.printed(part, what, printed, ours, note=note, why=reason, absent=absent)
