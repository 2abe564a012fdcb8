"""What candidates reveal about unknown dialogs: the parts against their formulas, on simulated uses, and on task 6."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nbinom

from dialgauge.dialogue import Fact
from dialgauge.rankers.episode import SILENCE, Episode, Line, points_of
from dialgauge.rankers.task import load_task
from dialgauge.rankers.templates import expectation as inference
from dialgauge.rankers.templates.adaptation import adapted, planned, unadapted
from dialgauge.rankers.templates.expectation import Expected, Known, Novelty, expectation, log_series, novelty
from dialgauge.rankers.templates.features import reply_templates
from dialgauge.rankers.templates.inventory import Inventory, learn_lexicon
from dialgauge.rankers.templates.logistic import Floats
from dialgauge.rankers.templates.resemblance import (
    QuestionWords,
    asked_fields,
    inherited,
    paraphrases,
    questions,
    stand_ins,
)
from dialgauge.rankers.templates.systems import Systems, template_counts

FOODS, AREAS = ("thai", "french", "welsh", "cuban"), ("north", "south", "west")
ASK_FOOD, ASK_AREA = "What kind of food would you like?", "What part of town do you have in mind?"
CANDIDATES = (
    "bye", ASK_FOOD, ASK_AREA,
    *(f"api_call {food} {area}" for food in FOODS for area in AREAS),
    *(f"sorry there is no {food} food in the {area}" for food in FOODS for area in AREAS),
    *(f"alas no {food} food is in the {area}" for food in FOODS for area in AREAS),
    *(f"There are places with {food} food . What area do you want?" for food in FOODS),
    "Could you please repeat that?", "bye then",
)  # fmt: skip
FACTS = tuple(
    fact
    for food in FOODS
    for area in AREAS
    for fact in (
        Fact(f"{food}_{area}_inn", "R_cuisine", food),
        Fact(f"{food}_{area}_inn", "R_location", area),
    )
)


@pytest.fixture
def inventory() -> Inventory:
    return Inventory(learn_lexicon(FACTS, (), CANDIDATES), CANDIDATES)


def number(inventory: Inventory, text: str) -> int:
    return inventory.parse(text).template


def talk(number: int) -> Episode:
    """The bot asks for food and area, and has nothing; the user says ``area`` where others say the area itself."""
    food, area = FOODS[number % 3], AREAS[number % 2]
    exchanges = [
        (SILENCE, ASK_FOOD),
        (f"{food} food", ASK_AREA),
        (f"the {area} area", f"api_call {food} {area}"),
        (SILENCE, f"sorry there is no {food} food in the {area}"),
        ("what area do you mean", f"sorry there is no {food} food in the {area}"),
        *[("you do like what i want", "bye")] * 4,
    ]
    lines = [Line(kind, text) for pair in exchanges for kind, text in zip(("user", "bot"), pair, strict=True)]  # type: ignore[arg-type]
    return Episode(f"d{number}", tuple(lines), tuple(range(0, len(lines), 2)))


@given(st.integers(2, 400), st.integers(1, 3000))
def test_the_log_series_has_as_many_fillings_as_were_seen(fillings: int, more: int) -> None:
    uses = fillings + more
    alpha = log_series(fillings, uses)
    assert alpha * np.log1p(uses / alpha) == pytest.approx(fillings, rel=1e-6)


def test_few_or_no_repeated_fillings_have_an_answer_too() -> None:
    assert log_series(1, 50) < 1 < 12 < log_series(12, 12)


@pytest.mark.parametrize("uses", [2_000, 100_000])
def test_one_repeated_filling_among_many_has_an_answer(uses: int) -> None:
    alpha = log_series(uses - 1, uses)
    assert alpha * np.log1p(uses / alpha) == pytest.approx(uses - 1, abs=1e-3)


def test_novelty_counts_uses_and_new_texts(inventory: Inventory) -> None:
    call, ask = number(inventory, "api_call thai north"), number(inventory, ASK_FOOD)
    found = novelty(inventory, [CANDIDATES.index(text) for text in (ASK_FOOD, *["api_call thai north"] * 15)])
    assert (found.uses[call], found.new[call], found.slotted[call]) == (15, 11, True)
    assert (found.uses[ask], found.new[ask], found.slotted[ask]) == (1, 0, False)
    assert found.slope[call] == pytest.approx(0.5 / 16)
    assert found.scale[call] == pytest.approx(15 + log_series(1, 15))


def test_new_texts_come_as_fast_as_the_curve_says() -> None:
    """Fillings with Zipf's frequencies: 300 uses are known, 300 more follow; the mean of 20 worlds is near."""
    draws = np.random.default_rng(0)
    frequency = 1 / np.arange(1, 301)
    candidates = tuple(f"api_call w{place} x" for place in range(300))
    facts = [Fact("inn", "R_cuisine", f"w{place}") for place in range(300)] + [Fact("inn", "R_location", "x")]
    inventory = Inventory(learn_lexicon(facts, (), candidates), candidates)
    expected, brought = [], []
    for _ in range(20):
        known, later = draws.choice(300, size=(2, 300), p=frequency / frequency.sum())
        expected.append(novelty(inventory, known.tolist()).expected_new(np.array([[300.0]]))[0, 0])
        brought.append(len(set(later.tolist()) - set(known.tolist())))
    assert np.mean(expected) == pytest.approx(np.mean(brought), rel=0.15)


