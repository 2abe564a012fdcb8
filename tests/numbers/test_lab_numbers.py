"""The lab: ``convlab2_interaction.json`` as far as it can be compared, ConvLab-2's rules by hand, and laws.

Notices: the last digit of a measure of success; strict and compat rules swapped; a conversation missing; acts said and
acts heard swapped; a goal's first try counted wrongly.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest
import surface
from documents import differences
from tasks_town import write_town

COMPAT = {
    "success": "Success(rules=compat)", "book": "Book(rules=compat)", "inform_p": "InformPrecision(rules=compat)",
    "inform_r": "InformRecall(rules=compat)", "inform_f1": "InformF1(rules=compat)",
}  # fmt: skip
#: The recordings do not tell which of two values was heard last, or what stood on the agenda.
UNTOLD = {"SNG0772", "PMUL1373"}
THEIR_AGENTS = "what ConvLab-2's own agents did; ours are others: test_our_agents_reach_the_anchors"
ELSEWHERE = "measured with models of understanding that are not here"
NOT_COMPARED = {
    "/what": "words", "/sources/*": "words", "/how/*": "words", "/act_level/notes/*": "words",
    **{f"/act_level/*/{leaf}": THEIR_AGENTS for leaf in (
        "complete", "success", "book", "inform_p", "inform_r", "inform_f1", "utt_all", "utt_succ", "hit_cap",
        "max_exchanges", "db_satisfy_dialogues", "per_domain/*/0")},
    "/act_level/generated_goals*": "goals that ConvLab-2 drew and nobody kept",
    "/gcdf1_reference_evaluator/*": "the recordings' are in gcdf1_convlab_baseline.json.gz; others: as act_level",
    "/text_level/*": ELSEWHERE, "/nlu_probe_human_test/*": ELSEWHERE,
    "/throughput_single_process/*": "speed of other code on another machine; benchmarks/bench_lab.py measures ours",
    "/published_convlab2_end_to_end_1000_dialogues/*": "printed by others for agents that are not here",
    **{f"/recordings/{leaf}": "counted from the recordings, of no measure of ours" for leaf in (
        "loops/*", "domain_never_discussed/*", "with_hotel_or_restaurant_booking/*", "without/*", "nobook_acts",
        "system_answers_bye_with_greet")},
    "/human_val_test/new_constraints*": "of human texts, of no measure",
    "/human_val_test/references/*": "of human texts, of no measure",
    "/human_val_test/fail_book_tasks_refused/0": "what human wizards did, of no measure",
    "/human_val_test/fail_info_stale_raw_test/*": "before spelling is mended; we read goals with mended spelling",
}  # fmt: skip


@pytest.fixture(scope="session")
def anchors(expected_values: Callable[[str], Any]) -> Any:
    return expected_values("convlab2_interaction.json")


@pytest.fixture(scope="session")
def goals(shared_data: Path) -> Path:
    return shared_data / "multiwoz21" / "test.json.gz"


@pytest.fixture(scope="session")
def held(goals: Path) -> Any:
    """Our user and system about all test goals, act by act."""
    return surface.conversations(goals=str(goals))


@pytest.fixture(scope="session")
def replayed(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The recordings judged, where the system says what the user heard; and the metrics that are stored with them."""
    stored, heard = {}, []
    for path in sorted((shared_data / "gcdf1" / "conversations").glob("dialogues_*")):
        for dialogue in json.loads(gzip.decompress(path.read_bytes())):
            turns = [
                {**turn, "frames": [frame for frame in turn["frames"] if frame["actions"]]}
                for turn in dialogue["turns"]
            ]
            for said, after in zip(turns[1::2], turns[2::2], strict=False):
                said["frames"] = [{**frame, "slots": []} for frame in after["nlu"]["frames"]]
            stored[dialogue["dialogue_id"].removesuffix(".json")] = dialogue["metrics"]
            heard.append({**dialogue, "turns": turns})
    path = tmp_path_factory.mktemp("recordings") / "dialogues_001.json"
    path.write_text(json.dumps(heard))
    return *surface.recorded_conversations(path, shared_data / "multiwoz21" / "db"), stored


