"""What to tell people whose file no format fits: what was seen, what is missing, and a file that would do."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue, State
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Peek
from dialgauge.formats.predictions.columns import Columns
from dialgauge.formats.predictions.dialogue_turns import NotUnderstood
from dialgauge.formats.predictions.free_form import FILE_ID, FreeForm, sample
from dialgauge.formats.predictions.written_states import StateReader
from dialgauge.text import plain

#: What a file that is no table looks like, and what to do about it.
_LOOKS = (
    (re.compile(r'\s{0,9}"[{\[]'), "each line is a text that holds JSON: write the object without quotes around it"),
    (re.compile(r"[\w.'\"-]{1,80}:\s{0,9}\n[ -]|- \w{1,80}: "), "it looks like YAML: save it as JSON"),
    (re.compile(r"[\[({\s]{1,9}'"), "it looks like Python: write it with json.dump"),
    (re.compile(r"(?:(?:var|let|const) )?\w{1,60} ?= ?[\[{]"), "it is a program that assigns a value: write that value "
     "alone, with json.dump"),
    (re.compile(r"(?:[=#*>-]{1,9} ?)?\w[\w.]{0,60}[ =#*:-]{0,9}\n\W{0,9}(?:turn|t|utt)[ _#]{0,2}\d{1,4}\s?[:.)]", re.I),
     "a line names a dialogue, and those below it its turns: write rows with dialogue_id, turn and state"),
    (re.compile(r"(?:turn|t|utt)?[ _#]{0,2}[0-9]{1,4}[:.)] ?\w{1,40}[-.][\w ]{1,40}[=:]", re.IGNORECASE), "a turn "
     "alone does not say of which dialogue it is: write rows with dialogue_id, turn and state"),
    (re.compile(r"\[Content_Types\]"), "it is an Excel workbook: save the sheet as CSV"),
    (re.compile(r"[A-Za-z]\w{0,40}[-.][\w ]{1,40}[=:]"), "a state alone does not say whose it is: write rows with "
     "dialogue_id, turn and state"),
)  # fmt: skip
_SHOWN = 12
#: What an id has, and no domain.
_ODD_DOMAIN = re.compile(r"[0-9]{3}|[^\w ]")
_TURN_LABEL = re.compile(r"^(?:turn|t|utt)?[ _#]{0,2}[0-9]{1,4}[:.)] ?", re.IGNORECASE)
#: The share of names that two formats have in common which makes one near the other.
_LIKE = 0.2


def advice(peek: Peek, error: NotUnderstood) -> tuple[str, str]:
    """For a file that no format fits: what was seen, what is missing and what is like it; and a file that would do."""
    written = sample(peek)
    if not written:
        printable = all(map(str.isprintable, peek.lines[:5]))
        lines = [line for line in peek.lines if line.strip()]
        seen_as = ("\n".join(lines), peek.stem) if printable else (peek.stem,)
        look = next((sentence for pattern, sentence in _LOOKS if any(map(pattern.match, seen_as))), "")
        if not look and not (printable and peek.shape == "text"):
            return "", ""
        example = "" if "JSON" in look or "json" in look else "\n".join(_example(*_own_lines(lines, peek.stem)))
        return f"; {look or f'missing: {error.missing}'}", example
    keys = _keys_in(written)
    names = [plain(name)[:40] for name in error.names or keys][:_SHOWN]
    seen = f"; keys seen: {', '.join(names)}" if names else ""
    near = _nearest_format(set(keys))
    sentence = (
        f"{seen}; missing: {error.missing[:200]}; nearest format: {near} ('dialgauge data formats {near}' shows it)"
    )
    return sentence, "\n".join(_example(*_own_words(written, peek.stem)))


def names_in(peek: Peek) -> list[str]:
    """The names in the beginning of a file, outer ones first."""
    return [plain(name)[:40] for name in _keys_in(sample(peek))][:_SHOWN]


def _keys_in(written: Any, depth: int = 4) -> list[str]:
    """The names in the first records, outer ones first, without ids and turn numbers."""
    if depth == 0 or not isinstance(written, dict | list):
        return []
    items = written if isinstance(written, list) else list(written.values())
    inner = [name for item in items[:3] for name in _keys_in(item, depth - 1)]
    own = [key for key in written if not any(map(str.isdigit, key))][:_SHOWN] if isinstance(written, dict) else []
    return list(dict.fromkeys([*own, *inner]))


def _nearest_format(keys: set[str]) -> str:
    """The format of predictions whose example shares most names with the file."""
    from dialgauge.formats.registry import BUILT_IN, format_example

    ours = {
        name: set(re.findall(r'"(\w+)":', (format_example(name) or b"").decode()))
        for name in BUILT_IN
        if _predicts(name)
    }
    likeness = {name: len(keys & known) / (len(keys | known) or 1) for name, known in ours.items()}
    best = max(likeness, key=lambda name: (likeness[name], name == FreeForm.name))
    return best if likeness[best] >= _LIKE else FreeForm.name


def _predicts(name: str) -> bool:
    from dialgauge.formats.registry import BUILT_IN

    return ".predictions." in BUILT_IN[name].target or name.endswith("-predictions")


def _own_lines(lines: list[str], stem: str) -> tuple[str, State]:
    """The id that the first line of a text names, or its file, and the first state that a line holds."""
    name = lines[0].strip("=#*>: -\t") if lines else ""
    states = (_state_in(_TURN_LABEL.sub("", line.strip())) for line in lines[:_SHOWN])
    return name[:40] if FILE_ID.fullmatch(name.rpartition(".")[0] or name) else _own_words([], stem)[0], next(
        filter(None, states), {}
    )


def _own_words(written: Any, stem: str) -> tuple[str, State]:
    """The first id and the first state in what somebody wrote, or the name of the file; empty where there is none."""
    dialogue, state = "", State()
    name = stem.rpartition(".")[0] or stem
    for depth in range(5):
        if isinstance(written, list) and written:
            written = written[0]
            continue
        if not isinstance(written, dict) or not written:
            break
        columns = Columns.of([written])
        key, inner = next(iter(written.items()))
        if columns.dialogue and isinstance(written[columns.dialogue], str | int):
            dialogue = dialogue or str(written[columns.dialogue])
        elif depth == 0 and isinstance(inner, dict | list) and any(map(str.isdigit, key)):
            dialogue = key
        inside = [held for held in written.values() if isinstance(held, dict)]
        held = (
            [written[columns.state]] if columns.state else inside if columns.dialogue else [written, *written.values()]
        )
        state = next(filter(None, map(_state_in, held)), state)
        if state:
            break
        written = inner
    return (dialogue or (name if FILE_ID.fullmatch(name) else ""))[:40], state


def _state_in(written: Any) -> State:
    if isinstance(written, str) and not re.match(r"\s*[{[]|\w+[-.]\w", written):
        return {}
    notes = Notes()
    reader = StateReader(notes)
    try:
        reader.learn(written)
        state = reader.read(written, "", 0) if isinstance(written, dict | list | str) else {}
    except (DialgaugeError, RecursionError):
        return {}
    return {} if notes.counts or any(map(_ODD_DOMAIN.search, state)) else state


def states_example(dialogue: Dialogue) -> str:
    """A file of three lines for a dialogue without states, with the first that a reply holds."""
    states = (_state_in(turn.text) for turn in dialogue.turns if turn.speaker == "system")
    return "\n".join(_example(dialogue.id[:40], next(filter(None, states), {})))


def _example(dialogue: str, state: State) -> list[str]:
    """A file of three lines, with the user's own id and slots where there are any."""
    flat = {
        f"{domain}-{slot}"[:60]: values[0][:60] for domain, slots in state.items() for slot, values in slots.items()
    }
    slots = dict(list(flat.items())[:2]) or {"hotel-area": "north", "hotel-stars": "4"}
    first = dict(list(slots.items())[:1])
    rows = [(0, {}), (1, first), (2, slots)]
    name = dialogue or "dialogue-1"
    return [msgspec.json.encode({"dialogue_id": name, "turn": turn, "state": row}).decode() for turn, row in rows]
