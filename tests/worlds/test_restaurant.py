"""The restaurant world: worlds of one's own and what their files can have wrong, knowledge bases, the released one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import chisquare

from dialgauge.errors import DialgaugeError
from dialgauge.formats import load_candidates, load_kb
from dialgauge.lab import simulate, world_facts
from dialgauge.worlds.restaurant import (
    FIELDS,
    INFO,
    SimulatorWorld,
    draw_knowledge_base,
    lexicon_of,
    lexicon_of_world,
    load_world,
    world_candidates,
)
from support.babi_release import knowledge_base_of, released

WORLD = load_world()


def write_world(folder: Path, text: str) -> Path:
    path = folder / "world.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def changed(folder: Path, **changes: Any) -> SimulatorWorld:
    """The restaurant world with some top-level keys changed."""
    return load_world(write_world(folder, yaml.safe_dump({"base": "restaurant"} | changes, allow_unicode=True)))


@pytest.mark.parametrize("name", ["restaurant", "bakery"])
def test_built_in_worlds_have_two_halves(name: str) -> None:
    world = load_world(name)
    assert [half.name for half in world.halves] == ["A", "B"]


def test_the_restaurant_world_counts_as_the_paper_does() -> None:
    """43 user patterns: variants, with answers that are also request pieces counted once, and silence."""
    world = load_world()
    user = world.phrases.user
    pieces = [pattern for field in FIELDS for pattern in user.request[field]]
    answers = [pattern for field in FIELDS for pattern in user.answer[field] if pattern not in pieces]
    questions = [pattern for about in INFO for pattern in user.ask[about]]
    said = [user.greet, user.opener, pieces, user.at_name, answers, user.update, user.no_more, user.thanks]
    said += [user.reject, user.accept, questions, user.nothing_else]
    assert sum(map(len, said)) + 1 == 43
    assert len(world.phrases.fixed_sentences()) == 12
    for half in world.halves:
        assert len(world.restaurant_names(half)) == 600
        assert len(world.requests(half)) == 300


def test_a_world_that_says_only_what_differs(tmp_path: Path) -> None:
    world = changed(tmp_path, title="new sizes", sizes=["three", "nine"], phrases={"user": {"greet": ["hey"]}})
    assert world.sizes == ("three", "nine")
    assert world.phrases.user.greet == ("hey",)
    assert world.phrases.user.thanks == load_world().phrases.user.thanks


def test_a_whole_world_from_a_file(tmp_path: Path) -> None:
    source = (Path(__file__).parents[2] / "src/dialgauge/worlds/restaurant/worlds/bakery.yaml").read_text(
        encoding="utf-8"
    )
    assert load_world(write_world(tmp_path, source)) == load_world("bakery")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prises": ["low"]}, "there is no key 'prises'. Did you mean 'prices'"),
        ({"halves": {"C": {"locations": ["ulm"], "cuisines": ["brot"]}}}, "there is no key 'C' in 'halves'"),
        ({"prices": []}, "length >= 1 in 'prices'"),
        ({"prices": ["very low"]}, "'very low', which is not one word"),
        ({"sizes": ["two", "four", "TWO"]}, "'TWO' appears in sizes and in sizes"),
        ({"sizes": ["two", "cheap"]}, "'cheap' appears in prices and in sizes"),
        ({"halves": {"B": {"locations": ["paris", "x"]}}}, "locations of half A and in locations of half B"),
        ({"ratings": ["good"]}, "Expected int, got str in 'ratings[0]'"),
        ({"ratings": [1, 2, 2]}, "would be called"),
        ({"name": "resto_{location}_{price}_{cuisine}"}, "each of"),
        ({"name": "resto {location}_{price}_{cuisine}_{rating}"}, "one word"),
        ({"name": "{rating}{price}{location}{cuisine}", "ratings": [1, 11], "prices": ["1x", "x"]}, "would be called"),
        ({"phrases": {"bot": {"greet": "hi {name}"}}}, "no placeholder"),
        ({"phrases": {"bot": {"option": "how about {name}?"}}}, "as a word of its own"),
        ({"phrases": {"bot": {"greet": "hello  there"}}}, "separated by single spaces"),
        ({"phrases": {"user": {"request": {"size": ["for {price}"]}}}}, "must hold {size}"),
        ({"phrases": {"user": {"ask": {"fax": ["x"]}}}}, "user.ask needs the keys phone, address"),
        ({"phrases": ["x"]}, "Expected object, got array in 'phrases'"),
        ({"domain": "two words"}, "which is not one word"),
        ({"ratings": list(range(9000))}, "half A would have 675,000 restaurants"),
        ({"base": "hotel"}, "no built-in world 'hotel'"),
    ],
)
def test_faulty_worlds(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(DialgaugeError) as caught:
        changed(tmp_path, **changes)
    assert said in str(caught.value)
    assert "world.yaml" in str(caught.value)


@pytest.mark.parametrize(
    "phrases",
    [
        {"bot": {"look": "on it", "on_it": "on it"}},
        {"user": {"reject": ["let's do it"], "accept": ["let's do it"]}},
        {"user": {"accept": ["instead could it be fine"]}},
        {"user": {"greet": ["hello to two"]}},
    ],
)
def test_sentences_that_can_be_mistaken_end_the_simulation(tmp_path: Path, phrases: dict[str, Any]) -> None:
    world = changed(tmp_path, phrases=phrases)
    with pytest.raises(DialgaugeError, match="phrases may be ambiguous"):
        list(simulate(world, 5, "trn", 20))


def test_files_that_are_no_worlds(tmp_path: Path) -> None:
    for text, said in (("title: x\n", "missing required field name"), ("- base\n", "a mapping is expected")):
        with pytest.raises(DialgaugeError, match=said):
            load_world(write_world(tmp_path, text))
    with pytest.raises(DialgaugeError, match="Did you mean 'restaurant'"):
        load_world("restaurnt")


def test_every_combination_once_and_queries_match_all_fields() -> None:
    base = draw_knowledge_base(WORLD, WORLD.half("A"), 0)
    assert len({restaurant.name for restaurant in base.restaurants}) == 600
    for request in WORLD.requests(WORLD.half("A")):
        slow = tuple(restaurant for restaurant in base.restaurants if restaurant.request == request)
        assert base.query(request) == slow


def test_party_sizes_are_uniform() -> None:
    base = draw_knowledge_base(WORLD, WORLD.half("B"), 3)
    counts = Counter(restaurant.size for restaurant in base.restaurants)
    assert sorted(counts) == sorted(WORLD.sizes)
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_our_files_equal_the_released_ones_but_for_party_sizes(shared_data: Path) -> None:
    theirs = load_kb(shared_data / "babi" / "dialog-babi-kb-all.txt.gz")
    ours = world_facts(WORLD, seed=0)
    assert [fact for fact in ours if fact.relation != "R_number"] == [f for f in theirs if f.relation != "R_number"]
    assert [(f.entity, f.relation) for f in ours] == [(f.entity, f.relation) for f in theirs]
    assert lexicon_of(theirs) == lexicon_of_world(WORLD) == lexicon_of(ours)


def test_constructed_candidates_equal_the_released_set(shared_data: Path) -> None:
    ours = world_candidates(WORLD)
    assert len(ours) == 4212
    assert set(ours) == set(load_candidates(shared_data / "babi" / "dialog-babi-candidates.txt.gz"))


def test_results_per_query_in_the_released_half_a(shared_data: Path) -> None:
    base = knowledge_base_of(load_kb(shared_data / "babi" / "dialog-babi-kb-all.txt.gz"), WORLD.half("A"))
    counts = Counter(len(base.query(request)) for request in WORLD.requests(WORLD.half("A")))
    assert counts == {0: 23, 1: 86, 2: 96, 3: 65, 4: 24, 5: 5, 6: 1}


@pytest.mark.parametrize("half", ["A", "B"])
def test_the_released_file_agrees_with_the_dialogs_except_for_sizes_of_half_b(shared_data: Path, half: str) -> None:
    """The trap of the release: party sizes of half B are not those the dialogs were made with."""
    known = set(load_kb(shared_data / "babi" / "dialog-babi-kb-all.txt.gz"))
    split = "tst" if half == "A" else "tst-OOV"
    shown = {
        f for task in (3, 4, 5) for d in released(shared_data, task, split) for t in d.turns for f in t.results or ()
    }
    sizes = {fact for fact in shown if fact.relation == "R_number"}
    assert shown - sizes <= known
    right = len(sizes & known) / len(sizes)
    assert right == 1 if half == "A" else 0.15 < right < 0.35