@pytest.mark.long
def test_the_file(anchors: Any, held: Any, replayed: Any, goals: Path, shared_data: Path) -> None:
    ours = {
        "act_level": {name: of_goals(held) for name in anchors["act_level"] if name.startswith("test_goals")},
        "recordings": of_recordings(shared_data / "gcdf1" / "conversations", *replayed[:2]),
        "human_val_test": of_people(goals, shared_data),
    }
    assert not differences(ours, anchors, NOT_COMPARED, tolerance=1e-9)


def defined(run: Any, measure: str) -> int:
    """Conversations for which a measure has a value."""
    return sum(den > 0 for _, den in surface.by_dialogue(run, measure).values())


def of_goals(run: Any) -> dict[str, Any]:
    """How many of the conversations there are, and how many have bookings, requests and each domain."""
    domains = ("attraction", "hotel", "restaurant", "taxi", "train")
    number = defined(run, COMPAT["success"])
    return {
        "finished": number,
        "errors": 1000 - number,
        "n_book": defined(run, COMPAT["book"]),
        "n_inform": defined(run, COMPAT["inform_r"]),
        "per_domain": {domain: ["", defined(run, f"Success(rules=compat)[{domain}]")] for domain in domains},
    }


def of_recordings(folder: Path, values: Mapping[str, float | None], sums: Any) -> dict[str, Any]:
    """What the file says of the paper's recordings, from what is read of them and how we judge them."""
    dialogues = [turns for _, turns in surface.goals_and_turns(folder)]
    lengths = [len(turns) for turns in dialogues]
    said: dict[str, Counter[Any]] = {side: Counter() for side in ("user", "system")}
    heard: dict[str, Counter[Any]] = {side: Counter() for side in said}
    reached = {side: [0, 0, 0] for side in said}  # acts both said and heard, said, heard; nobody hears the last turn
    for place, (side, *acts) in ((len(turns) - place, turn) for turns in dialogues for place, turn in enumerate(turns)):
        one, other = (Counter((name, slot) for name, slot, _ in each) for each in acts)
        said[side] += one
        heard[side] += other
        if place > 1:
            reached[side] = [a + b.total() for a, b in zip(reached[side], (one & other, one, other), strict=True)]
    return {
        "dialogues": len(dialogues), "utterances": sum(lengths), "mean_utterances": fmean(lengths),
        "median": median(lengths), "length_histogram": {str(key): count for key, count in Counter(lengths).items()},
        "stored_metrics": {
            **{key: round(values[name] or 0, 4) for key, name in COMPAT.items()},
            "n_book": len(sums[COMPAT["book"]]), "n_inform": len(sums[COMPAT["inform_r"]]),
        },
        "acts": {
            "user_said": said["user"].total(), "system_said": said["system"].total(),
            "system_heard": heard["user"].total(), "user_heard": heard["system"].total(),
            "kinds": {"user": len(said["user"]), "system": len(said["system"]), "system_heard": len(heard["user"]),
                      "user_heard": len(heard["system"])},
        },
        "heard_vs_said_act_slot": {
            f"{side}_to_{other}": {"recall": round(hits / one, 4), "precision": round(hits / two, 4)}
            for (side, (hits, one, two)), other in zip(reached.items(), ("system", "user"), strict=True)
        },
    }  # fmt: skip


