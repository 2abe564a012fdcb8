"""Reading the folder of a domain: ``domain.yaml`` and the files that it names.

Whatever is wrong is an error with file, line and the nearest name. Nothing of a folder is run here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from dialgauge import plugins
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values import comparable, number
from dialgauge.worlds.domain.document_reader import DOMAIN_FILE, DocumentReader, Location, nothing
from dialgauge.worlds.domain.rows_file import RowsFile, read_rows, read_text
from dialgauge.worlds.domain.schema import GENERAL, Domain, GoalDraw, Inventory, SlotWords
from dialgauge.worlds.domain.service import Service
from dialgauge.worlds.domain.service_reader import ServiceReader, slot_id
from dialgauge.yaml_file import YamlDocument, read_yaml

GOALS_FILE = "goals.jsonl"
_POLICY_FILE = "policy.md"
#: Our own domains; other packages declare theirs as entry points of the group ``dialgauge.domains``.
BUILT_IN = {"town": "dialgauge.worlds.town:town_domain"}

#: How a name of rows in ``domain.yaml`` becomes rows.
RowsReader: TypeAlias = Callable[[str], RowsFile]

_TOP = (
    *("domain", "title", "policy", "services", "goals", "words", "tools", "data", "tasks"),
    *("dialect", "acts", "choices"),
)
_TOOL_KEYS = ("tools", "data", "tasks")
_MULTIWOZ = "multiwoz"
_WORDS = ("ask", "label", "say", "also")
_PAIRS, _SHARES = ("services", "wishes", "asked"), ("booked", "fails_first", "refused_first")
_OF_ANY_SERVICE = "a slot of any service"


def domain_names() -> list[str]:
    """The names of installed domains."""
    return plugins.names(plugins.DOMAINS, BUILT_IN)


def is_folder(name: str) -> bool:
    """Is a path meant, rather than the name of an installed domain?"""
    return "/" in name or os.sep in name or name in (".", "..")


def load_domain(name_or_path: str | Path) -> Domain:
    """A domain by the name of an installed one, or by its folder: a path has a separator (``./clinic``)."""
    if isinstance(name_or_path, Path) or is_folder(name_or_path):
        return read_domain(Path(name_or_path))
    if name_or_path not in domain_names() and (Path(name_or_path) / DOMAIN_FILE).is_file():
        raise DialgaugeError(
            f"there is no installed domain named '{name_or_path}'; for the folder write ./{name_or_path}"
        )
    content: Any = plugins.load(plugins.DOMAINS, name_or_path, object, BUILT_IN)
    made = content() if callable(content) else content
    domain = read_domain(Path(made)) if isinstance(made, str | Path) else made
    if not isinstance(domain, Domain):
        raise DialgaugeError(f"the domain '{name_or_path}' is {type(domain).__name__}, neither a Domain nor a folder")
    return domain


def read_domain(folder: Path) -> Domain:
    """The domain in a folder."""
    if not folder.is_dir():
        raise DialgaugeError("there is no such folder", file=str(folder))
    path = folder / DOMAIN_FILE
    if not path.is_file():
        raise DialgaugeError(f"there is no {DOMAIN_FILE} in this folder", file=str(folder))
    return domain_of(read_yaml(path, as_text=True), folder)


def domain_of(document: YamlDocument, folder: Path | None = None, rows: RowsReader | None = None) -> Domain:
    """The domain that ``domain.yaml`` describes; ``rows`` finds the rows where they are in no folder."""
    return _DomainReader(document, folder, rows).domain()


class _DomainReader(DocumentReader):
    """``domain.yaml`` while it is read."""

    def __init__(self, document: YamlDocument, folder: Path | None, rows: RowsReader | None) -> None:
        super().__init__(document)
        self._folder, self._find_rows = folder, rows
        self._files = [document.file or DOMAIN_FILE]

    def domain(self) -> Domain:
        content = self.mapping(self._document.content, (), _TOP)
        name = self.text(content, "domain", ())
        if not name:
            self.refuse("there is no key 'domain', the name of the domain", ())
        self.check_name(name, "the name of a domain", ("domain",))
        dialect = self.text(content, "dialect", ())
        if dialect not in ("", _MULTIWOZ):
            self.refuse(f"there is no dialect '{dialect}'; the only one is {_MULTIWOZ}", ("dialect",))
        multiwoz = bool(dialect)
        tools = {key: content[key] for key in _TOOL_KEYS if not nothing(content.get(key))}
        declared = {} if tools and nothing(content.get("services")) else self._services(content, multiwoz)
        for key, service in declared.items():
            self._check_refers(key, service, declared)
        inventories = self._inventories(content)
        services = {service.name: _with_ids(service, inventories) for service in declared.values()}
        goals, draw = self._goals(content)
        return Domain(
            name=name,
            title=self.text(content, "title", ()) or name.replace("-", " "),
            policy=self._policy(content),
            services=services,
            goals_file=goals,
            draw=draw,
            words=self._words(content, services),
            folder=self._folder,
            files=tuple(self._files),
            multiwoz=multiwoz,
            choices=tuple(slot_id(slot, multiwoz) for slot in self.texts(content, "choices", ())),
            inventories=inventories,
            tools=tools,
        )

    def _inventories(self, content: Mapping[str, Any]) -> dict[str, Inventory]:
        return {
            side: {
                name: tuple(self.items(slots, ("acts", side, name), empty=True))
                for name, slots in self.mapping(given, ("acts", side)).items()
            }
            for side, given in self.section(content, "acts", (), ("user", "system")).items()
        }

    # Services

    def _services(self, content: Mapping[str, Any], multiwoz: bool) -> dict[str, Service]:
        services: dict[str, Service] = {}
        for key, given in self.section(content, "services", ()).items():
            location: Location = ("services", key)
            self.check_name(key, "the name of a service", location)
            if key.lower() == GENERAL:
                self.refuse(f"a service cannot be called '{key}': acts such as general-bye have that name", location)
            if key.lower() in (known.lower() for known in services):
                self.refuse(f"the service '{key}' appears twice, but for capital letters", location)
            services[key] = ServiceReader(self, key, given, self._rows, multiwoz).service()
        if not services:
            self.refuse("there are no services; a domain has at least one, or tools", ("services",))
        return services

    def _rows(self, name: str, location: Location) -> RowsFile:
        if self._find_rows is not None:
            return self._find_rows(name)
        rows = read_rows(self._inside(name, location))
        self._files.append(rows.file)
        if not rows.rows:
            raise DialgaugeError("there are no rows", file=rows.file)
        return rows

    def _inside(self, name: str, location: Location) -> Path:
        """A file of the folder; what lies outside it is not read."""
        if self._folder is None:
            self.refuse(f"'{name}' is a file, but the domain is in no folder", location)
        path = self._folder / name
        if not path.resolve().is_relative_to(self._folder.resolve()):
            self.refuse(f"'{name}' lies outside the folder of the domain", location)
        if not path.exists():
            near = nearest(name, [other.name for other in self._folder.iterdir() if other.is_file()], listed=False)
            self.refuse(f"there is no file '{name}'.{near}", location)
        return path

    def _beside(self, name: str) -> Path | None:
        """A file of the folder that need not be named; None where there is none."""
        path = None if self._folder is None else self._folder / name
        return path if path is not None and path.is_file() else None

    def _check_refers(self, key: str, service: Service, services: Mapping[str, Service]) -> None:
        for slot, targets in service.refers.items():
            location = ("services", key, "refers", service.declared(slot))
            for target in targets:
                if target not in services:
                    near = nearest(target, [name for name in services if name != key])
                    self.refuse(f"'{slot}' refers to '{target}', which is no service.{near}", location)
                if services[target].rows is None:
                    self.refuse(f"'{slot}' refers to '{target}', which has no rows to settle on", location)
                if target == key:
                    self.refuse(f"'{slot}' refers to its own service", location)

    # Goals, policy and words

    def _goals(self, content: Mapping[str, Any]) -> tuple[Path | None, GoalDraw]:
        if nothing(content.get("goals")):
            return self._beside(GOALS_FILE), GoalDraw()
        goals = self.section(content, "goals", (), ("draw", "file"))
        file = self.text(goals, "file", ("goals",))
        if file and "draw" in goals:
            self.refuse("goals are drawn or read from a file, not both", ("goals", "draw"))
        if file:
            return self._inside(file, ("goals", "file")), GoalDraw()
        numbers = self.section(goals, "draw", ("goals",), (*_PAIRS, *_SHARES))
        location: Location = ("goals", "draw")
        known: dict[str, Any] = {key: self._pair(numbers[key], (*location, key)) for key in _PAIRS if key in numbers}
        known |= {key: self._share(numbers[key], (*location, key)) for key in _SHARES if key in numbers}
        return None, GoalDraw(**known)

    def _pair(self, given: Any, location: Location) -> tuple[int, int]:
        texts = given if isinstance(given, list) else []
        numbers = [text for text in texts if isinstance(text, str) and re.fullmatch("[0-9]{1,6}", text)]
        if len(texts) != 2 or len(numbers) != 2:
            self.refuse(f"'{location[-1]}' needs two whole numbers, the least and the most: [1, 3]", location)
        low, high = map(int, numbers)
        if low > high:
            self.refuse(f"the least, {low}, is more than the most, {high}", location)
        if location[-1] == "services" and not high:
            self.refuse("a goal has at least one service", location)
        return low, high

    def _share(self, given: Any, location: Location) -> float:
        value = number(given) if isinstance(given, str) else None
        if value is None or not 0 <= value <= 1:
            self.refuse(f"a share is a number from 0 to 1 (got '{given}')", location)
        return float(value)

    def _policy(self, content: Mapping[str, Any]) -> str:
        name = self.text(content, "policy", ())
        path = self._inside(name, ("policy",)) if name else self._beside(_POLICY_FILE)
        if path is None:
            return ""
        self._files.append(str(path))
        return read_text(path).strip()

    def _words(self, content: Mapping[str, Any], services: Mapping[str, Service]) -> dict[str, SlotWords]:
        given = self.section(content, "words", ())
        known = {service.declared(slot): slot for service in services.values() for slot in service.slots}
        of_values = {} if "values" in known else self._value_words(given, known, services)
        words = {}
        for slot, wording in given.items():
            if slot == "values" and slot not in known:
                continue
            location: Location = ("words", slot)
            self.check_known([slot], known, _OF_ANY_SERVICE, location)
            spoken = self.mapping(wording, location, _WORDS)
            words[known[slot]] = SlotWords(
                ask=self.text(spoken, "ask", location),
                label=self.text(spoken, "label", location),
                say=self._say(spoken, location),
                also=tuple(self.texts(spoken, "also", location)),
                values=of_values.pop(known[slot], {}),
            )
        return words | {slot: SlotWords(values=values) for slot, values in of_values.items()}

    def _say(self, spoken: Mapping[str, Any], location: Location) -> str:
        say = self.text(spoken, "say", location)
        if say and (say.count("{value}") != 1 or re.search(r"[{}]", say.replace("{value}", ""))):
            self.refuse("'say' has {value} once, where the value goes, and no other braces", (*location, "say"))
        return say

    def _value_words(
        self, given: Mapping[str, Any], known: Mapping[str, str], services: Mapping[str, Service]
    ) -> dict[str, dict[str, tuple[str, ...]]]:
        of_values = {}
        for slot, values in self.section(given, "values", ("words",)).items():
            location: Location = ("words", "values", slot)
            self.check_known([slot], known, _OF_ANY_SERVICE, location)
            spoken = self.mapping(values, location)
            # Any database may be the town's.
            values_known = (
                [] if self._document.content.get("dialect") else _known_values(known[slot], services.values())
            )
            for value in spoken if values_known else ():
                if comparable(value) not in map(comparable, values_known):
                    near = nearest(value, values_known)
                    self.refuse(f"'{value}' is not a value of '{slot}'.{near}", (*location, value))
            of_values[known[slot]] = {value: tuple(self.texts(spoken, value, location)) for value in spoken}
        return of_values


def _with_ids(service: Service, inventories: Mapping[str, Inventory]) -> Service:
    """The service with those that it refers to by the names of their records, and what its acts ask for."""
    asks = inventories.get("user", {}).get(service.act_name("request"), ())
    refers = {slot: tuple(target.lower() for target in targets) for slot, targets in service.refers.items()}
    return replace(service, refers=refers, asks=asks) if refers or asks else service


def _known_values(slot: str, services: Iterable[Service]) -> list[str]:
    """The values of a slot that are known; none where it can be any text, day, number or time."""
    values: dict[str, None] = {}
    for service in services:
        kind = service.booking_slots.get(slot)
        if kind is not None and kind.kind != "words":
            return []
        values |= dict.fromkeys((*(kind.words if kind else ()), *getattr(service.wishes.get(slot), "values", ())))
        values |= dict.fromkeys(row[slot] for row in service.rows or () if slot in service.answer and slot in row)
    return list(values)
