"""The members of a record that hold facts: its own, those of objects in it, and how it calls itself."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dialgauge.dialogue import DetailKind, write_details
from dialgauge.formats.json_text import literal
from dialgauge.formats.logs import fact_names as names
from dialgauge.formats.logs.fact_names import plain_key
from dialgauge.formats.logs.fact_values import number_in, said_success, usage
from dialgauge.formats.notes import Notes
from dialgauge.formats.tau_messages import as_text

#: A longer id is a description.
LONGEST_ID = 100
#: What results of promptfoo have, whose variables look like slots; and what one test of it is told from another by.
PROMPTFOO = frozenset({"promptIdx", "testIdx", "success"})
#: What traces of Langfuse have, whose session may be that of several conversations.
_TRACE = frozenset({"id", "sessionId", "timestamp", "input", "output"})
_TEST = ("description", "vars", "assert")
#: What evaluations of Weave call what they do with each example, and where a call says what it was.
_WEAVE, _OF_CALL = "predict_and_score", ("inputs", "output", "summary")
_LONGEST_TEST, _CHECKSUM = 60, 6
#: What columns begin with that were members of an object, as those of MLflow's and AgentLab's runs, and those
#: of MLflow's evaluations end in.
_OF_RUNS = re.compile(r"\A(?:params|metrics|env|agent|stats|metadata)\.(?=\w)|(?<=\w)/value\Z")
#: How Weave calls an evaluation as a whole.
_EVALUATION = "Evaluation."
#: What inspect's table of samples has, whose ``sample_id`` is that of one epoch; and the name of a repeated case.
_SAMPLE = frozenset({"sample_id", "eval_id", "id", "epoch"})
_ADK_CASE, _ADK_STATUS = frozenset({"eval_id", "final_eval_status"}), {"1": True, "2": False}
_REPEAT = re.compile(r"(.{1,200}) \[([0-9]{1,4})/[0-9]{1,4}\]")
#: How deep members lie that anybody looks at.
_DEEPEST = 3
#: A longer text is no object of facts.
_LONGEST_TEXT = 1 << 16


def task_and_trial(row: Mapping[str, Any]) -> list[str]:
    """The task and the trial of a message that names them itself, as they are written; nothing without a task."""
    known = {plain_key(key): value for key, value in row.items()}
    known |= {name: held for name in names.TASK if (held := _own_id(known.get(name))) is not None}
    trial = next((as_text(known[name]) for name in names.TRIAL if known.get(name) is not None), "")
    return [task, trial] if (task := identifier_in(known, names.TASK)) else []


def has_trial(row: Any) -> bool:
    """Does a record number its trial?"""
    return isinstance(row, dict) and trial_in({plain_key(key): value for key, value in row.items()}) is not None


def is_inner_run(record: Mapping[str, Any]) -> bool:
    """Is it a step of a run, as LangSmith, Weave and Braintrust record them beside the whole?

    The whole of Weave is an evaluation, in which each example has a run of its own.
    """
    if is_span(record):
        return bool(record.get("span_parents")) or record["root_span_id"] != record["span_id"]
    if is_weave_example(record):
        return False
    operation = str(record.get("op_name") or "")
    if _EVALUATION in operation:
        return _WEAVE not in operation
    return ("run_type" in record or bool(operation)) and any(record.get(key) for key in ("parent_run_id", "parent_id"))


def is_span(record: Any) -> bool:
    """Is it a span of Braintrust, which names the whole that it is of?"""
    return isinstance(record, dict) and record.keys() >= {"span_id", "root_span_id"}


def names_conversation(record: Mapping[str, Any]) -> bool:
    """Does a record name a task, or itself?"""
    known = {plain_key(key): value for key, value in record.items()}
    return bool(task_and_trial(record) or identifier_in(known, names.ID))


def own_names(record: Mapping[str, Any], notes: Notes) -> Mapping[str, Any]:
    """A record with the names that are its own, where a program writes others beside them that it shares."""
    if record.keys() >= _TRACE and record["id"]:
        return {f"trace.{key}" if key == "sessionId" else key: value for key, value in record.items()}
    if record.keys() >= _SAMPLE:
        return {**record, "id": record["sample_id"], "sample_id": record["id"]}
    if record.keys() >= _ADK_CASE:
        notes.add("'final_eval_status' 1 counts as passed and 2 as failed, as Google ADK has it")
        return {
            **record,
            "task_id": record["eval_id"],
            "success": _ADK_STATUS.get(as_text(record["final_eval_status"])),
        }
    if repeat := _REPEAT.fullmatch(name) if isinstance(name := record.get("name"), str) else None:
        task = {} if task_and_trial(record) else {"task_id": repeat[1]}
        return {**task, "trial": int(repeat[2]), **record}
    return _of_weave(record) if is_weave_example(record) else _of_test(record, notes)


def is_weave_example(record: Any) -> bool:
    """Is it a call of Weave in which an agent did an example of an evaluation and was scored?"""
    if not isinstance(record, dict):
        return False
    name, output = record.get("op_name"), record.get("output")
    return isinstance(name, str) and _WEAVE in name and isinstance(output, dict) and "scores" in output


def _of_weave(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Such a call as a record of what it says in its inputs, its output and its summary."""
    inputs, output, summary = (held if isinstance(held := record.get(key), dict) else {} for key in _OF_CALL)
    example = held if isinstance(held := inputs.get("example"), dict) else {}
    said = output.get("output")
    name = identifier_in({plain_key(key): value for key, value in example.items()}, ("id", *names.TASK))
    spent = list(summary["usage"].values()) if isinstance(summary.get("usage"), dict) else []
    return {
        **({"task_id": name} if name else {"id": record.get("id")}),
        **{key: value for key, value in example.items() if plain_key(key) in names.INSTRUCTION},
        **(said if isinstance(said, dict) else {"output": said}),
        "scores": output["scores"],
        "latency": output.get("model_latency"),
        "usage": spent[0] if len(spent) == 1 else {},
        **({"cost": sum(costs)} if (costs := list(_weave_costs(summary))) else {}),
        "error": record.get("exception"),
    }


