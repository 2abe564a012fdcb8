"""What a log says of a conversation beside its messages: task, trial, verdict, scores, cost, tokens, model.

Every fact is looked for under its usual names, whatever their case and punctuation (``task_id``, ``taskId``), in the
record and one level below it (``metadata``, ``info``, ...). What is not there stays unknown. Whether a score is a
verdict is not decided here but over all conversations of a log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.formats.base import Notes, literal
from dialgauge.formats.logs import fact_names as names
from dialgauge.formats.logs.fact_names import plain_key
from dialgauge.formats.logs.fact_values import (
    LONGEST_LABEL,
    amount_in,
    named_scores,
    number_in,
    number_text,
    said_success,
    score_in,
    score_texts,
    token_sum,
    truth,
)
from dialgauge.formats.tau_messages import as_text

#: How a line of an instruction begins that says what the user knows: ``knows order number: 4711``.
KNOWS = "knows "
#: How the detail is called that keeps a verdict's number: ``numbered[success]``.
NUMBERED = "numbered"
#: How the detail is called that says that a verdict is but the word for how a run ended: ``stated[status]``.
STATED = "stated"
#: How the detail is called that keeps a yes or no which is not read, beside the verdict of that name that is:
#: ``beside[result][human_label]``.
BESIDE = "beside"
#: How the detail is called that keeps what may tell one agent from another: ``variant[arm]``.
VARIANT = "variant"
#: The detail that names an earlier conversation of the same task whose messages are the beginning of this one's.
CONTINUES = "continues"
#: How the detail is called that keeps what may name the task of a conversation that names none: ``label[persona]``.
LABEL = "label"
#: The detail that names the group of a conversation that names no task.
GROUP = "group"
#: How the detail is called that keeps what stands where a verdict should, and is none: ``unclear[outcome]``.
UNCLEAR = "unclear"

_BINARY = {"0": False, "1": True, "false": False, "true": True}
#: Ends that say nothing but that it ended, and other words for ends that are known.
_PLAIN_ENDS = frozenset(
    {"stop", "endturn", "end", "completed", "complete", "done", "finished", "success", "normal", "eos"}
)
_ENDS = {
    "maxturns": "max_steps", "maxsteps": "max_steps", "steplimit": "max_steps", "turnlimit": "max_steps",
    "maxiterations": "max_steps", "messagelimit": "message_limit", "length": "max_tokens", "maxtokens": "max_tokens",
    "tokenlimit": "token_limit", "timelimit": "time_limit", "userstop": "user_stop", "agentstop": "agent_stop",
    "user": "user_stop", "agent": "agent_stop", "toomanyerrors": "too_many_errors",
}  # fmt: skip
#: A status that says how a task went, and not a request.
_JUDGED = frozenset({"pass", "passed", "fail", "failed"})
#: Names of a model, and what else tells agents apart in an object that says what ran.
_MODEL = tuple(name for name in names.TEXTS["agent"] if name != "agent")
_OF_AGENTS = frozenset({"name", "id", "prompt"})
#: A longer id is a description.
_LONGEST_ID = 100
#: How deep a verdict may lie that somebody gave, how many members that nobody reads are kept, and how long these are.
_DEEPEST, _MOST_KEPT, _LONGEST_KEPT = 3, 12, 30
#: A longer text is no object of facts.
_LONGEST_TEXT = 1 << 16


class Facts(Struct, kw_only=True):
    """What is known of a conversation; an empty text, and None, is what the log does not say."""

    id: str = ""
    task: str = ""
    trial: int | None = None
    success: bool | None = None
    reason: str = ""
    error: str = ""
    #: Numbers, as texts, and labels, by name.
    scores: dict[str, str] = {}
    #: Costs, tokens, models, ... under the names of ``Outcome.details``.
    details: dict[str, str] = {}
    instruction: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()


def task_and_trial(row: Mapping[str, Any]) -> list[str]:
    """The task and the trial of a message that names them itself, as they are written; nothing without a task."""
    known = {plain_key(key): value for key, value in row.items()}
    known |= {name: held for name in names.TASK if (held := _own_id(known.get(name))) is not None}
    trial = next((as_text(known[name]) for name in names.TRIAL if known.get(name) is not None), "")
    return [task, trial] if (task := _identifier(known, names.TASK)) else []


def has_trial(row: Any) -> bool:
    """Does a record number its trial?"""
    return isinstance(row, dict) and _trial({plain_key(key): value for key, value in row.items()}) is not None


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


def says_success(record: Mapping[str, Any]) -> bool:
    """Does a record say by name how a conversation went, in a verdict or a score?"""
    return any(plain_key(key) in names.SUCCESS or names.is_scores(key) for key, _ in _fields(record, ()))


def says_verdict(record: Mapping[str, Any]) -> bool:
    """Does a record say yes or no under a name that says success, or in a word for an outcome, or have a score?"""
    return any(
        said_success(value) is not None
        if (name := plain_key(key)) in names.SUCCESS or name in names.DONE
        else (names.is_score(key) and score_in(value) is not None)
        or (name in names.VERDICTS and isinstance(value, str) and truth(value) is not None
            and (name != "status" or value.strip().lower() in _JUDGED))
        for key, value in _fields(record, ())
    )  # fmt: skip


def names_conversation(record: Mapping[str, Any]) -> bool:
    """Does a record name a task, or itself?"""
    known = {plain_key(key): value for key, value in record.items()}
    return bool(task_and_trial(record) or _identifier(known, names.ID))


def as_of(owner: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record in which what says how something went is that of its owner, as of a response, and not a verdict."""
    return {f"{owner}.{key}" if names.is_of_one(key) else key: value for key, value in record.items()}


