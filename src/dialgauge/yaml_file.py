"""The one reader of the YAML files people write: profiles, configurations, worlds, catalogues.

A file gives plain values (texts, numbers, truth values, dates, lists, mappings), never code. Whatever is wrong with it
is a :class:`DialgaugeError` with file and line, within a moment: size, nesting and what aliases expand to are limited
before anything is built. A key that stands twice in a mapping is an error, and so is one that the record does not have.

>>> document = parse_yaml("name: mine\\nrules: [{drop: [unknown]}]", "mine.yaml")
>>> document.content
{'name': 'mine', 'rules': [{'drop': ['unknown']}]}
>>> document.line("rules", 0, "drop")
2
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from dialgauge.errors import DialgaugeError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

T = TypeVar("T")
#: A ``yaml.Node``; the stubs do not know that it has an ``id``.
_Node: TypeAlias = Any

#: What no file that a person writes exceeds.
MOST_BYTES = 1 << 20
MOST_NODES = 200_000
DEEPEST = 50
LONGEST_NUMBER = 100

_TAG = "tag:yaml.org,2002:"
_NOUNS = {"int": "an integer", "float": "a number", "bool": "a truth value", "timestamp": "a date", "binary": "bytes"}
_SURROGATE = re.compile("[\ud800-\udfff]")
#: What YAML reads as a truth value (no, off, yes) where a text is expected.
_MEANT_AS_TEXT = re.compile(r"Expected .*\bstr\b.*, got `bool`")
#: How msgspec points into a structure: ``$.rules[0].drop``, with ``[...]`` for the value of any key.
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|(\[\.\.\.\])")


def read_yaml(path: str | Path, *, as_text: bool = False) -> YamlDocument:
    """A YAML file of at most :data:`MOST_BYTES`; ``as_text`` leaves every scalar the text that was written."""
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except IsADirectoryError as error:
        raise DialgaugeError("it is a folder; one YAML file is expected", file=name) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DialgaugeError(f"it cannot be read ({reason})", file=name) from error
    if len(raw) > MOST_BYTES:
        raise DialgaugeError(f"it is larger than {MOST_BYTES:,} bytes, too large for a file of this kind", file=name)
    return parse_yaml(raw, name, as_text=as_text)


def shipped_yaml(room: str, *path: str, as_text: bool = False) -> YamlDocument:
    """A YAML file that comes with dialgauge, in a room such as ``dialgauge.users``."""
    folder = Path(__file__).parents[1].joinpath(*room.split("."))  # importlib.resources takes 10 ms to import
    return parse_yaml(folder.joinpath(*path).read_bytes(), path[-1], as_text=as_text)


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """One mapping over another: mappings inside them are merged too, everything else is replaced."""
    both = dict(below)
    for key, value in above.items():
        under = both.get(key)
        both[key] = merged(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return both


def parse_yaml(content: str | bytes, file: str | None = None, *, as_text: bool = False) -> YamlDocument:
    """The YAML in a text, or in the bytes of one; ``file`` is what errors name."""
    import yaml

    text = content if isinstance(content, str) else _decoded(content, file)
    try:
        _refuse_hostile(text)
        loader = _loader(text, as_text=as_text)
        root = loader.get_single_node()
        if root is not None:
            _checked(root, {})
        return YamlDocument(None if root is None else loader.construct_document(root), root, file)
    except DialgaugeError as error:
        raise error.at(file=file) from error.__cause__
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        reason = error.problem or error.context
        raise DialgaugeError(f"it is not valid YAML ({reason})", file=file, line=line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DialgaugeError(f"it is not valid YAML ({' '.join(str(error).split())})", file=file) from error


def _decoded(content: bytes, file: str | None) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DialgaugeError("it is not UTF-8 text; save it as UTF-8", file=file, line=line) from error


def as_record(content: Any, kind: type[T], what: str, *, file: str | None = None) -> T:
    """Plain values as a typed record; ``what`` completes the sentence "it is not …" (``a profile``)."""
    return YamlDocument(content, None, file).as_record(kind, what)


class YamlDocument:
    """What a YAML file says, and in which line."""

    def __init__(self, content: Any, root: _Node | None, file: str | None) -> None:
        self.content = content
        self.file = file
        self._root = root

    def line(self, *path: str | int) -> int | None:
        """The line of what keys and positions lead to, or of the last thing on the way there that exists."""
        node, line = self._root, None
        for step in path:
            key = _member(node, step)
            if key is None:
                break
            key_node, node = key
            line = key_node.start_mark.line + 1
        return line if line is not None or self._root is None else self._root.start_mark.line + 1

    def as_mapping(self, what: str) -> dict[str, Any]:
        """The content as options by name; an empty file has none."""
        content = {} if self.content is None else self.content
        if not isinstance(content, dict):
            self._refuse(f"it is not {what}: a mapping is expected, 'key: value' on each line")
        odd = next((key for key in content if not isinstance(key, str)), None)
        if odd is not None:
            self._refuse(f"it is not {what}: the key {odd!r} is not text; put it in quotes")
        return content

    def as_record(self, kind: type[T], what: str, *, strict: bool = True) -> T:
        """The content as a typed record; ``what`` completes the sentence "it is not …" (``a profile``).

        Texts are converted to numbers where it is not ``strict``.
        """
        import msgspec
        import msgspec.inspect

        for path, key, known in _unknown_keys(msgspec.inspect.type_info(kind), self.content):
            where = f" in '{_dotted(path)}'" if path else ""
            self._refuse(f"it is not {what}: there is no key '{key}'{where}.{nearest(key, known)}", *path, key)
        try:
            return msgspec.convert(self.content, kind, strict=strict)
        except msgspec.ValidationError as error:
            reason, _, location = str(error).partition(" - at ")
            path = _path(location)
            where = f" in '{_dotted(path)}'" if path else ""
            if path and reason == "Expected `array`, got `str`":
                self._refuse(
                    f"it is not {what}: '{_dotted(path)}' is a list; put it in brackets: [ ]", *path, cause=error
                )
            quotes = "; put it in quotes if it is meant as text" if _MEANT_AS_TEXT.search(reason) else ""
            self._refuse(f"it is not {what}: {reason.replace('`', '')}{where}{quotes}", *path, cause=error)

    def _refuse(self, message: str, *path: str | int, cause: Exception | None = None) -> NoReturn:
        raise DialgaugeError(message, file=self.file, line=self.line(*path)) from cause


def _dotted(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _path(location: str) -> tuple[str | int, ...]:
    """The steps of a place as msgspec writes it, up to the first that does not say which."""
    path: list[str | int] = []
    for name, number, unknown in _STEP.findall(location):
        if unknown:
            break
        path.append(int(number) if number else name)
    return tuple(path)


def _member(node: _Node | None, step: str | int) -> tuple[_Node, _Node] | None:
    """The node that marks the place of a key or element, and the node of its value."""
    if node is None or isinstance(node.value, str):
        return None
    if node.id == "mapping":
        return next(((key, value) for key, value in node.value if key.value == str(step)), None)
    elements: list[_Node] = node.value
    return (elements[step], elements[step]) if isinstance(step, int) and step < len(elements) else None


def _unknown_keys(
    kind: Any, content: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str, list[str]]]:
    """Path, key and the known names, for each key that the record it belongs to does not have."""
    from msgspec import inspect

    if isinstance(kind, inspect.UnionType):
        of_parts = (inspect.StructType, inspect.DictType, inspect.ListType)
        fitting = [each for each in kind.types if isinstance(each, of_parts)]
        kind = fitting[0] if len(fitting) == 1 else None
    if isinstance(kind, inspect.StructType) and isinstance(content, dict):
        fields = {field.encode_name: field.type for field in kind.fields}
        for key, value in content.items():
            if key in fields:
                yield from _unknown_keys(fields[key], value, (*path, key))
            elif key != kind.tag_field:
                yield path, str(key), list(fields)
    elif isinstance(kind, inspect.DictType) and isinstance(content, dict):
        for key, value in content.items():
            yield from _unknown_keys(kind.value_type, value, (*path, str(key)))
    elif isinstance(kind, inspect.CollectionType) and isinstance(content, list):
        for position, value in enumerate(content):
            yield from _unknown_keys(kind.item_type, value, (*path, position))


# What is looked at before anything is built.


def _refuse_hostile(text: str) -> None:
    """Refuse control characters, and nesting that would take stack for each level."""
    import yaml
    from yaml.reader import Reader

    if odd := Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, odd.start()) + 1
        raise DialgaugeError(f"it is not valid YAML (the character U+{ord(odd[0]):04X} is not allowed)", line=line)
    loader, depth = _base()(text), 0
    try:
        while loader.check_event():
            event = loader.get_event()
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                message = f"it is nested more than {DEEPEST} levels deep, too deeply for a file of this kind"
                raise DialgaugeError(message, line=event.start_mark.line + 1)
    except ValueError as error:  # PyYAML's own scanner: an escape that is no character
        raise DialgaugeError(f"it is not valid YAML ({error})", line=loader.line + 1) from error
    finally:
        loader.dispose()


def _checked(node: _Node, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Nodes and levels of a node with its aliases expanded; an error for what no file that a person writes has."""
    if id(node) in known:
        size, depth = known[id(node)]
        if not size:
            _refuse_node(node, "it is not valid YAML (an alias stands for something that contains the alias)")
        return size, depth
    known[id(node)] = 0, 0
    parts: list[_Node] = []
    if node.id == "mapping":
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if key.id == "scalar":
                if (key.tag, key.value) in seen:
                    _refuse_node(key, f"the key '{key.value[:80]}' appears twice")
                seen.add((key.tag, key.value))
        parts = [part for pair in node.value for part in pair]
    elif node.id == "scalar":
        if _SURROGATE.search(node.value):
            _refuse_node(node, "it is not valid YAML (half of a surrogate pair is no character)")
        if node.tag in (f"{_TAG}int", f"{_TAG}float") and len(node.value) > LONGEST_NUMBER:
            _refuse_node(node, _misfit(node))  # converting takes time that grows with the square of the digits
    else:
        parts = list(node.value)
    sizes = [_checked(part, known) for part in parts]
    size, depth = 1 + sum(size for size, _ in sizes), 1 + max((depth for _, depth in sizes), default=0)
    if size > MOST_NODES or depth > DEEPEST + 1:
        _refuse_node(node, "it holds too much for a file of this kind once its aliases are expanded")
    known[id(node)] = size, depth
    return size, depth


