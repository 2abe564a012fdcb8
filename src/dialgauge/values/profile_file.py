"""Profiles of one's own: a YAML file that extends an existing profile by rules.

.. code-block:: yaml

    name: mine
    version: 1
    extends: canon
    summary: canon, with our tracker's abbreviations spelled out
    rename:
      slots: {hotel-price: hotel-pricerange}
      domains: {hotels: hotel}
    rules:
      - replace: {"b & b": bed and breakfast}
        slots: [type]
      - regex: [["\\\\bst\\\\.? ", "saint "]]
        slots: [name, departure, destination]
      - drop: [unknown]
        side: predicted
      - accept: {centre: [downtown, city centre]}
      - split: "|"
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from dialgauge.errors import DialgaugeError
from dialgauge.values.profile import Choice, Profile, profile_named
from dialgauge.values.rules import Drop, NameRule, RenameSlots, Replace, Sides, Split, Substitute, ValueRule, Variants
from dialgauge.yaml_file import read_yaml

_KINDS = ("replace", "regex", "drop", "accept", "split")


class _Rule(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    replace: dict[str, str] | None = None
    regex: list[tuple[str, str]] | None = None
    drop: list[str] | None = None
    accept: dict[str, list[str]] | None = None
    split: str | None = None
    name: str = ""
    why: str = ""
    slots: list[str] = []
    domains: list[str] = []
    side: Sides = "both"


class _Names(msgspec.Struct, forbid_unknown_fields=True):
    slots: dict[str, str] = {}
    domains: dict[str, str] = {}


class _File(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    version: int = 1
    extends: str = "canon"
    summary: str = ""
    rename: _Names | None = None
    rules: list[_Rule] = []
    match: str | None = None
    gold_values: Choice | None = None
    predicted_values: Choice | None = None


def read_profile(path: Path) -> Profile:
    """The profile of a YAML file."""
    written = read_yaml(path).as_record(_File, "a profile")
    if written.extends.lower().endswith((".yaml", ".yml")):
        raise DialgaugeError("'extends' must name an installed profile, not another file", file=str(path))
    base = profile_named(written.extends)
    added = tuple(_rule(rule, number, path) for number, rule in enumerate(written.rules, 1))
    return replace(
        base,
        name=written.name,
        version=written.version,
        summary=written.summary or f"{base.name}, extended by {path.name}",
        source=str(path),
        names=(*_renaming(written.rename, path), *base.names),
        values=(*base.values, *added),
        match=written.match or base.match,
        gold_values=written.gold_values or base.gold_values,
        predicted_values=written.predicted_values or base.predicted_values,
    )


def _renaming(written: _Names | None, path: Path) -> tuple[NameRule, ...]:
    if written is None:
        return ()
    for name in [*written.slots, *written.slots.values()]:
        if not all(name.partition("-")[::2]):
            raise DialgaugeError(f"rename: '{name}' is not of the form domain-slot", file=str(path))
    slots = {old.lower(): new for old, new in written.slots.items()}
    return (RenameSlots(slots=slots, domains={old.lower(): new for old, new in written.domains.items()}),)


def _rule(written: _Rule, number: int, path: Path) -> ValueRule:
    kinds = [kind for kind in _KINDS if getattr(written, kind) is not None]
    if len(kinds) != 1:
        raise DialgaugeError(f"rule {number} must have exactly one of {', '.join(_KINDS)}", file=str(path))
    common: dict[str, Any] = {
        "name": written.name or f"{path.stem} rule {number}",
        "why": written.why,
        "slots": tuple(written.slots),
        "domains": tuple(written.domains),
        "side": written.side,
    }
    if written.replace is not None:
        return Replace(table=written.replace, **common)
    if written.drop is not None:
        return Drop(values=tuple(written.drop), **common)
    if written.accept is not None:
        return Variants(accepted={value: tuple(also) for value, also in written.accept.items()}, **common)
    if written.split is not None:
        return Split(separators=written.split, **common)
    return Substitute(patterns=_patterns(written.regex or [], number, path), **common)


def _patterns(written: list[tuple[str, str]], number: int, path: Path) -> tuple[tuple[str, str], ...]:
    for pattern, replacement in written:
        try:
            expression = re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise DialgaugeError(
                f"rule {number}: '{pattern[:80]}' is not a valid regular expression ({error})", file=str(path)
            ) from error
        try:
            expression.sub(replacement, "")
        except (re.error, IndexError) as error:
            raise DialgaugeError(
                f"rule {number}: '{replacement}' cannot replace '{pattern}' ({error})", file=str(path)
            ) from error
    return tuple((pattern, replacement) for pattern, replacement in written)
