"""The rule bot: complete on all 20 released files and in conversation; sensible where the tasks do not lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.agents import EXPLANATION, RuleBot, SystemContext
from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.formats import SILENCE, load_kb
from dialgauge.lab import conversations_with
from dialgauge.worlds.restaurant import (
    FactDatabase,
    Parameters,
    Setting,
    WorldLexicon,
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


def test_what_it_said_can_be_overruled() -> None:
    bot = new_bot()
    assert respond(bot, "hi") == WORLD.phrases.bot.greet
    bot.overrule(Turn(speaker="system", text=WORLD.phrases.bot.on_it))
    assert respond(bot, SILENCE) == WORLD.phrases.bot.ask["cuisine"]
