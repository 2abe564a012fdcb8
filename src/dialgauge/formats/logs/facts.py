"""What a log says of a conversation beside its messages: task, trial, verdict, scores, cost, tokens, model.

Every fact is looked for under its usual names, whatever their case and punctuation (``task_id``, ``taskId``), in the
record and one level below it (``metadata``, ``info``, ...). What is not there stays unknown. Whether a score is a
verdict is not decided here but over all conversations of a log.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue, Goal, Outcome, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes
from dialgauge.formats.logs.messages import LogMessages
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
#: The detail that names the group of a conversation that names no task.
GROUP = "group"
#: How the detail is called that keeps what stands where a verdict should, and is none: ``unclear[outcome]``.
UNCLEAR = "unclear"

_NESTED = frozenset(
    """
    metadata meta info result results outcome evaluation eval extra stats summary task rewardinfo tags
    requestmetadata
    """.split()  # noqa: SIM905
)
_SCORES = frozenset(
    """
    scores metrics rewards evaluation evaluations eval feedback labels annotations ratings grades judgement
    judgment rubric feedbackstats assertions
    """.split()  # noqa: SIM905
)
#: Who has a verdict of their own.
_JUDGES = frozenset({"judge", "grader", "judgement", "judgment"})
#: Where somebody says how it went, beside a success of the record that may be that of a request.
_EVALUATIONS = frozenset({"eval", "evaluation"})
_JUDGED = re.compile(r"(?:llm|model|human|final|overall|task|judge|grader|evaluator|judgement|judgment){1,3}verdict")
_ID = ("conversationid", "dialogueid", "dialogid", "chatid", "sessionid", "threadid", "id", "uuid", "traceid", "convid",
       "senderid", "customid")  # fmt: skip
_TASK = ("taskid", "task", "taskname", "scenarioid", "problemid", "questionid", "exampleid", "caseid", "testid",
         "instanceid", "itemid", "promptid", "sampleid", "scenario", "referenceexampleid", "testidx",
         "testcase", "case", "casename", "testname", "scenarioname")  # fmt: skip
#: What may name a task: all conversations say it together. A mere number does so only where there is no id.
_GROUP, _COUNTS = ("groupid",), ("index", "idx")
_TRIALS = ("trial", "epoch", "repeat", "repetition", "attempt", "rollout", "iteration", "run")
_TRIAL = ("trial", "epoch", "trialid", "trialnumber", *_TRIALS[2:], "sampleindex",
          *(f"{name}{number}" for name in _TRIALS for number in ("index", "idx", "number", "num", "no")))  # fmt: skip
_SUCCESS = ("success", "successful", "succeeded", "tasksuccess", "issuccess", "passed", "pass", "ispassed", "resolved",
            "isresolved", "solved", "correct", "iscorrect", "goalachieved")  # fmt: skip
#: What a judge says, in an object of theirs.
_OF_JUDGES = frozenset({"verdict", *_SUCCESS})
_VERDICTS = ("verdict", "result", "outcome", "evaluation", "eval", "judgement", "judgment", "status")
_AMOUNTS = {
    "cost": ("cost", "totalcost", "costusd", "totalcostusd", "price", "usdcost"),
    "agent_cost": ("agentcost",),
    "user_cost": ("usercost",),
    "duration": ("duration", "durations", "latency", "elapsed", "totaltime", "elapsedseconds", "durationseconds"),
    "tokens": ("totaltokens", "tokens", "numtokens", "tokencount", "ntokens"),
}
_TEXTS = {
    "agent": ("agentmodel", "model", "modelname", "modelid", "llm", "agentllm", "agent"),
    "user": ("usermodel", "userllm", "usersimulator", "simulator"),
    "seed": ("seed",),
}
_TOTALS = frozenset({"total", "totalcost", "totaltokens", "usd"})
_INPUT_TOKENS = ("inputtokens", "prompttokens")
_OUTPUT_TOKENS = ("outputtokens", "completiontokens")
_USAGE = frozenset({"usage", "tokenusage", "modelusage", "usagemetadata"})
_INSTRUCTION = ("instruction", "instructions", "userinstruction", "userinstructions", "goal", "usergoal", "scenario",
                "userscenario", "taskdescription", "taskinstruction", "task")  # fmt: skip
_KNOWS = ("knows", "known", "knowninfo", "userknows", "userknowledge")
_REASON = ("terminationreason", "stopreason", "endreason", "finishreason", "exitreason", "stoppedby")
_DOMAIN = ("domain", "domains", "service", "environment", "env")
_ERROR = ("error", "exception", "errormessage")
#: The calls that a task expects: objects with a name and arguments, as calls are written.
_EXPECTED = ("expectedactions", "expectedcalls", "expectedtoolcalls", "expected")
#: What tells agents apart that are not named as models: trials of one task that differ in it may be of several agents.
_VARIANTS = frozenset(
    """
    agentname assistantid system systemname provider temperature config configname promptversion experiment policy
    checkpoint variant arm group branch runname condition method setting approach
    """.split()  # noqa: SIM905
)
#: What is of no matter to a score: it is dropped without a word.
_PASSED_OVER = frozenset(
    """
    timestamp created createdat updatedat startedat completedat starttime endtime time date object version tools
    functions promptidx provider source index idx temperature topp maxtokens systemfingerprint type name language lang
    toolchoice paralleltoolcalls usage responseformat servicetier store system systemprompt instructionsforagent
    """.split()  # noqa: SIM905
)
_SCORE_NAME = re.compile(r"(?:^|_)(?:score|reward|rating|grade|accuracy|correctness|f1|points)s?(?:_|$)")
_BINARY = {"0": False, "1": True, "false": False, "true": True}
_MONEY = re.compile(r"(?:US)?\$\s?([0-9.]{1,20})|([0-9.]{1,20})\s?(?:USD|\$)", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PUNCTUATION = re.compile(r"[^a-z0-9]")

_YES = frozenset(
    {"true", "yes", "pass", "passed", "success", "successful", "succeeded", "resolved", "solved", "correct"}
    | {"✅", "✓", "✔", "✔\ufe0f"}
)
_NO = frozenset(
    {"false", "no", "fail", "failed", "failure", "unsuccessful", "unresolved", "unsolved", "incorrect", "wrong"}
    | {"❌", "✗", "✘", "✖", "✖\ufe0f"}
    | {f"not {word}" for word in _YES}
)
#: How graders write correct and incorrect, yes and no; a verdict only under a name that says success.
_GRADED = {"c": True, "i": False, "y": True, "n": False}
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
_ENDED_BY = {"user_stop": "user", "agent_stop": "system"}
_STOP_TOKEN = re.compile(r"###\s?STOP\s?###")
#: A label of more letters is an explanation, an id with more a description.
_LONGEST_LABEL, _LONGEST_ID = 60, 100
_MOST = 1e15
_SHORT = 12


#: Objects of these names are read in a record, and not further inside.
_OUTSIDE = frozenset((*_NESTED, *_SCORES, *_USAGE, *_ID, *_TASK, *_TRIAL, *_SUCCESS, *_VERDICTS))


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


def plain_key(key: str) -> str:
    """A key without case and punctuation: ``taskId``, ``task_id`` and ``Task ID`` are one."""
    return _PUNCTUATION.sub("", key.lower())


def says_outcome(keys: Iterable[str]) -> bool:
    """Does one of these keys name a task or how it went, which only a log of an agent has beside what was said?"""
    plain = {plain_key(key): key for key in keys}
    return not plain.keys().isdisjoint((*_TASK, *_SUCCESS, "verdict", "scores")) or any(map(_is_score, plain.values()))


def task_and_trial(row: Mapping[str, Any]) -> list[str]:
    """The task and the trial of a message that names them itself, as they are written; nothing without a task."""
    known = {plain_key(key): value for key, value in row.items()}
    trial = next((as_text(known[name]) for name in _TRIAL if known.get(name) is not None), "")
    return [task, trial] if (task := _identifier(known, _TASK)) else []


def has_trial(row: Any) -> bool:
    """Does a record number its trial?"""
    return isinstance(row, dict) and _trial({plain_key(key): value for key, value in row.items()}) is not None


def of_all(record: Mapping[str, Any], notes: Notes, *, several: bool) -> dict[str, Any]:
    """What a record says of the conversations in it: of several, neither how they went nor what all of them cost."""
    shared: dict[str, Any] = {}
    for key, value in record.items():
        if several and _is_of_one(key) and not (isinstance(value, dict) and plain_key(key) in _NESTED):
            notes.add(f"'{key[:60]}' beside a list of conversations is not taken for each of them")
        elif several and isinstance(value, dict) and plain_key(key) in _NESTED | _SCORES | _USAGE:
            shared[key] = {name: one for name, one in value.items() if not _is_of_one(name)}
        else:
            shared[key] = value
    return shared


def _is_of_one(key: str) -> bool:
    """Does a key say how a conversation went, or what it took?"""
    amounts = (name for names in _AMOUNTS.values() for name in names)
    names = (*_SUCCESS, *_VERDICTS, *_SCORES, *_USAGE, *_ERROR, *_REASON, *_INPUT_TOKENS, *_OUTPUT_TOKENS, *amounts)
    return plain_key(key) in names or _is_score(key)


def says_success(record: Mapping[str, Any]) -> bool:
    """Does a record say by name how a conversation went, in a verdict or a score?"""
    return any(plain_key(key) in _SUCCESS or _is_scores(key) for key, _ in _fields(record, ()))


def says_verdict(record: Mapping[str, Any]) -> bool:
    """Does a record say yes or no under a name that says success, or have a score?"""
    return any(
        _said_success(value) is not None
        if plain_key(key) in _SUCCESS
        else _is_score(key) and _score_in(value) is not None
        for key, value in record.items()
    )


def as_of(owner: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record in which what says how something went is that of its owner, as of a response, and not a verdict."""
    return {f"{owner}.{key}" if _is_of_one(key) else key: value for key, value in record.items()}


