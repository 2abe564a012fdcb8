"""Which conversation each span of a trace is of: by its id, by the spans around it, by a link, or by its trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from dialgauge.formats.notes import Notes

CONVERSATION, RESPONSE, OPERATION = "gen_ai.conversation.id", "gen_ai.response.id", "gen_ai.operation.name"
SENT, ANSWERED = "gen_ai.input.messages", "gen_ai.output.messages"
MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion"})
_OPERATIONS = MODEL_OPERATIONS | {"execute_tool", "invoke_agent"}
_OF_SEVERAL = "spans without gen_ai.conversation.id in a trace of several conversations left out"
_OF_NONE = "evaluations in a trace of their own that has no link to the conversation that they judge left out"
_OF_EVALUATOR = "spans of an evaluator, in a trace that judges other conversations, left out"

_LOST = (
    f"evaluations left out, as their conversation is not known: give these spans the {CONVERSATION} of what they "
    "judge, or its span as their parent or in a link"
)

#: Trace and span.
Place: TypeAlias = tuple[str, str]


class KeptSpan(Struct):
    """A span of generative AI: what is used of it."""

    trace: str
    span: str
    start: int
    root: bool
    known: dict[str, Any]
    scores: dict[str, float | str]
    error: str
    #: Of evaluations that say themselves what they judge: the answer, empty where it is the conversation.
    judged_response: str | None = None
    end: int = 0

    @property
    def place(self) -> Place:
        return self.trace, self.span

    @property
    def conversation(self) -> str:
        return str(self.known.get(CONVERSATION) or "")

    @property
    def has_messages(self) -> bool:
        return SENT in self.known or ANSWERED in self.known

    @property
    def only_judges(self) -> bool:
        return bool(self.scores) and not self.has_messages and str(self.known.get(OPERATION)) not in _OPERATIONS


class SpanTree(Struct):
    """The spans above spans, and those that they link to."""

    parents: dict[Place, str] = {}
    links: dict[Place, list[Place]] = {}

    def linked(self, place: Place) -> list[Place]:
        """What a span links to, or the nearest one above it that links to any; parents may go in circles."""
        seen: set[Place] = set()
        while place[1] and place not in seen:
            if place in self.links:
                return self.links[place]
            seen.add(place)
            place = (place[0], self.parents.get(place, ""))
        return []


def conversations_of(kept: Sequence[KeptSpan], tree: SpanTree, notes: Notes) -> dict[str, list[KeptSpan]]:
    """Spans by their conversation; those that cannot be placed, and say nothing, are left out."""
    names = _Names(kept, tree)
    conversations: dict[str, list[KeptSpan]] = {}
    unnamed: dict[str, list[KeptSpan]] = {}
    judging: set[str] = set()
    for span in kept:
        if judged := names.judged(span):
            judging.add(span.trace)
            evaluation = KeptSpan("", "", span.start, False, {}, span.scores, "")
            conversations.setdefault(judged, []).append(evaluation)
        elif name := names.of(span.place, span.conversation):
            conversations.setdefault(name, []).append(span)
        else:
            unnamed.setdefault(span.trace, []).append(span)
    lost: list[KeptSpan] = []
    for trace, spans in unnamed.items():
        if any(span.has_messages for span in spans):
            conversations.setdefault(trace, []).extend(spans)
        else:
            notes.add(_OF_SEVERAL, len(spans))
            lost += spans
    talks = any(not span.only_judges for spans in conversations.values() for span in spans)
    for trace in [name for name in conversations if name in names.unnamed_traces]:
        spans = conversations[trace]
        if trace in judging and not any(span.scores for span in spans):
            notes.add(_OF_EVALUATOR, len(conversations.pop(trace)))
        elif talks and all(span.only_judges for span in spans):
            notes.add(_OF_NONE, sum(len(span.scores) for span in spans))
            lost += conversations.pop(trace)
    notes.add(_LOST, sum(len(span.scores) for span in lost))
    return conversations


class _Names:
    """What is known of the conversations of spans."""

    def __init__(self, kept: Sequence[KeptSpan], tree: SpanTree) -> None:
        self._tree = tree
        self._in_trace: dict[str, set[str]] = {}
        self._responses: dict[str | None, Place] = {}
        named: dict[Place, str] = {}
        for span in kept:
            if span.conversation and span.judged_response is None:
                named[span.place] = span.conversation
                self._in_trace.setdefault(span.trace, set()).add(span.conversation)
            if (response := span.known.get(RESPONSE)) and not span.only_judges:
                self._responses.setdefault(str(response), span.place)
        self._around = self._named_around(named)
        self.unnamed_traces = {span.trace for span in kept} - self._in_trace.keys()

    def of(self, place: Place, own: str = "") -> str:
        """The conversation of a span; empty where it says none and its trace has several."""
        in_trace = self._in_trace.get(place[0], {place[0]})
        return own or self._nearest(place) or (next(iter(in_trace)) if len(in_trace) == 1 else "")

    def judged(self, span: KeptSpan) -> str:
        """The conversation that an evaluation judges by a link, or by the answer that it names; empty without one."""
        if span.judged_response is not None and span.conversation:
            return span.conversation
        targets = []
        if span.judged_response in self._responses:
            targets = [self._responses[span.judged_response]]
        elif span.only_judges and not span.conversation and not self._nearest(span.place):
            targets = [place for place in self._tree.linked(span.place) if place in self._tree.parents]
        names = {self.of(place) for place in targets}
        return next(iter(names)) if len(names) == 1 else ""

    def _named_around(self, named: dict[Place, str]) -> dict[Place, str]:
        """The conversations of spans that name one, and of those above them; empty where several are below."""
        around, parents = dict(named), self._tree.parents
        for (trace, span), name in named.items():
            above = (trace, parents.get((trace, span), ""))
            while above[1] and above not in named and around.get(above) not in (name, ""):
                around[above] = "" if above in around else name
                above = (trace, parents.get(above, ""))
        return around

    def _nearest(self, place: Place) -> str:
        """The conversation of the nearest span above, which is remembered for all on the way; empty without one."""
        path: list[Place] = []
        while place[1] and place not in self._around:
            self._around[place] = ""  # parents may go in circles
            path.append(place)
            place = (place[0], self._tree.parents.get(place, ""))
        name = self._around.get(place, "") if place[1] else ""
        self._around.update(dict.fromkeys(path, name))
        return name
