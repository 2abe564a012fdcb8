"""Proposes a mapping for a file that no layout fits: makes mappings from its structure and keeps what reads most.

Names are only hints here. A proposal is printed and never applied: a person reads it, corrects it and saves it beside
the file. What cannot be told is left open as ``CHOOSE: [a, b]``, which reading refuses. Proposed are states under a
field of each row, conversations and results; ``columns``, ``slot`` and ``join`` are written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.documented import documented_mapping
from dialgauge.formats.logs.logged import WORDS, number_in
from dialgauge.formats.logs.messages import ROLES, is_message
from dialgauge.formats.mapped_logs import LogReader
from dialgauge.formats.mapped_states import StateReader, the_decoder
from dialgauge.formats.mapping import Field, Mapping, Reading, as_yaml, unread_fields
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import EMPTY, Misfit, slots_of, state_of
from dialgauge.formats.registry import LAST_RESORT, UnknownFormat, recognise
from dialgauge.formats.row_paths import Row, as_text, beginning, decoded, inside, is_object, quoted, rows
from dialgauge.formats.source import Part, parts_of
from dialgauge.text import counted, plain

#: Names without case and punctuation, likeliest first. They only decide what is proposed.
_KNOWN = {
    "dialogue": "dialogueid dialogue dial dialid dialogid conversationid convid conv sessionid traceid customid key id",
    "turn": "turn turnid turnidx turnindex turnnum step index t",
    "predicted": "predicted prediction predictions pred predictedstate predstate",
    "gold": "gold goldstate gt groundtruth target label",
    "state": "state beliefstate dialoguestate belief states",
    "answer": "output response answer completion value content",
    "no state": "prev prevstate previousstate history context prompt instruction question goal",
    "task": "taskid task taskname problemid scenarioid scenario case caseid testid test questionid itemid",
    "trial": "trial trialid run attempt epoch iteration repeat",
    "verdict": "success passed pass resolved solved correct completed verdict outcome result status label reward score",
    "role": "role from speaker author sender who type",
    "content": "content value text utterance message",
}
_SPEAKERS = {"customer": "user", "usr": "user", "bot": "assistant", "gpt": "assistant", "sys": "assistant"}
_ID_AND_TURN = r"^(?P<dialogue>.+?)[-_ :/#|.]+(?:(?:turn|t)[-_ :]?)?(?P<turn>\d{1,4})$"
_NUMBERED = r"^\D*(?P<turn>\d+)$"
#: Ways of writing states that are tried where no closed one fits.
_CHAINS = (("underscored",), ("json", "underscored"), ("answer", "flat"), ("answer", "nested"))
#: Rows that are tried, different words that a verdict or a speaker may have, and objects inside of each other.
_SAMPLE, _MOST_WORDS, _DEEPEST = 200, 8, 4
#: Fields that a mapping to fill in offers.
_MOST_NAMES = 20


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
    if named not in ("", LAST_RESORT, "messages", "document"):
        return f"# it is read as {named} and needs no mapping\n"
    return propose_mapping(parts[0])


def propose_mapping(part: Part) -> str:
    """The mapping that reads most of a file's beginning: conversations, else results, else states."""
    try:
        content = beginning(part)
    except Misfit as error:
        raise DialgaugeError(str(error), file=part.name) from None
    try:
        read = _read(documented_mapping(content), content, part)
        if read[1]:
            return _proposal(*read, content, part)
        reason = "its documented names say what cannot be read"
    except Misfit as error:
        reason = str(error)
    best: tuple[Any, ...] = ()
    for likely, candidate in _candidates(content, part):
        mapping, found = _read(candidate, content, part)
        worth = likely, *_worth(mapping, found)
        if found and worth[-1] and (not best or worth > best[0]):
            best = worth, mapping, found
    return _proposal(best[1], best[2], content, part) if best else _skeleton(content, part, reason)


