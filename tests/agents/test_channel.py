"""The error channel: what it does to acts, and how often."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.agents import Channel, ChannelRates, Damage, kind_of
from dialgauge.dialogue import Act, Speaker
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.domain import act
from support.soak import examples
from support.town import SYSTEM_ACTS, USER_ACTS, town_search

EVERY = "*"

ONTOLOGY = town_search().domain.tracked
REFERENCE = act("Booking-Book", "Ref", "AB12CD34")
TIMES = 10_000


def inventory(speaker: Speaker) -> list[Act]:
    known = USER_ACTS if speaker == "user" else SYSTEM_ACTS
    value = {"Request": "?"}
    return [
        act(name, slot, value.get(name.partition("-")[2], "some value") if slot else "")
        for name, slots in known.items()
        for slot in slots
    ]


SPEAKERS: list[Speaker] = ["user", "system"]


@st.composite
def turns(draw: st.DrawFn) -> tuple[Speaker, list[Act]]:
    speaker = draw(st.sampled_from(SPEAKERS))
    return speaker, draw(st.lists(st.sampled_from(inventory(speaker)), max_size=8))


@given(turns(), st.integers())
def test_a_clean_channel_changes_nothing_and_draws_nothing(turn: tuple[Speaker, list[Act]], seed: int) -> None:
    speaker, acts = turn
    draws = Draws(seed)
    assert Channel.named("clean").damage(acts, speaker, draws, ONTOLOGY) == tuple(acts)
    assert draws.unit() == Draws(seed).unit()


@given(st.sampled_from(["mild", "paper2021"]), turns(), st.integers())
def test_damage_depends_on_nothing_but_the_draws(name: str, turn: tuple[Speaker, list[Act]], seed: int) -> None:
    speaker, acts = turn
    channel = Channel.named(name)
    heard = channel.damage(acts, speaker, Draws(seed), ONTOLOGY)
    assert heard == channel.damage(tuple(acts), speaker, Draws(seed), ONTOLOGY)
    for one in heard:  # whatever is heard could be recorded
        assert one.domain == one.name.partition("-")[0].lower()
        assert bool(one.values) == bool(one.slot)
        assert all(one.values)


rates = st.lists(st.floats(0, 0.25), min_size=5, max_size=5)


@settings(max_examples=examples(25), deadline=None)
@given(rates, st.integers(0, 1_000_000))
def test_what_happens_happens_as_often_as_the_rates_say(given_rates: list[float], seed: int) -> None:
    dropped, relabelled, nothing, other, inserted = given_rates
    damage = Damage(
        drop=dropped,
        relabel={"Train-OfferBooked(Ref)": relabelled},
        value={"none": nothing, "other": other},
        insert={"Hotel-Request(area)": inserted},
    )
    channel, draws = Channel(ChannelRates(system={"Hotel-Inform(stars)": damage})), Draws(seed)
    said = act("Hotel-Inform", "stars", "4")
    heard = [channel.damage([said], "system", draws, ONTOLOGY) for _ in range(TIMES)]
    extra = act("Hotel-Request", "area", "?")
    counted = [
        (dropped, sum(not set(acts) - {extra} for acts in heard)),
        (relabelled, sum(act("Train-OfferBooked", "Ref", "4") in acts for acts in heard)),
        (nothing, sum(act("Hotel-Inform", "stars", "none") in acts for acts in heard)),
        (other, sum(act("Hotel-Inform", "stars", "0") in acts for acts in heard)),
        (inserted, sum(extra in acts for acts in heard)),
    ]
    for rate, count in counted:
        assert abs(count - TIMES * rate) <= 6 * sqrt(TIMES * rate * (1 - rate)) + 1


def test_what_is_said_again_has_rates_of_its_own() -> None:
    damage = Damage(drop=1.0, again=Damage())
    channel, before = Channel(ChannelRates(user={EVERY: damage})), set[Act]()
    said = [act("Hotel-Inform", "stars", "4"), act("general-thank")]
    assert channel.damage(said, "user", Draws(1), None, before) == ()
    assert channel.damage(said[:1], "user", Draws(1), None, before) == (said[0],)
    assert channel.damage([act("Hotel-Inform", "stars", "3")], "user", Draws(1), None, before) == ()
    assert channel.damage(said[:1], "user", Draws(1)) == ()  # without a memory all is new
    assert before == {*said, act("Hotel-Inform", "stars", "3")}


def test_mild_errs_alike_on_both_sides_and_stays_in_the_domain() -> None:
    channel, draws = Channel.named("mild").within(town_search().domain), Draws(1)
    for speaker, said in (
        ("user", act("Hotel-Inform", "area", "north")),
        ("system", act("Hotel-Inform", "area", "north")),
    ):
        heard = [channel.damage([said], speaker, draws, ONTOLOGY) for _ in range(TIMES)]  # type: ignore[arg-type]
        share = {
            "dropped": sum(not acts for acts in heard) / TIMES,
            "value": sum(bool(acts) and acts != (said,) and kind(acts[0]) == kind(said) for acts in heard) / TIMES,
            "relabelled": sum(bool(acts) and kind(acts[0]) != kind(said) for acts in heard) / TIMES,
        }
        assert share == {
            "dropped": pytest.approx(0.03, abs=0.01),
            "value": pytest.approx(0.01, abs=0.006),
            "relabelled": pytest.approx(0.01, abs=0.006),
        }
        assert {one.domain for acts in heard for one in acts} == {"hotel"}
        values = {acts[0].values[0] for acts in heard if acts and kind(acts[0]) == kind(said)}
        assert values == set(ONTOLOGY.domains["hotel"]["area"].values)


def kind(one: Act) -> str:
    return kind_of(one.name, one.slot)


def test_paper2021_hears_confirmations_as_those_of_trains() -> None:
    channel, draws = Channel.named("paper2021"), Draws(1)
    heard = [channel.damage([REFERENCE], "system", draws, ONTOLOGY) for _ in range(1000)]
    misheard = sum(act("Train-OfferBooked", "Ref", "AB12CD34") in acts for acts in heard)
    assert misheard / 1000 == pytest.approx(0.971, abs=0.03)
    unknown = act("Attraction-Inform", "entrance fee", "unknown")
    assert sum(unknown in channel.damage([unknown], "system", draws) for _ in range(1000)) == 0
    free = act("Attraction-Inform", "entrance fee", "free")
    assert sum(free in channel.damage([free], "system", draws) for _ in range(1000)) == 1000


def test_a_part_of_a_value_is_never_the_value() -> None:
    channel = Channel(ChannelRates(user={"Hotel-Inform(name)": Damage(value={"part": 1.0})}))
    draws = Draws(3)
    for name in ("the lensfield hotel", "avalon", "ax"):
        parts = {channel.damage([act("Hotel-Inform", "name", name)], "user", draws)[0].values[0] for _ in range(50)}
        assert all(part in name and part != name for part in parts)


# Files


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "channel.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_channel_of_ones_own(tmp_path: Path) -> None:
    channel = Channel.named(written(tmp_path, 'system:\n  "Booking-Book(Ref)": {drop: 1}\n'))
    assert not channel.clean
    assert channel.damage([REFERENCE, act("general-bye")], "system", Draws(1)) == (act("general-bye"),)
    assert channel.damage([REFERENCE], "user", Draws(1)) == (REFERENCE,)
    assert Channel.named(written(tmp_path, "user: {}\n")).clean


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("user: [1, 2]\n", "line 1: it is not a channel: Expected object, got array in 'user'"),
        ("users: {}\n", "line 1: it is not a channel: there is no key 'users'. Did you mean 'user'?"),
        (
            'user:\n  "Hotel-Inform(area)": {dropp: 0.1}\n',
            "line 2: it is not a channel: user, 'Hotel-Inform(area)': there is no key 'dropp'. Did you mean 'drop'?",
        ),
        ("user: {\n", "it is not valid YAML"),
    ],
)
def test_a_file_that_is_no_channel_is_refused_with_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(DialgaugeError) as caught:
        Channel.named(written(tmp_path, text))
    assert sentence in str(caught.value)
