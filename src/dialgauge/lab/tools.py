"""Conversations in a tool domain: every task, several trials, judged by what was done and told.

Systems: ``llm-system``, ``http``, any agent that uses the desk in its context, and without any model ``gold`` (makes
the expected calls and tells the outputs) and ``nothing``. Users: ``llm-user``, any agent that takes a plan from its
context, and ``reader``, which reads its instruction out and leaves. The run is one of trials, as of results files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import nullcontext

import msgspec
from msgspec import structs

from dialgauge.agents import (
    AGENT_ERROR,
    ENDPOINT_ERROR,
    MAX_EXCHANGES,
    TIME_BUDGET,
    TOKEN_BUDGET,
    Agent,
    RandomStreams,
    Reply,
    Scenario,
    SystemContext,
    UserContext,
)
from dialgauge.dialogue import Call, Dialogue, Goal, Outcome, Turn
from dialgauge.engine import Workers
from dialgauge.errors import DialgaugeError
from dialgauge.formats import end_of
from dialgauge.lab.sessions import AgentSpec, LabConfig, hold
from dialgauge.rankers import code_of
from dialgauge.report import RunSet
from dialgauge.runs import Store
from dialgauge.trials import score_attempts
from dialgauge.worlds.tools import AgentText, Conduct, GoldCall, ToolDesk, ToolDomain, ToolPlan, ToolTask, judge

#: Built-in agents of other worlds, which have no use for tools.
_ELSEWHERE = frozenset(
    {"agenda", "agenda-baseline", "rule-system", "rule-baseline", "corpus-system", "corpus-user", "restaurant-user"}
)
_SCRIPTED = ("gold", "nothing", "reader")
#: How conversations end, in the words of results files: what is not the system's doing says nothing of it.
_ENDS = {
    "user": {
        "": "user_stop", AGENT_ERROR: "user_error", ENDPOINT_ERROR: "user_error", TOKEN_BUDGET: "user_error",
        TIME_BUDGET: "timeout",
    },
    "system": {
        "": "agent_stop", AGENT_ERROR: "agent_error", ENDPOINT_ERROR: "infrastructure_error",
        TOKEN_BUDGET: "infrastructure_error", TIME_BUDGET: "timeout",
    },
    "session": {"": "user_stop", MAX_EXCHANGES: "max_steps"},
}  # fmt: skip


class _Scripted:
    """The gold agent, or one that does nothing: it knows the task, as nobody else may."""

    def __init__(self, name: str, task: ToolTask) -> None:
        self.name, self._task = name, task

    def start(self, context: SystemContext) -> None:
        if not isinstance(context.office, ToolDesk):
            raise DialgaugeError(f"{self.name} needs the desk of a tool domain")
        self._office, self._begun = context.office, False

    def respond(self, turn: Turn | None) -> Reply:
        del turn
        words = "Is there anything else?"
        if self.name == "gold" and not self._begun:
            for call in self._task.expected or ():
                tool = self._office.world.domain.tools.get(call.name)
                self._office.call(call.name, call.arguments, tool.side if tool else "system")
            words = " ".join([*self._task.outputs, words])
        self._begun = True
        return Reply(turn=Turn(speaker="system", text=words), done=self._office.ended)


class _Reader:
    """A user that says what it was told to want, and goodbye."""

    name = "reader"

    def start(self, context: UserContext) -> None:
        self._words = [context.plan.instruction or "Hello.", "Thank you, goodbye."]

    def respond(self, turn: Turn | None) -> Reply:
        del turn
        return Reply(turn=Turn(speaker="user", text=self._words.pop(0)), done=not self._words)


class _ToolWorld:
    """A tool domain, and who talks in it."""

    batch = 1

    def __init__(self, domain: ToolDomain, config: LabConfig) -> None:
        self._domain, self._config = domain, config
        self._made = {spec.name: _made(spec) for spec in (config.user, config.system) if spec.name not in _SCRIPTED}

    def agents(self, goal: ToolTask) -> tuple[Agent, Agent]:
        user, system = (self._agent(spec.name, goal) for spec in (self._config.user, self._config.system))
        return user, system

    def _agent(self, name: str, task: ToolTask) -> Agent:
        if name in self._made:
            return self._made[name]
        return _Reader() if name == "reader" else _Scripted(name, task)

    def scenario(self, goal: ToolTask, trial: int) -> Scenario:
        desk = ToolDesk(self._domain.world(goal))
        return Scenario(
            dialogue_id=f"{goal.id}#{trial}",
            office=desk,
            plan=ToolPlan(goal, desk),
            goal=Goal(message=(goal.instruction,)) if goal.instruction else None,
            streams=RandomStreams(self._config.seed, goal.id, trial),
            domains=(self._domain.name,),
            limits=self._config.limits,
        )

    def finish(self, held: Dialogue, scenario: Scenario, goal: ToolTask, trial: int) -> Dialogue:
        """Add the outcome as results files have it: a verdict on what was done and told, unless something failed."""
        outcome, desk = held.outcome or Outcome(success=None), scenario.office
        assert isinstance(desk, ToolDesk)  # noqa: S101 - made by this world
        ends = _ENDS.get(outcome.ended_by, {"": ""})
        reason = ends.get(outcome.reason, ends[""])
        finished = reason in ("user_stop", "agent_stop")
        said = [AgentText(turn.text) for turn in held.turns if turn.speaker == "system"]
        verdict = judge(goal, Conduct(world=desk.world, said=said, finished=finished))
        reward = verdict.reward if finished else 0.0
        judged = structs.replace(
            outcome,
            success=None if reward is None else reward == 1.0,
            end=end_of(reason),
            reason=reason,
            benchmark="dialgauge",
            task=goal.id,
            trial=trial,
            reward=reward,
            parts={part: float(holds) for part, holds in verdict.parts.items() if holds is not None},
            expected=None if goal.expected is None else tuple(map(_expected, goal.expected)),
        )
        return structs.replace(held, outcome=judged)


def _made(spec: AgentSpec) -> Agent:
    if spec.name in _ELSEWHERE:
        raise DialgaugeError(
            f"{spec.name} knows no tools: in a tool domain the system is llm-system, gold, nothing or an agent of "
            "yours, the user llm-user, reader or one of yours"
        )
    return spec.make()


def _expected(call: GoldCall) -> Call:
    return Call(name=call.name, arguments=call.arguments, domain="user" if call.by_user else "")


class _Reopened:
    """Opens the world; another process loads the domain again, as tools are code."""

    def __init__(self, load: Callable[[], ToolDomain], config: LabConfig) -> None:
        self._load, self._config = load, config

    def __call__(self) -> _ToolWorld:
        return _ToolWorld(self._load(), self._config)


def run_tool_domain(
    load: Callable[[], ToolDomain],
    config: LabConfig,
    *,
    count: int | None = None,
    resamples: int = 1000,
    on_unit: Callable[[int], object] = lambda conversations: None,
    workers: Workers = None,
    store: Store | None = None,
) -> RunSet:
    """Hold a conversation for each trial of each task, or the first tasks, and score them.

    ``load`` loads the domain, in every process. With a ``store`` the run is stored, and finished conversations outlive
    the process: the same call goes on with the rest.
    """
    domain = load()
    tasks = domain.tasks[:count]
    if not tasks:
        raise DialgaugeError(f"the domain '{domain.name}' has no tasks to talk about")
    name = f"{config.system.name}-{domain.name}"
    facts = {
        "agents": [
            (str(spec), code_of(spec.make()) if ":" in spec.name else "") for spec in (config.system, config.user)
        ],
        "domain": _checksum(domain),
        "tasks": hashlib.sha256(msgspec.json.encode([tasks, config.trials])).hexdigest(),
        "seed": config.seed,
        "limits": msgspec.to_builtins(config.limits),
    }
    with store.kept_units(kind="trials", name=name, config=facts) if store else nullcontext() as done:
        dialogues = list(
            hold(_Reopened(load, config), tasks, config.trials, workers=workers, done=done, on_unit=on_unit)
        )
        run = score_attempts(dialogues, name, resamples=resamples, seed=config.seed)
        return RunSet([store.add(run) if store else run])


def _checksum(domain: ToolDomain) -> str:
    """The checksum of the records, the policy and the code of a domain."""
    digest = hashlib.sha256(msgspec.json.encode([domain.name, domain.policy, domain.records]))
    for file in sorted(domain.folder.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
