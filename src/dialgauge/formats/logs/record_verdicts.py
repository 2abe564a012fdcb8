"""What a record says of how a conversation went: a verdict and whose it is, scores, and what stands beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from dialgauge.formats.logs import fact_names as names
from dialgauge.formats.logs.fact_names import plain_key
from dialgauge.formats.logs.fact_values import (
    LETTERS,
    LONGEST_LABEL,
    is_unjudged,
    named_scores,
    number_in,
    number_text,
    said_success,
    score_in,
    score_texts,
    truth,
)
from dialgauge.formats.logs.record_fields import fields_of, members_inside
from dialgauge.formats.notes import Notes
from dialgauge.formats.tau_messages import as_text

_BINARY = {"0": False, "1": True, "false": False, "true": True}
#: Whether it failed; other words under such a name may be verdicts themselves, and numbers count what failed.
_FAILURES = {"true": True, "yes": True, "false": False, "no": False}
#: A status that says how a task went, and not a request.
_JUDGED = frozenset({"pass", "passed", "fail", "failed"})


def says_success(record: Mapping[str, Any]) -> bool:
    """Does a record say by name how a conversation went, in a verdict or a score?"""
    return any(plain_key(key) in names.SUCCESS or names.is_scores(key) for key, _ in fields_of(record, ()))


def says_done(record: Mapping[str, Any]) -> bool:
    """Does a record say yes or no under a name that is a success in files of some?"""
    return any(plain_key(key) in names.DONE and isinstance(value, bool) for key, value in record.items())


def says_verdict(record: Mapping[str, Any]) -> bool:
    """Does a record say yes or no under a name that says success, or in a word for an outcome, or have a score?"""
    return any(
        said_success(value) is not None or (isinstance(value, str) and value.strip().lower() in LETTERS)
        if (name := plain_key(key)) in names.SUCCESS or name in names.DONE
        else failure_in({name: value}) is not None
        or (names.is_score(key) and score_in(value) is not None)
        or (name in names.VERDICTS and isinstance(value, str | bool) and truth(value) is not None
            and (name != "status" or str(value).strip().lower() in _JUDGED))
        for key, value in fields_of(record, ())
    ) or deep_verdict(record, ()) is not None  # fmt: skip


def lacks_verdict(record: Mapping[str, Any]) -> bool:
    """Does a record say where its verdict should be that nobody judged?"""
    return any(
        (plain_key(key) in (*names.SUCCESS, *names.VERDICTS) and is_unjudged(value))
        or (value is None and names.is_score(key))
        for key, value in record.items()
    )


def verdict_in(
    fields: Sequence[tuple[str, Any]], known: Mapping[str, Any], scores: Mapping[str, str], notes: Notes
) -> tuple[str, bool | None]:
    """The verdict and its name.

    What says success by its name comes before the reward, the reward before the word for an outcome, and the verdict
    of somebody (``judge_verdict``) before the status, which may be that of the run.
    """
    successes = [
        (name, known[name]) for name in names.SUCCESS if name in known and said_success(known[name]) is not None
    ]
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


def failure_in(known: Mapping[str, Any]) -> tuple[str, bool] | None:
    """The verdict of a record that only says whether it failed."""
    said = {name: _FAILURES.get(as_text(known[name]).strip().lower()) for name in names.FAILED if name in known}
    return next(((name, not failed) for name, failed in said.items() if failed is not None), None)


def deep_verdict(record: Mapping[str, Any], used: Collection[str]) -> tuple[str, bool] | None:
    """The only success that lies in an object of somebody who judged, deeper than facts are looked for."""
    held = {key: value for key, value in record.items() if key not in used and isinstance(value, dict)}
    found = [
        (path, verdict)
        for path, value in members_inside(held)
        for owner, _, name in [path.rpartition(".")]
        if plain_key(name) in names.OF_JUDGES and names.JUDGING.search(owner)
        if (verdict := said_success(value)) is not None
    ]
    return found[0] if len(found) == 1 else None


def unclear_verdicts(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """What is said instead of a verdict, by the names that one has: a word that is neither yes nor no, or nothing."""
    words = [(key, value) for key, value in fields if plain_key(key) in (*names.VERDICTS, *names.SUCCESS)]
    texts = {key: as_text(value).strip() for key, value in words if not isinstance(value, dict | list)}
    return {key: text[:LONGEST_LABEL] for key, text in texts.items() if text}


def _judges_verdict(fields: Iterable[tuple[str, Any]]) -> tuple[str, Any] | None:
    """The only yes or no under a name that ends in verdict or, without one, in the object of a judge."""
    judged = [(key, value) for key, value in fields if truth(value) is not None]
    verdicts = [(key, value) for key, value in judged if plain_key(key).endswith("verdict")]
    verdicts = verdicts or [(key, value) for key, value in judged if _is_of_judge(key)]
    return verdicts[0] if len(verdicts) == 1 else None


def _is_of_judge(key: str) -> bool:
    owner, _, name = key.rpartition(".")
    return plain_key(owner) in names.JUDGES and plain_key(name) in names.OF_JUDGES


def beside_verdict(record: Mapping[str, Any], unread: Iterable[str], judgements: Mapping[str, Any]) -> dict[str, str]:
    """What is yes or no beside a verdict, and not read: judgements, and unread members, also one level down."""
    members = {key: value for key, value in judgements.items() if "." in key}
    for key in unread:
        value = record[key]
        members |= (
            {f"{key}.{name}": member for name, member in value.items()} if isinstance(value, dict) else {key: value}
        )
    texts = {key: _yes_or_no(value) for key, value in members.items()}
    return {key[:60]: text for key, text in texts.items() if text}


def _yes_or_no(value: Any) -> str:
    """true or false, or the number 0 or 1, which may mean something else; empty for all others."""
    if isinstance(value, int | float | str) and not isinstance(value, bool) and (number := number_in(value)) in (0, 1):
        return number_text(number)
    return {True: "true", False: "false", None: ""}[truth(value) if isinstance(value, bool | str) else None]


def success_amount(fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The verdict where it is the number 0 or 1: other conversations say whether it is one, or part of an amount."""
    known: dict[str, tuple[str, Any]] = {}
    for key, value in fields:
        known.setdefault(plain_key(key), (key, value))
    given = next(
        (known[name] for name in names.SUCCESS if name in known and said_success(known[name][1]) is not None), None
    )
    if given is None or isinstance(given[1], bool) or (number := score_in(given[1])) is None:
        return {}
    return {given[0]: number_text(number)}


