"""The linear NLU: values found in texts, acts told apart by context, any text survived."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.agents.speech import LinearNlu, MentionFinder, ParseContext, TemplateNlg, default_nlu
from dialgauge.dialogue import Act, Ontology, SlotSpec, Speaker
from dialgauge.draws import Draws
from dialgauge.worlds.town import SYSTEM_ACTS, USER_ACTS, act
from support.nlu_sessions import SMALL_TOWN
from support.soak import examples

FINDER = MentionFinder(
    Ontology(
        domains={
            "restaurant": {"name": SlotSpec(values=("the missing sock", "Nandos City Centre", "the place"))},
            "hotel": {"name": SlotSpec(values=("acorn guest house", "the cambridge belfry"))},
            "attraction": {
                "name": SlotSpec(values=("saint john's college", "saint catharines college")),
                "type": SlotSpec(values=("swimmingpool", "church", "gallery")),
            },
            "train": {"departure": SlotSpec(values=("cambridge", "kings lynn"))},
        }
    )
)


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("saint john 's college", [("name", "saint john's college")]),
        ("Saint Johns College", [("name", "saint john's college")]),
        ("St. Catharine's? st catharine 's college", [("name", "saint catharines college")]),
        ("The Missing-Sock or missing sock", [("name", "the missing sock")] * 2),
        ("the acorn guesthouse", [("name", "acorn guest house")]),
        ("from the Cambridge Belfry to Cambridge", [("name", "the cambridge belfry"), ("station", "cambridge")]),
        ("a place to eat; at the place", [("name", "the place")]),
        ("churches, swimming pools, galleries", [("sight", "church"), ("sight", "swimmingpool"), ("sight", "gallery")]),
        ("moderately - priced in the city center", [("pricerange", "moderate"), ("area", "centre")]),
        ("at 5:30pm, 9 am, 17:45, 1145, noon",
         [("time", time) for time in ("17:30", "09:00", "17:45", "11:45", "12:00")]),
        ("at 05:98 or 23:60", [("time", "05:98"), ("time", "23:60")]),
        ("LZLUDTVI, 5F8G6J1G on SATURDAY",
         [("reference", "LZLUDTVI"), ("reference", "5F8G6J1G"), ("day", "saturday")]),
        ("EI51U7KG", [("reference", "EI51U7KG")]),
        ("TR1234 cb11jg cb2 1ab 01223323737", [("train", "TR1234"), ("postcode", "cb11jg"), ("postcode", "cb21ab"),
                                               ("phone", "01223323737")]),
        ("£4.40 or 10.1 GBP or 1 pound", [("price", "4.40 pounds"), ("price", "10.1 pounds"), ("price", "1 pound")]),
        ("two people for 3 nights, 51 minutes", [("number", "2"), ("number", "3"), ("minutes", "51 minutes")]),
        ("some brontosaur food", [("some", "some"), ("food", "brontosaur")]),
        ("pick me up from the hotel", [("place", "the hotel")]),
        ("a yellow volkswagen", [("car", "yellow volkswagen")]),
        ("at 37 Newnham Road.", [("address", "37 Newnham Road")]),
        ("Nandos city centre or nandos city centre", [("name", "Nandos City Centre"), ("name", "nandos city centre")]),
    ],
)  # fmt: skip
def test_values_are_found(text: str, mentions: list[tuple[str, str]]) -> None:
    found = FINDER.find(text).mentions
    assert [(mention.kind, mention.value) for mention in found] == mentions
    for mention in found:
        assert 0 <= mention.start < mention.end <= len(text)


@pytest.fixture(scope="module")
def nlu() -> LinearNlu:
    return default_nlu(SMALL_TOWN)


def heard(nlu: LinearNlu, text: str, speaker: Speaker, **context: object) -> list[tuple[str, str, str]]:
    acts = nlu.parse(text, speaker, ParseContext(**context)).acts  # type: ignore[arg-type]
    return sorted((one.name, one.slot, one.values[0] if one.values else "") for one in acts)


def test_what_a_question_is_about_comes_from_the_context(nlu: LinearNlu) -> None:
    for domain in ("restaurant", "hotel", "attraction"):
        asked = heard(nlu, "Could I have the postcode, please?", "user", domain=domain, pending=domain)
        assert asked == [(f"{domain.capitalize()}-Request", "postcode", "?")]


def test_two_values_of_a_kind_are_told_apart(nlu: LinearNlu) -> None:
    assert heard(nlu, "I need a train from saltby to port orlan.", "user") == [
        ("Train-Inform", "departure", "saltby"),
        ("Train-Inform", "destination", "port orlan"),
    ]
    assert heard(nlu, "I want to leave after 09:00 and arrive by 11:00.", "user", domain="train") == [
        ("Train-Inform", "arriveBy", "11:00"),
        ("Train-Inform", "leaveAt", "09:00"),
    ]
    assert heard(nlu, "I need a room for 3 people for 2 nights.", "user", domain="hotel") == [
        ("Hotel-Inform", "people", "3"),
        ("Hotel-Inform", "stay", "2"),
    ]


def test_a_reference_is_credited_to_what_was_booked(nlu: LinearNlu) -> None:
    """The fault behind the loops of the GCDF1 paper: table bookings heard as train bookings."""
    text = "I have booked casa zingaro for you. Your reference number is LZLUDTVI."
    assert heard(nlu, text, "system", domain="restaurant", pending="restaurant") == [
        ("Booking-Book", "Ref", "LZLUDTVI"),
        ("Booking-Book", "name", "casa zingaro"),
    ]
    text = "Your train tickets are booked, and the reference number is LZLUDTVI."
    assert heard(nlu, text, "system", domain="train", pending="train") == [("Train-OfferBooked", "Ref", "LZLUDTVI")]


def test_confidences_and_spans_belong_to_the_acts(nlu: LinearNlu) -> None:
    text = "I'd like modern european food in the centre."
    parse = nlu.parse(text, "user")
    assert len(parse.confidences) == len(parse.acts) == 2
    assert all(0.5 <= confidence <= 1 for confidence in parse.confidences)
    assert {(span.slot, text[span.start : span.end]) for span in parse.spans} == {
        ("food", "modern european"), ("area", "centre"),
    }  # fmt: skip


def test_what_is_not_sure_is_kept_apart(nlu: LinearNlu) -> None:
    strict = LinearNlu(nlu.model, SMALL_TOWN, threshold=1.01)
    text = "I'd like modern european food in the centre."
    assert strict.parse(text, "user").acts == ()
    assert set(nlu.parse(text, "user").acts) <= set(strict.parse(text, "user").unsure)


def test_a_model_is_learned_for_one_town_and_works_in_another(nlu: LinearNlu) -> None:
    elsewhere = LinearNlu(
        nlu.model, Ontology(domains={"restaurant": {"name": SlotSpec(values=("zum wilden hirsch",))}})
    )
    assert heard(elsewhere, "Do you know the restaurant zum wilden Hirsch?", "user") == [
        ("Restaurant-Inform", "name", "zum wilden hirsch")
    ]


SPEAKERS: tuple[Speaker, ...] = ("user", "system")


@given(st.text() | st.text(alphabet="a 1:'-<>|=\n\0£?.", max_size=300), st.sampled_from(SPEAKERS))
@settings(deadline=None, max_examples=examples(300))
def test_any_text_is_survived(text: str, speaker: Speaker) -> None:
    parse = default_nlu(SMALL_TOWN).parse(text, speaker)
    for span in parse.spans:
        assert 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize("text", ["", "a " * 50_000, "\0" * 100_000, "hotel " * 20_000, "1" * 100_000, "'" * 100_000])
def test_long_texts_are_survived(nlu: LinearNlu, text: str) -> None:
    nlu.parse(text, "user", ParseContext(domain="hotel"))
    nlu.parse(text, "system", ParseContext(domain="hotel"))


def spoken(speaker: Speaker) -> st.SearchStrategy[tuple[Speaker, list[Act]]]:
    inventory = USER_ACTS if speaker == "user" else SYSTEM_ACTS
    pairs = [(name, slot) for name, slots in inventory.items() for slot in slots]
    acts = st.builds(lambda pair, value: act(*pair, value), st.sampled_from(pairs), st.text(min_size=1, max_size=9))
    return st.tuples(st.just(speaker), st.lists(acts, max_size=8))


@given(st.sampled_from(SPEAKERS).flatmap(spoken), st.integers(0, 99))
@settings(deadline=None, max_examples=examples(150))
def test_what_is_said_is_parsed_within_the_text(turn: tuple[Speaker, list[Act]], seed: int) -> None:
    speaker, acts = turn
    said = TemplateNlg().generate(acts, speaker, Draws(seed))
    parse = default_nlu(SMALL_TOWN).parse(said.text, speaker, ParseContext(own=tuple(acts)))
    for span in (*said.spans, *parse.spans):
        assert 0 <= span.start <= span.end <= len(said.text)
