"""Proposes a mapping for a file that no layout fits, by generating mappings and testing them on its beginning.

A proposal is printed and never applied: a person reads it, corrects it and saves it beside the file. What cannot be
told is left open as ``CHOOSE: [a, b]``, which reading refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, State
from dialgauge.errors import DialgaugeError
from dialgauge.formats.common_layouts import common_mapping, keeps_slots
from dialgauge.formats.mapped_states import StateReader, the_decoder, whole_number
from dialgauge.formats.mapping import Field, Mapping, as_yaml, unread_fields
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import DECODERS, EMPTY, Misfit, domain_and_slot, slots_of, state_of
from dialgauge.formats.propose_logs import log_mapping, open_verdict, read_sample
from dialgauge.formats.registry import LAST_RESORT, UnknownFormat, recognise
from dialgauge.formats.row_paths import Row, beginning, inside, rows
from dialgauge.formats.row_structure import field_names, plain_name, possible_paths, ranked
from dialgauge.formats.source import Part, parts_of
from dialgauge.text import counted, plain

#: Names without case and punctuation, likeliest first. They only decide what is proposed.
_IDS = (
    *("dialogueid", "dialogue", "dialid", "dialogid", "dialog", "conversationid", "conversation", "convid", "conv"),
    *("sessionid", "customid", "guid", "dlg", "dlgid", "session", "file", "key", "name", "id"),
)
_TURNS = (
    *("turn", "turnid", "turnidx", "turnindex", "turnnum", "turnnumber", "turnno", "uttidx", "step", "position"),
    *("index", "idx", "t", "n", "i"),
)
_PREDICTED = (
    *("predicted", "prediction", "predictions", "pred", "predictedstate", "predstate", "predbelief"),
    *("predbeliefstate", "bspngen"),
)
_STATES = (
    *("state", "beliefstate", "dialoguestate", "belief", "states", "newstate", "output", "response", "answer"),
    *("completion", "value", "content"),
)
_GOLD = (
    *("gold", "goldstate", "gt", "groundtruth", "target", "targets", "tgt", "label", "labels", "reference"),
    *("bspn", "turnbelief"),
)
_SLOTS, _DOMAINS = ("slot", "slotname", "domainslot"), ("domain", "service")
_VALUES = ("predictedvalue", "predvalue", "pred", "prediction", "predicted", "value")
_SPEAKERS = ("speaker", "role")
_NOT_STATES = ("prev", "prevstate", "previousstate", "history", "context", "prompt", "instruction", "question", "goal")
_ID_AND_TURN = r"^(?P<dialogue>.+?)[-_ :/#|.]+(?:(?:turn|t)[-_ :]?)?(?P<turn>\d{1,4})$"
_NUMBERED = r"^\D*(?P<turn>\d+)$"
_SAMPLE = 200


class Proposal(Struct, frozen=True):
    """A mapping as YAML, three things that it reads, the share of values of what it does not read, and what is open."""

    yaml: str
    preview: tuple[str, ...]
    unread: dict[str, float]
    open: tuple[str, ...] = ()

    def text(self) -> str:
        """The mapping, with what it reads and does not read in comments."""
        remarks = [f"open: {what}" for what in self.open]
        remarks += self.preview
        unread = [f"{name} ({share:.0%})" for name, share in self.unread.items()]
        remarks += [f"not read (share of rows): {', '.join(unread)}"] if unread else []
        return "".join([self.yaml, *(f"# {plain(remark)[:160]}\n" for remark in remarks)])


def proposed_mapping(file: str) -> str:
    """The proposal for a file as YAML, with what it reads and does not read in comments."""
    parts = parts_of(file)
    if len(parts) > 1:
        raise DialgaugeError("it holds several files; a mapping is proposed for one", file=file)
    try:
        # FILE.map.yaml may be the empty file that a shell makes before 'data map FILE > FILE.map.yaml' begins.
        named = recognise(parts[0], mapping_beside=False).name
    except UnknownFormat:
        named = ""
    if named not in ("", LAST_RESORT, "messages", "mapping", "mapped-log", "document"):
        return f"# it is read as {named} and needs no mapping\n"
    return propose_mapping(parts[0]).text()


def propose_mapping(part: Part) -> Proposal:
    """The mapping that reads most of a file's beginning."""
    try:
        content = beginning(part)
    except Misfit as error:
        raise DialgaugeError(str(error), file=part.name) from None
    try:
        return _proposal(common_mapping(content), content, part)
    except Misfit as error:
        reason = str(error)
    if (log := log_mapping(content, part)) is not None:
        return _log_proposal(log, content, part)
    best: tuple[tuple[bool, bool, int], Mapping] | None = None
    for path in dict.fromkeys(possible_paths(content)):
        for mapping in _candidates(content, path, part.name):
            found = _read(mapping, content, part.name)
            turns = mapping.field("turn") is not None or isinstance(mapping.dialogue, Field)
            worth = turns, mapping.dialogue != "$file", _filled(found)
            if worth[-1] and (best is None or worth > best[0]):
                best = worth, mapping
    if best is None:
        raise DialgaugeError(
            f"no mapping reads it ({reason}); write one, or give a function from a record to a Dialogue", file=part.name
        )
    return _proposal(best[1], content, part)


