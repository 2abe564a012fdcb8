"""Was the task done? Three rules: our own, τ-bench's and τ²-bench's, each over the same facts of a conversation.

=====  ============================================================================================================
own    the data equal the target's (where calls are expected), every output was told, every assertion holds
tau    the conversation ended, the data equal the target's, every output occurs in an agent's text without a call
tau2   the conversation ended, and each part of the reward's basis is 1; what a model would have to say stays open
=====  ============================================================================================================
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from dialgauge.dialogue import Call
from dialgauge.worlds.tools.tool_domain import World, canonical, same_but_for_order, same_changes
from dialgauge.worlds.tools.tool_tasks import (
    ACTION,
    COMMUNICATE,
    DB,
    ENV_ASSERTION,
    NL_ASSERTION,
    GoldCall,
    ToolCall,
    ToolTask,
)

OUTPUTS, ASSERT = "OUTPUTS", "ASSERT"


class AgentText(Struct, frozen=True):
    """What the agent said in one message, and whether it made a call beside it."""

    text: str
    with_call: bool = False


class Conduct(Struct, frozen=True, kw_only=True):
    """What a verdict rests on: the world afterwards, what was said, the calls made, whether it came to an end.

    Without a world (None) everything about the data stays open.
    """

    world: World | None
    said: Sequence[AgentText] = ()
    calls: Sequence[ToolCall | Call] = ()
    #: None: nobody tells how it ended.
    finished: bool | None = True


class TaskVerdict(Struct, frozen=True, kw_only=True):
    """Each part (None: cannot be told offline), the reward, and which outputs were said."""

    parts: dict[str, bool | None]
    #: None: open, as a part is; then at most 1.
    reward: float | None
    outputs: dict[str, bool] | None = None
    #: The data are wrong only in the order of lists.
    order_only: bool = False

    @property
    def success(self) -> bool | None:
        return None if self.reward is None else self.reward == 1.0


def judge(task: ToolTask, conduct: Conduct) -> TaskVerdict:
    """The verdict by the rule that the task is made for."""
    return {"own": _own, "tau": _tau, "tau2": _tau2}[task.rules](task, conduct)


def _own(task: ToolTask, conduct: Conduct) -> TaskVerdict:
    texts = [each.text for each in conduct.said]
    outputs = {output: is_told(output, texts) for output in task.outputs}
    parts: dict[str, bool | None] = {}
    order_only = False
    if task.expected is not None:
        parts[DB], order_only = _data_match(task, conduct.world)
    if outputs:
        parts[OUTPUTS] = all(outputs.values())
    if task.assertions:
        world = conduct.world
        parts[ASSERT] = None if world is None else all(world.holds(name) for name in task.assertions)
    reward = _product(parts.values())
    return TaskVerdict(parts=parts, reward=reward, outputs=outputs or None, order_only=order_only)


def _tau(task: ToolTask, conduct: Conduct) -> TaskVerdict:
    same, order_only = _data_match(task, conduct.world)
    outputs = {output: _occurs(output, conduct.said, beside_calls=False) for output in task.outputs}
    parts: dict[str, bool | None] = {DB: same, COMMUNICATE: all(outputs.values())}
    reward = _reward(parts.values(), conduct.finished)
    return TaskVerdict(parts=parts, reward=reward, outputs=outputs or None, order_only=order_only)


def _tau2(task: ToolTask, conduct: Conduct) -> TaskVerdict:
    if task.unknown:
        return TaskVerdict(parts=dict.fromkeys(task.parts), reward=None)
    outputs = {output: _occurs(output, conduct.said, beside_calls=True) for output in task.outputs}
    parts: dict[str, bool | None] = {}
    order_only = False
    for part in task.parts:
        if part == DB:
            parts[part], order_only = _data_match(task, conduct.world) if task.expected is not None else (True, False)
        elif part == COMMUNICATE:
            parts[part] = all(outputs.values())
        elif part == ACTION:
            parts[part] = any(
                all(any(_is_action(expected, call) for call in conduct.calls) for expected in gold)
                for gold in task.golds
            )
        elif part == ENV_ASSERTION:
            parts[part] = None if task.env_assertions else True
        else:
            parts[part] = None if part != NL_ASSERTION or task.nl_assertions else True
    reward = _reward(parts.values(), conduct.finished)
    return TaskVerdict(parts=parts, reward=reward, outputs=outputs or None, order_only=order_only)


def _reward(parts: Iterable[bool | None], finished: bool | None) -> float | None:
    """The product of the parts; 0 at a limit, and open where all are right and only the end is not told."""
    reward = _product(parts) if finished is not False else 0.0
    return None if finished is None and reward else reward


def _product(parts: Iterable[bool | None]) -> float | None:
    known = list(parts)
    return 0.0 if False in known else None if None in known else 1.0


def _data_match(task: ToolTask, world: World | None) -> tuple[bool | None, bool]:
    """Whether the data are those of a target, and if not, whether only the order of lists is wrong."""
    if world is None:
        return None, False
    domain, changes = world.domain, world.changes()
    targets = [domain.target(task, gold).changes() for gold in task.golds]
    if any(same_changes(changes, target, domain.compare) for target in targets):
        return True, False
    return False, any(same_but_for_order(changes, target, domain.compare) for target in targets)


def _occurs(output: str, texts: Sequence[AgentText], *, beside_calls: bool) -> bool:
    """The benchmarks' rule: a substring, in any case, of a text without its commas."""
    wanted = output.lower()
    return any(wanted in each.text.lower().replace(",", "") for each in texts if beside_calls or not each.with_call)


