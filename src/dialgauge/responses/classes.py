"""Kinds of replies, so that a plateau in a table can be read: which kinds a model gets right and which it never does.

The classes are those of tasks 1-5: fixed sentences, the first and later API calls, options (a restaurant is named),
phone numbers and addresses. For other data a reply is an API call or a sentence.
"""

from __future__ import annotations

from dialgauge.responses.episodes import Episode

FIXED, OPTION, PHONE, ADDRESS = "fixed", "option", "phone", "address"


def reply_classes(episode: Episode) -> list[str]:
    """The class of each reply of a dialog."""
    calls = 0
    found = []
    for at in episode.asked:
        reply = episode.lines[at + 1].text
        if reply.startswith("api_call "):
            calls += 1
            found.append(f"api {calls}")
        else:
            found.append(_of_sentence(reply))
    return found


def _of_sentence(reply: str) -> str:
    last = reply.rsplit(" ", 1)[-1]
    if last.endswith("_phone"):
        return PHONE
    if last.endswith("_address"):
        return ADDRESS
    return OPTION if " option: " in reply else FIXED
