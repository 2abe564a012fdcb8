"""The simulated user of the restaurant world: says what its plan holds, and judges what the bot does.

It cooperates with any order of questions, but not with mistakes: a sentence that has no place at this point, a call
with wrong values, an option out of order or a wrong phone number ends the conversation as a failure, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable

from dialgauge.agents.protocol import USER_DONE, USER_GAVE_UP, Reply, UserContext
from dialgauge.dialogue import Act, State, Turn
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.formats import SILENCE
from dialgauge.worlds.restaurant import DEFAULT_WORLD, FIELDS, BotKind, Heard, Phrases, UserPlan, load_world

_COMPLETED = Reply(turn=None, done=True, end_reason=USER_DONE, success=True)


#: What a bot may say, in words.
_REPLIES: dict[BotKind, str] = {
    "greet": "a greeting",
    "on_it": "a confirmation",
    "ask": "a question",
    "look": "a search",
    "api": "an API call",
    "more": "a question for further changes",
    "option": "an offer",
    "other": "a search for another option",
    "reserve": "a reservation",
    "info": "the information asked for",
    "anything": "an offer of further help",
    "welcome": "a goodbye",
}


class RestaurantUser:
    """A user who follows the :class:`UserPlan` of its context."""

    name = "restaurant-user"

    def __init__(self, phrases: Phrases, domain: str = DEFAULT_WORLD) -> None:
        self._phrases, self._domain = phrases, domain
        self._reactions: dict[BotKind, Callable[[Heard], Reply]] = {
            "greet": self._request,
            "on_it": lambda _: self._silence("ask", "look"),
            "ask": self._answer,
            "look": self._wait_for_search,
            "api": self._after_call,
            "more": self._next_update,
            "option": self._judge,
            "other": lambda _: self._silence("option"),
            "reserve": self._next_question,
            "info": self._after_info,
            "anything": lambda _: self._say(self._draws.pick(self._phrases.user.nothing_else), [Act("bye")], "welcome"),
            "welcome": lambda _: _COMPLETED,
        }

    def start(self, context: UserContext) -> None:
        """Take over the plan."""
        plan, draws = context.plan, context.draws
        if not isinstance(plan, UserPlan) or draws is None:
            raise DialgaugeError("the agent restaurant-user needs a plan of the restaurant world and random draws")
        self._plan: UserPlan = plan
        self._draws: Draws = draws
        self._wanted = dict(zip(FIELDS, plan.request, strict=True))
        #: Turns share it: it is replaced, never changed.
        self._state: State = {}
        self._updates = list(plan.updates)
        self._questions = list(plan.questions)
        self._options = list(plan.ranked)
        self._expected: tuple[BotKind, ...] = ()

    def respond(self, turn: Turn | None) -> Reply:
        """The next turn with its acts and the belief state after it, or the end."""
        if turn is None:
            return self._say(self._draws.pick(self._phrases.user.greet), [Act("greet")], "greet")
        text = turn.text.strip()
        heard = self._phrases.read(text)
        if heard.kind not in self._expected:
            wanted = " or ".join(_REPLIES[kind] for kind in sorted(self._expected))
            return _failed(f"'{text}': unexpected reply; expected {wanted}")
        return self._reactions[heard.kind](heard)

    def _say(self, text: str, acts: list[Act], *expected: BotKind) -> Reply:
        self._expected = expected
        return Reply(turn=Turn(speaker="user", text=text, acts=tuple(acts), state=self._state))

    def _silence(self, *expected: BotKind) -> Reply:
        return self._say(SILENCE, [], *expected)

    def _inform(self, name: str, field: str) -> Act:
        """Say a field: from now on it is part of the belief state."""
        self._believe(field, self._wanted[field])
        return Act(name, self._domain, field, (self._wanted[field],))

    def _believe(self, slot: str, value: str) -> None:
        domain = self._domain
        self._state = {domain: {**self._state.get(domain, {}), slot: (value,)}}

    def _piece(self, patterns: tuple[str, ...], field: str, value: str) -> str:
        return self._draws.pick(patterns).replace("{" + field + "}", value)

    def _request(self, _: Heard) -> Reply:
        user, domain = self._phrases.user, self._domain
        opener = self._draws.pick(user.opener)
        if self._plan.task == 4:
            name = self._plan.results[0].name
            self._believe("name", name)
            acts = [Act("book", domain), Act("inform", domain, "name", (name,))]
            return self._say(f"{opener} {self._piece(user.at_name, 'name', name)}", acts, "reserve")
        pieces = [self._piece(user.request[field], field, self._wanted[field]) for field in self._plan.given]
        acts = [Act("book", domain), *(self._inform("inform", field) for field in self._plan.given)]
        return self._say(" ".join([opener, *pieces]), acts, "on_it")

    def _answer(self, heard: Heard) -> Reply:
        field = heard.words[0]
        act = self._inform("inform", field)
        return self._say(self._piece(self._phrases.user.answer[field], field, act.values[0]), [act], "ask", "look")

    def _wait_for_search(self, _: Heard) -> Reply:
        state = self._state.get(self._domain, {})
        missing = [field for field in FIELDS if field not in state]
        if missing:
            return _failed(f"the bot searched without asking for {', '.join(missing)}")
        return self._silence("option" if self._plan.task == 3 else "api")

    def _after_call(self, heard: Heard) -> Reply:
        wanted = tuple(self._wanted[field] for field in FIELDS)
        if heard.words != wanted:
            return _failed(f"the call should be for {' '.join(wanted)}, not {' '.join(heard.words)}")
        if self._plan.task == 1:
            return _COMPLETED
        if self._updates:
            return self._next_update(heard)
        if self._plan.task == 5:
            return self._silence("option")
        return self._say(self._draws.pick(self._phrases.user.thanks), [Act("thank")], "welcome")

    def _next_update(self, _: Heard) -> Reply:
        user = self._phrases.user
        if not self._updates:
            return self._say(self._draws.pick(user.no_more), [Act("negate")], "look")
        field, value = self._updates.pop(0)
        self._wanted[field] = value
        opener = self._draws.pick(user.update)
        piece = self._piece(user.request[field], field, value)
        return self._say(f"{opener} {piece}", [self._inform("update", field)], "more")

    def _judge(self, heard: Heard) -> Reply:
        best = self._options.pop(0)
        if heard.words[0] != best.name:
            return _failed(f"the next option should be {best.name}, not {heard.words[0]}")
        offered = len(self._plan.results) - len(self._options) - 1
        name = (best.name,)
        if offered == self._plan.accepted:
            act = Act("accept", self._domain, "name", name)
            return self._say(self._draws.pick(self._phrases.user.accept), [act], "reserve")
        act = Act("reject", self._domain, "name", name)
        return self._say(self._draws.pick(self._phrases.user.reject), [act], "other")

    def _next_question(self, _: Heard) -> Reply:
        if self._questions:
            about = self._questions[0]
            act = Act("request", self._domain, about)
            return self._say(self._draws.pick(self._phrases.user.ask[about]), [act], "info")
        if self._plan.task == 5:
            return self._say(self._draws.pick(self._phrases.user.thanks), [Act("thank")], "anything")
        return _COMPLETED

    def _after_info(self, heard: Heard) -> Reply:
        booked = self._plan.ranked[self._plan.accepted]
        right: str = getattr(booked, self._questions.pop(0))
        if heard.words[0] != right:
            return _failed(f"the answer should be {right}, not {heard.words[0]}")
        return self._next_question(heard)


def _failed(why: str) -> Reply:
    return Reply(turn=None, done=True, end_reason=USER_GAVE_UP, success=False, explanation=why)


def restaurant_user(world: str = DEFAULT_WORLD) -> RestaurantUser:
    """The user of a built-in world, or of one in a YAML file."""
    loaded = load_world(world)
    return RestaurantUser(loaded.phrases, loaded.domain)
