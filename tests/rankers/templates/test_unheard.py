"""What candidates reveal about unknown dialogs: the parts against their formulas, on simulated uses, and on task 6."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import nbinom

from dialgauge.dialogue import Fact
from dialgauge.rankers import load_task
from dialgauge.rankers.templates import (
    Adaptation,
    Inventory,
    Novelty,
    adapted,
    expectation,
    learn_lexicon,
    log_negative_binomial,
    paraphrases,
    replies_of,
    template_counts,
    told_apart,
    use_rates,
    words_in_common,
)

Floats = NDArray[np.float64]

FOODS, AREAS = ("thai", "french", "welsh", "cuban"), ("north", "south", "west")
CANDIDATES = (
    "bye",
    *(f"api_call {food} {area}" for food in FOODS for area in AREAS),
    *(f"sorry there is no {food} food in the {area}" for food in FOODS for area in AREAS),
    *(f"alas no {food} food is in the {area}" for food in FOODS for area in AREAS),
    *(f"how about the {area} then" for area in AREAS),
    "bye then",
)
FACTS = tuple(
    fact
    for food in FOODS
    for area in AREAS
    for fact in (
        Fact(f"{food}_{area}_inn", "R_cuisine", food),
        Fact(f"{food}_{area}_inn", "R_location", area),
    )
)
SORRY, ALAS = "sorry there is no thai food in the north", "alas no thai food is in the north"


@pytest.fixture
def inventory() -> Inventory:
    return Inventory(learn_lexicon(FACTS, (), CANDIDATES), CANDIDATES)


def number(inventory: Inventory, text: str) -> int:
    return inventory.parse(text).template


def test_novelty_counts_uses_and_new_texts(inventory: Inventory) -> None:
    call, bye, how = (number(inventory, text) for text in ("api_call thai north", "bye", "how about the west then"))
    found = Novelty.of(inventory, ["bye", "no candidate", *["api_call thai north"] * 14, "api_call thai south"])
    assert (found.uses[call], found.new[call], found.telling[call]) == (15, 10, True)
    assert (found.uses[bye], found.new[bye], found.telling[bye]) == (1, 0, False)
    assert (found.uses[how], found.new[how], found.telling[how]) == (0, 3, False)
    assert found.slope[call] == pytest.approx(1.5 / 16)


def test_new_texts_come_as_fast_as_good_and_turing_say() -> None:
    """Fillings with Zipf's frequencies: 300 uses are known, 60 more follow; the mean of 40 worlds is near."""
    draws = np.random.default_rng(0)
    frequency = 1 / np.arange(1, 301)
    candidates = tuple(f"api_call w{place} x" for place in range(300))
    facts = [Fact("inn", "R_cuisine", f"w{place}") for place in range(300)] + [Fact("inn", "R_location", "x")]
    inventory = Inventory(learn_lexicon(facts, (), candidates), candidates)
    expected, brought = [], []
    for _ in range(40):
        uses = draws.choice(300, size=360, p=frequency / frequency.sum()).tolist()
        expected.append(60 * Novelty.of(inventory, [candidates[place] for place in uses[:300]]).slope[0])
        brought.append(len(set(uses) - set(uses[:300])))
    assert np.mean(expected) == pytest.approx(np.mean(brought), rel=0.15)


def test_the_likelihood_is_the_negative_binomial() -> None:
    new, mean = np.arange(30.0), 4.0
    shape = 2.0
    found = log_negative_binomial(new, np.array(mean))
    np.testing.assert_allclose(found, nbinom.logpmf(new, shape, shape / (shape + mean)))


def simulated(dialogs: int, wording: int, seed: int) -> tuple[Novelty, Floats, Floats]:
    """Three shared templates, six of each system; unknown dialogs in the wording of one of the two, or (2) of both.

    New texts, uses per dialog by system, and true uses.
    """
    draws = np.random.default_rng(seed)
    owner = np.array([-1] * 3 + [0] * 6 + [1] * 6)
    rate = draws.uniform(0.1, 1.0, len(owner))
    rates = np.array([np.where(np.isin(owner, (-1, system)), rate, 0.0) for system in (0, 1)])
    spoken = (-1, wording) if wording < 2 else (-1, 0, 1)
    true = np.where(np.isin(owner, spoken), dialogs * rate, 0.0)
    uses, slope = 400.0 * rates.sum(axis=0), np.full(len(owner), 0.1)
    still = Novelty(uses, np.zeros(len(owner)), slope, np.ones(len(owner)) > 0)
    return still._replace(new=draws.poisson(still.slope * true).astype(float)), rates, true


