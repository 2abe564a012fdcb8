"""What stands beside a value and says whether it is meant: flags, gates and operations.

``{"value": "north", "active": false}``, ``{"slot": "hotel-area", "value": "north", "op": "delete"}``, a column ``gate``
beside ``value``. What says that a slot is absent, or that the user does not care, is read so and counted; of others the
name is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dialgauge.formats.predictions.loose import Seen

_PLAIN = re.compile(r"[^a-z0-9]")
#: Flags that a value has where it is meant, and those it has where it is not.
_MEANT = re.compile(
    r"(?:is|was|has)?(?:active|activated|present|mentioned|filled|predicted|valid|enabled|set|exists|asserted|informed)"
)
_NOT_MEANT = re.compile(
    r"(?:is|was)?(?:deleted|removed|negated|negation|inactive|absent|empty|unset|dropped|cleared|rejected|retracted|"
    r"ignored?|none|null|missing|disabled)"
)
_ANYTHING = re.compile(r"(?:is|was)?(?:dontcare|donotcare|dontmind|dc)")
#: Names of one of several words.
_WORDS = re.compile(
    r"(?:slot)?(?:gate|gating|class|classtype|status|state|op|operation|action|change|changetype|relation|operator|pointer)"
)
_ABSENT_WORD = re.compile(
    r"delete[ds]?|removed?|inactive|absent|negated?|unset|dropped|cleared|rejected|retracted|notmentioned|notactive|"
    r"notpresent|notequal(?:to)?|not|isnot|neq"
)
_ABSENT_GATE = re.compile(r"none|null|off|empty|no")
_ANYTHING_WORD = re.compile(r"dontcare|donotcare|dontmind")
_YES, _NO = frozenset(("true", "yes", "1", "10", "y")), frozenset(("false", "no", "0", "00", "n", ""))
#: Other words of gates and operations, under which the value stands.
_KNOWN_WORDS = frozenset(
    """
    ptr pointer copy copyvalue gen generate span value update updated add added set keep carryover carry active filled
    present equal equalto is inform refer insert replace upsert new changed change modify unchanged mentioned true false
    """.split()  # noqa: SIM905
)


def _plain(name: object) -> str:
    return _PLAIN.sub("", str(name).lower())[:60]


def is_flag(name: object, held: Iterable[object]) -> bool:
    """Is it the name of what says whether a value is meant, and does it hold nothing else?"""
    plain = _plain(name)
    if _WORDS.fullmatch(plain):
        return True
    flag = _MEANT.fullmatch(plain) or _NOT_MEANT.fullmatch(plain) or _ANYTHING.fullmatch(plain)
    return flag is not None and all(_truth(each) is not None for each in held)


def meant_value(value: Any, beside: Mapping[Any, Any], seen: Seen) -> Any:
    """The value, or what stands beside it says of it: nothing where it is absent, ``dontcare`` where that is meant."""
    for name, held in beside.items():
        said = _said(_plain(name), held)
        if said == "absent":
            seen[f"values whose '{str(name)[:40]}' says that they are not meant, read as absent"] += 1
            return ""
        if said == "dontcare":
            seen[f"values whose '{str(name)[:40]}' says dontcare, read so"] += 1
            return "dontcare"
        if not said:
            seen[f"fields '{str(name)[:40]}' beside values, not read"] += 1
    return value


def _truth(held: object) -> bool | None:
    """Whether a flag is set; None where it is no flag."""
    if held is None or held != held:
        return False
    word = _plain(held)
    return True if word in _YES else False if word in _NO else None


def _said(name: str, held: object) -> str:
    """``absent``, ``dontcare``, ``meant``, or nothing where it is not understood."""
    if isinstance(held, Mapping | list | tuple):
        return ""
    word = _plain(held) if isinstance(held, str) else ""
    if _ABSENT_WORD.fullmatch(word):
        return "absent"
    if _WORDS.fullmatch(name):
        if _ANYTHING_WORD.fullmatch(word):
            return "dontcare"
        if held is False or _ABSENT_GATE.fullmatch(word):
            return "absent"
        return "meant" if word in _KNOWN_WORDS or held in (None, "", True) else ""
    truth = _truth(held)
    if truth is None:
        return ""
    if _MEANT.fullmatch(name):
        return "meant" if truth else "absent"
    if _NOT_MEANT.fullmatch(name):
        return "absent" if truth else "meant"
    if _ANYTHING.fullmatch(name):
        return "dontcare" if truth else "meant"
    return ""