def _proposal(mapping: Mapping, content: Any, part: Part) -> Proposal:
    found = _read(mapping, content, part.name)
    turns = [
        (dialogue.id, number, turn.predicted if turn.predicted is not None else turn.state or {})
        for dialogue in found
        for number, turn in enumerate(dialogue.turns)
    ]
    preview = [
        f"{dialogue}, turn {number}: {_shown(state)}"
        for dialogue, number, state in sorted(turns, key=lambda e: not e[2])
    ]
    sample = list(islice(rows(content, mapping.rows, part.name), _SAMPLE))
    keys: dict[str, Any] = msgspec.to_builtins(mapping)
    open_ones = []
    if (rivals := _rivals(mapping, sample)) and isinstance(keys.get("predicted"), dict):
        keys["predicted"]["at"] = {"CHOOSE": rivals}
        open_ones.append(f"which states are predicted: {' or '.join(rivals)}")
    unread = _unread(mapping, sample)
    if mapping.dialogue == "$file" and unread:
        keys["dialogue"] = {"CHOOSE": [*unread, "$file"]}
        open_ones.append("what names the dialogue of a row")
    if not keeps_slots(found) and isinstance(keys.get("predicted"), dict):
        keys["predicted"]["changes"] = {"CHOOSE": [True, False]}
        open_ones.append("no turn keeps a slot of the turn before: are these changes of each turn?")
    return Proposal(as_yaml(keys), tuple(preview[:3]), unread, tuple(open_ones))


def _shown(state: State) -> str:
    slots = [f"{domain}-{slot}={'|'.join(v)}" for domain, held in state.items() for slot, v in held.items()]
    return "; ".join(slots) or "(empty)"


def _log_proposal(mapping: Mapping, content: Any, part: Part) -> Proposal:
    sample = list(islice(rows(content, mapping.rows, part.name), _SAMPLE))
    keys: dict[str, Any] = msgspec.to_builtins(mapping)
    open_ones = open_verdict(mapping, sample, keys)
    for word in [word for word, role in mapping.roles.items() if role is None]:
        keys["roles"][word] = {"CHOOSE": ["user", "assistant", "tool", "system"]}
        open_ones.append(f"who '{word}' is")
    preview = []
    for dialogue in read_sample(mapping, sample, part)[:3]:
        said = next((turn.text for turn in dialogue.turns if turn.text), "")
        preview.append(f"{dialogue.id}: {counted(len(dialogue.turns), 'turn')}{f', {said[:60]!r}' if said else ''}")
    unread = {name: share for name, share in _unread(mapping, sample).items() if name not in as_yaml(keys)}
    return Proposal(as_yaml(keys), tuple(preview), unread, tuple(open_ones))


def _unread(mapping: Mapping, sample: Sequence[Row]) -> dict[str, float]:
    return {name: _share(name, sample) for name in unread_fields(mapping, sample)}


def _share(name: str, sample: Sequence[Row]) -> float:
    held = [row.value.get(name) for row in sample if isinstance(row.value, dict)]
    return sum(value not in EMPTY for value in held) / max(len(held), 1)


def _rivals(mapping: Mapping, sample: Sequence[Row]) -> list[str]:
    """Fields of the rows that hold states, where there are several and none is called predicted."""
    side = mapping.field("predicted")
    if side is None or side.columns or mapping.slot or plain_name(side.at) in _PREDICTED:
        return []
    gold = mapping.field("gold")
    others = [name for name in field_names(sample, 0) if name not in (side.at, gold.at if gold else "")]
    fitting = [name for name in others if plain_name(name) not in _NOT_STATES and _chains(name, sample)]
    return [side.at, *fitting] if fitting else []


def _read(mapping: Mapping, content: Any, stem: str) -> list[Dialogue]:
    """What a mapping reads; nothing where it does not fit."""
    try:
        return list(StateReader(mapping, stem).read(list(rows(content, mapping.rows, stem)), Notes()))
    except (DialgaugeError, Misfit):
        return []


def _filled(dialogues: Iterable[Dialogue]) -> int:
    states = [turn.predicted or turn.state or {} for dialogue in dialogues for turn in dialogue.turns]
    return sum(len(slots) for state in states for slots in state.values())


# -- mappings --------------------------------------------------------------------------------------------------------


def _candidates(content: Any, path: str, stem: str) -> Iterator[Mapping]:
    """Mappings of the rows of a path that may read the file."""
    try:
        sample = list(islice(rows(content, path, stem), _SAMPLE))
    except Misfit:
        return
    if not sample:
        return
    names, bound = field_names(sample), sample[0].bound
    positions = [f"[{number}]" for number in range(2)] if isinstance(sample[0].value, list) else []
    ids = [*(["{dialogue}"] if "dialogue" in bound else []), *ranked(names, _IDS), *positions[:1]] or ["$file"]
    turns = [*(["{turn}"] if "turn" in bound else []), *ranked(names, _TURNS), *positions[1:]]
    where = _where(names, sample)
    chosen = [row for row in sample if row.fits(where)]
    for dialogue in ids[:4]:
        for turn in turns[:3] or [""]:
            base = _numbered(Mapping(reads="states", rows=path, where=where, dialogue=dialogue), turn, chosen)
            if base is not None:
                yield from _with_states(base, names, chosen)


