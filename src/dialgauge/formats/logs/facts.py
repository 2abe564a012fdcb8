"""What a log says of a conversation beside its messages: task, trial, verdict, scores, cost, tokens, model.

Every fact is looked for under its usual names, whatever their case and punctuation (``task_id``, ``taskId``), in the
record and one level below it (``metadata``, ``info``, ...). What is not there stays unknown. Whether a score is a
verdict is not decided here but over all conversations of a log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Goal, write_details
from dialgauge.formats.logs import fact_names as names
from dialgauge.formats.logs.fact_names import plain_key
from dialgauge.formats.logs.fact_values import (
    LONGEST_LABEL,
    amount_in,
    is_unjudged,
    number_in,
    number_text,
    score_texts,
    token_sum,
    truth,
)
from dialgauge.formats.logs.record_fields import (
    LONGEST_ID,
    fields_of,
    further_tasks,
    identifier_in,
    members_inside,
    opened,
    plan_in,
    trial_in,
)
from dialgauge.formats.logs.record_verdicts import (
    all_scores,
    beside_verdict,
    deep_verdict,
    failure_in,
    score_maxima,
    success_amount,
    unclear_verdicts,
    verdict_in,
)
from dialgauge.formats.notes import Notes
from dialgauge.formats.tau_messages import as_text

#: The detail that names an earlier conversation of the same task whose messages are the beginning of this one's.
CONTINUES = "continues"
#: The detail that names the group of a conversation that names no task.
GROUP = "group"
#: The detail that names a member that is not read, and may hold the calls of tools.
UNREAD_CALLS = "unread_calls"
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
#: Names of a model, and what else tells agents apart in an object that says what ran.
_MODEL = tuple(name for name in names.TEXTS["agent"] if name != "agent")
_OF_AGENTS = frozenset({"name", "id", "prompt"})
#: Scores that may be a verdict.
_BINARY = frozenset({"0", "1", "true", "false"})
#: How many members that nobody reads are compared over conversations, and how long these may be.
_MOST_KEPT, _LONGEST_KEPT = 12, 30
#: Longer ones are not one thing that a user could be asked for.
_LONGEST_KNOWN = 200


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
    goal: Goal | None = None
    domains: tuple[str, ...] = ()


def facts_of(record: Mapping[str, Any], notes: Notes, used: Collection[str] = ()) -> Facts:
    """The facts of a record; keys in ``used`` hold the messages. What is not understood is counted in the notes."""
    record = opened(record)
    fields = list(fields_of(record, used))
    known: dict[str, Any] = {}
    for key, value in fields:
        known.setdefault(plain_key(key), value)
    scores, amount = all_scores(record, fields), success_amount(fields)
    source, success = verdict_in(fields, known, scores, notes)
    deep = deep_verdict(record, used) if success is None and not _BINARY & set(scores.values()) else None
    if deep is not None:
        source, success = deep
        notes.add(f"whether it passed is read from '{source}'")
    if success is None and (failure := failure_in(known)) is not None:
        source, success = failure
    if success is None and _is_terminal_bench(known):
        how = known["failuremode"][:LONGEST_LABEL]
        notes.add(f"'is_resolved' null with failure_mode '{how}' counts as failed, as in Terminal-Bench's own accuracy")
        source, success = "isresolved", False
    stated = {source: "no" if source in names.FAILED else "success"} if source in names.OF_RUNS else {}
    judges = {key for key, _ in fields if source and plain_key(key) == plain_key(source)}
    if deep is not None:
        judges = {source, source.rpartition(".")[0]}
    notes.judged_by |= judges | {key.partition(".")[0] for key in judges}
    notes.add("costs in cents, of which 100 are a dollar", any(name in known for name in names.CENTS))
    task = identifier_in(known, names.TASK)
    identifier = identifier_in(known, names.ID)
    groups = () if task else names.GROUP if identifier else (*names.GROUP, *names.COUNTS)
    group = {GROUP: name} if (name := identifier_in(known, groups)) else {}
    facts = Facts(
        id=identifier,
        task=task,
        trial=trial_in(known),
        success=success,
        reason=_reason(known),
        error=_error(known),
        scores=scores,
        details={
            **({"agent": model} if (model := _nested_model(record)) else {}),
            **_details(known),
            **write_details("numbered", amount),
            **write_details("maximum", score_maxima(fields)),
            **write_details("stated", stated),
            **write_details("unclear", unclear_verdicts(fields) if success is None else {}),
            **group,
            **_expected_calls(known),
            **write_details("variant", _variants(record, used)),
            **plan_in(record),
            **further_tasks(fields, task),
        },
        goal=_goal(known),
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
        elif isinstance(value, dict) and plain_key(key) in names.JUDGES - names.SCORES and key not in used:
            for name, inner in value.items():
                if isinstance(inner, int | float) and not names.is_of_judge(key, name):
                    notes.add_unread(f"{key[:60]}.{name[:60]}")
    if calls := [key[:60] for key in unread if record[key] and names.may_be_calls(key)]:
        facts.details[UNREAD_CALLS] = calls[0]
    if success is not None or "status" in known:  # one that is no word for success says nothing of what judges
        judgements = {key: value for key, value in fields if plain_key(key.partition(".")[0]) in names.EVALUATIONS}
        unjudging = (key for key in unread if key not in notes.judged_by)
        beside = beside_verdict(record, unjudging, judgements)
        if source in names.SUCCESS:
            rewarded = ((name, text) for name, text in scores.items() if plain_key(name) in names.REWARDS)
            beside |= {name: text for name, text in rewarded if text in _BINARY}
        facts.details |= write_details("beside", beside, of=source)
    if not task:
        facts.details |= write_details("label", _labels(record, used))
    passed_over = [key for key in record if plain_key(key) in names.PASSED_OVER and key not in used]
    if unread or passed_over:
        for path, text in _short_texts({key: record[key] for key in (*unread, *passed_over)}):
            notes.unread_values.add(task, path, text)
    return facts


def _is_terminal_bench(known: Mapping[str, Any]) -> bool:
    """Is it a trial of Terminal-Bench that came to no result, of those that its accuracy counts as not resolved?"""
    return "isresolved" in known and known["isresolved"] is None and isinstance(known.get("failuremode"), str)


def _short_texts(members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Short texts, numbers and yes or no of members, by the paths to them."""
    texts = ((path, as_text(value)) for path, value in members_inside(members) if isinstance(value, str | int | float))
    return islice(((path, text) for path, text in texts if 0 < len(text) <= _LONGEST_KEPT), _MOST_KEPT)


