"""What simulated users want: one half of a world made ready for one task, and the plan of each user in it.

The requests of a half are divided at random, for each task anew, into a pool for training dialogs and one for
development and test dialogs, so that no test dialog starts from a request seen in training.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Fact, Goal, Task
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.restaurant.knowledge import KnowledgeBase, Restaurant, draw_knowledge_base
from dialgauge.worlds.restaurant.phrases import FIELDS, INFO
from dialgauge.worlds.restaurant.world import Half, Parameters, Request, SimulatorWorld

#: The splits of a release, and the half each is drawn from.
HALF_OF = {"trn": "A", "dev": "A", "tst": "A", "tst-OOV": "B"}
SPLITS = tuple(HALF_OF)


class Setting(Struct, frozen=True, kw_only=True):
    """Everything the dialogs of one task and split are drawn from."""

    world: SimulatorWorld
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
    world: SimulatorWorld, task: int, split: str, parameters: Parameters, *, knowledge: KnowledgeBase | None = None
) -> Setting:
    """The setting of one task and split, or an error when the world cannot give what the parameters ask for.

    The knowledge base is drawn from the seed unless one is given.
    """
    half = world.half(HALF_OF[split])
    base = knowledge or draw_knowledge_base(world, half, parameters.seed)
    _enough_values(world, half, task, parameters)
    shown = _shown(world, half, base, parameters.least_results(task)) if task in (3, 5) else ()
    setting = Setting(
        world=world, half=half, knowledge=base, task=task, split=split, parameters=parameters, shown=shown
    )
    train, evaluation = _pools(_eligible(setting), setting)
    ready = replace(setting, pool=train if split == "trn" else evaluation)
    _reachable(ready)
    return ready


def _shown(world: SimulatorWorld, half: Half, knowledge: KnowledgeBase, least: int) -> tuple[Request, ...]:
    most = knowledge.most_results
    if least > most:
        raise DialgaugeError(
            f"at least {least} results are asked for, but no request of half {half.name} has more than {most} "
            "with this seed; ask for fewer, or give the world more ratings or fewer sizes"
        )
    return tuple(request for request in world.requests(half) if len(knowledge.query(request)) >= least)


def _enough_values(world: SimulatorWorld, half: Half, task: int, parameters: Parameters) -> None:
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
            f"no {low} to {high} updates lead from a request of the pool to one with "
            f"{setting.parameters.least_results(5)} results; ask for fewer results or enlarge the world"
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


class UserPlan(Struct, frozen=True, kw_only=True):
    """What one user wants and will do, drawn before the dialog begins.

    Which of several phrasings it uses is left to the moment of speaking.
    """

    task: int
    request: Request
    #: The fields said in the first request, in the order of saying.
    given: tuple[str, ...] = ()
    #: Changes of the request, in order: field and new value.
    updates: tuple[tuple[str, str], ...] = ()
    #: What the knowledge base shows, in the order it lists them.
    results: tuple[Restaurant, ...] = ()
    #: Which option is accepted, counted from 0, the best rated.
    accepted: int = 0
    #: What is asked about the booked restaurant.
    questions: tuple[str, ...] = ()

    @property
    def final(self) -> Request:
        """The request after all updates."""
        values = dict(zip(FIELDS, self.request, strict=True)) | dict(self.updates)
        return (values["cuisine"], values["location"], values["size"], values["price"])

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What the knowledge base shows."""
        return tuple(fact for restaurant in self.results for fact in restaurant.answer)

    def goal(self, domain: str) -> Goal:
        """What this user wants in the end."""
        info = {"name": self.results[0].name} if self.task == 4 else dict(zip(FIELDS, self.final, strict=True))
        return Goal(tasks={domain: Task(info=info, requests=self.questions)})

    @property
    def ranked(self) -> tuple[Restaurant, ...]:
        """The results in the order in which a good bot proposes them: highest rating first."""
        return tuple(sorted(self.results, key=lambda restaurant: -restaurant.rating))


def draw_plan(setting: Setting, draws: Draws) -> UserPlan:
    """The plan of one dialog.

    In task 5 the whole draw is repeated until the final request has enough results. So numbers of updates and fields
    stay uniform, while requests from which such a final one is easily reached come up more often; the released files
    show exactly that (docs/babi.md).
    """
    if setting.task == 4:
        return _info_plan(setting, draws)
    while True:
        request = draws.pick(setting.pool)
        plan = UserPlan(task=setting.task, request=request, updates=_updates(setting, request, draws))
        results = setting.knowledge.query(plan.final)
        if setting.task != 5 or len(results) >= setting.parameters.least_results(5):
            break
    plan = replace(plan, given=_given(setting, draws))
    if setting.task in (1, 2):
        return plan
    accepted = _accepted(setting.parameters.accept, len(results), draws)
    questions = _questions(setting, draws) if setting.task == 5 else ()
    return replace(plan, results=tuple(draws.shuffled(results)), accepted=accepted, questions=questions)


def _info_plan(setting: Setting, draws: Draws) -> UserPlan:
    """Task 4: one restaurant, and questions about it."""
    request = draws.pick(setting.pool)
    chosen = draws.pick(setting.knowledge.query(request))
    return UserPlan(task=4, request=request, results=(chosen,), questions=_questions(setting, draws))


def _given(setting: Setting, draws: Draws) -> tuple[str, ...]:
    count = draws.integer(*setting.parameters.fields[setting.task])
    return tuple(draws.sample(FIELDS, count))


def _updates(setting: Setting, request: Request, draws: Draws) -> tuple[tuple[str, str], ...]:
    """Distinct fields in random order, each with a different value."""
    if setting.task not in setting.parameters.updates:
        return ()
    values = setting.world.values(setting.half)
    old = dict(zip(FIELDS, request, strict=True))
    changeable = [field for field in FIELDS if len(values[field]) > 1]
    fields = draws.sample(changeable, draws.integer(*setting.parameters.updates[setting.task]))
    return tuple((field, draws.pick([value for value in values[field] if value != old[field]])) for field in fields)


def _accepted(probability: float, options: int, draws: Draws) -> int:
    """The first option accepted; the last one always is."""
    for option in range(options - 1):
        if draws.unit() < probability:
            return option
    return options - 1


def _questions(setting: Setting, draws: Draws) -> tuple[str, ...]:
    phone_only, address_only, both = ("phone",), ("address",), INFO
    chosen = (phone_only, address_only, both)[draws.weighted(setting.parameters.info)]
    return tuple(draws.shuffled(chosen)) if chosen is both else chosen
