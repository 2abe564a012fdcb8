"""A system in front of the simulated user: is the dialog carried to its end when the system's own words count?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge.agents import AGENT_ERROR, EXPLANATION, Agent, ModelBot
from dialgauge.dialogue import Dialogue
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.lab.corpora import conversations_with, simulate, world_facts
from dialgauge.lab.measures import score_conversations
from dialgauge.measures import Signature
from dialgauge.rankers import RankingTask, ReplyModel, code_of, episodes
from dialgauge.report import PERCENT, Column, Page, Table, score_cell, view_of
from dialgauge.responses import options_text
from dialgauge.runs import Run, new_run
from dialgauge.text import Note, counted
from dialgauge.worlds.restaurant import (
    DEFAULT_WORLD,
    FactDatabase,
    Parameters,
    SimulatorWorld,
    prepare,
    world_candidates,
)

if TYPE_CHECKING:
    import polars

KIND = "interaction"
#: The split whose users live in a half.
_SPLITS = {"A": "tst", "B": "tst-OOV"}


def candidates_of(world: SimulatorWorld, seed: int) -> tuple[str, ...]:
    """Everything that can be said in a world, in the order of a release with this seed."""
    return tuple(Draws(seed, "candidates").shuffled(world_candidates(world)))


def world_task(
    world: SimulatorWorld,
    task: int,
    splits: Iterable[str],
    dialogs: int,
    parameters: Parameters,
    *,
    source: str = DEFAULT_WORLD,
) -> RankingTask:
    """A task of a world as the rule bot holds its dialogs, in memory: something to evaluate bots on.

    ``source`` is the name or file of the world, for the record.
    """
    return RankingTask(
        number=task,
        splits={split: episodes(simulate(world, task, split, dialogs, parameters)) for split in splits},
        candidates=candidates_of(world, parameters.seed),
        facts=tuple(world_facts(world, parameters.seed)),
        inputs=(("world", Path(source)),) if Path(source).is_file() else (),
    )


def move_to(model: ReplyModel, world: SimulatorWorld, seed: int) -> None:
    """Give a model the candidates and the knowledge base of a world drawn with a seed."""
    model.move(candidates_of(world, seed), world_facts(world, seed))


def interact(
    system: Agent | ReplyModel,
    world: SimulatorWorld,
    task: int,
    half: str,
    dialogs: int,
    parameters: Parameters,
    *,
    source: str = DEFAULT_WORLD,
) -> Run:
    """Let a system talk to simulated users of one half of a world; a model must have been moved there.

    ``source`` is the name or file of the world, for the record.
    """
    if half not in _SPLITS:
        raise DialgaugeError(f"there is no half '{half}'; halves are A and B")
    bot = ModelBot(system) if isinstance(system, ReplyModel) else system
    database = FactDatabase(world_facts(world, parameters.seed))
    candidates = candidates_of(world, parameters.seed)
    setting = prepare(world, task, _SPLITS[half], parameters)
    held = list(conversations_with(setting, bot, dialogs, database=database, candidates=candidates))
    options, seed = options_text(getattr(bot, "options", {})), int(getattr(bot, "seed", 0))
    signature = Signature(
        model=bot.name,
        options=options,
        task=str(task),
        half=half,
        dialogs=str(dialogs),
        world=source,
        accept=f"{parameters.accept:g}",
        results=str(parameters.min_results),
        world_seed=str(parameters.seed),
        seed=str(seed),
        fitted=_fitted_on(system),
        code=code_of(system),
    )
    scores = score_conversations(held, signature=signature, seed=parameters.seed)
    return new_run(
        kind=KIND,
        name=f"{bot.name}-task{task}-{half}",
        scores=scores,
        tables={"outcomes": lambda: _outcomes(held)},
        corpus=held,
        config={
            "model": bot.name,
            "options": options,
            "task": task,
            "half": half,
            "dialogs": dialogs,
            "world": source,
            "parameters": parameters,
        },
        inputs=[("world", Path(source))] if Path(source).is_file() else [],
        seeds=[parameters.seed, seed],
        notes=_notes(held),
    )


def _fitted_on(system: Agent | ReplyModel) -> str:
    """A checksum of what a model was fitted on."""
    if not isinstance(system, ReplyModel):
        return "none"
    return system.provenance.data if system.provenance is not None else "unknown"


def _notes(held: Sequence[Dialogue]) -> list[str]:
    """What failed, once for each reason."""
    failed = Counter(
        dialogue.ended.facts.get(EXPLANATION, "") for dialogue in held if dialogue.ended.reason == AGENT_ERROR
    )
    return [
        Note("agent_failed", f"{counted(count, 'conversation')} ended because an agent failed: {why}")
        for why, count in failed.items()
    ]


def _outcomes(held: Sequence[Dialogue]) -> polars.DataFrame:
    import polars as pl

    rows = [
        (dialogue.id, end.success, end.reason, end.ended_by, end.facts.get(EXPLANATION, ""), len(dialogue.turns) // 2)
        for dialogue in held
        for end in [dialogue.ended]
    ]
    kinds = {
        "dialogue": pl.String,
        "success": pl.Boolean,
        "reason": pl.String,
        "ended_by": pl.String,
        "explanation": pl.String,
        "exchanges": pl.Int64,
    }
    return pl.DataFrame(rows, schema=kinds, orient="row")


def failures(run: Run) -> dict[str, int]:
    """Why conversations of a run were not completed, the most frequent reason first."""
    outcomes = run.table("outcomes")
    why = (
        explanation or reason
        for success, explanation, reason in outcomes.select("success", "explanation", "reason").rows()
        if not success
    )
    return dict(Counter(why).most_common())


def failed(run: Run) -> int:
    """How many conversations of a run ended because an agent failed."""
    return int((run.table("outcomes")["reason"] == AGENT_ERROR).sum())


def interaction_page(runs: Sequence[Run]) -> Page:
    """Completion in free conversation, a row for each run, and why some failed."""
    columns = [Column("completed", PERCENT), Column("most frequent failure", spare=1)]
    table = Table("In conversation", ["task", "half", "dialogs", *columns])
    for run in runs:
        config, why = run.manifest.config, failures(run)
        completed = score_cell(run.scores.get("completed"))
        most = next((f"{reason} ({count:,})" for reason, count in why.items()), None)
        table.add(f"T{config['task']}", config["half"], config["dialogs"], completed, most)
    return Page(
        title=", ".join(run.name for run in runs),
        runs=[run.id for run in runs],
        verdict=" ".join(view_of(run).verdict(run) for run in runs),
        warnings=list(dict.fromkeys(note for run in runs for note in run.notes)),
        tables={"conversations": table},
    )
