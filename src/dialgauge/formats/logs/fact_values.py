"""What a log says a value is: yes or no, a number, an amount, scores; whatever way it is written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from dialgauge.formats.logs import fact_names as names
from dialgauge.formats.logs.fact_names import plain_key
from dialgauge.formats.notes import Notes

#: A label of more letters is an explanation.
LONGEST_LABEL = 60
_MOST = 1e15
#: From how many messages on totals that always rise may be running totals.
_FEWEST_RISING = 3
_MAY_BE_RUNNING = (
    "the total tokens of messages rise from each to the next, and are added up; if they are running totals, say so "
    "with 'cumulative' (true) beside them"
)
_MONEY = re.compile(r"(?:US)?\$\s?([0-9.,]{1,20})|([0-9.,]{1,20})\s?(?:USD|\$)", re.IGNORECASE)
#: A number whose thousands are parted: ``1,234.50``.
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3}){1,5}(?:\.[0-9]{1,15})?")
_YES = frozenset(
    {"true", "yes", "pass", "passed", "success", "successful", "succeeded", "resolved", "solved", "correct"}
    | {"✅", "✓", "✔", "✔\ufe0f", "☑"}
    | {"wahr", "ja", "vrai", "oui", "verdadero", "vero"}  # as spreadsheets write them elsewhere
)
_NO = frozenset(
    {"false", "no", "fail", "failed", "failure", "unsuccessful", "unresolved", "unsolved", "incorrect", "wrong"}
    | {"❌", "✗", "✘", "✖", "✖\ufe0f"}
    | {"falsch", "nein", "faux", "non", "falso"}
    | {f"not {word}" for word in _YES}
)
#: A verdict and why: ``failed: timeout``, ``Pass ✅``.
_EXPLAINED = re.compile(r"(pass|passed|fail|failed|correct|incorrect)(?:\s{0,3}[:–—]\s|\s-\s|\s{0,3}[✅❌✓✗✔✘]|[.!]\Z)")
#: How graders write correct and incorrect, yes and no; a verdict only under a name that says success.
_GRADED = {
    **dict.fromkeys(("c", "y", "ok", "done", "achieved", "met", "win", "won", "👍"), True),
    **dict.fromkeys(
        ("i", "n", "ko", "nok", "not ok", "not done", "not achieved", "not met", "loss", "lost", "👎"), False
    ),
}


#: True and false as databases write them; other records say whether they are, or grades from A to F.
LETTERS = frozenset({"t", "f"})
#: What stands in the place of a verdict where nobody judged.
_UNJUDGED = frozenset(
    {"", "-", "--", "–", "—", "?", "n/a", "na", "#n/a", "nan", "none", "null", "skip", "skipped", "pending", "unknown"}
    | {"error", "errored", "crashed", "xfail", "xfailed", "xpass", "xpassed"}
    | {"timeout", "timed out", "err", "crash", "aborted", "cancelled", "canceled", "inconclusive", "infra error"}
    | {"⚠", "⚠\ufe0f", "⏭", "⏭\ufe0f", "⏱", "⏱\ufe0f"}
    | {"not run", "not judged", "not graded", "not evaluated", "unjudged", "tbd", "todo"}
)


def is_unjudged(value: Any) -> bool:
    """Does it say in the place of a verdict that nobody judged: null, a blank, ``N/A``, ``skipped``?"""
    if isinstance(value, str):
        return value.strip().lower().replace("_", " ") in _UNJUDGED
    return value is None


def truth(value: Any) -> bool | None:
    """Yes or no as people write it; None where it is neither."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    word = value.strip().lower().replace("_", " ") if isinstance(value, str) else ""
    if explained := _EXPLAINED.match(word):
        word = explained[1]
    return True if word in _YES else False if word in _NO else None


def said_success(value: Any) -> bool | None:
    """Yes or no under a name that says success, where a number may be written as a text, and C stands for correct."""
    if not isinstance(value, str):
        return truth(value)
    number = score_in(value)
    return _GRADED.get(value.strip().lower(), truth(value)) if number is None else truth(number)


def number_in(value: Any) -> float | None:
    """A finite number, also where it is written as a text."""
    if isinstance(value, bool):
        return float(value)
    try:
        given = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return given if math.isfinite(given) and abs(given) < _MOST else None


def score_in(value: Any) -> float | None:
    """A number, also as a share of a hundred: ``85%`` is 0.85."""
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return number_in(f"{value.rstrip()[:-1].rstrip()}e-2")
    return number_in(value)


