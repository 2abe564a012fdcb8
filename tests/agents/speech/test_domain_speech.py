"""Sentences and understanding made from a domain: what is said is understood, and free English too."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.agents.speech import DomainGrammar, DomainNlg, DomainNlu, FreeListener, ParseContext, Vocabulary
from dialgauge.dialogue import Act, Call, Speaker, Turn
from dialgauge.draws import Draws
from dialgauge.values import comparable
from dialgauge.worlds.domain import DomainSearch, act, draw_goals, load_domain
from support.domains import domain_folder

FOLDER = Path(__file__).parents[3] / "benchmarks" / "domains"
BIKES = load_domain(FOLDER / "bike-shop")
WORDS = Vocabulary(BIKES)
NLU = DomainNlu(WORDS)


def slots(acts: tuple[Act, ...] | list[Act]) -> set[tuple[str, str, tuple[object, ...]]]:
    return {(one.name, one.slot, tuple(comparable(value) for value in one.values)) for one in acts if one.slot}


@pytest.mark.parametrize("name", ["bike-shop", "language-school"])
def test_what_is_said_is_understood(name: str) -> None:
    domain = load_domain(FOLDER / name)
    words, draws = Vocabulary(domain), Draws(1, "speech")
    nlu, goals = DomainNlu(words), draw_goals(domain, DomainSearch(domain), 40).goals
    for task in (task for goal in goals for task in goal.tasks):
        service = domain.services[task.domain]
        inform, request = service.act_name("inform"), service.act_name("request")
        opening = [act(inform), *(act(inform, slot, value) for slot, value in (task.first or task.info).items())]
        booking = [act(inform, slot, value) for slot, value in (task.book or {}).items()]
        asked = [act(request, slot, "?") for slot in task.requests]
        for said, context in (
            (opening, ParseContext()),
            (booking, ParseContext(domain=task.domain)),
            (asked, ParseContext(domain=task.domain)),
        ):
            text = DomainNlg(DomainGrammar(words)).generate(said, "user", draws).text
            assert slots(nlu.parse(text, context).acts) == slots(said), text


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("hey, any folding bikes under 12 euros an hour?", "", {"style": "folding", "price": "12"}),
        ("I want something electric, frame should be large.", "", {"electric": "yes", "frame": "large"}),
        ("Not a cargo bike, a mountain one please.", "", {"style": "mountain"}),
        ("no electric thanks", "electric", {"electric": "no"}),
        ("I don't care", "style", {"style": "dontcare"}),
        ("any style is fine", "style", {"style": "dontcare"}),
        ("make it half past three in the afternoon", "time", {"time": "15:30"}),
        ("for three hours", "hours", {"hours": "3"}),
        ("Tuesday, I think", "day", {"day": "tuesday"}),
        ("It needs to have a child seat", "", {"extras": "child seat"}),
    ],
)
def test_free_english_of_a_user(text: str, asked: str, expected: dict[str, str]) -> None:
    own = (act("Bike-Request", asked, "?"),) if asked else ()
    heard = NLU.parse(text, ParseContext(domain="bike", own=own)).acts
    told = {one.slot: one.values[0] for one in heard if one.intent == "inform" and one.slot}
    assert {slot: comparable(value) for slot, value in told.items()} == {
        slot: comparable(value) for slot, value in expected.items()
    }


@pytest.mark.parametrize("text", ["How heavy is it?", "what's the weight", "could you tell me its weight please"])
def test_questions_of_a_user(text: str) -> None:
    assert act("Bike-Request", "weight", "?") in NLU.parse(text, ParseContext(domain="bike")).acts


def test_first_sentences_say_what_is_wanted_and_no_also() -> None:
    said = [act("Bike-Inform"), act("Bike-Inform", "style", "cargo"), act("Bike-Inform", "price", "9.50")]
    for seed in range(20):
        nlg = DomainNlg(DomainGrammar(WORDS))
        text = nlg.generate(said, "user", Draws(seed, "x")).text
        assert "also" not in text and "cargo as the style" in text and "at most 9.50 euros" in text
        assert "also" in nlg.generate(said, "user", Draws(seed, "x")).text


def search(found: int = 3) -> Call:
    return Call(name="search", domain="bike", found=found)


def booking(outcome: str) -> Call:
    return Call(name="book", domain="bike", result=outcome, failed=outcome != "booked")


@pytest.mark.parametrize(
    ("text", "calls", "own", "expected"),
    [
        ("You might like the **Corvo Glide**!", [search()], [], ("Bike-Offer", "bike", "Corvo Glide")),
        ("Sorry, nothing matched that.", [search(0)], [], ("Bike-NoOffer", "", "")),
        ("Done! Your code is AB12CD34.", [booking("booked")], [], ("Bike-Book", "reference", "ab12cd34")),
        ("All sorted.", [booking("booked")], [], ("Bike-Book", "", "")),
        ("Hmm, no luck.", [booking("refused")], [], ("Bike-NoBook", "", "")),
        ("It's 17 kilos.", [], ["weight"], ("Bike-Inform", "weight", "17")),
        ("We don't know, sorry.", [], ["weight"], ("Bike-Inform", "weight", "unknown")),
        ("And what frame size would you like?", [], [], ("Bike-Request", "frame", "?")),
        ("Corvo Glide or Pelto Comet?", [search()], [], ("Bike-Select", "bike", "Pelto Comet")),
    ],
)  # fmt: skip
def test_an_assistant_that_speaks_freely(
    text: str, calls: list[Call], own: list[str], expected: tuple[str, str, str]
) -> None:
    turn = Turn(speaker="system", text=text, calls=tuple(calls))
    asked = tuple(act("Bike-Request", slot, "?") for slot in own)
    heard = FreeListener(WORDS).hear(turn, asked, "bike")
    assert expected in [(one.name, one.slot, one.values[0] if one.values else "") for one in heard]


def test_one_that_is_only_mentioned_beside_an_answer_is_no_offer() -> None:
    listener = FreeListener(WORDS)

    def offered(text: str, calls: tuple[Call, ...], *asked: str) -> list[str]:
        own = tuple(act("Bike-Request", slot, "?") for slot in asked)
        heard = listener.hear(Turn(speaker="system", text=text, calls=calls), own, "bike")
        return [one.values[0] for one in heard if one.slot == "bike"]

    assert offered("Try the Corvo Glide.", (search(),)) == ["Corvo Glide"]
    assert offered("It's 17 kilos. The Pelto Comet would be lighter, at 12.", (), "weight") == []
    assert offered("", (search(),)) == []
    assert offered("It's 17 kilos. Now the Pelto Comet fits.", (), "weight") == ["Pelto Comet"]


def test_what_was_searched_for_is_no_question() -> None:
    turn = Turn(
        speaker="system",
        text="Oh, and the price per hour? That's €8! The Corvo Glide, then?",
        calls=(Call(name="search", domain="bike", arguments={"price": "8"}, found=2),),
    )
    assert not [one for one in FreeListener(WORDS).hear(turn, (), "bike") if one.intent == "request"]


@pytest.mark.parametrize("hour", ["6:30", "0:10", "5:00", "12:45", "18:30"])
def test_a_time_is_heard_as_it_was_meant(tmp_path: Path, hour: str) -> None:
    """ "6:30" was heard as 18:30, "0:10" as 12:10."""
    (tmp_path / "boats.csv").write_text("boat,size\nSwan,small\nHeron,large\n")
    book = "{takes: {day: day, hour: time}, gives: [code]}"
    (tmp_path / "domain.yaml").write_text(
        "domain: boats\ntitle: a boat hire\nservices:\n  boat:\n    title: a boat\n    rows: boats.csv\n"
        f"    name: boat\n    search: {{size: same}}\n    book: {book}\n"
    )
    words = Vocabulary(load_domain(tmp_path))
    said = [act("Boat-Inform", "day", "monday"), act("Boat-Inform", "hour", hour)]
    text = DomainNlg(DomainGrammar(words)).generate(said, "user", Draws(1, "speech")).text
    assert slots(DomainNlu(words).parse(text, ParseContext(domain="boat")).acts) == slots(said), text


def test_labels_that_are_states_deeds_lists_and_clauses_are_said_as_such(tmp_path: Path) -> None:
    yaml = (
        "domain: p\nservices:\n  plant:\n    title: a plant\n    rows: p.csv\n    name: n\n    "
        "search: {safe for cats: yes-no, comes on Sundays: yes-no, "
        "flowers in: contains, years in the trade: at-least, light it needs: same}\n"
    )
    rows = "n,safe for cats,comes on Sundays,flowers in,years in the trade,light it needs\n"
    rows += "Rex,yes,no,may;june,31,sun\n"
    domain = load_domain(domain_folder(tmp_path, {"domain.yaml": yaml, "p.csv": rows}))
    grammar, draws = DomainGrammar(Vocabulary(domain)), Draws(1, "x")
    inform, row = domain.services["plant"].act_name("inform"), domain.services["plant"].rows
    assert row is not None
    wishes = [act(inform, slot, row[0][slot]) for slot in ("safe_for_cats", "comes_on_Sundays")]
    said = DomainNlg(grammar, "plain").generate(wishes, "user", draws).text
    assert said == "It should be safe for cats and it shouldn't come on Sundays."
    told = [act(inform, slot, row[0][slot]) for slot in ("flowers_in", "years_in_the_trade", "light_it_needs")]
    text = DomainNlg(grammar, "plain").generate(told, "system", draws).text
    assert text == "Flowers in: may and june. It has 31 years in the trade. The light it needs is sun."
    assert grammar.hear(text, "system", "plant") == tuple(told)
    facts = [act(inform, "safe_for_cats", "yes"), act(inform, "comes_on_Sundays", "no")]
    text = DomainNlg(grammar, "plain").generate(facts, "system", draws).text
    assert text == "It is safe for cats. It does not come on Sundays."
    assert grammar.hear(text, "system", "plant") == tuple(facts)
    none = domain.services["plant"].act_name("no_offer")
    missing = [
        act(none, "light_it_needs", "sun"),
        act(none, "safe_for_cats", "no"),
        act(none, "comes_on_Sundays", "no"),
    ]
    text = DomainNlg(grammar, "plain").generate(missing, "system", draws).text
    nothing = (
        "I'm sorry, there is no plant with sun as the light it needs that is not safe for cats and "
        "does not come on Sundays."
    )
    assert text == nothing
    assert grammar.hear(text, "system", "plant") == tuple(missing)


PLANTS = {
    "domain.yaml": "domain: p\nservices:\n  plant:\n    title: a plant\n    rows: p.csv\n    name: n\n"
    "    search: {height when grown: at-most, price: at-most, water every: at-least, comes on Sundays: yes-no}\n"
    "    answer: [grower]\n    book: {takes: {day: day, how many: number 1..12}}\n"
    "  van:\n    title: a van\n    rows: v.csv\n    name: m\n    search: {fee: at-most}\n    answer: [phone]\n",
    "p.csv": "n,height when grown,price,water every,comes on Sundays,grower\nRex,1.2,5,3,yes,Ann\nMax,0.2,6,4,no,Bo\n",
    "v.csv": "m,fee,phone\nBig,5,1\nSmall,6,2\n",
}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("how much is it?", [("price", "?")]),
        ("what does it cost", [("price", "?")]),
        ("who grows it?", [("grower", "?")]),
        ("how tall does it get?", [("height_when_grown", "?")]),
        ("does she come on Sundays?", [("comes_on_Sundays", "?")]),
        ("I'll take two, for friday", [("how_many", "2"), ("day", "friday")]),
        ("what's its phone number?", []),
    ],
)
def test_questions_that_name_no_slot_are_about_what_was_offered(
    text: str, meant: list[tuple[str, str]], tmp_path: Path
) -> None:
    """The last asks for what only another service has: it is not answered by that."""
    vocabulary = Vocabulary(load_domain(domain_folder(tmp_path, PLANTS)))
    acts = DomainNlu(vocabulary).parse(text, ParseContext(domain="plant")).acts
    assert sorted((one.slot, one.values[0]) for one in acts) == sorted(meant)
    assert {one.domain for one in acts} <= {"plant"}


def test_a_label_that_is_a_question_is_asked_and_given_as_such(tmp_path: Path) -> None:
    domain = load_domain(domain_folder(tmp_path, PLANTS))
    grammar, service = DomainGrammar(Vocabulary(domain)), domain.services["plant"]
    said = DomainNlg(grammar, "plain").generate([act(service.act_name("inform"), "how_many", "9")], "user", Draws(1))
    assert said.text == "For the booking: 9 of them."
    asked = DomainNlg(grammar, "plain").generate(
        [act(service.act_name("request"), "how_many", "?")], "system", Draws(1)
    )
    assert asked.text == "How many shall I put down?"
    heard = grammar.hear(said.text, "user", "plant"), grammar.hear(asked.text, "system", "plant")
    assert [[one.slot for one in acts or ()] for acts in heard] == [["how_many"], ["how_many"]]


def test_things_that_are_had_needed_and_measured(tmp_path: Path) -> None:
    """No "with whiteboard", "kind of room study", "with from 18:00 or later", "it should have induction needed"."""
    yaml = (
        "domain: p\nservices:\n  room:\n    title: a room\n    rows: p.csv\n    name: n\n    "
        "search: {whiteboard: yes-no, parking: yes-no, induction needed: yes-no, kind of room: same, from: at-least, "
        "width: {match: at-least, unit: m}, stars: same}\n"
    )
    rows = "n,whiteboard,parking,induction needed,kind of room,from,width,stars\nRex,yes,yes,yes,study,18:00,3,4\n"
    domain = load_domain(domain_folder(tmp_path, {"domain.yaml": yaml, "p.csv": rows}))
    grammar, draws, room = DomainGrammar(Vocabulary(domain)), Draws(1, "x"), domain.services["room"]
    assert room.rows is not None
    row = {slot: value for slot, value in room.rows[0].items() if slot != "n"}
    wishes = [act(room.act_name("inform"), slot, value) for slot, value in row.items()]
    nothing = [act(room.act_name("no_offer"), slot, value) for slot, value in row.items()]
    spoken = {
        "user": "It should have a whiteboard, it should have parking, induction should be needed, the kind of room "
        "should be study, it should be from 18:00 or later, the width should be at least 3 m and it should have 4 "
        "stars.",
        "system": "I'm sorry, there is no room with a whiteboard, parking, induction needed, study as the kind of "
        "room, a width of at least 3 m and 4 stars that is from 18:00 or later.",
    }
    said: dict[Speaker, list[Act]] = {"user": wishes, "system": nothing}
    for speaker, acts in said.items():
        text = DomainNlg(grammar, "plain").generate(acts, speaker, draws).text
        assert text == spoken[speaker]
        assert {*(grammar.hear(text, speaker, "room") or ())} == {*acts}


def test_own_words_units_and_articles(tmp_path: Path) -> None:
    """No "1 euros", no "a electric car"; the domain's own words for a booking are said, and all of it is heard."""
    yaml = (
        "domain: p\nservices:\n  car:\n    title: a car\n    rows: p.csv\n    name: n\n    "
        "search: {kind: same, price: {match: at-most, unit: euros per day}, width: {match: at-least, unit: inches}}\n"
        "    book: {takes: {weeks: number 1..6, pickup: text}}\n"
        'words: {kind: {say: "a {value} one"}, weeks: {say: "for {value} weeks"}, pickup: {say: "from {value}"}}\n'
    )
    rows = "n,kind,price,width\nRex,electric,1,1\nTom,small,2,2\n"
    domain = load_domain(domain_folder(tmp_path, {"domain.yaml": yaml, "p.csv": rows}))
    grammar, draws, car = DomainGrammar(Vocabulary(domain)), Draws(1, "x"), domain.services["car"]
    user = {
        "I'd like an electric one.": {"kind": "electric"},
        "I'd like a small one.": {"kind": "small"},
        "The price should be at most 1 euro per day.": {"price": "1"},
        "The price should be at most 2 euros per day and the width should be at least 1 inch.": {
            "price": "2",
            "width": "1",
        },
        "Please book it: for 1 week, from Aachen.": {"weeks": "1", "pickup": "Aachen"},
        "Please book it: for 3 weeks, from Bonn.": {"weeks": "3", "pickup": "Bonn"},
    }
    told = {"The price is 1 euro per day.": {"price": "1"}, "The price is 2 euros per day.": {"price": "2"}}
    spoken: tuple[tuple[Speaker, dict[str, dict[str, str]]], ...] = (("user", user), ("system", told))
    for speaker, sentences in spoken:
        for text, given in sentences.items():
            acts = [act(car.act_name("inform"), slot, value) for slot, value in given.items()]
            assert DomainNlg(grammar, "plain").generate(acts, speaker, draws).text == text
            assert {*(grammar.hear(text, speaker, "car") or ())} == {*acts}
