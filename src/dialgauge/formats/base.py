"""What a format is, what it sees of a file to recognise it, and the helpers that readers and writers share.

A format is a subclass of :class:`DialogueFormat` (dialogues or predictions) or of :class:`ResourceFormat` (ontologies,
knowledge bases, candidates, ...). Ours stand in the table of ``registry.py``, those of other packages are entry points
of the group ``dialgauge.formats`` (``docs/extend/format.md``). ``recognise`` looks at the beginning of a file, ``read``
turns a part into dialogues.
"""

from __future__ import annotations

import ast
import re
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar

import msgspec
import orjson

from dialgauge.dialogue import Dialogue, Fact, Ontology, State, Turn, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.source import HEAD_BYTES, Part, decode_utf8

if TYPE_CHECKING:
    from dialgauge.formats.field_values import FieldValues

#: Everything a turn or dialogue may carry beside its speaker and id.
ALL_FIELDS = frozenset({*Turn.__struct_fields__, *Dialogue.__struct_fields__} - {"id", "turns", "speaker"})

ABSENT = frozenset({"", "none", "not mentioned"})
#: What is noted of turns that a table with a row per slot has no row for.
NO_ROWS = "turns without a row between turns with rows, read as empty states"
#: What is noted of a prediction that no reading makes a state of.
INVALID = "invalid outputs, scored as empty predictions"
#: And of one that was understood in part: it may mean another state.
PARTLY = "outputs that were not understood in whole"
#: A gold state beside predictions.
#: What is noted of steps of runs that are told beside these.
INNER_RUNS = "runs inside of other runs left out"
UNREAD_GOLD = "gold states in the file that cannot be read, left out"

DialogueKind: TypeAlias = Literal["dialogues", "predictions"]
ResourceKind: TypeAlias = Literal[
    "ontology", "knowledge base", "candidates", "ids", "values", "acts", "document", "tasks", "records"
]

T = TypeVar("T")

_MOST_PLACES = 20
#: How msgspec points to a byte, and numbers that are none, outside of texts.
_BYTE = re.compile(r"\(byte (\d+)\)")
_NAN = re.compile(rb"-?(?:NaN|Infinity)")
_NO_NUMBERS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|-?(?:NaN|Infinity)', re.DOTALL)
#: Escapes of JSON: both halves of a character beyond 16 bits, one of them alone, or any other.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_HALF = "half of an emoji, as where a text was cut"
#: How msgspec points into the list of turns of one dialogue, whatever the format calls that list, if anything.
_TURN_PATH = re.compile(r"`\$(?:\.\w+)?\[(\d+)\]")


class Notes:
    """What a reader or writer left out or changed, counted, so that nothing is dropped in silence."""

    def __init__(self, *, tolerant: bool = False) -> None:
        self.counts: Counter[str] = Counter()
        #: For what a score depends on: where it was, the first few places.
        self.places: dict[str, list[str]] = {}
        #: Of what was counted, fields that nobody reads, by what was counted.
        self.unread: dict[str, str] = {}
        #: Fields by which dialogues were judged, some of which may say nothing in others.
        self.judged_by: set[str] = set()
        #: Dialogues a tolerant reading left out because they could not be read, each with its reason and place.
        self.refused: list[DialgaugeError] = []
        #: What a reader made of a file whose layout it had to find out, in one line; and whether a name in it says that
        #: its states are predicted.
        self.understood = ""
        self.says_predicted = False
        #: Were the changes of each turn put together?
        self.adds_changes = False
        #: Has each slot a row, so that turns may have none?
        self.row_per_slot = False
        #: What that line counts, over all files of a folder.
        self.predicted_dialogues = 0
        self.predicted_slots: set[tuple[str, str]] = set()
        #: The number of the first turns in a file that numbers them one by one.
        self.numbered_from = 0
        #: Does nothing number the turns; and in how many dialogues do rows of others stand between them?
        self.unnumbered = False
        self.interleaved = 0
        #: What the user says, where predictions have it beside them, by dialogue and number of the user's turn.
        self.said: dict[str, dict[int, str]] = {}
        #: What ConvLab-3's dialogues are called in the dataset that they are from, by their ids.
        self.original_ids: dict[str, str] = {}
        #: Fields that hold states, too, and were not read.
        self.other_states: list[str] = []
        #: Did a table give all states the same slots, so that one it has no column or field for is lost?
        self.from_table = False
        self._tolerant = tolerant

    @cached_property
    def unread_values(self) -> FieldValues:
        """What stands in the fields of a log that nobody reads."""
        from dialgauge.formats.field_values import FieldValues

        return FieldValues()

    def add(self, what: str, count: int = 1) -> None:
        """Count ``what`` (a short phrase: ``field span_info dropped``)."""
        if count:
            self.counts[what] += count

    def add_unread(self, field: str) -> None:
        """Count a field that nobody reads."""
        what = f"field {field} not read"
        self.unread[what] = field
        self.add(what)

    def add_at(self, what: str, count: int, location: str) -> None:
        """Count ``what``, and keep the place while there are few."""
        self.add(what, count)
        places = self.places.setdefault(what, [])
        if len(places) < _MOST_PLACES:
            places.append(location)

    def refuse(self, error: DialgaugeError) -> None:
        """A dialogue cannot be read: the end of the reading, or one more entry of ``refused`` in a tolerant one."""
        if not self._tolerant:
            raise error
        self.refused.append(error)


