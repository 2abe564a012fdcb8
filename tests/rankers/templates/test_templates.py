"""Templates on a small world: two systems with other wordings, a knowledge base, and dialogs between them and users."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT, SILENCE
from dialgauge.rankers import (
    Episode,
    Line,
    Point,
    RankingTask,
    checked_scores,
    load_ranker,
    points_of,
    ranker_class,
    save_ranker,
)
from dialgauge.rankers.templates import (
    Inventory,
    Slot,
    Templates,
    TemplatesTransductive,
    learn_aliases,
    learn_lexicon,
    replies_of,
    template_counts,
    told_apart,
)
from dialgauge.responses import evaluate
from support.soak import soak

CALL = "api_call"

COOKED = ("thai", "french", "british", "korean", "indian", "italian", "spanish", "turkish")
CUISINES = (*COOKED, "welsh", "cuban", "polish", "danish", "greek")
AREAS = ("north", "south", "centre", "west")
NAMES = {(c, a): f"{c}_{a}_inn" for c in COOKED for a in AREAS if (c, a) != ("korean", "south")}
OFFER = {
    "A": "{name} is a fine place in the {area} of town cooking {food} food",
    "B": "{name} is a good house in the {area} of town with {food} food",
}
SORRY = {
    "A": "there is sadly no {food} restaurant in the {area} of town",
    "B": "Alas there is no {food} restaurant in the {area} of town",
}
WELCOME, WHERE, BYE = "You can ask for restaurants .", "Which area ?", "you are welcome"


def facts() -> tuple[Fact, ...]:
    found = []
    for (food, area), name in NAMES.items():
        for relation, value in (("R_cuisine", food), ("R_location", area), ("R_phone", f"{name}_phone")):
            found.append(Fact(name, relation, value))
    found.append(Fact("ask", "R_cuisine", "thai"))
    return tuple(found)


def dialog(number: int, system: str, *wishes: tuple[str, str]) -> Episode:
    """The user asks for one restaurant after the other, then says good-bye."""
    lines = [Line("user", SILENCE), Line("bot", WELCOME)]
    for food, area in wishes:
        lines.extend(request(system, food, area))
    lines += [Line("user", "thank you good bye"), Line("bot", BYE)]
    return Episode(f"d{number}", tuple(lines), tuple(at for at, line in enumerate(lines) if line.kind == "user"))


def request(system: str, food: str, area: str) -> Iterator[Line]:
    """A wish, the call, and what the system makes of it."""
    name = NAMES.get((food, area))
    told = (OFFER if name else SORRY)[system].format(name=name, food=food, area=area)
    yield from (Line("user", f"{food} food please"), Line("bot", WHERE))
    yield from (Line("user", f"the {'center' if area == 'centre' else area}"), Line("bot", f"{CALL} {food} {area}"))
    yield from (Line("fact", text) for text in results(name, food, area))
    yield from (Line("user", SILENCE), Line("bot", told))
    if name:
        yield from (Line("user", "the phone number"), Line("bot", f"The phone of {name} is {name}_phone"))


def results(name: str | None, food: str, area: str) -> Iterator[str]:
    if name is None:
        yield NO_RESULT
        return
    yield from (f"{name} R_cuisine {food}", f"{name} R_location {area}", f"{name} R_rating 7")


def dialogs(systems: str, start: int, count: int) -> tuple[Episode, ...]:
    wishes = [(food, area) for area in AREAS for food in CUISINES]
    return tuple(
        dialog(number, systems[number % len(systems)], *(wishes[number * k % len(wishes)] for k in (5, 8)))
        for number in range(start, start + count)
    )


def task_of(trn: tuple[Episode, ...], tst: tuple[Episode, ...]) -> RankingTask:
    replies = [point.reply for point in points_of([*trn, *tst])]
    calls = [f"{CALL} R_cuisine R_location"]
    candidates = tuple(sorted({*replies, *calls}))
    return RankingTask(number=6, splits={"trn": trn, "dev": tst, "tst": tst}, candidates=candidates, facts=facts())


@pytest.fixture(scope="module")
def task() -> RankingTask:
    return task_of(dialogs("AABAB", 0, 150), dialogs("AB", 200, 21))


@pytest.fixture(scope="module")
def fitted(task: RankingTask) -> Templates:
    ranker = Templates(0)
    ranker.fit(task)
    return ranker


def inventory_of(task: RankingTask) -> Inventory:
    return Inventory(learn_lexicon(task.facts, task.split("trn"), task.candidates), task.candidates)


def test_candidates_become_templates_with_slots(task: RankingTask) -> None:
    inventory = inventory_of(task)
    assert inventory.lexicon.fields == ("R_cuisine", "R_location")
    offer = next(text for text in task.candidates if text.startswith("thai_north_inn is a fine place"))
    template, slots = inventory.parse(offer)
    assert inventory.templates[template] == (
        "<name> is a fine place in the <R_location> of town cooking <R_cuisine> food"
    )
    assert slots == (Slot("name", "thai_north_inn"), Slot("R_location", "north"), Slot("R_cuisine", "thai"))
    told = inventory.parse("The phone of thai_north_inn is thai_north_inn_phone")
    assert told.slots == (Slot("name", "thai_north_inn"), Slot("R_phone", "thai_north_inn"))


def test_a_shape_with_one_filling_is_a_fixed_sentence(task: RankingTask) -> None:
    """There is a restaurant named ask, but the bot's welcome is not about it."""
    inventory = inventory_of(task)
    assert inventory.templates[inventory.parse(WELCOME).template] == WELCOME
    assert inventory.parse(WELCOME).slots == ()


