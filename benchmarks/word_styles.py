"""Six ways to word what the rule system means, none of them the lab's templates; and assistants that do it badly."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dialgauge.agents import ServiceWords, Vocabulary
from dialgauge.dialogue import Act

#: Tried while the reading was written, and never mended for.
SEEN, UNSEEN = ("plain", "chatty", "markdown", "terse", "kiosk"), ("careful",)
STYLES = (*SEEN, *UNSEEN)
_MONEY = ("price", "fee", "cost")


class Style:
    """Words for the acts of one turn."""

    def __init__(self, name: str, vocabulary: Vocabulary, seed: int) -> None:
        self.name, self._vocabulary, self._draws = name, vocabulary, random.Random(seed)

    def say(self, acts: Sequence[Act], active: str) -> str:
        """The turn in words."""
        facts: list[tuple[str, str]] = []
        parts: dict[str, list[str]] = {}
        for act in acts:
            words = self._vocabulary.services.get(act.domain) or self._vocabulary.services.get(active)
            self._sort(act, words, facts, parts)
        return getattr(self, f"_{self.name}")(parts, facts).strip() or self._pick("Okay.", "Alright.")

    def _sort(
        self, act: Act, words: ServiceWords | None, facts: list[tuple[str, str]], parts: dict[str, list[str]]
    ) -> None:
        intent, value = act.intent, act.values[0] if act.values else ""
        if words is None or act.domain == "general":
            parts.setdefault(intent, []).append("")
        elif intent == "request":
            ask = self._vocabulary.domain.words_for(act.slot).ask
            parts.setdefault("ask", []).append(ask if ask and self._draws.random() < 0.3 else words.label(act.slot))
        elif intent in ("nooffer", "nobook"):
            said = f"{words.label(act.slot)} {self._value(words, act.slot, value)}" if act.slot and value else ""
            parts.setdefault(intent, []).append(said)
            parts["noun"] = [words.service.name.replace("-", " ")]
        elif intent == "select" and value:
            parts.setdefault("select", []).append(value)
        elif intent in ("book", "offerbooked"):
            parts.setdefault("booked", [])
            if act.slot and value and act.slot != words.service.name_slot:
                facts.append((words.label(act.slot), self._value(words, act.slot, value)))
        elif act.slot == words.service.name_slot and value:
            parts.setdefault("name", []).append(value)
        elif act.slot == "choice":
            parts.setdefault("count", []).append(value)
        elif act.slot and value:
            facts.append((words.label(act.slot), self._value(words, act.slot, value)))
        elif intent in ("offerbook", "inform"):
            parts.setdefault("offer", []).append("")

    def _pick(self, *ways: str) -> str:
        return self._draws.choice(ways)

    def _value(self, words: ServiceWords, slot: str, value: str) -> str:
        """A value in this style's spelling."""
        spoken = words.slots.get(slot)
        if spoken is None:
            return value
        if value == "unknown":
            return ""
        if spoken.kind == "time" and ":" in value and self.name != "plain":
            hour, minute = (int(part) for part in value.split(":"))
            half = "am" if hour % 24 < 12 else "pm"
            short = f"{(hour - 1) % 12 + 1}:{minute:02}"
            return f"{short}{half}" if self.name == "terse" else f"{short} {half}"
        if spoken.kind == "number":
            amount = value.split()[0]
            if any(word in f"{words.label(slot)} {spoken.values[:1]}" for word in (*_MONEY, "pound", "euro")):
                return {
                    "plain": f"{amount} euros", "chatty": f"€{amount}", "markdown": f"€{float(amount):.2f}",
                    "terse": f"{float(amount):.2f} EUR", "careful": f"{amount} euros", "kiosk": f"{amount},- €",
                }[self.name] if _is_number(amount) else value  # fmt: skip
            small = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
            if self.name == "chatty" and amount.isdigit() and int(amount) <= 10 and value == amount:
                return small[int(amount)]
            return value
        if spoken.kind == "code" and self.name in ("markdown", "careful"):
            return (
                value.replace(" ", "-")
                if self.name == "markdown"
                else value.replace(" ", ".")
                if value[0] in "0+"
                else value
            )
        if ";" in value:
            items = [item.strip() for item in value.split(";")]
            return ", ".join(items) if self.name in ("markdown", "terse") else _listed(items)
        if spoken.kind == "yes-no":
            yes = value.lower() in ("yes", "true")
            return {"markdown": "✅ Yes" if yes else "❌ No", "terse": "y" if yes else "n"}.get(
                self.name, "yes" if yes else "no"
            )
        if spoken.kind == "day":
            return value.capitalize()
        return value

    # The styles

    def _plain(self, parts: dict[str, list[str]], facts: list[tuple[str, str]]) -> str:
        said = []
        if "greet" in parts:
            said.append("Hello.")
        if "nooffer" in parts:
            said.append(f"We don't have any {parts['noun'][0]} like that, I'm sorry.")
        if "nobook" in parts:
            said.append("That could not be booked, unfortunately.")
        if "booked" in parts:
            said.append("All booked.")
        if "select" in parts:
            said.append(f"{_listed(parts['select'])} would both suit you. Which one shall it be?")
        if "name" in parts:
            said.append(self._pick("{} would suit you.", "What about {}?", "We have {}.").format(parts["name"][-1]))
        for label, value in facts:
            said.append(self._fact(label, value))
        said += [self._question(label) for label in parts.get("ask", ())]
        if "offer" in parts:
            said.append("Shall I book that?")
        return " ".join([*said, *self._ending(parts)])

    def _fact(self, label: str, value: str) -> str:
        if not value:
            return self._pick(f"We have no information about the {label}.", f"The {label} isn't listed.")
        if value in ("yes", "no"):
            return f"As to {label}: {value}." if value == "yes" else f"As to {label}: no, sorry."
        return self._pick(f"The {label} is {value}.", f"Its {label} is {value}.", f"{label.capitalize()}: {value}.")

    def _question(self, label: str) -> str:
        if label.endswith("?"):
            return label
        return self._pick(f"Do you have a {label} in mind?", f"What about the {label}?", f"May I ask for the {label}?")

    def _ending(self, parts: dict[str, list[str]]) -> list[str]:
        said = []
        if "welcome" in parts:
            said.append("No trouble at all.")
        if "reqmore" in parts:
            said.append(self._pick("What else can I do for you?", "Do you need something else?"))
        if "bye" in parts:
            said.append(self._pick("Take care!", "Goodbye now."))
        return said

    def _chatty(self, parts: dict[str, list[str]], facts: list[tuple[str, str]]) -> str:
        said = [
            self._pick(
                "Sure thing!", "Great question 😊", "Okay, let me see...", "Absolutely!", "Let's have a look 👀."
            )
        ]
        if "nooffer" in parts:
            said.append(
                "Oh no, I looked everywhere but nothing matched, sorry about that! Maybe try something different?"
            )
        if "nobook" in parts:
            said.append("Hmm, they turned that booking down, what a pity! Would something else work?")
        if "booked" in parts:
            said.append("Woohoo, you're all set, it's booked 🎉!")
        if "select" in parts:
            said.append(f"So I've got {' or '.join(parts['select'])}, both lovely! Got a favourite?")
        if "name" in parts:
            said.append(f"You know what, {parts['name'][-1]} could be just the thing for you!")
        for label, value in facts:
            if not value:
                said.append(f"Honestly, I couldn't find the {label} anywhere, sorry!")
            elif value in ("yes", "no"):
                said.append(f"And {label}? {'Yes, totally!' if value == 'yes' else 'Nope, afraid not!'}")
            else:
                said.append(self._pick(f"Oh, and the {label}? That's {value}!", f"By the way, its {label} is {value}."))
        for label in parts.get("ask", ()):
            said.append(label if label.endswith("?") else f"Quick one: any thoughts on the {label}?")
        if "offer" in parts:
            said.append("Want me to book it for you?")
        if "reqmore" in parts:
            said.append("Anything else on your mind?")
        if "bye" in parts:
            said.append("Bye-bye, have a lovely day! 👋")
        return " ".join(said)

    def _markdown(self, parts: dict[str, list[str]], facts: list[tuple[str, str]]) -> str:
        lines = []
        if "nooffer" in parts:
            lines.append("### No results\nI could not find a match. You could change one of these:\n")
            lines += [f"- *{said}*" for said in parts["nooffer"] if said]
        if "nobook" in parts:
            lines.append("> ⚠️ **Booking not possible** with these details.")
        if "booked" in parts:
            lines.append("## Booking confirmed")
        if "select" in parts:
            lines += [f"{number}. **{name}**" for number, name in enumerate(parts["select"], 1)]
            lines.append("\nPlease pick one of the above.")
        if "name" in parts:
            lines.append(f"### {parts['name'][-1]}")
        table = len(facts) > 2 and self._draws.random() < 0.4
        if table:
            lines += [
                "| Field | Value |",
                "|---|---|",
                *(f"| {label.title()} | {value or 'n/a'} |" for label, value in facts),
            ]
        else:
            lines += [f"- **{label.title()}**: {value or '—'}" for label, value in facts]
        for label in parts.get("ask", ()):
            lines.append(f"**Please provide**: _{label}_" if not label.endswith("?") else f"**{label}**")
        if "offer" in parts:
            lines.append("\n*Would you like to book this?*")
        if "reqmore" in parts:
            lines.append("---\nLet me know if there is anything else.")
        if "bye" in parts:
            lines.append("**Goodbye!**")
        return "\n".join(lines)

    def _terse(self, parts: dict[str, list[str]], facts: list[tuple[str, str]]) -> str:
        said = []
        if "nooffer" in parts:
            said.append("none found")
        if "nobook" in parts:
            said.append("booking failed")
        if "booked" in parts:
            said.append("booked")
        if "select" in parts:
            said.append(" / ".join(parts["select"]) + "?")
        if "name" in parts:
            said.append(parts["name"][-1])
        said += [f"{label}: {value}" if value else f"{label} unknown" for label, value in facts]
        said += [label if label.endswith("?") else f"{label}?" for label in parts.get("ask", ())]
        if "offer" in parts:
            said.append("book?")
        if "reqmore" in parts:
            said.append("else?")
        if "bye" in parts:
            said.append("bye")
        return ", ".join(said)

    def _kiosk(self, parts: dict[str, list[str]], facts: list[tuple[str, str]]) -> str:
        lines = []
        if "nooffer" in parts:
            lines.append("0 RESULTS :-(")
        if "nobook" in parts:
            lines.append("BOOKING REJECTED BY OPERATOR")
        if "booked" in parts:
            lines.append("*** CONFIRMED ***")
        lines += [f"[{number}] {name}" for number, name in enumerate(parts.get("select", ()), 1)]
        if "name" in parts:
            lines.append(f">> {parts['name'][-1].upper()} <<")
        lines += [f"{label.upper()} .... {value.upper() or '???'}" for label, value in facts]
        lines += [f"ENTER {label.upper()}:" for label in parts.get("ask", ())]
        if "offer" in parts:
            lines.append("PRESS B TO BOOK")
        if "bye" in parts:
            lines.append("SESSION CLOSED")
        return "\n".join(lines)

    def _careful(self, parts: dict[str, list[str]], facts: list[tuple[str, str]]) -> str:
        said = []
        if "nooffer" in parts:
            wishes = _listed([one for one in parts["nooffer"] if one])
            request = f" ({wishes})" if wishes else ""
            said.append(f"I've checked our system, and unfortunately there are no matches for your request{request}.")
            said.append("If you're flexible, I'd be happy to look again.")
        if "nobook" in parts:
            said.append(
                "I tried to make this booking, but the system did not accept it. Perhaps a different choice would work."
            )
        if "booked" in parts:
            said.append("I've gone ahead and completed the booking for you.")
        if "select" in parts:
            options = _listed(parts["select"])
            said.append(f"There are a couple of options that meet your criteria, namely {options}.")
            said.append("Could you let me know which you'd prefer?")
        if "name" in parts:
            said.append(f"Based on what you've told me, I'd suggest {parts['name'][-1]}.")
        told = [f"the {label} is {value}" for label, value in facts if value]
        if told:
            said.append(f"According to our records, {_listed(told)}.")
        missing = [label for label, value in facts if not value]
        if missing:
            said.append(
                f"I'm afraid our records don't include the {' or the '.join(missing)}, so I can't say for certain."
            )
        for label in parts.get("ask", ()):
            said.append(
                label
                if label.endswith("?")
                else f"To help me narrow this down, could you tell me your preferred {label}?"
            )
        if "offer" in parts:
            said.append("Would you like me to make a booking?")
        if "reqmore" in parts:
            said.append("Please let me know if there's anything further I can assist you with.")
        if "bye" in parts:
            said.append("Thank you for getting in touch, and goodbye.")
        return " ".join(said)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _listed(parts: Sequence[str]) -> str:
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else "".join(parts)
