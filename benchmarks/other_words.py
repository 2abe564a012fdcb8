"""Is an assistant judged by what it does, or by whether it speaks our templates?

The rule system's own policy, with its real calls, words its answers in five other styles in front of the agenda user,
in the town and in three small domains; further a form filler, a silent one, and one with injected errors. Printed: the
success in each style relative to the templates', conversations wrongly blamed on the assistant, injected errors that
were caught and blamed, against the bar of ``specs/domains.md``, section 6.

    python benchmarks/other_words.py [GOALS] [DOMAIN…] [--styles plain,chatty] [--show 3]
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from word_styles import STYLES, UNSEEN, Style

from dialgauge.agents import Agent, Reply, RuleSystem, SystemContext, UserListener, Vocabulary, Wording, converse
from dialgauge.dialogue import Act, Dialogue, Turn
from dialgauge.intents import NO_BOOK, service_of
from dialgauge.lab import (
    AgentSpec,
    blame_conversations,
    blame_sentence,
    lab_scenario,
    make_lab_config,
    with_states,
    with_told_acts,
)
from dialgauge.tasks import judge_outcomes
from dialgauge.worlds.domain import DomainGoal, DomainSearch, ServiceDesk, draw_goals, load_domain

DOMAINS = Path(__file__).parent / "domains"
#: Not looked at before the end.
UNSEEN_DOMAINS = ("observatory",)


class StyledSystem:
    """The rule system in other words; it says words only, and no acts."""

    name = "styled"
    side, levels = "system", ("text",)

    def __init__(
        self, style: str, alter: Callable[[list[Act], random.Random, Vocabulary, Sequence[str]], bool] | None = None
    ) -> None:
        self._style, self._alter = style, alter
        #: Was an error injected in this conversation?
        self.injected = False

    def start(self, context: SystemContext) -> None:
        """A new conversation."""
        assert isinstance(context.office, ServiceDesk) and context.streams is not None
        domain = context.office.domain
        self._core = RuleSystem(context.office, context.streams("system-core"))
        self._vocabulary = Vocabulary.of(domain)
        seed = sum(map(ord, context.dialogue_id))
        self._words = Style(self._style, self._vocabulary, seed) if self._style != "templates" else None
        self._draws, self.injected = random.Random(seed), False
        self._own: tuple[Act, ...] = ()
        self._streams, self._ontology = context.streams, context.ontology
        self._ears: Callable[[Turn, tuple[Act, ...], str], tuple[Act, ...]]
        self._ears = UserListener(Vocabulary.of(domain, context.ontology)).hear
        self._plain = Wording(self._vocabulary)

    def respond(self, turn: Turn | None) -> Reply:
        """The answer to a turn."""
        assert turn is not None
        heard = self._ears(turn, self._own, self._core.belief.domain)
        self._own = self._core.step(heard)
        said = list(self._own)
        if self._alter is not None and not self.injected:
            wanted = [act.slot for act in heard if act.intent == "request"]
            self.injected = self._alter(said, self._draws, self._vocabulary, wanted)
        if self._words is None:
            text = self._plain.system(said, self._core.belief.domain)
        else:
            text = self._words.say(said, self._core.belief.domain)
        return Reply(turn=Turn(speaker="system", text=text), state=self._core.state)


class FormFiller(StyledSystem):
    """It hears only what it asked for, of alternatives each, and asks again where it heard nothing of it."""

    def respond(self, turn: Turn | None) -> Reply:
        """The answer to a turn."""
        asked = {act.slot for act in self._own if act.intent == "request"}
        for service in self._vocabulary.services.values():
            for group in (
                *service.service.requires_one_of,
                *(service.service.book.one_of if service.service.book else ()),
            ):
                asked |= set(group) if asked & set(group) else set()
        ears, repeated = self._ears, self._own
        heard: tuple[Act, ...] = ears(turn, self._own, self._core.belief.domain) if turn else ()
        kept = tuple(act for act in heard if act.slot in asked or act.domain == "general" or act.intent == "request")
        if asked and not kept and self._words is not None:
            return Reply(turn=Turn(speaker="system", text=self._words.say(repeated, self._core.belief.domain)))
        self._ears = lambda turn, own, service: kept if asked else heard
        try:
            return super().respond(turn)
        finally:
            self._ears = ears


class Silent:
    """It says "Okay." to everything."""

    name, side, levels = "silent", "system", ("text",)
    injected = True

    def start(self, context: SystemContext) -> None:
        """A new conversation."""

    def respond(self, turn: Turn | None) -> Reply:
        """Okay."""
        return Reply(turn=Turn(speaker="system", text="Okay."))


def wrong_value(said: list[Act], draws: random.Random, vocabulary: Vocabulary, asked: Sequence[str]) -> bool:
    """Another value of the same slot in the place of one that is told as an answer or a reference."""
    for place, act in enumerate(said):
        words = vocabulary.services.get(act.domain) or next(iter(vocabulary.services.values()))
        slot = words.slots.get(act.slot)
        answer = act.slot in asked and act.intent == "inform" and act.slot != words.service.name_slot
        if slot is None or not act.values or act.values[0] == "unknown" or not answer:
            continue
        others = [value for value in slot.values if value.lower() != act.values[0].lower()]
        if slot.kind == "yes-no":
            others = ["no" if act.values[0].lower() in ("yes", "true") else "yes"]
        if others:
            said[place] = replace(act, values=(draws.choice(others),))
            return True
    return False


def unanswered(said: list[Act], draws: random.Random, vocabulary: Vocabulary, asked: Sequence[str]) -> bool:
    """An answer left out; it is left out again whenever it is asked for."""
    answers = [
        act for act in said
        if act.intent == "inform" and act.domain in vocabulary and act.slot in vocabulary[act.domain].service.answer
    ]  # fmt: skip
    for act in answers:
        said.remove(act)
    return False


def claimed(said: list[Act], draws: random.Random, vocabulary: Vocabulary, asked: Sequence[str]) -> bool:
    """A booking that was refused is told as made."""
    refusals = [act for act in said if act.intent == NO_BOOK]
    for act in refusals:
        said.remove(act)
    if refusals:
        service = vocabulary.services.get(refusals[0].domain)
        name = service.service.act_name("book") if service else "Booking-Book"
        said.append(Act(name=name, domain=service_of(name)))
    return bool(refusals)


def held_with(
    search: DomainSearch, goals: Sequence[DomainGoal], system: Callable[[], Agent], *, free: bool
) -> tuple[list[Dialogue], list[bool]]:
    """The conversations of all goals, and which of them had an error injected."""
    name = "http" if free else "rule-system"
    options = {"url": "http://127.0.0.1:1"} if free else {}
    config = make_lab_config(AgentSpec("agenda"), AgentSpec(name, options), level="text", seed=5, exchanges=40)
    vocabulary = Vocabulary.of(search.domain)
    dialogues, injected = [], []
    for goal in goals:
        user, agent = config.user.make(), system() if free else config.system.make()
        held = converse(user, agent, lab_scenario(search, goal, config))
        if free:
            held = with_told_acts(held, vocabulary)
        dialogues.append(with_states(held, search.domain))
        injected.append(bool(getattr(agent, "injected", False)))
    return dialogues, injected


class Tally:
    """What became of the conversations of one cell."""

    def __init__(self, search: DomainSearch, goals: Sequence[DomainGoal], dialogues: Sequence[Dialogue]) -> None:
        judged = judge_outcomes(dialogues, search, calls_recorded=True, goals={goal.id: goal for goal in goals})
        blamed = {one.dialogue: one for one in blame_conversations(judged)}
        self.verdicts = {one.id: one for one in judged}
        self.blamed = blamed
        self.done = [bool((one := blamed.get(dialogue.id)) and one.success) for dialogue in dialogues]
        self.sides = [
            one.link.side if (one := blamed.get(dialogue.id)) and one.link is not None else "" for dialogue in dialogues
        ]

    @property
    def success(self) -> float:
        """The share that succeeded."""
        return sum(self.done) / max(len(self.done), 1)


def show(tally: Tally, dialogues: Sequence[Dialogue], most: int) -> None:
    """Some conversations that failed, for a reader."""
    failed = [dialogue for dialogue, done in zip(dialogues, tally.done, strict=True) if not done]
    for dialogue in failed[:most]:
        print("-" * 100)
        for turn in dialogue.turns:
            calls = " ".join(
                f"[{call.name} {call.domain} {call.arguments} {call.outcome}]" for call in turn.calls or ()
            )
            print(f"  {turn.speaker[:1]}: {turn.text!r} {calls}")
        one = tally.verdicts[dialogue.id]
        for name, task in one.strict.tasks.items() if one.strict else ():
            print("  ", name, "ok" if task.success else task.why)
        link = tally.blamed[dialogue.id].link
        print("  blamed:", link and (link.side, blame_sentence(link)), dialogue.outcome and dialogue.outcome.reason)


def main() -> None:
    """Print the table of every cell, and the bar."""
    parser = argparse.ArgumentParser()
    parser.add_argument("goals", nargs="?", type=int, default=100)
    parser.add_argument("domains", nargs="*", default=["town", "bike-shop", "language-school"])
    parser.add_argument("--styles", default=",".join(STYLES))
    parser.add_argument("--show", type=int, default=0)
    given = parser.parse_args()
    relative, clean, wrongly = [], 0, 0
    for name in given.domains:
        domain = load_domain(name if name == "town" else DOMAINS / name)
        search = DomainSearch(domain) if name != "town" else _town()
        goals = draw_goals(domain, search, given.goals, 3).goals if name != "town" else _town_goals(search, given.goals)
        own, _ = held_with(search, goals, Silent, free=False)
        base = Tally(search, goals, own)
        print(f"{name}: templates {base.success:.1%} of {len(goals)}", flush=True)
        if given.show and base.success < 1:
            show(base, own, given.show)
        for style in given.styles.split(","):
            held, _ = held_with(search, goals, partial(StyledSystem, style), free=True)
            tally = Tally(search, goals, held)
            share = tally.success / base.success
            blamed = sum(side == "system" for side in tally.sides)
            relative.append((name, style, share))
            clean, wrongly = clean + len(goals), wrongly + blamed
            unseen = " (unseen)" if style in UNSEEN or name in UNSEEN_DOMAINS else ""
            sides = dict(Counter(filter(None, tally.sides)))
            print(f"  {style:9} {share:7.1%} of it, blamed on it {blamed}, {sides}{unseen}", flush=True)
            if given.show:
                show(tally, held, given.show)
        _others(search, goals, base, given.styles.split(","), given.show)
    shares = [share for _, _, share in relative]
    print(f"mean {sum(shares) / len(shares):.1%} (bar 99%), least {min(shares):.1%} (bar 97%)")
    print(f"wrongly blamed {wrongly} of {clean}, {wrongly / clean:.2%} (bar 0.5%)")


def _others(search: DomainSearch, goals: Sequence[DomainGoal], base: Tally, styles: Sequence[str], most: int) -> None:
    style = styles[0]
    held, _ = held_with(search, goals, lambda: FormFiller(style), free=True)
    tally = Tally(search, goals, held)
    print(f"  form filler {tally.success / base.success:.1%} (bar 94%) {dict(Counter(filter(None, tally.sides)))}")
    if most:
        show(tally, held, most)
    held, _ = held_with(search, goals, Silent, free=True)
    tally = Tally(search, goals, held)
    blamed = sum(side == "system" for side in tally.sides)
    print(f"  silent: failed {1 - tally.success:.1%}, blamed on it {blamed / len(goals):.1%}")
    if most and blamed < len(goals):
        show(tally, [dialogue for dialogue, side in zip(held, tally.sides, strict=True) if side != "system"][:0], most)
    missed = 0
    for what, alter in (("wrong value", wrong_value), ("unanswered", unanswered), ("claimed", claimed)):
        caught = errors = on_it = 0
        for one in styles:
            held, injected = held_with(search, goals, partial(StyledSystem, one, alter), free=True)
            if alter is unanswered:
                injected = [any(_asks(search, task) for task in goal.tasks) for goal in goals]
            tally = Tally(search, goals, held)
            for place, (faulty, done, side) in enumerate(zip(injected, tally.done, tally.sides, strict=True)):
                errors += faulty
                if faulty and done and most and missed < most:
                    missed += 1
                    where = held[place]
                    print(
                        "   missed",
                        one,
                        where.id,
                        [turn.text for turn in where.turns][-8:],
                        where.goal and where.goal.tasks,
                    )
                caught += faulty and not done
                on_it += faulty and side == "system"
        found, told = caught / max(errors, 1), on_it / max(errors, 1)
        print(f"  {what}: {errors} injected, caught {found:.1%} (bar 97%), blamed on it {told:.1%} (bar 85%)")


def _asks(search: DomainSearch, task: object) -> bool:
    service = search.domain.services[task.domain]  # type: ignore[attr-defined]
    return any(slot in service.answer for slot in task.requests)  # type: ignore[attr-defined]


def _town() -> DomainSearch:
    from dialgauge.lab import open_domain

    return open_domain(count=1).search


def _town_goals(search: DomainSearch, count: int) -> list[DomainGoal]:
    from dialgauge.lab import open_domain

    return list(open_domain(count=count).goals)


if __name__ == "__main__":
    main()