def test_cuisines_nobody_cooks_are_learned_from_calls(task: RankingTask) -> None:
    values = learn_lexicon(task.facts, task.split("trn"), task.candidates).values["R_cuisine"]
    assert set(values) == set(CUISINES)


def test_values_that_only_sentences_have_are_learned_by_analogy(task: RankingTask) -> None:
    extra = SORRY["A"].format(food="crossover", area="north")
    values = learn_lexicon(task.facts, task.split("trn"), (*task.candidates, extra)).values["R_cuisine"]
    assert "crossover" in values
    assert not {"sadly", "restaurant", "no"} & set(values)


def test_names_with_spaces_are_names(task: RankingTask) -> None:
    lexicon = learn_lexicon(task.facts, task.split("trn"), task.candidates)
    shape, slots = lexicon.split("The phone of thai north_inn is thai_north_inn_phone")
    assert shape == "The phone of <name> is <R_phone>"
    assert slots[0] == Slot("name", "thai_north_inn")


def test_other_words_for_values_are_learned(task: RankingTask) -> None:
    assert learn_aliases(task.split("trn"), inventory_of(task)) == {"center": Slot("R_location", "centre")}


def test_the_mixture_tells_systems_apart_by_wording(task: RankingTask) -> None:
    inventory = inventory_of(task)
    counts = template_counts(inventory, list(map(replies_of, task.split("trn"))))
    found = told_apart(inventory, counts).argmax(axis=1)
    gold = ["AABAB"[number % 5] == "B" for number in range(len(found))]
    assert found.tolist() == [int(is_b) for is_b in gold]


def test_everything_but_the_first_wording_is_right(task: RankingTask, fitted: Templates) -> None:
    """How a new dialog's offer is worded cannot be known; call, phone and closing can."""
    result = evaluate(fitted, task.split("tst"))
    points = points_of(task.split("tst"))
    right = fitted.scores(points).argmax(axis=1) == [task.index[point.reply] for point in points]
    wordings = tuple(text.split("{")[0] for text in SORRY.values())
    for point, is_right in zip(points, right, strict=True):
        open_wording = " of town" in point.reply or point.reply.startswith(wordings)
        assert is_right or open_wording, point
    assert result.per_response > 0.85


def test_the_wording_follows_the_dialog(fitted: Templates, task: RankingTask) -> None:
    """After a refusal in a system's words, the next offer comes in that system's words."""
    wishes = ("welsh", "north"), ("thai", "south")
    for system in "AB":
        point = next(point for point in dialog(0, system, *wishes).points() if "thai_south_inn" in point.reply)
        assert task.candidates[int(fitted.scores([point]).argmax())] == point.reply


