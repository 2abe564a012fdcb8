"""What our own agents say to each other: samples to try the NLU on, and how it did, slot by slot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from dialgauge.agents.speech import LinearNlu, ParseContext, TemplateNlg
from dialgauge.agents.town import AgendaUser, RuleSystem
from dialgauge.dialogue import Act, Ontology, SlotSpec, Speaker
from dialgauge.draws import Draws
from dialgauge.worlds.domain import DomainGoal
from dialgauge.worlds.town import Backend, TownSearch

_MOST_EXCHANGES = 20
_STATIONS = ("port orlan", "saltby", "kings ferry", "london north street")
_SMALL_TOWN: dict[str, dict[str, tuple[str, ...]]] = {
    "restaurant": {
        "name": ("the amber ladle", "casa zingaro", "nadia's kitchen", "rice and spice", "orlan"),
        "food": ("italian", "indian", "modern european", "chinese", "british"),
        "area": ("centre", "north", "south", "east", "west"),
        "pricerange": ("cheap", "moderate", "expensive"),
    },
    "hotel": {"name": ("the gull hotel", "tern guest house", "larkrise lodge"), "type": ("hotel", "guesthouse")},
    "attraction": {"name": ("saint anne's church", "museum of salt"), "type": ("museum", "church", "swimmingpool")},
    "train": {"departure": _STATIONS, "destination": _STATIONS},
}
SMALL_TOWN = Ontology(
    domains={
        service: {slot: SlotSpec(values=values) for slot, values in slots.items()}
        for service, slots in _SMALL_TOWN.items()
    }
)
#: Act and slot, with the value.
Item = tuple[str, ...]


class NluSample(Struct, frozen=True, kw_only=True):
    """An utterance to try the NLU on."""

    text: str
    speaker: Speaker
    acts: tuple[Act, ...]
    context: ParseContext = ParseContext()


class UnderstoodCounts(Struct, frozen=True):
    """Counts over samples: what was understood (``right``), understood wrongly (``extra``), and missed."""

    right: Counter[Item]
    extra: Counter[Item]
    missed: Counter[Item]
    #: For pairs of act-slots: how often the second was understood where the first was said and missed.
    confused: Counter[tuple[Item, Item]]

    @property
    def f1(self) -> float:
        right, wrong = 2 * self.right.total(), self.extra.total() + self.missed.total()
        return right / (right + wrong) if right else 0.0


def understanding(nlu: LinearNlu, samples: Iterable[NluSample], speaker: Speaker) -> UnderstoodCounts:
    """Try the NLU on what one speaker says. Values are compared as the NLU's world writes them."""
    scores = UnderstoodCounts(Counter(), Counter(), Counter(), Counter())
    for sample in samples:
        if sample.speaker != speaker:
            continue
        said = _items(sample.acts, nlu)
        heard = _items(nlu.parse(sample.text, sample.speaker, sample.context).acts, nlu)
        scores.right.update(said & heard)
        scores.extra.update(heard - said)
        scores.missed.update(said - heard)
        scores.confused.update({(pair[:2], other[:2]) for pair in said - heard for other in heard - said})
    return scores


def _items(acts: Iterable[Act], nlu: LinearNlu) -> set[Item]:
    plain = nlu.finder.value
    return {(act.name, act.slot, value and plain(value)) for act in acts for value in act.values or ("",)}


def session_samples(goals: Iterable[DomainGoal], search: TownSearch, *, seed: int = 0) -> Iterator[NluSample]:
    """Every turn of a conversation of agenda user and rule system for each goal; each hears what the other said."""
    words = TemplateNlg(strict=True)
    for goal in goals:
        yield from _session(goal, search, words, seed)


def _session(goal: DomainGoal, search: TownSearch, words: TemplateNlg, seed: int) -> Iterator[NluSample]:
    def draws(role: str) -> Draws:
        return Draws(seed, "nlu session", goal.id, role)

    user = AgendaUser(goal, search.domain.public, draws("user-core"))
    system = RuleSystem(Backend(search, draws("backend"), goal), draws("system-core"))
    user_words, system_words = draws("user-nlg"), draws("system-nlg")
    asked: tuple[Act, ...] = ()
    answered: tuple[Act, ...] = ()
    for _ in range(_MOST_EXCHANGES):
        domain = system.belief.domain
        context = ParseContext(own=answered, before=asked, domain=domain, pending=domain)
        asked = user.step(answered)
        said = words.generate(asked, "user", user_words)
        yield NluSample(text=said.text, speaker="user", acts=asked, context=context)
        context = ParseContext(own=asked, before=answered, domain=user.domain, pending=user.pending)
        answered = system.step(asked)
        said = words.generate(answered, "system", system_words)
        yield NluSample(text=said.text, speaker="system", acts=answered, context=context)
        if user.end_reason:
            return


def recalls(scores: UnderstoodCounts, least: int = 1) -> dict[tuple[str, ...], float]:
    """Recall of each act and slot that was said at least so often."""
    right = _by_slot(scores.right)
    said = right + _by_slot(scores.missed)
    return {item: right[item] / count for item, count in said.items() if count >= least}


def confusions(scores: UnderstoodCounts, least: int = 1) -> dict[tuple[tuple[str, ...], tuple[str, ...]], float]:
    """For act-slots said at least so often, the share of them that another one was understood for."""
    said = _by_slot(scores.right) + _by_slot(scores.missed)
    return {pair: count / said[pair[0]] for pair, count in scores.confused.items() if said[pair[0]] >= least}


def _by_slot(counts: Counter[tuple[str, ...]]) -> Counter[tuple[str, ...]]:
    merged: Counter[tuple[str, ...]] = Counter()
    for item, count in counts.items():
        merged[item[:2]] += count
    return merged