def _variants(record: Mapping[str, Any], used: Collection[str]) -> dict[str, str]:
    """Short texts and numbers under names that tell agents apart, also in objects that hold facts or say what ran."""
    own = {key: value for key, value in record.items() if key not in used}
    members = {key: value for key, value in own.items() if plain_key(key) in names.VARIANTS}
    for key, value in own.items():
        if isinstance(value, dict) and plain_key(key) in names.NESTED | names.AGENTS:
            told = names.VARIANTS | _OF_AGENTS if plain_key(key) in names.AGENTS else names.VARIANTS
            members |= {f"{key}.{name}": inner for name, inner in value.items() if plain_key(name) in told}
    texts = {key: as_text(value) for key, value in members.items() if isinstance(value, str | int | float)}
    return {key[:60]: text for key, text in texts.items() if 0 < len(text) <= LONGEST_LABEL}


def _labels(record: Mapping[str, Any], used: Collection[str]) -> dict[str, str]:
    """What may name the task."""
    known = {key: value for key, value in record.items() if plain_key(key) in names.LABELS and key not in used}
    held = {key: value for key, value in record.items() if isinstance(value, dict) and key not in used}
    inside = ((path, value) for path, value in members_inside(held) if plain_key(path.rpartition(".")[2]) in names.TASK)
    known |= dict(islice(inside, _MOST_KEPT))
    texts = {key: as_text(value) for key, value in known.items() if isinstance(value, str | int)}
    return {key[:60]: text[:LONGEST_ID] for key, text in texts.items()}


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
    plain = plain_key(key)
    return plain in names.USAGE or (plain not in names.OUTSIDE and _is_read(key, value, facts, read))


def _is_read(key: str, value: Any, facts: Facts, read: frozenset[str]) -> bool:
    """Is a member of a record read, or of no matter?"""
    plain = plain_key(key)
    if plain in names.AMOUNT:
        return amount_in(value) is not None
    if plain in names.EXPECTED:
        return "expected_actions" in facts.details
    if plain in names.VERDICTS and isinstance(value, str):
        return facts.success is not None or truth(value) is not None or key in facts.scores
    if plain in names.INSTRUCTION and plain not in names.TASK and number_in(value) is not None:
        return plain in read
    if plain in names.READ or plain in read:
        return True
    return names.is_scores(key) and bool(score_texts(key, value))


def _read_keys(facts: Facts) -> frozenset[str]:
    """Keys that are read of this record, beside those that always are."""
    groups = names.GROUP if GROUP in facts.details else ()
    owners = (name.partition(".")[0] for name in facts.scores)
    return frozenset((*groups, *map(plain_key, facts.scores), *map(plain_key, owners)))


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
        numbers = (amount_in(known[name]) for name in called if name in known)
        if (amount := next((number for number in numbers if number is not None), None)) is not None:
            details[detail] = number_text(amount)
        elif texts := [
            known[name] for name in called if isinstance(known.get(name), str) and not is_unjudged(known[name])
        ]:
            details |= write_details("unread", {detail: texts[0].strip()[:_LONGEST_KEPT]})
    cents = next((amount for name in names.CENTS if (amount := amount_in(known.get(name))) is not None), None)
    if cents is not None and "cost" not in details:
        details["cost"] = number_text(cents / 100)
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
        if name in ("task", "scenario") and isinstance(given, str) and len(given) <= LONGEST_ID:
            continue  # an id
        if isinstance(given, str) and given.strip() and number_in(given) is None:
            yield given
            return
        if isinstance(given, list) and given and all(isinstance(line, str) for line in given):
            yield from given
            return


def _goal(known: Mapping[str, Any]) -> Goal | None:
    """What the user is told, and what it knows: values by name, a list of values, or a text. Long ones are prose."""
    given: Any = next((known[name] for name in names.KNOWLEDGE if known.get(name)), {})
    if isinstance(given, str):
        given = dict([given.partition(":")[::2]])
    elif isinstance(given, list):
        given = {f"value {number}": value for number, value in enumerate(given, 1)}
    texts = {name: as_text(value).strip() for name, value in given.items()} if isinstance(given, dict) else {}
    short = ((name, text) for name, text in texts.items() if len(name) <= LONGEST_LABEL and "\n" not in name + text)
    knows = {name: text for name, text in short if 0 < len(text) <= _LONGEST_KNOWN}
    prose = (": ".join(filter(None, pair)) for pair in texts.items() if pair[0] not in knows)
    message = (*_instruction(known), *prose)
    return Goal(message=message, knows=knows) if message or knows else None


def _domains(known: Mapping[str, Any]) -> tuple[str, ...]:
    for name in names.DOMAIN:
        given = known.get(name)
        listed = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        if listed and all(isinstance(domain, str) and 0 < len(domain) <= LONGEST_LABEL for domain in listed):
            return tuple(listed)
    return ()
