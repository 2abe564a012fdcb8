"""Results of tau-bench and tau2-bench: language-model agents in conversation with language-model users.

tau-bench writes a JSON list of ``{task_id, reward, info, traj, trial}``. tau2-bench, whose users may have tools too,
writes an object ``{timestamp, info, tasks, simulations}``, or since version 1.0 a folder: the same object in
``results.json`` without its simulations, and these in ``simulations/ID.json``.

A conversation's id is ``TASK#TRIAL``; a task and trial that stands again is numbered on, as conversations filed under
wrong ids must reach the check that finds them. Success is a reward of 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from dialgauge.dialogue import Dialogue, Goal, Outcome, SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek
from dialgauge.formats.jsonfile import RAW, decode, decode_each, elements_of, members_of
from dialgauge.formats.logs.logged import TOLERANCE, Facts, logged_dialogue
from dialgauge.formats.logs.messages import LogMessages, Message, as_text, checksum, expected_calls
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part

#: Beyond any trial, or reward, that somebody meant.
_MOST = 1_000_000
#: A number that somebody meant.
_Number: TypeAlias = Annotated[int, Meta(ge=0, le=_MOST)]
_FIELDS = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
#: The test of the data, as tau-bench and tau2-bench call it.
_DATA_PARTS = frozenset({"r_actions", "DB"})


def contradicts_parts(outcome: Outcome) -> bool:
    """Whether a reward of either benchmark is not the product of the parts stored with it.

    tau-bench stores only the last part, so that what was told does not say all.
    """
    if outcome.reward is None or not outcome.parts or outcome.benchmark not in ("tau", "tau2"):
        return False
    fulfilled = all(value >= 1 - TOLERANCE for value in outcome.parts.values())
    if outcome.reward >= 1 - TOLERANCE:
        return not fulfilled
    return fulfilled and (outcome.benchmark == "tau2" or not _DATA_PARTS.isdisjoint(outcome.parts))


def _conversations(
    decoder: msgspec.json.Decoder[Any], pieces: Iterable[Raw], part: Part, notes: Notes
) -> Iterable[tuple[str, Any]]:
    """Each conversation with its name; those of the wrong shape are refused."""
    return decode_each(decoder, ((_name(raw, number), raw) for number, raw in enumerate(pieces, 1)), part, notes)


def _name(raw: Raw, number: int) -> str:
    """What an error calls a conversation: by task and trial, or by its number in the file."""
    try:
        given = _MEMBERS.decode(raw)
        task, trial = (msgspec.json.decode(given[key]) for key in ("task_id", "trial"))
    except (msgspec.DecodeError, UnicodeError, RecursionError, KeyError):
        return f"number {number}"
    return f"{task}#{trial}" if isinstance(task, str | int) and isinstance(trial, int) else f"number {number}"


class _TrialNames:
    """Ids of the conversations of a file, by task and trial."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._seen: Counter[tuple[str, int]] = Counter()

    def name(self, task: str, trial: int) -> str:
        """``TASK#TRIAL``; one that stands again is numbered on, and noted."""
        self._seen[task, trial] += 1
        if (number := self._seen[task, trial]) == 1:
            return f"{task}#{trial}"
        self._notes.add("a task and trial given again, numbered on")
        return f"{task}#{trial} ({number})"


def _succeeded(reward: float | None) -> bool | None:
    return None if reward is None else abs(reward - 1) <= TOLERANCE


def _facts(**values: Any) -> dict[str, str]:
    """What the file says, as texts."""
    return {name: as_text(value) for name, value in values.items() if value is not None}


def _task_set(instructions: Mapping[str, str]) -> str:
    """The checksum of tasks with their instructions, whatever order they stand in."""
    return checksum(msgspec.json.encode(sorted(instructions.items())))


# -- tau-bench -------------------------------------------------------------------------------------------------------

#: How the simulated user ends a conversation.
_STOP = "###STOP###"


class _TauTask(Struct, frozen=True, gc=False):
    instruction: str = ""
    actions: list[dict[str, Any]] | None = None
    outputs: list[Any] | None = None


