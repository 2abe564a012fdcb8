"""What the RSA paper says in words, and whether the numbers bear it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dialgauge.dialogue import Dialogue, Ontology, SlotSpec, Turn, dialogue_key
from dialgauge.rendering import Table
from dialgauge.reproduce.reproduction import UNEXPLAINED, Reproduction
from dialgauge.reproduce.sources import (
    NO_TEST,
    PROFILE,
    Sources,
    accumulates,
    example,
    gold_of_test,
    same_turns,
    silent,
    state_of,
    words_of_test,
)
from dialgauge.runs import Run
from dialgauge.stats import ratio_intervals
from dialgauge.tracking import first_errors, read_counts, score

#: What "several" means.
_SEVERAL = 3
_HALF = 0.5
_STATES = "from the printed states"
_THIRDS = ("beginning", "middle", "end")


#: Dialogue of the appendix to the tables of its words and of its states.
_PRINTED = {"tableA3": ("Table A1", "Table A3"), "tableA4": ("Table A2", "Table A4"), "tableA6": ("", "Table A6")}

#: A system's scores, and which dialogues it has and how they are scored.
Scored = tuple[Run, str]


def statements(record: Reproduction, paper: Mapping[str, Any], sources: Sources, systems: Mapping[str, Scored]) -> None:
    """Every statement of the text that can be checked; ``systems`` are those whose predictions are there."""
    accumulates(record, "Section 1", "the states of earlier turns are included in the current one", sources)
    _of_table_3(record, paper["table3"])
    _of_table_a6(record, paper["tableA6"])
    _of_the_appendix(record, paper)
    _of_table_a5(record, paper)
    _of_slots(record, sources)
    for name, (scores, note) in systems.items():
        _without_recovery(record, name, scores, note)
        _later_turns(record, name, scores, note)
        _small_errors(record, name, scores, note)
    empty = example([{"gold": {}, "pred": {}}], ["RSA"])
    record.claim("Section 3", "RSA is 0 if T* is 0", holds=float(empty["RSA"]) == 0, ours=f"{float(empty['RSA']):g}")
    for key, (words, states) in _PRINTED.items():
        table = paper[key]
        _printed_dialogue(record, f"{states}, {table['dialogue']}", table, sources)
        if words:
            words_of_test(record, f"{words}, {table['dialogue']}", table, sources)
    record.unjudged(paper["unjudged"])


def _of_table_3(record: Reproduction, table: Mapping[str, Any]) -> None:
    models = {
        name: example([{"gold": table["gold"], "pred": facts["pred"]}], ["AGA", "RSA"])
        for name, facts in table["models"].items()
    }
    values = {measure: [float(scores[measure]) for scores in models.values()] for measure in ("AGA", "RSA")}
    record.claim(
        "Section 4.1", "AGA cannot tell the two models apart, RSA can",
        holds=values["AGA"][0] == values["AGA"][1] and values["RSA"][0] > values["RSA"][1],
        ours=f"AGA {_both(values['AGA'])}, RSA {_both(values['RSA'])}", note=_STATES,
    )  # fmt: skip
    gold = dict.fromkeys(("hotel-area", "hotel-stars", "hotel-type"), "yes")
    more = [f"taxi-{slot}" for slot in ("leaveat", "arriveby", "departure")]
    wrong = [{**gold, **dict.fromkeys(more[:count], "no")} for count in range(4)]
    falling = [float(example([{"gold": gold, "pred": state}], ["RSA"])["RSA"]) for state in wrong]
    record.claim(
        "Section 4.1", "RSA gives a penalty for each further wrong slot, as it divides by the slots of both states",
        holds=all(high > low for high, low in pairwise(falling)), ours=" > ".join(f"{value:.2%}" for value in falling),
        note="three right slots, with none to three wrong ones",
    )  # fmt: skip
    few, many = (_with_slots(table, slots) for slots in (30, 300))
    record.claim(
        "Section 3", "the more slots are predefined, the smaller is the deviation of SA; RSA does not depend on them",
        holds=abs(few["SA"][0] - few["SA"][1]) > abs(many["SA"][0] - many["SA"][1]) and few["RSA"] == many["RSA"],
        ours=f"SA {_both(few['SA'])} with 30 slots, {_both(many['SA'])} with 300; RSA {_both(few['RSA'])}",
        note="the states of Table 3",
    )  # fmt: skip


def _both(values: Sequence[float]) -> str:
    return " and ".join(f"{value:.2%}" for value in values)


def _with_slots(table: Mapping[str, Any], slots: int) -> dict[str, list[float]]:
    """SA and RSA of both models of Table 3 where so many slots are predefined."""
    used = {name for facts in table["models"].values() for name in (*facts["pred"], *table["gold"])}
    names = [*sorted(used), *(f"more-slot{number}" for number in range(slots - len(used)))]
    domains: dict[str, dict[str, SlotSpec]] = {}
    for domain, slot in (name.split("-", 1) for name in names):
        domains.setdefault(domain, {})[slot] = SlotSpec()
    made: dict[str, list[float]] = {"SA": [], "RSA": []}
    for facts in table["models"].values():
        turn = Turn(speaker="user", state=state_of(table["gold"]), predicted=state_of(facts["pred"]))
        dialogue = Dialogue(id="example", turns=(turn,))
        scores = score(
            None,
            {"it": [dialogue]},
            measures=list(made),
            profile="verbatim",
            ontology=Ontology(domains=domains),
            intervals=False,
        )[0]
        for measure, values in made.items():
            values.append(float(scores[measure]))
    return made


def _of_table_a6(record: Reproduction, table: Mapping[str, Any]) -> None:
    scores = example(table["turns"], ["JGA", "SA", "RSA"])
    rows = scores.table("turn_scores")
    slot, relative = rows["SA"].to_list(), rows["RSA"].to_list()
    part = f"Table A6, {table['dialogue']}"
    for where, what, holds, ours in (
        (part, "JGA of every turn is 0", float(scores["JGA"]) == 0, f"{float(scores['JGA']):.2%}"),
        (
            "Section 2.2", "SA of turns 0 and 1 is about 96% though nothing is predicted correctly",
            min(slot[:2]) > 0.96 and not any(relative[:2]), f"{slot[0]:.2%} and {slot[1]:.2%}",
        ),
        (
            "Section 2.2", "two of three right in turn 4 and three of four in turn 5 have the same SA",
            slot[4] == slot[5], f"{slot[4]:.2%} and {slot[5]:.2%}",
        ),
        (
            "Section 4.1", "RSA of turns 0 to 3 is 0", not any(relative[:4]),
            ", ".join(f"{value:g}" for value in relative[:4]),
        ),
        (
            "Section 4.1", "in turns 4 to 6 SA stays the same, RSA rises with each slot that is predicted",
            len(set(slot[4:7])) == 1 and relative[4] < relative[5] < relative[6],
            f"SA {slot[4]:.2%}, RSA {' < '.join(f'{value:.2%}' for value in relative[4:7])}",
        ),
    ):  # fmt: skip
        record.claim(where, what, holds=holds, ours=ours, note=f"{_STATES} of Table A6")


def _of_the_appendix(record: Reproduction, paper: Mapping[str, Any]) -> None:
    first, second = paper["tableA3"], paper["tableA4"]
    wrong = [turn for turn in (0, 1) if _differing(first["turns"][turn]) == {"restaurant-pricerange"}]
    record.claim(
        "Appendix A", f"{first['dialogue']}: restaurant-pricerange alone is wrong in turns 0 and 1, and right in 2",
        holds=wrong == [0, 1] and not _differing(first["turns"][2]), ours=f"alone wrong in turns {wrong}", note=_STATES,
    )  # fmt: skip
    new = _differing(first["turns"][3]) - _differing(first["turns"][2])
    record.claim(
        "Appendix A", f"{first['dialogue']}: another incorrect prediction at turn 3 lasts to the end",
        holds=bool(new) and all(new <= _differing(turn) for turn in first["turns"][3:]),
        ours=", ".join(sorted(new)), note=_STATES,
    )  # fmt: skip
    late = _differing(second["turns"][4]), _differing(second["turns"][5]), _differing(second["turns"][6])
    record.claim(
        "Appendix A", f"{second['dialogue']}: hotel-internet is mistimed in turn 4, hotel-pricerange missed in 6",
        holds=late == ({"hotel-internet"}, set(), {"hotel-pricerange"}),
        ours=", ".join(f"turn {turn}: {' '.join(slots) or 'right'}" for turn, slots in enumerate(late, start=4)),
        note=_STATES,
    )  # fmt: skip


def _differing(turn: Mapping[str, Mapping[str, str]]) -> set[str]:
    """The slots that are not the same on both sides."""
    return {name for name in {*turn["gold"], *turn["pred"]} if turn["gold"].get(name) != turn["pred"].get(name)}


def _of_table_a5(record: Reproduction, paper: Mapping[str, Any]) -> None:
    """What the text says of the survey, counted from the printed table."""
    survey, models = paper["tableA5"], paper["table1"]["rows"]
    shown = Table("Table A5 as printed", ["method", "measures", "datasets"])
    for method, row in survey.items():
        shown.add(method, ", ".join(row["measures"]), ", ".join(row["datasets"]))
    record.tables["Table A5"] = [shown]
    alone = sum(row["measures"] == ["JGA"] for row in survey.values())
    datasets = Counter(name for row in survey.values() for name in row["datasets"])
    multiwoz = sum(any(name.startswith("MultiWOZ") for name in row["datasets"]) for row in survey.values())
    listed = [model for model in models if model in survey]
    reporting = [sum(name in row["measures"] for row in survey.values()) for name in ("JGA", "SA")]
    record.claim(
        "Section 1", "JGA and SA are utilized in most cases", holds=min(reporting) > _HALF * len(survey),
        ours=f"JGA {reporting[0]} of {len(survey)}, SA {reporting[1]} of {len(survey)}",
        note="from Table A5 as printed; most: more than half", why="true of JGA alone",
    )  # fmt: skip
    for part, what, holds, ours, bound in (
        ("Section 1", "MultiWOZ is the most used dataset",
         multiwoz > max(count for name, count in datasets.items() if not name.startswith("MultiWOZ")),
         f"{multiwoz} of {len(survey)}; " + ", ".join(f"{name} {count}" for name, count in datasets.most_common()), ""),
        ("Section 2.2", "several previous studies report solely JGA", alone >= _SEVERAL, f"{alone} of {len(survey)}",
         f"; several: {_SEVERAL} or more"),
        ("Section 4", "MultiWOZ 2.1 has been adopted in several studies", datasets["MultiWOZ 2.1"] >= _SEVERAL,
         f"{datasets['MultiWOZ 2.1']} of {len(survey)}", f"; several: {_SEVERAL} or more"),
        ("Section 4", "the models of Table 1 are of Table A5", len(listed) == len(models),
         f"{len(listed)} of {len(models)}", ""),
    ):  # fmt: skip
        record.claim(part, what, holds=holds, ours=ours, note=f"from Table A5 as printed{bound}")


def taxi_is_lowest(
    record: Reproduction, relative: Mapping[str, float], whose: str, note: str = "", why: str = UNEXPLAINED
) -> None:
    """Section 4.1 on Table 2: the taxi domain shows a low score."""
    ranked = sorted(relative.items(), key=lambda item: item[1])
    record.claim(
        "Section 4.1", f"taxi has a low RSA: the lowest of the five domains ({whose})",
        holds=ranked[0][0] == "taxi", ours=", ".join(f"{domain} {value:.2%}" for domain, value in ranked),
        note=note, why=why,
    )  # fmt: skip


def _of_slots(record: Reproduction, sources: Sources) -> None:
    part, what = "Section 2.2", "early and middle turns have fewer slots than late ones"
    claim = "five domains with 30 slots"
    alone = "for a dialogue about restaurants alone, SA counts the slots of four domains that never appear"
    few = "a dialogue contains a few domains"
    test = sources.multiwoz("test")
    if test is None:
        for where, title in ((part, what), ("Section 4", claim), ("Section 4.1", alone), ("Section 4.1", few)):
            record.impossible(where, title, "claimed", NO_TEST)
        return
    run = score(test, {"nothing": silent(test)}, measures="JGA", profile=PROFILE, intervals=False)[0]
    counts = read_counts(run)
    sizes = np.bincount(counts.dialogue)[counts.dialogue]
    third = np.minimum(3 * counts.turn // sizes, 2)
    means = [float(counts.gold_size[third == number].mean()) for number in range(3)]
    record.claim(
        part, what, holds=all(low < high for low, high in pairwise(means)),
        ours=", ".join(f"{name} {mean:.2f}" for name, mean in zip(_THIRDS, means, strict=True)),
        note="mean number of gold slots by third of the dialogue, 999 test dialogues",
    )  # fmt: skip
    used = run.table("slot_scores").select("domain", "slot").unique()
    domains = sorted(set(used["domain"].to_list()))
    record.claim(
        "Section 4", claim, holds=len(domains) == 5 and used.height == 30, ours=f"{len(domains)} and {used.height}",
        note=", ".join(domains),
    )  # fmt: skip
    named = [
        {name for turn in dialogue.user_turns() for name, slots in (turn.state or {}).items() if slots}
        for dialogue in test
    ]
    several = [len(names) for names in named]
    record.claim(
        "Section 4.1", few, holds=sum(several) / len(several) < len(domains) / 2,
        ours=f"{sum(several) / len(several):.2f} of {len(domains)} on average, at most {max(several)}",
        note="domains in the gold states of the test dialogues; a few: fewer than half on average",
    )  # fmt: skip
    of_restaurants = [names for names in named if names == {"restaurant"}]
    own = used.filter(used["domain"] == "restaurant").height
    record.claim(
        "Section 4.1", alone, holds=bool(of_restaurants) and counts.inventory > own,
        ours=f"{own} of {counts.inventory} slots are the restaurant's",
        note=f"{len(of_restaurants)} such test dialogues",
    )  # fmt: skip


def early_errors(
    record: Reproduction, part: str, what: str, scores: Run, positions: Mapping[str, float], note: str
) -> None:
    """Whether first errors fall into the first half more often than a turn taken at random would."""
    if not positions:
        record.impossible(part, what, "claimed", f"no dialogue ends wrong; {note}")
        return
    turns = Counter(scores.table("turn_scores")["dialogue"].to_list())
    early = [float(position < _HALF) for position in positions.values()]
    chance = sum((turns[name] + 1) // 2 / turns[name] for name in positions) / len(positions)
    share = sum(early) / len(early)
    low, high = (float(end) for end in ratio_intervals([early], [[1.0] * len(early)], bounds=(0.0, 1.0))[0])
    record.claim(
        part, what, holds=low > chance,
        ours=f"{share:.1%} [{low:.1%}, {high:.1%}] in the first half; by chance {chance:.1%}",
        note="first half: t / N is below one half, where t = 0, 1, ... of N turns is the first wrong one; with 95% "
        f"confidence more than by chance; {len(early)} dialogues; {note}",
        why="too few dialogues to tell it from chance" if share > chance else "not more than by chance",
    )  # fmt: skip


def _without_recovery(record: Reproduction, name: str, scores: Run, note: str) -> None:
    onset = first_errors(scores)
    kept = {dialogue: position for dialogue, position in onset.position.items() if dialogue not in onset.recovering}
    what = f"{name}: without the dialogues that are right again in between, errors still begin early"
    early_errors(record, "Appendix A", what, scores, kept, note)
    share = len(kept) / (len(onset.position) or 1)
    record.claim(
        "Appendix A", f"{name}: after an error JGA remains 0 to the end, a few dialogues aside", holds=share > 0.75,
        ours=f"in {len(kept)} of {len(onset.position)} dialogues that end wrong",
        note=f"theirs 583 of 642; more than three quarters; {note}",
    )  # fmt: skip


def _later_turns(record: Reproduction, name: str, scores: Run, note: str) -> None:
    rows = scores.table("turn_scores").select("dialogue", "exact").rows()
    local = read_counts(scores).turns.new_error
    wrong: set[str] = set()
    after = []
    for (dialogue, exact), error in zip(rows, local, strict=True):
        if dialogue in wrong:
            after.append(bool(exact) or not error)
        elif not exact:
            wrong.add(dialogue)
    record.claim(
        "Section 2.1", f"{name}: after the first error the model may correctly predict new states at later turns",
        holds=any(after), ours=f"{sum(after) / (len(after) or 1):.1%} of {len(after)} later turns are locally correct",
        note=f"right, or without an error of their own; may: at least one; {note}",
    )  # fmt: skip


def _small_errors(record: Reproduction, name: str, scores: Run, note: str) -> None:
    wrong = (1 - scores.table("turn_scores")["SA"].to_numpy()) * 30
    filled = float(read_counts(scores).gold_size.mean())
    record.claim(
        "Section 2.2", f"{name}: few slots are wrong, so that the total number of slots dominates SA",
        holds=float(wrong.mean()) < filled < 30 / 2, ours=f"{wrong.mean():.2f} wrong, {filled:.2f} filled of 30 slots",
        note=f"on average over turns; few: fewer than are filled, and less than half of the slots; {note}",
    )  # fmt: skip


def _printed_dialogue(record: Reproduction, part: str, table: Mapping[str, Any], sources: Sources) -> None:
    """The printed states beside those of the test set and of the FGA authors' SOM-DST."""
    key = dialogue_key(table["dialogue"])
    gold_of_test(record, part, table, sources)
    sample = next((dialogue for dialogue in sources.human_100() or () if dialogue_key(dialogue.id) == key), None)
    if sample is not None:
        shared = same_turns(table["turns"], "pred", [turn.predicted or {} for turn in sample.user_turns()])
        record.own(
            part, "turns in which another training of SOM-DST predicts the same", f"{shared} of {len(table['turns'])}",
            theirs="printed", note="the FGA authors' SOM-DST",
        )  # fmt: skip
