"""Profiles: a named, versioned list of rules that says when two states are the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import fields, replace

from dialgauge import plugins
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values.rules import NameRule, Pair, Side, ValueRule, minutes
from dialgauge.values.standard_evaluator import similarity

Choice: TypeAlias = Literal["any", "first"]

#: Names go into signatures, whose separators they must not contain.
_NAME = re.compile(r"[\w.-]+")

#: When a predicted value counts as the gold value, once both are normalised. Almost every profile asks for identical
#: strings; the others exist because published numbers were made with them.
Matcher: TypeAlias = Callable[[str, str], bool]

EQUAL = "equal"


def equal(gold: str, predicted: str) -> bool:
    """Identical strings."""
    return gold == predicted


def fuzzywuzzy_95(gold: str, predicted: str) -> bool:
    """More than 95 by fuzzywuzzy's partial ratio: of the longer string only the best-fitting part counts."""
    return similarity(predicted, gold) > 95


def substring_or_15_minutes(gold: str, predicted: str) -> bool:
    """One contains the other, bare of ``the``, blanks, hyphens, quotes and colons; times may differ by 15 minutes."""
    times = minutes(gold), minutes(predicted)
    if times[0] is not None and times[1] is not None and abs(times[0] - times[1]) <= 15:
        return True
    bare_gold, bare_predicted = _bare(gold), _bare(predicted)
    return bool(bare_gold and bare_predicted) and (bare_gold in bare_predicted or bare_predicted in bare_gold)


MATCHERS: dict[str, Matcher] = {
    EQUAL: equal,
    "fuzzywuzzy-95": fuzzywuzzy_95,
    "substring-or-15-minutes": substring_or_15_minutes,
}


def matcher_named(name: str) -> Matcher:
    """The matcher of that name, or an error with the nearest names."""
    if name not in MATCHERS:
        raise DialgaugeError(f"there is no matcher named '{name}'.{nearest(name, MATCHERS)}")
    return MATCHERS[name]


def _bare(value: str) -> str:
    return re.sub(r"[\s\-'\":]", "", value.removeprefix("the ").replace("b and b", "bed and breakfast"))


#: Slots that are kept as they are compared, so that memory has a bound.
_MOST_KNOWN = 100_000


class Profile(Struct, frozen=True, kw_only=True, dict=True):
    """How states are made comparable: names, then values, then the test for sameness.

    ``inventory`` is the set of slots the dataset tracks (T of slot accuracy); ``None`` leaves it to an ontology or to
    the gold states. ``gold_values`` and ``predicted_values`` say what to do with several values for one slot: ``any``
    of them is acceptable, or only the ``first`` counts. With ``forgive_unlisted_domains`` predictions in a domain that
    the gold state of the turn does not have cost nothing. With ``counts_blanks`` a predicted ``none`` or empty text
    is a value like any other where the format keeps it (``Turn.blank``); otherwise the slot is absent.
    """

    name: str
    version: int
    summary: str
    source: str = ""
    names: tuple[NameRule, ...] = ()
    values: tuple[ValueRule, ...] = ()
    match: str = EQUAL
    gold_values: Choice = "any"
    predicted_values: Choice = "first"
    forgive_unlisted_domains: bool = False
    counts_blanks: bool = False
    inventory: tuple[Pair, ...] | None = None

    def __post_init__(self) -> None:
        matcher_named(self.match)
        if not _NAME.fullmatch(self.name):
            raise DialgaugeError(f"'{self.name}' is not a valid profile name: use letters, digits, '_', '-' and '.'")

    @cached_property
    def _pairs(self) -> dict[Pair, Pair | None]:
        """Slots as they were written, and under which they are compared."""
        return {}

    @cached_property
    def _concerning(self) -> dict[tuple[Pair, Side], list[ValueRule]]:
        """The value rules of each slot that was asked for."""
        return {}

    @property
    def label(self) -> str:
        """Name and version, and the beginning of the digest: ``canon@1-3fa2c019``."""
        return f"{self.name}@{self.version}-{self.digest[:8]}"

    @cached_property
    def digest(self) -> str:
        """A checksum of everything that can change a comparison; a changed rule changes it."""
        return hashlib.blake2b(repr(_plain(self)).encode(), digest_size=8).hexdigest()

    def pair(self, domain: str, slot: str) -> Pair | None:
        """The (domain, slot) under which a slot is compared; None when it is out of scope."""
        written = (domain, slot)
        if written not in self._pairs:
            if len(self._pairs) >= _MOST_KNOWN:
                self._pairs.clear()
            pair: Pair | None = written
            for rule in self.names:
                pair = None if pair is None else rule.apply(pair)
            self._pairs[written] = pair
        return self._pairs[written]

    def normalise(self, pair: Pair, values: tuple[str, ...], side: Side) -> tuple[str, ...]:
        """The acceptable values of a renamed slot, in order and without repetition; empty when the slot is absent."""
        rules = self._concerning.get((pair, side))
        if rules is None:
            rules = self._concerning[pair, side] = [rule for rule in self.values if rule.concerns(pair, side)]
        if any(rule.empties(values) for rule in rules):
            return ()
        done: dict[str, None] = {}
        for value in values:
            stage: tuple[str, ...] = (value,)
            for rule in rules:
                stage = tuple(result for item in stage for result in rule.apply(item))
            done.update(dict.fromkeys(stage))
        choice = self.gold_values if side == "gold" else self.predicted_values
        result = tuple(value for value in done if value or self.counts_blanks)
        return result if choice == "any" else result[:1]

    @property
    def treats_sides_alike(self) -> bool:
        """Do all rules hold for both sides, so that gold scored against itself is right everywhere?"""
        return all(rule.side == "both" and type(rule).concerns is ValueRule.concerns for rule in self.values)

    def without(self, rule: ValueRule) -> Profile:
        """The profile with one rule left out, to see what the rule does."""
        return replace(self, values=tuple(other for other in self.values if other is not rule))

    def explain(self) -> str:
        """The whole profile, for people."""
        lines = [f"{self.name}, version {self.version} ({self.label})", self.summary]
        if self.source:
            lines.append(f"Source: {self.source}")
        lines += ["", "Names of domains and slots:"]
        lines += [f"  {number}. {rule.describe()}" for number, rule in enumerate(self.names, 1)] or ["  as written"]
        lines += ["", "Values, in this order:"]
        for number, step in enumerate(self.values, 1):
            scope = f" [{step.scope()}]" if step.scope() else ""
            lines.append(f"  {number}. {step.name}: {step.describe()}{scope}")
            if step.why:
                lines.append(f"     {step.why}")
        if not self.values:
            lines.append("  as written")
        lines += ["", "Comparison:", f"  match: {self.match} ({(matcher_named(self.match).__doc__ or '').strip()})"]
        lines.append(f"  several gold values: {_CHOICES[self.gold_values]}")
        lines.append(f"  several predicted values: {_CHOICES[self.predicted_values]}")
        if self.forgive_unlisted_domains:
            lines.append("  predictions in domains that the gold state does not have cost nothing")
        if self.counts_blanks:
            lines.append("  a predicted 'none', 'not mentioned' or '' fills its slot, in files of the format mwzeval")
        if not self.treats_sides_alike:
            lines.append("  some rules change only one side, so gold scored against itself may be below 100")
        slots = "from --ontology, else the slots of the gold states" if self.inventory is None else len(self.inventory)
        lines.append(f"  slot inventory (T): {slots}")
        return "\n".join(lines)


