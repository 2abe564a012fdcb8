"""The data model: everything dialgauge reads becomes these few frozen records.

They are plain msgspec structs, so the native JSONL format is their JSON and decodes at native speed; a misspelt key in
such a file is an error, not a field lost in silence. Nothing here knows a dataset: domain and slot names are whatever
the source uses, and comparing them is the job of ``values``.

States
    A state maps domain and slot to the *acceptable* values, first the preferred one. Most sources give one value;
    MultiWOZ 2.2, 2.4, SGD and ConvLab-3 give alternatives. An absent slot is an empty slot; readers never store
    ``""``, ``none`` or ``not mentioned``. "The user does not care" is the ordinary value :data:`DONTCARE`.
    States are cumulative: all that was asked for up to and including the turn that carries them. Like the records they
    are never changed: readers let turns share the parts that did not change between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.intents import INTENTS, service_of
from dialgauge.text import counted, some_of

DONTCARE = "dontcare"
#: Characters of a text that the short form of a turn shows.
_SHOWN = 60

Speaker: TypeAlias = Literal["user", "system"]
Values: TypeAlias = tuple[str, ...]
State: TypeAlias = dict[str, dict[str, Values]]
#: How a conversation ended: by itself, at a limit, by a failure beside the agent; unknown where nobody says.
End: TypeAlias = Literal["finished", "limit", "infrastructure", "unknown"]


class Act(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, cache_hash=True):
    """One dialogue act: its name as the source writes it, the domain (service) it belongs to, a slot and its values.

    >>> Act("Hotel-Inform", "hotel", "area", ("north",)).service
    'hotel'
    """

    name: str
    domain: str = ""
    slot: str = ""
    values: Values = ()

    @property
    def service(self) -> str:
        """The service that the name says, in small letters: ``booking`` for ``Booking-Book`` of a hotel."""
        return service_of(self.name)

    @property
    def intent(self) -> str:
        """What it does, in small letters: ``inform`` for ``Hotel-Inform`` and ``INFORM``."""
        return INTENTS[self.name]


class Span(Struct, frozen=True, forbid_unknown_fields=True):
    """Characters ``start`` up to ``end`` (exclusive) of the utterance that mention a slot's value."""

    domain: str
    slot: str
    start: int
    end: int


class Fact(Struct, frozen=True, array_like=True):
    """One line of a database's answer: ``entity`` has ``relation`` ``value``.

    >>> Fact("the_place", "R_price", "cheap").value
    'cheap'
    """

    entity: str
    relation: str
    value: str


class Call(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, gc=False):
    """One call of a tool, a database or a service, and what came of it.

    >>> Call(name="find", arguments={"stars": 4}, result='{"hotel": "Lensfield"}').values
    {'hotel': 'Lensfield'}
    """

    name: str
    #: JSON as it was written, so that 100 and "100" differ; a text where it was no JSON object.
    arguments: Any = {}
    #: None: none was recorded.
    result: str | None = None
    failed: bool = False
    #: The index of its message in the log.
    message: int | None = None
    seconds: float | None = None
    #: The service that was asked; ``user`` for a tool of the user's own.
    domain: str = ""
    #: How many rows a search found.
    found: int | None = None
    #: The numbers of the rows that it is about, or the first that it found.
    rows: tuple[int, ...] = ()

    @property
    def given(self) -> dict[str, Any]:
        """The arguments by name; none where they were no JSON object."""
        return self.arguments if isinstance(self.arguments, dict) else {}

    @property
    def values(self) -> dict[str, str]:
        """The texts of a result that is a JSON object; empty for any other."""
        if self.result is None or self.failed or not self.result.startswith("{"):
            return {}
        try:
            return msgspec.json.decode(self.result, type=dict[str, str])
        except (msgspec.DecodeError, UnicodeError):
            return {}

    @property
    def outcome(self) -> str:
        """What came of it in a word: ``found``, ``done``, ``failed``, ``no result``."""
        if self.found is not None:
            return "found"
        return "failed" if self.failed else "no result" if self.result is None else "done"

    @property
    def outcome_words(self) -> str:
        """What came of it, for people: ``3 found``, or why it failed."""
        if self.found is not None:
            return f"{self.found} found"
        return self.result if self.failed and self.result else self.outcome


