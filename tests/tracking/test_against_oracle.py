"""The fast scorer against the plain one, on random corpora."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings, strategies as st
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue
from dialgauge.measures import parse_measure
from dialgauge.tracking import Policy, PreparedInputs
from dialgauge.values import Profile, profile_named
from support.soak import examples
from tracking.corpora import corpora
from tracking.oracle import Oracle, aligned

PROFILES = ["plain", "canon", "canon_nodc", "verbatim", "hidst", "trippy_variants", "trade"]


def compare(gold: list[Dialogue], predicted: list[Dialogue], profile: Profile, policy: Policy = "intersection") -> None:
    """Every measure of both."""
    dialogues = aligned(gold, predicted, profile, missing_as_empty=policy == "empty")
    scored_by_both = aligned(gold, predicted, profile)
    assume(bool(scored_by_both))
    study = PreparedInputs(gold, {"it": predicted}, coverage=policy)
    comparison = study.comparison("it", profile)
    counts = comparison.counts_with_slots()
    assert counts.dialogues == len(dialogues)
    assert len(counts) == sum(map(len, dialogues))
    assume(comparison.inventory > 0)
    oracle = Oracle(dialogues, profile, comparison.inventory)
    for name, expected in oracle.everything().items():
        found = parse_measure(name).value(counts)
        assert found == pytest.approx(expected, abs=1e-12) or (math.isnan(found) and math.isnan(expected)), name


@settings(max_examples=examples(150), deadline=None)
@given(corpora(), st.sampled_from(PROFILES), st.sampled_from(["intersection", "empty"]))
def test_every_measure_equals_the_formula(
    data: tuple[list[Dialogue], list[Dialogue]], profile: str, policy: Policy
) -> None:
    compare(*data, profile_named(profile), policy)


@settings(max_examples=examples(60), deadline=None)
@given(corpora())
def test_several_predicted_values_and_first_gold_value(data: tuple[list[Dialogue], list[Dialogue]]) -> None:
    compare(*data, replace(profile_named("canon"), name="either", predicted_values="any"))
    compare(*data, replace(profile_named("canon"), name="strict", gold_values="first"))


@settings(max_examples=examples(40), deadline=None)
@given(corpora())
def test_small_stretches_change_nothing(data: tuple[list[Dialogue], list[Dialogue]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dialgauge.tracking.states._CELLS", 1)
        patched.setattr("dialgauge.tracking.states._COMPACT", 0)
        compare(*data, profile_named("canon"))
