"""A ranker in front of the simulated user: does the dialog get to its end when the bot's own words count?

Beside it stands the teacher-forced accuracy on the same users' dialogs as the rule bot holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge._version import __version__
from dialgauge.agents import Conversation, RankerBot, converse
from dialgauge.errors import DialgaugeError
from dialgauge.lab.corpora import simulate, world_facts
from dialgauge.rankers import Ranker, episodes
from dialgauge.report import Column, Table
from dialgauge.responses import RankingResult, evaluate, options_text
from dialgauge.runs import Store
from dialgauge.worlds.restaurant import Draws, Parameters, World, prepare, world_candidates

if TYPE_CHECKING:
    import polars

KIND = "interaction"
COMPLETED = "completed"
#: The split whose users live in a half.
_SPLITS = {"A": "tst", "B": "tst-OOV"}


@dataclass(frozen=True)
class Interaction:
    """What came of a task in one half of a world."""

    task: int
    half: str
    conversations: Sequence[Conversation]
    forced: RankingResult

    @property
    def completed(self) -> float:
        """Share of the conversations that the bot carried to the end."""
        return sum(one.success for one in self.conversations) / len(self.conversations)

    @property
    def failures(self) -> list[tuple[str, int]]:
        """Why conversations failed, the most frequent reason first."""
        return Counter(one.failure for one in self.conversations if not one.success).most_common()

    def record(self) -> dict[str, Any]:
        """The numbers, for programs."""
        return {
            "task": self.task,
            "half": self.half,
            "dialogs": len(self.conversations),
            COMPLETED: self.completed,
            "per_response": self.forced.per_response,
            "per_dialog": self.forced.per_dialog,
            "failures": dict(self.failures),
        }

    def dialogue_scores(self) -> polars.DataFrame:
        """The table ``dialogue_scores`` of a run: completion beside the teacher-forced measures."""
        import polars as pl

        free = pl.DataFrame(
            {
                "dialogue": [one.dialogue.id for one in self.conversations],
                "measure": [COMPLETED] * len(self.conversations),
                "num": [float(one.success) for one in self.conversations],
                "den": [1.0] * len(self.conversations),
            }
        )
        return pl.concat([free, self.forced.dialogue_scores()])

    def frame(self) -> polars.DataFrame:
        """What was said, one row per turn, with the outcome of its conversation."""
        import polars as pl

        return pl.DataFrame(
            [
                (one.dialogue.id, place, turn.speaker, turn.text, one.success, one.failure)
                for one in self.conversations
                for place, turn in enumerate(one.dialogue.turns)
            ],
            schema=["dialogue", "turn", "speaker", "text", "completed", "failure"],
            orient="row",
        )


def move_to(ranker: Ranker, world: World, seed: int) -> None:
    """Give a ranker the candidates and the knowledge base of a world drawn with a seed."""
    candidates = Draws(seed, "candidates").shuffled(world_candidates(world))
    ranker.move(candidates, world_facts(world, seed))


def meet(ranker: Ranker, world: World, task: int, half: str, dialogs: int, parameters: Parameters) -> Interaction:
    """Let a ranker, already moved to the world, talk to simulated users of one half."""
    if half not in _SPLITS:
        raise DialgaugeError(f"there is no half '{half}'; halves are A and B")
    split = _SPLITS[half]
    forced = evaluate(ranker, episodes(simulate(world, task, split, dialogs, parameters)))
    setting = prepare(world, task, split, parameters)
    return Interaction(task, half, list(converse(setting, RankerBot(ranker), dialogs)), forced)


def keep_meeting(meeting: Interaction, ranker: Ranker, world: str, parameters: Parameters, store: Store) -> str:
    """Store a meeting as a run; its id."""
    config = {
        "model": ranker.name,
        "options": options_text(ranker.options),
        "task": meeting.task,
        "half": meeting.half,
        "dialogs": len(meeting.conversations),
        "world": world,
        "parameters": parameters,
    }
    with store.create(
        kind=KIND,
        name=f"{ranker.name}-task{meeting.task}-{meeting.half}",
        config=config,
        inputs=[Path(world)] if Path(world).is_file() else [],
        seed=[parameters.seed, ranker.seed],
        signature="|".join(
            f"{name}:{config[name]}" for name in ("model", "options", "task", "half", "dialogs", "world")
        )
        + f"|seed:{parameters.seed}|dialgauge:{__version__}",
    ) as run:
        run.table("dialogue_scores", meeting.dialogue_scores())
        run.table("conversations", meeting.frame())
        run.scores = meeting.record()
    return run.id


def meetings_table(meetings: Sequence[Interaction], title: str) -> Table:
    """Completion in free conversation beside teacher-forced accuracy."""
    table = Table(
        title,
        [
            "task",
            "half",
            "dialogs",
            Column("completed", digits=1, percent=True),
            Column("per-response", digits=2, percent=True),
            Column("per-dialog", digits=1, percent=True),
            "most frequent failure",
        ],
        notes=[
            "Completed: the bot's own replies go on the record. Per-response and per-dialog: the same users, with the "
            "right replies on the record."
        ],
    )
    for one in meetings:
        why = f"{one.failures[0][0]} ({one.failures[0][1]})" if one.failures else None
        row = (one.completed, one.forced.per_response, one.forced.per_dialog)
        table.add(f"T{one.task}", one.half, len(one.conversations), *row, why)
    return table