def _is_action(expected: GoldCall, call: ToolCall | Call) -> bool:
    if call.name != expected.name or not isinstance(call.arguments, dict):
        return False
    compared = call.arguments.keys() if expected.compare is None else expected.compare
    wanted = expected.arguments if isinstance(expected.arguments, dict) else {}
    if not compared or not call.arguments:
        return True
    return all(_same(call.arguments.get(key, _ABSENT), wanted.get(key, _ABSENT)) for key in compared)


_ABSENT: Any = object()


def _same(value: Any, other: Any) -> bool:
    if value is _ABSENT or other is _ABSENT:
        return value is other
    return canonical(value, "by-value") == canonical(other, "by-value")


# Our own rule for what was told: a value in any usual spelling.

_MARKUP = re.compile(r"[*_`~]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")
_TIME = re.compile(r"(?<![\d:.])(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\b\.?|(?<![\d:.])(\d{1,2}):(\d{2})(?![\d:])")


def is_told(output: str, texts: Iterable[str]) -> bool:
    """Whether a value was told: as words, as a number of the same value, or as a time of day in either notation.

    >>> is_told("1250.5", ["That is **£1,250.50** in all."]), is_told("15:03", ["It leaves at 3:03 pm."])
    (True, True)
    >>> is_told("4", ["The 14 boxes weigh 4.5 kg."])
    False
    """
    wanted = _plain(output)
    time = _times(wanted) if _TIME.fullmatch(wanted) else []
    number = float(wanted) if _NUMBER.fullmatch(wanted) else None
    words = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    for text in map(_plain, texts):
        if time:
            if time[0] in _times(text):
                return True
        elif number is not None:
            if any(float(each) == number for each in _NUMBER.findall(re.sub(r"[£$€¥]", " ", text))):
                return True
        elif words.search(text):
            return True
    return False


def _plain(text: str) -> str:
    """Small letters, without markup, runs of spaces and separators of thousands."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _THOUSANDS.sub("", " ".join(_MARKUP.sub("", folded).split()))


def _times(text: str) -> list[int]:
    """The times of day in a text, in minutes."""
    minutes = []
    for hour12, minute12, half, hour24, minute24 in _TIME.findall(text):
        hour = int(hour12) % 12 + (12 if half == "p" else 0) if half else int(hour24)
        minutes.append(60 * hour + int(minute12 or minute24 or 0))
    return minutes
