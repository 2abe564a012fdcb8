"""Laws that must hold on any corpus: identities between measures, order invariance, growth with lambda."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings, strategies as st

from dialgauge.dialogue import Dialogue
from dialgauge.measures import parse_measure
from dialgauge.tracking import ALL_MEASURES, Counts, PreparedInputs, score_prepared
from dialgauge.values import profile_named
from support.soak import examples
from tracking.corpora import corpora

Corpora = tuple[list[Dialogue], list[Dialogue]]


def study_of(data: Corpora) -> PreparedInputs:
    gold, predicted = data
    ids = {dialogue.id.lower().removesuffix(".json") for dialogue in predicted}
    both = [
        (turn.state, other.predicted)
        for dialogue in gold
        if dialogue.id.lower().removesuffix(".json") in ids
        for their in predicted
        if their.id == dialogue.id.lower().removesuffix(".json")
        for turn, other in zip(dialogue.user_turns(), their.user_turns(), strict=False)
    ]
    assume(any(wanted is not None and given is not None for wanted, given in both))
    return PreparedInputs(gold, {"it": predicted})


def counts_of(data: Corpora) -> Counts:
    return study_of(data).comparison("it", profile_named("canon")).counts


def value(counts: Counts, name: str) -> float:
    return parse_measure(name).value(counts)


@settings(max_examples=examples(60), deadline=None)
@given(corpora(), st.floats(0.01, 20), st.floats(0.01, 20))
def test_fga_grows_from_jga_to_turn_match(data: Corpora, first: float, second: float) -> None:
    counts = counts_of(data)
    low, high = sorted((first, second))
    jga, match = value(counts, "JGA"), value(counts, "TurnMatch(rule=code)")
    assert value(counts, "FGA@0(rule=code)") == pytest.approx(jga)
    assert value(counts, "FGA@inf(rule=code)") == pytest.approx(match)
    assert value(counts, "FGA@1e9(rule=code)") == pytest.approx(match)
    weighted = [value(counts, f"FGA@{rate!r}(rule=code)") for rate in (low, high)]
    assert jga - 1e-12 <= weighted[0] <= weighted[1] + 1e-12 <= match + 2e-12


@settings(max_examples=examples(60), deadline=None)
@given(corpora())
def test_rules_are_ordered(data: Corpora) -> None:
    """The paper's rule forgives at least as much as the authors' code."""
    counts = counts_of(data)
    assert value(counts, "FGA@0.5(rule=code)") <= value(counts, "FGA@0.5(rule=paper)") + 1e-12


@settings(max_examples=examples(60), deadline=None)
@given(corpora())
def test_three_forms_of_slot_accuracy_are_one(data: Corpora) -> None:
    """FGA eq. 1 on triples, RSA eq. 2 and TRADE's counting: T minus V, D and W over T."""
    counts = counts_of(data)
    turns, size = counts.turns, counts.inventory
    missing, extra, shared = turns.wrong + turns.missed, turns.wrong + turns.spurious, turns.wrong
    fga_form = (size - missing - extra + shared) / size
    rsa_form = (size - (turns.wrong + turns.missed) - turns.spurious) / size
    above, _ = parse_measure("SA").rows(counts)
    assert (fga_form == above).all()
    assert (rsa_form == above).all()


@settings(max_examples=examples(60), deadline=None)
@given(corpora())
def test_orders_between_measures(data: Corpora) -> None:
    counts = counts_of(data)
    jga, rsa = value(counts, "JGA"), value(counts, "RSA(empty=one)")
    assert jga <= rsa + 1e-12 <= value(counts, "F1(average=turn)") + 2e-12
    assert value(counts, "DialogueExact") <= value(counts, "FinalJGA")
    assert value(counts, "RSA") <= rsa + 1e-12
    for name in ALL_MEASURES:
        if "slot" not in name and "domain" not in name:
            found = value(counts, name)
            assert not found < 0 and not found > 1 + 1e-12


@settings(max_examples=examples(40), deadline=None)
@given(corpora(), st.integers(0, 2**32))
def test_order_of_dialogues_and_slots_does_not_matter(data: Corpora, seed: int) -> None:
    study = study_of(data)
    shuffled = PreparedInputs(_shuffled(data[0], seed), {"it": _shuffled(data[1], seed + 1)})
    profile = profile_named("canon")
    one, other = study.comparison("it", profile), shuffled.comparison("it", profile)
    for name in ALL_MEASURES:
        if "slot" not in name and "domain" not in name:
            first, second = value(one.counts, name), value(other.counts, name)
            assert first == pytest.approx(second, abs=1e-12, nan_ok=True)
    assert one.signature == other.signature


def _shuffled(dialogues: list[Dialogue], seed: int) -> list[Dialogue]:
    generator = random.Random(seed)
    import msgspec

    result = []
    for dialogue in dialogues:
        turns = []
        for turn in dialogue.turns:
            changes = {}
            for name in ("state", "predicted"):
                state = getattr(turn, name)
                if state is not None:
                    pairs = [
                        (domain, slot, values) for domain, slots in state.items() for slot, values in slots.items()
                    ]
                    generator.shuffle(pairs)
                    mixed: dict[str, dict[str, tuple[str, ...]]] = {}
                    for domain, slot, values in pairs:
                        mixed.setdefault(domain, {})[slot] = values
                    changes[name] = mixed
            turns.append(msgspec.structs.replace(turn, **changes))
        result.append(msgspec.structs.replace(dialogue, turns=tuple(turns)))
    generator.shuffle(result)
    return result


@settings(max_examples=examples(40), deadline=None)
@given(corpora())
def test_parts_add_up_to_the_whole(data: Corpora) -> None:
    """Numerators and denominators by dialogue and by turn number sum to the corpus value."""
    study = study_of(data)
    measures = [parse_measure(name, "tracking") for name in ("JGA", "FGA@0.5", "RSA")]
    system = score_prepared(study, measures, [profile_named("canon")], resampling=None).systems[0]
    counts = study.comparison("it", profile_named("canon")).counts
    by_turn = system.by("turn")
    total = sum(group["turns"] for group in by_turn.values())
    assert total == len(counts)
    for measure in measures:
        mean = sum(group["scores"][str(measure)] * group["turns"] for group in by_turn.values()) / total
        assert mean == pytest.approx(measure.value(counts))
