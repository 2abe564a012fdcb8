"""Dey, Kummara and Desarkar, ACL 2022: flexible goal accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from dialgauge.comparison import spreads
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.rendering import Column, Table, lambda_sweep, mean_spread
from dialgauge.reproduce.fga_statements import HUMAN, SystemScores, statements
from dialgauge.reproduce.reproduction import PrintedNumber, Reproduction
from dialgauge.reproduce.sources import (
    BESIDE_TEST,
    DROPPED,
    HUMAN_100,
    NO_TEST,
    PROFILE,
    RESULT_FILES,
    Sources,
    example,
    interval_of,
    marks,
    other_systems,
    part_of_test,
    published,
    scored,
    silent,
    user_turns,
)
from dialgauge.runs import Run
from dialgauge.tracking import LAMBDAS, forgetting_rate, read_counts, score

#: The authors' script for Hi-DST calls more values equal than identical ones.
_PROFILES = {"Hi-DST": "hidst"}
#: The first columns of Table 1.
_TURNS = "turns"
_COUNTS = ("exact matches (M1)", "turn-level matches (M2)")
#: What correlates a system's measures with ratings.
RATED = "dialgauge reproduce fga --ratings FILE"
_ROUNDED = "the paper averages the rounded 39%; with full precision it is 46.45%"
_ARCHIVE = "from the authors' archive, github.com/SuvodipDey/FGA"
_SAMPLE = "SOM-DST, on 100 of the 999 dialogues"
_OTHER_TRAINING = (
    "another training than the paper's, or another version of the test set, unless the file is the authors'"
)
_FEWER = "the public validation file has one dialogue less"
_LONG = "all dialogues; papers leave out those with a very long utterance"
_NOTES = {
    "train": (_LONG, _LONG, _LONG),
    "dev": (_FEWER, _FEWER, ""),
    "test": ("without PMUL1455", "without PMUL1455", "7368 / 999 is 7.3754: the paper cuts digits off"),
}


def reproduce(
    data: Path | None, ratings: Path | None = None, systems: Mapping[str, Path] | None = None
) -> Reproduction:
    """Every table, example and statement of the paper."""
    paper = published("fga")
    record = Reproduction("fga", paper["title"], paper["citation"])
    sources = Sources(data, systems)
    sample = sources.human_100()
    groups = [_table_1(record, paper["table1"], sources)]
    if sample is not None:
        of_sample = SystemScores(_scored(sample, _measures(paper)), "profile verbatim, gold of the file")
        _sampled_row(record, paper["table1"], of_sample.run)
        if "SOM-DST" not in groups[0]:
            groups.append({_SAMPLE: of_sample})
    groups.append(
        {
            name: SystemScores(run, f"not one of the paper's models; profile {BESIDE_TEST}")
            for name, run in other_systems(sources, _measures(paper)).items()
        }
    )
    _spread_figure(record, paper["table1"])
    _table_2(record, paper["table2"], sources)
    _predict_nothing(record, paper["predict_nothing"], sources)
    rule = paper["lambda_rule"]
    record.printed(
        "Section 3",
        f"λ for t_f = {rule['t_f']}, p = {rule['p']}",
        rule["printed"],
        forgetting_rate(rule["t_f"], rule["p"]),
        share=False,
    )
    _figure_1(record, paper["figure1"])
    _figure_2(record, paper["figure2"], sources)
    _humans(record, paper["human"], sources, ratings)
    statements(record, paper, sources, [group for group in groups if group])
    return record


def _measures(paper: Mapping[str, Any]) -> list[str]:
    """What Table 1 and the statements need of a system."""
    rules = [f"FGA@0.5(rule={rule})" for rule in ("code", "paper")]
    swept = (f"FGA@{at:g}" for at in LAMBDAS)
    return list(dict.fromkeys([*paper["table1"]["columns"][2:], *swept, "TurnMatch", *rules]))


def _scored(
    dialogues: Sequence[Dialogue],
    measures: Sequence[str] | None,
    profile: str = "verbatim",
    gold: Sequence[Dialogue] | None = None,
    name: str = "SOM-DST",
) -> Run:
    return scored(name, dialogues, measures, profile, gold, [DROPPED])


def _row(name: str, predictions: Sequence[Dialogue], profile: str, sources: Sources) -> SystemScores:
    """The usual measures, as far as the file gives them: naming one that it does not give is an error.

    The authors' files bring their own gold states or flags, and are scored by ``profile``. Predictions alone are scored
    beside the test set, as the other systems are.
    """
    turns = [turn for dialogue in predictions for turn in dialogue.user_turns()]
    if any(turn.state is not None or turn.judged is not None for turn in turns):
        how = f"profile {profile}, gold of the file"
        return SystemScores(_scored(predictions, None, profile, name=name), how)
    gold = sources.multiwoz("test")
    if gold is None:
        raise DialgaugeError(f"the file of {name} has no gold states, and {NO_TEST}")
    how = f"profile {BESIDE_TEST}, gold of MultiWOZ 2.1"
    return SystemScores(_scored(predictions, None, BESIDE_TEST, gold, name), how)


def _table_1(record: Reproduction, table: dict[str, Any], sources: Sources) -> dict[str, SystemScores]:
    """The rows, and the scores of those systems whose files are there, the paper's and the caller's."""
    names, rows = table["columns"][2:], {}
    for model, printed in table["rows"].items():
        part = f"Table 1, {model}"
        _consistency(record, part, int(table["turns"]), printed)
        full = sources.given(model) or sources.archived(model)
        if full is not None:
            row = rows[model] = _row(model, full, _PROFILES.get(model, "verbatim"), sources)
            beside = _with_gold(full, sources) if row.run.details.get("left_out") else None
            _full_row(record, part, table, printed, row, beside)
            continue
        file = f"dst_predictions/{RESULT_FILES[model][0]}.json"
        record.lacks("dst_predictions", f"predictions of {model} on the 999 test dialogues, {_ARCHIVE}: {file}")
        absent = f"{file} is not present ({_ARCHIVE}), nor --system {model}=FILE"
        for name, text in zip([_TURNS, *_COUNTS, *names], [table["turns"], *printed], strict=True):
            record.impossible(part, name, text, absent)
    for name in sources.given_beside(table["rows"]):
        scores, how = rows[name] = _row(name, sources.given(name) or (), PROFILE, sources)
        totals, note = read_counts(scores).totals(), _sentence(part_of_test(scores), how)
        for title, count in zip(_COUNTS, ("exact", "turn_match"), strict=True):
            record.own(f"Table 1, {name}", title, totals[count], note=note)
        for measure in [measure for measure in names if measure in scores]:
            record.own(f"Table 1, {name}", measure, f"{float(scores[measure]):.2%}", note=note)
    if sources.human_100() is None:
        record.lacks(
            "dst_predictions",
            f"SOM-DST's states for the 100 dialogues of the human evaluation: dst_predictions/{HUMAN_100}",
        )
    return rows


def _with_gold(flags: Sequence[Dialogue], sources: Sources) -> tuple[Run, str] | None:
    """What a file of correctness flags gives with gold slots: those of SOM-DST's file, as the authors took them.

    Without that file, those of MultiWOZ 2.1 with TRADE's corrections: the same labels.
    """
    for gold, profile, whose in (
        (sources.archived("SOM-DST"), PROFILE, "SOM-DST's file"),
        (sources.multiwoz("test"), "trade", "MultiWOZ 2.1, corrected as SOM-DST does"),
    ):
        if gold is not None:
            return _scored(flags, ["AGA"], profile, gold), f"gold slots from {whose}"
    return None


def _full_row(
    record: Reproduction,
    part: str,
    table: Mapping[str, Any],
    printed: list[str],
    row: SystemScores,
    with_gold: tuple[Run, str] | None,
) -> None:
    scores, how = row
    totals, partial_file = read_counts(scores).totals(), part_of_test(scores)
    counts = (scores.coverage["turns"].scored or 0, totals["exact"], totals["turn_match"])
    for name, text, count in zip((_TURNS, *_COUNTS), (table["turns"], *printed), counts, strict=False):
        if partial_file:
            note = _sentence(f"{partial_file}: the counts cannot be compared", how)
            record.own(part, name, count, theirs=text, note=note)
        else:
            record.printed(part, name, text, count, note=how, why=_OTHER_TRAINING)
    for name, text in zip(table["columns"][2:], printed[2:], strict=True):
        note, run = how, scores if name in scores else None
        if run is None and with_gold is not None and name in with_gold[0].scores:
            run, note = with_gold
        if run is None:
            record.impossible(part, name, text, f"flags alone do not give it, and {NO_TEST}")
        elif partial_file:
            remark = _sentence(partial_file, note)
            record.sampled(part, name, text, float(run[name]), interval_of(run, name), note=remark, why=_OTHER_TRAINING)
        else:
            record.printed(part, name, text, float(run[name]), note=note, why=_OTHER_TRAINING)


def _sentence(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _consistency(record: Reproduction, part: str, turns: int, printed: list[str]) -> None:
    """What a row says about itself: JGA is M1 over the turns, and FGA lies between JGA and M2 over the turns."""
    exact, matched = int(printed[0]), int(printed[1])
    record.printed(part, "JGA = M1 / turns", printed[2], exact / turns, note="from the printed counts")
    ladder = [exact / turns, *(PrintedNumber.parse(text).value for text in printed[5:]), matched / turns]
    holds = all(low <= high + 1e-4 for low, high in pairwise(ladder))
    shown = " ≤ ".join(f"{value:.2%}" for value in ladder)
    record.claim(
        part, "JGA ≤ FGA, rising with λ, ≤ M2 / turns", holds=holds, ours=shown, note="from the printed numbers"
    )


def _sampled_row(record: Reproduction, table: Mapping[str, Any], scores: Run) -> None:
    printed = table["rows"]["SOM-DST"]
    matched = f"{int(printed[1]) / int(table['turns']):.2%}"
    for name, text in zip([*table["columns"][2:], "TurnMatch"], [*printed[2:], matched], strict=True):
        what, more = ("M2 / turns", "; theirs from the printed counts") if name == "TurnMatch" else (name, "")
        record.sampled(
            f"Table 1, {_SAMPLE}", what, text, float(scores[name]), interval_of(scores, name),
            note=f"95% bootstrap interval over 100 dialogues{more}", why="a sample of the dialogues",
        )  # fmt: skip
    values = [(float(scores[name]), *interval_of(scores, name)) for name in (f"FGA@{at:g}" for at in LAMBDAS)]
    shown = Table("FGA by λ: SOM-DST, 100 dialogues", ["λ", *(Column(name, digits=4) for name in _SWEPT)])
    for at, numbers in zip(LAMBDAS, values, strict=True):
        shown.add(f"{at:g}", *numbers)
    record.tables[f"Table 1, {_SAMPLE}"] = [shown]
    record.figures["fga_lambda_sweep"] = lambda: lambda_sweep(
        LAMBDAS,
        {"SOM-DST": [value for value, *_ in values]},
        intervals={"SOM-DST": [(low, high) for _, low, high in values]},
        note="SOM-DST, 95% intervals over 100 dialogues of MultiWOZ 2.1",
    )


_SWEPT = ("FGA", "low", "high")


def _spread_figure(record: Reproduction, table: dict[str, Any]) -> None:
    names = table["columns"][2:]
    values = [[PrintedNumber.parse(text).value for text in row[2:]] for row in table["rows"].values()]
    shown = Table("Table 1 as printed: spread of the four models", ["measure", "mean", "standard deviation", "range"])
    for spread in spreads(names, values):
        shown.add(spread.measure, f"{spread.mean:.2%}", f"{spread.population_std:.2%}", f"{spread.range:.2%}")
    record.tables["Section 4"] = [shown]
    record.figures["fga_table1_spread"] = lambda: mean_spread(
        {name: [row[index] for row in values] for index, name in enumerate(names)},
        percent=True,
        title="FGA paper, Table 1",
        note="mean and population standard deviation of four models",
    )


def _table_2(record: Reproduction, table: dict[str, list[str]], sources: Sources) -> None:
    titles = ("conversations", "turns", "turns per conversation")
    for split, file in (("train", "train"), ("dev", "val"), ("test", "test")):
        dialogues, absent = sources.multiwoz(file), f"multiwoz-2.1/{file}.json is not present"
        numbers: tuple[float | None, ...] = (None, None, None)
        if dialogues is None:
            record.lacks("multiwoz-2.1", absent)
        else:
            turns = user_turns(dialogues)
            numbers = (len(dialogues), turns, turns / len(dialogues))
        for title, text, ours, note in zip(titles, table[split], numbers, _NOTES[split], strict=True):
            record.printed("Table 2", f"{split}, {title}", text, ours, note=note, why="", absent=absent)


def _predict_nothing(record: Reproduction, printed: str, sources: Sources) -> None:
    part, what = "Section 2.2", "slot accuracy of predicting nothing"
    ours, dialogues = None, sources.multiwoz("test")
    if dialogues is not None:
        scores = score(dialogues, {"nothing": silent(dialogues)}, measures="SA", profile=PROFILE, intervals=False)
        ours = float(scores[0]["SA"])
    record.printed(part, what, printed, ours, note="999 test dialogues; printed as about 81%", absent=NO_TEST)


def _figure_1(record: Reproduction, figure: dict[str, Any]) -> None:
    part = "Figure 1"
    scores = example(figure["turns"], ["JGA", "SA", "AGA", "FGA@0.5", "TurnMatch"])
    turns = scores.table("turn_scores")
    record.text(part, "exact match, turn by turn", figure["exact"], marks(turns["exact"].to_list()))
    record.text(part, "turn match, turn by turn", figure["turn_match"], marks(turns["TurnMatch"].to_list()))
    record.printed(part, "SA of turn 2", figure["sa_turn_2"], turns["SA"][2])
    for turn, text in figure["aga_turns"].items():
        above, below = map(int, text.split("/"))
        record.claim(
            part,
            f"AGA of turn {turn} is {text}",
            holds=abs(turns["AGA"][turn] - above / below) < 1e-12,
            ours=f"{turns['AGA'][turn]:.2%}",
        )
    for turn, text in enumerate(figure["fga_turns"]):
        record.printed(part, f"FGA@0.5 of turn {turn}", text, turns["FGA@0.5"][turn])
    for name, text in figure["conversation"].items():
        record.printed(part, f"{name} of the conversation", text, float(scores[name]), why=_ROUNDED)


def _figure_2(record: Reproduction, figure: dict[str, Any], sources: Sources) -> None:
    part = f"Figure 2, {figure['dialogue']}"
    turns = example(figure["turns"], ["JGA"]).table("turn_scores")
    record.text(
        part, "matched, turn by turn, from the printed states", figure["matched"], marks(turns["exact"].to_list())
    )
    sample = sources.human_100()
    printed = [dialogue for dialogue in sample or () if dialogue.id == figure["dialogue"]]
    if printed:
        exact = _scored(printed, ["JGA"]).table("turn_scores")["exact"].to_list()
        record.text(part, "matched, turn by turn, from the authors' file", figure["matched"], marks(exact))


def _humans(record: Reproduction, human: dict[str, Any], sources: Sources, ratings: Path | None) -> None:
    sample = sources.human_100() if ratings else None
    if ratings and sample:
        name = "SOM-DST"
        run = score(None, {name: sample}, measures=["JGA", "FGA@0.5"], intervals=False, ratings=ratings, rated=name)[0]
        rows = run.table("rating_correlations").filter(kind="pearson").rows(named=True)
        for row in rows:
            measure = row["measure"]
            low, high = (math.nan if row[end] is None else row[end] for end in ("low", "high"))
            record.printed(
                HUMAN,
                f"Pearson correlation of {measure} with ratings",
                human[measure],
                row["single"],
                note=f"with the mean rating of each dialogue {row['mean']:.3f} [{low:.3f}, {high:.3f}]",
                why="other people's ratings, unless the file is the authors'",
                share=False,
            )
        ours = {row["measure"]: row["single"] for row in rows}
        record.claim(
            HUMAN,
            "FGA goes with these ratings better than JGA",
            holds=ours["FGA@0.5"] > ours["JGA"],
            ours=", ".join(f"{measure} {value:.3f}" for measure, value in ours.items()),
            note=f"ratings of {ratings.name}",
            why="other people's ratings, unless the file is the authors'",
        )
        return
    why = f"the ratings were not released; '{RATED}' gives it where they are"
    record.missing.append(f"the ratings of {human['raters']} people for {human['dialogues']} dialogues (not released)")
    for name in ("JGA", "FGA@0.5"):
        record.impossible(HUMAN, f"Pearson correlation of {name} with ratings", human[name], why, share=False)