def facts_of(record: Mapping[str, Any], notes: Notes, used: Collection[str] = ()) -> Facts:
    """The facts of a record; keys in ``used`` hold the messages. What is not understood is counted in the notes."""
    record = {key: _opened(key, value) for key, value in record.items()}
    fields = list(_fields(record, used))
    known: dict[str, Any] = {}
    for key, value in fields:
        known.setdefault(plain_key(key), value)
    scores, amount = _all_scores(record, fields), _success_amount(fields)
    source, success = _verdict(fields, known, scores, notes)
    deep = _deep_verdict(record, used) if success is None and not scores else None
    if deep is not None:
        source, success = deep
        notes.add(f"whether it passed is read from '{source}'")
    stated = {f"{STATED}[{source}]": "true"} if source == "status" else {}
    unclear = _unclear(fields) if success is None else {}
    judges = {key for key, _ in fields if source and plain_key(key) == plain_key(source)}
    if deep is not None:
        judges = {source, source.rpartition(".")[0]}
    notes.judged_by |= judges | {key.partition(".")[0] for key in judges}
    task = _identifier(known, names.TASK)
    identifier = _identifier(known, names.ID)
    groups = () if task else names.GROUP if identifier else (*names.GROUP, *names.COUNTS)
    group = {GROUP: name} if (name := _identifier(known, groups)) else {}
    facts = Facts(
        id=identifier,
        task=task,
        trial=_trial(known),
        success=success,
        reason=_reason(known),
        error=_error(known),
        scores=scores,
        details={
            **({"agent": model} if (model := _nested_model(record)) else {}),
            **_details(known),
            **amount,
            **stated,
            **unclear,
            **group,
            **_expected_calls(known),
            **_variants(record, used),
        },
        instruction=(*_instruction(known), *_knowledge(known)),
        domains=_domains(known),
    )
    read = _read_keys(facts) | {plain_key(source), plain_key(source.partition(".")[0])}
    unread = []
    for key, value in record.items():
        if key not in used and value not in (None, "", [], {}) and not _is_read(key, value, facts, read):
            notes.add_unread(key[:60])
            unread.append(key)
        elif isinstance(value, dict) and plain_key(key) in names.NESTED:
            for name, inner in value.items():
                if isinstance(inner, dict) and inner and not _is_read_inside(name, inner, facts, read):
                    notes.add_unread(f"{key[:60]}.{name[:60]}")
    if success is not None:
        judgements = {key: value for key, value in fields if plain_key(key.partition(".")[0]) in names.EVALUATIONS}
        facts.details |= _beside(source, record, (key for key in unread if key not in notes.judged_by), judgements)
    if not task:
        facts.details |= _labels(record, used)
    passed_over = (key for key in record if plain_key(key) in names.PASSED_OVER and key not in used)
    for path, text in _short_texts({key: record[key] for key in (*unread, *passed_over)}):
        notes.unread_values.add(task, path, text)
    return facts


