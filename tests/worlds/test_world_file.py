"""Worlds: the two that come along, worlds of one's own, and everything a world file can have wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dialgauge.errors import DialgaugeError
from dialgauge.worlds.restaurant import FIELDS, INFO, SimulatorWorld, load_world


def write_world(folder: Path, text: str) -> Path:
    path = folder / "world.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def changed(folder: Path, **changes: Any) -> SimulatorWorld:
    """The restaurant world with some top-level keys changed."""
    return load_world(write_world(folder, yaml.safe_dump({"base": "restaurant", **changes}, allow_unicode=True)))


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


HALF = {"locations": ["ulm"], "cuisines": ["brot"]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prises": ["low"]}, "there is no key 'prises'. Did you mean 'prices'"),
        ({"halves": {"A": {"citys": ["x"]}}}, "there is no key 'citys' in 'halves.A'"),
        ({"halves": {"C": HALF}}, "there is no key 'C' in 'halves'. Known: A, B."),
        ({"prices": []}, "length >= 1 in 'prices'"),
        ({"prices": None}, "Expected array, got null in 'prices'"),
        ({"prices": ["low", ""]}, "prices holds '', which is not one word"),
        ({"prices": ["low", None]}, "got null in 'prices[1]'"),
        ({"prices": ["very low"]}, "'very low', which is not one word"),
        ({"sizes": [True, "two"]}, "put it in quotes"),
        ({"sizes": ["two", "four", "TWO"]}, "'two' appears 2 times in sizes"),
        ({"sizes": ["two", "cheap"]}, "'cheap' appears in prices and in sizes"),
        ({"halves": {"B": {"locations": ["paris", "x"]}}}, "locations of half A and in locations of half B"),
        ({"ratings": [1, 2, 2]}, "'2' appears 2 times in ratings"),
        ({"ratings": ["good"]}, "Expected int, got str in 'ratings[0]'"),
        ({"name": "resto_{location}_{price}_{cuisine}"}, "must hold each of"),
        ({"name": "resto {location}_{price}_{cuisine}_{rating}"}, "must be one word"),
        ({"name": "{location}{price}{cuisine}{rating}", "ratings": [1, 11], "prices": ["x", "xx"]}, None),
        ({"name": "{rating}{price}{location}{cuisine}", "ratings": [1, 11], "prices": ["1x", "x"]}, "would be called"),
        ({"phrases": {"bot": {"greet": "hi {name}"}}}, "must hold no placeholder"),
        ({"phrases": {"bot": {"option": "how about this"}}}, "must hold {name}"),
        ({"phrases": {"bot": {"option": "how about {name}?"}}}, "as a word of its own"),
        ({"phrases": {"bot": {"look": "on it", "on_it": "on it"}}}, "for two different things"),
        ({"phrases": {"bot": {"more": "what do you think of this option: more"}}}, None),
        ({"phrases": {"bot": {"info": "what do you think of this option: {value}"}}}, "for two different things"),
        ({"phrases": {"bot": {"more": "api_call me"}}}, "can be mistaken for another"),
        ({"phrases": {"bot": {"greet": "hello  there"}}}, "separated by single spaces"),
        ({"phrases": {"user": {"reject": ["let's do it"]}}}, "for reject and for accept"),
        ({"phrases": {"user": {"accept": ["instead could it be fine"]}}}, "begins like an update"),
        ({"phrases": {"user": {"thanks": ["two thanks"]}}}, "'two', which is a value of this world"),
        ({"phrases": {"user": {"request": {"size": ["for {price}"]}}}}, "must hold {size}"),
        ({"phrases": {"user": {"no_more": [False]}}}, "put it in quotes"),
        ({"phrases": {"user": {"ask": {"fax": ["x"]}}}}, "phrases.user.ask has no key 'fax'"),
        ({"phrases": ["x"]}, "Expected object, got array in 'phrases'"),
        ({"domain": "two words"}, "which is not one word"),
        ({"ratings": list(range(9000))}, "half A would have 675,000 restaurants"),
    ],
)
def test_faulty_worlds(tmp_path: Path, changes: dict[str, Any], said: str | None) -> None:
    if said is None:
        changed(tmp_path, **changes)
        return
    with pytest.raises(DialgaugeError) as caught:
        changed(tmp_path, **changes)
    assert said in str(caught.value)
    assert "world.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title: x\n", "missing required field name"),
        ("base: hotel\n", "no built-in world 'hotel'"),
        ("base: restaurant\nprices: [a]\nprices: [b]\n", "line 3: the key 'prices' appears twice"),
        ("base: [restaurant\n", "not valid YAML"),
        ("- base\n", "a mapping is expected"),
        ("a: !!python/object/apply:os.system [ls]\n", "not valid YAML"),
        ("{" * 100_000, "nested more than 50 levels deep"),
        ("base: restaurant\nhalves: {A: {locations: [x], cuisines: [y]}, B: null}\n", "got null in 'halves.B'"),
    ],
)
def test_files_that_are_no_worlds(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DialgaugeError) as caught:
        load_world(write_world(tmp_path, text))
    assert said in str(caught.value)


def test_unknown_world_names() -> None:
    with pytest.raises(DialgaugeError, match="Did you mean 'restaurant'"):
        load_world("restaurnt")
    with pytest.raises(DialgaugeError, match="No such file"):
        load_world("nowhere/world.yaml")


def test_a_folder_is_no_world(tmp_path: Path) -> None:
    write_world(tmp_path, "base: restaurant\n")
    with pytest.raises(DialgaugeError, match="it is a folder; one YAML file is expected"):
        load_world(tmp_path)
