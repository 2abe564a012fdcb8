"""From acts to the words of people: an utterance somebody said for the very same acts, with other values put in.

The alternative to templates that the GCDF1 paper's systems used. It needs dialogues with annotated acts, and it says
what people said, with all that they added; an act set that nobody ever said is worded by templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from dialgauge.agents.speech.mentions import SLOT_KINDS, Delexicalised, MentionFinder
from dialgauge.agents.speech.nlg import TemplateNlg, Wording
from dialgauge.dialogue import Act, Dialogue, Ontology, Span, Speaker
from dialgauge.draws import Draws
from dialgauge.worlds.town import goal_act

#: Act, slot, and the value where it is none that stands in the text.
_Item: TypeAlias = tuple[str, str, str]
#: Who speaks, and what is said, in order.
_Key: TypeAlias = tuple[Speaker, tuple[_Item, ...]]
#: Utterances with more acts are too special to be said again.
_MOST_ITEMS = 8
#: Values that are no words of the text.
_UNSPOKEN = ("", "?", "dontcare", "unknown", "yes", "no", "none")
_YES_NO = ("parking", "internet")


class _Said(NamedTuple):
    """An utterance with holes: the number of the item whose value goes there."""

    name: str
    parts: tuple[str | int, ...]


class RetrievalNlg:
    """Words of people for the acts of users and systems; ``fallback`` words what nobody said."""

    def __init__(
        self, dialogues: Iterable[Dialogue], ontology: Ontology, *, fallback: TemplateNlg | None = None
    ) -> None:
        self._fallback = fallback or TemplateNlg()
        self._finder = MentionFinder(ontology)
        self._said: dict[_Key, list[_Said]] = {}
        turns = (turn for dialogue in dialogues for turn in dialogue.turns)
        for number, turn in enumerate(turns):
            acts = tuple(_town_act(act) for act in turn.acts or ())
            entry = self._with_holes(turn.text, turn.speaker, acts, f"human/{number}")
            if entry is not None:
                key, template = entry
                self._said.setdefault(key, []).append(template)

    def __len__(self) -> int:
        return sum(map(len, self._said.values()))

    def generate(self, acts: Sequence[Act], speaker: Speaker, draws: Draws) -> Wording:
        """The acts in somebody's words; one draw where there are any, else those of the templates."""
        items, values, domains = _items(acts)
        known = self._said.get((speaker, tuple(items)))
        if not known or not all(value or item[2] or not item[1] for item, value in zip(items, values, strict=True)):
            return self._fallback.generate(acts, speaker, draws)
        template = draws.pick(known)
        text, spans = "", []
        for part in template.parts:
            if isinstance(part, str):
                text += part
            else:
                spans.append(Span(domains[part], items[part][1], len(text), len(text) + len(values[part])))
                text += values[part]
        return Wording(text, tuple(spans), (template.name,))

    def _with_holes(self, said: str, speaker: Speaker, acts: tuple[Act, ...], name: str) -> tuple[_Key, _Said] | None:
        """The utterance with holes; None where a value is not in it, or something is in it that no act tells of."""
        items, values, _ = _items(acts)
        text = " ".join(said.split())
        if not items or not text or len(items) > _MOST_ITEMS:
            return None
        delexicalised = self._finder.find(text)
        labels = self._aligned(acts, delexicalised)
        open_items = [index for index, item in enumerate(items) if item[1] and not item[2]]
        if len(labels) != len(open_items) or any(
            index not in labels and mention.kind in _VALUES for index, mention in enumerate(delexicalised.mentions)
        ):
            return None
        parts: list[str | int] = []
        end = 0
        for label in sorted(labels):
            mention, (act_name, slot) = delexicalised.mentions[label], labels[label]
            wanted = mention.value.lower()
            fitting = [open_item for open_item in open_items if items[open_item][:2] == (act_name, slot)]
            item = next((number for number in fitting if self._finder.value(values[number]) == wanted), None)
            if item is None:
                return None
            open_items.remove(item)
            parts += [text[end : mention.start], item]
            end = mention.end
        return (speaker, tuple(items)), _Said(name, (*parts, text[end:]))

    def _aligned(self, acts: tuple[Act, ...], delexicalised: Delexicalised) -> dict[int, tuple[str, str]]:
        """The act and slot of each mention that has one: the first free mention of the act's value."""
        labels: dict[int, tuple[str, str]] = {}
        for act in acts:
            kinds = SLOT_KINDS.get(act.slot, ())
            for value in act.values:
                if value in _UNSPOKEN:
                    continue
                wanted = self._finder.value(value)
                for index, mention in enumerate(delexicalised.mentions):
                    if index not in labels and mention.kind in kinds and mention.value.lower() == wanted:
                        labels[index] = act.name, act.slot
                        break
        return labels


def _town_act(annotated: Act) -> Act:
    """An annotated act in the town's spelling; a facility that is told without a value is there."""
    act = goal_act(annotated)
    return replace(act, values=("yes",)) if act.slot in _YES_NO and not act.values else act


#: Kinds of values that say something by themselves.
_VALUES = frozenset(kind for kinds in SLOT_KINDS.values() for kind in kinds) - {"lodging", "some", "free", "number"}


def _items(acts: Sequence[Act]) -> tuple[list[_Item], list[str], list[str]]:
    """What is said, in an order of its own, with the values and domains."""
    triples = [
        ((act.name, act.slot, value if value in _UNSPOKEN else ""), value, act.domain)
        for act in acts
        for value in act.values or ("",)
    ]
    triples.sort(key=lambda triple: triple[0])
    return [item for item, _, _ in triples], [value for _, value, _ in triples], [domain for _, _, domain in triples]