@pytest.mark.parametrize("wording", [0, 1])
@pytest.mark.parametrize("dialogs", [150, 400, 1200])
def test_who_speaks_and_how_much_is_inferred(wording: int, dialogs: int) -> None:
    novelty, rates, true = simulated(dialogs, wording, seed=wording)
    expected = expectation(novelty, rates, 800)
    assert expected.systems[wording] > 0.9 and expected.systems.sum() == pytest.approx(1.0)
    assert expected.uses.sum() == pytest.approx(true.sum(), rel=0.35)
    share, wanted = expected.uses / expected.uses.sum(), true / true.sum()
    assert np.abs(share - wanted).sum() < 0.25


def test_a_system_with_the_words_of_both_is_neither() -> None:
    novelty, rates, true = simulated(400, wording=2, seed=3)
    expected = expectation(novelty, rates, 800)
    np.testing.assert_allclose(expected.systems, 0.5, atol=0.01)
    assert expected.uses.sum() == pytest.approx(true.sum(), rel=0.35)


def test_a_fixed_sentence_follows_its_system() -> None:
    """It has no new texts to tell anything by."""
    novelty, rates, _ = simulated(400, wording=1, seed=3)
    fixed = novelty._replace(telling=np.arange(len(novelty.new)) % 3 != 0)
    expected = expectation(fixed, rates, 800)
    np.testing.assert_allclose(expected.uses[[0, 3, 9]], expected.usual[[0, 3, 9]])
    assert expected.usual[3] < 0.02 * expected.usual[9] * rates[0, 3] / rates[1, 9]


def test_new_templates_say_what_known_ones_with_their_slots_and_words_say(inventory: Inventory) -> None:
    uses = np.zeros(len(inventory.templates))
    uses[[number(inventory, SORRY), number(inventory, "bye"), number(inventory, "api_call thai north")]] = 10.0
    assert paraphrases(inventory, uses) == {number(inventory, ALAS): number(inventory, SORRY)}


def test_words_in_common_leave_out_slots_and_punctuation() -> None:
    assert words_in_common("<name> is nice .", "Is <name> nice ?") == 1.0
    assert words_in_common("a b", "b c") == pytest.approx(1 / 3)


def test_a_new_wording_takes_the_place_of_the_one_that_is_dropped(inventory: Inventory) -> None:
    """All fillings of the known wording were heard, so that its unknown uses bring nothing; all of the new are new."""
    sorry, alas, bye = (number(inventory, text) for text in (SORRY, ALAS, "bye"))
    heard = [text for text in CANDIDATES if text.startswith("sorry")]
    replies = [[text, text, "bye"] for text in heard * 10]
    rates = use_rates(template_counts(inventory, replies), np.full((len(replies), 2), 0.5))
    change = adapted(inventory, replies, rates, rates)
    assert change.source[[sorry, alas, bye]].tolist() == [sorry, sorry, bye]
    said = np.full((1, len(inventory.templates)), np.log(1e-9))
    said[0, [sorry, bye]] = np.log([0.8, 0.2])
    found = np.exp(change.of(said))[0]
    assert found.sum() == pytest.approx(1.0)
    assert found[alas] > 0.5 > 0.1 > found[sorry]


def test_no_adaptation_changes_nothing() -> None:
    log_p = np.log(np.array([[0.7, 0.2, 0.1]]))
    np.testing.assert_allclose(Adaptation.none(2, 3).of(log_p), log_p)


@pytest.mark.soak
def test_the_system_of_dev_is_told_by_the_texts_that_train_lacks(shared_data: Path) -> None:
    """Dev sounds like the smaller system of train; estimated uses are far nearer to the truth than those of train."""
    task = load_task(shared_data / "babi", 6, ("trn", "dev"))
    trn, dev = (list(map(replies_of, task.split(split))) for split in ("trn", "dev"))
    said = {text for texts in (*trn, *dev) for text in texts}
    task = replace(task, candidates=tuple(text for text in task.candidates if text in said))
    inventory = Inventory(learn_lexicon(task.facts, task.split("trn"), task.candidates), task.candidates)
    counts, truth = template_counts(inventory, trn), template_counts(inventory, dev)
    rates = use_rates(counts, told_apart(inventory, counts))
    expected = expectation(Novelty.of(inventory, (text for texts in trn for text in texts)), rates, len(trn))
    assert expected.systems[1] > 0.99
    true, learned = truth.sum(axis=0), counts.sum(axis=0)
    assert _divergence(true, expected.uses) < 0.2 * _divergence(true, learned)


def _divergence(true: Floats, estimated: Floats) -> float:
    """Kullback and Leibler's, of shares."""
    p, q = true / true.sum(), (estimated + 0.05) / (estimated + 0.05).sum()
    return float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum())