def _where(names: Sequence[str], sample: Sequence[Row]) -> dict[str, Any]:
    """The user's rows, where rows say who speaks."""
    for name in ranked(names, _SPEAKERS):
        values = {row.value.get(name) for row in sample if isinstance(row.value, dict)}
        users = [value for value in values if str(value).lower() in ("user", "usr")]
        if len(values) > 1 and len(users) == 1:
            return {name: users[0]}
    return {}


def _numbered(mapping: Mapping, turn: str, sample: Sequence[Row]) -> Mapping | None:
    """The mapping with its ids and numbers of turns; None where they do not fit."""
    try:
        names = [str(row.get(str(mapping.dialogue))) for row in sample]
        given = [row.get(turn) for row in sample] if turn else []
    except Misfit:
        return None
    field, joined = Field(at=turn), re.compile(_ID_AND_TURN)
    if not turn and len(set(names)) == len(names):
        if not all(map(joined.search, names)):
            return None  # a dialogue with one state each: the turns are elsewhere
        mapping = replace(mapping, dialogue=Field(at=str(mapping.dialogue), match=_ID_AND_TURN))
        found = [joined.search(name) for name in names]
        names, given = [match[1] for match in found if match], [match[2] for match in found if match]
        field = Field()
    elif not turn:
        return mapping
    try:
        numbers = [whole_number(value) for value in given]
    except Misfit:
        matches = [re.search(_NUMBERED, str(value)) for value in given]
        if not all(matches):
            return None
        numbers = [int(match["turn"]) for match in matches if match]
        field = replace(field, match=_NUMBERED)
    first = min(numbers)
    by_two = len(set(numbers)) > 1 and all((number - first) % 2 == 0 for number in numbers)
    field = replace(field, first=first, step=2 if by_two else 1)
    if first > 1:
        return None
    return replace(mapping, turn=None if field in (Field(), Field(at="{turn}")) else field)


def _with_states(mapping: Mapping, names: Sequence[str], sample: Sequence[Row]) -> Iterator[Mapping]:
    slots, values = ranked(names, _SLOTS), ranked(names, _VALUES)
    if slots and values:
        domains = ranked(names, _DOMAINS)
        yield replace(mapping, slot=(*domains[:1], slots[0]), predicted=values[0])
    wide = [name for name in field_names(sample, 0) if _names_slot(name)]
    if len(wide) > 1:
        domains = sorted({domain_and_slot(name.strip('"'))[0] for name in wide})
        yield replace(mapping, predicted=Field(columns=f"^((?:{'|'.join(map(re.escape, domains))})[-.: ].+)$"))
    gold = next(((name, chain) for name in ranked(names, _GOLD) for chain in _chains(name, sample)), None)
    places = [mapping.field("dialogue"), mapping.field("turn")]
    used = {*(place.at for place in places if place), *([gold[0]] if gold else [])}
    if gold:
        mapping = replace(mapping, gold=Field(at=gold[0], written=gold[1]))
    likely = [*ranked(names, _PREDICTED), *ranked(names, _STATES), *(name for name in names if "." not in name), ""]
    left = [name for name in dict.fromkeys(likely) if not name.startswith("^") and plain_name(name) not in _NOT_STATES]
    left = [name for name in left if name not in used and not any(_contains(name, other) for other in used)]
    for name in left:
        if chains := _chains(name, sample):
            yield replace(mapping, predicted=Field(at=name, written=chains[0]))
            return


def _contains(name: str, other: str) -> bool:
    """Whether a field holds another, such as the id; the row itself holds all that are no part of what is around."""
    inner = other and not other.startswith(("^", "{", "$"))
    return bool(inner) and (not name or other.startswith((f"{name}.", f"{name}[")))


def _names_slot(name: str) -> bool:
    try:
        domain, _ = domain_and_slot(name.strip('"'))
    except Misfit:
        return False
    return domain.isalpha() and plain_name(name) not in (*_IDS, *_TURNS)


def _chains(name: str, sample: Sequence[Row]) -> list[tuple[str, ...]]:
    """The openers and decoder that read a field in all rows, the plainest first."""
    try:
        values = [row.get(name) if name.startswith(("^", "{")) else inside(row.value, name) for row in sample]
    except Misfit:
        return []
    if all(value in EMPTY for value in values):
        return []
    try:
        return [the_decoder(values)]
    except Misfit:
        more = [("underscored",), ("json", "underscored"), *(("answer", decoder) for decoder in DECODERS)]
    return [chain for chain in more if all(_fits(value, chain) for value in values)]


def _fits(value: Any, chain: tuple[str, ...]) -> bool:
    try:
        state_of(slots_of(value, chain))
    except Misfit:
        return False
    return True
