"""What dialogs say of entities, against loops straight from the definitions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT
from dialgauge.rankers import Point
from dialgauge.rankers.neural.entities import MatchTypes, RelationSchema, TypedEntities
from support.soak import examples
from support.tiny_world import point

FACTS = [
    Fact("inn", "R_cuisine", "Thai"),
    Fact("inn", "R_rating", "3"),
    Fact("inn", "R_phone", "inn_phone"),
    Fact("pub", "R_cuisine", "greek"),
    Fact("pub", "R_rating", "8"),
    Fact("pub", "R_phone", "pub_phone"),
    Fact("bar", "R_cuisine", "thai"),
    Fact("bar", "R_rating", "8"),
    # A word of two types.
    Fact("bar", "R_location", "greek"),
]
SCHEMA = RelationSchema.of(FACTS)
CANDIDATES = ("call thai greek", "call greek", "the inn", "inn_phone", "hello", "thai thai pub bar")
SPOKEN = st.lists(st.sampled_from(["Thai", "greek", "inn", "pub", "bar", "inn_phone", "8", "well"]), max_size=5).map(
    " ".join
)
SHOWN = st.sampled_from([f"{fact.entity} {fact.relation} {fact.value}" for fact in FACTS] + [NO_RESULT])


@st.composite
def asked(draw: st.DrawFn) -> Point:
    lines = st.one_of(st.tuples(st.sampled_from(["user", "bot"]), SPOKEN), st.tuples(st.just("fact"), SHOWN))
    return point(*draw(st.lists(lines, max_size=7)), utterance=draw(SPOKEN))


def words(text: str) -> list[str]:
    return text.lower().split()


def said(one: Point) -> set[str]:
    return {word for text in (*(line.text for line in one.history), one.utterance) for word in words(text)}


def test_a_schema_lists_relations_and_which_are_numbers() -> None:
    assert SCHEMA.relations == ("R_cuisine", "R_rating", "R_phone", "R_location")
    assert SCHEMA.numeric == ("R_rating",)
    SCHEMA.check(FACTS[:2])
    with pytest.raises(DialgaugeError, match=r"the relation R_ratings, which the model never saw. Did you mean"):
        SCHEMA.check([Fact("inn", "R_ratings", "3")])


@given(asked())
def test_match_types_against_a_double_loop(one: Point) -> None:
    types = MatchTypes(FACTS, SCHEMA)
    mentioned = set(types.said(one))
    values = {relation: {f.value.lower() for f in FACTS if f.relation == relation} for relation in SCHEMA.relations}
    for candidate in CANDIDATES:
        matched = {kind for entity in types.named(candidate) for e, kind in mentioned if e == entity}
        shared = set(words(candidate)) & said(one)
        assert matched == {n for n, relation in enumerate(SCHEMA.relations) if shared & values[relation]}


def naive_marks(one: Point) -> dict[str, set[str]]:
    """Per mark the entities that carry it, each as ``kind:word``."""
    relations = {fact.relation: {f.value.lower() for f in FACTS if f.relation == fact.relation} for fact in FACTS}
    kinds = {"name": {fact.entity for fact in FACTS}, **relations}
    lines = [(line.kind, line.text) for line in one.history] + [("user", one.utterance)]
    marks: dict[str, set[str]] = {
        "present": {f"{k}:{w}" for k, known in kinds.items() for w in known if w in said(one)}
    }
    spoken = [word for kind, text in lines if kind != "fact" for word in words(text)]
    latest = {kind: next((w for w in reversed(spoken) if w in known), None) for kind, known in kinds.items()}
    marks["latest"] = {f"{kind}:{word}" for kind, word in latest.items() if word}
    marks["of named"] = {f"{f.relation}:{f.value.lower()}" for f in FACTS if f.entity == latest["name"]}
    listed = {words(text)[0] for kind, text in lines if kind == "fact" and text != NO_RESULT}
    offered = {word for kind, text in lines if kind == "bot" for word in words(text) if word in kinds["name"]}
    marks["listed"] = {f"name:{name}" for name in listed}
    marks["offered"] = {f"name:{name}" for name in offered}
    marks["open"] = {f"name:{name}" for name in listed - offered}
    ratings = {
        words(text)[0]: float(words(text)[2])
        for kind, text in lines
        if kind == "fact" and "R_rating" in text and words(text)[0] not in offered
    }
    for side, extreme in (("most", max), ("least", min)):
        edge = extreme(ratings.values(), default=None)
        marks[f"{side} R_rating"] = {f"name:{name}" for name, value in ratings.items() if value == edge}
    return marks


@settings(max_examples=examples(200))
@given(asked())
def test_entity_marks_against_their_definitions(one: Point) -> None:
    entities = TypedEntities(FACTS, SCHEMA)
    names = [f"{kind}:{word}" for kind, word in entities.number]
    ours: dict[str, set[str]] = {mark: set() for mark in entities.marks}
    for entity, feature in entities.said(one):
        kind, mark = divmod(feature, len(entities.marks))
        assert names[entity].startswith(f"{entities.kinds[kind]}:")
        ours[entities.marks[mark]].add(names[entity])
    assert ours == naive_marks(one)


def test_typed_lines_and_bare_candidates() -> None:
    entities = TypedEntities(FACTS, SCHEMA)
    assert entities.typed("the INN has thai food") == ["the", "<name>", "has", "<R_cuisine>", "food"]
    assert entities.bare("call THAI greek") == ["call"]
