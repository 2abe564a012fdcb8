"""How fast the restaurant world is: simulating, the rule bot, conversations, writing a whole release, reading it.

python benchmarks/bench_babi.py [DIALOGS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dialgauge.agents import AgentReplier, RuleBot, SystemContext, make_agent
from dialgauge.formats import read
from dialgauge.lab import interact, simulate, write_release
from dialgauge.rankers import episodes
from dialgauge.responses import evaluate
from dialgauge.worlds.restaurant import (
    SPLITS,
    TASKS,
    FactDatabase,
    Parameters,
    lexicon_of_world,
    load_world,
    world_candidates,
)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long the block took."""
    start = time.perf_counter()
    yield
    print(f"{what:<55} {time.perf_counter() - start:6.2f} s")


def main(dialogs: int) -> None:
    """Run all measurements once."""
    with timed("load the restaurant world"):
        world = load_world()
    with timed(f"simulate {dialogs} dialogs of each of five tasks"):
        made = [dialogue for task in TASKS for dialogue in simulate(world, task, "trn", dialogs)]
    bot = RuleBot(world.phrases, lexicon_of_world(world))
    context = SystemContext(dialogue_id="", database=FactDatabase([]))
    with timed(f"rule bot over these {sum(len(d.turns) // 2 for d in made)} turns"):
        for dialogue in made:
            bot.start(context)
            for turn in dialogue.user_turns():
                bot.respond(turn)
    with timed("the same, evaluated with the recorded history"):
        evaluate(AgentReplier(bot, context), episodes(made), world_candidates(world))
    with timed(f"interact: {dialogs} conversations of task 5, as a run"):
        interact(make_agent("rules"), world, 5, "A", dialogs, Parameters()).table("turns")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with timed("write a release of 20 files"):
            write_release(world, folder, tasks=TASKS, splits=SPLITS, dialogs=dialogs, parameters=Parameters())
        with timed("read it back"):
            for path in sorted(folder.glob("*-task*.txt")):
                read(path)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
