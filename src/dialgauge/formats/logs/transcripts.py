"""Conversations in a text: headings that name them, lines that begin with who speaks, and how each went.

A verdict stands in the heading (``## buy (PASS)``) or on its own line (``Result: PASS``). All other lines belong to
what was said before them, so that an answer may be a list of points.
"""

from __future__ import annotations

import re
from typing import Any

from dialgauge.formats.logs.fact_names import SUCCESS, TASK, TRIAL, VERDICTS, plain_key
from dialgauge.formats.logs.fact_values import said_success
from dialgauge.formats.logs.messages import ROLES, transcript
from dialgauge.formats.logs.report_lines import name_and_verdicts

_HEADING = re.compile(r"\s{0,3}(?:#{1,6}\s|={2,40}\s?|-{3,40}\s|\*{3,40}\s?)(.{1,200})")
_AROUND = " \t=*#-:–—|"
_TASK = re.compile(r"(?<![\w-])(?:task|scenario|case)\s?[:=]\s?([\w./-]{1,100})", re.IGNORECASE)
_FACT = re.compile(r"[\s>*_-]{0,6}([A-Za-z][\w ]{0,30})\*{0,2}\s?[:=]\*{0,2}\s{0,9}(\S.{0,200})")
_FACTS = frozenset((*SUCCESS, *VERDICTS, *TASK, *TRIAL))
_LONGEST_LINE = 100_000


def transcripts_in(text: str) -> list[dict[str, Any]] | None:
    """The conversations of a text, with task and verdict where these are said; None where it has none."""
    sections: list[tuple[dict[str, Any], list[str]]] = [({}, [])]
    for line in text.splitlines():
        if len(line) > _LONGEST_LINE:
            return None
        heading = _HEADING.fullmatch(line)
        if heading and heading[1].strip(_AROUND):
            sections.append((_named(heading[1].strip(_AROUND)), []))
        elif (fact := _FACT.fullmatch(line)) and plain_key(fact[1]) in _FACTS and fact[1].lower() not in ROLES:
            facts, lines = sections[-1]
            if plain_key(fact[1]) in TASK and lines:  # the next conversation, without a heading
                sections.append(({}, []))
                facts = sections[-1][0]
            facts[fact[1]] = fact[2].strip(_AROUND)
        else:
            sections[-1][1].append(line)
    found = [(facts, transcript("\n".join(lines).strip()), lines) for facts, lines in sections]
    if any(not turns and any(line.strip() for line in lines) for _, turns, lines in found[1:]):
        return None  # something else stands between them
    records = [{**facts, "messages": messages_of(turns)} for facts, turns, _ in found if turns]
    return records or None


def is_judged_transcript(record: dict[str, Any]) -> bool:
    """Does it name its conversation and say how it went?"""
    names = {plain_key(key) for key in record}
    verdict = any(said_success(value) is not None for key, value in record.items()
                  if plain_key(key) in (*SUCCESS, *VERDICTS))  # fmt: skip
    return verdict and not names.isdisjoint(TASK)


def _named(heading: str) -> dict[str, Any]:
    """The task and the verdict that a heading says."""
    name, verdicts = name_and_verdicts(heading)
    task = _TASK.search(heading)
    called = task[1] if task else (name if verdicts else heading).strip("() ")
    return {"task_id": called, **({"success": verdicts[0]} if len(verdicts) == 1 else {})}


def messages_of(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The turns of a transcript as messages."""
    return [{"role": ROLES[turn["speaker"]], "content": turn["text"]} for turn in turns]