class _TauRewardInfo(Struct, frozen=True, gc=False):
    info: dict[str, Any] | None = None
    actions: Any = None


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
    traj: tuple[Message, ...]
    info: _TauInfo = _TauInfo()
    trial: _Number = 0


_TAU = msgspec.json.Decoder(_TauResult)


class Tau(DialogueFormat):
    """A list of results, one for each trial of each task."""

    name = "tau"
    summary = "tau-bench results: a list of task_id, reward, info, traj and trial"
    fields: ClassVar = _FIELDS

    def recognise(self, peek: Peek) -> bool:
        first = _first(peek.json)
        return {"task_id", "traj", "reward"} <= first.keys() and bool({"info", "trial"} & first.keys())

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        pieces = elements_of(part.buffer(), part)
        told = (result for _, result in _conversations(_TAU, pieces, part, Notes(tolerant=True)))
        tasks, names = _task_set(_instructions(told, part)), _TrialNames(notes)
        for name, result in _conversations(_TAU, pieces, part, notes):
            try:
                yield _tau_dialogue(result, names.name(str(result.task_id), result.trial), tasks)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))


def _first(entries: Any) -> Mapping[str, Any]:
    """The first entry of a list, where it is an object; else an empty one."""
    return entries[0] if isinstance(entries, list) and entries and isinstance(entries[0], dict) else {}


def _tau_dialogue(result: _TauResult, name: str, tasks: str) -> Dialogue:
    info, task = result.info, result.info.task or _TauTask()
    judged = info.reward_info if isinstance(info.reward_info, _TauRewardInfo) else None
    parts = {
        key: float(value)
        for key, value in ((judged.info if judged else None) or {}).items()
        if key.startswith("r_") and isinstance(value, int | float) and abs(value) < _MOST
    }
    stored = expected_calls(judged.actions) if judged else None
    facts = Facts(
        success=_succeeded(result.reward),
        reward=result.reward,
        reason=_end(result),
        error=info.error or "",
        parts=parts,
        usage={} if info.user_cost is None else {"user": SideUsage(cost=info.user_cost)},
        expected=expected_calls(task.actions) if stored is None else stored,
        graded=stored is not None,
        outputs=tuple(map(as_text, task.outputs or ())),
        goal=Goal(message=(task.instruction,)) if task.instruction else None,
        shown=_facts(stopped_by=info.source, task_set=tasks),
    )
    named = (name, str(result.task_id), result.trial)
    return logged_dialogue("tau", LogMessages(result.traj), facts, named, judging=True)


def _end(result: _TauResult) -> str:
    """How a conversation ended, in tau2-bench's words; tau-bench leaves it to be concluded.

    A conversation that comes to its end is judged; one that does not was stopped by an error, or has used up its steps.
    Files that others made lack these signs (UNSET): then the user's own stop tells it, or nothing does.
    """
    if result.info.error is not None:
        return "error"
    reward_info, by_tool = result.info.reward_info, result.info.source not in ("user", None)
    if reward_info is not UNSET and reward_info is not None:
        return "agent_stop" if by_tool else "user_stop"
    last = next((message.content or "" for message in reversed(result.traj) if message.role == "user"), "")
    if _STOP in last and not by_tool:
        return "user_stop"
    return "max_steps" if reward_info is None and (by_tool or not result.reward) else ""


def _instructions(results: Iterable[_TauResult], part: Part) -> dict[str, str]:
    """What the user of each task was told, by most trials of its id.

    The trials of a task were told the same. Where they were not, and most of what they were told stands under other
    ids as well, conversations are filed under wrong ids: the check of integrity says which.
    """
    by_task: dict[str, Counter[str]] = {}
    filed: dict[str, set[str]] = {}
    for result in results:
        task, instruction = str(result.task_id), result.info.task.instruction if result.info.task else ""
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
    return {task: counts.most_common(1)[0][0] if counts else "" for task, counts in by_task.items()}


# -- tau2-bench ------------------------------------------------------------------------------------------------------

_VOICE = "it holds spoken conversations, in ticks of sound instead of messages; only written ones are read"
_INSTRUCTIONS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


class _Settings(Struct, frozen=True, gc=False):
    llm: str | None = None


