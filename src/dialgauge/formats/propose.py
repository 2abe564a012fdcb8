"""Proposes a mapping for a file that no layout fits: makes mappings from its structure and keeps what reads most.

Names are only hints here. A proposal is printed and never applied: a person reads it, corrects it and saves it beside
the file. What cannot be told is left open as ``CHOOSE: [a, b]``, which reading refuses. Tables with a column for each
slot or trial, and with a row for each slot, are not proposed: ``columns`` and ``slot`` are written by hand.
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
from dialgauge.formats.documented import documented_mapping
from dialgauge.formats.logs.logged import FAILURES, WORDS, number_in
from dialgauge.formats.logs.messages import ROLES, is_message
from dialgauge.formats.mapped_logs import LogReader
from dialgauge.formats.mapped_states import FEW_PAIRS, KeptSlots, StateReader, the_decoder, whole_number
from dialgauge.formats.mapping import Field, Mapping, as_yaml, unread_fields
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import DECODERS, EMPTY, Misfit, slots_of, state_of
from dialgauge.formats.registry import LAST_RESORT, UnknownFormat, recognise
from dialgauge.formats.row_paths import Row, as_text, beginning, decoded, inside, is_object, quoted, rows
from dialgauge.formats.source import Part, parts_of
from dialgauge.text import counted, plain

#: Names without case and punctuation, likeliest first. They only decide what is proposed.
_IDS = (
    *("dialogueid", "dialogue", "dialid", "dialogid", "dialog", "conversationid", "convid", "sessionid", "threadid"),
    *("traceid", "customid", "guid", "uuid", "conversation", "conv", "session", "dlg", "file", "key", "name", "id"),
)
_TURNS = ("turn", "turnid", "turnidx", "turnindex", "turnnum", "turnno", "uttidx", "step", "position", "index", "t")
_PREDICTED = ("predicted", "prediction", "predictions", "pred", "predictedstate", "predstate", "predbelief", "bspngen")
_STATES = ("state", "beliefstate", "dialoguestate", "belief", "states", "newstate")
_GOLD = ("gold", "goldstate", "gt", "groundtruth", "target", "tgt", "label", "labels", "bspn", "turnbelief")
_NOT_STATES = ("prev", "prevstate", "previousstate", "history", "context", "prompt", "instruction", "question", "goal")
_TASKS = (
    *("taskid", "task", "taskname", "problemid", "problem", "scenarioid", "scenario", "caseid", "case", "testid"),
    *("test", "testcase", "instanceid", "questionid", "exampleid", "itemid"),
)
_TRIALS = ("trial", "trialid", "trialindex", "run", "attempt", "epoch", "iteration", "repeat")
_VERDICTS = (
    *("success", "passed", "pass", "resolved", "solved", "correct", "completed", "succeeded", "verdict", "outcome"),
    *("result", "status", "label", "reward", "score", "grade", "rating", *FAILURES),
)
_ROLES = ("role", "from", "speaker", "author", "sender", "who", "type", "side")
_CONTENTS = ("content", "value", "text", "utterance", "message", "body")
_ASKED = ("prompt", "question", "query", "input", "user")
_ANSWERED = ("response", "answer", "completion", "output", "reply", "assistant")
_SPEAKERS = {
    **dict.fromkeys(("customer", "client", "caller", "guest", "usr", "person"), "user"),
    **dict.fromkeys(("bot", "gpt", "operator", "support", "sys", "chatbot", "llm"), "assistant"),
    "observation": "tool",
}
_ID_AND_TURN = r"^(?P<dialogue>.+?)[-_ :/#|.]+(?:(?:turn|t)[-_ :]?)?(?P<turn>\d{1,4})$"
_NUMBERED = r"^\D*(?P<turn>\d+)$"
#: Rows that are tried, different words that a verdict or a speaker may have, and objects inside of each other.
_SAMPLE, _MOST_WORDS, _DEEPEST = 200, 8, 4


class Proposal(Struct, frozen=True):
    """A mapping as YAML, three things that it reads, the share of values of what it does not read, and what is open."""

    yaml: str
    preview: tuple[str, ...]
    unread: dict[str, float]
    open: tuple[str, ...] = ()

    def text(self) -> str:
        """The mapping, with what it reads and does not read in comments."""
        remarks = [*(f"open: {what}" for what in self.open), *self.preview]
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
    """The mapping that reads most of a file's beginning: conversations, else states, else results."""
    try:
        content = beginning(part)
    except Misfit as error:
        raise DialgaugeError(str(error), file=part.name) from None
    try:
        mapping, reason = documented_mapping(content), "its documented names say what cannot be read"
        if _read(mapping, content, part):
            return _proposal(mapping, content, part)
    except Misfit as error:
        reason = str(error)
    best: tuple[tuple[int, ...], Mapping] | None = None
    for path in dict.fromkeys([*([""] if is_object(content) else []), *_paths(content)]):
        try:
            sample = list(islice(rows(content, path, part.name), _SAMPLE))
        except Misfit:
            continue
        for likely, mapping in _candidates(path, sample) if sample else ():
            worth = likely, *_worth(mapping, _read(mapping, content, part))
            if any(worth[1:]) and (best is None or worth > best[0]):
                best = worth, mapping
    if best is None:
        raise DialgaugeError(
            f"no mapping reads it ({reason}); write one, or give a function from a record to a Dialogue", file=part.name
        )
    return _proposal(best[1], content, part)