def of_people(goals: Path, shared_data: Path) -> dict[str, Any]:
    """Lengths of human dialogues, and what their goals want tried first."""
    people = [*surface.goals_and_turns(shared_data / "multiwoz21" / "val.json.gz"), *surface.goals_and_turns(goals)]
    lengths = sorted(len(turns) for _, turns in people)
    stale, live = surface.first_tries(goals)
    return {
        "dialogues": len(people), "mean_utterances": round(fmean(lengths), 2), "median": median(lengths),
        "p95": lengths[int(0.95 * len(lengths))], "max": lengths[-1],
        "fail_info_entries": sum(bool(task.fail_info) for tasks, _ in people for task in tasks.values()),
        "fail_book_tasks_refused": ["", sum(bool(task.fail_book) for tasks, _ in people for task in tasks.values())],
        "fail_info_stale_after_typo_fix_test": [stale, stale + live],
    }  # fmt: skip


@pytest.mark.long
def test_recordings_dialogue_by_dialogue(replayed: Any) -> None:
    """The evaluator's own numbers stand in the files; success agrees in 998 of 1,000."""
    _, sums, stored = replayed
    assert len(stored) == 1000
    for key, metrics in stored.items():
        theirs = {
            "book": metrics["book rate"],
            **{f"inform_{name[0].lower()}": metrics["inform"][name] for name in ("precision", "recall")},
        }
        theirs["inform_f1"] = metrics["inform"]["F1"]
        for name, value in theirs.items():
            pair = sums[COMPAT[name]].get(key)
            assert (pair and pair[0] / pair[1]) == (None if value is None else pytest.approx(value, abs=1e-9)), (
                key,
                name,
            )
        done = sums[COMPAT["success"]][key] == (1.0, 1.0)
        assert (done == bool(metrics["task succcess"])) is (key not in UNTOLD), key


@pytest.mark.long
def test_our_agents_reach_the_anchors(anchors: Any, held: Any) -> None:
    """Section 16 of ``specs/interaction.md``, and better than ConvLab-2's agents on the same goals."""
    values = surface.values(held)
    assert (values["Success(rules=compat)"] or 0) >= 0.985 > anchors["act_level"]["test_goals_as_is"]["success"]
    assert (values["SuccessOfSatisfiable"] or 0) >= 0.98
    assert (values["RefusedThenFixed"], values["FailPath"]) == (1.0, 1.0)
    assert min(values["I-GCDF1"] or 0, values["R-GCDF1"] or 0) >= 0.99
    assert max(num for num, _ in surface.by_dialogue(held, "Exchanges").values()) < 20
    assert max(num for num, _ in surface.by_dialogue(held, "LongestRun").values()) < 3


@pytest.mark.long
def test_the_papers_agents_fail_as_in_the_paper(goals: Path, anchors: Any) -> None:
    """GCDF1 and success of 300 conversations within their sampling error of the recordings'."""
    values, theirs = surface.with_paper_errors(goals, 300), anchors["gcdf1_reference_evaluator"]["recordings_rerun"]
    for kind in ("I", "R"):
        printed = theirs[f"{kind.lower()}_gcdf1"]["combined"]
        assert values[f"{kind}-GCDF1"] == pytest.approx(printed, abs=0.08), kind
    assert values["Success(rules=compat)"] == pytest.approx(anchors["recordings"]["stored_metrics"]["success"], abs=0.1)
    by_domain = {
        domain: values[f"I-GCDF1 recall[{domain}]"] or 0 for domain in ("attraction", "hotel", "taxi", "train")
    }
    assert min(by_domain, key=lambda domain: by_domain[domain]) == "taxi"


# ConvLab-2's rules by hand, in the small town


def said(*acts: str) -> dict[str, Any]:
    """What a side says, from texts such as ``Hotel-Inform|area|north``."""
    frames: dict[str, list[Any]] = {}
    for name, slot, value in (act.split("|") for act in acts):
        frames.setdefault(name.partition("-")[0].lower(), []).append({"act": name, "slot": slot, "values": [value]})
    state = {"active_intent": "NONE", "requested_slots": [], "slot_values": {}}
    return {"frames": [{"service": key, "actions": each, "slots": [], "state": state} for key, each in frames.items()]}