def facts_of(record: Mapping[str, Any], notes: Notes, used: Collection[str] = ()) -> Facts:
    """The facts of a record; keys in ``used`` hold the messages. What is not understood is counted in the notes."""
    fields = list(_fields(record, used))
    known: dict[str, Any] = {}
    for key, value in fields:
        known.setdefault(plain_key(key), value)
    scores, amount = _all_scores(record, fields), _success_amount(fields)
    source, success = _verdict(fields, known, scores, notes)
    stated = {f"{STATED}[{source}]": "true"} if source == "status" else {}
    unclear = _unclear(fields) if success is None else {}
    judges = {key for key, _ in fields if source and plain_key(key) == plain_key(source)}
    notes.judged_by |= judges | {key.partition(".")[0] for key in judges}
    task = _identifier(known, _TASK)
    identifier = _identifier(known, _ID)
    groups = () if task else _GROUP if identifier else (*_GROUP, *_COUNTS)
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
    read = _read_keys(facts) | {plain_key(source)}
    unread = []
    for key, value in record.items():
        if key not in used and value not in (None, "", [], {}) and not _is_read(key, value, facts, read):
            notes.add_unread(key[:60])
            unread.append(key)
        elif isinstance(value, dict) and plain_key(key) in _NESTED:
            for name, inner in value.items():
                if isinstance(inner, dict) and inner and not _is_read_inside(name, inner, facts, read):
                    notes.add_unread(f"{key[:60]}.{name[:60]}")
    if success is not None:
        judgements = {key: value for key, value in fields if plain_key(key.partition(".")[0]) in _EVALUATIONS}
        facts.details |= _beside(source, record, (key for key in unread if key not in notes.judged_by), judgements)
    return facts


