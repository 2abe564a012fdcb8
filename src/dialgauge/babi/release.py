"""A simulated release: the official files, and beside them the dialogs with acts and belief states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.babi.candidates import world_candidates
from dialgauge.babi.draws import Draws
from dialgauge.babi.knowledge import draw_knowledge_base
from dialgauge.babi.parameters import Parameters
from dialgauge.babi.setting import HALF_OF, SPLITS
from dialgauge.babi.simulator import simulate
from dialgauge.babi.world import World
from dialgauge.dialogue import Dialogue, Fact
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.formats import write
from dialgauge.formats.babi_candidates import write_candidates
from dialgauge.formats.babi_kb import write_kb

TASK_NAMES = {1: "API-calls", 2: "API-refine", 3: "options", 4: "phone-address", 5: "full-dialogs", 6: "dstc2"}
CANDIDATES_FILE = "dialog-babi-candidates.txt"
KB_FILE = "dialog-babi-kb-all.txt"

Form: TypeAlias = Literal["babi", "native"]


class Written(Struct, frozen=True, kw_only=True):
    """A dialog file and what it holds; turns are exchanges, one line ``user<TAB>bot`` each."""

    file: str
    task: int
    split: str
    dialogs: int
    turns: int
    facts: int


def dialog_file(task: int, split: str, form: Form = "babi") -> str:
    """The name of a dialog file as in the release: ``dialog-babi-task1-API-calls-trn.txt``."""
    ending = "txt" if form == "babi" else "jsonl"
    return f"dialog-babi-task{task}-{TASK_NAMES[task]}-{split}.{ending}"


def splits_of(world: World) -> tuple[str, ...]:
    """The splits a world can give: without half B there is no out-of-vocabulary test."""
    halves = {half.name for half in world.halves}
    return tuple(split for split in SPLITS if HALF_OF[split] in halves)


def world_facts(world: World, seed: int) -> list[Fact]:
    """The knowledge base of all halves in the order of the released file, where the last half comes first."""
    bases = [draw_knowledge_base(world, half, seed) for half in reversed(world.halves)]
    return [fact for base in bases for restaurant in base.restaurants for fact in restaurant.listing]


def write_release(
    world: World,
    folder: Path,
    *,
    tasks: Iterable[int],
    splits: Iterable[str],
    dialogs: int,
    parameters: Parameters,
    forms: Sequence[Form] = ("babi",),
    made: Callable[[int], object] = lambda count: None,
) -> list[Written]:
    """Write dialogs of all tasks and splits, candidates and knowledge base; ``made`` is told of each dialog.

    All parameters are checked before the first file is written. A second form is simulated anew, which gives the same
    dialogs.
    """
    wanted = [(task, split) for task in tasks for split in splits]
    able = splits_of(world)
    missing = next((split for _, split in wanted if split in SPLITS and split not in able), None)
    if missing:
        raise DialgaugeError(f"the split {missing} needs half {HALF_OF[missing]}, which this world does not have")
    for key in wanted:
        simulate(world, *key, dialogs, parameters)  # refuses what cannot be simulated
    written = []
    for task, split in wanted:
        for form in forms:
            tally = Tally()
            path = folder / dialog_file(task, split, form)
            write(tally.counting(simulate(world, task, split, dialogs, parameters), made), path, format=form)
            written.append(tally.written(path.name, task, split))
    _write_resources(world, folder, parameters.seed)
    return written


class Tally:
    """Counts dialogs, turns and facts while they pass, so that files of any size take little memory."""

    def __init__(self) -> None:
        self.dialogs = self.turns = self.facts = 0

    def counting(self, dialogs: Iterable[Dialogue], made: Callable[[int], object]) -> Iterator[Dialogue]:
        """The dialogs themselves; ``made`` is told of each."""
        for dialog in dialogs:
            yield dialog
            self.dialogs += 1
            self.turns += len(dialog.turns) // 2
            self.facts += sum(len(turn.results) for turn in dialog.turns if turn.results)
            made(1)

    def written(self, file: str, task: int, split: str) -> Written:
        """What passed, as a record."""
        return Written(file=file, task=task, split=split, dialogs=self.dialogs, turns=self.turns, facts=self.facts)


def _write_resources(world: World, folder: Path, seed: int) -> None:
    """Candidates come in random order, so that their order tells nothing."""
    with atomic(folder / CANDIDATES_FILE) as scratch, scratch.open("wb") as out:
        write_candidates(Draws(seed, "candidates").shuffled(world_candidates(world)), out)
    with atomic(folder / KB_FILE) as scratch, scratch.open("wb") as out:
        write_kb(world_facts(world, seed), out)
