"""What the FGA paper says in words, and whether the numbers bear it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from dialgauge.comparison import spreads
from dialgauge.data import dataset_file
from dialgauge.dialogue import State, dialogue_key
from dialgauge.formats import read
from dialgauge.reproduce.reproduction import PrintedNumber, Reproduction
from dialgauge.reproduce.sources import (
    HUMAN_100,
    NO_TEST,
    PROFILE,
    Sources,
    accumulates,
    example,
    gold_of_test,
    rankable,
    relabelled,
    silent,
    unranked,
    user_turns,
    words_of_test,
)
from dialgauge.runs import Run
from dialgauge.tracking import forgetting_rate, read_counts, score

#: The paragraph of section 4 on what people said.
HUMAN = "Section 4, human evaluation"
#: What "close to 1" means.
_CLOSE = 0.95
#: A lambda at which exp(-lambda) is nothing.
_HUGE = 100
_PRINTED = "from the printed numbers"
_UNION, _UNION_SKIP = "AGA(form=jaccard)", "AGA(form=jaccard-skip)"
_EXAMPLE = "on the conversation of Figure 1"
_NO_SYSTEM = (
    "no predictions: neither yours (dialgauge reproduce fga --system NAME=FILE) nor "
    f"dst_predictions/{HUMAN_100} (dialgauge data get dst_predictions)"
)
_FOUR = ("TRADE", "Hi-DST", "SOM-DST", "Trippy")


class SystemScores(NamedTuple):
    """A system's scores, and by which profile and gold states."""

    run: Run
    how: str

    def dialogues(self) -> list[list[bool]]:
        """Whether each turn of each dialogue is exact."""
        turns: dict[str, list[bool]] = {}
        for name, exact in self.run.table("turn_scores").select("dialogue", "exact").rows():
            turns.setdefault(name, []).append(bool(exact))
        return list(turns.values())


def statements(
    record: Reproduction, paper: Mapping[str, Any], sources: Sources, groups: Sequence[Mapping[str, SystemScores]]
) -> None:
    """Every statement of the text that can be checked; ``groups`` are systems that may be ranked together."""
    _of_the_example(record, paper["figure1"])
    _of_lambda(record, paper["figure1"]["turns"])
    _of_slot_accuracy(record, paper["figure1"]["turns"])
    _of_goal_accuracy(record, paper["figure1"]["turns"])
    _of_errors(record, {name: system for group in groups for name, system in group.items()})
    _of_the_rule(record, paper["figure1"]["turns"], groups)
    _of_table_1(record, paper["table1"], groups)
    _of_the_sample(record, sources)
    _of_the_test_set(record, sources)
    _of_many_slots(record, sources)
    for figure in ("figure1", "figure2"):
        part = "Figure 1" if figure == "figure1" else f"Figure 2, {paper[figure]['dialogue']}"
        gold_of_test(record, part, paper[figure], sources)
        words_of_test(record, part, paper[figure], sources)
    train = paper["table2"]["train"]
    record.printed(
        "Table 2", "train, turns / conversations as printed", train[2], int(train[1]) / int(train[0]),
        note="from the printed counts",
    )  # fmt: skip
    human = paper["human"]
    record.claim(
        HUMAN,
        "FGA has a slightly better correlation with the ratings than JGA",
        holds=float(human["FGA@0.5"]) > float(human["JGA"]),
        ours=f"FGA@0.5 {human['FGA@0.5']}, JGA {human['JGA']}",
        note=_PRINTED,
    )
    relabelled(record, "Section 2.1", "MultiWOZ has many annotation errors", sources, "2.4")
    relabelled(record, "Appendix A.1", "MultiWOZ 2.1 mends noisy annotations of 2.0", sources, "2.0")
    record.unjudged(paper["unjudged"])