def _refuse_node(node: _Node, message: str, cause: Exception | None = None) -> NoReturn:
    raise DialgaugeError(message, line=node.start_mark.line + 1) from cause


def _base(*, as_text: bool = False) -> Any:
    """libyaml's loader, ten to twenty times as fast as Python's, where it is installed."""
    import yaml

    name = "BaseLoader" if as_text else "SafeLoader"
    return getattr(yaml, f"C{name}", getattr(yaml, name))


def _loader(text: str, *, as_text: bool = False) -> Any:
    class Loader(_base(as_text=as_text)):  # type: ignore[misc]
        """The safe loader, with a line in every error."""

        def construct_object(self, node: _Node, deep: bool = False) -> Any:
            import yaml

            try:
                return super().construct_object(node, deep)
            except (yaml.YAMLError, DialgaugeError):
                raise
            except Exception as error:  # PyYAML's constructors let KeyError, IndexError, ValueError, ... through
                _refuse_node(node, _misfit(node), error)

    return Loader(text)


def _misfit(node: _Node) -> str:
    tag = str(node.tag).removeprefix(_TAG)
    text = node.value if isinstance(node.value, str) else ""
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    return f"'{shown}' is not {_NOUNS.get(tag, f'a value of the type {tag}')}; put it in quotes if it is meant as text"