def recording(name: str, goal: Mapping[str, Any], *turns: Mapping[str, Any]) -> dict[str, Any]:
    """A conversation in the layout of the recordings; a user's turn follows the last, which the rules do not see."""
    bye = {"frames": [{"service": "general", "actions": [{"act": "general-bye"}], "slots": [], "state": {}}]}
    whole = [
        {
            **turn,
            "speaker": ("USER", "SYSTEM")[place % 2],
            "turn_id": str(place),
            "utterance": "",
            "nlu": {"frames": []},
        }
        for place, turn in enumerate((*turns, bye, bye))
    ]
    return {"dialogue_id": name, "goal": goal, "final_goal": {}, "metrics": {}, "services": [*goal], "turns": whole}


THEATRE = {"attraction": {"info": {"type": "theatre", "area": "centre"}, "reqt": {"entrance fee": "?"}}}
ASKS = said("Attraction-Inform|type|theatre", "Attraction-Inform|area|centre")
TELLS = said("Attraction-Recommend|name|adc theatre", "Attraction-Inform|entrance fee|4 pounds")
HOTEL = {"hotel": {"info": {"area": "north", "stars": "4"}, "book": {"day": "monday"}, "booked": "?"}}
HALF = {"hotel": {"info": {"area": "centre", "stars": "4"}, "book": {"day": "monday"}, "booked": "?"}}
WANTS = said("Hotel-Inform|area|north")
#: Conversation, and success, book rate, precision, recall by ConvLab-2's rules; None: not defined.
CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "done": ((THEATRE, ASKS, TELLS), (1, None, 1, 1)),
    "alike": ((THEATRE, ASKS, said("Attraction-Inform|entrance fee|about 4 pounds")), (1, None, 1, 1)),
    "unlike": ((THEATRE, ASKS, said("Attraction-Inform|entrance fee|free")), (0, None, 1, 1)),
    "never": ((THEATRE, ASKS, said("Attraction-Recommend|name|adc theatre")), (0, None, 0, 0)),
    "mended": ((THEATRE, ASKS, said("Attraction-Inform|entrance fee|free"), ASKS, TELLS), (1, None, 1, 1)),
    "malformed": ((THEATRE, ASKS, said("Attraction-Inform|area|nowhere"), ASKS, TELLS), (1, None, 1 / 2, 1)),
    "needless": ((THEATRE, ASKS, TELLS, ASKS, said("Attraction-Inform|phone|01223000000")), (1, None, 1 / 2, 1)),
    "uncounted": ((THEATRE, ASKS, TELLS, ASKS, said("Attraction-Inform|postcode|cb11ab")), (1, None, 1, 1)),
    "stray": ((THEATRE, ASKS, TELLS, ASKS, said("Hotel-Inform|phone|01223000000", "Train-Inform|trainID|TR1")),
              (1, None, 1 / 3, 1)),
    "booked": ((HOTEL, WANTS, said("Booking-Book|Ref|00000000")), (1, 1, None, None)),
    "booked another": ((HOTEL, WANTS, said("Booking-Book|Ref|00000001")), (0, 0, None, None)),
    "booked half right": ((HALF, WANTS, said("Booking-Book|Ref|00000000")), (0, 1 / 2, None, None)),
    "booked as a train": ((HOTEL, WANTS, said("Train-OfferBooked|Ref|00000000")), (0, 0, None, None)),
    "not booked": ((HOTEL, WANTS, said("Hotel-Inform|name|acorn guest house")), (0, 0, None, None)),
    "idle": (({"attraction": {"info": {"area": "centre"}}}, ASKS, TELLS), (0, None, None, None)),
}  # fmt: skip


def test_compat_rules_by_hand(tmp_path: Path) -> None:
    corpus = tmp_path / "dialogues_001.json"
    corpus.write_text(json.dumps([recording(name, *case) for name, (case, _) in CASES.items()]))
    values, sums = surface.recorded_conversations(corpus, write_town(tmp_path).parent / "db")
    names = [COMPAT[key] for key in ("success", "book", "inform_p", "inform_r")]
    for case, (_, expected) in CASES.items():
        pairs = [sums[name].get(case) for name in names]
        assert [pair and pair[0] / pair[1] for pair in pairs] == pytest.approx(expected, abs=1e-12), case
    for place, name in enumerate(names):
        assert values[name] == pytest.approx(
            fmean(e[place] for _, e in CASES.values() if e[place] is not None), abs=1e-9
        )


