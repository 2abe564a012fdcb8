"""What to tell people whose file no format fits: what was seen, what is missing, and a file that would do."""

from __future__ import annotations

import io
import re
from typing import Any

from dialgauge.dialogue import Dialogue, State
from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import python_literal
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.columns import Columns, is_record
from dialgauge.formats.predictions.common import OF_FILES, example_rows
from dialgauge.formats.predictions.dialogue_turns import FILE_ID, NotUnderstood, dialogue_turn, turn_number
from dialgauge.formats.predictions.free_form import FreeForm, sample, table_rows
from dialgauge.formats.predictions.state_texts import names_domain
from dialgauge.formats.predictions.written_states import StateReader
from dialgauge.formats.source import HEAD_BYTES
from dialgauge.text import counted, plain

#: What a file that is no table looks like, and what to do about it.
_LOOKS = (
    (re.compile(r'\s{0,9}"[{\[]'), "each line is a text that holds JSON: write the object without quotes around it"),
    (re.compile(r"[\w.'\"-]{1,80}:\s{0,9}\n[ -]|- \w{1,80}: "), "it looks like YAML: save it as JSON: "
     "json.dump(yaml.safe_load(open('FILE')), open('predictions.json', 'w'))"),
    (re.compile(r"\{'.{0,5000}\}\s{0,9}\n\s{0,9}\{'"), "each line looks like Python: write it with json.dump, or in "
     "Python: open('predictions.jsonl', 'w').writelines(json.dumps(ast.literal_eval(line)) + '\\n' for line in "
     "open('FILE'))"),
    (re.compile(r"[\[({\s]{1,9}'"), "it looks like Python: write it with json.dump, or in Python: "
     "json.dump(ast.literal_eval(open('FILE').read()), open('predictions.json', 'w'))"),
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
#: What to do with the example.
_COMMAND = "; lines such as those below, in a file predictions.jsonl, are read: dialgauge score GOLD predictions.jsonl"
_SHOWN = 12
#: Letters of a line that are shown.
_QUOTED = 80
#: What an id has, and no domain.
_ODD_DOMAIN = re.compile(r"[0-9]{3}|[^\w ]|^.$")
#: Words of a text, the beginning of a slot with its value, and what no id has.
_WORD = re.compile(r"[A-Za-z0-9_.-]{3,40}")
_FIRST_SLOT = re.compile(r"[A-Za-z]{3,20}[-.][A-Za-z][A-Za-z ]{1,20}\s?[=:]")
_SENTENCE = re.compile(r"[\s={}<>]")
#: How much of a file is looked at for an id and a state, and of a line.
_LOOKED_AT, _LONG = 400, 2000
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
        if written is not None and (turn := dialogue_turn(peek.stem.rpartition(".")[0] or peek.stem)):
            look = f"it holds the state of one turn, {turn[1]} of {turn[0]}: put those of all turns into one file, "
            look += f"in Python: {OF_FILES}"
        if not look and not (printable and peek.shape == "text"):
            loads = peek.head.startswith(
                (b"\x80", b"\x93NUMPY", b"\xff\xff\xff\xff", b"ARROW1")
            )  # what Python can write as JSON
            return (_COMMAND, _example(_file_id(peek.stem), {})) if loads else ("", "")
        lacking = look or f"missing: {error.missing}{_first_line(lines)}"
        held = python_literal("\n".join(lines).strip()) if printable else None
        of_python = isinstance(held, dict | list)
        own = _own_words(held, peek.stem) if of_python else _own_lines(lines if printable else [], peek.stem)
        return f"; {lacking}{_COMMAND}", _example(*own)
    keys = _keys_in(written)
    names = [plain(name)[:40] for name in error.names or keys][:_SHOWN]
    seen = f"; keys seen: {', '.join(names)}{_records(peek)}" if names else ""
    near = _nearest_format(set(keys))
    sentence = f"{seen}; missing: {error.missing[:400]}; nearest format: {near} (docs/formats/predictions.md){_COMMAND}"
    return sentence, _example(*_own_words(written, peek.stem))


def _records(peek: Peek) -> str:
    """How many records a file has, where it is short enough to tell."""
    if len(peek.head) >= HEAD_BYTES - 3 or isinstance(peek.json, dict):
        return ""
    if peek.shape == "text" and peek.json is None:
        records = len(table_rows(io.StringIO(peek.head.decode(errors="replace"), newline="")))
    else:
        records = sum(bool(line.strip()) for line in peek.head.split(b"\n")) if peek.json is None else len(peek.json)
    return f" (of {counted(records, 'record')})"


def _first_line(lines: list[str]) -> str:
    return f"; its first line is '{plain(lines[0])[:_QUOTED]}'" if lines else ""


def example_from(written: Any) -> str:
    """A file that would do, with the first id and state of predictions in Python."""
    return _example(*_own_words(written, ""))


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
    """The first id in a text, or that of its file, and the first state that a line holds."""
    words = (word.strip(".") for line in lines[:_SHOWN] for word in _WORD.findall(line[:_LONG]))
    ids = (word for word in words if FILE_ID.fullmatch(word.removesuffix(".json")) and not word.isdigit())
    name = next(ids, "") or _file_id(stem)
    states = (_state_in_line(line[:_LONG]) for line in lines[:_SHOWN])
    return name, next(filter(None, states), {})


def _state_in_line(line: str) -> State:
    """The state in a line, with whatever stands before its first slot."""
    begin = _FIRST_SLOT.search(line)
    bare = _TURN_LABEL.sub("", line.strip())
    return _state_in(bare) or (_state_in(line[begin.start() :].strip()) if begin else {})


def _file_id(stem: str) -> str:
    name = stem.rpartition(".")[0] or stem
    turn = dialogue_turn(name)
    return next((each for each in (name, turn[0] if turn else "") if FILE_ID.fullmatch(each)), "")


def _own_words(written: Any, stem: str) -> tuple[str, State]:
    """The first id and the first state in what somebody wrote, or the name of the file; empty where there is none."""
    dialogue, state = "", State()
    pending, looked_at = [written], 0
    while pending and looked_at < _LOOKED_AT and not (dialogue and state):
        held, looked_at = pending.pop(0), looked_at + 1
        if not state and not _holds_records(held):
            state = _state_in(held)
        if isinstance(held, dict):
            dialogue = dialogue or _id_in(held)
            pending[:0] = [held[name] for name in filter(None, (Columns.of([held]).state,))]
            pending += list(held.values())[:_SHOWN]
        elif isinstance(held, list | tuple):
            dialogue = dialogue or next((item for item in held[:1] if isinstance(item, str) and _is_id(item)), "")
            pending += held[:_SHOWN]
    turn = dialogue_turn(dialogue)
    return (turn[0] if turn else dialogue or _file_id(stem))[:40], state


def _holds_records(held: Any) -> bool:
    """Is it a record, or several, and no state?"""
    items = held if isinstance(held, list | tuple) else [held]
    return any(isinstance(item, dict) and (is_record(item) or item is not held) for item in items)


def _id_in(record: dict[Any, Any]) -> str:
    """The id in a record, or the key of what it holds that may be one."""
    named = record.get(Columns.of([record]).dialogue)
    if isinstance(named, str | int) and named != "":
        return str(named)
    keys = (str(key) for key, held in record.items() if isinstance(held, dict | list))
    return next((key for key in keys if _is_id(key)), "")


def _is_id(word: str) -> bool:
    return len(word) < 60 and any(map(str.isdigit, word)) and turn_number(word) is None and not _SENTENCE.search(word)


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
    named_twice = any(names_domain(slot) for slots in state.values() for slot in slots)  # under a dialogue's id
    return {} if notes.counts or named_twice or any(map(_ODD_DOMAIN.search, state)) else state


def states_example(dialogue: Dialogue) -> str:
    """A file of three lines for a dialogue without states, with the first that a reply holds."""
    states = (_state_in(turn.text) for turn in dialogue.turns if turn.speaker == "system")
    return _example(dialogue.id, next(filter(None, states), {}))


def _example(dialogue: str, state: State) -> str:
    flat = {f"{domain}-{slot}": values[0] for domain, slots in state.items() for slot, values in slots.items()}
    return example_rows(dialogue, flat)
