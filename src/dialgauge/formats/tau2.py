"""Results of tau2-bench: language-model agents in conversation with language-model users, who may have tools too.

A JSON object ``{timestamp, info, tasks, simulations}``, or since version 1.0 a folder: the same object in
``results.json`` without its simulations, and these in ``simulations/ID.json``; also simulations alone, in a list or a
line each. What becomes of a conversation: ``tau_messages``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Dialogue, Goal, Outcome, SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.jsonfile import RAW, are_lines, begins, decode, elements_of, members_of, values_of_lines
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part
from dialgauge.formats.tau_messages import (
    ENDED_BY,
    FIELDS,
    MOST,
    TauMessage,
    TrialNames,
    as_text,
    checksum,
    each_conversation,
    end_of,
    expected_calls,
    given_facts,
    seconds_by_side,
    succeeded,
    task_set,
    turns_of,
)

_VOICE = "it holds spoken conversations, in ticks of sound instead of messages; only written ones are read"
_INSTRUCTIONS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


class _Settings(Struct, frozen=True, gc=False):
    llm: str | None = None


class _Environment(Struct, frozen=True, gc=False):
    domain_name: str = ""
    policy: str | None = None


class _Info(Struct, frozen=True, gc=False):
    num_trials: int | None = None
    max_steps: int | None = None
    max_errors: int | None = None
    user_info: _Settings | None = None
    agent_info: _Settings | None = None
    #: Of voices, whose conversations are ticks of sound.
    audio_native_config: Raw = Raw(b"null")
    environment_info: _Environment | None = None


class _Scenario(Struct, frozen=True, gc=False):
    persona: str | None = None
    instructions: str | dict[str, Any] | None = None


class _Criteria(Struct, frozen=True, gc=False):
    actions: list[dict[str, Any]] | None = None
    communicate_info: list[Any] | None = None


class _Task(Struct, frozen=True, gc=False):
    id: str | int
    user_scenario: _Scenario | None = None
    evaluation_criteria: _Criteria | None = None


class _ActionCheck(Struct, frozen=True, gc=False):
    action: Any = None


class _RewardInfo(Struct, frozen=True, gc=False):
    reward: float | None = None
    action_checks: list[_ActionCheck] | None = None
    reward_breakdown: dict[str, float | None] | None = None


class _Simulation(Struct, frozen=True, gc=False):
    task_id: str | int
    messages: tuple[TauMessage, ...] | None = None
    ticks: Raw = Raw(b"null")
    termination_reason: str | None = None
    reward_info: _RewardInfo | None = None
    agent_cost: float | None = None
    user_cost: float | None = None
    duration: float | None = None
    trial: int | None = None
    seed: int | None = None


class _Results(NamedTuple):
    #: None where the file has none, as that of a folder of results.
    simulations: Iterable[Raw] | None
    info: _Info
    #: As they stand in the file.
    tasks: list[dict[str, Any]]
    #: Of a folder: its simulations in brief.
    simulation_index: list[Raw] | None = None


_INDEX = msgspec.json.Decoder(list[Raw] | None)
_INFO = msgspec.json.Decoder(_Info)
_TASKS = msgspec.json.Decoder(list[dict[str, Any]])
_SIMULATION = msgspec.json.Decoder(_Simulation)


class Tau2(DialogueFormat):
    """Tasks, and the simulations of them."""

    name = "tau2"
    summary = "tau2-bench results: an object of info, tasks and simulations, or a folder of them"
    fields = FIELDS
    goes_on = True

    def recognise(self, peek: Peek) -> bool:
        return is_results(peek) or _is_simulation(peek) or _are_simulations(peek)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """Files of their own, and folders: a simulation belongs to the results.json of the folder above it."""
        by_folder: dict[str, _Told] = {}
        names = TrialNames(notes)
        for part in parts:
            folder, _, _ = part.name.replace("\\", "/").rpartition("/")
            if not is_results(Peek(part)):
                known = by_folder.get(folder.rpartition("/")[0], _UNTOLD)
                pieces: Iterable[Raw] = _bare_simulations(part)
            else:
                results = _results(part)
                known = by_folder[folder] = _told(results, part)
                notes.tasks += results.tasks
                pieces = _pieces(results, part, alone=len(parts) == 1)
            for name, simulation in each_conversation(_SIMULATION, pieces, part, notes):
                try:
                    yield part, _tau2_dialogue(simulation, known, names)
                except DialgaugeError as error:
                    notes.refuse(error.at(file=part.name, dialogue=name))


def _pieces(results: _Results, part: Part, *, alone: bool) -> Iterable[Raw]:
    """The simulations in a file of results; those of a folder lie beside it."""
    if results.simulations is not None:
        return results.simulations
    if results.simulation_index is None and alone:
        raise DialgaugeError(
            "it has neither 'simulations' nor, as in a folder of results, 'simulation_index'", file=part.name
        )
    if alone:
        raise DialgaugeError(
            "its conversations lie in the folder 'simulations' beside it; name the folder that holds both",
            file=part.name,
        )
    return []


class _Told(Struct, frozen=True):
    """What the results say of all simulations: their tasks, what they share, and the domain of each task."""

    tasks: Mapping[str, _Task]
    facts: Mapping[str, str]
    domains: Mapping[str, str]
    planned: tuple[int, int] | None = None


_UNTOLD = _Told({}, {}, {"": ""})


def _told(results: _Results, part: Part) -> _Told:
    if not 0 <= (results.info.num_trials or 0) <= MOST:
        raise DialgaugeError(
            f"info, num_trials: must be from 0 to {MOST:,} (got {results.info.num_trials})", file=part.name
        )
    if bytes(results.info.audio_native_config) != b"null":
        raise DialgaugeError(_VOICE, file=part.name)
    tasks = _tasks(results.tasks, part)
    planned = (len(tasks), results.info.num_trials or 0)
    return _Told(tasks, _facts(results.info, tasks), _domains(results.info, tasks), planned if any(planned) else None)


def is_results(peek: Peek) -> bool:
    """Does an object look like results of tau2-bench, by its info, tasks or simulations?"""
    given = peek.json if isinstance(peek.json, dict) else {}
    info = given.get("info")
    known = info.keys() if isinstance(info, dict) else set[str]()
    planned = "agent_info" in known and "user_scenario" in _first(given.get("tasks"))
    return {"agent_info", "user_info"} <= known or planned or _is_judged(_first(given.get("simulations")))


def _is_simulation(peek: Peek) -> bool:
    """Is a file one simulation? It is told by the members that tau2-bench writes first."""
    given = peek.json
    return isinstance(given, dict) and {"id", "task_id", "termination_reason"} <= given.keys() and "traj" not in given


def _are_simulations(peek: Peek) -> bool:
    """Does a file hold only simulations, in a list or one per line?"""
    first = _first(peek.json) if isinstance(peek.json, list) else peek.first_line
    return _is_judged(first) if first is not None and not isinstance(peek.json, dict) else False


def _is_judged(simulation: Mapping[str, Any]) -> bool:
    keys = simulation.keys()
    return {"task_id", "termination_reason"} <= keys and bool({"reward_info", "ticks"} & keys) and "traj" not in keys


def _first(entries: Any) -> Mapping[str, Any]:
    """The first entry of a list, where it is an object; else an empty one."""
    return entries[0] if isinstance(entries, list) and entries and isinstance(entries[0], dict) else {}


def _bare_simulations(part: Part) -> list[Raw]:
    """The simulations of a file that has nothing else: one, a list, or a line each."""
    content = part.buffer()
    if begins(content) == b"[":
        return elements_of(content, part)
    return list(values_of_lines(content, part)) if are_lines(content) else [decode(RAW, content, part)]


def _tau2_dialogue(simulation: _Simulation, told: _Told, names: TrialNames) -> Dialogue:
    name, trial = str(simulation.task_id), simulation.trial or 0
    if simulation.messages is None:
        raise DialgaugeError("it has no messages" if bytes(simulation.ticks) == b"null" else _VOICE)
    task, domain = told.tasks.get(name), told.domains.get(name, told.domains[""])
    if told.tasks and task is None:
        raise DialgaugeError(f"the file has no task '{name}'; every simulation needs its task in 'tasks'")
    judged = simulation.reward_info or _RewardInfo()
    criteria = (task.evaluation_criteria if task else None) or _Criteria()
    checks = judged.action_checks
    stored = None if checks is None else expected_calls([check.action for check in checks])
    reason, success = simulation.termination_reason or "", succeeded(judged.reward)
    instruction = _instruction(task)
    costs = {"agent": simulation.agent_cost, "user": simulation.user_cost}
    seconds = seconds_by_side(simulation.messages)
    usage = {side: SideUsage(cost=cost, seconds=seconds.get(side)) for side, cost in costs.items()}
    return Dialogue(
        id=names.name(name, trial),
        turns=tuple(turns_of(simulation.messages)),
        goal=Goal(message=instruction) if instruction else None,
        domains=(domain,) if domain else (),
        outcome=Outcome(
            success=success,
            end=end_of(reason, judging=success is None),
            reason=reason,
            ended_by=ENDED_BY.get(reason, ""),
            benchmark="tau2",
            task=name,
            trial=trial,
            planned=told.planned,
            reward=judged.reward,
            parts={key: value for key, value in (judged.reward_breakdown or {}).items() if value is not None},
            seconds=simulation.duration,
            usage={side: used for side, used in usage.items() if used != SideUsage()},
            expected=expected_calls(criteria.actions) if stored is None else stored,
            graded=stored is not None,
            outputs=tuple(map(as_text, criteria.communicate_info or ())),
            facts={**given_facts(seed=simulation.seed), **told.facts},
        ),
    )


def _results(part: Part) -> _Results:
    """The content of a tau2 file. Where a key is repeated, no list is lost: what stands twice is told as such."""
    members = members_of(part.buffer(), part)
    lists = [elements_of(raw, part) for key, raw in members if key == "simulations"]
    simulations = [simulation for each in lists for simulation in each] if lists else None
    last = dict(members)
    index = decode(_INDEX, last["simulation_index"], part) if "simulation_index" in last else None
    info = decode(_INFO, last["info"], part) if "info" in last else _Info()
    tasks = [task for key, raw in members if key == "tasks" for task in decode(_TASKS, raw, part)]
    return _Results(simulations, info, tasks, index)


def _tasks(given: Iterable[dict[str, Any]], part: Part) -> dict[str, _Task]:
    tasks: dict[str, _Task] = {}
    for entry in given:
        try:
            task = msgspec.convert(entry, _Task)
        except msgspec.ValidationError as error:
            raise DialgaugeError(f"tasks: {error}", file=part.name) from error
        if tasks.get(str(task.id), task) != task:
            raise DialgaugeError(f"two different tasks have the id '{task.id}'", file=part.name)
        tasks[str(task.id)] = task
    return tasks


def _facts(info: _Info, tasks: Mapping[str, _Task]) -> dict[str, str]:
    """What is shown of all conversations of a file."""
    environment = info.environment_info or _Environment()
    texts = {name: "\n".join(_instruction(task)) for name, task in tasks.items()}
    return {
        **given_facts(
            agent=info.agent_info.llm if info.agent_info else None,
            user=info.user_info.llm if info.user_info else None,
            max_steps=info.max_steps,
            max_errors=info.max_errors,
        ),
        **({"task_set": task_set(texts)} if tasks else {}),
        **({"policy": checksum(environment.policy)} if environment.policy else {}),
    }


def _domains(info: _Info, tasks: Mapping[str, _Task]) -> dict[str, str]:
    """The domain of each task: the file's, under an empty name, unless its tasks say that they are of several."""
    whole = info.environment_info.domain_name if info.environment_info else ""
    domains = {}
    for name, task in tasks.items():
        given = task.user_scenario.instructions if task.user_scenario else None
        domains[name] = str(given.get("domain") or whole) if isinstance(given, dict) else whole
    return {"": whole, **(domains if len(set(domains.values())) > 1 else {})}


def _instruction(task: _Task | None) -> tuple[str, ...]:
    """What the user was told, part by part, each with its name; the persona last."""
    scenario = task.user_scenario if task else None
    if scenario is None:
        return ()
    given = scenario.instructions
    if isinstance(given, dict):
        parts = {key: given[key] for key in _INSTRUCTIONS if isinstance(given.get(key), str)}
    else:
        parts = {"instructions": given} if given else {}
    if scenario.persona:
        parts["persona"] = scenario.persona
    return tuple(f"{key.replace('_', ' ')}: {text}" for key, text in parts.items() if text)