class _Environment(Struct, frozen=True, gc=False):
    domain_name: str = ""
    policy: str | None = None


class _Info(Struct, frozen=True, gc=False):
    num_trials: _Number | None = None
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

    def instruction(self) -> tuple[str, ...]:
        """What the user was told, part by part, each with its name; the persona last."""
        scenario = self.user_scenario or _Scenario()
        given = scenario.instructions
        if isinstance(given, dict):
            parts = {key: given[key] for key in _INSTRUCTIONS if isinstance(given.get(key), str)}
        else:
            parts = {"instructions": given or ""}
        parts["persona"] = scenario.persona or ""
        return tuple(f"{key.replace('_', ' ')}: {text}" for key, text in parts.items() if text)


class _ActionCheck(Struct, frozen=True, gc=False):
    action: Any = None


class _RewardInfo(Struct, frozen=True, gc=False):
    reward: float | None = None
    action_checks: list[_ActionCheck] | None = None
    reward_breakdown: dict[str, float | None] | None = None


class _Simulation(Struct, frozen=True, gc=False):
    task_id: str | int
    messages: tuple[Message, ...] | None = None
    ticks: Raw = Raw(b"null")
    termination_reason: str | None = None
    reward_info: _RewardInfo | None = None
    agent_cost: float | None = None
    user_cost: float | None = None
    duration: float | None = None
    trial: _Number | None = None
    seed: int | None = None


class _Told(NamedTuple):
    """What the results say of all simulations: their tasks, what they share, and the domain of each task."""

    tasks: Mapping[str, _Task] = {}
    facts: Mapping[str, str] = {}
    domains: Mapping[str, str] = {"": ""}
    planned: tuple[int, int] | None = None


_INFO = msgspec.json.Decoder(_Info)
_TASKS = msgspec.json.Decoder(list[dict[str, Any]])
_SIMULATION = msgspec.json.Decoder(_Simulation)


class Tau2(DialogueFormat):
    """Tasks, and the simulations of them."""

    name = "tau2"
    summary = "tau2-bench results: an object of info, tasks and simulations, or a folder of them"
    fields: ClassVar = _FIELDS
    spans_files = True

    def recognise(self, peek: Peek) -> bool:
        given = peek.json
        return isinstance(given, dict) and (
            {"id", "task_id", "termination_reason"} <= given.keys() or _is_results(peek)
        )

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """Files of their own, and folders: a simulation belongs to the results.json of the folder above it."""
        by_folder: dict[str, _Told] = {}
        names = _TrialNames(notes)
        for part in parts:
            folder, _, _ = part.name.replace("\\", "/").rpartition("/")
            if _is_results(Peek(part)):
                members = members_of(part.buffer(), part)
                known = by_folder[folder] = _told(members, part, notes)
                pieces = _simulations(members, part, alone=len(parts) == 1)
            else:
                known = by_folder.get(folder.rpartition("/")[0], _Told())
                pieces = [decode(RAW, part.buffer(), part)]
            for name, simulation in _conversations(_SIMULATION, pieces, part, notes):
                try:
                    yield part, _tau2_dialogue(simulation, known, names)
                except DialgaugeError as error:
                    notes.refuse(error.at(file=part.name, dialogue=name))


def _is_results(peek: Peek) -> bool:
    """True for an object that looks like results of tau2-bench, by its info, tasks or simulations."""
    given = peek.json if isinstance(peek.json, dict) else {}
    info = given.get("info")
    known = info.keys() if isinstance(info, dict) else set[str]()
    planned = "agent_info" in known and "user_scenario" in _first(given.get("tasks"))
    simulated = {"task_id", "termination_reason"} <= _first(given.get("simulations")).keys()
    return {"agent_info", "user_info"} <= known or planned or simulated


def _simulations(members: Sequence[tuple[str, Raw]], part: Part, *, alone: bool) -> Iterable[Raw]:
    """The simulations in a file of results, of every list of them; those of a folder lie beside it."""
    names = {name for name, _ in members}
    if "simulations" in names:
        return [each for name, raw in members if name == "simulations" for each in elements_of(raw, part)]
    if alone:
        why = "it has neither 'simulations' nor, as in a folder of results, 'simulation_index'"
        if "simulation_index" in names:
            why = "its conversations lie in the folder 'simulations' beside it; name the folder that holds both"
        raise DialgaugeError(why, file=part.name)
    return []


