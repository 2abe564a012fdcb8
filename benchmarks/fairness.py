"""Is an assistant judged by what it does, or by whether we understand its words?

The rule system's own policy, with its real calls, speaks in eleven styles to the agenda user, in the town and in five
small domains. Printed for each: conversations done, not done, not understood and blamed on the assistant. Then the same
with faults put in on purpose: the share that counts as not done. The bars are those of ``specs/domains.md``, section 6.

    python benchmarks/fairness.py [GOALS] [--domains town,clinic] [--styles plain,chatty] [--faults silent] [--show 3]
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dialgauge.agents import (
    Agent,
    Reply,
    RuleSystem,
    ServiceWords,
    SystemContext,
    UserListener,
    Vocabulary,
    converse,
)
from dialgauge.dialogue import Act, Dialogue, Turn
from dialgauge.intents import NO_BOOK, service_of
from dialgauge.lab import (
    AgentSpec,
    blame_conversations,
    blame_sentence,
    lab_scenario,
    make_lab_config,
    open_domain,
    with_states,
    with_told_acts,
)
from dialgauge.tasks import judge_outcomes
from dialgauge.worlds.domain import DomainGoal, DomainSearch, ServiceDesk

HERE = Path(__file__).parent
DOMAINS = {name: HERE / "domains" / name for name in ("bike-shop", "language-school", "observatory")} | {
    name: HERE.parent / "docs" / "examples" / "domains" / name for name in ("clinic", "library")
}
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_SMALL = _NUMBERS.split()
#: What replies say that tell nothing.
_FILLERS = (
    "Certainly.", "Let me look into this for you.", "Of course, happy to help with that!", "Noted.", "Hmm.",
    "Great choice, lots of people enjoy it.", "Is there anything else I can help you with?", "Please hold the line.",
    "We take your enquiry very seriously and will respond shortly.", "I understand. Shall we continue?",
)  # fmt: skip
#: Templates by style: for what was found, refused, booked, offered, told and asked, and how values are written.
STYLES: dict[str, dict[str, str]] = {
    "plain": {
        "none": "We don't have any {} like that, I'm sorry.", "refused": "That could not be booked, unfortunately.",
        "booked": "All booked.", "select": "{} would both suit you. Which one shall it be?",
        "offer": "{} would suit you.|What about {}?|We have {}.", "fact": "The {0} is {1}.|Its {0} is {1}.",
        "yes": "As to {}: yes.", "no": "As to {}: no, sorry.", "unknown": "We have no information about the {}.",
        "ask": "Do you have a {} in mind?|May I ask for the {}?", "book": "Shall I book that?",
        "more": "What else can I do for you?", "bye": "Goodbye now.", "money": "{} euros", "time": "24",
    },
    "chatty": {
        "none": "Oh no, I looked everywhere but nothing matched! Maybe try something different?",
        "refused": "Hmm, they turned that booking down, what a pity! Would something else work?",
        "booked": "Woohoo, you're all set, it's booked 🎉!", "select": "So I've got {}, both lovely! Got a favourite?",
        "offer": "You know what, {} could be just the thing for you!",
        "fact": "Oh, and the {}? That's {}!|By the way, its {} is {}.", "yes": "And {}? Yes, totally!",
        "no": "And {}? Nope, afraid not!", "unknown": "Honestly, I couldn't find the {} anywhere, sorry!",
        "ask": "Quick one: any thoughts on the {}?", "book": "Want me to book it for you?",
        "more": "Anything else on your mind?", "bye": "Bye-bye, have a lovely day! 👋", "money": "€{}", "time": "am",
        "numbers": "words",
    },
    "markdown": {
        "none": "### No results\nYou could change your wishes.", "refused": "> ⚠️ **Booking not possible**",
        "booked": "## Booking confirmed", "select": "1. **{}**\nPlease pick one of the above.", "offer": "### {}",
        "fact": "- **{}**: {}", "yes": "- **{}**: ✅ Yes", "no": "- **{}**: ❌ No", "unknown": "- **{}**: —",
        "ask": "**Please provide**: _{}_", "book": "*Would you like to book this?*",
        "more": "---\nLet me know if there is anything else.", "bye": "**Goodbye!**", "money": "€{}", "time": "am",
    },
    "terse": {
        "none": "none found", "refused": "booking failed", "booked": "booked", "select": "{}?", "offer": "{},",
        "fact": "{}: {},", "yes": "{}: y,", "no": "{}: n,", "unknown": "{} unknown,", "ask": "{}?", "book": "book?",
        "more": "else?", "bye": "bye", "money": "{} EUR", "time": "am",
    },
    "kiosk": {
        "none": "0 RESULTS :-(", "refused": "BOOKING REJECTED BY OPERATOR", "booked": "*** CONFIRMED ***",
        "select": "[1] {}", "offer": ">> {} <<", "fact": "\n{} .... {}", "yes": "\n{} .... YES", "no": "\n{} .... NO",
        "unknown": "\n{} .... ???", "ask": "\nENTER {}:", "book": "PRESS B TO BOOK", "more": "",
        "bye": "SESSION CLOSED", "money": "{},- €", "time": "24",
    },
    "model": {
        "none": "I wasn't able to find any {} matching those criteria. Would you like to adjust your preferences?",
        "refused": "Unfortunately that booking couldn't be completed. Would you like to try something else?",
        "booked": "Great news! Your booking is confirmed.", "select": "Here are some options: {}. Which do you prefer?",
        "offer": "I found **{}**, which matches what you're looking for!", "fact": "The {} is **{}**.",
        "yes": "Yes, {} is available.", "no": "No, {} is not available.",
        "unknown": "I'm sorry, I don't have any information about the {}.",
        "ask": "Could you please tell me the {} you'd like?", "book": "Would you like me to book it?",
        "more": "Is there anything else I can help you with today?", "bye": "You're welcome! Have a wonderful day!",
        "time": "AM",
    },
    "butler": {
        "none": "I regret to say that we have nothing of the kind.",
        "refused": "I regret that this could not be arranged.",
        "booked": "It has been arranged; your booking stands.", "select": "I could recommend {}, if I may.",
        "offer": "Might I suggest {}?",
        "fact": "As for the {}, I have {} written down here.|You will find the {} is {}.",
        "yes": "Regarding {}: yes indeed.", "no": "Regarding {}: no, I am afraid.",
        "unknown": "Alas, nobody has told me the {}.", "ask": "And which {} would you prefer?",
        "book": "Shall I see to the reservation?", "more": "May I be of further assistance?",
        "bye": "Farewell, and a pleasant day.", "time": "a.m.",
    },
    "pronoun": {
        "none": "Sorry, there's nothing like that.", "refused": "Sorry, they can't take that.",
        "booked": "That's booked for you.", "select": "There's {}. Which one?", "offer": "There's {}.",
        "fact": "For the {} it's {}.", "yes": "For the {} it's yes.", "no": "For the {} it's no.",
        "unknown": "For the {} it's not in my records.", "single": "It's {}.|That would be {}.",
        "only yes": "Yes, it does.",
        "only no": "No, it doesn't.", "only unknown": "That isn't in my records.", "ask": "What {} would you like?",
        "book": "Do you want it?", "more": "What else do you need?", "bye": "See you. Bye!", "time": "AM",
    },
    "echo": {
        "none": "Searching... no matching {} in our system.", "refused": "Trying to book... the request was rejected.",
        "booked": "Trying to book... success! Your reservation is confirmed.", "select": "Searching... found {}.",
        "offer": "Searching... {} looks right.", "fact": "You asked about {}. Here's what I know: {}.",
        "yes": "You asked about {}. Here's what I know: yes.", "no": "You asked about {}. Here's what I know: no.",
        "unknown": "You asked about {}. Here's what I know: nothing, the field is empty.",
        "ask": "I still need one thing from you: {}?", "book": "Shall I place the booking?", "more": "Anything more?",
        "bye": "Goodbye and thanks for using our service.", "time": "24",
    },
    "spoken": {
        "none": "Nothing comes up, sadly.", "refused": "They turned me down, I'm sorry.",
        "booked": "There, I booked it.", "select": "You could go for {}. Which is it?", "offer": "How does {} sound?",
        "fact": "The {} comes to {}.|So the {} then: {}.", "yes": "Yes, there is {}.", "no": "No, there is no {}.",
        "unknown": "Sorry, the {} is something I don't know.", "ask": "What would you like for {}?",
        "book": "Do you want me to book?", "more": "What else?", "bye": "Bye bye!", "time": "words", "numbers": "words",
    },
    "bracketed": {
        "none": "Couldn't find one, I fear.", "refused": "That got rejected.", "booked": "It's now reserved for you.",
        "select": "Either {} is fine.", "offer": "{} it is!", "fact": "({1} [{0}])", "yes": "(yes [{}])",
        "no": "(no [{}])", "unknown": "(unknown [{}])", "ask": "I'd also need to know the {}.",
        "book": "Ready to book?", "more": "All good?", "bye": "Bye for now.", "time": ".",
    },
}  # fmt: skip


class Style:
    """Words for the acts of one turn."""

    def __init__(self, name: str, vocabulary: Vocabulary, seed: int) -> None:
        self._ways, self._vocabulary, self._draws = STYLES[name], vocabulary, random.Random(seed)

    def say(self, acts: Sequence[Act], active: str) -> str:
        """The turn in words."""
        facts: list[tuple[str, str, Any]] = []
        parts: dict[str, list[str]] = {}
        for act in acts:
            words = self._vocabulary.services.get(act.domain) or self._vocabulary.services.get(active)
            if words is not None:
                self._sort(act, words, facts, parts)
        said = [self._pick(way, *given) for way, given in parts.items()]
        told = [self._fact(*fact, alone=len(facts) == 1) for fact in facts]
        return " ".join(filter(None, [*said, *told])) or self._draws.choice(_FILLERS)

    def _sort(
        self, act: Act, words: ServiceWords, facts: list[tuple[str, str, Any]], parts: dict[str, list[str]]
    ) -> None:
        intent, value, name = act.intent, act.values[0] if act.values else "", words.service.name_slot
        if act.domain == "general":
            parts.update({"reqmore": {"more": [""]}, "bye": {"bye": [""]}}.get(intent, {}))
        elif intent == "request":
            parts.setdefault(f"ask {act.slot}", []).append(words.label(act.slot))
        elif intent in ("nooffer", "nobook"):
            parts["none" if intent == "nooffer" else "refused"] = [words.service.name.replace("-", " ")]
        elif value and act.slot == name:
            key = "select" if intent == "select" else "offer"
            parts[key] = [" and ".join((*parts.get(key, ()), value)) if intent == "select" else value]
        elif value and act.slot == "choice":
            parts["count"] = [value]
        elif value and act.slot in words.slots:
            facts.append((words.label(act.slot), value, words.slots[act.slot]))
        if intent in ("book", "offerbooked"):
            parts["booked"] = [""]
        elif intent in ("offerbook", "inform") and not act.slot:
            parts["book"] = [""]

    def _pick(self, way: str, *given: str) -> str:
        ways = self._ways.get(way.partition(" ")[0], "{} found." if way == "count" else "")
        return self._draws.choice(ways.split("|")).format(*given)

    def _fact(self, label: str, value: str, slot: Any, *, alone: bool) -> str:
        if value == "unknown" or (slot.kind == "yes-no" and value):
            way = "unknown" if value == "unknown" else "yes" if value.lower() in ("yes", "true") else "no"
            only = self._ways.get(f"only {way}") if alone else None
            return only or self._pick(way, label)
        written = self._value(value, slot)
        if alone and "single" in self._ways:
            return self._pick("single", written)
        return self._pick("fact", label, written)

    def _value(self, value: str, slot: Any) -> str:
        """A value in this style's spelling."""
        if slot.kind == "time" and ":" in value:
            hour, minute = (int(part) for part in value.split(":"))
            half, short = ("am", "pm")[hour % 24 >= 12], (hour - 1) % 12 + 1
            match self._ways["time"]:
                case "am" | "AM" as case:
                    return f"{short}:{minute:02} {half.upper() if case == 'AM' else half}"
                case "a.m.":
                    return f"{short}.{minute:02} {half[0]}.m."
                case ".":
                    return f"{hour}.{minute:02}"
                case "words" if minute == 0:
                    return f"{_SMALL[short]} o'clock in the {'morning' if half == 'am' else 'evening'}"
        amount = value.partition(" ")[0]
        if slot.kind == "number" and amount.replace(".", "", 1).isdigit():
            if self._ways.get("numbers") and amount.isdigit() and int(amount) < len(_SMALL):
                return value.replace(amount, _SMALL[int(amount)], 1)
            money = any(word in f"{slot.label} {slot.values[:1]}" for word in ("price", "fee", "cost", "pound", "euro"))
            return self._ways.get("money", "{}").format(amount) if money and " " not in value else value
        if ";" in value:
            return " and ".join(item.strip() for item in value.split(";"))
        return value.capitalize() if slot.kind == "day" else value


