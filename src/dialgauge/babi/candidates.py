"""The replies a bot chooses from in tasks 1 to 5: everything the bot of a world can ever say.

For the released world these are 12 fixed sentences, 600 API calls, and an option, a phone number and an address for
each of 1,200 restaurants: 4,212 in all.
"""

from __future__ import annotations

from dialgauge.babi.phrases import INFO
from dialgauge.babi.world import World


def world_candidates(world: World) -> list[str]:
    """All candidates, fixed sentences first, then half by half. No two are equal."""
    phrases = world.phrases
    calls = [phrases.api_call(request) for half in world.halves for request in world.requests(half)]
    names = [name for half in world.halves for name in world.restaurant_names(half)]
    options = [phrases.option(name) for name in names]
    told = [phrases.info(f"{name}_{about}") for about in INFO for name in names]
    return [*phrases.fixed_sentences(), *calls, *options, *told]
