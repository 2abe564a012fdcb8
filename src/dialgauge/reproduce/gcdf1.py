"""Coca, Tseng, Byrne, EANCS 2021: GCDF1."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

from dialgauge.data import dataset_file
from dialgauge.formats import SPECIAL
from dialgauge.reproduce.gcdf1_again import experiment_again
from dialgauge.reproduce.papers import published
from dialgauge.reproduce.reproduction import Reproduction
from dialgauge.runs import Run
from dialgauge.users import (
    BAR_WORDS,
    MeasureName,
    PaperFigure,
    constraint_counts,
    draw,
    load_map,
    paper_figures,
    score_name,
    score_users,
)

_CONVERSATIONS, _MAP = "conversations", "multiwoz21_canonical_map.json"
_TABLES: dict[str, tuple[str, MeasureName]] = {
    "table1": ("Table 1, I-GCDF1", "I-GCDF1"),
    "table2": ("Table 2, R-GCDF1", "R-GCDF1"),
}
_REPEATED_NOTE = "the paper's figure; the released conversations give ours, by the released evaluator too"


def reproduce(data: Path | None) -> Reproduction:
    """Both tables, every figure, and the counts in the text."""
    paper = published("gcdf1")
    record = Reproduction("gcdf1", paper["title"], paper["citation"])
    folder, values = dataset_file(data, "gcdf1", _CONVERSATIONS), dataset_file(data, "gcdf1", _MAP)
    if folder is None or values is None:
        record.lacks(
            "gcdf1", f"the released conversations and their canonical map: gcdf1/{_CONVERSATIONS} and gcdf1/{_MAP}"
        )
        for key, (part, _) in _TABLES.items():
            for domain, theirs in paper[key].items():
                record.impossible(part, domain, theirs, "the conversations are not present")
        return record
    run = score_users(folder, canonical_map=values, resamples=0)[0]
    figures = {figure.key: figure for figure in paper_figures(run)}
    _tables(record, paper, run)
    for key, bars in paper["figures"].items():
        _figure(record, figures[key], bars)
    _text(record, paper, figures, run)
    _map(record, paper["map"], values)
    goals = dataset_file(data, "multiwoz-2.1", "test.json")
    if goals is None:
        record.lacks(
            "multiwoz-2.1",
            "the goals and the database, to hold the conversations again: multiwoz-2.1/test.json and multiwoz-2.1/db",
        )
    else:
        experiment_again(record, folder, values, goals)
    record.figures = {f"gcdf1_figure{key}": partial(draw, figure) for key, figure in figures.items()}
    return record


def _tables(record: Reproduction, paper: dict[str, Any], run: Run) -> None:
    for key, (part, measure) in _TABLES.items():
        for domain, theirs in paper[key].items():
            released = paper["released"].get(domain) if key == "table1" else None
            note = f"the authors' released evaluator gives {released} on the same conversations" if released else ""
            ours = run.scores[score_name(measure, domain=domain)].value
            record.printed(part, domain, theirs, math.nan if ours is None else ours, note=note)


def _figure(record: Reproduction, figure: PaperFigure, bars: dict[str, dict[str, str]]) -> None:
    """The bars as the authors' released tools count them; the paper only draws them."""
    scale = 100.0 if figure.unit == "percent" else 1.0
    part = f"Figure {figure.key}. {figure.title} (theirs: the authors' released tools)"
    for bar, heights in bars.items():
        for domain, theirs in heights.items():
            ours = figure.bars[bar].get(domain, 0.0) / scale
            record.printed(part, f"{BAR_WORDS[bar]}, {domain}", theirs, ours)