def _of_the_example(record: Reproduction, figure: Mapping[str, Any]) -> None:
    """Sections 1 and 2.1 on Figure 1."""
    turns = figure["turns"]
    area, church = "hotel-area", "attraction-name"
    gold = [turns[turn]["gold"] for turn in (2, 4)]
    record.claim(
        "Section 1", "B2 and B4 have hotel-area centre, and no attraction-name all saints church",
        holds=all(state.get(area) == "centre" and church not in state for state in gold),
        ours="; ".join(f"{area} {state.get(area)}, {church} {state.get(church, 'absent')}" for state in gold),
        note="the gold states as printed",
    )  # fmt: skip
    rows = example(turns, ["JGA", "TurnMatch"]).table("turn_scores")
    wrong = [turn for turn, exact in enumerate(rows["exact"].to_list()) if not exact]
    local = [turn for turn in (3, 5) if rows["TurnMatch"][turn] and not rows["JGA"][turn]]
    predicted = turns[4]["pred"].get(church, "absent")
    for what, holds, ours in (
        ("the prediction goes wrong in turn 2, which affects all later ones", wrong == [2, 3, 4, 5], wrong),
        ("turns 3 and 5 are locally correct, and JGA marks them 0", local == [3, 5], local),
        (
            "in turn 4 attraction-name all saints church is predicted and absent from the gold state",
            predicted == "all saints church" and church not in gold[1], predicted,
        ),
    ):  # fmt: skip
        shown = f"turns {', '.join(map(str, ours))}" if isinstance(ours, list) else f"{ours}"
        record.claim("Section 2.1", what, holds=holds, ours=shown, note=_EXAMPLE)


def _of_slot_accuracy(record: Reproduction, turns: Sequence[dict[str, Any]]) -> None:
    scores = example([{"gold": {"hotel-area": "north"}, "pred": {"hotel-area": "south"}}], ["SA"])
    record.claim(
        "Section 2.2", "a slot with a wrong value is counted once, not as missed and as spurious",
        holds=abs(float(scores["SA"]) - 29 / 30) < 1e-12, ours=f"SA {float(scores['SA']):.2%} with one wrong value",
        note="29 of 30; counted twice it would be 93.33%",
    )  # fmt: skip
    turn = float(example(turns, ["SA"]).table("turn_scores")["SA"][2])
    record.claim(
        "Section 2.2", "SA is extremely high even where a turn is wrong", holds=turn > 0.9, ours=f"{turn:.2%}",
        note="turn 2 of Figure 1; high: above 90%",
    )  # fmt: skip