def _variants(record: Mapping[str, Any], used: Collection[str]) -> dict[str, str]:
    """Short texts and numbers under names that tell agents apart."""
    named = ((key, as_text(value)) for key, value in record.items() if isinstance(value, str | int | float))
    return {
        f"{VARIANT}[{key[:60]}]": text
        for key, text in named
        if plain_key(key) in _VARIANTS and key not in used and 0 < len(text) <= _LONGEST_LABEL
    }


def _is_read_inside(key: str, value: Any, facts: Facts, read: frozenset[str]) -> bool:
    """Is an object read that lies in one that holds facts? Only some are: facts are not looked for in it."""
    return plain_key(key) not in _OUTSIDE and _is_read(key, value, facts, read)


def _is_read(key: str, value: Any, facts: Facts, read: frozenset[str]) -> bool:
    """Is a member of a record read, or of no matter?"""
    plain = plain_key(key)
    if any(plain in names for names in _AMOUNTS.values()):
        return _amount(value) is not None
    if plain in _EXPECTED:
        return "expected_actions" in facts.details
    if plain in _VERDICTS and isinstance(value, str):
        return facts.success is not None or truth(value) is not None or key in facts.scores
    if plain in read:
        return True
    return _is_scores(key) and bool(score_texts(key, value))


def _read_keys(facts: Facts) -> frozenset[str]:
    """Keys that are either read or of no matter."""
    amounts = (name for names in (*_AMOUNTS.values(), *_TEXTS.values()) for name in names)
    others = (*_ID, *_TASK, *_TRIAL, *_SUCCESS, *_VERDICTS, *_INSTRUCTION, *_KNOWS, *_REASON, *_DOMAIN, *_ERROR)
    groups = _GROUP if GROUP in facts.details else ()
    scores = (plain_key(name) for name in facts.scores)
    tokens = (*_INPUT_TOKENS, *_OUTPUT_TOKENS)
    return frozenset((*amounts, *others, *groups, *scores, *tokens, *_NESTED, *_SCORES, *_USAGE, *_PASSED_OVER))