# Laws, in the synthetic town


def test_same_seed_same_numbers_and_goals_stand_alone() -> None:
    first, again, fewer, other = (
        surface.conversations(count=count, seed=seed, trials=2, user="agenda-baseline", system="rule-baseline")
        for count, seed in ((24, 0), (24, 0), (12, 0), (24, 1))
    )
    assert surface.values(first) == surface.values(again) != surface.values(other)
    for name in ("Success(rules=strict)", "Success(rules=compat)", "Exchanges", "I-GCDF1", "JGA"):
        whole, part = surface.by_dialogue(first, name), surface.by_dialogue(fewer, name)
        assert part and part.items() <= whole.items(), name


def test_trials_of_goals_are_trials_of_tasks() -> None:
    """Seven utterances suffice for some of the goals only."""
    run = surface.conversations(count=15, trials=3, exchanges=5)
    values, verdicts = surface.values(run), dict[str, list[float]]()
    for key, (num, _) in surface.by_dialogue(run, "Success(rules=compat)").items():
        verdicts.setdefault(key.partition("#")[0], []).append(num)
    assert {len(each) for each in verdicts.values()} == {3}
    share = fmean(map(fmean, verdicts.values()))
    assert 0 < share < 1, "otherwise this shows nothing"
    assert values["Success(rules=compat)"] == pytest.approx(share, abs=1e-12)
    assert values["pass^1(rules=compat)"] == pytest.approx(share, abs=1e-12)
    assert values["pass^3(rules=compat)"] == pytest.approx(fmean(map(all, verdicts.values())), abs=1e-12)
    for name in [one for one in values if one.startswith(("Success", "Book(", "EntityMatch"))]:
        right, of = map(sum, zip(*surface.by_dialogue(run, name).values(), strict=True))
        assert values[name] == pytest.approx(right / of, abs=1e-12), name


GYM = """
domain: gym
title: the desk of a gym
services:
  class:
    title: a class
    rows: classes.csv
    name: class
    search:
      starts: same
      price: same
      sauna: yes-no
    answer: [trainer]
    book:
      takes: {day: day, people: number 1..4}
"""
CLASSES = "class,starts,price,sauna,trainer\nSunrise,7:00,8,yes,Ada\nDusk,19:30,12.50,no,Bo\n"


@pytest.mark.parametrize(
    ("wishes", "answers"),
    [
        ({"starts": "07:00", "price": "8.0", "sauna": "true"}, True),
        ({"starts": "19:30", "price": "12.5", "sauna": "false"}, True),
        ({"starts": "7:15"}, False),
        ({"price": "8.5"}, False),
        ({"sauna": "no", "price": "8"}, False),
    ],
)
def test_spellings_of_values_in_a_domain_of_ones_own(tmp_path: Path, wishes: dict[str, str], answers: bool) -> None:
    """07:00 is 7:00, 12.5 is 12.50 and true is yes; what no row has cannot be found."""
    (tmp_path / "domain.yaml").write_text(GYM)
    (tmp_path / "classes.csv").write_text(CLASSES)
    task = {"service": "class", "want": wishes, "ask": ["trainer"], "book": {"day": "Monday", "people": "2"}}
    (tmp_path / "goals.jsonl").write_text(json.dumps({"id": "g", "tasks": [task]}))

    options = {"domain": str(tmp_path), "goals": str(tmp_path / "goals.jsonl")}
    if answers:
        assert surface.values(surface.conversations(**options))["Success(rules=strict)"] == 1
    else:
        assert surface.refused(surface.conversations, **options)
