"""Results of tau-bench and tau2-bench: language-model agents in conversation with language-model users.

``tau``   a JSON list of ``{task_id, reward, info, traj, trial}`` (the first version), also under ``results``, or a
          line each
``tau2``  a JSON object ``{timestamp, info, tasks, simulations}``, or since version 1.0 a folder: the same object in
          ``results.json`` without its simulations, and these in ``simulations/ID.json``; also simulations alone, in a
          list or a line each

A conversation's id is ``TASK#TRIAL``. ``goal.message`` is the user's instruction, ``outcome`` the verdict: success is a
reward of 1, ``reason`` how it ended, and ``details`` what else the file says of it, as texts (``DETAILS``). What was
planned stands in the details of every conversation, so that a converted file still says how much of it there should be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dialgauge.dialogue import Dialogue, Goal, Outcome, write_details
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode
from dialgauge.formats.large_json import LargeObject, large_values
from dialgauge.formats.located import members_of
from dialgauge.formats.registry import recognise
from dialgauge.formats.source import Part, resolve
from dialgauge.formats.tau_messages import ENDED_BY, TauMessage, as_text, checksum, is_tau_result, turns_of

#: A reward this close to 1 is a success, as both benchmarks have it.
TOLERANCE = 1e-6

#: The keys of ``Outcome.details``. Parts of the reward stand under ``reward[PART]``.
DETAILS = (
    "benchmark", "task", "trial", "reward", "agent_cost", "user_cost", "duration", "seed", "error", "stopped_by",
    "planned_trials", "planned_tasks", "task_set", "agent", "user", "max_steps", "max_errors", "policy",
    "expected_actions", "expected_outputs",
)  # fmt: skip

#: Beyond any trial, or reward, that somebody meant.
_MOST = 1_000_000
#: How the simulated user ends a conversation.
_STOP = "###STOP###"
#: What a list of results stands under in an object.
_WRAPPER = "results"
_VOICE = "it holds spoken conversations, in ticks of sound instead of messages; only written ones are read"
_INSTRUCTIONS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


class _TauTask(Struct, frozen=True, gc=False):
    instruction: str = ""
    actions: list[dict[str, Any]] | None = None
    outputs: list[Any] | None = None


class _TauRewardInfo(Struct, frozen=True, gc=False):
    info: dict[str, Any] | None = None


class _TauInfo(Struct, frozen=True, gc=False):
    task: _TauTask | None = None
    source: str | None = None
    user_cost: float | None = None
    #: Null where the end was not judged; a file that has no such key says nothing of it.
    reward_info: _TauRewardInfo | UnsetType | None = UNSET
    error: str | None = None


class _TauResult(Struct, frozen=True, gc=False):
    task_id: int | str
    reward: float | None
    traj: tuple[TauMessage, ...]
    info: _TauInfo = _TauInfo()
    trial: int = 0


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


class _RewardInfo(Struct, frozen=True, gc=False):
    reward: float | None = None
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


class _ResultsFile(Struct, frozen=True, gc=False):
    simulations: list[Raw] | UnsetType = UNSET
    info: _Info = _Info()
    tasks: list[_Task] = []
    #: Of a folder: its simulations in brief.
    simulation_index: list[Raw] | None = None


class _Results(NamedTuple):
    #: None where the file has none, as that of a folder of results.
    simulations: Iterable[Raw] | None
    info: _Info
    tasks: list[_Task]
    simulation_index: list[Raw] | None = None


_LIST = msgspec.json.Decoder(list[Raw])
_RESULT = msgspec.json.Decoder(Raw)
_TAU = msgspec.json.Decoder(_TauResult)
_RESULTS = msgspec.json.Decoder(_ResultsFile)
_INFO = msgspec.json.Decoder(_Info)
_TASKS = msgspec.json.Decoder(list[_Task])
_SIMULATION = msgspec.json.Decoder(_Simulation)
_ANY = msgspec.json.Decoder(dict[str, Raw])
_FIELDS = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})


class Tau(DialogueFormat):
    """A list of results, one for each trial of each task."""

    name = "tau"
    summary = "tau-bench results: a list of task_id, reward, info, traj and trial"
    fields = _FIELDS

    def recognise(self, peek: Peek) -> bool:
        if isinstance(peek.json, list):
            return bool(peek.json) and is_tau_result(peek.json[0])
        wrapped = peek.json.get(_WRAPPER) if isinstance(peek.json, dict) else None
        first = wrapped[0] if isinstance(wrapped, list) and wrapped else peek.first_line
        return is_tau_result(first)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        large = tau_results(part) if part.is_large else None
        results = _each(_TAU, large or tau_results(part), part, notes)
        if large is None:
            results = list(results)
        instructions, trials = _instructions(results, part)
        shared = {"planned_tasks": str(len(instructions)), "task_set": _task_set(instructions)}
        if trials:
            # The file does not say how many trials were planned: those that it has, whatever their numbers.
            shared["planned_trials"] = str(len(trials))
        for name, result in _each(_TAU, large, part, Notes(tolerant=True)) if large else results:
            try:
                yield _tau_dialogue(result, shared)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))


def tau_results(part: Part) -> Iterable[Raw]:
    """The results of a file: a list, the same in an object under its name, or a line each."""
    if part.is_large:
        return large_values(part, _WRAPPER)
    content = part.read()
    if content.lstrip()[:1] == b"[":
        return decode(_LIST, content, part)
    lines = [line for line in content.split(b"\n") if line.strip()]
    try:
        wrapped = _WRAPPER in msgspec.json.decode(lines[0], type=dict[str, Raw])
    except (msgspec.DecodeError, RecursionError):
        wrapped = True  # an object over several lines
    if not wrapped:
        return [decode(_RESULT, line, part, line=number) for number, line in enumerate(lines, start=1)]
    return decode(_LIST, dict(members_of(content, part)).get(_WRAPPER, Raw(b"[]")), part)


class Tau2(DialogueFormat):
    """Tasks, and the simulations of them."""

    name = "tau2"
    summary = "tau2-bench results: an object of info, tasks and simulations, or a folder of them"
    fields = _FIELDS
    goes_on = True

    def recognise(self, peek: Peek) -> bool:
        return is_results(peek) or _is_simulation(peek) or _are_simulations(peek)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """Files of their own, and folders: a simulation belongs to the results.json of the folder above it."""
        by_folder: dict[str, _Told] = {}
        for part in parts:
            folder, _, _ = part.name.replace("\\", "/").rpartition("/")
            if not is_results(Peek(part)):
                known = by_folder.get(folder.rpartition("/")[0], _UNTOLD)
                pieces: Iterable[Raw] = bare_simulations(part)
            else:
                results = _results(part)
                known = by_folder[folder] = _told(results, part)
                pieces = _pieces(results, part, alone=len(parts) == 1)
            for name, simulation in _each(_SIMULATION, pieces, part, notes):
                try:
                    domain = known.domains.get(str(simulation.task_id), known.domains[""])
                    yield part, _tau2_dialogue(simulation, known.tasks, known.shared, domain)
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
    shared: Mapping[str, str]
    domains: Mapping[str, str]


_UNTOLD = _Told({}, {}, {"": ""})


def _told(results: _Results, part: Part) -> _Told:
    if not 0 <= (results.info.num_trials or 0) <= _MOST:
        raise DialgaugeError(
            f"info, num_trials: must be from 0 to {_MOST:,} (got {results.info.num_trials})", file=part.name
        )
    if bytes(results.info.audio_native_config) != b"null":
        raise DialgaugeError(_VOICE, file=part.name)
    tasks = _tasks(results.tasks, part)
    return _Told(tasks, _shared(results.info, tasks), _domains(results.info, tasks))


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


def bare_simulations(part: Part) -> Iterable[Raw]:
    """The simulations of a file that has nothing else: one, a list, or a line each."""
    if part.is_large:
        return large_values(part)
    content = part.read()
    if content.lstrip()[:1] == b"[":
        return decode(_LIST, content, part)
    lines = [(number, line) for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    try:
        msgspec.json.decode(lines[0][1], type=Raw)
    except (msgspec.DecodeError, RecursionError):
        return [Raw(content)]
    return [decode(_RESULT, line, part, line=number) for number, line in lines]


def planned_results(source: str | Path) -> dict[str, str]:
    """What a file of tau2-bench without any conversation says was planned, as ``Outcome.details`` have it.

    Empty for every other file, and for one that does not say how many trials of which tasks were planned.
    """
    if not Path(source).is_file():
        return {}
    parts = resolve(source)
    if len(parts) != 1 or recognise(parts[0]).name != Tau2.name:
        return {}
    results = _results(parts[0])
    shared = _shared(results.info, _tasks(results.tasks, parts[0]))
    empty = not results.simulation_index and next(iter(results.simulations or ()), None) is None
    known = empty and "planned_tasks" in shared and (results.info.num_trials or 0) > 0
    return {"benchmark": "tau2", **shared} if known else {}


def _each(
    decoder: msgspec.json.Decoder[Any], pieces: Iterable[Raw], part: Part, notes: Notes
) -> Iterable[tuple[str, Any]]:
    """Each conversation with its name; those of the wrong shape are refused."""
    for number, raw in enumerate(pieces, start=1):
        name = _name(raw, number)
        try:
            record = decode(decoder, raw, part, dialogue=name)
            if not 0 <= (record.trial or 0) < _MOST:
                raise DialgaugeError(
                    f"the trial must be from 0 to {_MOST - 1:,} (got {record.trial})",
                    file=part.name,
                    dialogue=name,
                )
        except DialgaugeError as error:
            notes.refuse(error)
        else:
            yield name, record


def _name(raw: Raw, number: int) -> str:
    """What an error calls a conversation: by task and trial, or by its number in the file."""
    try:
        given = _ANY.decode(raw)
        task, trial = (msgspec.json.decode(given[key]) for key in ("task_id", "trial"))
    except (msgspec.DecodeError, UnicodeError, RecursionError, KeyError):
        return f"number {number}"
    return f"{task}#{trial}" if isinstance(task, str | int) and isinstance(trial, int) else f"number {number}"


def _tau_dialogue(result: _TauResult, shared: Mapping[str, str]) -> Dialogue:
    info, task = result.info, result.info.task or _TauTask()
    judged = info.reward_info if isinstance(info.reward_info, _TauRewardInfo) else None
    parts = {
        key: float(value)
        for key, value in ((judged.info if judged else None) or {}).items()
        if key.startswith("r_") and isinstance(value, int | float) and abs(value) < _MOST
    }
    prompt = "\n".join(message.content or "" for message in result.traj if message.role == "system")
    details = {
        "benchmark": "tau",
        "task": str(result.task_id),
        "trial": str(result.trial),
        **_rewards(result.reward, parts),
        **_given(
            user_cost=info.user_cost,
            error=info.error,
            stopped_by=info.source,
            expected_actions=task.actions,
            expected_outputs=task.outputs,
        ),
        **shared,
        **({"policy": checksum(prompt)} if prompt else {}),
    }
    reason = tau_end(
        result.traj, reward=result.reward, error=info.error, source=info.source, reward_info=info.reward_info
    )
    return Dialogue(
        id=f"{result.task_id}#{result.trial}",
        turns=tuple(turns_of(result.traj)),
        goal=Goal(message=(task.instruction,)) if task.instruction else None,
        outcome=Outcome(
            success=_succeeded(result.reward), reason=reason, ended_by=ENDED_BY.get(reason, ""), details=details
        ),
    )


def tau_end(
    traj: Sequence[TauMessage], *, reward: float | None, error: object, source: object, reward_info: object
) -> str:
    """How a conversation ended, in tau2-bench's words; tau-bench leaves it to be concluded.

    A conversation that comes to its end is judged; one that does not was stopped by an error, or has used up its steps.
    Files that others made lack these signs (UNSET): then the user's own stop tells it, or nothing does.
    """
    if error is not None:
        return "error"
    by_tool = source not in ("user", None)
    if reward_info is not UNSET and reward_info is not None:
        return "agent_stop" if by_tool else "user_stop"
    last = next((message.content or "" for message in reversed(traj) if message.role == "user"), "")
    if _STOP in last and not by_tool:
        return "user_stop"
    return "max_steps" if reward_info is None and (by_tool or not reward) else ""


def _tau2_dialogue(
    simulation: _Simulation, tasks: Mapping[str, _Task], shared: Mapping[str, str], domain: str
) -> Dialogue:
    name, trial = str(simulation.task_id), simulation.trial or 0
    if simulation.messages is None:
        raise DialgaugeError("it has no messages" if bytes(simulation.ticks) == b"null" else _VOICE)
    task = tasks.get(name)
    if tasks and task is None:
        raise DialgaugeError(f"the file has no task '{name}'; every simulation needs its task in 'tasks'")
    judged = simulation.reward_info or _RewardInfo()
    parts = {key: value for key, value in (judged.reward_breakdown or {}).items() if value is not None}
    criteria = (task.evaluation_criteria if task else None) or _Criteria()
    details = {
        "benchmark": "tau2",
        "task": name,
        "trial": str(trial),
        **_rewards(judged.reward, parts),
        **_given(
            agent_cost=simulation.agent_cost,
            user_cost=simulation.user_cost,
            duration=simulation.duration,
            seed=simulation.seed,
            expected_actions=criteria.actions,
            expected_outputs=criteria.communicate_info,
        ),
        **shared,
    }
    reason = simulation.termination_reason or ""
    instruction = _instruction(task)
    return Dialogue(
        id=f"{name}#{trial}",
        turns=tuple(turns_of(simulation.messages)),
        goal=Goal(message=instruction) if instruction else None,
        domains=(domain,) if domain else (),
        outcome=Outcome(
            success=_succeeded(judged.reward), reason=reason, ended_by=ENDED_BY.get(reason, ""), details=details
        ),
    )


def _results(part: Part) -> _Results:
    """The content of a tau2 file. Where a key is repeated, no list is lost: what stands twice is told as such."""
    if part.is_large:
        return _large_results(part)
    content = part.read()
    results = decode(_RESULTS, content, part)
    members = members_of(content, part)
    if len({key for key, _ in members}) == len(members):
        simulations = None if isinstance(results.simulations, UnsetType) else results.simulations
        return _Results(simulations, results.info, results.tasks, results.simulation_index)
    tasks = [task for key, raw in members if key == "tasks" for task in decode(_TASKS, raw, part)]
    repeated = [simulation for key, raw in members if key == "simulations" for simulation in decode(_LIST, raw, part)]
    return _Results(repeated, results.info, tasks, results.simulation_index)


def _large_results(part: Part) -> _Results:
    """The same of a file whose simulations are read one at a time."""
    members = LargeObject(part, "simulations")
    info, tasks = _Info(), list[_Task]()
    for key, raw in members.members():
        if key == "info":
            info = decode(_INFO, raw, part)
        elif key == "tasks":
            tasks = [*tasks, *decode(_TASKS, raw, part)]
    return _Results(members, info, tasks)


def _tasks(given: Iterable[_Task], part: Part) -> dict[str, _Task]:
    tasks: dict[str, _Task] = {}
    for task in given:
        if tasks.get(str(task.id), task) != task:
            raise DialgaugeError(f"two different tasks have the id '{task.id}'", file=part.name)
        tasks[str(task.id)] = task
    return tasks


def _shared(info: _Info, tasks: Mapping[str, _Task]) -> dict[str, str]:
    """What holds for all conversations of a file."""
    environment = info.environment_info or _Environment()
    texts = {name: "\n".join(_instruction(task)) for name, task in tasks.items()}
    return {
        **_given(
            planned_trials=info.num_trials,
            agent=info.agent_info.llm if info.agent_info else None,
            user=info.user_info.llm if info.user_info else None,
            max_steps=info.max_steps,
            max_errors=info.max_errors,
        ),
        **({"planned_tasks": str(len(tasks)), "task_set": _task_set(texts)} if tasks else {}),
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


def _rewards(reward: float | None, parts: Mapping[str, float]) -> dict[str, str]:
    return {**_given(reward=reward), **write_details("reward", {part: as_text(value) for part, value in parts.items()})}


def _given(**values: Any) -> dict[str, str]:
    """What the file says, as texts."""
    return {name: as_text(value) for name, value in values.items() if value is not None}


def _succeeded(reward: float | None) -> bool | None:
    return None if reward is None else abs(reward - 1) <= TOLERANCE


def _instructions(results: Iterable[tuple[str, _TauResult]], part: Part) -> tuple[dict[str, str], set[int]]:
    """What the user of each task was told, by most trials of its id, and the numbers of trials.

    The trials of a task were told the same. Where they were not, and most of what they were told stands under other
    ids as well, conversations are filed under wrong ids: the check of integrity says which.
    """
    by_task: dict[str, Counter[str]] = {}
    filed: dict[str, set[str]] = {}
    trials: set[int] = set()
    for _, tau_result in results:
        task, instruction = str(tau_result.task_id), tau_result.info.task.instruction if tau_result.info.task else ""
        trials.add(tau_result.trial)
        counts = by_task.setdefault(task, Counter())
        if instruction:
            counts[instruction] += 1
            filed.setdefault(instruction, set()).add(task)
    differing = {task: counts for task, counts in by_task.items() if len(counts) > 1}
    contested = {instruction for counts in differing.values() for instruction in counts}
    if 2 * sum(len(filed[instruction]) == 1 for instruction in contested) > len(contested):
        raise DialgaugeError(
            f"two different tasks have the id '{next(iter(differing))}': its trials have different instructions. Are "
            "these the results of two task sets? Then keep each in a file of its own. Or were instructions changed "
            "between trials? Then give each version an id of its own",
            file=part.name,
        )
    return {task: counts.most_common(1)[0][0] if counts else "" for task, counts in by_task.items()}, trials


def _task_set(instructions: Mapping[str, str]) -> str:
    """The checksum of tasks with their instructions, whatever order they stand in."""
    return checksum(msgspec.json.encode(sorted(instructions.items())))