def score_maxima(fields: Sequence[tuple[str, Any]]) -> dict[str, str]:
    """How much the scores of a record may be at most, where it says that this is more than 1."""
    maxima = {names.MAXIMA[plain_key(key)]: score_in(value) for key, value in fields if plain_key(key) in names.MAXIMA}
    scores = {key: plain_key(key) for key, _ in fields if names.is_score(key) and plain_key(key) not in names.MAXIMA}
    most = {key: maxima.get(name, maxima.get("")) for key, name in scores.items()}
    return {key: number_text(number) for key, number in most.items() if number and number > 1}


def all_scores(record: Mapping[str, Any], fields: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Scores by name, numbers and labels as texts."""
    scores: dict[str, str] = {}
    for key, value in fields:
        if names.is_score(key) and not isinstance(value, list) and plain_key(key) not in names.SCORES | names.NESTED:
            scores.update(score_texts(key, value))
    for key, value in record.items():
        if plain_key(key) in names.SCORES:
            scores.update(named_scores(value))
    for key, value in fields:
        name = plain_key(key)
        done = name in (names.DONE | names.FLAGS) and said_success(value) is not None
        if done or _is_undecided(name, value):  # such as a share of success, or "unsure"
            scores.update(score_texts(key, said_success(value) if done else value))
    return {name: text for name, text in scores.items() if plain_key(name) not in names.NOT_SCORES}


def _is_undecided(name: str, value: Any) -> bool:
    """Should it be a verdict, and is neither yes nor no?"""
    if name in names.SUCCESS:
        return said_success(value) is None
    return name == "verdict" and (not isinstance(value, str | bool) or truth(value) is None)