def _fields(record: Mapping[str, Any], used: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The members of a record, then those of the objects in it that hold facts."""
    own = any(plain_key(key) in _SUCCESS and _said_success(value) is not None for key, value in record.items())
    inner = []
    for key, value in record.items():
        if key in used:
            continue
        if isinstance(value, dict) and own and plain_key(key) in _EVALUATIONS:
            inner.append({f"{key}.{name}" if plain_key(name) in _SUCCESS else name: one for name, one in value.items()})
        elif isinstance(value, dict) and plain_key(key) in _NESTED | _USAGE:
            inner.append(value)
        elif isinstance(value, dict) and plain_key(key) in _JUDGES:
            inner.append({f"{key}.{name}": one for name, one in value.items() if plain_key(name) in _OF_JUDGES})
        elif key == "config" and isinstance(value, dict) and isinstance(value.get("configurable"), dict):
            inner.append(value["configurable"])  # whose thread a checkpoint of LangGraph is
        else:
            yield key, value
    for held in inner:
        yield from held.items()


def _identifier(known: Mapping[str, Any], names: Iterable[str]) -> str:
    for name in names:
        given = known.get(name)
        if isinstance(given, int | float) and not isinstance(given, bool):
            return as_text(int(given) if isinstance(given, float) and given.is_integer() else given)
        if isinstance(given, str) and given.strip() and len(given) <= _LONGEST_ID:
            return given.strip()
    return ""


def _trial(known: Mapping[str, Any]) -> int | None:
    for name in _TRIAL:
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
    told = [(name, known[name]) for name in _SUCCESS if _said_success(known.get(name)) is not None]
    rewards = [(name, text) for name, text in scores.items() if plain_key(name) == "reward" and text in _BINARY]
    words = [(name, known[name]) for name in _VERDICTS if isinstance(known.get(name), str | bool)]
    words = [(name, value) for name, value in words if truth(value) is not None][:1]
    judged = _judges_verdict(fields)
    if judged and (
        words[0][0] == "status"
        if words
        else not told and (_JUDGED.fullmatch(plain_key(judged[0])) or _is_of_judge(judged[0]))
    ):
        beside = "'status' is not read as a verdict beside" if words else "whether it passed is read from"
        notes.add(f"{beside} '{judged[0]}'")
        words = [judged]
    if not told and not words:
        return "", None  # whether a reward is a verdict, all conversations say together
    facts = [(name, _BINARY.get(str(value), _said_success(value))) for name, value in (*told, *rewards, *words)]
    first, success = facts[0]
    for name, other in facts[1:]:
        if other is not success:
            notes.add(f"'{first}' and '{name}' contradict each other: '{first}' counts")
    return first, success


def _unclear(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """What is said instead of a verdict, by the names that one has: a word that is neither yes nor no, or nothing."""
    words = [(key, value) for key, value in fields if plain_key(key) in (*_VERDICTS, *_SUCCESS)]
    said = {key: as_text(value).strip() for key, value in words if not isinstance(value, dict | list)}
    return {f"{UNCLEAR}[{key}]": text[:_LONGEST_LABEL] for key, text in said.items() if text}


def _judges_verdict(fields: Iterable[tuple[str, Any]]) -> tuple[str, Any] | None:
    """The only yes or no under a name that ends in verdict or, without one, in the object of a judge."""
    said = [(key, value) for key, value in fields if truth(value) is not None]
    verdicts = [(key, value) for key, value in said if plain_key(key).endswith("verdict")]
    verdicts = verdicts or [(key, value) for key, value in said if _is_of_judge(key)]
    return verdicts[0] if len(verdicts) == 1 else None


def _is_of_judge(key: str) -> bool:
    owner, _, name = key.rpartition(".")
    return plain_key(owner) in _JUDGES and plain_key(name) in _OF_JUDGES


def _beside(
    source: str, record: Mapping[str, Any], unread: Iterable[str], judgements: Mapping[str, Any]
) -> dict[str, str]:
    """What is yes or no beside a verdict, and not read: judgements, and unread members, also one level down."""
    said = {key: value for key, value in judgements.items() if "." in key}
    for key in unread:
        value = record[key]
        said |= {f"{key}.{name}": one for name, one in value.items()} if isinstance(value, dict) else {key: value}
    texts = {key: _yes_or_no(value) for key, value in said.items()}
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
        (known[name] for name in _SUCCESS if name in known and _said_success(known[name][1]) is not None), None
    )
    if given is None or isinstance(given[1], bool) or (number := _score_in(given[1])) is None:
        return {}
    return {f"{NUMBERED}[{given[0]}]": number_text(number)}


def _said_success(value: Any) -> bool | None:
    """Yes or no under a name that says success, where a number may be written as a text, and C stands for correct."""
    if not isinstance(value, str):
        return truth(value)
    number = _score_in(value)
    return _GRADED.get(value.strip().lower(), truth(value)) if number is None else truth(number)


def truth(value: Any) -> bool | None:
    """Yes or no as people write it; None where it is neither."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    word = value.strip().lower().replace("_", " ") if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def number_in(value: Any) -> float | None:
    """A finite number, also where it is written as a text."""
    if isinstance(value, bool):
        return float(value)
    try:
        given = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return given if math.isfinite(given) and abs(given) < _MOST else None


def _score_in(value: Any) -> float | None:
    """A number, also as a share of a hundred: ``85%`` is 0.85."""
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return number_in(f"{value.rstrip()[:-1].rstrip()}e-2")
    return number_in(value)


def _amount(value: Any) -> float | None:
    """A number of 0 or more, also one with the sign of the dollar, or the total of an object."""
    if isinstance(value, dict):
        value = next((one for key, one in value.items() if plain_key(key) in _TOTALS), None)
    money = _MONEY.fullmatch(value.strip()) if isinstance(value, str) else None
    number = number_in(money[1] or money[2] if money else value)
    return number if number is not None and number >= 0 else None


def _reason(known: Mapping[str, Any]) -> str:
    for name in _REASON:
        given = known.get(name)
        if isinstance(given, str) and given and len(given) <= _LONGEST_LABEL:
            key = plain_key(given)
            return "" if key in _PLAIN_ENDS else _ENDS.get(key, given)
    return ""


def _error(known: Mapping[str, Any]) -> str:
    for name in _ERROR:
        given = known.get(name)
        if isinstance(given, dict):
            given = given.get("message") or as_text(given)
        if isinstance(given, str) and given.strip():
            return given.strip()
    return ""


def _details(known: Mapping[str, Any]) -> dict[str, str]:
    details: dict[str, str] = {}
    for detail, names in _AMOUNTS.items():
        numbers = (_amount(known.get(name)) for name in names)
        if (amount := next((one for one in numbers if one is not None), None)) is not None:
            details[detail] = number_text(amount)
    if "tokens" not in details and (tokens := _token_sum(known)):
        details["tokens"] = number_text(tokens)
    for detail, names in _TEXTS.items():
        given = next((known[name] for name in names if isinstance(known.get(name), str | int)), None)
        if given not in (None, "") and not isinstance(given, bool):
            details[detail] = str(given)
    provider, prompt = known.get("provider"), number_in(known.get("promptidx"))
    if prompt is not None and isinstance(provider, dict):  # of promptfoo, to which another prompt is another agent
        details.setdefault("agent", f"{provider.get('id')}{f', prompt {prompt:g}' if prompt else ''}")
    return details


def _expected_calls(known: Mapping[str, Any]) -> dict[str, str]:
    """The expected calls, where every one has a name; what is merely called expected may be an answer, or none."""
    for name in _EXPECTED:
        given = known.get(name)
        if not isinstance(given, list) or (not given and name == "expected"):
            continue
        calls = [_expected_call(one) for one in given]
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


def _token_sum(known: Mapping[str, Any]) -> float:
    sides = (
        next((n for name in names if (n := number_in(known.get(name)))), 0.0)
        for names in (_INPUT_TOKENS, _OUTPUT_TOKENS)
    )
    return sum(sides)


def message_tokens(messages: Iterable[Any]) -> str:
    """The tokens that messages say of themselves, together; empty where none does."""
    used: list[tuple[Any, dict[str, Any]]] = []
    for message in messages:
        for key, held in message.items() if isinstance(message, dict) else ():
            if isinstance(held, dict) and plain_key(key) in _USAGE:
                spent = (message.get("id"), held)
                if spent[0] is None or spent not in used[-1:]:  # a message in pieces, as Claude Code writes it
                    used.append(spent)
    counts = [{plain_key(key): value for key, value in held.items()} for _, held in used]
    total = sum(number_in(held.get("totaltokens")) or _token_sum(held) for held in counts)
    return number_text(total) if total else ""


def number_text(value: float) -> str:
    """A number as a text that reads back to it, whole ones without a point."""
    return str(int(value)) if value.is_integer() else repr(value)


def _instruction(known: Mapping[str, Any]) -> Iterator[str]:
    for name in _INSTRUCTION:
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
    given = next((known[name] for name in _KNOWS if known.get(name)), None)
    if isinstance(given, dict):
        yield from (f"{KNOWS}{name}: {as_text(value)}" for name, value in given.items())
    elif isinstance(given, list):
        yield from (f"{KNOWS}value: {as_text(value)}" for value in given)
    elif isinstance(given, str):
        yield f"{KNOWS}{given}"


def _domains(known: Mapping[str, Any]) -> tuple[str, ...]:
    for name in _DOMAIN:
        given = known.get(name)
        listed = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        if listed and all(isinstance(one, str) and 0 < len(one) <= _LONGEST_LABEL for one in listed):
            return tuple(listed)
    return ()


def _is_scores(key: str) -> bool:
    return plain_key(key) in _SCORES or _is_score(key)


def _is_score(key: str) -> bool:
    return _SCORE_NAME.search(_snake(key)) is not None


def _snake(key: str) -> str:
    return _CAMEL.sub("_", key).lower().replace("-", "_").replace(" ", "_")


def _all_scores(record: Mapping[str, Any], fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in fields:
        if _is_score(key) and not isinstance(value, list) and plain_key(key) not in _SCORES | _NESTED:
            found.update(score_texts(key, value))
    for key, value in record.items():
        if plain_key(key) in _SCORES:
            found.update(named_scores(value))
    for key, value in fields:
        if _is_undecided(plain_key(key), value):  # such as a share of success, or "unsure"
            found.update(score_texts(key, value))
    return {name: text for name, text in found.items() if plain_key(name) not in _not_scores()}


def _is_undecided(name: str, value: Any) -> bool:
    """Should it be a verdict, and is neither yes nor no?"""
    if name in _SUCCESS:
        return _said_success(value) is None
    return name == "verdict" and (not isinstance(value, str | bool) or truth(value) is None)


def _not_scores() -> frozenset[str]:
    """Names that stand among metrics and are no scores."""
    amounts = (name for names in _AMOUNTS.values() for name in names)
    return frozenset((*amounts, *_INPUT_TOKENS, *_OUTPUT_TOKENS, *_ID, *_TRIAL))


def named_scores(given: Any) -> dict[str, str]:
    """Scores by name, or in a list of objects that name them."""
    if isinstance(given, dict):
        return {name: text for key, value in given.items() for name, text in score_texts(key, value).items()}
    found: dict[str, str] = {}
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict):
            name = next(
                (one[key] for key in ("name", "key", "scorer", "metric", "label") if isinstance(one.get(key), str)), ""
            )
            if name:
                found.update(score_texts(name, one))
    return found


def score_texts(name: str, value: Any) -> dict[str, str]:
    """One score, or those that an object has: a number or a label as a text."""
    if isinstance(value, dict):
        for key in ("value", "score", "stringValue", "string_value", "rating", "passed", "label", "avg"):
            if value.get(key) is not None and not isinstance(value[key], list):
                if isinstance(value[key], dict):
                    return {
                        f"{name}.{inner}": text
                        for inner, one in value[key].items()
                        for text in score_texts("", one).values()
                    }
                return score_texts(name, value[key])
        return {}
    if isinstance(value, bool):
        return {name: "true" if value else "false"}
    if (number := _score_in(value)) is not None:
        return {name: number_text(number)}
    if isinstance(value, str) and 0 < len(value.strip()) <= _LONGEST_LABEL and "\n" not in value:
        return {name: value.strip()}
    return {}


class Numbering:
    """Tasks and trials of a log as it is read: a task that comes again without a trial is its next trial."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, str], int] = {}
        self._domains: dict[str, str] = {}
        self._places: dict[str, tuple[str, str]] = {}

    def take(self, facts: Facts, fallback: str, place: str) -> tuple[str, str, int]:
        """The id of a conversation, its task and its trial. ``fallback`` names one that has no name of its own."""
        task = facts.task or facts.id or fallback
        domain = facts.domains[0] if facts.task and len(facts.domains) == 1 else ""
        first = self._domains.setdefault(task, domain)
        if domain and not first:  # those before it named no domain
            first = self._domains[task] = domain
            self._tasks[task, domain] = self._tasks.pop((task, ""))
        before = self._tasks.get((task, domain or first), 0)
        self._tasks[task, domain or first] = before + 1
        trial = before if facts.trial is None else facts.trial
        name = f"{task}#{trial}" if facts.trial is not None or facts.task else task
        model = facts.details.get("agent", "")
        if domain and domain != first:  # another task, under the id of one
            name = f"{domain}/{name}"
        if name in self._places:
            where, other = self._places[name]
            how = "Trials of one task have its id under 'task_id', and numbers under 'trial' or none at all"
            if where != place:
                how += "; their folders are called trial_0, trial_1, ..."
            elif facts.task and facts.trial is not None:
                how = (
                    f"There are two conversations of the task '{task}' with the number {trial} of a trial: number them"
                )
                how += " anew under 'trial', give tasks that differ ids of their own under 'task_id', or keep the"
                how += " conversations of each agent in a file of its own"
            if model != other:
                how = f"Keep conversations of each model ({other or 'none'}, {model or 'none'}) in a file of its own"
            told = f"this id was already used in {where}; ids must be unique. {how}"
            raise DialgaugeError(told, file=place, dialogue=name)
        self._places[name] = (place, model)
        return name, task, trial


def logged_dialogue(
    benchmark: str, said: LogMessages, facts: Facts, named: tuple[str, str, int], shared: Mapping[str, str]
) -> Dialogue:
    """A conversation of a log with everything that is known of it."""
    name, task, trial = named
    turns = said.turns()
    judged = facts.success is not None or bool(facts.scores)
    reason = facts.reason or ("" if judged or not facts.error else "error") or _stop(turns)
    details = {
        "benchmark": benchmark,
        "task": task,
        "trial": str(trial),
        **{f"score[{score}]": text for score, text in facts.scores.items()},
        **facts.details,
        **({"error": facts.error[:1000]} if facts.error else {}),
        **shared,
        **({"policy": checksum(said.prompt)} if said.prompt else {}),
    }
    return Dialogue(
        id=name,
        turns=turns,
        goal=Goal(message=facts.instruction) if facts.instruction else None,
        domains=facts.domains,
        outcome=Outcome(success=facts.success, reason=reason, ended_by=_ENDED_BY.get(reason, ""), details=details),
    )


def _stop(turns: tuple[Turn, ...]) -> str:
    """Whether the user ended it by the token that simulated users have for it."""
    last = next((turn for turn in reversed(turns) if turn.speaker == "user"), None)
    return "user_stop" if last is not None and _STOP_TOKEN.search(last.text) else ""


def checksum(content: str) -> str:
    """A short checksum of a text."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:_SHORT]