def _of_goal_accuracy(record: Reproduction, turns: Sequence[dict[str, Any]]) -> None:
    scores = example(turns, ["JGA", "SA", "AGA", _UNION, _UNION_SKIP, "FGA@0.5"])
    rows = scores.table("turn_scores")
    record.claim(
        "Section 2.3", "turns with an empty gold state are left out of AGA", holds=rows["AGA"][0] is None,
        ours=f"turn 0 has {'no score' if rows['AGA'][0] is None else rows['AGA'][0]}", note=_EXAMPLE,
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
    high = [turn for turn in (2, 4) if not rows["exact"][turn] and rows["AGA"][turn] > 0.5]
    record.claim(
        "Section 2.3", "AGA is high in turns that are wrong", holds=high == [2, 4],
        ours=", ".join(f"turn {turn} {rows['AGA'][turn]:.2%}" for turn in (2, 4)), note=f"{_EXAMPLE}; high: above half",
    )  # fmt: skip
    ladder = [float(scores[name]) for name in ("JGA", "FGA@0.5", "AGA", "SA")]
    record.claim(
        "Section 3", "FGA does not overestimate as AGA and SA do, nor underestimate as JGA does",
        holds=all(low < high for low, high in pairwise(ladder)),
        ours=" < ".join(f"{name} {value:.2%}" for name, value in zip(("JGA", "FGA", "AGA", "SA"), ladder, strict=True)),
        note=_EXAMPLE,
    )  # fmt: skip


def _of_lambda(record: Reproduction, turns: Sequence[dict[str, Any]]) -> None:
    rising = [f"FGA@{rate}" for rate in (0.1, 0.5, 1, 2)]
    ends = example(turns, ["JGA", "TurnMatch", "FGA@0", f"FGA@{_HUGE}", *rising])
    for what, ours, limit in (
        ("λ = 0 reduces FGA to JGA", float(ends["FGA@0"]), float(ends["JGA"])),
        ("λ → ∞ reports only turn-level matches", float(ends[f"FGA@{_HUGE}"]), float(ends["TurnMatch"])),
    ):
        same = abs(ours - limit) < 1e-12
        record.claim("Section 3", what, holds=same, ours=f"{ours:.2%}, {limit:.2%}", note=_EXAMPLE)
    values = [float(ends[name]) for name in rising]
    record.claim(
        "Section 3", "the smaller λ, the stricter is FGA", holds=all(low < high for low, high in pairwise(values)),
        ours=" < ".join(f"{value:.2%}" for value in values), note=f"{_EXAMPLE}, λ = 0.1, 0.5, 1, 2",
    )  # fmt: skip
    slots = ("area", "stars", "type", "parking", "internet")
    later = [{f"hotel-{slot}": "yes" for slot in slots[: turn + 1]} for turn in range(len(slots))]
    wrong = [{"gold": state, "pred": {**state, "hotel-area": "no"}} for state in later]
    weights = example(wrong, ["FGA@0.5"]).table("turn_scores")["FGA@0.5"].to_list()
    record.claim(
        "Section 3", "the penalty falls with the distance from the error",
        holds=weights[0] == 0 and all(low < high for low, high in pairwise(weights)),
        ours=" < ".join(f"{weight:.0%}" for weight in weights),
        note="one error in turn 0, four turns right by themselves",
    )  # fmt: skip
    longer = [forgetting_rate(turns, 0.95) for turns in range(1, 20)]
    surer = [forgetting_rate(6, share / 20) for share in range(20)]
    record.claim(
        "Section 3", "FGA is stricter with a larger t_f and with a smaller p",
        holds=all(a > b for a, b in pairwise(longer)) and all(a < b for a, b in pairwise(surer)),
        ours="λ falls with t_f and rises with p", note="t_f 1 to 19 at p = 0.95; p 0 to 0.95 at t_f = 6",
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


# Statements about one system: judged on every system whose predictions are there.


class _Found(NamedTuple):
    """Whether a statement is true of one system, and the numbers."""

    holds: bool
    numbers: str


def _of_errors(record: Reproduction, systems: Mapping[str, SystemScores]) -> None:
    for part, what, judged, bound in (
        ("Section 2.1", "after a misprediction a correct prediction is unlikely", _rarely_right_again,
         "exact turns after the first wrong one and up to it; unlikely: less than half as often"),
        ("Section 2.1", "a dialogue whose first turn is mispredicted very likely has a JGA of 0", _lost_from_the_start,
         "very likely: more than two thirds"),
        ("Section 2.1", "after a mismatch all subsequent turns are most probably marked incorrect", _wrong_to_the_end,
         "dialogues with a wrong turn before the last; more than half"),
        ("Section 3", "FGA works differently from JGA only where a turn is wrong but locally right", _type_2_only,
         "turns in which FGA@0.5 and JGA differ"),
    ):  # fmt: skip
        verdicts = {name: verdict for name, system in systems.items() if (verdict := judged(system)) is not None}
        if not verdicts:
            record.impossible(part, what, "claimed", _NO_SYSTEM)
            continue
        hows: dict[str, list[str]] = {}
        for name in verdicts:
            hows.setdefault(systems[name].how, []).append(name)
        broken = [name for name, verdict in verdicts.items() if not verdict.holds]
        record.claim(
            part, what, holds=not broken, ours="; ".join(f"{name}: {seen.numbers}" for name, seen in verdicts.items()),
            note="; ".join([bound, *(f"{', '.join(names)}: {how}" for how, names in hows.items())]),
            why=f"does not hold of {', '.join(broken)}",
        )  # fmt: skip


def _rarely_right_again(system: SystemScores) -> _Found | None:
    before: list[bool] = []
    after: list[bool] = []
    for turns in system.dialogues():
        wrong = turns.index(False) if False in turns else len(turns)
        before += turns[: wrong + 1]
        after += turns[wrong + 1 :]
    if not after:
        return None
    late, early = (sum(flags) / len(flags) for flags in (after, before))
    return _Found(late < early / 2, f"{late:.1%} and {early:.1%}")


def _lost_from_the_start(system: SystemScores) -> _Found | None:
    opened = [turns for turns in system.dialogues() if not turns[0]]
    lost = sum(not any(turns) for turns in opened)
    return _Found(lost > 2 * len(opened) / 3, f"{lost} of {len(opened)}") if opened else None


def _wrong_to_the_end(system: SystemScores) -> _Found | None:
    broken = [turns for turns in system.dialogues() if False in turns[:-1]]
    kept = sum(not any(turns[turns.index(False) :]) for turns in broken)
    return _Found(kept > len(broken) / 2, f"{kept} of {len(broken)}") if broken else None


def _type_2_only(system: SystemScores) -> _Found | None:
    rows = system.run.table("turn_scores")
    if not {"FGA@0.5", "JGA", "TurnMatch"} <= set(rows.columns):
        return None
    differing = [
        (exact, match)
        for exact, match, flexible, joint in rows.select("exact", "TurnMatch", "FGA@0.5", "JGA").rows()
        if flexible != joint
    ]
    local = sum(bool(match) and not exact for exact, match in differing)
    return _Found(local == len(differing), f"{local} of {len(differing)}")


# Statements about systems beside each other: as printed, and on the systems whose predictions are there.

_Columns = Mapping[str, Mapping[str, float]]


def _of_table_1(record: Reproduction, table: Mapping[str, Any], groups: Sequence[Mapping[str, SystemScores]]) -> None:
    printed = {
        name: {model: PrintedNumber.parse(row[index]).value for model, row in table["rows"].items()}
        for index, name in enumerate(table["columns"])
    }
    _ranked(record, printed, "", _PRINTED)
    notes = record.notes.setdefault("Section 4", [])
    for group in groups:
        parts = rankable({name: system.run for name, system in group.items()})
        notes += unranked(parts)
        for names in parts:
            together = {name: group[name] for name in names}
            if len(together) > 1:
                how = "; ".join(dict.fromkeys(system.how for system in together.values()))
                _ranked(record, _columns_of(table["columns"], together), f" ({', '.join(together)})", how)
    notes.insert(
        0,
        "Statements about the four models are judged on the printed numbers, and again on predictions when all four "
        "are there (dialgauge reproduce fga --system NAME=FILE, or dialgauge data get dst_predictions); those about "
        "measures on any two of the same dialogues and profile.",
    )


def _columns_of(names: Sequence[str], group: Mapping[str, SystemScores]) -> dict[str, dict[str, float]]:
    """Table 1 of some systems; measures that one of their files does not give are left out."""
    totals = {name: read_counts(system.run).totals() for name, system in group.items()}
    columns = {
        column: {name: float(counts[key]) for name, counts in totals.items()}
        for column, key in zip(names, ("exact", "turn_match"), strict=False)
    }
    for measure in names[2:]:
        if all(measure in system.run for system in group.values()):
            columns[measure] = {name: float(system.run[measure]) for name, system in group.items()}
    return columns


def _ranked(record: Reproduction, columns: _Columns, suffix: str, note: str) -> None:
    exact, matched = columns["exact"], columns["turn match"]
    ranks = {name: tuple(sorted(values, key=lambda m: -values[m])) for name, values in columns.items()}
    in_order = {name: " > ".join(models) for name, models in ranks.items()}
    measures = [name for name in columns if name not in ("exact", "turn match")]
    ranges = {
        spread.measure: spread.range or 0.0
        for spread in spreads(measures, [[columns[name][model] for name in measures] for model in exact])
    }
    flexible, others = ([name for name in measures if name.startswith("FGA") is of] for of in (True, False))
    inverted = [(a, b) for a in exact for b in exact if exact[a] > exact[b] and matched[a] < matched[b]]
    alike = {in_order[name] for name in flexible}
    shown = f"turn-level {in_order['turn match']}; exact {in_order['exact']}"
    claims: list[tuple[str, str, Callable[[], bool], str]] = [
        ("Section 2.1", "more exact matches can go with fewer turn-level matches", lambda: bool(inverted),
         ", ".join(f"{a} {exact[a]:g} and {matched[a]:g}, {b} {exact[b]:g} and {matched[b]:g}" for a, b in inverted[:2])
         or "no such pair among these"),
        ("Section 4", "FGA discriminates the models better than JGA, SA and AGA",
         lambda: min(ranges[name] for name in flexible) > max(ranges[name] for name in others),
         "ranges " + ", ".join(f"{name} {width:.2%}" for name, width in ranges.items())),
        ("Section 4", "by FGA the models rank alike at every λ, and otherwise than by JGA",
         lambda: len(alike) == 1 and in_order["JGA"] not in alike,
         f"FGA {' | '.join(sorted(alike))}; JGA {in_order['JGA']}"),
    ]  # fmt: skip
    if set(_FOUR) <= set(exact):
        claims += [
            ("Section 4", "Trippy has the best JGA", lambda: max(exact, key=exact.__getitem__) == "Trippy",
             _counts(exact)),
            ("Section 4", "Trippy has fewer turn-level matches than SOM-DST and Hi-DST",
             lambda: matched["Trippy"] < min(matched["SOM-DST"], matched["Hi-DST"]), _counts(matched)),
            ("Section 4", "Hi-DST has better turn-level accuracy at the expense of JGA",
             lambda: matched["Hi-DST"] > matched["Trippy"] and exact["Hi-DST"] < min(exact["Trippy"], exact["SOM-DST"]),
             shown),
            ("Section 4", "SOM-DST performs well for both objectives",
             lambda: all(ranks[name].index("SOM-DST") < 2 for name in ("exact", "turn match")), shown),
        ]  # fmt: skip
    for part, what, holds, ours in claims:
        record.claim(
            part, f"{what}{suffix}", holds=holds(), ours=ours, note=note,
            why="other systems than the paper's, or other trainings" if suffix else "unexplained",
        )  # fmt: skip


def _counts(values: Mapping[str, float]) -> str:
    return ", ".join(f"{model} {count:g}" for model, count in values.items())


def _of_the_rule(
    record: Reproduction, turns: Sequence[dict[str, Any]], groups: Sequence[Mapping[str, SystemScores]]
) -> None:
    """Which of two rules FGA follows: the authors' code, or Algorithm 1 as printed."""
    rules = [f"FGA@0.5(rule={rule})" for rule in ("code", "paper")]
    record.notes.setdefault("Section 3", []).append(
        "FGA follows the authors' code throughout (rule=code): a wrong turn after an exact one is an error of its own. "
        "Algorithm 1 as printed lacks that (rule=paper)."
    )
    runs = {"Figure 1": example(turns, rules)}
    runs |= {name: system.run for group in groups for name, system in group.items() if rules[0] in system.run}
    shown = (f"{name} {float(run[rules[1]]):.2%} and {float(run[rules[0]]):.2%}" for name, run in runs.items())
    record.own(
        "Section 3", "FGA@0.5 by Algorithm 1 as printed and by the authors' code", "; ".join(shown), theirs="not said",
        note="by rule=paper and by rule=code",
    )  # fmt: skip


# Statements about the data.


def _of_the_sample(record: Reproduction, sources: Sources) -> None:
    titles = (
        "the 100 dialogues that people rated are of the test set",
        "people saw both utterances, the gold and the predicted state of each turn",
        "the files say whether gold and predicted state match exactly",
    )
    sample, test = sources.human_100(), sources.multiwoz("test")
    if sample is None:
        why = f"dst_predictions/{HUMAN_100} is not present (dialgauge data get dst_predictions)"
        for part, what in zip((HUMAN, HUMAN, "Appendix A.3"), titles, strict=True):
            record.impossible(part, what, "claimed", why)
        return
    if test is None:
        record.impossible(HUMAN, titles[0], "claimed", NO_TEST)
    else:
        known = {dialogue_key(dialogue.id) for dialogue in test}
        inside = sum(dialogue_key(dialogue.id) in known for dialogue in sample)
        record.share(HUMAN, titles[0], inside, len(sample))
    turns = [turn for dialogue in sample for turn in dialogue.turns]
    whole = sum(
        bool(turn.text) and (turn.speaker != "user" or None not in (turn.state, turn.predicted)) for turn in turns
    )
    record.share(HUMAN, titles[1], whole, len(turns), "utterances")
    of_user = user_turns(sample)
    record.share(
        "Appendix A.3", titles[2], of_user - sources.wrongly_marked(), of_user, "turns are marked as their states are"
    )


def _of_the_test_set(record: Reproduction, sources: Sources) -> None:
    part = "Section 2.2"
    accumulates(record, "Section 1", "the belief state is cumulative", sources)
    titles = (
        (part, "MultiWOZ has 30 slots"),
        (part, "a turn has far fewer slots than there are"),
        (part, "predicting nothing, SA is (|S| - |B|) / |S|"),
        ("Section 4", "MultiWOZ covers hotel, restaurant, taxi, train and attraction"),
        ("Appendix A.1", "MultiWOZ has both single- and multi-domain conversations"),
    )
    test = sources.multiwoz("test")
    if test is None:
        for where, what in titles:
            record.impossible(where, what, "claimed", NO_TEST)
        return
    nothing = score(test, {"nothing": silent(test)}, measures="SA", profile=PROFILE, intervals=False)[0]
    counts = read_counts(nothing)
    filled, used = counts.gold_size, nothing.table("slot_scores").select("domain", "slot").unique()
    record.claim(
        *titles[0], holds=counts.inventory == 30, ours=f"{counts.inventory}",
        note=f"of which the 999 test dialogues use {used.height}",
    )  # fmt: skip
    record.claim(
        *titles[1], holds=float(filled.mean()) < 30 / 4, ours=f"{float(filled.mean()):.2f} of 30 on average",
        note=f"less than a quarter; at most {int(filled.max())}",
    )  # fmt: skip
    turns = nothing.table("turn_scores")["SA"].to_numpy()
    equal = int((abs(turns - (30 - filled) / 30) < 1e-9).sum())
    record.share(*titles[2], equal, len(turns), "turns of the test set")
    names = sorted(set(used["domain"].to_list()))
    five = ["attraction", "hotel", "restaurant", "taxi", "train"]
    record.claim(*titles[3], holds=names == five, ours=", ".join(names), note="999 test dialogues")
    domains = [{name for turn in dialogue.user_turns() for name in _filled(turn.state)} for dialogue in test]
    single, several = (sum(low <= len(names) <= high for names in domains) for low, high in ((1, 1), (2, 9)))
    record.claim(
        *titles[4], holds=bool(single and several), ours=f"{single} with one domain, {several} with more",
        note="999 test dialogues, domains with a filled slot in a gold state",
    )  # fmt: skip


def _filled(state: State | None) -> set[str]:
    return {name for name, slots in (state or {}).items() if any(slots.values())}


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
    slots = read_counts(run[0]).inventory
    record.claim(
        part, what, holds=float(run[0]["SA"]) > _CLOSE, ours=f"{float(run[0]['SA']):.2%} with {slots} slots",
        note=f"predicting nothing for {len(gold)} dialogues of SGD (dev 001); close to 1: above {_CLOSE:.0%}",
    )  # fmt: skip