def _told(members: Sequence[tuple[str, Raw]], part: Part, notes: Notes) -> _Told:
    """What a file of results says of all its simulations; its tasks, as they stand there, are noted."""
    info = next((decode(_INFO, raw, part) for name, raw in reversed(members) if name == "info"), _Info())
    if bytes(info.audio_native_config) != b"null":
        raise DialgaugeError(_VOICE, file=part.name)
    given = [task for name, raw in members if name == "tasks" for task in decode(_TASKS, raw, part)]
    notes.tasks += given
    tasks: dict[str, _Task] = {}
    for entry in given:
        try:
            task = msgspec.convert(entry, _Task)
        except msgspec.ValidationError as error:
            raise DialgaugeError(f"tasks: {error}", file=part.name) from error
        if tasks.setdefault(str(task.id), task) != task:
            raise DialgaugeError(f"two different tasks have the id '{task.id}'", file=part.name)
    planned = (len(tasks), info.num_trials or 0)
    environment = info.environment_info or _Environment()
    facts = {
        **_facts(
            agent=info.agent_info.llm if info.agent_info else None,
            user=info.user_info.llm if info.user_info else None,
            max_steps=info.max_steps,
            max_errors=info.max_errors,
        ),
        **({"task_set": _task_set({k: "\n".join(v.instruction()) for k, v in tasks.items()})} if tasks else {}),
        **({"policy": checksum(environment.policy)} if environment.policy else {}),
    }
    return _Told(tasks, facts, _domains(environment.domain_name, tasks), planned if any(planned) else None)


def _domains(whole: str, tasks: Mapping[str, _Task]) -> dict[str, str]:
    """The domain of each task: the file's, under an empty name, unless its tasks say that they are of several."""
    domains = {}
    for name, task in tasks.items():
        given = task.user_scenario.instructions if task.user_scenario else None
        domains[name] = str(given.get("domain") or whole) if isinstance(given, dict) else whole
    return {"": whole, **(domains if len(set(domains.values())) > 1 else {})}


def _tau2_dialogue(simulation: _Simulation, told: _Told, names: _TrialNames) -> Dialogue:
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
    seconds = _seconds_by_side(simulation.messages)
    costs = {"agent": simulation.agent_cost, "user": simulation.user_cost}
    usage = {side: SideUsage(cost=cost, seconds=seconds.get(side)) for side, cost in costs.items()}
    instruction = task.instruction() if task else ()
    facts = Facts(
        success=_succeeded(judged.reward),
        reward=judged.reward,
        reason=simulation.termination_reason or "",
        planned=told.planned,
        parts={key: value for key, value in (judged.reward_breakdown or {}).items() if value is not None},
        seconds=simulation.duration,
        usage={side: used for side, used in usage.items() if used != SideUsage()},
        expected=expected_calls(criteria.actions) if stored is None else stored,
        graded=stored is not None,
        outputs=tuple(map(as_text, criteria.communicate_info or ())),
        goal=Goal(message=instruction) if instruction else None,
        domains=(domain,) if domain else (),
        shown={**_facts(seed=simulation.seed), **told.facts},
    )
    named = (names.name(name, trial), name, trial)
    return logged_dialogue("tau2", LogMessages(simulation.messages), facts, named, judging=True)


def _seconds_by_side(messages: Sequence[Message]) -> dict[str, float]:
    """How long the messages of each side took, by their times; nothing where a message has no such time."""
    sides = {"assistant": "agent", "user": "user"}
    try:
        times = [datetime.fromisoformat(str(message.timestamp)).timestamp() for message in messages]
    except ValueError:
        return {}
    seconds: dict[str, float] = {}
    for message, before, after in zip(messages[1:], times, times[1:], strict=False):
        if message.role in sides:
            side = sides[message.role]
            seconds[side] = round(seconds.get(side, 0.0) + max(after - before, 0.0), 6)
    return seconds
