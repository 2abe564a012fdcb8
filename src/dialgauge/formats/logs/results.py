"""Results without messages, where only was kept how each trial of a task went.

Records (``{"task": "t1", "passed": true}``), alone or in a list under whatever name; verdicts by task, each one, a list
or by trial; lists of the tasks that passed and failed; a list of tasks and one of verdicts. All become records of one
trial each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import rows_by_columns
from dialgauge.formats.logs.fact_names import COUNTED_AGENT, MODELS, TASK, TRIAL_WORDS, is_fact, plain_key
from dialgauge.formats.logs.fact_values import is_unjudged, number_in, said_success, score_in, truth
from dialgauge.formats.logs.record_fields import has_trial, names_conversation, plan_in, task_and_trial
from dialgauge.formats.logs.record_messages import SPOKEN, is_other
from dialgauge.formats.logs.record_verdicts import lacks_verdict, says_verdict
from dialgauge.text import some_of

#: Under this name a record says what it is called from outside, where nothing else names its task.
NAME = "id"
#: Under this name they say how it ended.
REASON = "termination_reason"
#: Under this name rows say what was taken for what.
TAKEN = "\0taken"
_PASSED = ("passed", "passes", "successes", "numpassed", "npassed", "successcount", "passcount", "numsuccess")
_ALL = ("trials", "numtrials", "ntrials", "totaltrials", "attempts", "runs", "nruns", "totalruns")
_RATES = ("successrate", "passrate", "rate")
#: How far off a number of trials may be that a rate in hundredths says.
_ROUNDED = 0.05
#: What may count trials, or anything else.
_ANY = "total"
_MOST_TRIALS = 1000
#: A mere number, as the name of a trial.
_NUMBER = re.compile("([0-9]{1,3})")
#: How a member is called that holds one trial of all tasks, or a trial of one.
_TRIAL_KEY = re.compile(rf"(?:{TRIAL_WORDS}|round|try)[-_ #=]{{0,2}}([0-9]{{1,6}})", re.IGNORECASE)
#: How agents are called: families of models, which a maker's name may stand before, or agents that are counted.
_AGENT_KEY = re.compile(
    rf"(?:[\w.-]{{1,40}}[/:]){{0,3}}(?:o[134](?:-mini|-preview)?\Z|{MODELS})(?![a-z])[\w.:@-]{{0,60}}"
    rf"|{COUNTED_AGENT}",
    re.IGNORECASE,
)
#: What reports call the list of their results.
_LISTS = frozenset({"results", "trials", "runs", "attempts", "episodes", "instances"})
#: What a list of ids may be called beside the verdict on them: ``resolved_ids``, ``passed tasks``.
_OF_IDS = re.compile(r"(?:instance|task)?_?(?:ids|tasks|instances|cases)?\Z", re.IGNORECASE)
#: What suites and tests of mochawesome have.
_SUITE, _TEST = frozenset({"uuid", "title"}), frozenset({"fullTitle", "state", "pass"})
#: What lists of verdicts, or their entries, are of that are no trials.
_NO_TRIALS = re.compile(
    r"grader|judge|check|step|criteri|rubric|assert|metric|evaluator|scorer|subgoal|subtask|milestone|rater|annotator"
    r"|reviewer|action|turn|stage|test_?case|unit_?test|\Atests?\Z",
    re.IGNORECASE,
)
#: How a row is called that sums up the others.
_TOTAL = re.compile(r"(?:grand )?total|mean|average|avg|sum|overall|all|pass rate", re.IGNORECASE)
#: What a line says that sums up the others.
_SUMS_UP = re.compile(r"summar|total|rate|accuracy|final|report|overall|aggregate|mean|average|avg|metrics|count", re.I)
#: Lists of tasks that say neither: what their harness broke at, what came to nothing, what was not run, and all.
_BROKEN = frozenset({"error", "errors", "errored", "crashed"})
_NOTHING = frozenset({"empty_patch"})
#: Where SWE-bench keeps those whose tests broke: it has no rate but that of the resolved among all.
_ERROR_IDS = "error_ids"
_NOT_RUN, _ALL_IDS = frozenset({"incomplete"}), frozenset({"submitted"})
#: Members that hold results and summaries of them.
_DEEPEST = 4
#: Members of a value that say whether it is results; a file may be cut off after them.
_LOOKED_AT = 20
#: How a conversation ended, in place of a verdict.
_ENDS = frozenset(
    {
        *("error", "err", "errored", "timeout", "timed out", "skip", "skipped", "crash", "crashed", "aborted"),
        *("cancelled", "unknown", "n/a", "incomplete", "pending", "inconclusive", "partial", "killed", "infra_error"),
        *("blocked", "⚠️"),
    }
)
#: A word in a cell.
_SHORT_WORD = re.compile(r"[A-Za-z][A-Za-z_ -]{1,30}|⚠\ufe0f?")


def results_in(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """A record for each trial whose verdict a value holds; none where it is something else."""
    if isinstance(value, list):
        if len(value) > 1 and depth <= _DEEPEST and all(isinstance(entry, list) and entry for entry in value):
            return _by_place(value, depth)
        listed = [_listed(entry, depth) or _trials(entry) or _of_suite(entry, depth) for entry in value]
        if any(listed):
            listed = [rows or _unjudged(entry) for rows, entry in zip(listed, value, strict=True)]
        return [row for rows in listed for row in rows] if all(listed) else []
    if not isinstance(value, dict) or not value or depth > _DEEPEST:
        return []
    if (rows := rows_by_columns(value)) and all(map(is_result, rows)):
        return rows
    return (
        _of_jest(value)
        or _listed(value, depth)
        or _trials(value, alone=False)
        or _by_verdict(value)
        or _by_lists(value)
        or _by_trial(value, depth)
        or _by_name(value)
        or _held(value, depth)
    )


def _by_place(runs: Sequence[Any], depth: int) -> list[dict[str, Any]]:
    """What became of all tasks in each run of a list, whose entries may number the trial themselves."""
    trials = [results_in(held, depth + 1) for held in runs]
    if not all(trials) or not all(task_and_trial(row) for rows in trials for row in rows):
        return []
    taken = {TAKEN: "the place of a list taken for the number of a trial"}
    return [
        row if has_trial(row) else {**taken, **row, "trial": number}
        for number, rows in enumerate(trials)
        for row in rows
    ]


def are_results(value: Any) -> bool:
    """Do the first entries of a value, of which more may follow, hold results?"""
    try:
        return bool(results_in(_beginning(value)))
    except DialgaugeError:  # said when it is read
        return True


def _beginning(value: Any, depth: int = 0) -> Any:
    if isinstance(value, list):
        return [_beginning(entry, depth + 1) for entry in value[:_LOOKED_AT]] if depth <= _DEEPEST else value
    if isinstance(value, dict) and depth <= _DEEPEST:
        return {key: _beginning(value[key], depth + 1) for key in list(value)[:_LOOKED_AT]}
    return value


def is_result(value: Any) -> bool:
    """Does a record name a task and whether it was done?"""
    if not isinstance(value, dict) or is_other(value) or not names_conversation(value):
        return False
    return says_verdict(value) and not _listed(value)


def is_flat_result(value: Any) -> bool:
    """Is it a row of nothing but facts, which name a task and whether it was done?"""
    if not isinstance(value, dict) or any(isinstance(member, list | dict) for member in value.values()):
        return False
    return not SPOKEN & {key.lower() for key in value} and bool(task_and_trial(value)) and says_verdict(value)


def _listed(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """The results that a report lists beside what sums them up, each with its task; the report names none."""
    if not isinstance(value, dict):
        return []
    lists = [held for key, held in value.items() if plain_key(key) in _LISTS and isinstance(held, list) and held]
    if len(lists) != 1 or any(task_and_trial(value)) or depth > _DEEPEST:
        return []
    named = all(isinstance(entry, dict) and any(task_and_trial(entry)) for entry in lists[0])
    return [{**plan_in(value, whole=True), **row} for row in results_in(lists[0], depth + 1)] if named else []


def _of_suite(value: Any, depth: int) -> list[dict[str, Any]]:
    """The tests of a suite of mochawesome, which has others in it."""
    return results_in(value, depth + 1) if isinstance(value, dict) and value.keys() >= _SUITE else []


def _of_jest(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tests of a report of Jest, which files them by the files that they are in; one left out has no verdict."""
    files = held if isinstance(held := value.get("testResults"), list) else []
    tests = [
        test
        for file in files
        for test in (file.get("assertionResults") or () if isinstance(file, dict) else ())
        if isinstance(test, dict) and isinstance(test.get("fullName") or test.get("title"), str)
    ]
    called = [test.get("fullName") or test["title"] for test in tests]
    name = NAME if len({*called}) == len(called) else "test_name"  # one that comes again is another trial
    return [{name: each, **_outcome_of(test.get("status"))} for each, test in zip(called, tests, strict=True)]


