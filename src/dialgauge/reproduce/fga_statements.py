"""What the FGA paper says in words, and whether the numbers bear it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.reproduce.papers import HUMAN_100, NO_TEST, PROFILE, Sources, example, silent
from dialgauge.reproduce.reproduction import PrintedNumber, Reproduction
from dialgauge.tracking import TrackedSystem, forgetting_rate, score

_PRINTED = "from the printed numbers"
_EXAMPLE = "on the conversation of Figure 1"
_SAMPLE = "SOM-DST, 100 dialogues"
_NO_SAMPLE = f"dst_predictions/{HUMAN_100} is not present (dialgauge data get dst_predictions)"


def statements(record: Reproduction, paper: Mapping[str, Any], sources: Sources) -> None:
    """Every statement of the text that can be checked, beside those that stand with their tables."""
    _of_the_example(record, paper["figure1"]["turns"])
    _of_lambda(record)
    _of_table_1(record, paper["table1"])
    _of_the_sample(record, sources)
    _of_the_test_set(record, sources)
    human = paper["human"]
    record.claim(
        "Section 4",
        "FGA has a slightly better correlation with the ratings than JGA",
        holds=float(human["FGA@0.5"]) > float(human["JGA"]),
        ours=f"FGA@0.5 {human['FGA@0.5']}, JGA {human['JGA']}",
        note=_PRINTED,
    )


def _of_the_example(record: Reproduction, turns: Sequence[dict[str, Any]]) -> None:
    scores = example(turns, ["JGA", "SA", "AGA", "AGA(form=jaccard)", "FGA@0.5", "TurnMatch"])
    rows = scores.table("turn_scores")
    local = [turn for turn in (3, 5) if rows["TurnMatch"][turn] and not rows["JGA"][turn]]
    record.claim(
        "Section 2.1", "turns 3 and 5 are locally correct, and JGA marks them 0", holds=local == [3, 5],
        ours=f"turns {local}", note=_EXAMPLE,
    )  # fmt: skip
    added = [{**turn, "pred": {**turn["pred"], "taxi-leaveat": "9:00"}} for turn in turns]
    more = example(added, ["AGA", "AGA(form=jaccard)"])
    record.claim(
        "Section 2.3", "AGA does not see extraneous slots; divided by the union it does",
        holds=float(more["AGA"]) == float(scores["AGA"])
        and float(more["AGA(form=jaccard)"]) < float(scores["AGA(form=jaccard)"]),
        ours=f"AGA {float(more['AGA']):.2%}, over the union {float(scores['AGA(form=jaccard)']):.2%} and "
        f"{float(more['AGA(form=jaccard)']):.2%}",
        note=f"{_EXAMPLE}, without and with one spurious slot in every turn",
    )  # fmt: skip
    ladder = [float(scores[name]) for name in ("JGA", "FGA@0.5", "AGA", "SA")]
    record.claim(
        "Section 3", "FGA does not overestimate as AGA and SA do, nor underestimate as JGA does",
        holds=all(low < high for low, high in pairwise(ladder)),
        ours=" < ".join(f"{name} {value:.2%}" for name, value in zip(("JGA", "FGA", "AGA", "SA"), ladder, strict=True)),
        note=_EXAMPLE,
    )  # fmt: skip
    corrected = [
        {"gold": {"hotel-area": "north", "hotel-stars": "4"}, "pred": {"hotel-area": "south"}},
        {"gold": {"hotel-area": "north", "hotel-stars": "4"}, "pred": {"hotel-area": "north"}},
    ]
    second = example(corrected, ["TurnMatch", "TurnLabel"]).table("turn_scores")
    record.claim(
        "Section 3", "comparing only what both sides added does not credit a correction",
        holds=bool(second["TurnMatch"][1]) and not second["TurnLabel"][1],
        ours=f"turn match {second['TurnMatch'][1]:g}, turn label {second['TurnLabel'][1]:g}",
        note="a turn that puts one of two earlier errors right",
    )  # fmt: skip


def _of_lambda(record: Reproduction) -> None:
    longer = [forgetting_rate(turns, 0.95) for turns in range(1, 20)]
    surer = [forgetting_rate(6, share / 20) for share in range(20)]
    record.claim(
        "Section 3", "FGA is stricter with a larger t_f and with a smaller p",
        holds=all(a > b for a, b in pairwise(longer)) and all(a < b for a, b in pairwise(surer)),
        ours="λ falls with t_f and rises with p", note="t_f 1 to 19 at p = 0.95; p 0 to 0.95 at t_f = 6",
    )  # fmt: skip


def _of_table_1(record: Reproduction, table: Mapping[str, Any]) -> None:
    rows = table["rows"]
    exact, matched = ({model: int(row[place]) for model, row in rows.items()} for place in (0, 1))
    columns = {
        name: {model: PrintedNumber.parse(row[place]).value for model, row in rows.items()}
        for place, name in enumerate(table["columns"])
    }
    ranks = {name: " > ".join(sorted(values, key=lambda m: -values[m])) for name, values in columns.items()}
    flexible = {ranks[name] for name in ranks if name.startswith("FGA")}
    for part, what, holds, ours in (
        (
            "Section 2.1", "more exact matches can go with fewer turn-level matches",
            exact["Trippy"] > exact["SOM-DST"] and matched["Trippy"] < matched["SOM-DST"],
            f"Trippy {exact['Trippy']} and {matched['Trippy']}, SOM-DST {exact['SOM-DST']} and {matched['SOM-DST']}",
        ),
        (
            "Section 4", "Hi-DST has better turn-level accuracy at the expense of JGA",
            matched["Hi-DST"] > matched["Trippy"] and exact["Hi-DST"] < min(exact["Trippy"], exact["SOM-DST"]),
            f"turn-level {ranks['turn match']}; exact {ranks['exact']}",
        ),
        (
            "Section 4", "SOM-DST performs well for both objectives",
            all(ranks[name].split(" > ").index("SOM-DST") < 2 for name in ("exact", "turn match")),
            f"turn-level {ranks['turn match']}; exact {ranks['exact']}",
        ),
        (
            "Section 4", "by FGA the models rank alike at every λ, and otherwise than by JGA",
            len(flexible) == 1 and ranks["JGA"] not in flexible, f"FGA {' | '.join(flexible)}; JGA {ranks['JGA']}",
        ),
    ):  # fmt: skip
        record.claim(part, what, holds=holds, ours=ours, note=_PRINTED)


def _of_the_sample(record: Reproduction, sources: Sources) -> None:
    titles = (
        "after a misprediction a correct prediction is unlikely",
        "a dialogue whose first turn is mispredicted very likely has a JGA of 0",
        "the 100 dialogues that people rated are of the test set",
    )
    sample = sources.human_100()
    if sample is None:
        for part, what in zip(("Section 2.1", "Section 2.1", "Section 4"), titles, strict=True):
            record.impossible(part, what, "claimed", _NO_SAMPLE)
        return
    scores = score(None, {"system": sample}, measures="JGA", profile=PROFILE, intervals=False)[0]
    after, before, opened, lost = [], [], 0, 0
    for turns in _by_dialogue(scores.table("turn_scores").select("dialogue", "exact").rows()):
        wrong = turns.index(False) if False in turns else len(turns)
        before += turns[: wrong + 1]
        after += turns[wrong + 1 :]
        opened += wrong == 0
        lost += not any(turns)
    shares = [sum(flags) / len(flags) for flags in (after, before)]
    record.claim(
        "Section 2.1", titles[0], holds=shares[0] < shares[1] / 2,
        ours=f"exact: {shares[0]:.1%} after the first wrong turn, {shares[1]:.1%} up to it", note=_SAMPLE,
    )  # fmt: skip
    record.claim(
        "Section 2.1", titles[1], holds=lost > opened / 2,
        ours=f"{lost} of {opened} such dialogues", note=f"{_SAMPLE}; more than half",
    )  # fmt: skip
    test = sources.multiwoz("test")
    if test is None:
        record.impossible("Section 4", titles[2], "claimed", NO_TEST)
        return
    known = {dialogue_key(dialogue.id) for dialogue in test}
    inside = sum(dialogue_key(dialogue.id) in known for dialogue in sample)
    record.claim("Section 4", titles[2], holds=inside == len(sample), ours=f"{inside} of {len(sample)}")


def _by_dialogue(rows: Sequence[tuple[str, bool]]) -> list[list[bool]]:
    turns: dict[str, list[bool]] = {}
    for name, exact in rows:
        turns.setdefault(name, []).append(exact)
    return list(turns.values())


def _of_the_test_set(record: Reproduction, sources: Sources) -> None:
    part = "Section 2.2"
    titles = ("MultiWOZ has 30 slots", "a turn has far fewer slots than there are")
    test = sources.multiwoz("test")
    if test is None:
        for what in titles:
            record.impossible(part, what, "claimed", NO_TEST)
        return
    system = TrackedSystem(_nothing(test))
    filled, slots = system.counts.gold_size, system.run.table("slot_scores").select("domain", "slot").unique().height
    record.claim(
        part, titles[0], holds=system.counts.inventory == 30, ours=f"{system.counts.inventory}",
        note=f"of which the 999 test dialogues use {slots}",
    )  # fmt: skip
    record.claim(
        part, titles[1], holds=float(filled.mean()) < 30 / 4, ours=f"{float(filled.mean()):.2f} of 30 on average",
        note=f"less than a quarter; at most {int(filled.max())}",
    )  # fmt: skip
    record.impossible(
        part, "with many more slots SA is close to 1 in almost all scenarios", "claimed",
        "a statement about other datasets: dialgauge score SGD --schema FILE with an empty file (--coverage empty)",
    )  # fmt: skip


def _nothing(test: Sequence[Dialogue]) -> Any:
    return score(test, {"nothing": silent(test)}, measures="SA", profile=PROFILE, intervals=False)[0]