def test_a_saved_model_gives_the_same_scores(task: RankingTask, fitted: Templates, tmp_path: Path) -> None:
    save_ranker(fitted, tmp_path, 6)
    points = points_of(task.split("tst"))
    loaded = load_ranker(tmp_path, task=task)
    assert isinstance(loaded, Templates)
    assert np.array_equal(loaded.scores(points), fitted.scores(points))


def test_a_saved_transductive_model_gives_the_same_scores(tmp_path: Path) -> None:
    task = task_of(dialogs("AAB", 0, 60), dialogs("B", 200, 12))
    ranker = TemplatesTransductive(0)
    ranker.fit(RankingTask(number=6, splits={"trn": task.split("trn")}, candidates=task.candidates, facts=task.facts))
    save_ranker(ranker, tmp_path, 6)
    points = points_of(task.split("tst"))
    loaded = load_ranker(tmp_path, task=task)
    assert isinstance(loaded, TemplatesTransductive)
    assert np.array_equal(loaded.scores(points), ranker.scores(points))


@pytest.mark.parametrize("name", ["experts", "filling", "prior", "source", "shift"])
def test_numbers_of_another_model_are_refused(fitted: Templates, name: str) -> None:
    short = {**fitted.arrays(), name: fitted.arrays()[name][:-1]}
    with pytest.raises(DialgaugeError, match="do not fit"):
        other_than(fitted).restore(fitted.settings(), short)


def test_templates_that_no_candidate_has_are_refused(fitted: Templates) -> None:
    beyond = {**fitted.arrays(), "source": fitted.arrays()["source"] + 1}
    with pytest.raises(DialgaugeError, match="names templates that its candidates do not have"):
        other_than(fitted).restore(fitted.settings(), beyond)


def other_than(fitted: Templates) -> Templates:
    """A ranker of the same candidates that has learned nothing."""
    ranker = type(fitted)(0)
    ranker.candidates = fitted.candidates
    return ranker


@pytest.mark.parametrize("cues", [-1, 1])
def test_weights_of_other_cues_are_refused(fitted: Templates, cues: int) -> None:
    settings = fitted.settings()
    changed = settings["cues"][:-1] if cues < 0 else [*settings["cues"], "word never"]
    with pytest.raises(DialgaugeError, match="do not fit its cues"):
        other_than(fitted).restore({**settings, "cues": changed}, fitted.arrays())


def test_weights_of_another_inventory_are_refused(fitted: Templates) -> None:
    other = other_than(fitted)
    other.candidates = fitted.candidates[:-3]
    with pytest.raises(DialgaugeError, match="do not fit its cues and templates"):
        other.restore(json.loads(json.dumps(fitted.settings())), fitted.arrays())


def test_scores_do_not_depend_on_batches_or_order(task: RankingTask, fitted: Templates) -> None:
    points = points_of(task.split("tst"))
    together = checked_scores(fitted, points)
    apart = np.concatenate([fitted.scores([point]) for point in reversed(points)])[::-1]
    np.testing.assert_allclose(together, apart, atol=1e-9)


def test_scores_are_probabilities(task: RankingTask, fitted: Templates) -> None:
    points = points_of(task.split("tst"))
    np.testing.assert_allclose(np.exp(fitted.scores(points)).sum(axis=1), 1.0, atol=1e-6)


def test_fitting_twice_gives_the_same_model(task: RankingTask, fitted: Templates) -> None:
    again = Templates(0)
    again.fit(task)
    assert again.settings() == fitted.settings()
    assert all(np.array_equal(again.arrays()[name], value) for name, value in fitted.arrays().items())


@pytest.mark.soak
@pytest.mark.parametrize("kind", [Templates, soak(TemplatesTransductive)])
def test_the_seed_changes_nothing(kind: type[Templates], task: RankingTask) -> None:
    one, other = kind(0), kind(1)
    one.fit(task)
    other.fit(task)
    assert all(np.array_equal(other.arrays()[name], value) for name, value in one.arrays().items())


