"""The anonymiser: what it finds, what it leaves, what it reports; and chats as ranking data."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dialgauge.data import Anonymiser, Gazetteer, check_kind, read_gazetteer
from dialgauge.dialogue import Dialogue, Goal, Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import joined_messages, operator_candidates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The conversation of Table 7 of the paper, with entities put back in.
        (
            "could you check if i can get a rservation at La Tasca tomorrow for brunch",
            "could you check if i can get a rservation at <org> <date> for brunch",
        ),
        ("5 people", "<number> people"),
        (
            "hi Emma unfortunately La Tasca is fully booked for Sunday",
            "hi <person> unfortunately <org> is fully booked for <date>",
        ),
        ("and there's 12 people on the waiting list", "and there's <number> people on the waiting list"),
        ("mail me at jo.smith+x@mail.example.com.", "mail me at <email>."),
        ("see https://example.org/menu?a=1, please", "see <url>, please"),
        ("call +44 (0)1223 323-737 or 555-1234", "call <phone> or <phone>"),
        ("on 2016-05-12, 12/05/2016, 12.5.16 or 5/12", "on <date>, <date>, <date> or <date>"),
        ("the 3rd of May 2016 or May 4th, 2016", "<date> or <date>"),
        ("next Friday, tonight or on new year's eve", "<date>, <date> or on <date>"),
        ("may i march in? i may", "may i march in? i may"),
        ("at 7:30 pm, 19:30, 7pm or noon", "at <time>, <time>, <time> or <time>"),
        ("$12.50 for twenty of the 2nd row", "<number> for <number> of the <number> row"),
        ("the one we had, at once", "the one we had, at once"),
        ("Mr. Jones and dr O'Neill", "<person> and <person>"),
        ("my name is Xenia Petrova and i", "my name is <person> and i"),
        ("i am Dr. John Smith, ok?", "i am <person>, ok?"),
        ("prof Ana María López-Gil and Mr J. R. Ewing", "<person> and <person>"),
        ("dr who is in", "<person> is in"),
        ("John Paul Smith and John F. Kennedy", "<person> and <person>"),
        ("hi Emma La Tasca is full", "hi <person> <org> is full"),
        ("Mrs Anna La Tasca", "<person> <org>"),
        ("thanks john please", "thanks <person> please"),
        ("John Smith was here", "<person> was here"),
        ("in new york city or NEW YORK", "in <location> or <location>"),
        ("12 Main Street, 4b old mill road", "<location>, <location>"),
        ("already <person> and <number>", "already <person> and <number>"),
        ("i looked on opentable", "i looked on <org>"),
        ("b2b and covid19 stay", "b2b and covid19 stay"),
        ("my passport is L01X00T47, ok", "my passport <id>, ok"),
        ("passport no. 533380006 or passport number C4HX92", "passport <id> or passport <id>"),
        ("DE89 3704 0044 0532 0130 00 and booking QX7YB219", "<id> and booking <id>"),
        ("to CB2 1TN, sw1a 1aa or SW1A1AA.", "to <postcode>, <postcode> or <postcode>."),
        (
            "K1A 0B1, 1017 BZ, zip 90210 or zip code 90210-1234",
            "<postcode>, <postcode>, zip <postcode> or zip code <postcode>",
        ),
        ("in 2016 AD at 1030 PM", "in <number> AD at <number> PM"),
    ],
)
def test_what_is_found(text: str, expected: str) -> None:
    assert Anonymiser({"org": ["la tasca"]}).text(text) == expected


def test_own_lists_come_before_everything_else() -> None:
    anonymiser = Anonymiser({"org": ["Paris Bar", "7 stars", "maria's"], "person": ["xyz"]})
    assert (
        anonymiser.text("Paris Bar in Paris, 7 Stars or Maria's; XYZ")
        == "<org> in <location>, <org> or <org>; <person>"
    )


def test_without_the_built_in_lists() -> None:
    assert Anonymiser(with_built_in=False).text("john in paris on monday") == "john in paris on <date>"


def test_the_report_counts_what_was_replaced() -> None:
    anonymiser = Anonymiser()
    anonymiser.text("John and john in Rome")
    assert anonymiser.counts() == {"location": 1, "person": 2}
    assert anonymiser.replaced == {("person", "john"): 2, ("location", "rome"): 1}


def test_names_on_no_list_stay_and_are_told_of() -> None:
    anonymiser = Anonymiser()
    text = "Hello. Hi Quimby, ask Zebediah Hopper. I think I'm late, Quimby"
    assert anonymiser.text(text) == text
    assert anonymiser.suspects == {"Quimby": 2, "Zebediah": 1, "Hopper": 1}


def test_conversations_keep_speakers_and_texts_only() -> None:
    turns = (Turn(speaker="user", text="i am John", state={"a": {"b": ("c",)}}), Turn(speaker="system", text="hi"))
    source = Dialogue(id="john.smith@example.com", turns=turns, goal=Goal(message=("x",)), domains=("d",))
    (made,) = Anonymiser().dialogues([source])
    assert made == Dialogue(
        id="chat-0001", turns=(Turn(speaker="user", text="i am <person>"), Turn(speaker="system", text="hi"))
    )


secrets = st.sampled_from(["jane@example.org", "+49 30 1234567", "2019-03-04", "https://x.example/y", "Sebastian"])


@given(st.text(max_size=30), secrets, st.text(max_size=30))
def test_a_secret_between_any_words_is_hidden(before: str, secret: str, after: str) -> None:
    hidden = Anonymiser().text(f"{before} . {secret} . {after}")
    assert secret not in hidden.replace(before, "").replace(after, "")


@given(st.text(max_size=60))
def test_text_outside_of_entities_is_untouched(text: str) -> None:
    anonymiser = Anonymiser()
    made = anonymiser.text(text)
    if not anonymiser.replaced:
        assert made == text


def test_gazetteers_prefer_the_longest_entry() -> None:
    gazetteer = Gazetteer({"location": ["new york", "york"], "org": ["new york city hall"]})
    assert gazetteer.find("New York city hall, york, new  york") == [
        (0, 18, "org"),
        (20, 24, "location"),
        (26, 35, "location"),
    ]


def test_built_in_lists_hold_no_everyday_words() -> None:
    everyday = {
        "may",
        "will",
        "mark",
        "bill",
        "rose",
        "hope",
        "grace",
        "art",
        "nice",
        "bath",
        "reading",
        "one",
        "turkey",
    }
    anonymiser = Anonymiser()
    for word in everyday:
        assert [anonymiser.text(text) for text in (word, word.title())] == [word, word.title()]


def test_list_files(tmp_path: Path) -> None:
    path = tmp_path / "staff.txt"
    path.write_text("# our people\nZoë Ngũgĩ\n\nbo\n", encoding="utf-8")
    assert read_gazetteer(path) == ["Zoë Ngũgĩ", "bo"]
    path.write_text("# nothing\n")
    with pytest.raises(DialgaugeError, match="no entries"):
        read_gazetteer(path)
    with pytest.raises(DialgaugeError, match="it is a folder; a list is one text file"):
        read_gazetteer(tmp_path)
    with pytest.raises(DialgaugeError, match="Did you mean 'person'"):
        check_kind("persn")


def chat(*messages: tuple[Speaker, str]) -> Dialogue:
    return Dialogue(id="c", turns=tuple(Turn(speaker=speaker, text=text) for speaker, text in messages))


def test_candidates_are_what_operators_said() -> None:
    chats = [
        chat(("user", "hi"), ("system", "hello\n there"), ("system", "")),
        chat(("system", "hello there"), ("system", "sure")),
    ]
    assert operator_candidates(chats) == ["hello there", "sure"]


def test_messages_in_a_row_are_joined() -> None:
    joined = joined_messages(chat(("user", "hi"), ("user", "a table"), ("system", "when"), ("system", "where")))
    assert [(turn.speaker, turn.text) for turn in joined.turns] == [
        ("user", "hi a table"),
        ("system", "when"),
        ("system", "where"),
    ]
