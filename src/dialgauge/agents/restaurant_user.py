"""The simulated user: says what its plan holds, checks what the bot does, and knows how the conversation ended.

It cooperates with any order of questions, but not with mistakes: a sentence that has no place at this point, a call
with wrong values, an option out of order or a wrong phone number ends the conversation as a failure, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable

from dialgauge.dialogue import Act, Fact, Goal, State, Task, Turn
from dialgauge.formats import SILENCE
from dialgauge.worlds.restaurant import FIELDS, BotKind, Draws, Heard, UserPlan, World

#: More exchanges than any sensible conversation takes.
PATIENCE = 100


class SimulatedUser:
    """One user with one plan; ``turn`` (or ``respond``) takes the bot's sentence and gives the user's next one."""

    def __init__(self, plan: UserPlan, world: World, draws: Draws) -> None:
        self.plan = plan
        #: Why the conversation failed; empty while it runs and when it succeeded.
        self.failure = ""
        self.finished = False
        self._world, self._phrases, self._draws = world, world.phrases, draws
        self._wanted = dict(zip(FIELDS, plan.request, strict=True))
        #: Turns share it: it is replaced, never changed.
        self._state: State = {}
        self._updates = list(plan.updates)
        self._questions = list(plan.questions)
        self._options = list(plan.ranked)
        self._expected: frozenset[BotKind] = frozenset()
        self._exchanges = 0
        self._reactions: dict[BotKind, Callable[[Heard], Turn | None]] = {
            "greet": self._request,
            "on_it": self._wait_for_questions,
            "ask": self._answer,
            "look": self._wait_for_search,
            "api": self._after_call,
            "more": self._next_update,
            "option": self._judge,
            "other": self._wait_for_option,
            "reserve": self._next_question,
            "info": self._after_info,
            "anything": self._say_goodbye,
            "welcome": self._end,
        }

    @property
    def success(self) -> bool:
        """Did the bot carry the whole dialog?"""
        return self.finished and not self.failure

    @property
    def goal(self) -> Goal:
        """What this user wants in the end."""
        if self.plan.task == 4:
            info = {"name": self.plan.results[0].name}
        else:
            info = dict(zip(FIELDS, self.plan.final, strict=True))
        return Goal(tasks={self._world.domain: Task(info=info, requests=self.plan.questions)})

    def respond(self, bot_text: str | None = None) -> str | None:
        """The user's next words, or ``None`` when the conversation is over; without a bot's sentence, the first."""
        turn = self.turn(bot_text)
        return None if turn is None else turn.text

    def turn(self, bot_text: str | None = None) -> Turn | None:
        """The user's next turn with its acts, the belief state after it, and what the knowledge base showed before."""
        if self.finished:
            return None
        if bot_text is None:
            results = self._answers() if self.plan.task in (3, 4) else None
            return self._say(self._draws.pick(self._phrases.user.greet), [Act("greet")], "greet", results=results)
        self._exchanges += 1
        heard = self._phrases.read(bot_text.strip())
        if heard.kind not in self._expected:
            return self._fail(f"'{bot_text.strip()}' has no place here; expected: {', '.join(sorted(self._expected))}")
        if self._exchanges > PATIENCE:
            return self._fail(f"no end after {PATIENCE} exchanges")
        return self._reactions[heard.kind](heard)

    def _say(self, text: str, acts: list[Act], *expected: BotKind, results: tuple[Fact, ...] | None = None) -> Turn:
        self._expected = frozenset(expected)
        return Turn(speaker="user", text=text, acts=tuple(acts), state=self._state, results=results)

    def _silence(self, *expected: BotKind, results: tuple[Fact, ...] | None = None) -> Turn:
        return self._say(SILENCE, [], *expected, results=results)

    def _fail(self, reason: str) -> Turn | None:
        self.failure, self.finished = reason, True
        return None

    def _end(self, _: Heard | None = None) -> Turn | None:
        self.finished = True
        return None

    def _answers(self) -> tuple[Fact, ...]:
        return tuple(fact for restaurant in self.plan.results for fact in restaurant.answer)

    def _inform(self, name: str, field: str) -> Act:
        """Say a field: from now on it is part of the belief state."""
        self._believe(field, self._wanted[field])
        return Act(name, self._world.domain, field, (self._wanted[field],))

    def _believe(self, slot: str, value: str) -> None:
        domain = self._world.domain
        self._state = {domain: {**self._state.get(domain, {}), slot: (value,)}}

    def _piece(self, patterns: tuple[str, ...], field: str, value: str) -> str:
        return self._draws.pick(patterns).replace("{" + field + "}", value)

    def _request(self, _: Heard) -> Turn:
        user, domain = self._phrases.user, self._world.domain
        opener = self._draws.pick(user.opener)
        if self.plan.task == 4:
            name = self.plan.results[0].name
            self._believe("name", name)
            acts = [Act("book", domain), Act("inform", domain, "name", (name,))]
            return self._say(f"{opener} {self._piece(user.at_name, 'name', name)}", acts, "reserve")
        pieces = [self._piece(user.request[field], field, self._wanted[field]) for field in self.plan.given]
        acts = [Act("book", domain), *(self._inform("inform", field) for field in self.plan.given)]
        return self._say(" ".join([opener, *pieces]), acts, "on_it")

    def _wait_for_questions(self, _: Heard) -> Turn:
        return self._silence("ask", "look")

    def _answer(self, heard: Heard) -> Turn:
        field = heard.words[0]
        act = self._inform("inform", field)
        return self._say(self._piece(self._phrases.user.answer[field], field, act.values[0]), [act], "ask", "look")

    def _wait_for_search(self, _: Heard) -> Turn | None:
        said = self._state.get(self._world.domain, {})
        missing = [field for field in FIELDS if field not in said]
        if missing:
            return self._fail(f"the bot searched without asking for {', '.join(missing)}")
        return self._silence("option" if self.plan.task == 3 else "api")

    def _after_call(self, heard: Heard) -> Turn | None:
        wanted = tuple(self._wanted[field] for field in FIELDS)
        if heard.words != wanted:
            return self._fail(f"the call should be for {' '.join(wanted)}, not {' '.join(heard.words)}")
        if self.plan.task == 1:
            return self._end()
        if self._updates:
            return self._next_update(heard)
        if self.plan.task == 5:
            return self._silence("option", results=self._answers())
        return self._say(self._draws.pick(self._phrases.user.thanks), [Act("thank")], "welcome")

    def _next_update(self, _: Heard) -> Turn:
        user = self._phrases.user
        if not self._updates:
            return self._say(self._draws.pick(user.no_more), [Act("negate")], "look")
        field, value = self._updates.pop(0)
        self._wanted[field] = value
        opener = self._draws.pick(user.update)
        piece = self._piece(user.request[field], field, value)
        return self._say(f"{opener} {piece}", [self._inform("update", field)], "more")

    def _judge(self, heard: Heard) -> Turn | None:
        best = self._options.pop(0)
        if heard.words[0] != best.name:
            return self._fail(f"the next option should be {best.name}, not {heard.words[0]}")
        offered = len(self.plan.results) - len(self._options) - 1
        name = (best.name,)
        if offered == self.plan.accepted:
            act = Act("accept", self._world.domain, "name", name)
            return self._say(self._draws.pick(self._phrases.user.accept), [act], "reserve")
        act = Act("reject", self._world.domain, "name", name)
        return self._say(self._draws.pick(self._phrases.user.reject), [act], "other")

    def _wait_for_option(self, _: Heard) -> Turn:
        return self._silence("option")

    def _next_question(self, _: Heard) -> Turn | None:
        if self._questions:
            about = self._questions[0]
            act = Act("request", self._world.domain, about)
            return self._say(self._draws.pick(self._phrases.user.ask[about]), [act], "info")
        if self.plan.task == 5:
            return self._say(self._draws.pick(self._phrases.user.thanks), [Act("thank")], "anything")
        return self._end()

    def _after_info(self, heard: Heard) -> Turn | None:
        booked = self.plan.ranked[self.plan.accepted]
        right: str = getattr(booked, self._questions.pop(0))
        if heard.words[0] != right:
            return self._fail(f"the answer should be {right}, not {heard.words[0]}")
        return self._next_question(heard)

    def _say_goodbye(self, _: Heard) -> Turn:
        return self._say(self._draws.pick(self._phrases.user.nothing_else), [Act("bye")], "welcome")
