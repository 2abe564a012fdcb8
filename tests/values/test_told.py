"""What replies in anybody's words tell of a slot."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from dialgauge.values import AnswerReader, ReplyText, SpokenSlot, kind_of, phrase_of, same_told, told_outcome

PRICE = SpokenSlot("price", ["10 pounds", "12 pounds", "15.50 pounds"])
CLOSES = SpokenSlot("closes", ["17:30", "18:00", "21:00"])
PETS = SpokenSlot("pets", ["yes", "no"])
MANUAL = SpokenSlot("manual", ["yes", "no"])
EXTRAS = SpokenSlot("extras", ["gps; child seat", "roof rack", "gps"])
PHONE = SpokenSlot("phone", ["01223 315999", "01223 412000"])
ADDRESS = SpokenSlot("address", ["12 Mill Road", "3 High Street", "Regent Street City Centre"])
SEATS = SpokenSlot("seats", ["4", "5", "7"])
CLOSED = SpokenSlot("closed", ["monday", "sunday"], labels=["closed on"])
CLASS = SpokenSlot("class", ["compact", "van"], also={"compact": ("small car", "subcompact")})
READER = AnswerReader(
    [PRICE, CLOSES, PETS, MANUAL, EXTRAS, PHONE, ADDRESS, SEATS, CLOSED, CLASS], names=["Fiat 500", "Old Mill 12"]
)


@pytest.mark.parametrize(
    ("reply", "slot", "truth", "asked", "status"),
    [
        ("It costs £12.", "price", "12 pounds", "price", "right"),
        ("That'd be 12.00 GBP per night.", "price", "12 pounds", "price", "right"),
        ("twelve quid", "price", "12 pounds", "price", "right"),
        ("It costs £13 and closes at 5:30 pm.", "price", "12 pounds", "price closes", "other"),
        ("It costs £13 and closes at 5:30 pm.", "closes", "17:30", "price closes", "right"),
        ("Closing time is half past five.", "closes", "17:30", "closes", "right"),
        ("They shut at 6.", "closes", "17:30", "closes", "other"),
        ("5 seats, 12 pounds", "price", "12 pounds", "price seats", "right"),
        ("5 seats, 12 pounds", "seats", "5", "price seats", "right"),
        ("The Fiat 500 seats four.", "seats", "4", "seats", "right"),
        ("The Old Mill 12 it is!", "price", "12 pounds", "price", "none"),
        ("Price\n£15.50\nPhone\n01223 412000", "price", "12 pounds", "price phone", "other"),
        ("| Phone | Price |\n|---|---|\n| 01223 412000 | £12 |", "price", "12 pounds", "phone price", "right"),
        ("| Phone | Price |\n|---|---|\n| 01223 412000 | £12 |", "phone", "01223 412000", "phone price", "right"),
        # The value is unknown, and that is said in any words; of nothing in particular, the lab is not sure
        ("Nobody could tell me the phone, I'm afraid.", "phone", "unknown", "phone", "right"),
        ("Nobody could tell me the phone, I'm afraid.", "phone", "01223 412000", "phone", "unknown"),
        ("They never gave us a phone. It costs £12.", "phone", "unknown", "phone price", "right"),
        ("Sorry, that's a mystery to me.", "phone", "unknown", "phone", "unsure"),
        ("They did not say whether pets are allowed.", "pets", "unknown", "pets", "right"),
        ("The phone is 01223 412000, I'm afraid.", "phone", "unknown", "phone", "other"),
        ("Lovely weather, no doubt.", "phone", "unknown", "phone", "none"),
        # Yes and no
        ("manual: n", "manual", "no", "manual", "right"),
        ("manual: n", "manual", "yes", "manual", "other"),
        ("manual: y", "manual", "yes", "manual", "right"),
        ("manual: n, else?", "manual", "no", "manual", "right"),
        ("❌ No", "manual", "no", "manual", "right"),
        ("**Manual** ❌", "manual", "yes", "manual", "other"),
        ("Manual? [Yes] [No]", "manual", "no", "manual", "unsure"),
        ("[Yes] [No]", "manual", "no", "manual", "unsure"),
        ("Yes/No", "pets", "yes", "pets", "unsure"),
        ("It has a manual gearbox.", "manual", "yes", "manual", "right"),
        ("Pets are not allowed but it is manual.", "manual", "yes", "manual pets", "right"),
        ("Pets are not allowed and it's manual.", "pets", "no", "manual pets", "right"),
        ("No problem! Pets are welcome.", "pets", "yes", "pets", "right"),
        ("I'm afraid it doesn't take pets.", "pets", "no", "pets", "right"),
        ("Yes, it does.", "pets", "yes", "pets", "right"),
        ("Yes, it does.", "pets", "no", "pets", "other"),
        ("Would you like to bring pets?", "pets", "yes", "pets", "none"),
        # Lists, codes, texts, other words for a value
        ("- Extras: GPS, child seat\n- Phone: 01223-315-999", "extras", "gps; child seat", "extras phone", "right"),
        ("- Extras: roof rack", "extras", "gps; child seat", "extras", "other"),
        ("It comes with GPS.", "extras", "gps; child seat", "extras", "unsure"),
        ("Call +44 1223 315 999.", "phone", "01223 315999", "phone", "right"),
        ("Call 01223 315 998.", "phone", "01223 315999", "phone", "other"),
        ("It is at 12 Mill Rd.", "address", "12 Mill Road", "address", "right"),
        ("The address is 14 Elm Grove.", "address", "12 Mill Road", "address", "other"),
        ("You'll find it on Regent Street.", "address", "Regent Street City Centre", "address", "unsure"),
        ("It's a small car.", "class", "compact", "class", "right"),
        ("They're closed on Mondays.", "closed", "monday", "closed", "right"),
        # Unknown
        ("I don't have the phone number, but it has five seats.", "phone", "01223 315999", "phone seats", "unknown"),
        ("I don't have the phone number, but it has five seats.", "seats", "5", "phone seats", "right"),
        ("Phone: n/a", "phone", "", "phone", "right"),
        ("Phone: -", "phone", "", "phone", "right"),
        ("Sorry, that's not listed.", "phone", "unknown", "phone", "right"),
        ("Its phone number is 01223 412000.", "phone", "unknown", "phone", "other"),
        ("Okay.", "phone", "01223 315999", "phone", "none"),
        ("phone... dunno", "phone", "unknown", "phone", "right"),
        ("idk the phone", "phone", "01223 315999", "phone", "unknown"),
        ("Phone? No idea, sorry, my records don't say.", "phone", "unknown", "phone", "right"),
        ("As for the class, that's missing from my notes.", "class", "unknown", "class", "right"),
        # Named in words that tell nothing we can read: the lab is not sure; who puts it off has not told
        ("Its class would make a duchess jealous.", "class", "compact", "class", "unsure"),
        ("Thanks for asking about the class.", "class", "compact", "class", "none"),
        ("Noted.", "class", "compact", "class", "none"),
        # Denied, taken back, or one of several to choose from
        ("The class is van, and definitely not compact.", "class", "compact", "class", "other"),
        ("It's compact, not van.", "class", "compact", "class", "right"),
        ("It isn't a compact any more; it's a van.", "class", "compact", "class", "other"),
        ("It's a van rather than a compact.", "class", "compact", "class", "other"),
        ("A van (don't confuse it with a compact).", "class", "compact", "class", "other"),
        ("Compact isn't the class.", "class", "compact", "class", "none"),
        ("Why not? The class is compact.", "class", "compact", "class", "right"),
        ("It never closes before 17:30.", "closes", "17:30", "closes", "right"),
        ("The phone is not 01223 315999.", "phone", "01223 315999", "phone", "none"),
        ("The phone is 01223 315999 or 01223 412000.", "phone", "01223 315999", "phone", "other"),
        ("The class is compact, or maybe van.", "class", "compact", "class", "other"),
        ("Compact or van? It's a compact.", "class", "compact", "class", "right"),
        ("It closes at 17:30, or half past five if you like.", "closes", "17:30", "closes", "right"),
        ("It's a small car or, if you will, a compact.", "class", "compact", "class", "right"),
        ("It's a compact. Oh, wait, scrap that: the class is van.", "class", "compact", "class", "other"),
        ("It's a van. Scrap that: it's a compact.", "class", "compact", "class", "right"),
        ("It's a compact, and £10. Correction: the price is £12.", "class", "compact", "class price", "right"),
    ],
)
def test_reading(reply: str, slot: str, truth: str, asked: str, status: str) -> None:
    assert READER.read(reply, slot, truth, asked=asked.split()).status == status


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("It has gone through.", "done"),
        ("Wonderful, that's all gone through.", "done"),
        ("It's all gone in without any fuss.", "done"),
        ("Everything's confirmed, nothing is unavailable.", "done"),
        ("Your stay has been reserved, you needn't do anything else.", "done"),
        ("You're booked in, anything else?", "done"),
        ("It hasn't gone through.", "failed"),
        ("The last one is gone.", "failed"),
        ("The last one's gone in the meantime.", "failed"),
        ("ugh they said nope", "failed"),
        ("no dice, try sth else?", "failed"),
        ("no can do", "failed"),
        ("Noted.", ""),
        ("Right, I've noted that down. Is there anything else you need?", ""),
    ],
)
def test_outcomes(reply: str, outcome: str) -> None:
    assert told_outcome(reply) == outcome


def test_what_somebody_hears_who_asked() -> None:
    reference = SpokenSlot("reference", kind="code")
    reader = AnswerReader([PHONE, CLASS, reference])
    assert reader.heard("Call +44 1223-315-999.", ["phone"]) == {"phone": "01223 315999"}  # as the world writes it
    assert reader.heard("class... dunno", ["class"]) == {"class": "unknown"}
    for reply in ("It's BEVLUDBZ", "BEVLUDBZ", "Your reference: BEVLUDBZ."):
        assert reader.heard(reply, ["reference"]) == {"reference": "bevludbz"}
    assert reader.heard("You're BOOKED, see you on MONDAY.", ["reference"]) == {}


#: Five ways to tell a value of a slot.
STYLES = (
    "The {label} is {value}.",
    "Oh sure! So the {label}? {label}: {value} 😊 Anything else?",
    "Here is what I found:\n\n- **{label}**: `{value}`\n\nLet me know!",
    "{label} {value}",
    "According to our records, the {label} of this one is {value}. Please let me know if you need anything further.",
)


def amounts(price: float) -> list[str]:
    return [f"£{price:.2f}", f"{price:g} pounds", f"{price:.2f} GBP", f"€{price:g}"]


def times(minutes: int) -> list[str]:
    hour, minute = divmod(minutes, 60)
    half = "am" if hour < 12 else "pm"
    return [
        f"{hour:02}:{minute:02}",
        f"{(hour - 1) % 12 + 1}:{minute:02} {half}",
        f"{(hour - 1) % 12 + 1}.{minute:02}{half}",
    ]


@given(st.sampled_from(STYLES), st.integers(2, 2000), st.integers(2, 2000), st.integers(0, 3))
def test_amounts_in_any_style(style: str, pence: int, other: int, spelling: int) -> None:
    price = pence / 4
    reply = style.format(label="price", value=amounts(price)[spelling])
    assert READER.read(reply, "price", f"{price:.2f} pounds", asked=["price"]).status == "right"
    expected = "right" if other == pence else "other"
    assert READER.read(reply, "price", f"{other / 4:.2f} pounds", asked=["price"]).status == expected


@given(st.sampled_from(STYLES), st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 2))
def test_times_in_any_style(style: str, minutes: int, other: int, spelling: int) -> None:
    said = times(minutes)[spelling]
    reply = style.format(label="closing time", value=said)
    assert READER.read(reply, "closes", f"{minutes // 60}:{minutes % 60:02}", asked=["closes"]).status == "right"
    if (minutes - other) % 720:
        assert READER.read(reply, "closes", f"{other // 60}:{other % 60:02}", asked=["closes"]).status == "other"


@given(st.sampled_from(STYLES), st.booleans(), st.integers(0, 3))
def test_yes_and_no_in_any_style(style: str, yes: bool, spelling: int) -> None:
    said = [("yes", "no"), ("Yes", "No"), ("✅", "❌"), ("true", "false")][spelling][not yes]
    reply = style.format(label="manual", value=said)
    assert READER.read(reply, "manual", "yes" if yes else "no", asked=["manual"]).status == "right"
    assert READER.read(reply, "manual", "no" if yes else "yes", asked=["manual"]).status in ("other", "unsure")


@given(st.sampled_from(STYLES), st.from_regex(r"[0-9]{5} [0-9]{6}", fullmatch=True), st.sampled_from(" -./"))
def test_codes_in_any_style(style: str, code: str, sign: str) -> None:
    reply = style.format(label="phone number", value=code.replace(" ", sign))
    assert READER.read(reply, "phone", code, asked=["phone"]).status == "right"
    wrong = code[:-1] + str((int(code[-1]) + 1) % 10)
    assert READER.read(reply, "phone", wrong, asked=["phone"]).status == "other"


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for slot in READER.slots:
        assert READER.read(text, slot, "12", asked=list(READER.slots)).status
    READER.heard(text, list(READER.slots))
    phrase_of(text)


def test_whoever_asked_takes_any_value_of_the_kind() -> None:
    assert READER.heard("It's forty euros.", ["price"]) == {"price": "40"}
    assert READER.heard("Sure, anything else?", ["price"]) == {}
    assert READER.heard("I have no information on pets.", ["pets"]) == {"pets": "unknown"}
    assert READER.heard("Phone 01999 123456, closes at 8pm", ["phone", "closes"]) == {
        "phone": "01999123456",
        "closes": "20:00",
    }


def test_kinds_and_spellings() -> None:
    assert kind_of(["CB2 1AB", "CB1 7DG"]) == "code"
    assert kind_of(["105 minutes", "50 minutes"]) == "number"
    assert same_told("1.5", "1.50", "number")
    assert not same_told("room 8B", "room 8A", "text")
    assert [place.value for place in ReplyText("an hour or 1 hour 45 minutes").numbers] == [1.0, 45.0]
    reader = AnswerReader([SpokenSlot("duration", ["105 minutes", "50 minutes"])])
    assert (
        reader.read("It takes 1 hour and 45 minutes.", "duration", "105 minutes", asked=["duration"]).status == "right"
    )


def test_reading_takes_linear_time() -> None:
    long = "no not n't the price is 12 pounds and pets: yes, " * 400
    assert READER.read(long, "price", "12 pounds", asked=["price"]).status == "right"


TIP = SpokenSlot("care tip", ["Cut off brown tips", "Feed twice a year"])
GROWER = SpokenSlot("grower", ["Wildwood", "Greta Lund"])
NURSERY = AnswerReader(
    [
        TIP,
        GROWER,
        SpokenSlot("plant", ["Peace Lily", "Lungwort"]),
        SpokenSlot("light it needs", ["full sun", "half shade"], labels=["light"]),
        SpokenSlot("deliver after", kind="time"),
        SpokenSlot("how many", kind="number"),
        SpokenSlot("gift note", kind="text"),
    ],
    names=["Peace Lily", "Lungwort"],
)


@pytest.mark.parametrize(
    "words",
    [
        'Our advice for looking after it: "{}".',
        "Year after year: {}.",
        "A light hint: {}.",
        "Our many customers agree: {}.",
        "A note from the gardener: {}.",
        "For a good-looking plant: {}.",
    ],
)
def test_a_value_told_verbatim_is_heard_whatever_other_slots_are_called(words: str) -> None:
    reply = words.format("Cut off brown tips")
    assert NURSERY.heard(reply, ["care tip"]) == {"care tip": "Cut off brown tips"}
    assert NURSERY.read(reply, "care tip", "Cut off brown tips", asked=["care tip"]).status == "right"
    assert NURSERY.read(reply, "care tip", "Feed twice a year", asked=["care tip"]).status == "other"


def test_two_values_without_labels_are_both_heard() -> None:
    heard = NURSERY.heard("Greta Lund. Feed twice a year.", ["care tip", "grower"])
    assert heard == {"care tip": "Feed twice a year", "grower": "Greta Lund"}


@pytest.mark.parametrize(
    "words",
    [
        "I'm afraid we have no advice about looking after it.",
        "No idea how one looks after it, sorry.",
        "There's no care tip on the label, sorry.",
        "I don't know, sorry.",
    ],
)
@pytest.mark.parametrize("more", ["", " That one was raised by Wildwood."])
def test_an_empty_cell_told_honestly_is_an_answer(words: str, more: str) -> None:
    asked = ["care tip", "grower"] if more else ["care tip"]
    assert NURSERY.heard(words + more, asked)["care tip"] == "unknown"
    reading = NURSERY.read(words + more, "care tip", "unknown", asked=asked, explained=["Wildwood"])
    assert reading.status == "right"


def test_not_knowing_once_does_not_answer_two_questions() -> None:
    assert NURSERY.heard("I don't know, sorry.", ["care tip", "grower"]) == {}
    assert READER.heard("No problem for us, let me look.", ["price"]) == {}


def test_a_part_of_what_a_label_introduces_belongs_to_the_label() -> None:
    area = SpokenSlot("area", ["north", "south"])
    reader = AnswerReader([area, SpokenSlot("address", kind="text")])
    assert reader.heard("Address: 12 North Road", ["area"]) == {}