class DialogueFormat(ABC):
    """A way of writing dialogues or predictions down."""

    name: ClassVar[str]
    #: One line for ``dialgauge data formats`` and error messages.
    summary: ClassVar[str]
    kind: ClassVar[DialogueKind] = "dialogues"
    #: Attributes of Turn and Dialogue that survive reading (and writing, for writers): what a round trip keeps.
    fields: ClassVar[frozenset[str]]
    writes: ClassVar[bool] = False
    #: May a dialogue begin in one file and end in the next? Such a format has a ``read_parts`` of its own.
    goes_on: ClassVar[bool] = False

    @abstractmethod
    def recognise(self, peek: Peek) -> bool:
        """Does the beginning of the file look like this format, and like no other?"""

    @abstractmethod
    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        """The dialogues of one file. Anything wrong is a :class:`DialgaugeError` with the place."""

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """The dialogues of several files that follow each other, with the file where each begins."""
        return ((part, dialogue) for part in parts for dialogue in self.read(part, notes))

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        """Write the dialogues to a binary stream; only for formats with ``writes``."""
        raise DialgaugeError(f"the format {self.name} can be read but not written")


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """What a file that is not dialogues holds; exactly the field of its kind is filled (none for a document)."""

    kind: ResourceKind
    ontology: Ontology | None = None
    facts: tuple[Fact, ...] = ()
    texts: tuple[str, ...] = ()
    #: For ``values``: slot to canonical value to paraphrases, as the file has it.
    values: dict[str, Any] = {}


class ResourceFormat(ABC):
    """A file that goes with dialogues: ontology, schema, knowledge base, candidates, list of ids, value map."""

    name: ClassVar[str]
    summary: ClassVar[str]
    kind: ClassVar[ResourceKind]

    @abstractmethod
    def recognise(self, peek: Peek) -> bool:
        """Does the beginning of the file look like this format, and like no other?"""

    @abstractmethod
    def load(self, part: Part, notes: Notes) -> Resource:
        """The content of one file."""


AnyFormat: TypeAlias = DialogueFormat | ResourceFormat
#: The slots of a domain that are filled, and those whose value means "absent".
_Slots: TypeAlias = tuple[dict[str, Values], dict[str, Values]]