def _read(mapping: Mapping, content: Any, part: Part) -> list[Dialogue]:
    """What a mapping reads; nothing where it does not fit."""
    try:
        found = rows(content, mapping.rows, part.name)
        if mapping.reads == "states":
            return list(StateReader(mapping, part.name).dialogues(list(found), Notes()))
        return list(LogReader(mapping, Notes()).read(list(islice(found, _SAMPLE)), part))
    except (DialgaugeError, Misfit):
        return []


def _worth(mapping: Mapping, dialogues: Sequence[Dialogue]) -> tuple[int, ...]:
    """How good a mapping is among those of its kind; zeros where it reads nothing."""
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    if mapping.reads != "states":
        return (len(dialogues if mapping.reads == "results" else turns),)
    filled = sum(len(slots) for turn in turns for slots in (turn.predicted or turn.state or {}).values())
    has_turns = mapping.field("turn") is not None or isinstance(mapping.dialogue, Field)
    return (has_turns, mapping.dialogue != "$file", filled) if filled else (0,)


def _candidates(path: str, sample: Sequence[Row]) -> Iterator[tuple[int, Mapping]]:
    """Mappings that may read the rows of a path: conversations before results before states."""
    names = _names(sample)
    if not {_plain(name) for name in names} & {*_PREDICTED, *_STATES[:4], "goldstate"}:
        base = _with_ids(Mapping(reads="conversations", rows=path), names, sample)
        yield from ((3, mapping) for mapping in _conversations(base, names, sample))
        base = replace(base, reads="results")
        if (base.task or base.dialogue) and _verdicts(sample):
            yield 2, base
    yield from ((1, mapping) for mapping in _states(path, names, sample))


# -- what the structure of a file allows -----------------------------------------------------------------------------