class Turn(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, gc=False):
    """One message of one speaker, and what is known about it.

    ``None`` means "not recorded"; an empty container means "recorded, and there was nothing".

    >>> Turn(speaker="user", text="in the north", state={"hotel": {"area": ("north",)}}).state
    {'hotel': {'area': ('north',)}}
    """

    speaker: Speaker
    text: str = ""
    #: What the speaker said, as acts, and apart from it what the other side's NLU made of it.
    acts: tuple[Act, ...] | None = None
    heard: tuple[Act, ...] | None = None
    #: The cumulative belief state after this user turn: annotated, and predicted by a tracker.
    state: State | None = None
    predicted: State | None = None
    #: Slots whose values, as written in this turn, mean "absent" and so are not in its state. SGD's official scores
    #: and MultiWOZ_Evaluation's state tracking count them as filled.
    blank: State | None = None
    #: For sources that publish only whether each slot was right: domain, slot, verdict.
    judged: dict[str, dict[str, bool]] | None = None
    #: Domains (services) this turn is about, each one's active intent and the slots the user asks for.
    active: tuple[str, ...] | None = None
    intents: dict[str, str] | None = None
    requested: dict[str, Values] | None = None
    spans: tuple[Span, ...] | None = None
    #: What the database answered between the previous turn and this one; ``()`` is a query that found nothing.
    results: tuple[Fact, ...] | None = None
    #: What the speaker, mostly the system, asked a database or another tool before this turn of its own.
    calls: tuple[Call, ...] | None = None
    #: Replies to choose from, where they differ from turn to turn.
    candidates: tuple[str, ...] | None = None
    #: The place of the message in the list of messages that it was read from, where other messages became no turns.
    source: int | None = None

    def __repr__(self) -> str:
        """Speaker, the beginning of the text, and the names of what else is recorded.

        >>> Turn(speaker="user", text="a hotel in the east", state={"hotel": {"area": ("east",)}})
        Turn(user: 'a hotel in the east', state)
        """
        text = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}…"
        recorded = [name for name in Turn.__struct_fields__[2:] if getattr(self, name) is not None]
        return f"Turn({', '.join([f'{self.speaker}: {text!r}', *recorded])})"


