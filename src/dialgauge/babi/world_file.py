"""A world of one's own: a small YAML file, read safely and checked; and the worlds that come with dialgauge."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from dialgauge.babi.phrases import FIELDS, INFO, BotPhrases, Phrases, UserPhrases
from dialgauge.babi.world import Half, World
from dialgauge.babi.world_checks import check_world
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.source import resolve

#: The worlds that come with dialgauge.
BUILT_IN = ("restaurant", "bakery")

_KEYS = ("title", "domain", "name", "halves", "prices", "sizes", "ratings", "phrases")
_MAX_BYTES = 1 << 20
_MAX_DEPTH = 50
_WORD = re.compile(r"[^\s{}]+")


def load_world(source: str | Path = "restaurant") -> World:
    """A built-in world by its name, or the world in a YAML file.

    A file with ``base: restaurant`` says only what differs from that world; without it, everything must be said.
    """
    name = str(source)
    if name in BUILT_IN:
        return _world(_built_in(name))
    if not Path(name).exists() and not name.endswith((".yaml", ".yml")):
        raise DialgaugeError(f"there is no built-in world and no file named '{name}'.{nearest(name, BUILT_IN)}")
    raw = _mapping(_parsed(_text(name), name), "the file", name)
    try:
        base = raw.pop("base", None)
        if base is not None:
            if base not in BUILT_IN:
                raise DialgaugeError(f"there is no built-in world '{base}'.{nearest(str(base), BUILT_IN)}")
            raw = _merged(_built_in(base), raw)
        return _world(raw)
    except DialgaugeError as error:
        raise error.at(file=name) from None


def _text(name: str) -> str:
    if Path(name).is_dir():
        raise DialgaugeError("it is a folder; a world is one YAML file", file=name)
    parts = resolve(name, limit=_MAX_BYTES)
    if len(parts) != 1:
        raise DialgaugeError("a world is one YAML file", file=name)
    text = parts[0].text()
    if len(text) > _MAX_BYTES:
        raise DialgaugeError(f"it is larger than {_MAX_BYTES:,} characters, too large for a world", file=name)
    return text


def _built_in(name: str) -> dict[str, Any]:
    text = resources.files("dialgauge.babi").joinpath("worlds", f"{name}.yaml").read_text("utf-8")
    return _mapping(_parsed(text, name), "the file", name)


def _parsed(text: str, name: str) -> Any:
    """YAML by the safe loader, which makes plain values only; a key that stands twice is an error."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key, _ in node.value:
                if key.value in seen and isinstance(key, yaml.ScalarNode):
                    line = key.start_mark.line + 1
                    raise DialgaugeError(f"the key '{key.value}' stands twice", file=name, line=line)
                seen.add(str(key.value))
            return super().construct_mapping(node, deep)

    if _depth(text) > _MAX_DEPTH:
        raise DialgaugeError("its brackets are nested too deeply for a world", file=name)
    try:
        return yaml.load(text, Loader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DialgaugeError(f"it is not valid YAML ({error.problem})", file=name, line=line) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DialgaugeError("it is not valid YAML", file=name) from error


def _depth(text: str) -> int:
    """How deeply brackets are nested: the parser's time grows with the square of it."""
    depth = deepest = 0
    for char in text:
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    return deepest


def _merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The base with what the other says: mappings are merged, everything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _world(raw: dict[str, Any]) -> World:
    raw = {"title": "a world of one's own", "domain": "restaurant", **raw}
    _keys(raw, _KEYS, "a world")
    phrases = _mapping(raw["phrases"], "phrases")
    _keys(phrases, ("bot", "user"), "phrases")
    world = World(
        title=_line(raw["title"], "title"),
        domain=_word(raw["domain"], "domain"),
        name=_line(raw["name"], "name"),
        halves=_halves(raw["halves"]),
        prices=_words(raw["prices"], "prices"),
        sizes=_words(raw["sizes"], "sizes"),
        ratings=_numbers(raw["ratings"], "ratings"),
        phrases=Phrases(bot=_bot(phrases["bot"]), user=_user(phrases["user"])),
    )
    check_world(world)
    return world


def _halves(raw: Any) -> tuple[Half, ...]:
    halves = _mapping(raw, "halves")
    unknown = next((key for key in halves if key not in ("A", "B")), None)
    if unknown is not None:
        raise DialgaugeError(f"halves holds '{unknown}'; the halves are called A and B")
    if "A" not in halves:
        raise DialgaugeError("halves needs A, the half for training and test (B, for unseen entities, may be left out)")
    found = []
    for name in sorted(halves):
        where = f"halves.{name}"
        half = _mapping(halves[name], where)
        _keys(half, ("locations", "cuisines"), where)
        found.append(
            Half(
                name=name,
                locations=_words(half["locations"], f"{where}.locations"),
                cuisines=_words(half["cuisines"], f"{where}.cuisines"),
            )
        )
    return tuple(found)


def _bot(raw: Any) -> BotPhrases:
    said = _mapping(raw, "phrases.bot")
    _keys(said, BotPhrases.__struct_fields__, "phrases.bot")
    ask = _mapping(said["ask"], "phrases.bot.ask")
    _keys(ask, FIELDS, "phrases.bot.ask")
    plain = {key: _line(value, f"phrases.bot.{key}") for key, value in said.items() if key != "ask"}
    return BotPhrases(**plain, ask={key: _line(value, f"phrases.bot.ask.{key}") for key, value in ask.items()})


def _user(raw: Any) -> UserPhrases:
    said = _mapping(raw, "phrases.user")
    _keys(said, UserPhrases.__struct_fields__, "phrases.user")
    found: dict[str, Any] = {}
    for key, value in said.items():
        where = f"phrases.user.{key}"
        groups = {"request": FIELDS, "answer": FIELDS, "ask": INFO}.get(key)
        if groups is None:
            found[key] = _lines(value, where)
            continue
        group = _mapping(value, where)
        _keys(group, groups, where)
        found[key] = {name: _lines(lines, f"{where}.{name}") for name, lines in group.items()}
    return UserPhrases(**found)


def _mapping(raw: Any, where: str, file: str | None = None) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise DialgaugeError(f"{where} must hold keys with values, such as 'key: value'", file=file)
    return {str(key): value for key, value in raw.items()}


def _keys(raw: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Exactly the known keys, no other and none missing."""
    names = tuple(known)
    for key in raw:
        if key not in names:
            raise DialgaugeError(f"{where} has no key '{key}'.{nearest(key, names)}")
    missing = [name for name in names if name not in raw]
    if missing:
        raise DialgaugeError(f"{where} lacks {', '.join(missing)}")


def _list(raw: Any, where: str) -> list[Any]:
    if not isinstance(raw, list) or not raw:
        raise DialgaugeError(f"{where} must be a list with at least one value")
    return raw


def _line(raw: Any, where: str) -> str:
    if isinstance(raw, bool):
        raise DialgaugeError(f"{where} reads as yes or no in YAML; put the word in quotes")
    if not isinstance(raw, (str, int)) or not str(raw).strip():
        raise DialgaugeError(f"{where} lacks its text")
    return str(raw)


def _lines(raw: Any, where: str) -> tuple[str, ...]:
    return tuple(_line(item, where) for item in _list(raw, where))


def _word(raw: Any, where: str) -> str:
    word = _line(raw, where)
    if not _WORD.fullmatch(word):
        raise DialgaugeError(f"{where} holds '{word}', which is not one word; write underscores for spaces")
    return word


def _words(raw: Any, where: str) -> tuple[str, ...]:
    return tuple(_word(item, where) for item in _list(raw, where))


def _numbers(raw: Any, where: str) -> tuple[int, ...]:
    for item in _list(raw, where):
        if not isinstance(item, int) or isinstance(item, bool):
            raise DialgaugeError(f"{where} must be whole numbers, found {item!r}")
    return tuple(raw)
