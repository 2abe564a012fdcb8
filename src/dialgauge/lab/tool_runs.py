"""Conversations in a tool domain: every task, several trials, judged by what was done and told.

Systems: ``llm-system``, any agent that takes a desk of tools from its context, and without any model ``gold`` (makes
the expected calls and tells the outputs) and ``nothing``. Users: ``llm-user``, any agent that takes a plan from its
context, and ``reader``, which reads its instruction out and leaves. The run is one of trials, as of results files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import msgspec
from msgspec import structs

from dialgauge import engine
from dialgauge.agents import (
    AGENT_ERROR,
    ENDPOINT_ERROR,
    EXPLANATION,
    MAX_EXCHANGES,
    TIME_BUDGET,
    TOKEN_BUDGET,
    Agent,
    Limits,
    RandomStreams,
    Reply,
    Scenario,
    SystemContext,
    UserContext,
    converse,
    make_agent,
)
from dialgauge.dialogue import Call, Dialogue, Goal, Outcome, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import end_of
from dialgauge.lab.lab_config import AgentSpec, recorded
from dialgauge.rankers import code_of
from dialgauge.report import RunSet
from dialgauge.runs import Store
from dialgauge.trials import score_attempts
from dialgauge.worlds.tools import AgentText, Conduct, GoldCall, ToolDesk, ToolDomain, ToolPlan, ToolTask, judge

#: Built-in agents of other worlds, which have no use for tools.
_ELSEWHERE = frozenset(
    {"agenda", "agenda-baseline", "rule-system", "rule-baseline", "corpus-system", "corpus-user", "restaurant-user"}
)
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


_AgentNamed = tuple[str, Mapping[str, str]]


class _ToolWork(engine.Work[ToolDomain, tuple[ToolTask, int]]):
    """Holding the conversation of one trial of a task. Another process loads the domain again: tools are code."""

    def __init__(
        self,
        domain: ToolDomain,
        again: Callable[[], ToolDomain] | None,
        agents: tuple[_AgentNamed, _AgentNamed],
        seed: int,
        limits: Limits,
    ) -> None:
        #: Where the domain comes from; in another process it is loaded again.
        self._load: Callable[[], ToolDomain] = lambda: domain
        self._again = again
        self._agents, self._seed, self._limits = agents, seed, limits

    def __getstate__(self) -> dict[str, Any]:
        if self._again is None:
            raise DialgaugeError("several workers load the domain each for themselves; say how, with 'again'")
        return {**self.__dict__, "_load": self._again}

    def open(self) -> ToolDomain:
        return self._load()

    def do(self, state: ToolDomain, unit: engine.Unit[tuple[ToolTask, int]]) -> bytes:
        task, trial = unit.payload
        agents = [_agent(name, settings, task) for name, settings in self._agents]
        held = _held(state, task, trial, agents, self._seed, self._limits)
        try:
            return msgspec.json.encode(held)
        except (UnicodeError, TypeError, ValueError) as error:
            why = f"what an agent said cannot be written ({error})".encode("ascii", "backslashreplace").decode()
            outcome = Outcome(
                success=False, end="limit", reason="agent_error", ended_by="system", benchmark="dialgauge",
                task=task.id, trial=trial, facts={EXPLANATION: why},
            )  # fmt: skip
            return msgspec.json.encode(structs.replace(held, turns=(), outcome=outcome))


def run_tool_domain(
    domain: ToolDomain,
    *,
    system: _AgentNamed,
    user: _AgentNamed,
    tasks: Sequence[ToolTask] | None = None,
    trials: int = 1,
    seed: int = 0,
    limits: Limits | None = None,
    resamples: int = 1000,
    advance: Callable[[int], None] = lambda conversations: None,
    workers: engine.Workers = None,
    again: Callable[[], ToolDomain] | None = None,
    store: Store | None = None,
) -> RunSet:
    """Hold a conversation for each trial of each task, and score them; agents are names with their settings.

    ``again`` loads the domain in other processes, where ``workers`` asks for some. With a ``store`` finished
    conversations outlive the process, and the same call goes on with the rest.
    """
    chosen = list(domain.tasks if tasks is None else tasks)
    if not chosen:
        raise DialgaugeError(f"the domain '{domain.name}' has no tasks to talk about")
    bounds = limits or Limits(exchanges=20)
    work = _ToolWork(domain, again, (system, user), seed, bounds)
    planned = [(task, trial) for task in chosen for trial in range(trials)]
    units = [engine.Unit(f"{number:08d}", plan) for number, plan in enumerate(planned)]
    name = f"{system[0]}-{domain.name}"
    config = {
        "agents": [(str(AgentSpec(agent, dict(given))), _code(agent, given)) for agent, given in (system, user)],
        "domain": _checksum(domain),
        "tasks": hashlib.sha256(msgspec.json.encode(planned)).hexdigest(),
        "seed": seed,
        "limits": msgspec.to_builtins(bounds),
    }
    dialogues = []
    with store.kept_units(kind="trials", name=name, config=config) if store else nullcontext() as done:
        for result in engine.run(work, units, workers=workers, done=done, on_done=lambda _: advance(1)):
            if result.content is None:
                raise DialgaugeError(result.failure or "conversations could not be held")
            dialogues.append(recorded(result.content))
    return RunSet([score_attempts(dialogues, name, resamples=resamples, seed=seed)])


def _code(agent: str, given: Mapping[str, str]) -> str:
    """The checksum of an agent's own code; ours is part of what half-done work is found by."""
    return code_of(make_agent(agent, given)) if ":" in agent else ""


