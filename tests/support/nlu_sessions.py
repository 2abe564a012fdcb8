"""What our own agents say to each other, in words: samples to try an NLU on; and how it did, slot by slot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dialgauge.agents.speech import NluSample, ParseContext, TemplateNlg, UnderstoodCounts
from dialgauge.agents.town import AgendaUser, RuleSystem
from dialgauge.dialogue import Act
from dialgauge.draws import Draws
from dialgauge.worlds.domain import DomainGoal
from dialgauge.worlds.town import Backend, TownSearch

_MOST_EXCHANGES = 20


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
        yield NluSample(text=said.text, speaker="user", acts=asked, context=context, spans=said.spans)
        context = ParseContext(own=asked, before=answered, domain=user.domain, pending=user.pending)
        answered = system.step(asked)
        said = words.generate(answered, "system", system_words)
        yield NluSample(text=said.text, speaker="system", acts=answered, context=context, spans=said.spans)
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
