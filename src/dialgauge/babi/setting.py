"""One half of a world made ready for one task: its knowledge base and its pools of requests.

The requests of a half are divided at random, for each task anew, into a pool for training dialogs and one for
development and test dialogs, so that no test dialog starts from a request seen in training.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.babi.draws import Draws
from dialgauge.babi.knowledge import KnowledgeBase, draw_knowledge_base
from dialgauge.babi.parameters import Parameters
from dialgauge.babi.world import Half, Request, World
from dialgauge.errors import DialgaugeError

#: The splits of a release, and the half each is drawn from.
HALF_OF = {"trn": "A", "dev": "A", "tst": "A", "tst-OOV": "B"}
SPLITS = tuple(HALF_OF)


class Setting(Struct, frozen=True, kw_only=True):
    """Everything the dialogs of one task and split are drawn from."""

    world: World
    half: Half
    knowledge: KnowledgeBase
    task: int
    split: str
    parameters: Parameters
    #: Requests with enough results to show options of.
    shown: tuple[Request, ...]
    #: The requests these dialogs start from.
    pool: tuple[Request, ...] = ()


def prepare(
    world: World, task: int, split: str, parameters: Parameters, *, knowledge: KnowledgeBase | None = None
) -> Setting:
    """The setting of one task and split, or an error when the world cannot give what the parameters ask for.

    The knowledge base is drawn from the seed unless one is given.
    """
    half = world.half(HALF_OF[split])
    base = knowledge or draw_knowledge_base(world, half, parameters.seed)
    _enough_values(world, half, task, parameters)
    shown = _shown(world, half, base, parameters) if task in (3, 5) else ()
    setting = Setting(
        world=world, half=half, knowledge=base, task=task, split=split, parameters=parameters, shown=shown
    )
    train, evaluation = _pools(_eligible(setting), setting)
    ready = replace(setting, pool=train if split == "trn" else evaluation)
    _reachable(ready)
    return ready


def _shown(world: World, half: Half, knowledge: KnowledgeBase, parameters: Parameters) -> tuple[Request, ...]:
    least, most = parameters.min_results, knowledge.most_results
    if least > most:
        raise DialgaugeError(
            f"at least {least} results are asked for, but no request of half {half.name} has more than {most} "
            "with this seed; ask for fewer, or give the world more ratings or fewer sizes"
        )
    return tuple(request for request in world.requests(half) if len(knowledge.query(request)) >= least)


def _enough_values(world: World, half: Half, task: int, parameters: Parameters) -> None:
    """A field can be changed only if it has two values."""
    if task not in parameters.updates:
        return
    changeable = [field for field, values in world.values(half).items() if len(values) > 1]
    most = parameters.updates[task][1]
    if most > len(changeable):
        raise DialgaugeError(
            f"up to {most} updates are asked for in task {task}, but only {len(changeable)} fields of half "
            f"{half.name} have more than one value"
        )


def _reachable(setting: Setting) -> None:
    """In task 5, some request of the pool must lead to one whose results can be shown."""
    if setting.task != 5:
        return
    low, high = setting.parameters.updates[5]
    changes = (sum(map(str.__ne__, first, final)) for first in setting.pool for final in setting.shown)
    if not any(low <= count <= high for count in changes):
        raise DialgaugeError(
            f"no {low} to {high} updates lead from a request of the pool to one with {setting.parameters.min_results} "
            "results; ask for fewer results or enlarge the world"
        )


def _eligible(setting: Setting) -> list[Request]:
    """The requests a dialog of the task can start from."""
    if setting.task == 3:
        return list(setting.shown)
    requests = setting.world.requests(setting.half)
    if setting.task == 4:
        return [request for request in requests if setting.knowledge.query(request)]
    return requests


def _pools(requests: list[Request], setting: Setting) -> tuple[tuple[Request, ...], tuple[Request, ...]]:
    """The train pool and the evaluation pool: disjoint, and together all requests."""
    count = round(setting.parameters.pool_share * len(requests))
    if not 0 < count < len(requests):
        raise DialgaugeError(
            f"task {setting.task} has {len(requests)} requests to start from in half {setting.half.name}, which a pool "
            f"share of {setting.parameters.pool_share} does not divide into two pools; enlarge the world"
        )
    mixed = Draws(setting.parameters.seed, "pools", setting.task, setting.half.name).shuffled(requests)
    return tuple(mixed[:count]), tuple(mixed[count:])
