"""Knowledge bases: what is in them, queries, and the released one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from scipy.stats import chisquare

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats import load_candidates, load_kb
from dialgauge.lab import world_facts
from dialgauge.worlds.restaurant import (
    draw_knowledge_base,
    knowledge_base_of,
    lexicon_of,
    lexicon_of_world,
    load_world,
    world_candidates,
)
from support.babi_release import released

WORLD = load_world()


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


def test_faulty_knowledge_bases() -> None:
    half = WORLD.half("A")
    listing = list(draw_knowledge_base(WORLD, half, 0).restaurants[0].listing)
    with pytest.raises(DialgaugeError, match="does not say R_number"):
        knowledge_base_of(listing[:-1], half)
    with pytest.raises(DialgaugeError, match="no restaurant"):
        knowledge_base_of(listing, WORLD.half("B"))
    odd = [Fact(f.entity, f.relation, "good") if f.relation == "R_rating" else f for f in listing]
    with pytest.raises(DialgaugeError, match="must be a whole number"):
        knowledge_base_of(odd, half)
    with pytest.raises(DialgaugeError, match="no half 'C'"):
        WORLD.half("C")
