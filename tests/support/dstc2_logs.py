"""Released dialogs of task 6 turned back into DSTC2 logs: what the calls must have looked like, where that is known.

The system's prompts are written as DSTC2's systems worded them: counts of restaurants, contact details, spaces in
names, the welcome with its question mark. What the recogniser heard cannot be known from the release; here it heard the
values that the released call adds to the one before. A slot that the call opens again is labelled as not mattering.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dialgauge.dialogue import Dialogue, Fact
from dialgauge.formats import is_silence

SLOTS = {"food": "R_cuisine", "area": "R_location", "pricerange": "R_price"}
AREAS = ["centre", "north", "west", "south", "east"]
PRICES = ["cheap", "moderate", "expensive"]
#: Foods that users or systems speak of and that no venue and no released call has.
OTHER_FOODS = ["modern european", "barbeque", "crossover", "panasian", "the americas", "middle eastern"]
OTHER_FOODS += ["northern european"]

#: What stood where a released reply has a word, or nothing.
WORDINGS = {
    r"^(There are )(?=restaurants)": ("57 ", "3 ", " "),
    r"^(The phone number of .+ is ).+_phone$": (
        "01223 356666 .",
        "01223 356666",
        "01223 356666 and its postcode is C.B 3, 0 A.F .",
        "01223 356666 and it is on 15 Magdalene Street City Centre .",
        "dontcare .",
    ),
    r"^(The post code of .+ is ).+_post_code$": ("C.B 3, 0 A.F",),
    r"^(Sure , .+ is on ).+_address$": ("15 Magdalene Street City Centre",),
    r"^((?!Sure).+ is on ).+_address$": ("15 Magdalene Street City Centre , C.B 3, 0 A.F",),
}

Json = dict[str, Any]


def ontology_of(facts: Iterable[Fact], replies: Iterable[str]) -> Json:
    """An ontology with the names of a knowledge base, and the foods that it, or a call among the replies, knows."""
    listed = list(facts)
    foods = {fact.value for fact in listed if fact.relation == "R_cuisine"}
    foods |= {reply.split()[1] for reply in replies if reply.startswith("api_call ")} - {"R_cuisine"}
    names = {fact.entity for fact in listed}
    food, name = (sorted(word.replace("_", " ") for word in words) for words in (foods, names))
    return {"informable": {"food": food + OTHER_FOODS, "name": name, "area": AREAS, "pricerange": PRICES}}


class Unconverter:
    """Writes DSTC2's words for task 6's."""

    def __init__(self, ontology: Json) -> None:
        entities = [entity for slot in ("name", "food") for entity in ontology["informable"][slot]]
        joined = sorted({entity.replace(" ", "_") for entity in entities}, key=len, reverse=True)
        self._joined = re.compile(rf"(?<!\w)(?:{'|'.join(joined)})")
        self._names = set(ontology["informable"]["name"])

    def apart(self, text: str) -> str:
        """Entities with their spaces again."""
        return self._joined.sub(lambda entity: entity[0].replace("_", " "), text)

    def prompt(self, reply: str, place: int) -> str:
        """What the system said for a reply; prompts with several wordings take turns by the place in the dialog."""
        if reply.startswith("Hello , welcome"):
            return reply.replace("system .", "system?").replace("help you ?", "help you?")
        for pattern, wordings in WORDINGS.items():
            reply = re.sub(pattern, rf"\g<1>{wordings[place % len(wordings)]}", reply)
        return self.apart(reply)

    def acts(self, prompt: str) -> list[Json]:
        """The acts that matter for a prompt: the venue it proposes."""
        named = [
            name for name in self._names if re.search(rf"(?<!\w){name}(?!\w)", prompt.lower().replace("can ask", ""))
        ]
        return [{"act": "offer", "slots": [["name", max(named, key=len)]]}] if named else []

    def log(self, dialogue: Dialogue) -> tuple[list[Json], list[Json]]:
        """The turns of ``log.json`` and of ``label.json``."""
        said: list[Json] = []
        labels: list[Json] = []
        goals: dict[str, str] = {}
        constraints: dict[str, str] = {}
        for user, call, reply in _exchanges(dialogue):
            if labels:
                heard = _difference(constraints, call)
                goals.update({slot: value.replace("_", " ") for slot, value in heard.items()})
                constraints = {slot: value for slot, value in (constraints | heard).items() if value != "dontcare"}
                spoken = " ".join(value for value in heard.values() if value != "dontcare")
                said[-1]["input"] = {"live": {"asr-hyps": [{"asr-hyp": self.apart(spoken), "score": -0.1}]}}
                labels[-1] |= {
                    "transcription": "" if is_silence(user) else self.apart(user),
                    "goal-labels": dict(goals),
                }
            prompt = self.prompt(reply, len(said))
            said.append({"turn-index": len(said), "output": {"transcript": prompt, "dialog-acts": self.acts(prompt)}})
            labels.append({"turn-index": len(labels)})
        return said[:-1], labels[:-1]


def _exchanges(dialogue: Dialogue) -> Iterator[tuple[str, str, str]]:
    """What the user said, the call it led to (or nothing), and the reply."""
    turns = list(zip(dialogue.turns[::2], dialogue.turns[1::2], strict=True))
    call, user = "", ""
    for asked, answered in turns:
        if answered.text.startswith("api_call "):
            call, user = answered.text, asked.text
            continue
        yield user if call else asked.text, call, answered.text
        call = ""


def _difference(constraints: dict[str, str], call: str) -> dict[str, str]:
    values = dict(zip(SLOTS, call.split()[1:], strict=True)) if call else {}
    wanted = {slot: "dontcare" if value == SLOTS[slot] else value for slot, value in values.items()}
    return {slot: value for slot, value in wanted.items() if value != constraints.get(slot, "dontcare")}


def write_logs(folder: Path, dialogues: Iterable[Dialogue], unconverter: Unconverter) -> None:
    """A folder per dialog, in their order."""
    for number, dialogue in enumerate(dialogues):
        said, labels = unconverter.log(dialogue)
        path = folder / f"voip-{number:04}"
        path.mkdir(parents=True)
        for name, turns in (("log", said), ("label", labels)):
            (path / f"{name}.json").write_text(json.dumps({"session-id": path.name, "turns": turns}))
