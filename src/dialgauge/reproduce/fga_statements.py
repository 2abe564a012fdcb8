"""What the FGA paper says in words, and whether the numbers bear it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from dialgauge.data import dataset_file
from dialgauge.dialogue import Dialogue, State, dialogue_key
from dialgauge.formats import read
from dialgauge.reproduce.papers import (
    HUMAN_100,
    NO_TEST,
    OTHER_SYSTEMS,
    PROFILE,
    Sources,
    example,
    gold_of_test,
    silent,
)
from dialgauge.reproduce.reproduction import PrintedNumber, Reproduction
from dialgauge.tracking import TrackedSystem, forgetting_rate, score

#: What "close to 1" means.
_CLOSE = 0.95
_PRINTED = "from the printed numbers"
_UNION, _UNION_SKIP = "AGA(form=jaccard)", "AGA(form=jaccard-skip)"
_EXAMPLE = "on the conversation of Figure 1"
_SAMPLE = "SOM-DST, 100 dialogues"
_NO_SAMPLE = f"dst_predictions/{HUMAN_100} is not present (dialgauge data get dst_predictions)"


def statements(record: Reproduction, paper: Mapping[str, Any], sources: Sources) -> None:
    """Every statement of the text that can be checked, beside those that stand with their tables."""
    _of_the_example(record, paper["figure1"]["turns"])
    _of_the_test_dialogue(record, paper["figure1"], sources)
    _of_lambda(record)
    _of_the_rule(record, paper["figure1"]["turns"], sources)
    _of_table_1(record, paper["table1"])
    _of_the_sample(record, sources)
    _of_other_systems(record, sources)
    _of_the_test_set(record, sources)
    _of_many_slots(record, sources)
    train = paper["table2"]["train"]
    record.printed(
        "Table 2", "train, turns / conversations as printed", train[2], int(train[1]) / int(train[0]),
        note="from the printed counts",
    )  # fmt: skip
    human = paper["human"]
    record.claim(
        "Section 4",
        "FGA has a slightly better correlation with the ratings than JGA",
        holds=float(human["FGA@0.5"]) > float(human["JGA"]),
        ours=f"FGA@0.5 {human['FGA@0.5']}, JGA {human['JGA']}",
        note=_PRINTED,
    )


def _of_the_example(record: Reproduction, turns: Sequence[dict[str, Any]]) -> None:
    scores = example(turns, ["JGA", "SA", "AGA", _UNION, _UNION_SKIP, "FGA@0.5", "TurnMatch"])
    rows = scores.table("turn_scores")
    local = [turn for turn in (3, 5) if rows["TurnMatch"][turn] and not rows["JGA"][turn]]
    record.claim(
        "Section 2.1", "turns 3 and 5 are locally correct, and JGA marks them 0", holds=local == [3, 5],
        ours=f"turns {local}", note=_EXAMPLE,
    )  # fmt: skip
    added = [{**turn, "pred": {**turn["pred"], "taxi-leaveat": "9:00"}} for turn in turns]
    more = example(added, ["AGA", _UNION, _UNION_SKIP])
    record.claim(
        "Section 2.3", "AGA does not see extraneous slots; divided by the union it does",
        holds=float(more["AGA"]) == float(scores["AGA"])
        and all(float(more[form]) < float(scores[form]) for form in (_UNION, _UNION_SKIP)),
        ours=f"AGA {float(more['AGA']):.2%}, over the union {float(scores[_UNION]):.2%} and {float(more[_UNION]):.2%}",
        note=f"{_EXAMPLE}, without and with one spurious slot in every turn; with turns of an empty gold state left "
        f"out {float(scores[_UNION_SKIP]):.2%} and {float(more[_UNION_SKIP]):.2%}",
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
        ours=f"{lost} of {opened} such dialogues",
        note=f"{_SAMPLE}; more than half; {opened} dialogues are few: other systems below",
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
    domains = [{name for turn in dialogue.user_turns() for name in _filled(turn.state)} for dialogue in test]
    single, several = (sum(low <= len(names) <= high for names in domains) for low, high in ((1, 1), (2, 9)))
    record.claim(
        "Appendix A.1", "MultiWOZ has both single- and multi-domain conversations", holds=bool(single and several),
        ours=f"{single} with one domain, {several} with more",
        note="999 test dialogues, domains with a filled slot in a gold state",
    )  # fmt: skip


def _filled(state: State | None) -> set[str]:
    return {name for name, slots in (state or {}).items() if any(slots.values())}


def _of_the_test_dialogue(record: Reproduction, figure: Mapping[str, Any], sources: Sources) -> None:
    """Section 1 on Figure 1, whose dialogue is of the test set."""
    gold = [figure["turns"][turn]["gold"] for turn in (2, 4)]
    area, church = "hotel-area", "attraction-name"
    record.claim(
        "Section 1", "B2 and B4 have hotel-area centre, and no attraction-name all saints church",
        holds=all(state.get(area) == "centre" and church not in state for state in gold),
        ours="; ".join(f"{area} {state.get(area)}, {church} {state.get(church, 'absent')}" for state in gold),
        note="the gold states as printed",
    )  # fmt: skip
    gold_of_test(record, "Figure 1", figure, sources)


def _of_the_rule(record: Reproduction, turns: Sequence[dict[str, Any]], sources: Sources) -> None:
    """Which of two rules FGA follows: the authors' code, or Algorithm 1 as printed."""
    rules = [f"FGA@0.5(rule={rule})" for rule in ("code", "paper")]
    record.notes.setdefault("Section 3", []).append(
        "FGA follows the authors' code throughout (rule=code): a wrong turn after an exact one is an error of its own. "
        "Algorithm 1 as printed lacks that (rule=paper)."
    )
    what = "FGA@0.5 by Algorithm 1 as printed and by the authors' code"
    sample = sources.human_100()
    runs = {_EXAMPLE: example(turns, rules)}
    if sample is not None:
        runs[_SAMPLE] = score(None, {"SOM-DST": sample}, measures=rules, profile="verbatim", intervals=False)[0]
    for where, run in runs.items():
        code, printed = (float(run[rule]) for rule in rules)
        record.own(
            "Section 3", f"{what}, {where}", f"{printed:.2%} and {code:.2%}", theirs="not said",
            note="FGA@0.5 by rule=paper and by rule=code",
        )  # fmt: skip