def _paths(value: Any, depth: int = 0) -> Iterator[str]:
    """Paths of rows that the structure allows, likeliest first."""
    value = decoded(value)
    if isinstance(value, list) and value:
        first = decoded(value[0])
        if isinstance(first, list) and depth < 2:
            yield from (f"[]{path}" for path in _paths(first, depth + 1))
        yield "[]"
        for key, inner in first.items() if isinstance(first, dict) else ():
            if isinstance(inner, list):
                yield from (f"[].{quoted(key)}[]", f"[].{quoted(key)}[{{turn}}]")
    elif isinstance(value, dict) and value and depth < _DEEPEST:
        members = [decoded(each) for each in islice(value.values(), 20)]
        if all(isinstance(each, list) for each in members):
            yield from ("{dialogue}[{turn}]", "{dialogue}[]")
        elif all(isinstance(each, dict) for each in members):
            yield "{dialogue}.{turn}"
            for key in [key for key in members[0] if all(isinstance(each.get(key), list | dict) for each in members)]:
                if isinstance(members[0][key], list):
                    yield from (f"{{dialogue}}.{quoted(key)}[{{turn}}]", f"{{dialogue}}.{quoted(key)}[]")
                else:
                    yield f"{{dialogue}}.{quoted(key)}.{{turn}}"
        yield "{dialogue}"
        alike = len({type(each) for each in members}) == 1
        for key, inner in value.items() if len(value) < 3 or not alike else ():  # results beside settings
            for path in _paths(inner, depth + 1):
                yield f"{quoted(key)}{'' if path.startswith('[') else '.'}{path}"


def _names(sample: Sequence[Row], depth: int = 5) -> list[str]:
    """Paths of the fields of rows, and of the objects around them."""
    found = dict.fromkeys(name for row in sample[:40] for name in _fields(row.value, "", depth))
    for up, around in enumerate(reversed(sample[0].above) if sample and depth else (), 1):
        found.update(dict.fromkeys(f"{'^' * up}{quoted(name)}" for name in around))
    return list(found)


