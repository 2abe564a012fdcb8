"""The rule bots under one name, as an agent and as a model: tasks 1-5 are solved completely, task 6 in part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import is_not
from typing import Any

from numpy.typing import NDArray

from dialgauge.agents.history_bots import NOT_UNDERSTOOD
from dialgauge.agents.protocol import Database, Reply, SystemContext
from dialgauge.agents.replier import AgentReplier
from dialgauge.agents.restaurant_bot import FollowingBot, RuleBot
from dialgauge.dialogue import Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import is_silence
from dialgauge.rankers import Point, RankingTask, ReplyModel, Tell, silent
from dialgauge.worlds.restaurant import DEFAULT_WORLD, WELCOME, FactDatabase, Venues, load_world, venues_of

#: The task that has a bot of its own, which also manages without a knowledge base.
_DSTC2 = 6
ANY = "*"
GOODBYE = "you are welcome"
ASK = {
    "food": "What kind of food would you like?",
    "area": "What part of town do you have in mind?",
    "price": "Would you like something in the cheap , moderate , or expensive price range?",
}
_UNSET = {"food": "R_cuisine", "area": "R_location", "price": "R_price"}
#: Spoken forms that the written values differ from.
_SPELLINGS = (("center", "centre"), ("moderately", "moderate"), ("inexpensive", "cheap"))
_INDIFFERENT = re.compile(
    r"\b(any|anything|anywhere|whatever|either|no preference|(do|does)( not|nt|n't) (care|mind|matter))\b"
)
_ABOUT = {
    "area": re.compile(r"\b(area|part|town|where|anywhere|location)\b"),
    "price": re.compile(r"\b(price|priced|pricerange|cost)\b"),
    "food": re.compile(r"\b(food|type|kind|cuisine|serve|serves)\b"),
}
_CLOSING = re.compile(r"\b(bye|goodbye|thank|thanks)\b")
#: Words that move the dialog on without a wish.
_SMALL_TALK = re.compile(r"\b(hi|hello|hey|yes|yeah|yep|no|nope|ok|okay|right|sure|please|restaurant|place|i|what)\b")
_OTHER = re.compile(r"\b(else|another|other|different|next)\b")
#: Questions about the restaurant on offer: pattern, relation, reply. Tried in order.
_QUESTIONS = (
    (re.compile(r"\b(phone|telephone|number)\b"), "R_phone", "The phone number of {name} is {value}"),
    (re.compile(r"\b(post ?code|postal|zip)\b"), "R_post_code", "The post code of {name} is {value}"),
    (re.compile(r"\b(address|where is it|located)\b"), "R_address", "Sure , {name} is on {value}"),
    (re.compile(r"\b(price|expensive|cost)\b"), "R_price", "{name} is in the {value} price range"),
    (re.compile(r"\b(area|part of town)\b"), "R_location", "{name} is a nice place in the {value} of town"),
    (re.compile(r"\b(food|serve|cuisine)\b"), "R_cuisine", "{name} serves {value} food"),
)
_QUERY = re.compile(r"api_call (\S+) (\S+) (\S+)")


class Dstc2Bot(FollowingBot):
    """Rules for task 6: real talk with a restaurant system, recorded by the second Dialog State Tracking Challenge.

    The paper's own rules for this task (28 of them, 33.3 per-response on test) were not published; these are ours,
    written from the training dialogs. The bot keeps what the user wants (food, area, price; ``ANY`` when he does not
    mind), asks for what is missing, calls the database, proposes the highest-rated result, answers questions about it,
    and closes.

    The candidates of its context say which foods, areas and prices calls may name. The facts of a dialog come first,
    the database fills what they leave open.
    """

    name = "dstc2-bot"

    def __init__(self) -> None:
        self._prepared_for: tuple[Database, tuple[str, ...]] | None = None

    def start(self, context: SystemContext) -> None:
        """A new dialog begins."""
        here = (context.database, context.candidates)
        if self._prepared_for is None or any(map(is_not, self._prepared_for, here)):
            self._prepare(*here)
            self._prepared_for = here
        self._wants: dict[str, str] = {}
        self._facts: Venues = {}
        self._offered: list[str] = []
        self._queried: dict[str, str] | None = None
        self._previous = ""
        self._text = ""
        self._changed = False
        self._last = None

    def _prepare(self, database: Database, candidates: Sequence[str]) -> None:
        self._values = callable_values(candidates)
        self._base = venues_of(database.facts)
        self._known = frozenset(about.get("R_cuisine", "") for about in self._base.values())
        self._phrases = sorted((v for v in self._values["food"] if "_" in v), key=len, reverse=True)

    def understands(self, text: str) -> bool:
        low = text.lower()
        patterns = (*_ABOUT.values(), *(pattern for pattern, _, _ in _QUESTIONS))
        if any(pattern.search(low) for pattern in (_SMALL_TALK, _CLOSING, _OTHER, _INDIFFERENT, *patterns)):
            return True
        return any(self._is_name(word) for word in low.split()) or bool(self._mentioned(low))

    def _hear(self, text: str, facts: Iterable[Fact] | None) -> None:
        if facts is not None:
            self._facts = venues_of(facts)
        self._text, self._changed = text.strip(), False
        if not is_silence(self._text):
            before = dict(self._wants)
            self._understand(self._text.lower())
            self._changed = before != self._wants

    def _said(self, text: str) -> None:
        self._previous = text.strip()
        called = _QUERY.fullmatch(self._previous)
        if called:
            self._queried = dict(self._wants)
            self._offered = []
        named = next((word for word in self._previous.split() if self._is_name(word)), "")
        if named:
            self._offered = [*(name for name in self._offered if name != named), named]

    def _reply(self) -> str:
        if not self._previous:
            return WELCOME
        if self._previous.startswith("api_call "):
            return self._next_offer() or self._nothing()
        low = self._text.lower()
        if _CLOSING.search(low) and not self._changed:
            return GOODBYE
        if self._offered:
            return self._about_offer(low)
        if _CLOSING.search(low):
            return GOODBYE
        return self._next_step()

    def _is_name(self, word: str) -> bool:
        """Names of one word, such as ``ask``, count only where the dialog's facts have them."""
        return word in self._facts or ("_" in word and word in self._base)

    def _mentioned(self, low: str) -> dict[str, str]:
        """The values that the user names, the last of each slot."""
        for spoken, written in _SPELLINGS:
            low = re.sub(rf"\b{spoken}\b", written, low)
        for phrase in self._phrases:
            low = low.replace(phrase.replace("_", " "), phrase)
        return {slot: word for word in low.split() for slot, values in self._values.items() if word in values}

    def _understand(self, low: str) -> None:
        named = self._mentioned(low)
        self._wants |= named
        if _INDIFFERENT.search(low):
            slot = self._indifferent_to(low)
            if slot and slot not in named:
                self._wants[slot] = ANY

    def _indifferent_to(self, low: str) -> str:
        """The slot the user does not mind about: the one he names, else the one he was asked for."""
        named = next((slot for slot, pattern in _ABOUT.items() if pattern.search(low)), "")
        return named or next((slot for slot, question in ASK.items() if question == self._previous), "")

    def _next_step(self) -> str:
        wants = self._wants
        food = wants.get("food", "")
        if food and food != ANY and food not in self._known:
            return f"I'm sorry but there is no restaurant serving {food} food"
        if "food" not in wants:
            if "area" in wants or "price" not in wants:
                return ASK["food"] if wants else ASK["area"]
            return ASK["area"]
        if food == ANY and "price" not in wants:
            return ASK["price"]
        if wants != self._queried:
            values = (_UNSET[slot] if wants.get(slot, ANY) == ANY else wants[slot] for slot in ASK)
            return f"api_call {' '.join(values)}"
        return ASK["area"] if "area" not in wants else ASK["price"]

    def _next_offer(self) -> str:
        left = [name for name in self._facts if name not in self._offered]
        return self._offer(max(left, key=self._rating)) if left else ""

    def _rating(self, name: str) -> int:
        rating = self._facts[name].get("R_rating", "")
        return int(rating) if rating.isdecimal() else 0

    def _offer(self, name: str) -> str:
        facts = self._facts[name]
        area, price, food = facts.get("R_location", ""), facts.get("R_price", ""), facts.get("R_cuisine", "")
        set_slots = {slot for slot, value in self._wants.items() if value != ANY}
        if set_slots == {"area", "price"}:
            return f"{name} is a nice place in the {area} of town and the prices are {price}"
        if set_slots == {"food", "area"}:
            return f"{name} is a nice place in the {area} of town serving tasty {food} food"
        if set_slots == {"food", "price"}:
            return f"{name} serves {food} food in the {price} price range"
        return f"{name} serves {food} food"

    def _nothing(self) -> str:
        food, area, price = (self._wants.get(slot, ANY) for slot in ASK)
        if food == ANY:
            return ASK["food"]
        if area != ANY and price != ANY:
            return f"Sorry there is no {price} restaurant in the {area} of town serving {food} food"
        if area != ANY:
            return f"Sorry there is no {food} restaurant in the {area} of town"
        if price != ANY:
            return f"Sorry there is no {food} restaurant in the {price} price range"
        return f"I'm sorry but there is no restaurant serving {food} food"

    def _about_offer(self, low: str) -> str:
        """A question about the restaurant on offer, the wish for another, or a changed request."""
        name = self._offered[-1]
        if _OTHER.search(low) and (other := self._next_offer()):
            return other
        if self._changed:
            return self._next_step()
        for pattern, relation, reply in _QUESTIONS:
            value = self._facts.get(name, {}).get(relation) or self._base.get(name, {}).get(relation)
            if pattern.search(low) and value:
                return reply.format(name=name, value=value)
        return f"{name} is a great restaurant"


