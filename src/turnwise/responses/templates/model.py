"""The model: log P(candidate) = log P(act | cues) + log P(template | act, cues) + log P(filling | template, marks).

Templates of different systems that say the same are one act, so that what is learned about when to say it is shared; a
second classifier, over templates, tells how the act is worded, for which the history of the dialog says most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from turnwise.responses.episodes import Episode, Point, points_of
from turnwise.responses.ranker import Tell, silent
from turnwise.responses.templates.adaptation import Adapted, adapted, expected_uses, siblings, unadapted
from turnwise.responses.templates.aliases import learn_aliases
from turnwise.responses.templates.alignment import acts_of, ownership
from turnwise.responses.templates.classifier import Classifier
from turnwise.responses.templates.cues import Cues
from turnwise.responses.templates.examples import Example, Reader, gold_candidates, reply_templates
from turnwise.responses.templates.filling import Filling
from turnwise.responses.templates.inventory import Ints, Inventory
from turnwise.responses.templates.lexicon import Lexicon, Slot
from turnwise.responses.templates.logistic import Floats
from turnwise.responses.templates.options import Options
from turnwise.responses.templates.pairing import aligned
from turnwise.responses.templates.systems import Systems, group_matrix, most_likely, template_counts

#: Below any probability that matters; its logarithm is finite.
_LEAST = 1e-12


class Model:
    """A model over an inventory of candidates; ``adapted`` says how unknown dialogs differ from those learned from."""

    def __init__(self, inventory: Inventory, options: Options, aliases: Mapping[str, Slot], act_of: Ints) -> None:
        self.inventory, self.options = inventory, options
        self.aliases, self.act_of = dict(aliases), act_of
        self._members = group_matrix(act_of.tolist())
        self._reader = Reader(inventory, aliases, Cues(act_of, options.groups))
        self.adapted = unadapted(act_of)
        self.acts: Classifier
        self.wording: Classifier
        self.filling: Filling

    def fit(self, dialogs: Sequence[Episode]) -> None:
        """Learn the classifiers and the filling from dialogs."""
        points, options = points_of(dialogs), self.options
        examples = self._reader.read(points)
        gold = gold_candidates(points, self.inventory)
        templates = self.inventory.template_of[gold]
        cues, every = [example.cues for example in examples], [example.every for example in examples]
        self.acts = Classifier.fitted(cues, self.act_of[templates], self._members.shape[1], options.penalty)
        self.wording = Classifier.fitted(every, templates, len(self._members), options.wording_penalty)
        self.filling = Filling.fitted(
            self.inventory,
            [example.marked for example in examples],
            gold,
            options.fill_penalty,
            options.fill_own_penalty,
        )

    def log_templates(self, examples: Sequence[Example]) -> Floats:
        """log P(template | point) = log P(act) + log P(template | act), points × templates."""
        acts = self.acts.log_probabilities([example.cues for example in examples])
        templates = self.wording.log_probabilities([example.every for example in examples])
        adapted = self.adapted
        of_act = np.log(np.exp(templates) @ self._members)
        worded = np.exp(templates - of_act[:, self.act_of]) * adapted.factor + adapted.extra
        worded /= (worded @ self._members)[:, self.act_of]
        found: Floats = (acts + adapted.act)[:, self.act_of] + np.log(np.maximum(worded, _LEAST))
        return found

    def scores(self, points: Sequence[Point]) -> Floats:
        """log P(candidate | point), points × candidates."""
        examples = self.read(points)
        filled = self.filling.log_probabilities([example.marked for example in examples])
        found: Floats = self.log_templates(examples)[:, self.inventory.template_of] + filled
        return found

    def read(self, points: Sequence[Point]) -> list[Example]:
        """Points as examples."""
        return self._reader.read(points)

    def settings(self) -> dict[str, Any]:
        """All but the numbers, as plain values."""
        return {
            "options": msgspec.to_builtins(self.options),
            "lexicon": msgspec.to_builtins(self.inventory.lexicon),
            "aliases": {word: list(slot) for word, slot in self.aliases.items()},
            "act_cues": self.acts.vocabulary.cues,
            "wording_cues": self.wording.vocabulary.cues,
            "marks": self.filling.slots.marks,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers."""
        own = {"acts": self.acts.weights, "wording": self.wording.weights, "act_of": self.act_of}
        adapted = {f"adapted_{name}": value for name, value in self.adapted._asdict().items()}
        return {**own, **adapted, **self.filling.arrays()}


def restored(settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]], candidates: Sequence[str]) -> Model:
    """The model that :meth:`Model.settings` and :meth:`Model.arrays` came from."""
    inventory = Inventory(msgspec.convert(settings["lexicon"], Lexicon), candidates)
    aliases = {word: Slot(*slot) for word, slot in settings["aliases"].items()}
    model = Model(inventory, msgspec.convert(settings["options"], Options), aliases, arrays["act_of"])
    model.acts = Classifier(settings["act_cues"], arrays["acts"])
    model.wording = Classifier(settings["wording_cues"], arrays["wording"])
    model.adapted = Adapted(*(arrays[f"adapted_{name}"] for name in Adapted._fields))
    model.filling = Filling(inventory, settings["marks"])
    model.filling.restore(arrays)
    return model


def learn(
    dialogs: Sequence[Episode],
    inventory: Inventory,
    options: Options,
    *,
    seed: int = 0,
    known: Sequence[str] | None = None,
    tell: Tell = silent,
) -> Model:
    """A model of dialogs: who speaks, which templates are paraphrases, what to say and what to fill in.

    With ``known``, the replies of all known dialogs, it adapts to the candidates that are none of them.
    """
    aliases = learn_aliases(dialogs, inventory)
    counts = template_counts(inventory, reply_templates(dialogs, inventory))
    systems = Systems.fitted(inventory, counts, seed)
    pairs = aligned(dialogs, inventory, aliases, most_likely(systems.posterior(counts))) if options.align else []
    tell(f"{len(pairs)} pairs of templates say the same in two systems")
    uses = counts.sum(axis=0)
    related = siblings(inventory, uses) if known is not None else []
    act_of = acts_of(len(inventory.templates), [*pairs, *related])
    model = Model(inventory, options, aliases, act_of)
    model.fit(dialogs)
    tell(f"learned {len(model.acts.vocabulary.cues):,} cues for {act_of.max() + 1} acts from {len(dialogs):,} dialogs")
    if known is not None:
        index = {text: place for place, text in enumerate(inventory.candidates)}
        groups = ownership(systems.use[0], systems.use[1])
        expected = expected_uses(inventory, [index[text] for text in known if text in index], groups)
        model.adapted = adapted(uses, expected, act_of)
        tell(f"adapted to {len(set(inventory.candidates).difference(known)):,} candidates that no known dialog has")
    return model