def _checksum(domain: ToolDomain) -> str:
    """The checksum of the records, the policy and the code of a domain."""
    digest = hashlib.sha256(msgspec.json.encode([domain.name, domain.policy, domain.records]))
    for file in sorted(domain.folder.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _agent(name: str, settings: Mapping[str, str], task: ToolTask) -> Agent:
    if name in ("gold", "nothing"):
        return _Scripted(name, task)
    if name == "reader":
        return _Reader()
    if name in _ELSEWHERE:
        raise DialgaugeError(
            f"{name} knows no tools: in a tool domain the system is llm-system, gold, nothing or an agent of yours, "
            "the user llm-user, reader or one of yours"
        )
    return make_agent(name, settings)


def _held(
    domain: ToolDomain, task: ToolTask, trial: int, agents: Sequence[Agent], seed: int, limits: Limits
) -> Dialogue:
    system, user = agents
    name = f"{task.id}#{trial}"
    desk = ToolDesk(domain.world(task))
    scenario = Scenario(
        dialogue_id=name,
        office=desk,
        plan=ToolPlan(task, desk),
        goal=Goal(message=(task.instruction,)) if task.instruction else None,
        streams=RandomStreams(seed, task.id, trial),
        domains=(domain.name,),
        limits=limits,
    )
    held = converse(user, system, scenario)
    return structs.replace(held, outcome=_judged(task, trial, held, desk))


def _judged(task: ToolTask, trial: int, held: Dialogue, desk: ToolDesk) -> Outcome:
    """The outcome as results files have it: a verdict on what was done and told, unless something else failed."""
    outcome = held.outcome or Outcome(success=None)
    ends = _ENDS.get(outcome.ended_by, {"": ""})
    reason = ends.get(outcome.reason, ends[""])
    texts = [AgentText(turn.text) for turn in held.turns if turn.speaker == "system"]
    finished = reason in ("user_stop", "agent_stop")
    verdict = judge(task, Conduct(world=desk.world, said=texts, finished=finished))
    reward = 0.0 if not finished else verdict.reward
    return structs.replace(
        outcome,
        success=None if reward is None else reward == 1.0,
        end=end_of(reason),
        reason=reason,
        benchmark="dialgauge",
        task=task.id,
        trial=trial,
        reward=reward,
        parts={part: float(holds) for part, holds in verdict.parts.items() if holds is not None},
        expected=None if task.expected is None else tuple(map(_expected, task.expected)),
    )


def _expected(call: GoldCall) -> Call:
    return Call(name=call.name, arguments=call.arguments, domain="user" if call.by_user else "")
