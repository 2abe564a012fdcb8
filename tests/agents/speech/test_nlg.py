"""The template NLG: words for every act, the value in the words, and the same words for the same draws."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.agents.speech import STYLES, PhraseBook, TemplateNlg
from dialgauge.dialogue import DONTCARE, Act, Speaker
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.town import ASKED, SYSTEM_ACTS, UNKNOWN, USER_ACTS, act
from support.soak import examples

SPEAKERS: tuple[Speaker, ...] = ("user", "system")
ACTS = {"user": USER_ACTS, "system": SYSTEM_ACTS}
YES_NO = ("parking", "internet")
STRICT = TemplateNlg(strict=True)


def plain(*acts: Act, speaker: Speaker = "user") -> str:
    return TemplateNlg("plain", strict=True).generate(acts, speaker, Draws(0)).text


def texts(one: Act, speaker: Speaker) -> list[str]:
    """All that can be said for an act."""
    return [STRICT.generate([one], speaker, Draws(number)).text for number in range(40)]


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_every_act_and_slot_has_three_templates(speaker: Speaker) -> None:
    coverage = STRICT.book(speaker).coverage()
    assert coverage.keys() == {(name, slot) for name, slots in ACTS[speaker].items() for slot in slots}
    assert {key: count for key, count in coverage.items() if count < 3} == {}


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_every_wording_has_three_templates_and_no_two_are_alike(speaker: Speaker) -> None:
    book = STRICT.book(speaker)
    for name, key in book.wordings():
        parts = [template.parts for template in book.templates(name, key)]
        assert len(parts) >= 3, (name, key)
        assert len(set(parts)) == len(parts), (name, key)


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_a_template_with_a_value_says_it(speaker: Speaker) -> None:
    """Yes and no have their own words; every other value stands in the text, at its span, parted from other words."""
    for name, slots in ACTS[speaker].items():
        for slot in slots:
            if not slot or name.endswith("-Request") or slot in YES_NO:
                continue
            for number in range(12):
                said = STRICT.generate([act(name, slot, "XY97")], speaker, Draws(number))
                (span,) = said.spans
                assert said.text[span.start : span.end].startswith("XY97"), said
                assert (span.domain, span.slot) == (name.partition("-")[0].lower(), slot)
                assert said.text[: span.start][-1:] in ("", " ")
                assert said.text[span.end :][:1] in ("", " ", ".", ",", "?", "!"), said.text


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_yes_and_no_are_said_differently(speaker: Speaker) -> None:
    told = [(name, slot) for name, slots in ACTS[speaker].items() for slot in slots if slot in YES_NO]
    for name, slot in told:
        if not name.endswith("-Request"):
            assert not set(texts(act(name, slot, "yes"), speaker)) & set(texts(act(name, slot, "no"), speaker))


def test_dont_care_and_unknown_are_said_in_words() -> None:
    for name, slots in USER_ACTS.items():
        for slot in slots if name.endswith("-Inform") else ():
            if slot:
                assert not any(DONTCARE in text for text in texts(act(name, slot, DONTCARE), "user"))
    for name, slots in SYSTEM_ACTS.items():
        for slot in slots if name.endswith(("-Inform", "-Recommend")) and "Booking" not in name else ():
            if slot not in ("", "name", "choice"):
                assert not any(UNKNOWN in text for text in texts(act(name, slot, UNKNOWN), "system"))


def test_up_to_three_slots_share_a_sentence() -> None:
    food, area, price = (
        act("Restaurant-Inform", slot, value)
        for slot, value in {"food": "thai", "area": "west", "pricerange": "cheap"}.items()
    )
    assert plain(food, area, price) == "I would like a cheap thai restaurant in the west."
    name = act("Restaurant-Inform", "name", "sala thong")
    opener = act("Restaurant-Inform")
    assert plain(opener, food, area, price, name) == (
        "I am looking for a restaurant. I would like a cheap thai restaurant in the west. "
        "I am looking for a restaurant called sala thong."
    )


def test_acts_of_different_names_keep_their_order() -> None:
    said = plain(
        act("Train-Inform", "trainID", "TR1234"),
        act("Train-Inform", "leaveAt", "09:00"),
        act("Train-OfferBook"),
        act("general-reqmore"),
        speaker="system",
    )
    assert said == (
        "Train TR1234 leaves at 09:00. Would you like me to book tickets for this train? "
        "Is there anything else I can help you with?"
    )


def test_words_agree_with_numbers_and_nouns() -> None:
    assert plain(act("Hotel-Inform", "stay", "1")) == "I will stay for 1 night."
    assert plain(act("Hotel-Inform", "stay", "3")) == "I will stay for 3 nights."
    assert plain(act("Attraction-Inform", "type", "swimmingpool")) == "I would like to visit a swimming pool."
    assert plain(act("Attraction-Inform", "type", "entertainment")) == "I would like to visit an entertainment venue."
    dear = [act("Hotel-Inform", "pricerange", "expensive"), act("Hotel-Inform", "type", "guesthouse")]
    table = [act("Restaurant-Inform", "people", "1")]
    said = [STRICT.generate(acts, "user", Draws(number)).text for acts in (dear, table) for number in range(20)]
    assert not [text for text in said if " a expensive" in text or "1 of us" in text or "1 people" in text]
    assert any(" an expensive guesthouse" in text for text in said)


def test_a_value_that_ends_in_a_full_stop_ends_the_sentence() -> None:
    assert plain(act("Attraction-Inform", "openhours", "closed on sunday."), speaker="system").endswith("on sunday.")
    assert ".." not in plain(act("Attraction-Inform", "openhours", "closed on sunday."), speaker="system")


def test_an_act_without_words_is_an_error_or_a_generic_sentence() -> None:
    odd = Act(name="Bus-Inform", domain="bus", slot="day", values=("monday",))
    with pytest.raises(DialgaugeError, match="no words for the act 'Bus-Inform' with day"):
        STRICT.generate([odd], "user", Draws(0))
    assert "monday" in TemplateNlg().generate([odd], "user", Draws(0)).text


def test_a_style_that_does_not_exist() -> None:
    with pytest.raises(DialgaugeError, match=r"no style 'varid'\. Did you mean 'varied'\?"):
        TemplateNlg("varid")


def test_templates_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("templates:\n  Restaurant-Inform:\n    food: ['{food}, please!']\n", encoding="utf-8")
    nlg = TemplateNlg("plain", phrases={"user": file})
    assert nlg.generate([act("Restaurant-Inform", "food", "thai")], "user", Draws(0)).text == "thai, please!"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("templates: {Bus-Inform: {day: [x]}}", "there is no act 'Bus-Inform'"),
        ("templates: {Hotel-Inform: {food: [x]}}", "has no slot 'food'"),
        ("templates: {Hotel-Inform: {area + stars + type + name: [x]}}", "3 slots at most"),
        ("templates: {Hotel-Inform: {area: ['{stars}']}}", "asks for '{stars}'"),
        ("words: 3", "it is not a file of templates"),
    ],
)
def test_a_file_of_templates_with_a_mistake(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DialgaugeError) as caught:
        PhraseBook(file, "user").templates("Hotel-Inform", ("area",))
    assert message in str(caught.value)


def acts_of(speaker: Speaker) -> st.SearchStrategy[Act]:
    pairs = [(name, slot) for name, slots in ACTS[speaker].items() for slot in slots]
    values = st.sampled_from(["", ASKED, DONTCARE, UNKNOWN, "yes", "no", "1"]) | st.text(max_size=12)
    return st.builds(lambda pair, value: act(*pair, value if pair[1] else ""), st.sampled_from(pairs), values)


@given(st.sampled_from(SPEAKERS).flatmap(lambda one: st.tuples(st.just(one), st.lists(acts_of(one), max_size=15))))
@settings(deadline=None, max_examples=examples(200))
def test_it_never_fails_and_repeats_itself_for_the_same_draws(turn: tuple[Speaker, list[Act]]) -> None:
    speaker, acts = turn
    for style in STYLES:
        said = TemplateNlg(style).generate(acts, speaker, Draws(5))
        assert said == TemplateNlg(style).generate(acts, speaker, Draws(5))
        assert said.text
        for span in said.spans:
            assert 0 <= span.start <= span.end <= len(said.text)
        assert len(said.templates) >= bool(acts)
