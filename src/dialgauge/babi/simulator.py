"""The simulator: dialogs of tasks 1 to 5, as the simulated user and the rule bot hold them."""

from __future__ import annotations

from collections.abc import Iterator

from dialgauge.babi.interaction import converse
from dialgauge.babi.knowledge import KnowledgeBase, lexicon_of_world
from dialgauge.babi.parameters import TASKS, Parameters
from dialgauge.babi.rule_bot import RuleBot
from dialgauge.babi.setting import SPLITS, Setting, prepare
from dialgauge.babi.world import World
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError, nearest


def simulate(
    world: World,
    task: int,
    split: str,
    count: int,
    parameters: Parameters | None = None,
    *,
    start: int = 1,
    knowledge: KnowledgeBase | None = None,
) -> Iterator[Dialogue]:
    """``count`` dialogs of a task and split, from position ``start``, each with acts, belief states and the goal.

    Splits are ``trn``, ``dev``, ``tst`` (half A) and ``tst-OOV`` (half B). Same seed, same dialogs. The knowledge
    base is drawn from the seed unless one is given.
    """
    if task not in TASKS:
        raise DialgaugeError(f"tasks 1 to 5 can be simulated, not task {task}")
    if split not in SPLITS:
        raise DialgaugeError(f"there is no split '{split}'.{nearest(split, SPLITS)}")
    if count < 1:
        raise DialgaugeError(f"the number of dialogs must be at least 1, not {count}")
    return _dialogs(prepare(world, task, split, parameters or Parameters(), knowledge=knowledge), count, start)


def _dialogs(setting: Setting, count: int, start: int) -> Iterator[Dialogue]:
    bot = RuleBot(setting.world.phrases, lexicon_of_world(setting.world))
    for conversation in converse(setting, bot, count, start=start):
        if not conversation.success:
            raise DialgaugeError(
                f"the rule bot cannot carry this dialog ({conversation.failure}); the world's phrases may be ambiguous",
                dialogue=conversation.dialogue.id,
            )
        yield conversation.dialogue