class Task(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What a user wants in one domain.

    ``fail_info`` and ``fail_book`` are constraints to try first, expected to find nothing or to be refused.

    >>> Task(info={"area": "north"}, requests=("phone",)).requests
    ('phone',)
    """

    info: dict[str, str] = {}
    fail_info: dict[str, str] = {}
    book: dict[str, str] = {}
    fail_book: dict[str, str] = {}
    requests: tuple[str, ...] = ()

    @property
    def constraints(self) -> tuple[dict[str, str], ...]:
        """All constraints by part, booking before search."""
        return self.book, self.fail_book, self.info, self.fail_info


class Goal(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What a user wants, by domain in order of discussion, and the instructions a human user was given.

    >>> list(Goal(tasks={"hotel": Task(info={"area": "north"}), "taxi": Task()}).tasks)
    ['hotel', 'taxi']
    """

    tasks: dict[str, Task] = {}
    message: tuple[str, ...] = ()
    #: Values that the user is told beside the message, by name.
    knows: dict[str, str] = {}
    #: Names of what the user is not to give, such as ``user id``.
    secret: tuple[str, ...] = ()

    @property
    def instruction(self) -> tuple[str, ...]:
        """The lines that a user is given: the message, ``knows NAME: VALUE``, and ``does not give NAME``."""
        known = (f"knows {name}: {value}" for name, value in self.knows.items())
        return (*self.message, *known, *(f"does not give {name}" for name in self.secret))


class SideUsage(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What one side of a conversation used; None where the log does not say. ``tokens`` are both directions."""

    tokens: float | None = None
    tokens_in: float | None = None
    tokens_out: float | None = None
    cost: float | None = None
    calls: int | None = None
    seconds: float | None = None
    #: Replies without a word, and replies that a limit cut off.
    empty: int | None = None
    cut: int | None = None


class Outcome(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How a conversation ended and was judged, and of which trial of which task it is."""

    #: None: not judged.
    success: bool | None = None
    end: End = "unknown"
    #: The log's own word for how it ended.
    reason: str = ""
    ended_by: str = ""
    #: The log it is from: ``tau``, ``tau2``, ``inspect``, ``chat``, ...
    benchmark: str = ""
    task: str = ""
    trial: int = 0
    #: Tasks and trials that were planned, as the log says; 0 is not said.
    planned: tuple[int, int] | None = None
    reward: float | None = None
    parts: dict[str, float] = {}
    #: Numbers have means, texts have shares.
    scores: dict[str, float | str] = {}
    seconds: float | None = None
    #: By side: ``agent``, ``user``, or ``both`` where the log does not tell them apart.
    usage: dict[str, SideUsage] = {}
    #: The calls that the task expects, None where the log does not say, and the texts that the agent is to tell.
    expected: tuple[Call, ...] | None = None
    outputs: tuple[str, ...] = ()
    #: The expected calls are those that the log stores with the verdict, and not just with the task.
    graded: bool = False
    #: What else is shown of it: model, policy, error, explanation.
    facts: dict[str, str] = {}


class Blame(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A side suspected of a failure, with one piece of evidence: a code and what it is about."""

    dialogue: str
    #: What failed: a task, a domain, an item of the goal.
    unit: str = ""
    side: str
    cause: str = ""
    turn: int | None = None
    code: str = ""
    arguments: tuple[str, ...] = ()


_NO_OUTCOME = Outcome()


class Dialogue(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, gc=False):
    """A conversation: id, turns, and where known the user's goal, the domains (services) it is about, its outcome.

    >>> hello = Dialogue(id="d1", turns=(Turn(speaker="user", text="hello"), Turn(speaker="system", text="yes?")))
    >>> [turn.text for turn in hello.user_turns()]
    ['hello']
    """

    id: str
    turns: tuple[Turn, ...]
    goal: Goal | None = None
    domains: tuple[str, ...] = ()
    outcome: Outcome | None = None

    def __repr__(self) -> str:
        """The id and what the dialogue is about.

        >>> Dialogue(id="PMUL4648", turns=(Turn(speaker="user"), Turn(speaker="system")), domains=("hotel", "train"))
        Dialogue('PMUL4648', 2 turns, hotel, train)
        """
        return f"Dialogue({', '.join([repr(self.id), counted(len(self.turns), 'turn'), *self.domains])})"

    def _repr_html_(self) -> str:
        report = import_module("dialgauge.report")  # by name: that room stands above
        html: str = report.notebook_html(report.dialogue_summary(self))
        return html

    @property
    def ended(self) -> Outcome:
        """The outcome; an empty one where none is recorded."""
        return self.outcome or _NO_OUTCOME

    @property
    def instruction(self) -> tuple[str, ...]:
        """The lines that the user was given; none where they are not recorded."""
        return self.goal.instruction if self.goal else ()

    def calls(self) -> Iterator[tuple[Speaker, Call]]:
        """All calls in order, each with the side that made it."""
        for turn in self.turns:
            for call in turn.calls or ():
                yield "user" if call.domain == "user" else turn.speaker, call

    def user_turns(self) -> Iterator[Turn]:
        """The user's turns, in order: the ones that carry states."""
        return (turn for turn in self.turns if turn.speaker == "user")

    def turn_of_message(self, message: int) -> int | None:
        """The place of the turn that a message of the source became, or that has its tool call; None if none has.

        >>> said = (Turn(speaker="user", source=1), Turn(speaker="system", source=4, calls=(Call(name="find"),)))
        >>> [Dialogue(id="d", turns=said).turn_of_message(message) for message in (1, 2, 3, 4)]
        [0, 1, 1, 1]
        """
        placed = [(turn.source, index) for index, turn in enumerate(self.turns) if turn.source is not None]
        later = [position for source, position in placed if source >= message]
        return later[0] if later else placed[-1][1] if placed else None


class SlotSpec(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What an ontology says of a slot: its known values (empty: open), and whether only those are allowed."""

    values: Values = ()
    categorical: bool = False
    description: str = ""


class Ontology(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The domains, slots and values a dataset admits, and the intents of each domain.

    >>> Ontology(domains={"hotel": {"area": SlotSpec(values=("north", "east"))}}).domains["hotel"]["area"].values
    ('north', 'east')
    """

    domains: dict[str, dict[str, SlotSpec]]
    intents: dict[str, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        """How much it holds.

        >>> Ontology(domains={"hotel": {"area": SlotSpec(), "stars": SlotSpec()}})
        Ontology(1 domain, 2 slots)
        """
        slots = sum(map(len, self.domains.values()))
        return f"Ontology({counted(len(self.domains), 'domain')}, {counted(slots, 'slot')})"

    def slots(self) -> Iterator[tuple[str, str]]:
        """All (domain, slot) pairs, in the ontology's order."""
        return ((domain, slot) for domain, slots in self.domains.items() for slot in slots)


def dialogue_key(identifier: str) -> str:
    """The form under which ids of different sources meet: ``PMUL4648.json``, ``PMUL4648`` and ``pmul4648`` are one.

    >>> dialogue_key("PMUL4648.json")
    'pmul4648'
    """
    return identifier.strip().lower().removesuffix(".json")


def differing_instructions(trials: Iterable[tuple[str, Dialogue]]) -> list[str]:
    """Tasks whose trials give the user different instructions; trials without any are left out.

    >>> told = [Dialogue(id=text, turns=(), goal=Goal(message=(text,))) for text in ("Book.", "Cancel.")]
    >>> differing_instructions([("1", told[0]), ("1", told[1]), ("2", told[1])])
    ['1']
    """
    by_task: dict[str, set[tuple[str, ...]]] = {}
    for task, dialogue in trials:
        if dialogue.instruction:
            by_task.setdefault(task, set()).add(tuple(" ".join(text.split()) for text in dialogue.instruction))
    return [task for task, instructions in by_task.items() if len(instructions) > 1]


def differing_sentence(tasks: Sequence[str]) -> str:
    """A sentence about such tasks, without the full stop."""
    return (
        f"the trials of {counted(len(tasks), 'task')} have different instructions ({some_of(tasks)}): are "
        "conversations filed under another task?"
    )
