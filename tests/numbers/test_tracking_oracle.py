"""All tracking numbers against the plain oracle, on random corpora and on real systems.

Notices: the last digit of a score, of a dialogue's sum, of a turn's value or of a part; one dialogue or one turn
missing; correct and missed counts swapped; two domains or two slots swapped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import surface
import tracking_oracle as oracle
from documents import differences, long
from hypothesis import given, strategies as st
from tracking_corpora import corpora, flat, multiwoz_gold, mwzeval_file, rated_dialogues
from tracking_oracle import Dialogues, States

PROFILES = ["plain", "canon", "plain_nodc", "canon_nodc", "verbatim", "hidst", "simpletod", "convlab3"]
KINDS = {1: "wrong", 2: "missed", 3: "spurious"}
#: Parts are shown for all but means over slots or domains; means over dialogues belong to whole dialogues.
IN_DOMAINS = [name for name in oracle.MEASURES if name not in oracle.GROUPED]
IN_TURNS = [*oracle.TURN_LEVEL, *oracle.POOLED]

Corpora = tuple[States, States]


def require_same(run: Any, dialogues: Dialogues, inventory: int = 30) -> None:
    """Scores, sums by dialogue, values and counts by turn, counts by slot, and every wrong slot."""
    expected: dict[str, float | None] = {}
    for name in surface.values(run):
        if name in oracle.GROUPED:
            expected[name] = oracle.value(dialogues, name)
            continue
        sums = {dialogue: oracle.sums(name, turns, inventory) for dialogue, turns in dialogues.items()}
        expected[name] = oracle.ratio(sums.values())
        found = surface.by_dialogue(run, name)
        assert found.keys() >= {dialogue for dialogue, (_, below) in sums.items() if below}, name
        assert not differences(found, {dialogue: sums[dialogue] for dialogue in found}), name
    assert len(expected) >= 20
    assert not differences(surface.values(run), expected)
    turns = {(dialogue, turn.number): turn for dialogue, some in dialogues.items() for turn in some}
    assert surface.counts(run) == {place: turn.counts for place, turn in turns.items()}
    for name in [name for name in expected if name in IN_TURNS]:
        by_turn = {place: oracle.turn_value(name, turn, inventory) for place, turn in turns.items()}
        assert not differences(surface.turn_values(run, name), by_turn), name
    letters = {"E": "exact", "1": "type1", "2": "type2"}
    assert surface.error_types(run) == {place: letters[turn.kinds["code"]] for place, turn in turns.items()}
    assert surface.counts_by_slot(run) == {
        (dialogue, slot): found
        for dialogue, some in dialogues.items()
        for slot, found in oracle.slot_counts(some).items()
    }
    assert surface.wrong_slots(run) == {
        (*place, slot, KINDS[oracle.error_kind(turn, slot)]) for place, turn in turns.items() for slot in turn.wrong
    }


def require_totals(run: Any, dialogues: Dialogues) -> None:
    turns = [turn for some in dialogues.values() for turn in some]
    sums = [sum(turn.counts[place] for turn in turns) for place in range(4)]
    expected = dict(zip(("correct", "wrong_value", "missed", "spurious"), sums, strict=True)) | {
        "dialogues": len(dialogues),
        "turns": len(turns),
        "exact": sum(turn.exact for turn in turns),
        "turn_match": sum(turn.kinds["code"] != "1" for turn in turns),
        "turn_label_match": sum(turn.label for turn in turns),
        "both_empty": sum(not turn.gold and not turn.predicted for turn in turns),
        "gold_empty": sum(not turn.gold for turn in turns),
        "dialogues_exact": sum(all(turn.exact for turn in some) for some in dialogues.values()),
    }
    found = surface.totals(run)
    assert {name: found[name] for name in expected} == expected


def require_parts(run: Any, gold: States, predicted: States, profile: str) -> None:
    """By domain, slot, turn number and number of domains."""
    dialogues = oracle.oracle(gold, predicted, profile)
    names = list(surface.values(run))
    turns = [turn for some in dialogues.values() for turn in some]
    by_domain = surface.parts(run, "domain")
    assert by_domain.keys() == oracle.domains(turns, gold_only=False)
    inside: dict[tuple[str, int, str], tuple[int, int, int, int]] = {}
    for domain, part in by_domain.items():
        chosen, only_predicted = oracle.in_domain(gold, predicted, domain, profile)
        assert part["spurious_domain_turns"] == only_predicted
        assert (part["dialogues"], part["turns"]) == (len(chosen), sum(map(len, chosen.values())))
        for name in (name for name in names if name in IN_DOMAINS and chosen):
            assert not differences(part[name], oracle.value(chosen, name)), (domain, name)
        inside |= {(dialogue, turn.number, domain): turn.counts for dialogue, some in chosen.items() for turn in some}
    found = surface.counts_by_domain(run)
    assert {place: some for place, some in found.items() if any(some[:3])} == inside
    assert sum(1 for some in found.values() if not any(some[:3])) == sum(
        part["spurious_domain_turns"] for part in by_domain.values()
    )
    by_slot = surface.parts(run, "slot")
    expected = oracle.slot_counts(turns)
    assert by_slot.keys() == expected.keys()
    for slot, (c, v, d, w) in expected.items():
        part = by_slot[slot]
        assert (part["correct"], part["wrong_value"], part["missed"], part["spurious"]) == (c, v, d, w)
        assert not differences(part["Accuracy"], 1 - (v + d + w) / len(turns))
        for name, sums in oracle.POOLED.items():
            assert not differences(part[name], oracle.ratio([sums(c, v, d, w)])), (slot, name)
    sizes = {dialogue: str(len(oracle.domains(some))) for dialogue, some in dialogues.items()}
    places = {
        "turn": {(dialogue, turn.number): str(turn.number) for dialogue, some in dialogues.items() for turn in some},
        "n-domains": {
            (dialogue, turn.number): sizes[dialogue] for dialogue, some in dialogues.items() for turn in some
        },
    }
    for by, groups in places.items():
        parts = surface.parts(run, by)
        assert parts.keys() == set(groups.values())
        for group, part in parts.items():
            members = {
                dialogue: kept
                for dialogue, some in dialogues.items()
                if (kept := [turn for turn in some if groups[dialogue, turn.number] == group])
            }
            assert (part["dialogues"], part["turns"]) == (len(members), sum(map(len, members.values())))
            for name in (name for name in names if name in IN_TURNS):
                assert not differences(part[name], oracle.value(members, name)), (by, group, name)


@pytest.mark.parametrize("profile", PROFILES)
@given(data=corpora(), missing_as_empty=st.booleans())
def test_random_corpora(profile: str, data: Corpora, missing_as_empty: bool) -> None:
    gold, predicted = data
    dialogues = oracle.oracle(gold, predicted, profile, missing_as_empty=missing_as_empty)
    # Under verbatim the slots of gold are the inventory; the next test has those.
    measures = [name for name in oracle.MEASURES if name != "SA" or profile != "verbatim"]
    coverage = "empty" if missing_as_empty else "intersection"
    run = surface.tracking(gold, predicted, profile=profile, coverage=coverage, measures=measures)
    require_same(run, dialogues)
    require_totals(run, dialogues)


@given(corpora(whole=True))
def test_verbatim_counts_the_slots_of_gold(data: Corpora) -> None:
    gold, predicted = data
    dialogues = oracle.oracle(gold, predicted, "verbatim")
    slots = {slot for turns in dialogues.values() for turn in turns for slot in turn.gold}
    run = surface.tracking(gold, predicted, profile="verbatim", measures=oracle.MEASURES)
    require_same(run, dialogues, len(slots))


@given(corpora(), st.sampled_from(["canon", "hidst", "plain_nodc"]))
def test_parts_of_random_corpora(data: Corpora, profile: str) -> None:
    run = surface.tracking(*data, profile=profile, measures=oracle.MEASURES)
    require_parts(run, *data, profile)


@given(corpora())
def test_first_errors_of_random_corpora(data: Corpora) -> None:
    dialogues = oracle.oracle(*data)
    errors = surface.dialogue_errors(surface.tracking(*data))
    wrong = {dialogue: turns for dialogue, turns in dialogues.items() if not turns[-1].exact}
    first = {dialogue: next(place for place, turn in enumerate(turns) if not turn.exact)
             for dialogue, turns in wrong.items()}  # fmt: skip
    found = errors["first_error"]
    assert found["dialogues"] == len(wrong)
    assert found["turn"] == {dialogue: wrong[dialogue][place].number for dialogue, place in first.items()}
    assert not differences(
        found["position"], {dialogue: place / len(wrong[dialogue]) for dialogue, place in first.items()}
    )
    again = {dialogue for dialogue, place in first.items() if any(turn.exact for turn in wrong[dialogue][place:])}
    assert set(found["recovering"]) == again
    sizes = [max(len(turn.gold) for turn in turns) for turns in dialogues.values()]
    assert errors["slots_per_dialogue"] == [sizes.count(size) for size in range(max(sizes) + 1)]
    runs = list(_episodes(dialogues))
    for slot in errors["slots"]:
        mine = [episode for episode in runs if episode[0] == slot["pair"]]
        assert slot["episodes"] == len(mine) and slot["recovered"] == sum(recovered for *_, recovered in mine)
        assert not differences(slot["mean_origin"], sum(origin for _, origin, _, _ in mine) / len(mine))
        assert not differences(slot["mean_turns"], sum(length for _, _, length, _ in mine) / len(mine))
    assert {slot["pair"] for slot in errors["slots"]} == {slot for slot, *_ in runs}


def _episodes(dialogues: Dialogues) -> Any:
    """Slot, first turn, length and whether it ends before the dialogue, of every stretch of wrong turns."""
    for turns in dialogues.values():
        for slot in {slot for turn in turns for slot in turn.wrong}:
            flags = [slot in turn.wrong for turn in turns]
            for place, flag in enumerate(flags):
                if flag and (place == 0 or not flags[place - 1]):
                    end = next((other for other in range(place, len(flags)) if not flags[other]), len(flags))
                    yield slot, turns[place].number, end - place, end < len(flags)


@pytest.fixture(scope="session")
def gold_states(shared_data: Path) -> States:
    return multiwoz_gold(shared_data / "multiwoz21" / "test.json.gz")


@pytest.mark.parametrize("system", ["augpt", *map(long, ("dots", "mintl", "ubar"))])
def test_real_systems(shared_data: Path, gold_states: States, system: str) -> None:
    path = shared_data / "dst_predictions" / f"{system}.json.gz"
    run = surface.tracking(shared_data / "multiwoz21" / "test.json.gz", path, measures="all")
    dialogues = oracle.oracle(gold_states, flat(mwzeval_file(path)))
    require_same(run, dialogues)
    require_totals(run, dialogues)


def test_the_hundred_dialogues_of_somdst(shared_data: Path) -> None:
    path = shared_data / "dst_predictions" / "somdst_human100.tar.gz"
    gold, predicted = rated_dialogues(path)
    run = surface.tracking(None, path, profile="plain", measures=oracle.MEASURES)
    require_same(run, oracle.oracle(gold, predicted, "plain"))
    require_parts(run, gold, predicted, "plain")