def _weave_costs(summary: Mapping[str, Any]) -> Iterator[float]:
    """What each model cost: for what it was sent, and for what it answered."""
    for path, value in members_inside({"weave": summary.get("weave")}):
        if path.startswith("weave.costs.") and path.endswith("_total_cost") and (cost := number_in(value)) is not None:
            yield cost


def _of_test(record: Mapping[str, Any], notes: Notes) -> Mapping[str, Any]:
    """A result of promptfoo under the name of its test, whose repeats have numbers of their own; others as they are.

    The prompt is a template that all tests share. Tests that are called alike are told apart by what is in them.
    """
    if not record.keys() >= PROMPTFOO:
        return record
    named = {key: value for key, value in record.items() if key != "promptId"}
    test = record.get("testCase")
    given = {key: test[key] for key in _TEST if test.get(key)} if isinstance(test, dict) else {}
    variables = given.get("vars")
    if not isinstance(variables, dict):
        return named
    called = identifier_in({plain_key(key): value for key, value in variables.items()}, names.TASK)
    texts = (value for value in (given.get("description"), called, *variables.values()) if isinstance(value, str))
    label = " ".join(next(filter(str.strip, texts), "test").split())[:_LONGEST_TEST]
    checksum = hashlib.sha256(as_text(given).encode("utf-8", "surrogatepass")).hexdigest()[:_CHECKSUM]
    notes.add("results of promptfoo of one test (description, variables, assertions) taken for trials of one task")
    return {**named, "task_id": f"{label} ({checksum})"}


def of_all(record: Mapping[str, Any], notes: Notes, *, several: bool) -> dict[str, Any]:
    """What a record says of the conversations in it: of several, neither how they went nor what all of them cost."""
    shared: dict[str, Any] = {}
    for key, value in record.items():
        if several and names.is_of_one(key) and not (isinstance(value, dict) and plain_key(key) in names.NESTED):
            notes.add(f"'{key[:60]}' beside a list of conversations is not taken for each of them")
        elif several and isinstance(value, dict) and plain_key(key) in names.NESTED | names.SCORES | names.USAGE:
            shared[key] = {name: member for name, member in value.items() if not names.is_of_one(name)}
        else:
            shared[key] = value
    return shared