Fault = Callable[["StyledSystem", list[Act], Sequence[str]], None]


class StyledSystem:
    """The rule system in other words; it says words only, and no acts. A fault changes what it means to say."""

    name = "styled"
    side, levels = "system", ("text",)

    def __init__(self, style: str, fault: Fault | None = None) -> None:
        self._style, self._fault = style, fault

    def start(self, context: SystemContext) -> None:
        """A new conversation."""
        assert isinstance(context.office, ServiceDesk) and context.streams is not None
        domain, seed = context.office.domain, sum(map(ord, context.dialogue_id))
        self.core, self.vocabulary = RuleSystem(context.office, context.streams("system-core")), Vocabulary.of(domain)
        self.listener = UserListener(Vocabulary.of(domain, context.ontology))
        self.style, self.draws = Style(self._style, self.vocabulary, seed), random.Random(seed)
        self._own: tuple[Act, ...] = ()
        #: Did the fault happen? What it makes of values, and what was told before.
        self.injected = False
        self.instead: dict[tuple[str, str, str], str] = {}
        self.told: set[tuple[str, str]] = set()

    def heard(self, turn: Turn) -> tuple[Act, ...]:
        """What is understood of a turn."""
        return self.listener.hear(turn, self._own, self.core.belief.domain)

    def respond(self, turn: Turn | None) -> Reply:
        """The answer to a turn."""
        assert turn is not None
        heard = self.heard(turn)
        self._own = self.core.step(heard)
        said = list(self._own)
        if self._fault is not None:
            self._fault(self, said, [act.slot for act in heard if act.intent == "request"])
        self.told |= {(act.domain, act.slot) for act in said if act.values}
        text = self.style.say(said, self.core.belief.domain)
        return Reply(turn=Turn(speaker="system", text=text), state=self.core.state)