def _skeleton(content: Any, part: Part, reason: str) -> str:
    """A mapping to fill in, for the path with the most objects."""
    samples: dict[str, list[Row]] = {"": []}
    for each in _paths(content):
        with suppress(Misfit):
            sample = islice(rows(content, each, part.name), _SAMPLE)
            samples[each] = [row for row in sample if isinstance(row.value, dict)]
    path, most = max(samples.items(), key=lambda item: len(item[1]))
    scalar = (name for name in _names(most) if not any(isinstance(each, dict | list) for each in _values(name, most)))
    names = list(islice(scalar, _MOST_NAMES))
    if not names:
        raise DialgaugeError(
            f"no mapping reads it ({reason}); write one, or give a function from a record to a Dialogue", file=part.name
        )
    keys: dict[str, Any] = {"reads": {"CHOOSE": ["results", "conversations", "states"]}, "rows": path}
    keys |= {"task": {"CHOOSE": names}, "trial": {"CHOOSE": list(names)}}
    keys["success"] = {"at": {"CHOOSE": list(_verdicts(most)) or list(names)}}
    remarks = (
        "found no states, no lists of messages, and no verdict beside a task, so this is to be filled in",
        "results: remove the trial where there is none; a column for each trial is success: {columns: PATTERN}",
        "reads: conversations needs messages, too; reads: states needs dialogue, turn, and predicted or gold instead",
    )
    return "".join([as_yaml(keys), *(f"# {remark}\n" for remark in remarks)])


def _read(mapping: Mapping, content: Any, part: Part) -> tuple[Mapping, list[Dialogue]]:
    """A mapping with what reading it told of turns and decoders, and what it reads; nothing where it does not fit."""
    notes = Notes()
    reading = notes.reading = Reading(mapping)
    try:
        held = [row for row in rows(content, mapping.rows, part.name) if row.fits(mapping.where)]
        if mapping.reads == "states":
            found = list(StateReader(mapping, part.name, documented=True).read(held, notes))
        else:
            found = list(LogReader(mapping, notes).read(held[:_SAMPLE], part))
    except (DialgaugeError, Misfit):
        return mapping, []
    return reading.mapping, found


def _worth(mapping: Mapping, dialogues: Sequence[Dialogue]) -> tuple[int, ...]:
    """How good a mapping is among those of its kind; the last number is 0 where it reads nothing."""
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    if mapping.reads != "states":
        return (len(dialogues if mapping.reads == "results" else turns),)
    filled = sum(len(slots) for turn in turns for slots in (turn.predicted or turn.state or {}).values())
    numbered = mapping.field("turn") is not None or isinstance(mapping.dialogue, Field)
    return numbered, mapping.dialogue != "$file", filled


# -- what the structure of a file allows -----------------------------------------------------------------------------


def _candidates(content: Any, part: Part) -> Iterator[tuple[int, Mapping]]:
    """Mappings that may read a file: conversations before results before states."""
    for path in dict.fromkeys([*([""] if is_object(content) else []), *_paths(content)]):
        try:
            sample = list(islice(rows(content, path, part.name), _SAMPLE))
        except Misfit:
            continue
        if sample:
            names = _names(sample)
            if not _ranked(names, "predicted") and not _ranked(names, "state"):
                yield from _logs(path, names, sample)
            yield from ((1, mapping) for mapping in _states(path, names, sample))


def _paths(value: Any, depth: int = 0) -> Iterator[str]:
    """Paths of rows that the structure allows, likeliest first."""
    value = decoded(value)
    if isinstance(value, list) and value:
        yield "[]"
        first = decoded(value[0])
        for key, inner in first.items() if isinstance(first, dict) else ():
            if isinstance(inner, list):
                yield from (f"[].{quoted(key)}[]", f"[].{quoted(key)}[{{turn}}]")
    elif isinstance(value, dict) and value and depth < _DEEPEST:
        members = [decoded(each) for each in islice(value.values(), 20)]
        if all(isinstance(each, list) for each in members):
            yield from ("{dialogue}[{turn}]", "{dialogue}[]")
        elif all(isinstance(each, dict) for each in members):
            yield "{dialogue}.{turn}"
            for key, inner in members[0].items():
                if isinstance(inner, list):
                    yield from (f"{{dialogue}}.{quoted(key)}[{{turn}}]", f"{{dialogue}}.{quoted(key)}[]")
                elif isinstance(inner, dict):
                    yield f"{{dialogue}}.{quoted(key)}.{{turn}}"
        yield "{dialogue}"
        alike = len({type(each) for each in members}) == 1
        for key, inner in value.items() if len(value) < 3 or not alike else ():  # results beside settings
            for path in _paths(inner, depth + 1):
                yield f"{quoted(key)}{'' if path.startswith('[') else '.'}{path}"