def test_values_that_only_a_candidate_has_are_known(task: RankingTask) -> None:
    """The candidates say what the templates and values are: both rankers learn that much from them."""
    unheard = f"{CALL} martian north"
    ranker = Templates(0)
    ranker.fit(RankingTask(number=6, splits=task.splits, candidates=(*task.candidates, unheard), facts=task.facts))
    heard = [Line("user", "martian food please"), Line("bot", WHERE)]
    point = Point("d", 1, tuple(heard), "the north")
    assert ranker.candidates[int(ranker.scores([point]).argmax())] == unheard


def test_test_dialogs_are_not_looked_at(task: RankingTask, fitted: Templates) -> None:
    blind = Templates(0)
    blind.fit(RankingTask(number=6, splits={"trn": task.split("trn")}, candidates=task.candidates, facts=task.facts))
    assert all(np.array_equal(blind.arrays()[name], value) for name, value in fitted.arrays().items())


def test_the_transductive_ranker_learns_the_wording_of_test_from_the_candidates() -> None:
    """Train is nearly all of system A; the candidates that train lacks are in the words of B."""
    task = task_of(dialogs("AAAAB", 0, 100), dialogs("B", 200, 52))
    task = RankingTask(
        number=6, splits={"trn": task.splits["trn"], "tst": task.splits["tst"]}, candidates=task.candidates,
        facts=task.facts,
    )  # fmt: skip
    reached = {}
    for kind in (Templates, TemplatesTransductive):
        ranker = kind(0)
        ranker.fit(task)
        reached[kind] = evaluate(ranker, task.split("tst")).per_dialog
    assert reached[Templates] < 0.2
    assert reached[TemplatesTransductive] > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalti": "3"}, "no setting 'penalti'.*penalty"),
        ({"penalty": "0"}, "must be above 0"),
        ({"penalty": "nan"}, "must be above 0"),
        ({"fill_penalty": "inf"}, "must be above 0 and finite"),
        ({"penalty": "many"}, "wrong kind of value"),
        ({"experts": "false"}, "no setting 'experts'"),
        ({"learn_from": "tst"}, "wrong kind of value"),
    ],
)
def test_bad_settings_are_refused(task: RankingTask, options: dict[str, str], message: str) -> None:
    ranker = Templates(0)
    ranker.options = options
    with pytest.raises(DialgaugeError, match=message):
        ranker.fit(task)


@pytest.mark.parametrize("kind", [Templates, TemplatesTransductive])
@pytest.mark.parametrize("turns", [1, 2])
def test_small_talk_without_facts_calls_or_slots_can_be_learned(kind: type[Templates], turns: int) -> None:
    talk = (Line("user", "hi"), Line("bot", "hello"), Line("user", "so"), Line("bot", "bye"))[: 2 * turns]
    trn = tuple(Episode(f"d{number}", talk, tuple(range(0, 2 * turns, 2))) for number in range(5))
    ranker = kind(0)
    ranker.fit(RankingTask(number=0, splits={"trn": trn}, candidates=("hello", "bye", "never said")))
    points = trn[0].points()
    assert [ranker.candidates[at] for at in ranker.scores(points).argmax(axis=1)] == ["hello", "bye"][:turns]
    assert ranker.scores([]).shape == (0, 3)


def test_calls_of_another_world_are_an_error(task: RankingTask) -> None:
    ranker = Templates(0)
    with pytest.raises(DialgaugeError, match="values of no relation"):
        bare = RankingTask(
            number=6, splits={"trn": points_only(task)}, candidates=(*task.candidates, f"{CALL} a b"), facts=()
        )
        ranker.fit(bare)


def points_only(task: RankingTask) -> tuple[Episode, ...]:
    """The dialogs without facts."""
    stripped = []
    for one in task.split("trn"):
        lines = tuple(line for line in one.lines if line.kind != "fact")
        asked = tuple(at for at, line in enumerate(lines) if line.kind == "user")
        stripped.append(Episode(one.id, lines, asked))
    return tuple(stripped)


def test_the_rankers_are_found_by_name() -> None:
    assert ranker_class("templates") is Templates
    assert ranker_class("templates-transductive") is TemplatesTransductive