class Silent:
    """It says "Okay." to everything."""

    name, side, levels = "silent", "system", ("text",)
    injected = True

    def start(self, context: SystemContext) -> None:
        """A new conversation."""

    def respond(self, turn: Turn | None) -> Reply:
        """Okay."""
        return Reply(turn=Turn(speaker="system", text="Okay."))


# Faults: each happens again whenever it can.


def _contradicts(slot: Any, value: str, true: str) -> bool:
    """Is a value another one? A list with part of the items is incomplete, or says too much."""
    items, wanted = ({item.strip() for item in text.split(";")} for text in (value, true))
    return not slot.same(value, true) and not items <= wanted and not wanted <= items


def _others(system: StyledSystem, act: Act) -> list[str]:
    slot, true = system.vocabulary[act.domain].slots[act.slot], act.values[0]
    if slot.kind == "yes-no":
        return ["no" if true.lower() in ("yes", "true") else "yes"]
    return [value for value in slot.values if _contradicts(slot, value, true)]


def _answers(system: StyledSystem, said: Sequence[Act]) -> list[Act]:
    """What is told of a row, apart from its name."""
    known = system.vocabulary.services
    return [
        act for act in said
        if act.intent == "inform" and act.values and act.values[0] != "unknown" and act.domain in known
        and act.slot in known[act.domain].slots and act.slot != known[act.domain].service.name_slot
    ]  # fmt: skip


