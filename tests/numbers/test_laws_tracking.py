"""Laws of the tracking measures on any corpus.

Notices: a value above 1 or below 0; one dialogue missing; two measures swapped; parts that do not add up to the whole.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import surface
import tracking_oracle as oracle
from documents import differences
from hypothesis import given, strategies as st
from tracking_corpora import corpora
from tracking_oracle import States

Corpora = tuple[States, States]
SUMMED = [name for name in oracle.MEASURES if name not in oracle.GROUPED]


def measured(data: Corpora, *names: str, **options: Any) -> list[float]:
    """Measures that have a value on every corpus."""
    found = surface.values(surface.tracking(*data, measures=list(names), **options))
    return [value for value in found.values() if value is not None]


@pytest.mark.parametrize("profile", ["plain", "canon", "canon_nodc", "verbatim", "llm", "trippy", "simpletod"])
@given(data=corpora(whole=True))
def test_gold_against_gold_is_perfect(profile: str, data: Corpora) -> None:
    gold = {name: [{slot: _first(values) for slot, values in (state or {}).items()} for state in turns]
            for name, turns in data[0].items()}  # fmt: skip
    run = surface.tracking(gold, gold, profile=profile, measures=oracle.MEASURES)
    totals = surface.totals(run)
    found = surface.values(run)
    assert found.pop("RSA") == pytest.approx(1 - totals["both_empty"] / totals["turns"], abs=1e-12)
    assert set(found.values()) <= {1.0, None} and found["JGA"] == 1.0
    assert surface.ceiling(run) == {}


def _first(values: Any) -> str:
    return values if isinstance(values, str) else next((value for value in values if value), "")


@given(corpora(), st.integers(0, 2**32))
def test_order_of_dialogues_and_slots_does_not_matter(data: Corpora, seed: int) -> None:
    draw = random.Random(seed)

    def shuffled(states: Any) -> Any:
        def mixed(items: Any) -> dict[Any, Any]:
            listed = list(items)
            return dict(draw.sample(listed, len(listed)))

        return mixed(
            (name, [state and mixed(state.items()) for state in turns]) for name, turns in mixed(states.items()).items()
        )

    first, second = (surface.tracking(*some, measures=oracle.MEASURES) for some in (data, tuple(map(shuffled, data))))
    assert not differences(surface.values(first), surface.values(second))
    assert surface.counts(first) == surface.counts(second)


@given(corpora(whole=True), st.integers(1, 4), st.booleans())
def test_batches_add_up_to_the_whole(data: Corpora, size: int, merged: bool) -> None:
    """Accumulated in any batches, from states without ids, and from the sums of dialogues."""
    gold, predicted = data
    run = surface.tracking(gold, predicted, measures=oracle.MEASURES)
    wanted = surface.values(run)
    names = list(gold)
    ours = {oracle.key(name): turns for name, turns in predicted.items()}
    batches = [
        ({name: gold[name] for name in some}, {name: ours[oracle.key(name)] for name in some})
        for some in (names[place : place + size] for place in range(0, len(names), size))
    ]
    found = surface.accumulated(batches, merged=merged, measures=oracle.MEASURES)
    assert not differences(_known(found), wanted)
    lists = surface.computed(
        [gold[name] for name in names], [ours[oracle.key(name)] for name in names], measures=SUMMED
    )
    assert not differences(_known(lists), {name: wanted[name] for name in SUMMED})
    for name in SUMMED:
        assert not differences(oracle.ratio(surface.by_dialogue(run, name).values()), wanted[name]), name


def _known(values: dict[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}


@given(corpora())
def test_orders_between_measures(data: Corpora) -> None:
    jga, one, f1 = measured(data, "JGA", "RSA(empty=one)", "F1(average=turn)")
    assert jga <= one + 1e-12 <= f1 + 2e-12
    assert measured(data, "RSA")[0] <= one + 1e-12
    exact, final = measured(data, "DialogueExact", "FinalJGA")
    assert exact <= final
    bounded = surface.values(surface.tracking(*data, measures=SUMMED)) | {"SA": 0.0}
    assert all(value is None or 0 <= value <= 1 + 1e-12 for value in bounded.values())


@given(corpora(), st.floats(0.01, 20))
def test_fga_grows_from_jga_to_turn_match(data: Corpora, rate: float) -> None:
    rates = [f"FGA@{one!r}(rule=code)" for one in (0.0, rate, 2 * rate, 1e9, math.inf)]
    jga, match, *weighted = measured(data, "JGA", "TurnMatch(rule=code)", *rates)
    ends = [weighted[0], *weighted[3:]]
    assert ends == pytest.approx([jga, match, match], abs=1e-12)
    assert jga - 1e-12 <= weighted[1] <= weighted[2] + 1e-12 <= match + 2e-12
    code, paper = measured(data, "FGA@0.5(rule=code)", "FGA@0.5(rule=paper)")
    assert code <= paper + 1e-12, "the paper's rule forgives at least as much as the authors' code"


@given(corpora(whole=True))
def test_flags_made_from_states_score_like_the_states(data: Corpora) -> None:
    """JGA, SA, turn matches and FGA by error sets need nothing but which slots are wrong."""
    dialogues = oracle.oracle(*data)
    flags = {
        name: {str(turn.number): [int(slot not in turn.wrong) for slot in FLAG_ORDER] for turn in turns}
        for name, turns in dialogues.items()
    }
    names = {"JGA": "JGA", "SA": "SA", "FinalJGA": "FinalJGA", "FGA@0.5": "FGA@0.5(rule=error-set)",
             "TurnMatch": "TurnMatch(rule=error-set)"}  # fmt: skip
    run = surface.tracking_file(None, flags, "flags", measures=list(names))
    assert not differences(surface.values(run), {name: oracle.value(dialogues, ours) for name, ours in names.items()})
    assert surface.counts(run).keys() == {(name, turn.number) for name, turns in dialogues.items() for turn in turns}


#: The 30 slots of a flags file.
FLAG_ORDER = [
    f"{domain}-{slot}"
    for domain, slots in (
        ("taxi", "leave destination departure arrive"),
        ("restaurant", "people day time food pricerange name area"),
        ("hotel", "people day stay name area parking pricerange stars internet type"),
        ("attraction", "type name area"),
        ("train", "people leave destination day arrive departure"),
    )
    for slot in slots.split()
]
