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
from dialgauge.worlds.restaurant.world import API_CALL, FIELDS, INFO, Half, Request, SimulatorWorld

TASKS = (1, 2, 3, 4, 5)
#: The splits of a release, and the half each is drawn from.
HALF_OF = {"trn": "A", "dev": "A", "tst": "A", "tst-OOV": "B"}
SPLITS = tuple(HALF_OF)
#: By task: how many fields the first request says, and how many are changed afterwards; both bounds included.
SAID = {1: (0, 4), 2: (4, 4), 3: (0, 4), 5: (1, 3)}
UPDATED = {2: (1, 4), 5: (1, 3)}
#: The tasks whose dialogs show options.
_SHOWING = (3, 5)
#: What users ask about a booked restaurant, and how often: the phone number, the address, both.
_QUESTIONS = (("phone",), ("address",), INFO)
SHARES = (0.25, 0.25, 0.5)


class Parameters(Struct, frozen=True, kw_only=True):
    """How dialogs are drawn. The defaults are what the released files show."""

    seed: int = 0
    #: The probability that the user accepts an option that is not the last one left (tasks 3 and 5).
    accept: float = 0.25
    #: The least number of results of a request whose options are shown (tasks 3 and 5). The paper says 3 in task 3 and
    #: 1 in task 5; the released files have 3 in both.
    min_results: int = 3
    #: The share of the requests that train dialogs draw from; dev and test share the others.
    pool_share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.accept <= 1:
            raise DialgaugeError(f"the acceptance probability must be between 0 and 1 (got {self.accept})")
        if self.min_results < 1:
            raise DialgaugeError(f"the minimum number of results must be at least 1 (got {self.min_results})")
        if not 0 < self.pool_share < 1:
            raise DialgaugeError(f"the pool share must be above 0 and below 1 (got {self.pool_share})")


class Setting(Struct, frozen=True, kw_only=True):
    """Everything the dialogs of one task and split are drawn from."""

    world: SimulatorWorld
    half: Half
    knowledge: KnowledgeBase
    task: int
    split: str
    parameters: Parameters
    #: The requests these dialogs start from.
    pool: tuple[Request, ...]


def prepare(
    world: SimulatorWorld, task: int, split: str, parameters: Parameters, *, knowledge: KnowledgeBase | None = None
) -> Setting:
    """The setting of one task and split, or an error when the world cannot give what the parameters ask for.

    The knowledge base is drawn from the seed unless one is given.
    """
    half = world.half(HALF_OF[split])
    base = knowledge or draw_knowledge_base(world, half, parameters.seed)
    changeable = sum(len(values) > 1 for values in world.values(half).values())
    low, high = UPDATED.get(task, (0, 0))
    if high > changeable:
        raise DialgaugeError(
            f"up to {high} updates are made in task {task}, but only {changeable} fields of half {half.name} have more "
            "than one value"
        )
    requests = world.requests(half)
    shown = [request for request in requests if len(base.query(request)) >= parameters.min_results]
    if task in _SHOWING and not shown:
        raise DialgaugeError(
            f"at least {parameters.min_results} results are asked for, but no request of half {half.name} has as many "
            "with this seed; ask for fewer, or give the world more ratings or fewer sizes"
        )
    if task == 3:
        requests = shown
    elif task == 4:
        requests = [request for request in requests if base.query(request)]
    count = round(parameters.pool_share * len(requests))
    if not 0 < count < len(requests):
        raise DialgaugeError(
            f"task {task} has {len(requests)} requests to start from in half {half.name}, which a pool share of "
            f"{parameters.pool_share} does not divide into two pools; enlarge the world"
        )
    mixed = Draws(parameters.seed, "pools", task, half.name).shuffled(requests)
    pool = tuple(mixed[:count] if split == "trn" else mixed[count:])
    if task == 5:
        changes = (sum(map(str.__ne__, first, final)) for first in pool for final in shown)
        if not any(low <= changed <= high for changed in changes):
            raise DialgaugeError(
                f"no {low} to {high} updates lead from a request of the pool to one with {parameters.min_results} "
                "results; ask for fewer results or enlarge the world"
            )
    return Setting(world=world, half=half, knowledge=base, task=task, split=split, parameters=parameters, pool=pool)


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
    task, parameters = setting.task, setting.parameters
    if task == 4:
        request = draws.pick(setting.pool)
        chosen = draws.pick(setting.knowledge.query(request))
        return UserPlan(task=4, request=request, results=(chosen,), questions=_questions(draws))
    while True:
        request = draws.pick(setting.pool)
        plan = UserPlan(task=task, request=request, updates=_updates(setting, request, draws))
        results = setting.knowledge.query(plan.final)
        if task != 5 or len(results) >= parameters.min_results:
            break
    plan = replace(plan, given=tuple(draws.sample(FIELDS, draws.integer(*SAID[task]))))
    if task not in _SHOWING:
        return plan
    last = len(results) - 1
    accepted = next((option for option in range(last) if draws.unit() < parameters.accept), last)
    questions = _questions(draws) if task == 5 else ()
    return replace(plan, results=tuple(draws.shuffled(results)), accepted=accepted, questions=questions)


def _updates(setting: Setting, request: Request, draws: Draws) -> tuple[tuple[str, str], ...]:
    """Distinct fields in random order, each with a different value."""
    if setting.task not in UPDATED:
        return ()
    values = setting.world.values(setting.half)
    old = dict(zip(FIELDS, request, strict=True))
    changeable = [field for field in FIELDS if len(values[field]) > 1]
    fields = draws.sample(changeable, draws.integer(*UPDATED[setting.task]))
    return tuple((field, draws.pick([value for value in values[field] if value != old[field]])) for field in fields)


def _questions(draws: Draws) -> tuple[str, ...]:
    chosen = _QUESTIONS[draws.weighted(SHARES)]
    return tuple(draws.shuffled(chosen)) if chosen is INFO else chosen


class PlannedAnswers:
    """What the dialog of a simulated user shows: what its plan drew, in that order.

    Tasks 3 and 4 begin with it. Task 5 shows it after the call for the final request; the call before the updates is
    not answered, and neither are those of tasks 1 and 2.
    """

    def __init__(self, plan: UserPlan) -> None:
        self._plan = plan
        self._call = [API_CALL, *plan.final] if plan.task == 5 else None

    def opening(self) -> tuple[Fact, ...] | None:
        """What is shown before the first turn."""
        return self._plan.facts if self._plan.task in (3, 4) else None

    def answer(self, text: str) -> tuple[Fact, ...] | None:
        """What is shown after the bot said this."""
        if self._call is None or text.split() != self._call:
            return None
        return self._plan.facts
