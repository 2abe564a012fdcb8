"""The templates of one speaker: read from a YAML file that people edit, compiled, and found by what is to be said.

A template belongs to an act's name and to a *key*: the slots it speaks about, ``area + food``, each with a value where
the wording holds for that value alone, ``parking=no``. A star stands for any slot. See ``phrases/user.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.intents import name_halves
from dialgauge.worlds.town import SYSTEM_ACTS, USER_ACTS
from dialgauge.yaml_file import read_yaml

#: The files the package brings along.
_FOLDER = Path(__file__).parent / "phrases"
PHRASES: dict[Speaker, Path] = {"user": _FOLDER / "user.yaml", "system": _FOLDER / "system.yaml"}
ANY = "*"
NO_SLOT = "none"
#: Slots that one sentence speaks about at most, and how far ahead partners for a sentence are looked for.
_MOST, _AHEAD = 3, 6
#: A slot is worded in this many ways of its own before the templates for any slot are left out.
_ENOUGH = 3

_HOLE = re.compile(r"\{([^{}]*)\}")
_LABEL = re.compile(r"label(?: ([123]))?")

Key: TypeAlias = tuple[str, ...]


class Hole(NamedTuple):
    """Where a value goes: whose, and whether with an article, in the plural, or counted (one, many)."""

    slot: str
    article: bool = False
    plural: bool = False
    counted: tuple[str, str] | None = None


class PhraseTemplate(NamedTuple):
    """A sentence with holes, and the name under which it is recorded."""

    name: str
    parts: tuple[str | Hole, ...]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    templates: dict[str, dict[str, list[str]]]
    words: dict[str, dict[str, str]] = {}
    labels: dict[str, str] = {}


class PhraseBook:
    """All templates of a speaker."""

    def __init__(self, file: str | Path, speaker: Speaker) -> None:
        document = read_yaml(file)
        content = document.as_record(_File, "a file of templates")
        self._acts = USER_ACTS if speaker == "user" else SYSTEM_ACTS
        self._labels = content.labels
        self._texts: dict[tuple[str, Key], list[tuple[str, str]]] = {}
        self._with_value: set[tuple[str, str]] = set()
        self._keys: dict[tuple[str, str, str], str] = {}
        self._found: dict[tuple[str, Key], tuple[PhraseTemplate, ...]] = {}
        self._plans: dict[tuple[str, Key], Plan] = {}
        try:
            for names, keys in content.templates.items():
                for name in (part.strip() for part in names.split(",")):
                    self._add(name, keys, content.words.get(name_halves(name)[0], {}))
        except DialgaugeError as error:
            raise error.at(file=str(file)) from error

    def key(self, name: str, slot: str, value: str) -> str:
        """The part of a key that an act with this value has: the slot, with the value where it has its own wording."""
        asked = name, slot, value
        known = self._keys.get(asked)
        if known is None:
            known = slot or NO_SLOT
            if value and (
                (name, f"{slot}={value}") in self._with_value or (name, f"{ANY}={value}") in self._with_value
            ):
                known = f"{slot}={value}"
            if len(self._keys) < 1 << 16:
                self._keys[asked] = known
        return known

    def templates(self, name: str, key: Key) -> tuple[PhraseTemplate, ...]:
        """What can be said for a key; nothing where the file has no words for it."""
        templates = self._found.get((name, key))
        if templates is None:
            texts = list(self._texts.get((name, tuple(sorted(key))), ()))
            if len(texts) < _ENOUGH and NO_SLOT not in key:
                starred = tuple(sorted(ANY + part[len(part.partition("=")[0]) :] for part in key))
                texts += self._texts.get((name, starred), ())
            templates = tuple(PhraseTemplate(text_name, self._parts(text, name, key)) for text_name, text in texts)
            if len(self._found) < 1 << 14:
                self._found[name, key] = templates
        return templates

    def plan(self, name: str, keys: Key) -> Plan:
        """The sentences for the parts in their order: which parts each one takes, and its templates (none: unknown)."""
        plan = self._plans.get((name, keys))
        if plan is None:
            left, sentences = list(range(len(keys))), []
            while left:
                taken = next(self._together(name, keys, left))
                sentences.append((taken, self.templates(name, tuple(keys[index] for index in taken))))
                left = [index for index in left if index not in taken]
            plan = tuple(sentences)
            if len(self._plans) < 1 << 14:
                self._plans[name, keys] = plan
        return plan

    def wordings(self) -> list[tuple[str, Key]]:
        """All acts and keys that the file has words for, stars apart."""
        return [(name, key) for name, key in self._texts if not any(part.startswith(ANY) for part in key)]

    def coverage(self) -> dict[tuple[str, str], int]:
        """How many templates each act and slot of the vocabulary has, special values apart."""
        counts: dict[tuple[str, str], int] = {}
        for name, slots in self._acts.items():
            for slot in slots:
                plain = len(self.templates(name, (slot or NO_SLOT,)))
                valued = [part for act, part in self._with_value if act == name and part.partition("=")[0] == slot]
                yes_no = [len(self.templates(name, (part,))) for part in valued if part.endswith(("=yes", "=no"))]
                counts[name, slot] = plain or min(yes_no, default=0)
        return counts

    def _add(self, name: str, keys: dict[str, list[str]], words: dict[str, str]) -> None:
        if name not in self._acts:
            raise DialgaugeError(f"there is no act '{name}' in the town's vocabulary")
        for written, texts in keys.items():
            key = tuple(sorted(part.strip() for part in written.split("+")))
            self._check(name, key)
            self._with_value.update((name, part) for part in key if "=" in part)
            known = self._texts.setdefault((name, key), [])
            for text in texts:
                worded = _HOLE.sub(lambda hole: words.get(hole[1], hole[0]), text)
                known.append((f"{name}/{'+'.join(key)}/{len(known)}", worded))

    def _check(self, name: str, key: Key) -> None:
        known = (*self._acts[name], ANY)
        for part in key:
            slot = part.partition("=")[0]
            if ("" if slot == NO_SLOT else slot) not in known:
                raise DialgaugeError(f"the act '{name}' has no slot '{slot}' in the town's vocabulary")
        if len(key) > _MOST:
            raise DialgaugeError(f"'{' + '.join(key)}': a sentence speaks about {_MOST} slots at most")

    def _parts(self, text: str, name: str, key: Key) -> tuple[str | Hole, ...]:
        slots = [part.partition("=")[0] for part in key]
        parts: list[str | Hole] = []
        end = 0
        for hole in _HOLE.finditer(text):
            before, filled = text[end : hole.start()], self._filled(hole[1], name, slots)
            end = hole.end()
            for part in (before, filled):
                if isinstance(part, str) and parts and isinstance(parts[-1], str):
                    parts[-1] += part
                elif part:
                    parts.append(part)
        parts.append(text[end:])
        if len(parts) > 1 and isinstance(parts[-2], str):
            parts[-2:] = [f"{parts[-2]}{parts[-1]}"]
        return tuple(parts)

    def _filled(self, hole: str, name: str, slots: list[str]) -> str | Hole:
        label = _LABEL.fullmatch(hole)
        if label:
            return self.label(name, slots[int(label[1] or 1) - 1])
        slot, *how = hole.split("|")
        if slot not in slots:
            raise DialgaugeError(f"the template of '{name}' for {' + '.join(slots)} asks for '{{{hole}}}'")
        if not how:
            return Hole(slot)
        if len(how) == 2:
            return Hole(slot, counted=(how[0], how[1]))
        return Hole(slot, article=how[0] == "a", plural=how[0] == "plural")

    def label(self, name: str, slot: str) -> str:
        """What a slot is called in a sentence."""
        return self._labels.get(f"{name_halves(name)[0]} {slot}") or self._labels.get(slot, slot)

    def _together(self, name: str, keys: Key, left: list[int]) -> Iterator[tuple[int, ...]]:
        """The first part that is left with as many later ones as there is a sentence for."""
        first, others = left[0], left[1 : 1 + _AHEAD]
        for size in range(_MOST - 1, 0, -1):
            for more in combinations(others, size):
                taken = (first, *more)
                if self.templates(name, tuple(keys[index] for index in taken)):
                    yield taken
        yield (first,)


#: Sentences: the parts that each one takes, and the templates to choose from.
Plan: TypeAlias = tuple[tuple[tuple[int, ...], tuple[PhraseTemplate, ...]], ...]


@lru_cache(2)
def phrase_book(speaker: Speaker) -> PhraseBook:
    """The templates that the package brings along."""
    return PhraseBook(PHRASES[speaker], speaker)
