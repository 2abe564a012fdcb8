"""A mapping for a file that no format reads."""

from __future__ import annotations

from dialgauge.errors import DialgaugeError
from dialgauge.formats import LAST_RESORT, Proposal, UnknownFormat, parts_of, propose_mapping, recognise


def proposed_mapping(file: str) -> str:
    """The proposal for a file as YAML, with what it reads and does not read in comments."""
    parts = parts_of(file)
    if len(parts) > 1:
        raise DialgaugeError("it holds several files; a mapping is proposed for one", file=file)
    try:
        named = recognise(parts[0]).name
    except UnknownFormat:
        named = ""
    if named not in ("", LAST_RESORT, "messages", "mapping", "mapped-log", "document"):
        return f"# it is read as {named} and needs no mapping\n"
    proposal: Proposal = propose_mapping(parts[0])
    return proposal.text()