def wrong_value(system: StyledSystem, said: list[Act], asked: Sequence[str]) -> None:
    """One slot that is asked for has another value of its vocabulary."""
    for act in _answers(system, said):
        others, key = _others(system, act), (act.domain, act.slot, act.values[0])
        struck = {(domain, slot) for domain, slot, _ in system.instead}
        if others and ((act.domain, act.slot) in struck or (act.slot in asked and not struck)):
            system.instead.setdefault(key, system.draws.choice(others))
            said[said.index(act)] = replace(act, values=(system.instead[key],))
            system.injected = True


def other_row(system: StyledSystem, said: list[Act], asked: Sequence[str]) -> None:
    """Everything that is asked for is that of another row."""
    for act in _answers(system, said):
        rows, slot = system.vocabulary[act.domain].service.rows or (), system.vocabulary[act.domain].slots[act.slot]
        cells = [
            row[act.slot] for row in rows if row.get(act.slot) and _contradicts(slot, row[act.slot], act.values[0])
        ]
        if cells and act.slot in asked:
            value = system.instead.setdefault((act.domain, act.slot, act.values[0]), system.draws.choice(cells))
            said[said.index(act)] = replace(act, values=(value,))
            system.injected = True


def silent(system: StyledSystem, said: list[Act], asked: Sequence[str]) -> None:
    """One slot is never told."""
    for act in _answers(system, said):
        struck = {(domain, slot) for domain, slot, _ in system.instead}
        if not struck and act.slot in asked and (act.domain, act.slot) not in system.told:
            struck = {(act.domain, act.slot)}
            system.instead[act.domain, act.slot, ""] = ""
            system.injected = True
        if (act.domain, act.slot) in struck:
            said.remove(act)


