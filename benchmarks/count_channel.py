"""Count the rates of the error channel ``paper2021`` from the recorded conversations of the GCDF1 paper.

    python benchmarks/count_channel.py shared/data/gcdf1/conversations              # totals
    python benchmarks/count_channel.py shared/data/gcdf1/conversations rates.yaml   # also write the rates

The totals compare what the recordings heard with what the channel makes of the same acts: in all turns, where the
loops weigh most, and in the turns that say nothing for the second time.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.agents.town import Channel, ChannelRates, Damage, kind_of
from dialgauge.agents.town.channel import EVERY, NOT_KNOWN, Mishearing, is_unknown
from dialgauge.dialogue import Act, Dialogue, Speaker, Turn
from dialgauge.draws import Draws
from dialgauge.formats import read
from dialgauge.intents import INTENTS, REQUEST, service_of
from dialgauge.values import NO_CONSTRAINT, canonical, same_value
from dialgauge.worlds.town import ASKED, TOWN

HEADER = """\
# How the agents of the GCDF1 paper (Coca et al., 2021) understood each other: counted from its 1,000 recorded
# conversations by benchmarks/count_channel.py. A kind of act counts once in a conversation, the first time that it is
# said ('said': in how many conversations). "*" is the average of all, for kinds that were never said.
# 'again' has the rates of the very same act said again, where that happened at least 20 times.
# Shares: drop: not heard. relabel: heard as another act. value: heard with no value, a part of it, or another one.
# insert: heard beside it though nobody said it.
"""

T = TypeVar("T")
#: A sentence that starts with "do n't care" was cut off there.
_INDIFFERENT = {"dontcare", "do", "do n't", "do n't care"}
#: Values that are put on record where they were heard but not said; others are drawn from the ontology.
_KEPT = {
    pair
    for service in TOWN.services.values()
    for pair in (
        *service.generic.items(),
        *((slot, truth) for slot, rule in service.search.items() if rule.match == "yes-no" for truth in ("yes", "no")),
    )
}
_ROUNDED = 4
#: Repetitions that make rates of their own.
_ENOUGH = 20


def main() -> None:
    """Print the totals; write the rates where a file is named."""
    dialogues = list(read(sys.argv[1]).dialogues)
    rates = count_rates(dialogues)
    for speaker in ("user", "system"):
        for label, channel in {"recorded": None, "channel": Channel(rates)}.items():
            for turns, first in {"all turns": False, "without repetition": True}.items():
                one = agreement(replayed(dialogues, speaker, channel, first))
                print(
                    f"{speaker:7} {label:9} {turns:18} said {one.said:6} heard {one.heard:6} "
                    f"recall {one.recall:.3f} precision {one.precision:.3f}"
                )
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(rates_file(rates), encoding="utf-8")


def rates_file(rates: ChannelRates) -> str:
    """The rates as the file has them."""
    lines = [HEADER]
    for side in ("user", "system"):
        lines.append(f"{side}:\n")
        lines += [f"  {_line(kind, damage)}\n" for kind, damage in getattr(rates, side).items()]
    return "".join(lines)


def _line(kind: str, damage: Damage) -> str:
    return f"{_quoted(kind)}: {_damage_text(damage)}"


def _damage_text(damage: Damage) -> str:
    parts = [f"said: {damage.said}"]
    if damage.drop:
        parts.append(f"drop: {damage.drop:g}")
    for field in ("relabel", "value", "insert"):
        shares = ", ".join(f"{_quoted(name)}: {rate:g}" for name, rate in getattr(damage, field).items())
        if shares:
            parts.append(f"{field}: {{{shares}}}")
    if damage.again is not None:
        parts.append(f"again: {_damage_text(damage.again)}")
    return f"{{{', '.join(parts)}}}"


def _quoted(kind: str) -> str:
    return kind if kind.isalpha() else f'"{kind}"'


def replayed(
    dialogues: Sequence[Dialogue], speaker: Speaker, channel: Channel | None, first: bool = False
) -> Iterator[tuple[Sequence[Act], Sequence[Act]]]:
    """What was said with what was heard, in the recording or through a channel; ``first``: turns without repetition."""
    for dialogue in dialogues:
        known: set[tuple[str, str]] = set()
        draws, before = Draws(0, "recount", dialogue.id), set[Act]()
        for _, said, heard in turns_of(dialogue, speaker):
            got = heard if channel is None else channel.damage(said, speaker, draws, None, before)
            kinds = {(act.name, act.slot) for act in said}
            if not first or not kinds & known:
                yield said, got
            known |= kinds


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
        kinds, other = (Counter((act.name, act.slot) for act in acts) for acts in (said, heard))
        total, heard_total = total + kinds.total(), heard_total + other.total()
        matched += (kinds & other).total()
    return Agreement(total, heard_total, matched)


def turns_of(dialogue: Dialogue, speaker: Speaker) -> Iterator[tuple[Turn, Sequence[Act], Sequence[Act]]]:
    """The turns of a speaker of which is known how they were heard."""
    for turn in dialogue.turns:
        if turn.speaker == speaker and turn.acts is not None and turn.heard is not None:
            yield turn, turn.acts, turn.heard


def count_rates(dialogues: Iterable[Dialogue]) -> ChannelRates:
    """How often what happened to each kind of act.

    What is misheard is often said again for that very reason, so that counting every time would count the loops of the
    speakers, not the ears of the listeners. Therefore a kind of act counts once in a dialogue, the first time that it
    is said; and what happens to the very same act said again is counted apart.
    """
    counts: dict[Speaker, tuple[_Counts, _Counts]] = {"user": (_Counts(), _Counts()), "system": (_Counts(), _Counts())}
    for dialogue in dialogues:
        for speaker, (first, again) in counts.items():
            kinds: set[str] = set()
            known: set[Plain] = set()
            for _, said, heard in turns_of(dialogue, speaker):
                pairs, invented = _aligned(_plain(said), _plain(heard))
                acts = {act for act, _ in pairs}
                new = {act for act in acts if _kind(act) not in kinds}
                first.add(pairs, invented, new)
                again.add(pairs, invented, acts & known)
                known |= acts
                kinds |= {_kind(act) for act in new}
    return ChannelRates(user=_rates(*counts["user"]), system=_rates(*counts["system"]))


def _rates(first: _Counts, again: _Counts) -> dict[str, Damage]:
    """The shares of each kind, and of all together for those that were never said."""
    if not first.said:
        return {}
    rates = {EVERY: first.average()}
    for kind in sorted(first.said):
        repeated = again.damage(kind) if again.said[kind] >= _ENOUGH else None
        rates[kind] = replace(first.damage(kind), again=repeated)
    return rates


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
            match = next((plain for plain in left if fits(act, plain)), None)
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
    return said.value not in ("", ASKED) and same_value(said.value, heard.value)


def _same_slot(said: Plain, heard: Plain) -> bool:
    return said.slot == heard.slot and (bool(said.slot) or service_of(said.name) == service_of(heard.name))


def _mishearing(said: str, heard: str) -> Mishearing | None:
    """What is wrong with a value; nothing where only the spelling differs, or words are added to it."""
    meant, other = canonical(said), canonical(heard)
    if meant == other or (said in NO_CONSTRAINT and heard in {*NO_CONSTRAINT, *_INDIFFERENT}):
        return None
    if heard in ("", ASKED, "none"):
        return "none"
    if meant and meant in other:
        return None
    return "part" if other in meant else "other"


class _Counts:
    """What happened to the acts of one side."""

    def __init__(self) -> None:
        self.said: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._relabelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._misheard: defaultdict[str, Counter[Mishearing]] = defaultdict(Counter)
        self._inserted: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, pairs: list[tuple[Plain, Plain | None]], invented: list[Plain], counted: set[Plain]) -> None:
        """One turn; ``counted`` are the acts that count in it."""
        for said, heard in pairs:
            if said not in counted:
                continue
            kind = _kind(said)
            self.said[kind] += 1
            if heard is None:
                self._dropped[kind] += 1
            elif not _same_kind(said, heard):
                self._relabelled[kind][heard.kind] += 1
            elif wrong := _mishearing(said.value, heard.value):
                self._misheard[kind][wrong] += 1
        for plain in invented:
            causes = _causes(plain, [said for said, _ in pairs])
            for cause in causes:
                if cause in counted:
                    self._inserted[_kind(cause)][_invention(plain)] += 1 / len(causes)

    def damage(self, kind: str) -> Damage:
        """The shares of a kind."""
        times = self.said[kind]
        return Damage(
            said=times,
            drop=round(self._dropped[kind] / times, _ROUNDED),
            relabel=_shares(self._relabelled[kind], times),
            value=_shares(self._misheard[kind], times),
            insert=_shares(self._inserted[kind], times),
        )

    def average(self) -> Damage:
        """The shares of all kinds together; what an act that was never said would be taken for, nobody knows."""
        times, misheard = self.said.total(), Counter[Mishearing]()
        for counter in self._misheard.values():
            misheard.update(counter)
        return Damage(said=times, drop=round(self._dropped.total() / times, _ROUNDED), value=_shares(misheard, times))


def _shares(counts: Mapping[T, float], times: int) -> dict[T, float]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    return {name: rate for name, count in ordered if (rate := min(1.0, round(count / times, _ROUNDED)))}


def _causes(invented: Plain, said: list[Plain]) -> list[Plain]:
    """The acts of a turn that may have made the listener hear another: of its slot, else of its domain, else all."""
    akin = [act for act in said if service_of(act.name) == service_of(invented.name)]
    closest = [act for act in akin if act.slot == invented.slot and act.slot]
    return closest or akin or said


def _invention(act: Plain) -> str:
    if INTENTS[act.name] == REQUEST or not act.slot:
        return act.kind
    if act.value in {*NO_CONSTRAINT, *_INDIFFERENT} and act.value not in ("", ASKED):
        return f"{act.kind}=dontcare"
    kept = act.value == "none" or (act.slot, act.value) in _KEPT
    return f"{act.kind}={act.value}" if kept else act.kind


if __name__ == "__main__":
    main()