def decode(
    decoder: msgspec.json.Decoder[T],
    content: bytes | msgspec.Raw,
    part: Part,
    *,
    line: int | None = None,
    dialogue: str | None = None,
    notes: Notes | None = None,
) -> T:
    """Typed JSON, or one sentence that says what is wrong and where in the structure.

    When the content is one dialogue, give its id: the error then names it and, where the structure tells, the turn.
    With ``notes``, halves of characters are replaced, and counted there.
    """
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        decode_utf8(bytes(content), part.name, line)
        match = _TURN_PATH.search(str(error)) if dialogue is not None or line is not None else None
        raise DialgaugeError(
            f"the JSON does not have the expected shape: {error}",
            file=part.name,
            line=line,
            dialogue=dialogue,
            turn=int(match[1]) if match else None,
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        decode_utf8(bytes(content), part.name, line)
        whole = without_halves(bytes(content))
        if whole != bytes(content):
            if notes is None:
                message = f"it holds {_HALF} (such as \\ud83d); write \\ufffd instead, or leave it out"
                raise DialgaugeError(message, file=part.name, line=line, dialogue=dialogue) from error
            notes.add(f"{_HALF}, read as the replacement character")
            return decode(decoder, whole, part, line=line, dialogue=dialogue)
        message = f"it is not valid JSON: {_no_number(bytes(content), str(error)) or error}"
        raise DialgaugeError(message, file=part.name, line=line, dialogue=dialogue) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply to be dialogue data"
        raise DialgaugeError(message, file=part.name, line=line, dialogue=dialogue) from error


def without_halves(content: bytes) -> bytes:
    """JSON in which the replacement character stands for halves of characters that are written as escapes.

    >>> without_halves(rb'"a \\ud83d, \\ud83d\\ude00, \\\\ud83d"')
    b'"a \\\\ufffd, \\\\ud83d\\\\ude00, \\\\\\\\ud83d"'
    """
    if b"\\ud" not in content and b"\\uD" not in content:
        return content
    return _ESCAPE.sub(lambda escape: b"\\ufffd" if escape[1] else escape[0], content)


def _no_number(content: bytes, error: str) -> str:
    """The sentence about a NaN, which many programs write and JSON does not have; empty where it is something else."""
    position = _BYTE.search(error)
    match = _NAN.match(content, int(position[1])) if position else None
    if match is None:
        return ""
    lines = content.count(b"\n", 0, match.start()) + 1
    where = f"line {lines:,}" if lines > 1 else f"byte {match.start():,}"
    return f"{match[0].decode()} ({where}) is not a JSON value; write null where there is none, or the intended number"


def clean_state(raw: dict[str, dict[str, str | list[str]]], blank: State | None = None) -> State:
    """A nested domain → slot → value(s) mapping as a state, without slots that mean "absent" (they go to ``blank``)."""
    return _gathered(((domain, _clean_slots(slots)) for domain, slots in raw.items()), blank)


def _gathered(domains: Iterable[tuple[str, _Slots]], blank: State | None) -> State:
    state: State = {}
    for domain, (filled, absent) in domains:
        if filled:
            state[domain] = filled
        if absent and blank is not None:
            blank[domain] = dict(absent)
    return state


def _clean_slots(raw: dict[str, str | list[str]]) -> _Slots:
    filled: dict[str, Values] = {}
    absent: dict[str, Values] = {}
    for slot, value in raw.items():
        values = present_text(value) if isinstance(value, str) else present(value)
        if values:
            filled[slot] = values
        else:
            absent[slot] = (value,) if isinstance(value, str) else tuple(value)
    return filled, absent


_STATE = msgspec.json.Decoder(dict[str, dict[str, str | list[str]]])
_DOMAINS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SLOTS = msgspec.json.Decoder(dict[str, str | list[str]])


def read_state(content: bytes, part: Part, blank: State | None = None) -> State:
    """:func:`clean_state` of JSON. All turns, and all files, share what is written the same: states, and domains."""
    try:
        state, absent = _known_state(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return clean_state(decode(_STATE, content, part), blank)
    if absent and blank is not None:
        blank |= {domain: dict(slots) for domain, slots in absent.items()}
    return state


@lru_cache(maxsize=1 << 15)
def _known_state(content: bytes) -> tuple[State, State]:
    absent: State = {}
    domains = [(domain, _known_slots(bytes(raw))) for domain, raw in _DOMAINS.decode(content).items()]
    return _gathered(domains, absent), absent


@lru_cache(maxsize=1 << 16)
def _known_slots(content: bytes) -> _Slots:
    return _clean_slots(_SLOTS.decode(content))


def present(value: str | list[str] | Values) -> Values:
    """The value or values as a tuple, without those that mean "absent"."""
    if isinstance(value, str):
        return () if value.strip().lower() in ABSENT else (value,)
    return tuple(item for item in value if item.strip().lower() not in ABSENT)


#: The same for one text, remembered: a file repeats a few thousand values over and over.
present_text: Callable[[str], Values] = lru_cache(maxsize=1 << 16)(present)


def alternatives(value: str, separators: str = "|<>") -> Values:
    """Acceptable values written in one string, ``a|b`` (MultiWOZ 2.4 also has ``a<b`` and ``a>b``), each once.

    >>> alternatives("hotel|guesthouse"), alternatives("none")
    (('hotel', 'guesthouse'), ())
    """
    pieces = [value]
    for separator in separators:
        if separator in value:
            pieces = [part for piece in pieces for part in piece.split(separator)]
    if len(pieces) == 1:
        return present(value)
    return tuple(dict.fromkeys(piece.strip() for piece in pieces if piece.strip().lower() not in ABSENT))


_ENCODER = msgspec.json.Encoder()


def write_array(records: Iterable[Any], out: IO[bytes]) -> None:
    """Write a JSON array, one record a line."""
    separator = b"[\n"
    for record in records:
        out.write(separator + _ENCODER.encode(record))
        separator = b",\n"
    out.write(b"\n]\n" if separator == b",\n" else b"[]\n")


_CLOSERS = {"{": "}", "[": "]"}
#: A string (perhaps cut off by the end), or a character that shapes the structure.
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\],]', re.DOTALL)
_NO_BRACKETS = re.compile(r"[^{}\[\]]+")
_DEEPEST = 200
_ESCAPED_LETTER = re.compile(rb"\\u00[2-7]")
_NUMBERED_KEY = re.compile(rb'"[0-9]{1,9}"\s*:')