def _references(system: StyledSystem, said: Sequence[Act]) -> list[Act]:
    services = [words.service for words in system.vocabulary.services.values() if words.service.rows is not None]
    given = {slot for service in services for slot in service.gives}
    return [act for act in said if act.slot in given and act.values and act.values[0] != "unknown"]


def wrong_reference(system: StyledSystem, said: list[Act], asked: Sequence[str]) -> None:
    """What a booking gave is told with other signs."""
    for act in _references(system, said):
        true = act.values[0]
        signs = (system.draws.choice("23456789" if sign.isdigit() else "BCDFGHJK") for sign in true)
        value = system.instead.setdefault(("", act.slot, true), "".join(signs))
        said[said.index(act)] = replace(act, values=(value,))
        system.injected = True


def withheld(system: StyledSystem, said: list[Act], asked: Sequence[str]) -> None:
    """What a booking gave is never told."""
    for act in _references(system, said):
        said[said.index(act)] = Act(name=act.name, domain=act.domain)
        system.injected = True


def claimed(system: StyledSystem, said: list[Act], asked: Sequence[str]) -> None:
    """A booking that was refused is told as made."""
    refusals = [act for act in said if act.intent == NO_BOOK]
    for act in refusals:
        said.remove(act)
    if refusals:
        words = system.vocabulary.services.get(refusals[0].domain)
        name = words.service.act_name("book") if words else "Booking-Book"
        said.append(Act(name=name, domain=service_of(name)))
        system.injected = True


FAULTS: dict[str, Fault] = {
    each.__name__: each for each in (wrong_value, other_row, silent, wrong_reference, withheld, claimed)
}


def held_with(
    search: DomainSearch, goals: Sequence[DomainGoal], system: Callable[[], Agent]
) -> tuple[list[Dialogue], list[bool]]:
    """The conversations of all goals, and which of them had a fault."""
    spec = AgentSpec("http", {"url": "http://127.0.0.1:1"})
    config = make_lab_config(AgentSpec("agenda"), spec, level="text", seed=5, exchanges=40)
    vocabulary = Vocabulary.of(search.domain)
    dialogues, injected = [], []
    for goal in goals:
        user, agent = config.user.make(), system()
        held = with_told_acts(converse(user, agent, lab_scenario(search, goal, config)), vocabulary)
        dialogues.append(with_states(held, search.domain))
        injected.append(bool(getattr(agent, "injected", False)))
    return dialogues, injected


