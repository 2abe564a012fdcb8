"""From acts to the words of people: an utterance somebody said for the very same acts, with other values put in.

The alternative to templates that the GCDF1 paper's systems used. It needs dialogues with annotated acts, and it says
what people said, with all that they added; an act set that nobody ever said is worded by templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from dialgauge.agents.speech.mentions import SLOT_KINDS, MentionFinder
from dialgauge.agents.speech.nlg import TemplateNlg, Wording
from dialgauge.agents.speech.nlu_samples import human_samples
from dialgauge.agents.speech.nlu_training import UNSPOKEN, NluSample, aligned
from dialgauge.dialogue import Act, Dialogue, Ontology, Span, Speaker
from dialgauge.draws import Draws

#: Act, slot, and the value where it is none that stands in the text.
_Item: TypeAlias = tuple[str, str, str]
#: Who speaks, and what is said, in order.
_Key: TypeAlias = tuple[Speaker, tuple[_Item, ...]]
#: Utterances with more acts are too special to be said again.
_MOST_ITEMS = 8


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
        for number, sample in enumerate(human_samples(dialogues)):
            entry = self._with_holes(sample, f"human/{number}")
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

    def _with_holes(self, sample: NluSample, name: str) -> tuple[_Key, _Said] | None:
        """The utterance with holes; None where a value is not in it, or something is in it that no act tells of."""
        items, values, _ = _items(sample.acts)
        text = " ".join(sample.text.split())
        if not items or not text or len(items) > _MOST_ITEMS:
            return None
        delexicalised = self._finder.find(text)
        labels, _ = aligned(NluSample(text=text, speaker=sample.speaker, acts=sample.acts), delexicalised, self._finder)
        open_items = [index for index, item in enumerate(items) if item[1] and not item[2]]
        if len(labels) != len(open_items) or any(
            index not in labels and mention.kind in _VALUES for index, mention in enumerate(delexicalised.mentions)
        ):
            return None
        parts: list[str | int] = []
        end = 0
        for label in sorted(labels):
            mention, (act_name, slot, _) = delexicalised.mentions[label], labels[label]
            wanted = mention.value.lower()
            fitting = [open_item for open_item in open_items if items[open_item][:2] == (act_name, slot)]
            item = next((number for number in fitting if self._finder.value(values[number]) == wanted), None)
            if item is None:
                return None
            open_items.remove(item)
            parts += [text[end : mention.start], item]
            end = mention.end
        return (sample.speaker, tuple(items)), _Said(name, (*parts, text[end:]))


#: Kinds of values that say something by themselves.
_VALUES = frozenset(kind for kinds in SLOT_KINDS.values() for kind in kinds) - {"lodging", "some", "free", "number"}


def _items(acts: Sequence[Act]) -> tuple[list[_Item], list[str], list[str]]:
    """What is said, in an order of its own, with the values and domains."""
    triples = [
        ((act.name, act.slot, value if value in UNSPOKEN else ""), value, act.domain)
        for act in acts
        for value in act.values or ("",)
    ]
    triples.sort(key=lambda triple: triple[0])
    return [item for item, _, _ in triples], [value for _, value, _ in triples], [domain for _, _, domain in triples]