def _fields(value: Any, prefix: str, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(key, str) and key.strip():
                yield f"{prefix}{quoted(key)}"
                yield from _fields(inner, f"{prefix}{quoted(key)}.", depth - 1) if depth else ()
    elif isinstance(value, list) and value and depth and (len(value) == 1 or not prefix):
        for number, inner in enumerate(value[:8]):
            yield f"{prefix.rstrip('.')}[{number}]"
            yield from _fields(inner, f"{prefix.rstrip('.')}[{number}].", depth - 1)


def _plain(name: str) -> str:
    """The last name of a path in small letters and digits."""
    return re.sub(r"[^a-z0-9]", "", name.lower().rpartition(".")[2])


def _ranked(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """The names that are known, in the order in which these are."""
    fitting = [name for name in names if _plain(name) in known]
    return sorted(fitting, key=lambda name: (known.index(_plain(name)), name.count("."), name.count("^")))


def _values(name: str, sample: Sequence[Row]) -> list[Any]:
    """What rows say under a name, where they have it."""
    found = []
    for row in sample:
        try:
            found.append(row.get(name))
        except Misfit:
            continue
    return found


# -- what a proposal says --------------------------------------------------------------------------------------------


def _proposal(mapping: Mapping, content: Any, part: Part) -> Proposal:
    sample = list(islice(rows(content, mapping.rows, part.name), _SAMPLE))
    keys: dict[str, Any] = msgspec.to_builtins(mapping)
    filled = [row.value for row in sample if isinstance(row.value, dict)]
    unread = {
        name: sum(value.get(name) not in EMPTY for value in filled) / max(len(filled), 1)
        for name in unread_fields(mapping, sample)
    }
    found = _read(mapping, content, part)
    if mapping.reads == "states":
        preview, open_ones = _shown_states(found), _open_states(mapping, sample, keys, found, list(unread))
    else:
        preview, open_ones = _shown_log(found), _open_log(mapping, sample, keys)
    written = as_yaml(keys)
    unread = {name: share for name, share in unread.items() if name not in written}
    return Proposal(written, tuple(preview), unread, tuple(open_ones))


def _shown_states(found: Sequence[Dialogue]) -> list[str]:
    """Three turns, those with slots first."""
    turns = [
        (dialogue.id, number, turn.predicted if turn.predicted is not None else turn.state or {})
        for dialogue in found
        for number, turn in enumerate(dialogue.turns)
    ]
    first = sorted(turns, key=lambda turn: not turn[2])[:3]
    return [f"{name}, turn {number}: {_shown(state)}" for name, number, state in first]


def _shown(state: State) -> str:
    slots = [f"{domain}-{slot}={'|'.join(v)}" for domain, inner in state.items() for slot, v in inner.items()]
    return "; ".join(slots) or "(empty)"


def _open_states(
    mapping: Mapping, sample: Sequence[Row], keys: dict[str, Any], found: Sequence[Dialogue], unread: Sequence[str]
) -> list[str]:
    """What a person must choose, which is added to the keys."""
    open_ones = []
    predicted = keys.get("predicted")
    if isinstance(predicted, dict) and (rivals := _rivals(mapping, sample)):
        predicted["at"] = {"CHOOSE": rivals}
        open_ones.append(f"which states are predicted: {' or '.join(rivals)}")
    if mapping.dialogue == "$file" and unread:
        keys["dialogue"] = {"CHOOSE": [*unread, "$file"]}
        open_ones.append("what names the dialogue of a row")
    kept = KeptSlots()
    for dialogue in found:
        kept.add(dialogue)
    if isinstance(predicted, dict) and len(kept.vanishing) >= FEW_PAIRS:
        predicted["changes"] = {"CHOOSE": [True, False]}
        open_ones.append("hardly any turn keeps a slot of the turn before: are these changes of each turn?")
    return open_ones


def _rivals(mapping: Mapping, sample: Sequence[Row]) -> list[str]:
    """Fields of the rows that hold states, where there are several and none is called predicted."""
    side, gold = mapping.field("predicted"), mapping.field("gold")
    if side is None or _plain(side.at) in _PREDICTED:
        return []
    others = [name for name in _names(sample, 0) if name not in (side.at, gold.at if gold else "")]
    fitting = [name for name in others if _plain(name) not in _NOT_STATES and _chain(name, sample)]
    return [side.at, *fitting] if fitting else []


def _shown_log(found: Sequence[Dialogue]) -> list[str]:
    """Three conversations."""
    said = [next((turn.text for turn in dialogue.turns if turn.text), "") for dialogue in found[:3]]
    return [
        f"{dialogue.id}: {counted(len(dialogue.turns), 'turn')}{f', {text[:60]!r}' if text else ''}"
        for dialogue, text in zip(found[:3], said, strict=True)
    ]


def _open_log(mapping: Mapping, sample: Sequence[Row], keys: dict[str, Any]) -> list[str]:
    """What a person must choose, which is added to the keys."""
    open_ones = []
    if mapping.success is None and (found := _verdicts(sample)):
        open_ones += _open_verdict(found, keys)
    for word in [word for word, role in mapping.roles.items() if role is None]:
        keys["roles"][word] = {"CHOOSE": ["user", "assistant", "tool", "system"]}
        open_ones.append(f"who '{word}' is")
    return open_ones


def _open_verdict(found: dict[str, list[Any]], keys: dict[str, Any]) -> list[str]:
    """Adds the verdict to the keys: as it is where it is called success or passed, and else to be chosen."""
    name, values = next(iter(found.items()))
    words = list(dict.fromkeys(map(as_text, values)))
    unknown = any(word.lower() not in WORDS for word in words)
    if [other for other in found if _plain(other) in ("success", "passed")] == [name] and not unknown:
        keys["success"] = name
        return []
    success = keys["success"] = {"at": {"CHOOSE": list(found)}}
    open_ones = [f"which field says that a conversation passed: {' or '.join(found)}"]
    numbers = sorted({number for word in words if (number := number_in(word)) is not None})
    if unknown and len(numbers) == len(words):
        success["at_least"] = {"CHOOSE": (numbers[1:] or numbers)[:_MOST_WORDS]}  # from the lowest on all would pass
        open_ones.append("from which number on it passed")
    elif unknown or _plain(name) in FAILURES:
        success |= {"true_values": {"CHOOSE": words}, "false_values": {"CHOOSE": [*words]}}
        open_ones.append(f"which words of '{name}' mean passed and failed (lists): {', '.join(words)}")
    return open_ones


# -- states ----------------------------------------------------------------------------------------------------------


def _states(path: str, names: Sequence[str], sample: Sequence[Row]) -> Iterator[Mapping]:
    bound = sample[0].bound
    positions = [f"[{number}]" for number in range(2)] if isinstance(sample[0].value, list) else []
    ids = [*(["{dialogue}"] if "dialogue" in bound else []), *_ranked(names, _IDS), *positions[:1]] or ["$file"]
    turns = [*(["{turn}"] if "turn" in bound else []), *_ranked(names, _TURNS), *positions[1:]]
    where: dict[str, Any] = {}
    for name in _ranked(names, ("speaker", "role")):
        words = set(map(as_text, _values(name, sample)))
        users = [word for word in words if word.lower() in ("user", "usr")]
        where = where or ({name: users[0]} if len(words) > 1 and len(users) == 1 else {})
    chosen = [row for row in sample if row.fits(where)]
    for dialogue in ids[:4]:
        for turn in turns[:3] or [""]:
            base = _numbered(Mapping(reads="states", rows=path, where=where, dialogue=dialogue), turn, chosen)
            if base is not None:
                yield from _with_states(base, names, chosen)


def _numbered(mapping: Mapping, turn: str, sample: Sequence[Row]) -> Mapping | None:
    """The mapping with its ids and numbers of turns; None where they do not fit."""
    at = str(mapping.dialogue)
    ids, given = _values(at, sample), _values(turn, sample) if turn else []
    if len(ids) < len(sample) or (turn and len(given) < len(sample)):
        return None
    if not turn:
        if len(set(map(str, ids))) < len(ids):
            return mapping
        found = [re.search(_ID_AND_TURN, str(name)) for name in ids]
        if not all(found):
            return None  # a dialogue with one state each: the turns are elsewhere
        mapping = replace(mapping, dialogue=Field(at=at, match=_ID_AND_TURN))
        given = [match["turn"] for match in found if match]
    field = Field(at=turn)
    try:
        numbers = [whole_number(value) for value in given]
    except Misfit:
        matches = [re.search(_NUMBERED, str(value)) for value in given]
        if not all(matches):
            return None
        numbers = [int(match["turn"]) for match in matches if match]
        field = Field(at=turn, match=_NUMBERED)
    first = min(numbers, default=0)
    by_two = len(set(numbers)) > 1 and all((number - first) % 2 == 0 for number in numbers)
    if first > 1:
        return None
    field = replace(field, first=first, step=2 if by_two else 1)
    return replace(mapping, turn=None if field in (Field(), Field(at="{turn}")) else field)


def _with_states(mapping: Mapping, names: Sequence[str], sample: Sequence[Row]) -> Iterator[Mapping]:
    """The mapping with the first field that holds states."""
    read = ((name, _chain(name, sample)) for name in _ranked(names, _GOLD))
    gold = next((Field(at=name, written=chain) for name, chain in read if chain), None)
    places = [mapping.field("dialogue"), mapping.field("turn"), gold]
    used = {place.at for place in places if place}
    likely = [*_ranked(names, _PREDICTED), *_ranked(names, (*_STATES, *_ANSWERED, "value", "content"))]
    for name in dict.fromkeys([*likely, *(name for name in names if "." not in name), ""]):
        odd = name.startswith("^") or _plain(name) in _NOT_STATES or name in used
        if not odd and not any(_contains(name, other) for other in used) and (chain := _chain(name, sample)):
            yield replace(mapping, gold=gold, predicted=Field(at=name, written=chain))
            return


def _contains(name: str, other: str) -> bool:
    """Whether a field holds another, such as the id; the row itself holds all that are no part of what is around."""
    inner = other and not other.startswith(("^", "{", "$"))
    return bool(inner) and (not name or other.startswith((f"{name}.", f"{name}[")))


def _chain(name: str, sample: Sequence[Row]) -> tuple[str, ...]:
    """The plainest openers and decoder that read a field in all rows; empty where there are none."""
    values = _values(name, sample)
    if len(values) < len(sample) or all(value in EMPTY for value in values):
        return ()
    try:
        return the_decoder(values)
    except Misfit:
        more = [("underscored",), ("json", "underscored"), *(("answer", decoder) for decoder in DECODERS)]
    return next((chain for chain in more if all(_fits(value, chain) for value in values)), ())


def _fits(value: Any, chain: tuple[str, ...]) -> bool:
    try:
        state_of(slots_of(value, chain))
    except Misfit:
        return False
    return True


# -- conversations and results ---------------------------------------------------------------------------------------


def _conversations(base: Mapping, names: Sequence[str], sample: Sequence[Row]) -> Iterator[Mapping]:
    """Rows with lists of messages, rows that are messages, and rows with a question and an answer."""
    whole = [""] if all(isinstance(row.value, list) for row in sample) else []
    for name in [*whole, *(name for name in names if not name.startswith("^"))]:
        listed = [each for each in _values(name, sample) if each not in EMPTY]
        if listed and all(isinstance(each, list) for each in listed):
            how = _speaking([message for each in listed for message in each[:50]])
            if how is not None:
                yield replace(base, messages=(name,), **how)
    if (how := _speaking([row.value for row in sample])) is not None:
        yield replace(base, **{"role": "role", **how})
    asked, answered = (
        [name for name in _ranked(names, known) if any(isinstance(each, str) for each in _values(name, sample))]
        for known in (_ASKED, _ANSWERED)
    )
    if asked and answered and base.task is None:
        said = (Field(at=asked[0], role="user"), Field(at=answered[0], role="assistant"))
        yield replace(base, messages=said)


def _speaking(messages: Sequence[Any]) -> dict[str, Any] | None:
    """How messages say who speaks and what: nothing where they are written as usual, None where they are none."""
    if not messages or not all(isinstance(message, dict) for message in messages):
        return None
    if all(map(is_message, messages)):
        return {}
    names = list(dict.fromkeys(name for message in messages for name in message))
    roles, contents = _ranked(names, _ROLES), _ranked(names, _CONTENTS)
    try:
        words = dict.fromkeys(as_text(inside(message, roles[0])) for message in messages) if roles else {}
    except Misfit:
        return None
    if not contents or not 1 < len(words) <= _MOST_WORDS:
        return None
    given = {word: _SPEAKERS.get(word.strip().lower()) for word in words if word.strip().lower() not in ROLES}
    known = {"role": roles[0], "content": contents[0], "roles": given}
    return {name: value for name, value in known.items() if value and value != name}


def _verdicts(sample: Sequence[Row]) -> dict[str, list[Any]]:
    """Fields that are called like a verdict, likeliest first, with their values: few words, or numbers."""
    found = {}
    for name in _ranked(_names(sample), _VERDICTS):
        values = [each for each in _values(name, sample) if each not in EMPTY]
        few = all(isinstance(each, str | int | float) for each in values) and len(set(values)) <= _MOST_WORDS
        if values and (few or all(number_in(each) is not None for each in values)):
            found[name] = values
    return found


def _are_ids(name: str, sample: Sequence[Row]) -> bool:
    values = _values(name, sample)
    return len(values) == len(sample) and all(
        isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(str(value)) < 200 for value in values
    )


def _with_ids(mapping: Mapping, names: Sequence[str], sample: Sequence[Row]) -> Mapping:
    """The mapping with the ids of tasks, trials and conversations."""
    bound = ["{dialogue}"] if "dialogue" in sample[0].bound else []
    dialogue, task, trial = (
        next((name for name in _ranked([*names, *bound], known) if _are_ids(name, sample)), None)
        for known in (_IDS, _TASKS, _TRIALS)
    )
    numbers = [number_in(value) for value in _values(trial, sample)] if trial else []
    whole = all(number is not None and number >= 0 and number.is_integer() for number in numbers)
    dialogue = dialogue or next(iter(bound), None)
    return replace(mapping, dialogue=dialogue, task=task, trial=trial if whole else None)
