"""Coca, Tseng, Byrne, EANCS 2021: GCDF1."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from dialgauge import users
from dialgauge.data import dataset_file
from dialgauge.dialogue import dialogue_key
from dialgauge.formats import SPECIAL, read
from dialgauge.reproduce.gcdf1_rerun import experiment_again
from dialgauge.reproduce.gcdf1_statements import CONSTRAINTS, SETUP, statements, surface_forms
from dialgauge.reproduce.gcdf1_turns import configured, of_people, of_turns
from dialgauge.reproduce.reproduction import UNEXPLAINED, Reproduction
from dialgauge.reproduce.sources import published
from dialgauge.runs import Run

_CONVERSATIONS, _MAP = "conversations", "multiwoz21_canonical_map.json"
#: The option that turns off whatever brings values to their canonical form.
_MATCHING = "igcd_f1.value_matching.use_fuzzy_match"
_NOTBOOK = {"igcd_f1.constraints_not_in_goal.auto_matching.slot_value_pairs": {
    domain: {"notbook": ["none"]} for domain in ("attraction", "hotel", "restaurant", "taxi", "train")
}}  # fmt: skip
_TABLES: dict[str, tuple[str, users.MeasureName]] = {
    "table1": ("Table 1, I-GCDF1", "I-GCDF1"),
    "table2": ("Table 2, R-GCDF1", "R-GCDF1"),
}
_MAP_GREW = "unexplained: the map as released, counted as the paper describes it; it may have been curated further"
_REPEATED_NOTE = "the paper's figure; the released conversations give ours, by the released evaluator too"


def reproduce(data: Path | None, tell: Callable[[str], None] = lambda _: None) -> Reproduction:
    """Both tables, every figure, the counts and the statements in the text; ``tell`` hears what is being computed."""
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
        record.unjudged(paper["unjudged"])
        return record
    tell("scoring the conversations")
    run = users.score_users(folder, canonical_map=values, resamples=0)[0]
    figures = {figure.key: figure for figure in users.paper_figures(run)}
    _tables(record, paper, run)
    for key, bars in paper["figures"].items():
        _figure(record, figures[key], bars)
    _text(record, paper, figures, run)
    _map(record, paper["map"], values)
    raw = users.score_users(folder, canonical_map=values, overrides={_MATCHING: False}, resamples=0)[0]
    surface_forms(record, run, raw)
    listed = users.score_users(folder, canonical_map=values, overrides=_NOTBOOK, resamples=0)[0]
    after = {figure.key: figure for figure in users.paper_figures(listed)}
    configured(record, figures["3"].bars["nomatch"], after["3"].bars["nomatch"])
    record.text(
        "Section 3.1", "values match within a distance of", "0.1",
        f"{1 - users.load_config().igcd_f1.value_matching.fuzzy_match_threshold:.1f}", counted=False,
    )  # fmt: skip
    goals = dataset_file(data, "multiwoz-2.1", "test.json")
    people = users.score_users(goals, canonical_map=values, resamples=0)[0] if goals else None
    of_people(record, people)
    of_turns(record, read(folder).dialogues, read(goals).dialogues if goals else None, run)
    record.unjudged(paper["unjudged"])
    _goals(record, run, goals)
    if goals is None:
        record.lacks(
            "multiwoz-2.1",
            "the goals and the database, to hold the conversations again: multiwoz-2.1/test.json and multiwoz-2.1/db",
        )
    else:
        experiment_again(record, folder, values, goals, tell)
    record.figures = {f"gcdf1_figure{key}": partial(users.draw, figure) for key, figure in figures.items()}
    return record


def _tables(record: Reproduction, paper: dict[str, Any], run: Run) -> None:
    for key, (part, measure) in _TABLES.items():
        for domain, theirs in paper[key].items():
            released = paper["released"].get(domain) if key == "table1" else None
            note = f"the authors' released evaluator gives {released} on the same conversations" if released else ""
            ours = run.scores[users.score_name(measure, domain=domain)].value
            record.printed(part, domain, theirs, math.nan if ours is None else ours, why=note or UNEXPLAINED)


def _figure(record: Reproduction, figure: users.PaperFigure, bars: dict[str, dict[str, str]]) -> None:
    """The bars as the authors' released tools count them; the paper only draws them."""
    scale = 100.0 if figure.unit == "percent" else 1.0
    part = f"Figure {figure.key}. {figure.title} (theirs: the authors' released tools)"
    for bar, heights in bars.items():
        for domain, theirs in heights.items():
            ours = figure.bars[bar].get(domain, 0.0) / scale
            record.printed(part, f"{users.BAR_WORDS[bar]}, {domain}", theirs, ours)


def _text(record: Reproduction, paper: dict[str, Any], figures: dict[str, users.PaperFigure], run: Run) -> None:
    part = f"{CONSTRAINTS}, counts"
    for line in paper["text"]:
        slots = figures[line["figure"]].slots[line["bar"]][line["domain"]]
        ours = float(sum(slots.get(slot, 0) for slot in line["slots"]))
        record.printed(part, line["what"], line["theirs"], ours, why=_REPEATED_NOTE)
    repeated = figures["2"]
    for line in paper["dialogues"]:
        record.printed(part, line["what"], line["theirs"], repeated.bars[line["bar"]][line["domain"]])
    share = repeated.bars["unmatched"]["restaurant"] / figures["5"].totals["restaurant"]
    record.printed(
        part, "restaurant: dialogues with booking constraints repeated", paper["shares"]["restaurant"], share
    )
    of_hotels = repeated.slots["unmatched"]["hotel"]["day"] / repeated.bars["unmatched"]["hotel"]
    record.printed(part, "hotel: of these repetitions, booking constraints", paper["shares"]["hotel"], of_hotels)
    statements(record, figures, run)


def _goals(record: Reproduction, run: Run, test: Path | None) -> None:
    what = "the conversations pursue the goals of the MultiWOZ 2.1 test set"
    if test is None:
        record.impossible(SETUP, what, "claimed", "multiwoz-2.1/test.json is not present")
        return
    names = run.table("dialogues")["dialogue"].to_list(), [dialogue.id for dialogue in read(test)]
    ours, theirs = (set(map(dialogue_key, ids)) for ids in names)
    record.share(SETUP, what, len(ours & theirs), len(theirs | ours), "dialogues")


def _map(record: Reproduction, theirs: dict[str, str], path: Path) -> None:
    content = users.load_map(path)
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
    record.printed(part, "canonical values", theirs["canonical values"], float(values), why=_MAP_GREW)
    record.printed(part, "surface forms", theirs["surface forms"], float(forms), why=_MAP_GREW)
    areas = {key: texts for key, texts in content["area"].items() if key not in (SPECIAL, "dontcare")}
    record.printed(part, "area: canonical values", theirs["areas"], float(len(areas)), note="dontcare aside")
    written = {text for texts in areas.values() for text in texts}
    record.printed(part, "area: distinct surface forms", theirs["area forms"], float(len(written)), why=_MAP_GREW)
