"""What one simulated user wants and will do, drawn before the dialog begins (specification, section 3)."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.babi.draws import Draws
from dialgauge.babi.knowledge import Restaurant
from dialgauge.babi.phrases import FIELDS, INFO
from dialgauge.babi.setting import Setting
from dialgauge.babi.world import Request


class Plan(Struct, frozen=True, kw_only=True):
    """The user's decisions. Which of several phrasings is used is left to the moment of speaking."""

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
    def ranked(self) -> tuple[Restaurant, ...]:
        """The results in the order in which a good bot proposes them: highest rating first."""
        return tuple(sorted(self.results, key=lambda restaurant: -restaurant.rating))


def draw_plan(setting: Setting, draws: Draws) -> Plan:
    """The plan of one dialog.

    In task 5 the whole draw is repeated until the final request has enough results. So numbers of updates and fields
    stay uniform, while requests from which such a final one is easily reached come up more often; the released files
    show exactly that (docs/babi.md).
    """
    if setting.task == 4:
        return _info_plan(setting, draws)
    while True:
        request = draws.pick(setting.pool)
        plan = Plan(task=setting.task, request=request, updates=_updates(setting, request, draws))
        results = setting.knowledge.query(plan.final)
        if setting.task != 5 or len(results) >= setting.parameters.min_results:
            break
    plan = replace(plan, given=_given(setting, draws))
    if setting.task in (1, 2):
        return plan
    accepted = _accepted(setting.parameters.accept, len(results), draws)
    questions = _questions(setting, draws) if setting.task == 5 else ()
    return replace(plan, results=tuple(draws.shuffled(results)), accepted=accepted, questions=questions)


def _info_plan(setting: Setting, draws: Draws) -> Plan:
    """Task 4: one restaurant, and questions about it."""
    request = draws.pick(setting.pool)
    chosen = draws.pick(setting.knowledge.query(request))
    return Plan(task=4, request=request, results=(chosen,), questions=_questions(setting, draws))


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