def _trials(value: Any, *, alone: bool = True) -> list[dict[str, Any]]:
    """The trials that a record tells of: its own, or those in its only list of verdicts."""
    if not isinstance(value, dict) or is_other(value):
        return []
    if value.keys() >= _TEST:
        unsaid = {"pass": None} if value.get("pending") or value.get("skipped") else {}
        return [{**value, "task_id": value["fullTitle"], **unsaid}] if alone else []
    if not names_conversation(value):
        name = value.get("name")
        return [{**value, NAME: name}] if alone and isinstance(name, str) and name and says_verdict(value) else []
    if alone and (counted := _counted(value)):
        return counted
    if says_verdict(value):
        return [dict(value)] if alone else []
    lists = [key for key, held in value.items() if isinstance(held, list) and _outcomes(held)]
    if len(lists) != 1 or not task_and_trial(value):
        return []
    if _NO_TRIALS.search(lists[0]) or any(_is_of_part(entry) for entry in value[lists[0]]):
        raise DialgaugeError(
            f"'{lists[0][:40]}' has several verdicts of one conversation, which may be those of graders, checks or "
            "steps: say in 'success' (true or false) whether the task was done; where they are trials, call the list "
            "'trials'"
        )
    shared = {key: held for key, held in value.items() if key != lists[0]}
    return [{**shared, **outcome} for outcome in _outcomes(value[lists[0]])]