class Peek:
    """The beginning of a file, by which a format is recognised: name, first lines, JSON as far as it got."""

    def __init__(self, part: Part, size: int = HEAD_BYTES) -> None:
        self.stem = part.stem
        self.head = without_halves(part.head(size))

    @cached_property
    def lines(self) -> list[str]:
        """The first lines as text (undecodable bytes replaced), at most 50."""
        return [line.rstrip("\r") for line in self.head.decode("utf-8", "replace").split("\n", 50)[:50]]

    @cached_property
    def json(self) -> Any:
        """The beginning of the file as JSON, open brackets closed; ``None`` when it is no JSON object or array."""
        text = self.head.decode("utf-8", "replace").lstrip()
        if not text.startswith(("{", "[")):
            return None
        # With NaN in it a file is no JSON; what format it means to be can be told all the same, and then where it is.
        if (value := _begun(text)) is None:
            value = _begun(_NO_NUMBERS.sub(_as_null, text))
        return value

    @cached_property
    def shape(self) -> str:
        """The opening brackets of the JSON and of its first entry (``{{``, ``{[``, ``[{``, ``{``, ...), or ``text``.

        ``lines`` where a bracket opens something else, such as JSON lines.
        """
        if self.json is None:
            return "lines" if self.head.decode("utf-8", "replace").lstrip()[:1] in _CLOSERS else "text"
        inside = self.first[1] if self.first else None
        return _bracket(self.json) + _bracket(inside)

    @cached_property
    def has_escaped_letters(self) -> bool:
        """Is an ASCII character of its JSON written as a number, so that looking for words may miss one?"""
        return b"\\u00" in self.head and _ESCAPED_LETTER.search(self.head) is not None

    @cached_property
    def has_numbered_keys(self) -> bool:
        """Is a number the key of something?"""
        return _NUMBERED_KEY.search(self.head) is not None

    @property
    def too_deep(self) -> bool:
        """Are more brackets open at once than any dialogue data would nest?"""
        depth = 0
        for token in _TOKENS.finditer(self.head.decode("utf-8", "replace")):
            depth += (token[0] in _CLOSERS) - (token[0] in ("}", "]"))
            if depth > _DEEPEST:
                return True
        return False

    @cached_property
    def first(self) -> tuple[str, Any] | None:
        """The first entry of the JSON: key and value of an object, or ``""`` and the element of an array."""
        if isinstance(self.json, dict) and self.json:
            return next(iter(self.json.items()))
        if isinstance(self.json, list) and self.json:
            return "", self.json[0]
        return None

    @cached_property
    def first_line(self) -> dict[str, Any] | None:
        """The JSON object on the first line that is not blank, as far as it got; ``None`` when there is none."""
        if len(self.lines) == 1 and isinstance(self.json, dict):
            return self.json  # the file is one long line, which takes a while to repair
        return first_object(next((line for line in self.lines if line.strip()), ""))


