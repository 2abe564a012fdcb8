"""Conversations in the restaurant world: one simulated user after the other in front of a system.

Every user is drawn from a stream of its own, keyed by seed, task, split and position. What it wants therefore does not
depend on how many others there are, in which order they come or in which process.
"""

from __future__ import annotations

from collections.abc import Iterator

from dialgauge.agents import Agent, Database, RestaurantUser, Scenario, converse
from dialgauge.dialogue import Dialogue
from dialgauge.draws import Draws
from dialgauge.worlds.restaurant import FactDatabase, PlannedAnswers, Setting, draw_plan


def restaurant_scenario(
    setting: Setting, position: int, database: Database, candidates: tuple[str, ...] = ()
) -> Scenario:
    """The conversation at a position; ``prepare`` gives the setting."""
    draws = Draws(setting.parameters.seed, "dialog", setting.task, setting.split, position)
    plan = draw_plan(setting, draws)
    return Scenario(
        dialogue_id=f"task{setting.task}-{setting.split}-{position:04d}",
        database=database,
        environment=PlannedAnswers(plan),
        goal=plan.goal(setting.world.domain),
        plan=plan,
        user_draws=draws,
        domains=(setting.world.domain,),
        candidates=candidates,
        task=setting.task,
    )


def conversations_with(
    setting: Setting,
    system: Agent,
    count: int,
    *,
    start: int = 1,
    database: Database | None = None,
    candidates: tuple[str, ...] = (),
) -> Iterator[Dialogue]:
    """Let a system talk to ``count`` simulated users from position ``start``; each dialogue carries its outcome.

    The system's database is the setting's knowledge base unless one is given.
    """
    known = database or FactDatabase(
        fact for restaurant in setting.knowledge.restaurants for fact in restaurant.listing
    )
    user = RestaurantUser(setting.world.phrases, setting.world.domain)
    for position in range(start, start + count):
        yield converse(user, system, restaurant_scenario(setting, position, known, candidates))