def _text(record: Reproduction, paper: dict[str, Any], figures: dict[str, PaperFigure], run: Run) -> None:
    part = "Counts in the text"
    for line in paper["text"]:
        slots = figures[line["figure"]].slots[line["bar"]][line["domain"]]
        ours = float(sum(slots.get(slot, 0) for slot in line["slots"]))
        record.printed(
            part, line["what"], line["theirs"], ours, note="" if ours == float(line["theirs"]) else _REPEATED_NOTE
        )
    repeated = figures["2"]
    share = repeated.bars["unmatched"]["restaurant"] / figures["5"].totals["restaurant"]
    record.printed(
        part, "restaurant: dialogues with booking constraints repeated", paper["shares"]["restaurant"], share
    )
    of_hotels = repeated.slots["unmatched"]["hotel"]["day"] / repeated.bars["unmatched"]["hotel"]
    record.printed(part, "hotel: of these repetitions, booking constraints", paper["shares"]["hotel"], of_hotels)
    _claims(record, figures, run)


def _claims(record: Reproduction, figures: dict[str, PaperFigure], run: Run) -> None:
    part = "Statements in the text"
    booking = figures["4b"].bars["miss_all"]["hotel"]
    record.claim(
        part,
        "booking is not attempted in close to 20% of the hotel conversations",
        holds=abs(booking - 20) < 2.5,
        ours=f"{booking:.2f}%",
        note="per booking part of a goal",
    )
    search = figures["4a"].bars["miss_all"]["hotel"]
    record.claim(part, "just over 10% of hotels are not searched for", holds=10 < search < 12.5, ours=f"{search:.2f}%")
    unmatched = constraint_counts(run)["nomatch"]
    items = sorted({item for slots in unmatched.values() for counts in slots.values() for item in counts})
    record.claim(
        part,
        "constraints outside the goal without a match are notbook=none",
        holds=items == ["notbook===none"],
        ours=", ".join(item.replace("===", "=") for item in items),
    )
    delayed, misheard = (_dialogues(run, label) for label in ("delayed_response", "system_req_nlu_failure"))
    record.claim(
        part,
        "delayed responses and NLU failures are the same dialogues",
        holds=delayed == misheard,
        ours=f"{len(delayed & misheard)} of {len(delayed | misheard)} in both",
    )
    utterances = max(run.table("conversation_facts")["turns"].to_list())
    longest = (utterances + 1) // 2
    record.claim(
        part,
        "conversations have at most 30 turns",
        holds=longest <= 30,
        ours=f"up to {longest} turns",
        note=f"a turn is the user's and the system's, as ConvLab-2's sessions count; {utterances} utterances",
    )
    never = [key for key in ("no_miss_mult", "miss_mult") if any(figures["6a"].bars[key].values())]
    record.claim(
        part, "requests are always expressed in the same turn", holds=not never, ours="no pattern of several turns"
    )


def _dialogues(run: Run, label: str) -> set[str]:
    """The dialogues in which a request was repeated for a reason."""
    wanted = f"multiple_slot_requests/{label}"
    rows = run.table("behaviours").select("behaviour", "dialogue").iter_rows()
    return {dialogue for behaviour, dialogue in rows if behaviour == wanted}


def _map(record: Reproduction, theirs: dict[str, str], path: Path) -> None:
    content = load_map(path)
    tables = [table for slot in content.values() for table in ([slot] if SPECIAL in slot else list(slot.values()))]
    values = forms = 0
    for table in tables:
        outside = table[SPECIAL]["not_in_goal"]
        nested = [entry for entry in outside.values() if isinstance(entry, dict)]
        lists = [texts for key, texts in table.items() if key != SPECIAL]
        lists += [entry for entry in outside.values() if isinstance(entry, list)]
        lists += [texts for entry in nested for texts in entry.values()]
        values += len(lists)
        forms += sum(map(len, lists))
    part = "Section 3.1, the canonical map"
    record.printed(part, "slots", theirs["slots"], float(len(content)))
    record.printed(part, "canonical values", theirs["canonical values"], float(values))
    record.printed(part, "surface forms", theirs["surface forms"], float(forms))