def without_nan(content: bytes) -> bytes:
    """JSON in which null stands for NaN and infinite numbers, which many programs write and JSON does not have."""
    if b"NaN" not in content and b"Infinity" not in content:
        return content
    return _NO_NUMBERS.sub(_as_null, content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _as_null(token: re.Match[str]) -> str:
    return token[0] if token[0].startswith('"') else "null"


def _bracket(value: Any) -> str:
    return "{" if isinstance(value, dict) else "[" if isinstance(value, list) else ""


def _begun(text: str) -> Any:
    """A JSON object or array, whole or cut off; ``None`` when it is neither."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _repaired(text)


def _repaired(text: str) -> Any:
    """Cut truncated JSON after its last whole member and close what is open; ``None`` if that is no JSON either."""
    # Every other piece is a string, once what quotes stand inside of strings is covered.
    pieces = text.replace("\\\\", "__").replace('\\"', "__").split('"')
    cut = len(text) + 1
    for number in reversed(range(len(pieces))):
        cut -= len(pieces[number]) + 1
        offset = max(map(pieces[number].rfind, ",}]")) if number % 2 == 0 else -1
        if offset >= 0:
            break
    else:
        return None
    end = pieces[number][: offset + 1]
    open_brackets, passes = _NO_BRACKETS.sub("", "".join([*pieces[:number:2], end])), 0
    while (fewer := open_brackets.replace("{}", "").replace("[]", "")) != open_brackets:
        open_brackets, passes = fewer, passes + 1
        if passes > _DEEPEST:
            return None
    if not open_brackets or passes + len(open_brackets) > _DEEPEST:
        return None  # a whole value followed by something else, such as JSON lines; or no dialogue data
    closers = "".join(_CLOSERS.get(bracket, "") for bracket in reversed(open_brackets))
    try:
        return orjson.loads(text[: cut + offset + (not end.endswith(","))] + closers)
    except orjson.JSONDecodeError:
        return None


def first_object(line: str) -> dict[str, Any] | None:
    """The JSON object on a line (of a JSONL file), as far as it got; ``None`` when there is none."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _repaired(line.lstrip()) if line.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else None


def rows_by_columns(written: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a table that was written by columns, as pandas does; none where it is no table.

    >>> rows_by_columns({"columns": ["a", "b"], "data": [[1, 2]]}), rows_by_columns({"a": {"0": 1}, "b": {"0": 2}})
    ([{'a': 1, 'b': 2}], [{'a': 1, 'b': 2}])
    """
    if isinstance(written.get("columns"), list) and isinstance(written.get("data"), list):
        cells = [row for row in written["data"] if isinstance(row, list)]
        return [dict(zip(map(str, written["columns"]), row, strict=False)) for row in cells]
    contents = list(written.values())
    if not all(isinstance(content, list | Mapping) for content in contents) or len(set(map(len, contents))) != 1:
        return []
    lists = [list(content.values()) if isinstance(content, Mapping) else content for content in contents]
    return [dict(zip(map(str, written), row, strict=True)) for row in zip(*lists, strict=True)]


def literal(text: str, longest: int = 1 << 30) -> Any:
    """What JSON or Python means by a text, which is data and never run; None where it is neither.

    Longer texts than ``longest`` are none of Python's.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return python_literal(text) if len(text) < longest else None


def python_literal(text: str) -> Any:
    """What Python means by a text; None where it is no literal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a model wrote may look like a bad escape
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