def callable_values(candidates: Iterable[str]) -> dict[str, frozenset[str]]:
    """The foods, areas and prices that the API calls among the candidates name."""
    calls = [call.groups() for call in map(_QUERY.fullmatch, candidates) if call]
    return {
        slot: frozenset(call[index] for call in calls if not call[index].startswith("R_"))
        for index, slot in enumerate(ASK)
    }


class RuleAgent:
    """Hand-written rules, one bot for tasks 1-5 and one for task 6.

    ``world`` is the world whose sentences the bot of tasks 1-5 speaks: a built-in name or a world file.
    """

    name = "rules"
    #: Whether it says so when it understood nothing; recorded dialogs want other answers.
    asks_back = False

    def __init__(self, world: str = DEFAULT_WORLD) -> None:
        self._world = world
        self._bots: dict[bool, FollowingBot] = {}

    def start(self, context: SystemContext) -> None:
        real_calls = context.task == _DSTC2
        if not real_calls and not context.database.facts:
            raise DialgaugeError(
                "the model rules takes its words from a knowledge base, and there is none; put dialog-babi-kb-all.txt "
                "beside the dialogues, or choose another model"
            )
        if real_calls not in self._bots:
            self._bots[real_calls] = Dstc2Bot() if real_calls else RuleBot(load_world(self._world).phrases)
        self._bot = self._bots[real_calls]
        self._bot.start(context)

    def respond(self, turn: Turn | None) -> Reply:
        if not self.asks_back or turn is None or is_silence(turn.text):
            return self._bot.respond(turn)
        if self._bot.understands(turn.text):
            reply = self._bot.respond(turn)
            if not self._bot.lost:
                return reply
            self._bot.take_back()
        return Reply(turn=Turn(speaker="system", text=NOT_UNDERSTOOD))

    def overrule(self, turn: Turn) -> None:
        self._bot.overrule(turn)


class Rules(ReplyModel):
    """The rules as a model, evaluated with the recorded history."""

    name = "rules"
    summary = "hand-written rules"
    settable = ("world",)

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.agent = RuleAgent()

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        del tell
        self.agent = RuleAgent(**self.options)
        self._enter(task.candidates, task.facts, task.number)

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        self._enter(candidates, facts, self._task)

    def _enter(self, candidates: Sequence[str], facts: Sequence[Fact], task: int) -> None:
        self.candidates, self._facts, self._task = tuple(candidates), facts, task
        self._replier = AgentReplier(
            self.agent,
            SystemContext(
                dialogue_id="", database=FactDatabase(self._facts), candidates=self.candidates, task=self._task
            ),
        )

    def reply(self, point: Point) -> str:
        """What the rules say here."""
        return self._replier.reply(point)

    def settings(self) -> dict[str, Any]:
        return {"task": self._task, "facts": [[fact.entity, fact.relation, fact.value] for fact in self._facts]}

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        del arrays
        self.agent = RuleAgent(**self.options)
        self._enter(self.candidates, [Fact(*words) for words in settings["facts"]], settings["task"])
