"""The simulator: dialogs of tasks 1 to 5, as the simulated user and the rule bot hold them, and whole releases.

Every user is drawn from a stream of its own, keyed by seed, task, split and position. What it wants therefore does not
depend on how many others there are, in which order they come or in which process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents import EXPLANATION, Agent, Database, RestaurantUser, RuleBot, Scenario, converse
from dialgauge.dialogue import Dialogue, Fact
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import atomic, together
from dialgauge.formats import write, write_candidates, write_kb
from dialgauge.worlds.restaurant import (
    HALF_OF,
    SPLITS,
    TASKS,
    FactDatabase,
    KnowledgeBase,
    Parameters,
    PlannedAnswers,
    Setting,
    SimulatorWorld,
    draw_knowledge_base,
    draw_plan,
    lexicon_of_world,
    prepare,
    world_candidates,
)


def simulate(
    world: SimulatorWorld,
    task: int = 1,
    split: str = "trn",
    count: int = 1,
    parameters: Parameters | None = None,
    *,
    start: int = 1,
    knowledge: KnowledgeBase | None = None,
) -> Iterator[Dialogue]:
    """``count`` dialogs of a task and split, from position ``start``, each with acts, belief states and the goal.

    Splits are ``trn``, ``dev``, ``tst`` (half A) and ``tst-OOV`` (half B). Same seed, same dialogs. The knowledge
    base is drawn from the seed unless one is given.

    >>> import dialgauge
    >>> [dialogue] = dialgauge.simulate(dialgauge.load_world(), task=1)
    >>> dialogue.id, dialogue.turns[0].text
    ('task1-trn-0001', 'hello')
    """
    if not isinstance(world, SimulatorWorld):
        raise DialgaugeError(f"the world is what load_world() gives (got {world!r:.60})")
    if task not in TASKS:
        raise DialgaugeError(f"tasks 1 to 5 can be simulated, not task {task}")
    if split not in SPLITS:
        raise DialgaugeError(f"there is no split '{split}'.{nearest(split, SPLITS)}")
    if count < 1:
        raise DialgaugeError(f"the number of dialogues must be at least 1, not {count}")
    return _dialogs(prepare(world, task, split, parameters or Parameters(), knowledge=knowledge), count, start)


def _dialogs(setting: Setting, count: int, start: int) -> Iterator[Dialogue]:
    bot = RuleBot(setting.world.phrases, lexicon_of_world(setting.world))
    for dialogue in conversations_with(setting, bot, count, start=start):
        outcome = dialogue.outcome
        if outcome is None or not outcome.success:
            why = outcome.facts.get(EXPLANATION, outcome.reason) if outcome else ""
            raise DialgaugeError(
                f"the rule bot cannot complete this dialogue ({why}); the world's phrases may be ambiguous",
                dialogue=dialogue.id,
            )
        yield replace(dialogue, outcome=None)


TASK_NAMES = {1: "API-calls", 2: "API-refine", 3: "options", 4: "phone-address", 5: "full-dialogs", 6: "dstc2"}
CANDIDATES_FILE = "dialog-babi-candidates.txt"
KB_FILE = "dialog-babi-kb-all.txt"
RECEIPT_FILE = "simulation.json"
#: The names of the files that a simulation writes.
_RELEASED = re.compile(r"dialog-babi-[\w-]+\.(?:txt|jsonl)")

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


def splits_of(world: SimulatorWorld) -> tuple[str, ...]:
    """The splits a world can give: without half B there is no out-of-vocabulary test."""
    halves = {half.name for half in world.halves}
    return tuple(split for split in SPLITS if HALF_OF[split] in halves)


def world_facts(world: SimulatorWorld, seed: int) -> list[Fact]:
    """The knowledge base of all halves in the order of the released file, where the last half comes first."""
    bases = [draw_knowledge_base(world, half, seed) for half in reversed(world.halves)]
    return [fact for base in bases for restaurant in base.restaurants for fact in restaurant.listing]


def write_release(
    world: SimulatorWorld,
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

    All parameters are checked before the first file is written, and all files appear together when the last one is
    whole. A second form is simulated anew, which gives the same dialogs. A folder that holds dialogs of another world
    or seed is refused.
    """
    wanted = [(task, split) for task in tasks for split in splits]
    able = splits_of(world)
    missing = next((split for _, split in wanted if split in SPLITS and split not in able), None)
    if missing:
        raise DialgaugeError(f"the split {missing} needs half {HALF_OF[missing]}, which this world does not have")
    for key in wanted:
        simulate(world, *key, dialogs, parameters)  # refuses what cannot be simulated
    names = [dialog_file(task, split, form) for task, split in wanted for form in forms]
    receipt = _claim(folder, WorldReceipt.of(world, parameters, [*names, CANDIDATES_FILE, KB_FILE]))
    written = []
    with together():
        with atomic(folder / RECEIPT_FILE) as scratch:  # first: whoever is killed later leaves no files without it
            scratch.write_bytes(msgspec.json.format(msgspec.json.encode(receipt), indent=1))
        for task, split in wanted:
            for form in forms:
                tally = Tally()
                path = folder / dialog_file(task, split, form)
                write(tally.counting(simulate(world, task, split, dialogs, parameters), made), path, format=form)
                written.append(tally.written(path.name, task, split))
        # Candidates come in random order, so that their order tells nothing.
        with atomic(folder / CANDIDATES_FILE) as scratch, scratch.open("wb") as out:
            write_candidates(Draws(parameters.seed, "candidates").shuffled(world_candidates(world)), out)
        with atomic(folder / KB_FILE) as scratch, scratch.open("wb") as out:
            write_kb(world_facts(world, parameters.seed), out)
    return written


class WorldReceipt(Struct, frozen=True, kw_only=True):
    """What a simulation wrote into a folder; it lies there too, so that no other one is mixed with it."""

    title: str
    seed: int
    #: A checksum of the world and the parameters: dialogs with the same one belong together.
    world: str
    files: list[str]

    @classmethod
    def of(cls, world: SimulatorWorld, parameters: Parameters, files: list[str]) -> WorldReceipt:
        content = hashlib.sha256(msgspec.json.encode([world, parameters])).hexdigest()
        return cls(title=world.title, seed=parameters.seed, world=content[:16], files=files)


def _claim(folder: Path, receipt: WorldReceipt) -> WorldReceipt:
    """The receipt to leave in the folder; a folder that holds other dialogs is refused."""
    before = _receipt_in(folder)
    known = set(before.files) if before else set()
    strange = sorted(path.name for path in folder.glob("dialog-babi-*") if path.name not in known)
    if strange:
        raise DialgaugeError(
            f"the folder has dialog files that no simulation wrote ({strange[0]}); choose another folder",
            file=str(folder),
        )
    if before is not None and before.world != receipt.world:
        raise DialgaugeError(
            f"the folder holds another simulation ({before.title}, seed {before.seed}); choose another folder",
            file=str(folder),
        )
    return replace(receipt, files=sorted(known.union(receipt.files)))


def _receipt_in(folder: Path) -> WorldReceipt | None:
    path = folder / RECEIPT_FILE
    try:
        receipt = msgspec.json.decode(path.read_bytes(), type=WorldReceipt)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DialgaugeError(
            f"it is not a simulation receipt ({error}); choose another folder", file=str(path)
        ) from error
    if not all(_RELEASED.fullmatch(name) for name in receipt.files):
        raise DialgaugeError("it names files that no simulation writes; choose another folder", file=str(path))
    return receipt


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
        return Written(file=file, task=task, split=split, dialogs=self.dialogs, turns=self.turns, facts=self.facts)


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