def test_uses_are_no_fewer_than_new_texts_and_turn_the_curve_round() -> None:
    found = curve(uses=[0.0, 0.0, 0.0], new=[3.0, 12.0, 1.0], slope=1.0, scale=10.0)
    found = found._replace(slotted=np.array([True, True, False]))
    least = found.least_uses()
    assert least[0] == pytest.approx(10 * np.expm1(0.3)) and found.expected_new(least[:, None])[0, 0] == pytest.approx(
        3
    )
    assert (least >= found.new).all()
    assert least[2] == 1


def curve(uses: list[float], new: list[float], slope: float, scale: float) -> Novelty:
    """Templates with slots that bring new texts alike."""
    ones = np.ones(len(uses))
    return Novelty(np.array(uses), np.array(new), ones > 0, slope * ones, scale * ones)


def test_the_likelihood_is_the_negative_binomial() -> None:
    new, mean = np.arange(30.0), 4.0
    shape = inference._SHAPE
    found = inference._log_likelihood(new, np.array(mean))
    np.testing.assert_allclose(found, nbinom.logpmf(new, shape, shape / (shape + mean)))


def simulated(dialogs: int, wording: int, seed: int) -> tuple[Known, Novelty, Floats]:
    """Three shared templates, six of each system; unknown dialogs in the wording of one of the two."""
    draws = np.random.default_rng(seed)
    owner = np.array([0] * 3 + [1] * 6 + [2] * 6)
    rate = draws.uniform(0.1, 1.0, len(owner))
    uses = np.array([np.where(np.isin(owner, (0, system)), 400 * rate, 0.0) for system in (1, 2)])
    true = np.where(np.isin(owner, (0, wording)), dialogs * rate, 0.0)
    scale = uses.sum(axis=0) + 20.0
    slope = np.full(len(owner), 0.1)
    new = draws.poisson(slope * scale * np.log1p(true / scale)).astype(float)
    return (
        Known(uses, np.array([400.0, 400.0]), owner),
        Novelty(uses.sum(axis=0), new, np.ones(len(owner)) > 0, slope, scale),
        true,
    )


@pytest.mark.parametrize("wording", [1, 2])
@pytest.mark.parametrize("dialogs", [150, 400, 1200])
def test_who_speaks_and_how_much_is_inferred(wording: int, dialogs: int) -> None:
    known, found, true = simulated(dialogs, wording, seed=wording)
    expected = expectation(known, found)
    assert expected.systems[wording - 1] > 0.8 > 0.2 > expected.systems[2 - wording]
    assert expected.dialogs == pytest.approx(dialogs, rel=0.35)
    share, wanted = expected.uses / expected.uses.sum(), true / true.sum()
    assert np.abs(share - wanted).sum() < 0.25


def test_a_fixed_sentence_follows_its_system() -> None:
    known, found, _ = simulated(400, wording=2, seed=3)
    fixed = found._replace(slotted=found.slotted & (np.arange(len(found.new)) % 3 != 0))
    expected = expectation(known, fixed)
    assert expected.uses[3] < 0.3 * expected.dialogs * expected.rate[3]
    assert expected.uses[0] == pytest.approx(expected.dialogs * expected.rate[0])


