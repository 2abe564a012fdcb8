"""Words of people for acts: said again with other values, never with a value that nobody asked for."""

from __future__ import annotations

from dialgauge.agents.speech import RetrievalNlg, TemplateNlg
from dialgauge.dialogue import Act, Dialogue, Turn
from dialgauge.draws import Draws
from dialgauge.worlds.town import act
from support.nlu_sessions import SMALL_TOWN

FOOD, AREA = act("Restaurant-Inform", "food", "indian"), act("Restaurant-Inform", "area", "north")


def nlg(text: str, *acts: Act) -> RetrievalNlg:
    turn = Turn(speaker="user", text=text, acts=acts)
    return RetrievalNlg([Dialogue(id="1", turns=(turn,))], SMALL_TOWN, fallback=TemplateNlg("plain"))


def said(generator: RetrievalNlg, *acts: Act) -> str:
    return generator.generate(acts, "user", Draws(0)).text


def test_other_values_take_the_place_of_the_ones_that_were_said() -> None:
    generator = nlg("Got any Indian joints up north , mate ?", FOOD, AREA)
    assert len(generator) == 1
    acts = (act("Restaurant-Inform", "area", "east"), act("Restaurant-Inform", "food", "thai"))
    utterance = generator.generate(acts, "user", Draws(0))
    assert utterance.text == "Got any thai joints up east , mate ?"
    assert [(span.slot, utterance.text[span.start : span.end]) for span in utterance.spans] == [
        ("food", "thai"), ("area", "east"),
    ]  # fmt: skip


def test_what_nobody_said_is_worded_by_templates() -> None:
    generator = nlg("Got any Indian joints ?", FOOD)
    assert said(generator, AREA) == "The restaurant should be in the north."
    assert generator.generate([FOOD], "system", Draws(0)).templates != ("human/0",)
    assert said(generator, act("Restaurant-Inform", "food", "dontcare")) == "I don't mind what kind of food they serve."


def test_an_utterance_that_says_more_or_less_than_its_acts_is_not_used() -> None:
    assert len(nlg("Got any Indian joints up north ?", FOOD)) == 0
    assert len(nlg("Got any joints ?", FOOD)) == 0
    assert len(nlg("Got any Indian joints ?", FOOD, AREA)) == 0
    assert len(nlg("Whatever .")) == 0


def test_a_question_needs_no_value() -> None:
    generator = nlg("phone ?", act("Restaurant-Request", "phone", "?"))
    assert said(generator, act("Restaurant-Request", "phone", "?")) == "phone ?"
