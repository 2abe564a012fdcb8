"""The rates of an error channel, counted from conversations that record both what was said and what was heard."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct

from dialgauge.agents.town.channel import (
    EVERY,
    NOT_KNOWN,
    WITHIN_DOMAIN,
    ChannelRates,
    Damage,
    Mishearing,
    is_unknown,
    kind_of,
)
from dialgauge.dialogue import Act, Dialogue, Speaker, Turn
from dialgauge.worlds.town import ASKED, NO_CONSTRAINT, canonical

T = TypeVar("T")
_REQUEST = "-Request"
#: A sentence that starts with "do n't care" was cut off there.
_INDIFFERENT = {"dontcare", "do", "do n't", "do n't care"}
#: Values that are put on record where they were heard but not said; others are drawn from the ontology.
_KEPT = {("parking", "yes"), ("parking", "no"), ("internet", "yes"), ("internet", "no"), ("type", "hotel")}
_ROUNDED = 4


class Plain(NamedTuple):
    """An act with one value."""

    name: str
    slot: str
    value: str

    @property
    def kind(self) -> str:
        """How channels write it."""
        return kind_of(self.name, self.slot)


class Agreement(Struct, frozen=True):
    """How much of what was said was heard, by act and slot."""

    said: int
    heard: int
    matched: int

    @property
    def recall(self) -> float:
        """Of what was said, the share that was heard."""
        return self.matched / self.said if self.said else 1.0

    @property
    def precision(self) -> float:
        """Of what was heard, the share that was said."""
        return self.matched / self.heard if self.heard else 1.0


def agreement(turns: Iterable[tuple[Sequence[Act], Sequence[Act]]]) -> Agreement:
    """Said against heard over many turns."""
    total, heard_total, matched = 0, 0, 0
    for said, heard in turns:
        one, other = (Counter((act.name, act.slot) for act in acts) for acts in (said, heard))
        total, heard_total = total + one.total(), heard_total + other.total()
        matched += (one & other).total()
    return Agreement(total, heard_total, matched)


def turns_of(dialogue: Dialogue, speaker: Speaker) -> Iterator[tuple[Turn, Sequence[Act], Sequence[Act]]]:
    """The turns of a speaker of which is known how they were heard."""
    for turn in dialogue.turns:
        if turn.speaker == speaker and turn.acts is not None and turn.heard is not None:
            yield turn, turn.acts, turn.heard


def count_rates(dialogues: Iterable[Dialogue], *, every_time: bool = False) -> ChannelRates:
    """How often what happened to each kind of act.

    A kind of act counts once in a dialogue: the first time that it is said. What is misheard is often said again for
    that very reason, so that counting every time (``every_time``) counts the loops of the speakers, not the ears of
    the listeners.
    """
    counts: dict[Speaker, _Counts] = {"user": _Counts(), "system": _Counts()}
    for dialogue in dialogues:
        for speaker, count in counts.items():
            known: set[str] = set()
            for _, said, heard in turns_of(dialogue, speaker):
                pairs, invented = _aligned(_plain(said), _plain(heard))
                fresh = {_kind(one) for one, _ in pairs} - known
                count.add(pairs, invented, None if every_time else fresh)
                known |= fresh
    return ChannelRates(user=counts["user"].rates(), system=counts["system"].rates())


def _plain(acts: Sequence[Act]) -> list[Plain]:
    return list(dict.fromkeys(Plain(act.name, act.slot, value) for act in acts for value in act.values or ("",)))


def _kind(act: Plain) -> str:
    return act.kind + (NOT_KNOWN if is_unknown(act.name, (act.value,)) else "")


def _aligned(said: list[Plain], heard: list[Plain]) -> tuple[list[tuple[Plain, Plain | None]], list[Plain]]:
    """Each act with what was heard in its place, and what was heard in no act's place.

    The same act comes first, then the same kind with another value, then another kind with the same value or slot.
    """
    pairs: list[tuple[Plain, Plain | None]] = []
    open_said, left = list(said), list(heard)
    for fits in (_understood, _same_kind, _same_value, _same_slot):
        for act in list(open_said):
            match = next((one for one in left if fits(act, one)), None)
            if match is not None:
                open_said.remove(act)
                left.remove(match)
                pairs.append((act, match))
    return [*pairs, *((act, None) for act in open_said)], left


def _same_kind(said: Plain, heard: Plain) -> bool:
    return said[:2] == heard[:2]


def _understood(said: Plain, heard: Plain) -> bool:
    return _same_kind(said, heard) and _mishearing(said.value, heard.value) is None


def _same_value(said: Plain, heard: Plain) -> bool:
    return said.value not in ("", ASKED) and canonical(said.value) == canonical(heard.value)


def _same_slot(said: Plain, heard: Plain) -> bool:
    return said.slot == heard.slot and (bool(said.slot) or said.name.partition("-")[0] == heard.name.partition("-")[0])


def _mishearing(said: str, heard: str) -> Mishearing | None:
    """What is wrong with a value; nothing where only the spelling differs, or words are added to it."""
    one, other = canonical(said), canonical(heard)
    if one == other or (said in NO_CONSTRAINT and heard in {*NO_CONSTRAINT, *_INDIFFERENT}):
        return None
    if heard in ("", ASKED, "none"):
        return "none"
    if one and one in other:
        return None
    return "part" if other in one else "other"


class _Counts:
    """What happened to the acts of one side."""

    def __init__(self) -> None:
        self._said: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._relabelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._misheard: defaultdict[str, Counter[Mishearing]] = defaultdict(Counter)
        self._inserted: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, pairs: list[tuple[Plain, Plain | None]], invented: list[Plain], counted: set[str] | None) -> None:
        """One turn; ``counted`` are the kinds that count in it, all where it is None."""
        for said, heard in pairs:
            kind = _kind(said)
            if counted is not None and kind not in counted:
                continue
            self._said[kind] += 1
            if heard is None:
                self._dropped[kind] += 1
            elif not _same_kind(said, heard):
                self._relabelled[kind][heard.kind] += 1
            elif wrong := _mishearing(said.value, heard.value):
                self._misheard[kind][wrong] += 1
        for one in invented:
            causes = _causes(one, [said for said, _ in pairs])
            for kind in causes:
                if counted is None or kind in counted:
                    self._inserted[kind][_invention(one)] += 1 / len(causes)

    def rates(self) -> dict[str, Damage]:
        """The shares of each kind."""
        if not self._said:
            return {}
        found = {kind: self._damage(kind, said) for kind, said in sorted(self._said.items())}
        return {EVERY: self._average(), **found}

    def _average(self) -> Damage:
        """Of all kinds together, for those that were never said."""
        said, misheard = self._said.total(), Counter[Mishearing]()
        for one in self._misheard.values():
            misheard.update(one)
        relabelled = sum(one.total() for one in self._relabelled.values())
        return Damage(
            said=said,
            drop=round(self._dropped.total() / said, _ROUNDED),
            relabel=_shares({WITHIN_DOMAIN: relabelled}, said),
            value=_shares(misheard, said),
        )

    def _damage(self, kind: str, said: int) -> Damage:
        return Damage(
            said=said,
            drop=round(self._dropped[kind] / said, _ROUNDED),
            relabel=_shares(self._relabelled[kind], said),
            value=_shares(self._misheard[kind], said),
            insert=_shares(self._inserted[kind], said),
        )


def _shares(counts: Mapping[T, float], said: int) -> dict[T, float]:
    ordered = sorted(counts.items(), key=lambda one: (-one[1], str(one[0])))
    return {name: rate for name, count in ordered if (rate := min(1.0, round(count / said, _ROUNDED)))}


def _causes(invented: Plain, said: list[Plain]) -> list[str]:
    """The acts of a turn that may have made the listener hear another: of its slot, else of its domain, else all."""
    domain = invented.name.partition("-")[0]
    akin = [act for act in said if act.name.partition("-")[0] == domain]
    closest = [act for act in akin if act.slot == invented.slot and act.slot]
    return [_kind(act) for act in closest or akin or said]


def _invention(act: Plain) -> str:
    if act.name.endswith(_REQUEST) or not act.slot:
        return act.kind
    if act.value in {*NO_CONSTRAINT, *_INDIFFERENT} and act.value not in ("", ASKED):
        return f"{act.kind}=dontcare"
    kept = act.value == "none" or (act.slot, act.value) in _KEPT
    return f"{act.kind}={act.value}" if kept else act.kind