def as_of(owner: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record in which what says how something went is that of its owner, as of a response, and not a verdict."""
    return {f"{owner}.{key}" if names.is_of_one(key) else key: value for key, value in record.items()}


def fields_of(record: Mapping[str, Any], used: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The members of a record, then those of the objects in it that hold facts."""
    own = any(plain_key(key) in names.SUCCESS and said_success(value) is not None for key, value in record.items())
    inner = []
    for key, value in record.items():
        if key in used:
            continue
        if isinstance(value, dict) and own and plain_key(key) in names.EVALUATIONS:
            inner.append(
                {
                    f"{key}.{name}" if plain_key(name) in names.SUCCESS else name: member
                    for name, member in value.items()
                }
            )
        elif isinstance(value, dict) and plain_key(key) in names.TASK and (name := _own_id(value)) is not None:
            yield "task_id", name
            inner.append({key: member for key, member in value.items() if member is not name})
        elif isinstance(value, dict) and plain_key(key) in names.USAGE:
            inner.append(usage(value))
        elif isinstance(value, dict) and plain_key(key) in names.NESTED:
            inner.append(value)
        elif isinstance(value, dict) and plain_key(key) in names.JUDGES:
            inner.append({f"{key}.{name}": one for name, one in value.items() if names.is_of_judge(key, name)})
        elif key == "config" and isinstance(value, dict) and isinstance(value.get("configurable"), dict):
            inner.append(value["configurable"])  # whose thread a checkpoint of LangGraph is
        else:
            yield key, value
            if isinstance(value, dict) and plain_key(key) in names.SCORES:
                inner.append({name: held for name, held in value.items() if plain_key(name) in names.AMONG_SCORES})
    inner += map(usage, usage_inside(value for key, value in record.items() if plain_key(key) in names.TAKEN))
    for held in inner:
        yield from held.items()


def usage_inside(holders: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The objects of tokens that others hold, as ``metrics`` and ``response`` do."""
    for holder in holders:
        for key, held in holder.items() if isinstance(holder, dict) else ():
            if isinstance(held, dict) and plain_key(key) in names.USAGE:
                yield held


def opened(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record with the objects in which facts are looked for, also where these are written as texts."""
    texts = [key for key, value in record.items() if isinstance(value, str) and value[:1] == "{"]
    objects = {key: literal(record[key], _LONGEST_TEXT) for key in texts if plain_key(key) in names.OUTSIDE}
    return {**record, **{key: held for key, held in objects.items() if isinstance(held, dict)}} if objects else record


def plain_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table under the names that columns have without what they are of: ``params.task_id`` of MLflow."""
    named = {key: _OF_RUNS.sub("", key) for key in row}
    return {key if named[key] in row else named[key]: value for key, value in row.items()}


def members_inside(held: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """What is no object, by the path to it, as far inside as anybody looks."""
    for key, value in held.items():
        if isinstance(value, dict):
            if depth < _DEEPEST:
                yield from members_inside(value, f"{path}{key[:60]}.", depth + 1)
        else:
            yield f"{path}{key[:60]}", value


def _own_id(given: Any) -> str | int | None:
    """How an object calls itself that describes a task."""
    known = {plain_key(key): value for key, value in given.items()} if isinstance(given, dict) else {}
    return next((known[name] for name in ("id", "taskid", "name") if isinstance(known.get(name), str | int)), None)


def identifier_in(known: Mapping[str, Any], called: Iterable[str]) -> str:
    """The first name that is there, also as a number; empty without one."""
    for name in called:
        given = known.get(name)
        if isinstance(given, int | float) and not isinstance(given, bool):
            return as_text(int(given) if isinstance(given, float) and given.is_integer() else given)
        if isinstance(given, str) and given.strip() and len(given) <= LONGEST_ID:
            return given.strip()
    return ""


def further_tasks(fields: Sequence[tuple[str, Any]], task: str) -> dict[str, str]:
    """Details with what else names a task beside its name: numbers of tasks, and what may number mere rows."""
    by_id = any(plain_key(key) == "taskid" for key, _ in fields)
    numbers = frozenset[str]() if by_id else names.NUMBERS_OF_TASKS  # nothing is needed beside an id
    further: dict[str, str] = {}
    for key, value in fields:
        plain = plain_key(key)
        name = identifier_in({plain: value}, [plain]) if plain in names.NUMBERS_OF_TASKS | names.ROWS_OF_TASKS else ""
        if name and name != task:
            kind: DetailKind = "task_number" if plain in numbers else "task_row"
            further |= write_details(kind, {key[:60]: name}) | further
    return further if task or by_id else {}


def plan_in(record: Mapping[str, Any], *, whole: bool = False) -> dict[str, str]:
    """How many tasks and trials were planned, as a record of the whole says, or what describes a run in any other."""
    held = [value for key, value in record.items() if isinstance(value, dict) and plain_key(key) in names.AGENTS]
    inside = {plain_key(key): value for said in held for key, value in said.items()}
    own = {name: value for key, value in record.items() if (name := plain_key(key)) in names.PLAN or whole}
    plan = {}
    for detail, called in names.PLANNED.items():
        numbers = (number_in(told[name]) for told in (own, inside) for name in called if name in told)
        if number := next((one for one in numbers if one is not None and one >= 1 and one.is_integer()), None):
            plan[detail] = f"{number:.0f}"
    return plan


def trial_in(known: Mapping[str, Any]) -> int | None:
    """The number of the trial; None where none is said."""
    for name in names.TRIAL:
        given = number_in(known[name]) if name in known else None
        if given is not None and given.is_integer() and 0 <= given < 1_000_000:
            return int(given)
    return None
