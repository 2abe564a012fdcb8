"""An act-level stand-in for errors of understanding: what was said goes in, what is heard comes out.

For each side and each kind of act a channel knows how often it is lost, taken for another act, heard with another
value, or makes the listener hear something that nobody said. ``clean`` changes nothing, ``mild`` errs a little and
everywhere alike, ``paper2021`` errs as the agents of the GCDF1 paper did (counted from their recorded conversations),
and a YAML file says it all for a channel of your own; ``docs/decisions.md`` explains the fields.
"""

from __future__ import annotations

import copy
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Ontology, Speaker
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.intents import INTENTS, REQUEST, service_of
from dialgauge.worlds.domain import ASKED, UNKNOWN, Domain, act
from dialgauge.yaml_file import YamlDocument, as_record, read_yaml, shipped_yaml

#: The channels that come with the package, beside ``clean``.
SHIPPED = ("mild", "paper2021")
CLEAN = "clean"
#: The rates of all acts that have none of their own; the mark of an answer "not known"; a relabelling to any other act
#: of the same domain.
EVERY = "*"
NOT_KNOWN = f"={UNKNOWN}"
WITHIN_DOMAIN = "domain"

#: How a value is misheard: not at all (``none``), in part, or as another value of its slot.
Mishearing: TypeAlias = Literal["none", "part", "other"]
_KIND = re.compile(r"(\w+-\w+)\(([^()]*)\)(?:=(.+))?")
#: What can be heard wrongly; a channel may be named by rates that are the same for all acts.
ERROR_KINDS = ("drop", "value", "relabel", "insert")
_RATE = r"\w+=(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_ALIKE = re.compile(rf"{_RATE}(?:,{_RATE})*")
#: Where nothing can be heard instead.
_NOWHERE = Domain(name="nowhere", title="nowhere")
#: Rates are written with four digits, so that a sum may be a little more than 1.
_SURE = 1.001


class Damage(Struct, frozen=True, kw_only=True):
    """How often what happens to one kind of act; the rates are shares of the times it is said."""

    #: How many of them the rates rest on, where they were counted.
    said: int = 0
    drop: float = 0.0
    #: The kind of act it is taken for.
    relabel: dict[str, float] = {}
    value: dict[Mishearing, float] = {}
    #: What is heard beside it though nobody said it; each is drawn for itself.
    insert: dict[str, float] = {}
    #: What happens when the very same is said again; None: the same as the first time.
    again: Damage | None = None


class ChannelRates(Struct, frozen=True, kw_only=True):
    """The rates of a channel by kind of act, ``Restaurant-Inform(food)``, for what each side says."""

    user: dict[str, Damage] = {}
    system: dict[str, Damage] = {}


class Channel:
    """What lies between what was said and what is heard."""

    def __init__(self, rates: ChannelRates) -> None:
        self.rates = rates
        self._damages: dict[Speaker, dict[str, _PossibleDamage]] = {
            "user": {kind: _PossibleDamage(damage) for kind, damage in rates.user.items()},
            "system": {kind: _PossibleDamage(damage) for kind, damage in rates.system.items()},
        }
        self._domain = _NOWHERE
        #: Nothing is ever damaged.
        self.clean = not any(damage.ever for damages in self._damages.values() for damage in damages.values())

    @classmethod
    def named(cls, name: str) -> Channel:
        """``clean``, ``mild``, ``paper2021``, a YAML file, or rates for all acts alike: ``drop=0.1,value=0.05``."""
        if name == CLEAN or name in SHIPPED:
            return _shipped(name)
        if _ALIKE.fullmatch(name):
            return cls(_alike(name))
        if Path(name).suffix in (".yaml", ".yml"):
            return cls(_rates(read_yaml(name)))
        raise DialgaugeError(
            f"there is no channel '{name}'.{nearest(name, (CLEAN, *SHIPPED))} "
            "A channel of your own is a file that ends in .yaml"
        )

    def within(self, domain: Domain) -> Channel:
        """The channel in a domain, whose acts and values are those that can be heard instead."""
        if self.clean or self._domain is domain:
            return self
        names = {*domain.acts("user"), *domain.acts("system")}
        for kind in self._named_kinds:
            if (name := _parsed(kind)[0]) not in names:
                raise DialgaugeError(f"there is no act '{name}' in the domain {domain.name}.{nearest(name, names)}")
        placed = copy.copy(self)
        placed._domain = domain
        return placed

    @property
    def _named_kinds(self) -> Iterator[str]:
        for damages in (self.rates.user, self.rates.system):
            for kind, damage in damages.items():
                yield from (
                    each for each in (kind, *damage.relabel, *damage.insert) if each not in (EVERY, WITHIN_DOMAIN)
                )

    def damage(
        self,
        acts: Sequence[Act],
        speaker: Speaker,
        draws: Draws,
        ontology: Ontology | None = None,
        before: set[Act] | None = None,
    ) -> tuple[Act, ...]:
        """What is heard of what a speaker says.

        The ontology has the values that could be heard instead. ``before`` is what the speaker said earlier in the
        conversation, and what is said now is added to it; without it everything is said for the first time.
        """
        if self.clean:
            return tuple(acts)
        damages, heard = self._damages[speaker], []
        default = damages.get(EVERY)
        for spoken in acts:
            damage = damages.get(_kind(spoken.name, spoken.slot, spoken.values), default)
            if damage is None:
                heard.append(spoken)
            elif before is not None and spoken in before:
                heard += damage.again.happen(spoken, speaker, draws, _Hearing(self._domain, ontology))
            else:
                heard += damage.happen(spoken, speaker, draws, _Hearing(self._domain, ontology))
        if before is not None:
            before.update(acts)
        return tuple(heard)


