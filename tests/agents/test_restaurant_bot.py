"""The rule bot: complete on all 20 released files and in conversation; sensible where the tasks do not lead."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from dialgauge.agents import EXPLANATION, RuleBot, SystemContext
from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.formats import SILENCE, load_kb
from dialgauge.lab import conversations_with
from dialgauge.worlds.restaurant import (
    FactDatabase,
    Half,
    Parameters,
    Setting,
    SimulatorWorld,
    WorldLexicon,
    check_world,
    lexicon_of,
    lexicon_of_world,
    load_world,
    prepare,
)
from support.babi_release import SPLITS, TASKS, released
from support.soak import examples, some

WORLD = load_world()


CONTEXT = SystemContext(dialogue_id="d", database=FactDatabase([]))


def new_bot(lexicon: WorldLexicon | None = None) -> RuleBot:
    bot = RuleBot(WORLD.phrases, lexicon or lexicon_of_world(WORLD))
    bot.start(CONTEXT)
    return bot


def respond(bot: RuleBot, text: str, facts: list[Fact] | None = None) -> str:
    reply = bot.respond(Turn(speaker="user", text=text, results=None if facts is None else tuple(facts)))
    assert reply.turn is not None and reply.turn.speaker == "system" and not reply.done
    return reply.turn.text


def failures(setting: Setting, bot: RuleBot, count: int) -> list[str]:
    outcomes = [dialogue.outcome for dialogue in conversations_with(setting, bot, count)]
    return [one.facts.get(EXPLANATION, "?") for one in outcomes if one and not one.success]


def wrong_replies(bot: RuleBot, dialogue: Dialogue) -> int:
    """How many replies differ from the recorded ones, with the recorded history."""
    bot.start(CONTEXT)
    wrong = 0
    for user, recorded in zip(dialogue.turns[::2], dialogue.turns[1::2], strict=True):
        reply = bot.respond(user)
        wrong += reply.turn is None or reply.turn.text != recorded.text
        bot.overrule(recorded)
    return wrong


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("split", SPLITS)
def test_complete_on_the_released_files(shared_data: Path, task: int, split: str) -> None:
    bot = new_bot(lexicon_of(load_kb(shared_data / "babi" / "dialog-babi-kb-all.txt.gz")))
    dialogues = released(shared_data, task, split)
    assert len(dialogues) == 1000
    assert [dialogue.id for dialogue in some(dialogues) if wrong_replies(bot, dialogue)] == []


@pytest.mark.parametrize("name", ["restaurant", "bakery"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("split", ["tst", "tst-OOV"])
def test_carries_every_conversation(name: str, task: int, split: str) -> None:
    world = load_world(name)
    setting = prepare(world, task, split, Parameters(seed=11))
    bot = RuleBot(world.phrases, lexicon_of_world(world))
    count = examples(1000 if name == "restaurant" else 100)
    assert failures(setting, bot, count) == []


syllables = st.text("bdfgklmnprst", min_size=1, max_size=3)


@st.composite
def worlds(draw: st.DrawFn) -> SimulatorWorld:
    """The restaurant world with other values, none of which is a word of its sentences."""
    words = draw(st.lists(syllables, min_size=14, max_size=20, unique=True))
    halves = (
        Half(name="A", locations=tuple(words[:3]), cuisines=tuple(words[3:5])),
        Half(name="B", locations=tuple(words[5:7]), cuisines=tuple(words[7:10])),
    )
    ratings = draw(st.lists(st.integers(-5, 50), min_size=4, max_size=12, unique=True))
    return replace(WORLD, halves=halves, prices=tuple(words[10:12]), sizes=tuple(words[12:]), ratings=tuple(ratings))


@settings(max_examples=examples(30), deadline=None)
@given(worlds(), st.sampled_from(TASKS), st.sampled_from(["trn", "tst-OOV"]), st.integers(0, 99))
def test_carries_conversations_in_any_world(world: SimulatorWorld, task: int, split: str, seed: int) -> None:
    check_world(world)
    setting = prepare(world, task, split, Parameters(seed=seed, min_results=1))
    bot = RuleBot(world.phrases, lexicon_of_world(world))
    assert failures(setting, bot, 5) == []


def test_what_it_said_can_be_overruled() -> None:
    bot = new_bot()
    assert respond(bot, "hi") == WORLD.phrases.bot.greet
    bot.overrule(Turn(speaker="system", text=WORLD.phrases.bot.on_it))
    assert respond(bot, SILENCE) == WORLD.phrases.bot.ask["cuisine"]


def facts(name: str, rating: str) -> list[Fact]:
    return [Fact(name, "R_rating", rating), Fact(name, "R_phone", f"{name}_phone")]


def talk(bot: RuleBot, *said: str) -> list[str]:
    return [respond(bot, text) for text in said]


def ask_for_a_table(bot: RuleBot) -> None:
    request = "may i have a table for two in paris with french food in a cheap price range"
    assert talk(bot, "hi", request, SILENCE, SILENCE)[-1] == "api_call french paris two cheap"


def test_no_results_and_no_options_left_lead_to_an_update() -> None:
    bot = new_bot()
    ask_for_a_table(bot)
    assert respond(bot, SILENCE, []) == "sure is there anything else to update"
    bot.start(CONTEXT)
    ask_for_a_table(bot)
    assert respond(bot, SILENCE, facts("one", "3")).endswith("one")
    talk(bot, "do you have something else")
    assert respond(bot, SILENCE) == "sure is there anything else to update"


def test_an_update_after_options_makes_a_new_call() -> None:
    bot = new_bot()
    ask_for_a_table(bot)
    respond(bot, SILENCE, facts("one", "3"))
    replies = talk(bot, "actually i would prefer in rome", "no", SILENCE)
    assert replies[-1] == "api_call french rome two cheap"
    assert respond(bot, SILENCE, facts("two", "1")).endswith("two")