_CHOICES = {"any": "any of them is acceptable", "first": "only the first counts"}


def _plain(value: Any) -> Any:
    """Nested tuples of what a profile, or one of its rules, says.

    Prose cannot change a comparison and is left out; so are defaults, lest a new option change every old digest.
    """
    if isinstance(value, Struct):
        given_fields = [(f.name, getattr(value, f.name), f.default) for f in fields(value) if f.name not in _PROSE]
        return (
            type(value).__name__,
            *((name, _plain(given)) for name, given, default in given_fields if given != default),
        )
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    return tuple(value.items()) if hasattr(value, "items") else value


_PROSE = {"summary", "source", "why"}


# Which profiles there are: our own, those of other packages (entry points ``dialgauge.profiles``), and people's files.

_STANDARD = "dialgauge.values.standard_profiles"
_PUBLISHED = "dialgauge.values.published_profiles"
BUILT_IN = {
    "plain": f"{_STANDARD}:PLAIN",
    "canon": f"{_STANDARD}:CANON",
    "plain_nodc": f"{_STANDARD}:PLAIN_NODC",
    "canon_nodc": f"{_STANDARD}:CANON_NODC",
    "multiwoz22": f"{_STANDARD}:MULTIWOZ22",
    "verbatim": f"{_STANDARD}:VERBATIM",
    "llm": "dialgauge.values.standard_profiles:LLM",
    "trade": f"{_PUBLISHED}:TRADE",
    "trippy": f"{_PUBLISHED}:TRIPPY",
    "trippy_variants": f"{_PUBLISHED}:TRIPPY_VARIANTS",
    "hidst": f"{_PUBLISHED}:HIDST",
    "mwzeval": f"{_PUBLISHED}:MWZEVAL",
    "simpletod": f"{_PUBLISHED}:SIMPLETOD",
    "convlab3": f"{_PUBLISHED}:CONVLAB3",
}
DEFAULT_PROFILE = "canon"
#: What ``--sensitivity`` shows.
SENSITIVITY_PROFILES = ("plain", "canon", "plain_nodc", "canon_nodc")


def profile_names() -> list[str]:
    """The names of all profiles, those of other packages too."""
    return plugins.names(plugins.PROFILES, BUILT_IN)


def profile_listing() -> list[plugins.Plugin[Profile]]:
    """All profiles in alphabetical order, those of other packages too; what cannot be used carries the reason."""
    return plugins.listing(plugins.PROFILES, Profile, BUILT_IN)


def profile_named(name: str) -> Profile:
    """A profile by name, or from a file when the name ends in ``.yaml`` or ``.yml``."""
    if name.lower().endswith((".yaml", ".yml")):
        from dialgauge.values.profile_file import read_profile

        return read_profile(Path(name))
    return plugins.load(plugins.PROFILES, name, Profile, BUILT_IN)