def _opened(key: str, value: Any) -> Any:
    """An object in which facts are looked for, also where it is written as a text."""
    if not isinstance(value, str) or value[:1] != "{" or plain_key(key) not in names.OUTSIDE:
        return value
    opened = literal(value, _LONGEST_TEXT)
    return opened if isinstance(opened, dict) else value


def _members(held: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """What is no object, by the path to it, as far inside as anybody looks."""
    for key, value in held.items():
        if isinstance(value, dict):
            if depth < _DEEPEST:
                yield from _members(value, f"{path}{key[:60]}.", depth + 1)
        else:
            yield f"{path}{key[:60]}", value


def _deep_verdict(record: Mapping[str, Any], used: Collection[str]) -> tuple[str, bool] | None:
    """The only success that lies in an object of somebody who judged, deeper than facts are looked for."""
    held = {key: value for key, value in record.items() if key not in used and isinstance(value, dict)}
    found = [
        (path, verdict)
        for path, value in _members(held)
        for owner, _, name in [path.rpartition(".")]
        if plain_key(name) in names.OF_JUDGES and names.JUDGING.search(owner)
        if (verdict := said_success(value)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _short_texts(members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Short texts, numbers and yes or no of members, by the paths to them."""
    texts = ((path, as_text(value)) for path, value in _members(members) if isinstance(value, str | int | float))
    return islice(((path, text) for path, text in texts if 0 < len(text) <= _LONGEST_KEPT), _MOST_KEPT)


def _own_id(given: Any) -> str | int | None:
    """How an object calls itself that describes a task."""
    known = {plain_key(key): value for key, value in given.items()} if isinstance(given, dict) else {}
    return next((known[name] for name in ("id", "taskid", "name") if isinstance(known.get(name), str | int)), None)


def _variants(record: Mapping[str, Any], used: Collection[str]) -> dict[str, str]:
    """Short texts and numbers under names that tell agents apart, also in objects that hold facts or say what ran."""
    own = {key: value for key, value in record.items() if key not in used}
    members = {key: value for key, value in own.items() if plain_key(key) in names.VARIANTS}
    for key, value in own.items():
        if isinstance(value, dict) and plain_key(key) in names.NESTED | names.AGENTS:
            told = names.VARIANTS | _OF_AGENTS if plain_key(key) in names.AGENTS else names.VARIANTS
            members |= {f"{key}.{name}": inner for name, inner in value.items() if plain_key(name) in told}
    texts = {key: as_text(value) for key, value in members.items() if isinstance(value, str | int | float)}
    return {f"{VARIANT}[{key[:60]}]": text for key, text in texts.items() if 0 < len(text) <= LONGEST_LABEL}


def _labels(record: Mapping[str, Any], used: Collection[str]) -> dict[str, str]:
    """What may name the task."""
    known = {key: value for key, value in record.items() if plain_key(key) in names.LABELS and key not in used}
    texts = {key: as_text(value) for key, value in known.items() if isinstance(value, str | int)}
    return {f"{LABEL}[{key[:60]}]": text[:_LONGEST_ID] for key, text in texts.items()}


def _nested_model(record: Mapping[str, Any]) -> str:
    """The model that an object names which says what ran; empty without one."""
    for key, value in record.items():
        if isinstance(value, dict) and plain_key(key) in names.AGENTS:
            known = {plain_key(name): inner for name, inner in value.items()}
            if given := next((known[name] for name in _MODEL if isinstance(known.get(name), str)), ""):
                return str(given)
    return ""


def _is_read_inside(key: str, value: Any, facts: Facts, read: frozenset[str]) -> bool:
    """Is an object read that lies in one that holds facts? Only some are: facts are not looked for in it."""
    return plain_key(key) not in names.OUTSIDE and _is_read(key, value, facts, read)


def _is_read(key: str, value: Any, facts: Facts, read: frozenset[str]) -> bool:
    """Is a member of a record read, or of no matter?"""
    plain = plain_key(key)
    if plain in names.AMOUNT:
        return amount_in(value) is not None
    if plain in names.EXPECTED:
        return "expected_actions" in facts.details
    if plain in names.VERDICTS and isinstance(value, str):
        return facts.success is not None or truth(value) is not None or key in facts.scores
    if plain in read:
        return True
    return names.is_scores(key) and bool(score_texts(key, value))


def _read_keys(facts: Facts) -> frozenset[str]:
    """Keys that are either read or of no matter."""
    groups = names.GROUP if GROUP in facts.details else ()
    return names.READ.union(groups, map(plain_key, facts.scores))


def _fields(record: Mapping[str, Any], used: Collection[str]) -> Iterator[tuple[str, Any]]:
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
        elif isinstance(value, dict) and plain_key(key) in names.NESTED | names.USAGE:
            inner.append(value)
        elif isinstance(value, dict) and plain_key(key) in names.JUDGES:
            inner.append({f"{key}.{name}": one for name, one in value.items() if plain_key(name) in names.OF_JUDGES})
        elif key == "config" and isinstance(value, dict) and isinstance(value.get("configurable"), dict):
            inner.append(value["configurable"])  # whose thread a checkpoint of LangGraph is
        else:
            yield key, value
    for held in inner:
        yield from held.items()


def _identifier(known: Mapping[str, Any], called: Iterable[str]) -> str:
    for name in called:
        given = known.get(name)
        if isinstance(given, int | float) and not isinstance(given, bool):
            return as_text(int(given) if isinstance(given, float) and given.is_integer() else given)
        if isinstance(given, str) and given.strip() and len(given) <= _LONGEST_ID:
            return given.strip()
    return ""


def _trial(known: Mapping[str, Any]) -> int | None:
    for name in names.TRIAL:
        given = number_in(known.get(name))
        if given is not None and given.is_integer() and 0 <= given < 1_000_000:
            return int(given)
    return None


def _verdict(
    fields: Sequence[tuple[str, Any]], known: Mapping[str, Any], scores: Mapping[str, str], notes: Notes
) -> tuple[str, bool | None]:
    """The verdict and its name.

    What says success by its name comes before the reward, the reward before the word for an outcome, and the verdict
    of somebody (``judge_verdict``) before the status, which may be that of the run.
    """
    successes = [(name, known[name]) for name in names.SUCCESS if said_success(known.get(name)) is not None]
    rewards = [(name, text) for name, text in scores.items() if plain_key(name) == "reward" and text in _BINARY]
    words = [(name, known[name]) for name in names.VERDICTS if isinstance(known.get(name), str | bool)]
    words = [(name, value) for name, value in words if truth(value) is not None][:1]
    judged = _judges_verdict(fields)
    if judged and (
        words[0][0] == "status"
        if words
        else not successes and (names.JUDGED.fullmatch(plain_key(judged[0])) or _is_of_judge(judged[0]))
    ):
        beside = "'status' is not read as a verdict beside" if words else "whether it passed is read from"
        notes.add(f"{beside} '{judged[0]}'")
        words = [judged]
    if not successes and not words:
        return "", None  # whether a reward is a verdict, all conversations say together
    facts = [(name, _BINARY.get(str(value), said_success(value))) for name, value in (*successes, *rewards, *words)]
    first, success = facts[0]
    for name, other in facts[1:]:
        if other is not success:
            notes.add(f"'{first}' and '{name}' contradict each other: '{first}' counts")
    return first, success


def _unclear(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """What is said instead of a verdict, by the names that one has: a word that is neither yes nor no, or nothing."""
    words = [(key, value) for key, value in fields if plain_key(key) in (*names.VERDICTS, *names.SUCCESS)]
    texts = {key: as_text(value).strip() for key, value in words if not isinstance(value, dict | list)}
    return {f"{UNCLEAR}[{key}]": text[:LONGEST_LABEL] for key, text in texts.items() if text}


def _judges_verdict(fields: Iterable[tuple[str, Any]]) -> tuple[str, Any] | None:
    """The only yes or no under a name that ends in verdict or, without one, in the object of a judge."""
    judged = [(key, value) for key, value in fields if truth(value) is not None]
    verdicts = [(key, value) for key, value in judged if plain_key(key).endswith("verdict")]
    verdicts = verdicts or [(key, value) for key, value in judged if _is_of_judge(key)]
    return verdicts[0] if len(verdicts) == 1 else None


def _is_of_judge(key: str) -> bool:
    owner, _, name = key.rpartition(".")
    return plain_key(owner) in names.JUDGES and plain_key(name) in names.OF_JUDGES


def _beside(
    source: str, record: Mapping[str, Any], unread: Iterable[str], judgements: Mapping[str, Any]
) -> dict[str, str]:
    """What is yes or no beside a verdict, and not read: judgements, and unread members, also one level down."""
    members = {key: value for key, value in judgements.items() if "." in key}
    for key in unread:
        value = record[key]
        members |= (
            {f"{key}.{name}": member for name, member in value.items()} if isinstance(value, dict) else {key: value}
        )
    texts = {key: _yes_or_no(value) for key, value in members.items()}
    return {f"{BESIDE}[{source}][{key[:60]}]": text for key, text in texts.items() if text}


def _yes_or_no(value: Any) -> str:
    """true or false, or the number 0 or 1, which may mean something else; empty for all others."""
    if isinstance(value, int | str) and not isinstance(value, bool) and str(value) in ("0", "1"):
        return str(value)
    return {True: "true", False: "false", None: ""}[truth(value) if isinstance(value, bool | str) else None]


def _success_amount(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The verdict where it is the number 0 or 1: other conversations say whether it is one, or part of an amount."""
    known: dict[str, tuple[str, Any]] = {}
    for key, value in fields:
        known.setdefault(plain_key(key), (key, value))
    given = next(
        (known[name] for name in names.SUCCESS if name in known and said_success(known[name][1]) is not None), None
    )
    if given is None or isinstance(given[1], bool) or (number := score_in(given[1])) is None:
        return {}
    return {f"{NUMBERED}[{given[0]}]": number_text(number)}


def _reason(known: Mapping[str, Any]) -> str:
    for name in names.REASON:
        given = known.get(name)
        if isinstance(given, str) and given and len(given) <= LONGEST_LABEL:
            key = plain_key(given)
            return "" if key in _PLAIN_ENDS else _ENDS.get(key, given)
    return ""


def _error(known: Mapping[str, Any]) -> str:
    for name in names.ERROR:
        given = known.get(name)
        if isinstance(given, dict):
            given = given.get("message") or as_text(given)
        if isinstance(given, str) and given.strip():
            return given.strip()
    return ""


def _details(known: Mapping[str, Any]) -> dict[str, str]:
    details: dict[str, str] = {}
    for detail, called in names.AMOUNTS.items():
        numbers = (amount_in(known.get(name)) for name in called)
        if (amount := next((number for number in numbers if number is not None), None)) is not None:
            details[detail] = number_text(amount)
    if "tokens" not in details and (tokens := token_sum(known)):
        details["tokens"] = number_text(tokens)
    for detail, called in names.TEXTS.items():
        given = next((known[name] for name in called if isinstance(known.get(name), str | int)), None)
        if given not in (None, "") and not isinstance(given, bool):
            details[detail] = str(given)
    provider, prompt = known.get("provider"), number_in(known.get("promptidx"))
    if prompt is not None and isinstance(provider, dict):  # of promptfoo, to which another prompt is another agent
        details.setdefault("agent", f"{provider.get('id')}{f', prompt {prompt:g}' if prompt else ''}")
    return details


def _expected_calls(known: Mapping[str, Any]) -> dict[str, str]:
    """The expected calls, where every one has a name; what is merely called expected may be an answer, or none."""
    for name in names.EXPECTED:
        given = known.get(name)
        if not isinstance(given, list) or (not given and name == "expected"):
            continue
        calls = [_expected_call(call) for call in given]
        if None not in calls:
            return {"expected_actions": as_text(calls)}
    return {}


def _expected_call(given: Any) -> dict[str, Any] | None:
    """Name and arguments of a call, plain or in ``function``; arguments may be JSON in a text."""
    call = given.get("function", given) if isinstance(given, dict) else None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None
    arguments = call.get("arguments") or call.get("kwargs") or {}
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments)
        except msgspec.DecodeError:
            return None
    return {"name": call["name"], "arguments": arguments} if isinstance(arguments, dict) else None


def _instruction(known: Mapping[str, Any]) -> Iterator[str]:
    for name in names.INSTRUCTION:
        given = known.get(name)
        if name in ("task", "scenario") and isinstance(given, str) and len(given) <= _LONGEST_ID:
            continue  # an id
        if isinstance(given, str) and given.strip():
            yield given
            return
        if isinstance(given, list) and given and all(isinstance(line, str) for line in given):
            yield from given
            return


def _knowledge(known: Mapping[str, Any]) -> Iterator[str]:
    """What the record says that the user knows: values by name, a list of values, or a text."""
    given = next((known[name] for name in names.KNOWLEDGE if known.get(name)), None)
    if isinstance(given, dict):
        yield from (f"{KNOWS}{name}: {as_text(value)}" for name, value in given.items())
    elif isinstance(given, list):
        yield from (f"{KNOWS}value: {as_text(value)}" for value in given)
    elif isinstance(given, str):
        yield f"{KNOWS}{given}"


def _domains(known: Mapping[str, Any]) -> tuple[str, ...]:
    for name in names.DOMAIN:
        given = known.get(name)
        listed = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        if listed and all(isinstance(domain, str) and 0 < len(domain) <= LONGEST_LABEL for domain in listed):
            return tuple(listed)
    return ()


def _all_scores(record: Mapping[str, Any], fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    scores: dict[str, str] = {}
    for key, value in fields:
        if names.is_score(key) and not isinstance(value, list) and plain_key(key) not in names.SCORES | names.NESTED:
            scores.update(score_texts(key, value))
    for key, value in record.items():
        if plain_key(key) in names.SCORES:
            scores.update(named_scores(value))
    for key, value in fields:
        done = plain_key(key) in names.DONE and said_success(value) is not None
        if done or _is_undecided(plain_key(key), value):  # such as a share of success, or "unsure"
            scores.update(score_texts(key, said_success(value) if done else value))
    return {name: text for name, text in scores.items() if plain_key(name) not in names.NOT_SCORES}


def _is_undecided(name: str, value: Any) -> bool:
    """Should it be a verdict, and is neither yes nor no?"""
    if name in names.SUCCESS:
        return said_success(value) is None
    return name == "verdict" and (not isinstance(value, str | bool) or truth(value) is None)