class Tally:
    """What became of the conversations of one cell."""

    def __init__(self, search: DomainSearch, goals: Sequence[DomainGoal], dialogues: Sequence[Dialogue]) -> None:
        judged = judge_outcomes(dialogues, search, calls_recorded=True, goals={goal.id: goal for goal in goals})
        blamed = blame_conversations(judged)
        assert [one.dialogue for one in blamed] == [one.id for one in dialogues]
        self.verdicts, self.links = {one.id: one for one in judged}, [one.link for one in blamed]
        self.sides = ["" if link is None else link.side for link in self.links]
        self.done = [bool(one.success) for one in blamed]
        self.outcomes = ["done" if one.success else "not done" if one.understood else "unread" for one in blamed]

    def counted(self, among: Sequence[bool]) -> Counter[str]:
        """Conversations by outcome, and those blamed on the assistant."""
        chosen = [
            pair for pair, wanted in zip(zip(self.outcomes, self.sides, strict=True), among, strict=True) if wanted
        ]
        return Counter([outcome for outcome, _ in chosen] + [side for _, side in chosen if side == "system"])


def show(tally: Tally, dialogue: Dialogue, place: int) -> None:
    """One conversation for a reader."""
    print("-" * 100)
    for turn in dialogue.turns:
        calls = " ".join(f"[{call.name} {call.domain} {call.arguments} {call.outcome}]" for call in turn.calls or ())
        print(f"  {turn.speaker[:1]}: {turn.text!r} {calls}")
    verdict = tally.verdicts[dialogue.id]
    for name, task in verdict.strict.tasks.items() if verdict.strict else ():
        print("  ", name, "ok" if task.success else task.why)
    if (link := tally.links[place]) is not None:
        print("  blamed:", link.side, blame_sentence(link))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("goals", nargs="?", type=int, default=60)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--domains", default=",".join(["town", *DOMAINS]))
    parser.add_argument("--styles", default=",".join(STYLES))
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--show", type=int, default=0)
    given = parser.parse_args()
    totals: dict[tuple[str, str], Counter[str]] = {}
    for name in given.domains.split(","):
        loaded = open_domain(str(DOMAINS.get(name, name)), count=given.goals, seed=given.seed)
        for style in given.styles.split(","):
            for what in ("", *filter(None, given.faults.split(","))):
                _cell(loaded.search, loaded.goals, (name, style, what), totals, given.show)
    print(f"{'':34} {'n':>6} {'done':>8} {'not done':>8} {'unread':>8} {'blamed':>8}")
    for (kind, cell), counts in sorted(totals.items()):
        n = counts["done"] + counts["not done"] + counts["unread"]
        shares = " ".join(f"{counts[key] / max(n, 1):8.2%}" for key in ("done", "not done", "unread", "system"))
        print(f"{kind:17} {cell:16} {n:6} {shares}")
    print("bars: clean not done at most 0.5%, blamed at most 0.3%; faults not done at least 97%")


def _cell(
    search: DomainSearch, goals: Sequence[DomainGoal], cell: tuple[str, str, str],
    totals: dict[tuple[str, str], Counter[str]], most: int,
) -> None:  # fmt: skip
    name, style, what = cell
    held, injected = held_with(search, goals, lambda: StyledSystem(style, FAULTS.get(what)))
    tally = Tally(search, goals, held)
    among = injected if what else [True] * len(held)
    for key in ("all", name, style):
        totals.setdefault((what or "clean", key), Counter()).update(tally.counted(among))
    wanted = "not done" if what else "done"
    missed = [place for place, out in enumerate(tally.outcomes) if among[place] and out != wanted]
    for place in missed[:most]:
        print(*cell, tally.outcomes[place])
        show(tally, held[place], place)


if __name__ == "__main__":
    main()