def amount_in(value: Any) -> float | None:
    """A number of 0 or more, also one with the sign of the dollar, or the total of an object."""
    if isinstance(value, dict):
        return amount_in(next((one for key, one in value.items() if plain_key(key) in names.TOTALS), None))
    money = _MONEY.fullmatch(value.strip()) if isinstance(value, str) else None
    amount = (money[1] or money[2]) if money else value
    if isinstance(amount, str) and _THOUSANDS.fullmatch(amount.strip()):
        amount = amount.replace(",", "")
    number = number_in(amount)
    return number if number is not None and number >= 0 else None


def number_text(value: float) -> str:
    """A number as a text that reads back to it, whole ones without a point."""
    return str(int(value)) if value.is_integer() else repr(value)


def usage(held: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an object of tokens, whose total is one of tokens."""
    return {"total_tokens" if _counts_tokens(key, value) else key: value for key, value in held.items()}


def _counts_tokens(key: str, value: Any) -> bool:
    return plain_key(key) == "total" and isinstance(value, int)


def token_sum(known: Mapping[str, Any]) -> float:
    """The tokens of both directions together."""
    sides = (
        next((n for name in called if (n := number_in(known.get(name)))), 0.0)
        for called in (names.INPUT_TOKENS, names.OUTPUT_TOKENS)
    )
    return sum(sides)


def message_tokens(messages: Iterable[Any], notes: Notes) -> str:
    """The tokens that messages say of themselves, together, or the last where they say that they go on counting."""
    used: list[tuple[Any, dict[str, Any]]] = []
    for message in messages:
        for key, held in message.items() if isinstance(message, dict) else ():
            if isinstance(held, dict) and plain_key(key) in names.USAGE:
                spent = (message.get("id"), held)
                if spent[0] is None or spent not in used[-1:]:  # a message in pieces, as Claude Code writes it
                    used.append(spent)
    counts = [{plain_key(key): value for key, value in usage(held).items()} for _, held in used]
    totals = [number_in(held.get("totaltokens")) or token_sum(held) for held in counts]
    rising = len(totals) >= _FEWEST_RISING and all(before < after for before, after in pairwise(totals))
    if rising and all(held.get("cumulative") is True for held in counts):
        notes.add("tokens of messages that are cumulative: those of the last taken")
        return number_text(totals[-1])
    notes.add(_MAY_BE_RUNNING, rising and not any(map(token_sum, counts)))  # a prompt grows with what was said
    return number_text(sum(totals)) if sum(totals) else ""


def message_costs(messages: Iterable[Any]) -> str:
    """The costs that messages say of themselves, together; empty where none does."""
    held = [message["cost"] for message in messages if isinstance(message, dict) and "cost" in message]
    costs = [cost for given in held if (cost := amount_in(given)) is not None]
    return number_text(sum(costs)) if costs else ""


def named_scores(given: Any) -> dict[str, str]:
    """Scores by name, or in a list of objects that name them, which may be the only member of an object."""
    if isinstance(given, dict) and len(given) == 1 and isinstance(listed := next(iter(given.values())), list):
        given = listed
    if isinstance(given, dict):
        return {name: text for key, value in given.items() for name, text in score_texts(key, value).items()}
    scores: dict[str, str] = {}
    for score in given if isinstance(given, list) else ():
        if isinstance(score, dict):
            name = next(
                (score[key] for key in ("name", "key", "scorer", "metric", "label") if isinstance(score.get(key), str)),
                "",
            )
            if name:
                scores.update(score_texts(name, score))
    return scores


def score_texts(name: str, value: Any) -> dict[str, str]:
    """One score, or those that an object has: a number or a label as a text."""
    if isinstance(value, dict):
        for key in ("value", "score", "stringValue", "string_value", "rating", "passed", "label", "avg"):
            if value.get(key) is not None and not isinstance(value[key], list):
                if isinstance(value[key], dict):
                    return {
                        f"{name}.{inner}": text
                        for inner, member in value[key].items()
                        for text in score_texts("", member).values()
                    }
                return score_texts(name, value[key])
        return {}
    if isinstance(value, bool):
        return {name: "true" if value else "false"}
    if (number := score_in(value)) is not None:
        return {name: number_text(number)}
    if isinstance(value, int | float):  # one that cannot be summed, which is told with the scores
        return {name: str(value)[:LONGEST_LABEL]}
    if isinstance(value, str) and 0 < len(value.strip()) <= LONGEST_LABEL and "\n" not in value:
        return {name: value.strip()}
    return {}