def _names(sample: Sequence[Row]) -> list[str]:
    """Paths of the fields of rows, and of the objects around them."""
    found = dict.fromkeys(name for row in sample[:40] for name in _fields(row.value, "", _DEEPEST))
    for up, around in enumerate(reversed(sample[0].above if sample else ()), 1):
        found.update(dict.fromkeys(f"{'^' * up}{quoted(name)}" for name in around))
    return list(found)


def _fields(value: Any, prefix: str, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(key, str) and key.strip():
                yield f"{prefix}{quoted(key)}"
                yield from _fields(inner, f"{prefix}{quoted(key)}.", depth - 1) if depth else ()
    elif isinstance(value, list) and len(value) == 1 and depth:
        yield from _fields(value[0], f"{prefix.rstrip('.')}[0].", depth - 1)


def _plain(name: str) -> str:
    """The last name of a path in small letters and digits."""
    return re.sub(r"[^a-z0-9]", "", name.lower().rpartition(".")[2])


def _is_called(name: str, what: str) -> bool:
    return _plain(name) in _KNOWN[what].split()


def _ranked(names: Iterable[str], what: str) -> list[str]:
    """The names that are known for something, likeliest first."""
    known = _KNOWN[what].split()
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


# -- states ----------------------------------------------------------------------------------------------------------


def _states(path: str, names: Sequence[str], sample: Sequence[Row]) -> Iterator[Mapping]:
    bound = [f"{{{name}}}" for name in sample[0].bound]
    ids = [*(name for name in bound if name == "{dialogue}"), *_ranked(names, "dialogue")][:4] or ["$file"]
    turns = [*(name for name in bound if name == "{turn}"), *_ranked(names, "turn")][:3]
    users = ((name, value) for name in _ranked(names, "role") for value in _values(name, sample))
    where = dict(islice((each for each in users if as_text(each[1]).lower() == "user"), 1))
    chosen = [row for row in sample if row.fits(where)]
    gold = next((field for name in _ranked(names, "gold") if (field := _field(name, chosen))), None)
    likely = [name for what in ("predicted", "state", "answer") for name in _ranked(names, what)]
    likely += [*(name for name in names if "." not in name), ""]
    for dialogue in ids:
        for turn in turns or [""]:
            used = {dialogue, turn, gold.at if gold else ""} - {""}
            free = (name for name in dict.fromkeys(likely) if _is_free(name, used))
            predicted = next((field for name in free if (field := _field(name, chosen))), None)
            base = Mapping(
                reads="states",
                rows=path,
                where=where,
                dialogue=dialogue,
                predicted=predicted,
                gold=gold,
            )
            if predicted and turn:
                yield from (replace(base, turn=Field(at=turn, match=match)) for match in ("", _NUMBERED))
            elif predicted:
                yield replace(base, dialogue=Field(at=dialogue, match=_ID_AND_TURN))
                yield base


def _is_free(name: str, used: Iterable[str]) -> bool:
    """Whether a field may hold states: it holds no field that is used, such as the id."""
    inside_of = any(not name or other.startswith((f"{name}.", f"{name}[")) for other in used if other[0] not in "^{$")
    return not (inside_of or name in used or name.startswith("^") or _is_called(name, "no state"))


def _field(name: str, sample: Sequence[Row]) -> Field | None:
    """A field that holds states in all rows, with the plainest openers and decoder; None where it does not."""
    values = _values(name, sample)
    if len(values) < len(sample) or all(value in EMPTY for value in values):
        return None
    try:
        return Field(at=name, written=the_decoder(values))
    except Misfit:
        chain = next((chain for chain in _CHAINS if all(_fits(value, chain) for value in values)), None)
        return Field(at=name, written=chain) if chain else None


def _fits(value: Any, chain: tuple[str, ...]) -> bool:
    try:
        state_of(slots_of(value, chain))
    except Misfit:
        return False
    return True


# -- conversations and results ---------------------------------------------------------------------------------------


def _logs(path: str, names: Sequence[str], sample: Sequence[Row]) -> Iterator[tuple[int, Mapping]]:
    """Rows with a list of messages, rows that are messages, and rows with a verdict."""
    bound = ["{dialogue}"] if "dialogue" in sample[0].bound else []
    dialogue, task, trial = (
        next((name for name in _ranked([*names, *bound], known) if _are_ids(name, sample)), None)
        for known in ("dialogue", "task", "trial")
    )
    if trial and not all((number := number_in(value)) is not None and number >= 0 for value in _values(trial, sample)):
        trial = None
    base = Mapping(reads="conversations", rows=path, dialogue=dialogue, task=task, trial=trial)
    tried = base
    if {"dialogue", "turn"} <= set(sample[0].bound):
        path = path.replace("{dialogue}", "{task}").replace("{turn}", "{trial}")
        tried = Mapping(reads="conversations", rows=path, task="{task}", trial="{trial}")
    for name in ["", *(name for name in names if not name.startswith("^"))]:
        listed = [each for each in _values(name, sample) if each not in EMPTY]
        if listed and all(isinstance(each, list) for each in listed):
            how = _speaking([message for each in listed for message in each[:50]])
            if how is not None:
                yield 3, replace(tried, messages=(name,), **how)
    if (how := _speaking([row.value for row in sample])) is not None:
        yield 3, replace(base, **{"role": "role", **how})
    if (task or dialogue) and _ranked(_verdicts(sample), "verdict"):
        yield 2, replace(tried, reads="results")


def _are_ids(name: str, sample: Sequence[Row]) -> bool:
    values = _values(name, sample)
    known = (isinstance(value, str | int) and not isinstance(value, bool) for value in values)
    return len(values) == len(sample) and all(known) and all(0 < len(str(value)) < 200 for value in values)


def _speaking(messages: Sequence[Any]) -> dict[str, Any] | None:
    """How messages say who speaks and what: nothing where they are written as usual, None where they are none."""
    if not messages or not all(isinstance(message, dict) for message in messages):
        return None
    if all(map(is_message, messages)):
        return {}
    names = list(dict.fromkeys(name for message in messages for name in message))
    roles, contents = _ranked(names, "role"), _ranked(names, "content")
    try:
        words = dict.fromkeys(as_text(inside(message, roles[0])) for message in messages) if roles else {}
    except Misfit:
        return None
    if not contents or not 1 < len(words) <= _MOST_WORDS:
        return None
    given = {word: _SPEAKERS.get(word.strip().lower()) for word in words if word.strip().lower() not in ROLES}
    known = {"role": roles[0], "content": contents[0], "roles": given}
    return {name: value for name, value in known.items() if value and value != name}


def _verdicts(sample: Sequence[Row]) -> dict[str, list[str]]:
    """Fields that may be the verdict, with their words: true or false, called like one, or numbers from 0 to 1.

    What is the same in all rows is none.
    """
    names = _names(sample)
    known = _ranked(names, "verdict")
    found: tuple[dict[str, list[str]], ...] = {}, {}, {}
    for name in dict.fromkeys([*known, *names]):
        values = [each for each in _values(name, sample) if each not in EMPTY]
        words = list(dict.fromkeys(as_text(each) for each in values if isinstance(each, str | int | float)))
        numbers = [number_in(each) for each in values]
        if not words or len(words) == 1 < len(values):
            continue
        if all(isinstance(each, bool) for each in values):
            found[0][name] = words
        elif name in known and (len(words) <= _MOST_WORDS or None not in numbers):
            found[1][name] = words
        elif all(number is not None and 0 <= number <= 1 for number in numbers) and not _is_called(name, "trial"):
            found[2][name] = words
    return found[0] | found[1] | found[2]


def _is_known(word: str) -> bool:
    """Whether a word of a verdict needs no list of words: true, false, yes, no, or a number."""
    return word.lower() in WORDS or number_in(word) is not None


# -- what a proposal says --------------------------------------------------------------------------------------------


def _proposal(mapping: Mapping, found: Sequence[Dialogue], content: Any, part: Part) -> str:
    """The mapping as YAML; in comments what is open, three things that it reads, and the fields that it does not."""
    sample = list(islice(rows(content, mapping.rows, part.name), _SAMPLE))
    keys: dict[str, Any] = msgspec.to_builtins(mapping)
    of_states = mapping.reads == "states"
    open_ones = list(_open_states(mapping, sample, keys) if of_states else _open_log(mapping, sample, keys))
    remarks = [f"open: {what}" for what in open_ones]
    remarks += islice(_shown_states(found) if of_states else map(_shown_conversation, found), 3)
    filled = [row.value for row in sample if isinstance(row.value, dict)]
    written = as_yaml(keys)
    shares = {name: sum(value.get(name) not in EMPTY for value in filled) for name in unread_fields(mapping, sample)}
    unread = [f"{name} ({share / len(filled):.0%})" for name, share in shares.items() if name not in written]
    remarks += [f"not read (share of rows): {', '.join(unread)}"] if unread else []
    return "".join([written, *(f"# {plain(remark)[:160]}\n" for remark in remarks)])


def _shown_states(found: Sequence[Dialogue]) -> Iterator[str]:
    """Turns with their states, those with slots first."""
    turns = [
        (dialogue.id, number, turn.predicted if turn.predicted is not None else turn.state or {})
        for dialogue in found
        for number, turn in enumerate(dialogue.turns)
    ]
    for name, number, state in sorted(turns, key=lambda turn: not turn[2]):
        slots = [f"{domain}-{slot}={'|'.join(v)}" for domain, inner in state.items() for slot, v in inner.items()]
        yield f"{name}, turn {number}: {'; '.join(slots) or '(empty)'}"


def _shown_conversation(dialogue: Dialogue) -> str:
    text = next((turn.text for turn in dialogue.turns if turn.text), "")
    return f"{dialogue.id}: {counted(len(dialogue.turns), 'turn')}{f', {text[:60]!r}' if text else ''}"


def _open_states(mapping: Mapping, sample: Sequence[Row], keys: dict[str, Any]) -> Iterator[str]:
    """What a person must choose, which is added to the keys."""
    if mapping.dialogue == "$file" and (unread := unread_fields(mapping, sample)):
        numbers = {name: found for name in unread if (found := _turn_numbers(quoted(name), sample))}
        keys["dialogue"] = {"CHOOSE": [*(name for name in unread if name not in numbers), "$file"]}
        yield "what names the dialogue of a row"
        if numbers and mapping.turn is None:
            first = min(next(iter(numbers.values())))
            step = 2 if all((number - first) % 2 == 0 for number in next(iter(numbers.values()))) else 1
            keys["turn"] = {"at": {"CHOOSE": list(numbers)}, "first": first, "step": step}
            yield "what numbers the turns"
    side, gold = mapping.field("predicted"), mapping.field("gold")
    if side is not None and not _is_called(side.at, "predicted"):
        names = {name for row in sample if isinstance(row.value, dict) for name in row.value}
        others = sorted(names - {side.at, gold.at if gold else ""})
        if rivals := [name for name in others if not _is_called(name, "no state") and _field(quoted(name), sample)]:
            keys["predicted"]["at"] = {"CHOOSE": [side.at, *rivals]}
            yield f"which states are predicted: {' or '.join([side.at, *rivals])}"


def _turn_numbers(name: str, sample: Sequence[Row]) -> set[int]:
    """The different numbers of a field that begins at 0 or 1 and has whole numbers only; none of others."""
    numbers = {number_in(value) for value in _values(name, sample)}
    whole = {int(number) for number in numbers if number is not None and number.is_integer()}
    return whole if len(whole) == len(numbers) > 1 and min(whole) in (0, 1) else set()


def _open_log(mapping: Mapping, sample: Sequence[Row], keys: dict[str, Any]) -> Iterator[str]:
    """What a person must choose, which is added to the keys; a verdict is sure only as ``success`` or ``passed``."""
    found, given = _verdicts(sample), mapping.field("success")
    if given is not None:  # only its words may be open
        words = found.get(given.at, [])
        found = {} if all(map(_is_known, words)) else {given.at: words}
    elif not found:
        yield "which field says that a conversation passed: none that it may be has two values (success)"
    if found:
        name, words = next(iter(found.items()))
        known = all(map(_is_known, words))
        if known and [other for other in found if _plain(other) in ("success", "passed")] == [name]:
            keys["success"] = name
        else:
            success = keys["success"] = {"at": {"CHOOSE": list(found)} if given is None else given.at}
            if given is None:
                yield f"which field says that a conversation passed: {' or '.join(found)}"
            if not known:
                success |= {"true_values": {"CHOOSE": words}, "false_values": {"CHOOSE": [*words]}}
                yield f"which words of '{name}' mean passed and failed (lists): {', '.join(words)}"
    for word in [word for word, role in mapping.roles.items() if role is None]:
        keys["roles"][word] = {"CHOOSE": ["user", "assistant", "tool", "system"]}
        yield f"who '{word}' is"
