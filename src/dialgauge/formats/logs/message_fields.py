"""Members of messages that nobody reads, so that none is dropped in silence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from dialgauge.formats.logs.content_parts import CALL_KEYS, call_entries, calls_before, calls_under
from dialgauge.formats.logs.fact_names import plain_key
from dialgauge.formats.logs.fact_values import is_unjudged
from dialgauge.formats.logs.messages import is_spoken, item_kind, role_of, unwrapped
from dialgauge.text import CAMEL_CASE

#: What is read of messages, and what says nothing of what was said or done, without case and punctuation.
_KNOWN = frozenset(
    """
    role from speaker sender author type content value text parts blocks message utterance body payload source event
    direction kind data kwargs lc toolcalls functioncall toolresults toolname function action observation thought
    args arguments actioninput actionargs toolinput toolargs toolarguments toolparams toolparameters
    parameters params input result output error iserror errortext status
    state parttype public name title model provider object version usage cost tokens metadata meta extra extras
    additionalkwargs responsemetadata providermetadata refusal annotations logprobs audio images attachments
    experimentalattachments reasoning reasoningcontent thinking thinkingblocks example artifact cachecontrol weight
    language lang confidence words wordcount order turn step seq sequence issidechain usertype cwd gitbranch
    tooluseresult isvisible visible private avatar raw rawcontent partial turncomplete interrupted ismeta level
    timestamp time created date
    """.split()  # noqa: SIM905
)
#: How keys end that say which message it is, when it was sent, or what it took.
_OF_NO_MATTER = re.compile(
    r"(?:^|_)(?:ids?|uuid|at|time|timestamp|date|ms|secs?|seconds|index|idx|number|name|metadata|usage|tokens|cost"
    r"|reason|metrics|duration|latency)$"
)


def unread_fields(messages: Iterable[Any], known: Collection[str]) -> Iterator[str]:
    """The members of messages that nobody reads; ``known`` are those read of all messages."""
    for message in messages:
        if not isinstance(message, dict) or is_spoken(message) or item_kind(raw := unwrapped(message)):
            continue
        for key, value in raw.items() if role_of(raw) else ():
            if not _is_empty(value) and key not in known and not _is_read(key, value):
                yield key


def _is_read(key: str, value: Any) -> bool:
    if key in CALL_KEYS:
        return len(list(calls_under(value))) == len(call_entries(value))
    if any(calls_before(key, value)):
        return True
    return plain_key(key) in _KNOWN or _OF_NO_MATTER.search(CAMEL_CASE.sub("_", key).lower()) is not None


def _is_empty(value: Any) -> bool:
    """Is there nothing in it, as in an object all of whose members are empty, or a text that says none?"""
    return is_unjudged(value) or not (any(value.values()) if isinstance(value, dict) else value)