def test_questions_are_matched_by_the_field_they_ask_for(inventory: Inventory) -> None:
    dialogs = [talk(place) for place in range(60)]
    new = number(inventory, "There are places with thai food . What area do you want?")
    asks_food, asks_area = number(inventory, ASK_FOOD), number(inventory, ASK_AREA)
    assert asked_fields(dialogs, inventory) == {"R_cuisine": asks_food, "R_location": asks_area}
    words = QuestionWords(dialogs, inventory)
    assert words.asked_field(new) == "R_location"
    assert words.asked_field(number(inventory, "Could you please repeat that?")) is None
    assert words.asked_field(number(inventory, "bye")) is None
    said = [CANDIDATES.index(point.reply) for point in points_of(dialogs)]
    assert questions(dialogs, inventory, novelty(inventory, said)) == {new: asks_area}


def test_new_templates_resemble_known_ones(inventory: Inventory) -> None:
    uses = np.zeros(len(inventory.templates))
    sorry, alas, bye = (
        number(inventory, text)
        for text in ("sorry there is no thai food in the north", "alas no thai food is in the north", "bye")
    )
    then, stranger = number(inventory, "bye then"), number(inventory, "Could you please repeat that?")
    uses[[sorry, bye]] = 10.0
    alike = paraphrases(inventory, uses)
    assert alike[alas] == sorry
    found = stand_ins(inventory, uses, alike)
    assert found[[alas, then, stranger, bye]].tolist() == [sorry, bye, stranger, bye]
    assert stand_ins(inventory, uses, {bye: sorry})[[bye, then]].tolist() == [sorry, sorry]


def test_paraphrases_inherit_what_a_dropped_wording_had() -> None:
    found = curve(uses=[50.0, 0.0, 0.0], new=[0.0, 3.0, 1.0], slope=1.0, scale=10.0)
    expected = Expected(
        np.array([1.0, 3.0, 1.0]), np.array([0.5, 0.0, 0.0]), np.array([0.1, 1.0, 1.0]), np.ones(2), 200
    )
    uses = inherited(expected, found, {1: 0, 2: 0})
    np.testing.assert_allclose(uses, [1.0, 0.9 * 200 * 0.5 * 4 / 6, 0.9 * 200 * 0.5 * 2 / 6])


def test_the_same_use_in_unknown_dialogs_changes_nothing() -> None:
    uses, act_of = np.array([30.0, 10.0, 5.0]), np.array([0, 0, 1])
    for found, plain in zip(adapted(uses, 0.5 * uses, act_of), unadapted(act_of), strict=True):
        np.testing.assert_allclose(found, plain)


def test_new_templates_are_said_only_where_their_act_is_known() -> None:
    """Two uses each; the third template words the first act otherwise, the fourth is a stranger."""
    found = adapted(np.array([2.0, 2.0, 0.0, 0.0]), np.array([1.0, 2.0, 1.0, 50.0]), np.array([0, 1, 0, 2]))
    np.testing.assert_allclose(found.act, 0.0)
    np.testing.assert_allclose(found.factor, [0.5, 1.0, 0.0, 0.0])
    assert found.extra[2] == pytest.approx(0.5)


def test_the_system_of_dev_is_told_by_the_texts_that_train_lacks(shared_data: Path) -> None:
    """Dev sounds like the smaller system of train; estimated uses are far nearer to the truth than those of train."""
    task = load_task(shared_data / "babi", 6, ("trn", "dev"))
    trn, dev = task.split("trn"), task.split("dev")
    said = {point.reply for point in points_of([*trn, *dev])}
    task = replace(task, candidates=tuple(text for text in task.candidates if text in said))
    inventory = Inventory(learn_lexicon(task.facts, trn, task.candidates), task.candidates)
    counts, truth = (template_counts(inventory, reply_templates(dialogs, inventory)) for dialogs in (trn, dev))
    plan = planned(trn, inventory, Systems.fitted(inventory, counts, seed=0), told_apart=True)
    assert plan.weights.tolist() == [0.1, 1.0]
    true, learned = truth.sum(axis=0), counts.sum(axis=0)
    assert _divergence(true, plan.uses) < 0.2 * _divergence(true, learned)


def _divergence(true: Floats, estimated: Floats) -> float:
    """Kullback and Leibler's, of shares."""
    p, q = true / true.sum(), (estimated + 0.05) / (estimated + 0.05).sum()
    return float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum())