def _of_other_systems(record: Reproduction, sources: Sources) -> None:
    test = sources.multiwoz("test")
    for name in OTHER_SYSTEMS if test else ():
        states = sources.predictions(name)
        if states is None:
            continue
        run = score(test, {name: states}, measures="JGA", profile="canon", intervals=False)[0]
        dialogues = _by_dialogue(run.table("turn_scores").select("dialogue", "exact").rows())
        opened = [turns for turns in dialogues if not turns[0]]
        lost = sum(not any(turns) for turns in opened)
        record.claim(
            "Section 2.1", f"a dialogue whose first turn is mispredicted very likely has a JGA of 0 ({name})",
            holds=lost > len(opened) / 2, ours=f"{lost} of {len(opened)} such dialogues",
            note=f"not one of the paper's models; {len(dialogues)} dialogues, profile canon; more than half",
        )  # fmt: skip


def _of_many_slots(record: Reproduction, sources: Sources) -> None:
    part, what = "Section 2.2", "with many more slots SA is close to 1 in almost all scenarios"
    # As fetched, in a folder of the split; or put there by hand.
    states, schema = (
        dataset_file(sources.folder, "sgd", f"dev/{name}") or dataset_file(sources.folder, "sgd", f"dev_{name}")
        for name in ("dialogues_001.json", "schema.json")
    )
    if states is None or schema is None:
        record.impossible(part, what, "claimed", "sgd/dev/dialogues_001.json is not present (dialgauge data get sgd)")
        return
    gold = read(states).dialogues
    run = score(gold, {"nothing": silent(gold)}, measures="SA", ontology=schema, profile="verbatim", intervals=False)
    slots = TrackedSystem(run[0]).counts.inventory
    record.claim(
        part, what, holds=float(run[0]["SA"]) > _CLOSE, ours=f"{float(run[0]['SA']):.2%} with {slots} slots",
        note=f"predicting nothing for {len(gold)} dialogues of SGD (dev 001); close to 1: above {_CLOSE:.0%}",
    )  # fmt: skip


def _nothing(test: Sequence[Dialogue]) -> Any:
    return score(test, {"nothing": silent(test)}, measures="SA", profile=PROFILE, intervals=False)[0]