@lru_cache(1 << 12)
def kind_of(name: str, slot: str) -> str:
    """How channels write a kind of act.

    >>> kind_of("Restaurant-Inform", "food")
    'Restaurant-Inform(food)'
    """
    return f"{name}({slot})"


@lru_cache(1 << 14)
def _kind(name: str, slot: str, values: tuple[str, ...]) -> str:
    """The kind of an act; the answer that something is not known is a kind of its own."""
    return kind_of(name, slot) + (NOT_KNOWN if is_unknown(name, values) else "")


def is_unknown(name: str, values: Sequence[str]) -> bool:
    """Does an act say that something is not known?"""
    return values[:1] in ((ASKED,), (UNKNOWN,)) and INTENTS[name] != REQUEST


class _Hearing(NamedTuple):
    """What could be heard instead: the acts of a domain, and the values that its ontology has."""

    domain: Domain
    ontology: Ontology | None

    def others(self, speaker: Speaker, said: Act) -> tuple[str, ...]:
        """The kinds of act of one side and service, but for one; that one where there are no others."""
        kind = kind_of(said.name, said.slot)
        kinds = [
            kind_of(name, slot)
            for name, slots in self.domain.acts(speaker).items()
            if service_of(name) == said.domain
            for slot in slots
        ]
        return tuple(other for other in kinds if other != kind) or (kind,)

    def values(self, service: str, slot: str) -> Sequence[str]:
        """The values of a slot; where no list has them, such as could be said."""
        spec = self.ontology.domains.get(service, {}).get(slot) if self.ontology is not None else None
        return (spec.values if spec else ()) or self.domain.sayable.get(slot, ())


class _PossibleDamage:
    """What can happen to one kind of act, ready to be drawn."""

    def __init__(self, damage: Damage) -> None:
        changes = [("drop", "", damage.drop)]
        changes += [("relabel", target, rate) for target, rate in damage.relabel.items()]
        changes += [("value", kind, rate) for kind, rate in damage.value.items()]
        self._changes = [(what, which) for what, which, rate in changes if rate]
        self._limits = list(accumulate(rate for _, _, rate in changes if rate))
        self._inserted = [(target, rate) for target, rate in damage.insert.items() if rate]
        self.again: _PossibleDamage = self if damage.again is None else _PossibleDamage(damage.again)
        self.ever: bool = bool(self._changes or self._inserted or (self.again is not self and self.again.ever))

    def happen(self, said: Act, speaker: Speaker, draws: Draws, hearing: _Hearing) -> Iterator[Act]:
        index = bisect_right(self._limits, draws.unit()) if self._changes else 0
        if index >= len(self._changes):
            yield said
        else:
            what, which = self._changes[index]
            if what == "relabel":
                yield _relabelled(said, which, speaker, draws, hearing)
            elif what == "value":
                yield _misheard(said, which, draws, hearing)
        for target, rate in self._inserted:
            if draws.unit() < rate:
                yield _inserted(said, target, speaker, draws, hearing)


def _relabelled(said: Act, target: str, speaker: Speaker, draws: Draws, hearing: _Hearing) -> Act:
    """The act under another name; it takes its value along where the other name has use for it."""
    kept = said.values[0] if said.values and said.intent != REQUEST else ""
    if target == WITHIN_DOMAIN:
        target = draws.pick(hearing.others(speaker, said))
        kept = kept if _parsed(target)[1] == said.slot else ""
    name, slot, _ = _parsed(target)
    if not slot:
        return act(name)
    if INTENTS[name] == REQUEST:
        return act(name, slot, ASKED)
    return act(name, slot, kept or _another(name, slot, "", draws, hearing))


