"""What every part of ``domain.yaml`` is made of: mappings, texts, lists of texts, and errors with their line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeAlias

from dialgauge.dialogue import DONTCARE
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import comparable, plain
from dialgauge.yaml_file import YamlDocument

#: The keys that lead to a part of the file.
Location: TypeAlias = tuple[str | int, ...]

DOMAIN_FILE = "domain.yaml"
NO_WISH = f"the value '{DONTCARE}' cannot be told from having no wish at all; write it otherwise"
_NAME = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")


class DocumentReader:
    """Takes a document apart; whatever is wrong with a part is an error at its line."""

    def __init__(self, document: YamlDocument) -> None:
        self._document = document

    def mapping(self, content: Any, location: Location, known: tuple[str, ...] | None = None) -> dict[str, Any]:
        """The content as a mapping, of these keys alone where they are given."""
        if not isinstance(content, dict):
            where = f"'{location[-1]}'" if location else "it"
            self.refuse(f"{where} must be a mapping, 'key: value' on each line", location)
        for key in content:
            if not isinstance(key, str):
                self.refuse("a key must be a text", location)
            if known is not None and key not in known:
                where = f" in '{location[-1]}'" if location else ""
                self.refuse(f"there is no key '{key}'{where}.{nearest(key, known)}", (*location, key))
            if not key.strip():
                self.refuse("a name is empty", (*location, key))
        return content

    def section(
        self, content: Mapping[str, Any], key: str, location: Location, known: tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """The mapping under a key; an empty one where nothing is written there."""
        return {} if nothing(content.get(key)) else self.mapping(content[key], (*location, key), known)

    def text(self, content: Mapping[str, Any], key: str, location: Location) -> str:
        """The text under a key; an empty one where nothing is written there."""
        value = content.get(key)
        if nothing(value):
            return ""
        if not isinstance(value, str):
            self.refuse(f"'{key}' must be a text", (*location, key))
        return " ".join(value.split())

    def texts(self, content: Mapping[str, Any], key: str, location: Location) -> list[str]:
        """The list of texts under a key; an empty one where nothing is written there."""
        return [] if nothing(content.get(key)) else self.items(content[key], (*location, key))

    def items(self, given: Any, location: Location, *, empty: bool = False) -> list[str]:
        """A list of texts, each once; ``empty``: one of them may be empty."""
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            self.refuse(f"'{location[-1]}' must be a list of texts: [one, two]", location)
        if "" in given and not empty:
            self.refuse(f"'{location[-1]}' has an empty entry", (*location, given.index("")))
        seen: set[object] = set()
        for position, item in enumerate(given):
            if comparable(item) in seen:
                self.refuse(f"'{item}' stands twice in '{location[-1]}'", (*location, position))
            seen.add(comparable(item))
        return list(given)

    def check_values(self, values: Iterable[str], location: Location) -> None:
        """Refuse a value that says that there is no wish."""
        for position, value in enumerate(values):
            if plain(value) == DONTCARE:
                self.refuse(NO_WISH, (*location, position))

    def check_known(self, names: Iterable[str], known: Iterable[str], what: str, location: Location) -> None:
        """Refuse a name that is not one of those known."""
        for position, name in enumerate(names):
            if name not in known:
                self.refuse(f"'{name}' is not {what}.{nearest(name, known)}", (*location, position))

    def check_name(self, name: str, what: str, location: Location) -> None:
        """Refuse what cannot be the name of a domain or a service."""
        if not _NAME.fullmatch(name):
            self.refuse(f"'{name}' cannot be {what}: use letters, digits and hyphens", location)

    def refuse(self, message: str, location: Location) -> NoReturn:
        """Raise an error at a place of the file."""
        raise DialgaugeError(message, file=self._document.file, line=self._document.line(*location))


def nothing(content: Any) -> bool:
    """Is nothing written there?"""
    return content is None or (isinstance(content, str) and content in ("", "~", "null"))