def _is_of_part(entry: Any) -> bool:
    """Does an entry name what it is a verdict of, or whose, and no trial?"""
    return isinstance(entry, dict) and any(map(_NO_TRIALS.search, entry)) and not has_trial(entry)


def _unjudged(value: Any) -> list[dict[str, Any]]:
    """A record among others with verdicts on whose task nobody judged."""
    known = isinstance(value, dict) and not is_other(value) and names_conversation(value)
    return [dict(value)] if known and lacks_verdict(value) else []


def _counted(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The trials of a task of which only is said how many there were, and how many of them were passed."""
    known = {
        plain_key(key): (key, int(number)) for key, member in value.items() if (number := _whole(member)) is not None
    }
    total = next((known[name] for name in (*_ALL, _ANY) if name in known), None)
    passed = next((known[name] for name in _PASSED if name in known), None) or _by_rate(value, total)
    if has_trial(value) or not passed or not total or not passed[1] <= total[1] <= _MOST_TRIALS or total[1] < 2:
        return []
    if plain_key(total[0]) == _ANY:
        raise DialgaugeError(
            f"'{passed[0]}' and '{total[0]}' ({passed[1]:,} of {total[1]:,}) may count trials, or what was checked in "
            f"one: where they count trials, call '{total[0]}' 'trials'; else say in 'success' whether the task was done"
        )
    shared = {key: member for key, member in value.items() if key not in (passed[0], total[0])}
    taken = {TAKEN: f"trials that '{passed[0]}' and '{total[0]}' only count, passed ones first"}
    return [{**shared, **taken, "trial": number, "success": number < passed[1]} for number in range(total[1])]


def _by_rate(value: Mapping[str, Any], total: tuple[str, int] | None) -> tuple[str, int] | None:
    """How many of so many trials a rate says that were passed, rounded to hundredths as it may be."""
    for key, member in value.items():
        rate = score_in(member) if plain_key(key) in _RATES and total and plain_key(total[0]) != _ANY else None
        if rate is not None and total and 0 <= rate <= 1 and abs(rate * total[1] - round(rate * total[1])) <= _ROUNDED:
            return key, round(rate * total[1])
    return None


def _whole(value: Any) -> float | None:
    number = number_in(value) if not isinstance(value, bool) else None
    return number if number is not None and number >= 0 and number.is_integer() else None


def _outcomes(held: Any, depth: int = 0) -> list[dict[str, Any]]:
    """What is said of the trials of one task: a verdict, a record with one, or several of these, listed or by name."""
    if _is_verdict(held):
        return [{"success": held}]
    if isinstance(held, dict) and says_verdict(held):
        return [dict(held)]
    if depth > _DEEPEST or not isinstance(held, list | dict) or not held:
        return []
    if isinstance(held, list):
        listed = [[] if isinstance(member, list) else _outcome_or_none(member, depth) for member in held]
        return (
            [{"trial": n, **each[0]} for n, each in enumerate(listed)] if all(len(each) == 1 for each in listed) else []
        )
    numbers = [match for key in held if (match := _TRIAL_KEY.fullmatch(key) or _NUMBER.fullmatch(key))]
    if len(numbers) == len(held):
        listed = [_outcome_or_none(member, depth) for member in held.values()]
        named = zip(numbers, listed, strict=True)
        return [{"trial": int(n[1]), **each[0]} for n, each in named] if all(len(each) == 1 for each in listed) else []
    members = [member for member in held.values() if isinstance(member, list | dict)]
    return _outcomes(members[0], depth + 1) if len(members) == 1 and isinstance(members[0], list) else []


def _outcome_or_none(member: Any, depth: int) -> list[dict[str, Any]]:
    """What is said of a trial among others; also null, or a word that is neither yes nor no."""
    unjudged = member is None or (isinstance(member, str) and member.strip().lower() in _ENDS)
    return _outcomes(member, depth + 1) or ([_outcome_of(member)] if unjudged else [])


def _is_verdict(value: Any) -> bool:
    return isinstance(value, str | bool | int | float) and truth(value) is not None


def _by_verdict(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lists of tasks, done and not: ``{"resolved_ids": [...], "unresolved_ids": [...]}``."""
    rows: list[dict[str, Any]] = []
    verdicts: set[bool] = set()
    unsaid: dict[str | int, str] = {}
    unknown: dict[str, list[Any]] = {}
    for key, held in value.items():
        word = _OF_IDS.sub("", key).strip(" _-").lower()
        if not isinstance(held, list) or not all(isinstance(name, str | int) for name in held):
            continue
        fails = word in _NOTHING or key == _ERROR_IDS
        said = False if fails else None if word in _BROKEN else truth(word)
        if said is not None:
            verdicts |= set() if fails else {said}
            ended = {REASON: key if key == _ERROR_IDS else word} if fails else {}
            taken = {TAKEN: "instances under 'error_ids' count as unresolved, as SWE-bench counts them"}
            ended |= taken if key == _ERROR_IDS else {}
            rows += [{NAME: name, "success": said, **ended} for name in held]
        elif word in _BROKEN:
            rows += [{NAME: name, "error": word} for name in held]
        elif word not in _NOT_RUN | _ALL_IDS:
            unknown |= {word or key: held}
        else:
            unsaid |= {name: word for name in held if word in _NOT_RUN or name not in unsaid}
    if len(verdicts) < 2:
        return []
    named = {row[NAME] for row in rows}
    for word, held in unknown.items():  # a third list beside those that passed and failed
        if held and named.isdisjoint(held):
            rows += [{NAME: name, REASON: word, TAKEN: f"entries of '{word}' have no verdict"} for name in held]
            named |= {*held}
    rows += [{NAME: name, REASON: word} for name, word in unsaid.items() if name not in named]
    return [{**plan_in(value, whole=True), **row} for row in rows]


def _by_lists(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A list of tasks and one of what became of each: ``{"tasks": ["a", "b"], "results": [[1, 0], [1, 1]]}``."""
    lists = {key: held for key, held in value.items() if isinstance(held, list) and held}
    names = [key for key in lists if plain_key(key).removesuffix("s") in (*TASK, "id", "name")]
    if len(names) != 1 or not all(isinstance(name, str | int) for name in lists[names[0]]):
        return []
    tasks = lists.pop(names[0])
    found = [held for held in lists.values() if len(held) == len(tasks) and all(map(_outcomes, held))]
    if len(found) != 1 or len(set(tasks)) < len(tasks):
        return []
    return [row for name, held in zip(tasks, found[0], strict=True) for row in _called(name, _outcomes(held))]


def _by_name(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What became of each task, by its name; a name of a fact is none of a task."""
    if any(map(is_fact, value)):
        return []
    members = {name: _outcomes(held) for name, held in value.items()}
    counted = all(isinstance(held, int | float) and not isinstance(held, bool) for held in value.values())
    unsaid = all(row.get("success", True) is None for rows in members.values() for row in rows)
    if not all(members.values()) or counted or unsaid or len(value) < 2 or all(map(_TRIAL_KEY.fullmatch, value)):
        return []
    if 2 * len(agents := [name for name in value if _AGENT_KEY.fullmatch(name)]) >= max(len(value), 3):
        raise DialgaugeError(
            f"it has verdicts under {some_of(map(repr, agents), 4)}, as of several agents; write those of each into a "
            "file of its own, with the task of each verdict, and name all of these files",
            example='{"task_id": "t1", "success": true}',
        )
    lists = all(isinstance(held, list) for held in value.values())
    taken = {TAKEN: "the name of a list of verdicts taken for the task that they are trials of"} if lists else {}
    return [{**taken, **row} for name, outcomes in members.items() for row in _called(name, outcomes)]


def _by_trial(value: Mapping[str, Any], depth: int) -> list[dict[str, Any]]:
    """What became of all tasks in each trial: ``{"run_1": {"a": true, "b": false}, "run_2": ...}``, or by place."""
    numbers = [int(match[1]) for key in value if (match := _TRIAL_KEY.fullmatch(key))]
    if len(numbers) < max(len(value), 2) or len(set(numbers)) < len(numbers):
        return []
    members = list(value.values())
    if all(isinstance(held, list) and held and all(map(_is_verdict, held)) for held in members):
        if len({len(held) for held in members}) > 1:
            raise DialgaugeError(
                f"{some_of(map(repr, value), 4)} have {some_of((str(len(held)) for held in members), 4)} entries: they "
                "are trials, and which task an entry is of must be the same in all; name the tasks",
                example='{"run_1": {"t1": true, "t2": false}}',
            )
        taken = {TAKEN: "entries at one place of the lists of several trials taken for those of one task"}
        members = [{f"task {place}": verdict for place, verdict in enumerate(held)} for held in members]
    else:
        taken = {TAKEN: "the name of a member taken for the number of a trial"}
    trials = [results_in(held, depth + 1) for held in members]
    if not all(trials) or any(has_trial(row) for rows in trials for row in rows):
        return []
    return [
        {**taken, **row, "task_id": _task(row), "trial": number}
        for number, rows in zip(numbers, trials, strict=True)
        for row in rows
    ]


def _called(name: Any, outcomes: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Outcomes under their task's name; that of a single one may tell its trial, too."""
    for outcome in outcomes:
        yield {**({"task_id": name} if len(outcomes) > 1 else {NAME: name}), **outcome}


def _held(value: Mapping[str, Any], depth: int) -> list[dict[str, Any]]:
    """The results of the only member that has any; of several, those of records that name their tasks."""
    found = {
        key: rows
        for key, held in value.items()
        if isinstance(held, list | dict) and (rows := results_in(held, depth + 1))
    }
    if len(found) > 1:
        listed = {key: rows for key, rows in found.items() if isinstance(value[key], list)}
        found = listed if len(listed) == 1 else found
    if len(found) > 1:
        tasks = [{_task(row) for row in rows} for rows in found.values()]
        if tasks[0] & tasks[1]:
            raise DialgaugeError(
                f"it has results of the same tasks under {some_of((repr(key) for key in found), 4)}, as of several "
                "agents; write those of each into a file of its own, and name all of these files"
            )
        return []
    return [{**plan_in(value, whole=True), **row} for row in next(iter(found.values()), [])]


def _task(row: Mapping[str, Any]) -> str:
    return next(iter(task_and_trial(row)), "") or str(row.get(NAME, ""))


def sums_up(value: Any, *, numbered: bool) -> bool:
    """Does the last record of several sum up the others, which name tasks, and trials where they are numbered?"""
    if not isinstance(value, dict):
        return False
    if not names_conversation(value):
        return any(map(_SUMS_UP.search, value))
    task = _task(value)
    judged = any(said_success(held) is not None for key, held in value.items() if not _TOTAL.fullmatch(str(held)))
    return _TOTAL.fullmatch(task) is not None and ((numbered and not has_trial(value)) or not judged)


def _ended_as(word: str) -> str:
    """How a conversation ended of which a report says this instead of a verdict."""
    ends = {"err": "error", "errored": "error", "crash": "error", "crashed": "error", "timed out": "timeout"}
    return ends.get(word.lower(), word.lower())


def _is_other_word(cell: Any) -> bool:
    """Does a cell say that nobody judged, or have a short word that is neither yes nor no?"""
    return is_unjudged(cell) or (isinstance(cell, str) and _SHORT_WORD.fullmatch(cell.strip()) is not None)


def _outcome_of(cell: Any) -> dict[str, Any]:
    """What a cell says of a trial: a verdict, or how it ended without one."""
    broke = isinstance(cell, str) and _ended_as(cell.strip()) in ("error", "timeout")
    if broke or (said_success(cell) is None and not is_unjudged(cell) and _is_other_word(cell)):
        return {"success": None, REASON: _ended_as(cell.strip())}
    return {"success": cell}