def _misheard(said: Act, how: str, draws: Draws, hearing: _Hearing) -> Act:
    """The act with another value; a question and an act without a slot have none to mishear."""
    if not said.values or said.intent == REQUEST:
        return said
    if how == "none":
        value = "none"
    elif how == "part":
        value = _part(said.values[0], draws)
    else:
        value = _another(said.name, said.slot, said.values[0], draws, hearing)
    return act(said.name, said.slot, value)


def _inserted(beside: Act, target: str, speaker: Speaker, draws: Draws, hearing: _Hearing) -> Act:
    if target == WITHIN_DOMAIN:
        target = draws.pick(hearing.others(speaker, beside))
    name, slot, value = _parsed(target)
    if not slot or INTENTS[name] == REQUEST:
        return act(name, slot, ASKED if slot else "")
    if not value and slot == beside.slot and beside.values:
        return act(name, slot, _part(beside.values[0], draws))
    return act(name, slot, value or _another(name, slot, "", draws, hearing))


def _another(name: str, slot: str, value: str, draws: Draws, hearing: _Hearing) -> str:
    """Another value of a slot; where nobody knows one, a part of the value."""
    known = [other for other in hearing.values(service_of(name), slot) if other != value]
    if known:
        return draws.pick(known)
    return _part(value, draws) if value else "none"


def _part(value: str, draws: Draws) -> str:
    """Some words of a value, from its beginning or its end; half of a single word."""
    words = value.split()
    if len(words) < 2:
        return value[: max(1, len(value) // 2)]
    cut = draws.integer(1, len(words) - 1)
    return " ".join(words[:cut] if draws.unit() < 0.5 else words[cut:])


# Names and files


def _alike(text: str) -> ChannelRates:
    """The same rates for all that either side says: drop, relabel and insert within the domain, value."""
    given: dict[str, float] = {}
    for part in text.split(","):
        what, _, rate = part.partition("=")
        if what not in ERROR_KINDS:
            raise DialgaugeError(f"a channel has no rate '{what}'.{nearest(what, ERROR_KINDS)}")
        given[what] = float(rate)
    damage = Damage(
        drop=given.get("drop", 0.0),
        relabel={WITHIN_DOMAIN: given.get("relabel", 0.0)},
        value={"other": given.get("value", 0.0)},
        insert={WITHIN_DOMAIN: given.get("insert", 0.0)},
    )
    if problem := _wrong(EVERY, damage):
        raise DialgaugeError(f"the channel '{text}' is invalid: {problem}")
    return ChannelRates(user={EVERY: damage}, system={EVERY: damage})


@lru_cache(1 << 12)
def _parsed(kind: str) -> tuple[str, str, str]:
    match = _KIND.fullmatch(kind)
    return (match[1], match[2], match[3] or "") if match else ("", "", "")


@lru_cache
def _shipped(name: str) -> Channel:
    if name == CLEAN:
        return Channel(ChannelRates())
    return Channel(_rates(shipped_yaml("dialgauge.agents", "channels", f"{name}.yaml")))


class _Sides(Struct):
    """A channel's file before its kinds of act are looked at."""

    user: dict[str, Any] = {}
    system: dict[str, Any] = {}


def _rates(document: YamlDocument) -> ChannelRates:
    """The rates in a file, checked."""
    sides = document.as_record(_Sides, "a channel")
    return ChannelRates(user=_side(document, "user", sides.user), system=_side(document, "system", sides.system))


def _side(document: YamlDocument, side: str, kinds: Mapping[str, Any]) -> dict[str, Damage]:
    rates = {}
    for kind, content in kinds.items():
        what = f"a channel: {side}, '{kind}'"
        try:
            rates[kind] = as_record(content, Damage, what)
            if problem := _wrong(kind, rates[kind]):
                raise DialgaugeError(f"it is not {what}: {problem}")
        except DialgaugeError as error:
            raise error.at(file=document.file, line=document.line(side, kind)) from error.__cause__
    return rates


def _wrong(kind: str, damage: Damage) -> str:
    """What is wrong with the rates of a kind of act; empty where nothing is."""
    targets = [target for target in damage.relabel if target != WITHIN_DOMAIN]
    inserted = [target for target in damage.insert if target != WITHIN_DOMAIN]
    for named in (kind, *targets, *inserted):
        if named == EVERY and named is kind:
            continue
        name = _parsed(named)[0]
        if not name:
            return (
                f"'{named}' is not a kind of act; write it as Restaurant-Inform(food), or general-bye() without a slot"
            )
    changes = [damage.drop, *damage.relabel.values(), *damage.value.values()]
    if any(not 0 <= rate <= 1 for rate in (*changes, *damage.insert.values())):
        return "a rate must be between 0 and 1"
    if sum(changes) > _SURE:
        return "what is dropped, relabelled and heard with another value adds up to more than 1"
    return "" if damage.again is None else _wrong(kind, damage.again)
