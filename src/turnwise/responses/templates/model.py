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
from turnwise.responses.templates.adaptation import Adapted, adapted, planned, unadapted
from turnwise.responses.templates.aliases import learn_aliases
from turnwise.responses.templates.alignment import acts_of
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
    """A model over an inventory of candidates; ``adapted`` says how unknown dialogs differ from those learned from.

    ``stand_in`` maps templates that training lacks to those that they count as when they are heard.
    """

    def __init__(
        self,
        inventory: Inventory,
        options: Options,
        aliases: Mapping[str, Slot],
        act_of: Ints,
        stand_in: Ints | None = None,
    ) -> None:
        self.inventory, self.options = inventory, options
        self.aliases, self.act_of = dict(aliases), act_of
        self.stand_in = np.arange(len(act_of)) if stand_in is None else stand_in
        self._members = group_matrix(act_of.tolist())
        self._reader = Reader(inventory, aliases, Cues(act_of, options.groups, self.stand_in))
        self.adapted = unadapted(act_of)
        self.acts: Classifier
        self.wording: Classifier
        self.filling: Filling

    def fit(self, dialogs: Sequence[Episode], weights: Floats | None = None) -> None:
        """Learn the classifiers and the filling from dialogs; ``weights`` says how much each counts for the former."""
        points, options = points_of(dialogs), self.options
        counts = None if weights is None else np.repeat(weights, [len(dialog.asked) for dialog in dialogs])
        examples = self._reader.read(points)
        gold = gold_candidates(points, self.inventory)
        templates = self.inventory.template_of[gold]
        cues, every = [example.cues for example in examples], [example.every for example in examples]
        self.acts = Classifier.fitted(
            cues, self.act_of[templates], self._members.shape[1], options.penalty, counts=counts
        )
        self.wording = Classifier.fitted(every, templates, len(self._members), options.wording_penalty, counts=counts)
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
        own = {
            "acts": self.acts.weights,
            "wording": self.wording.weights,
            "act_of": self.act_of,
            "stand_in": self.stand_in,
        }
        adapted = {f"adapted_{name}": value for name, value in self.adapted._asdict().items()}
        return {**own, **adapted, **self.filling.arrays()}


def restored(settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]], candidates: Sequence[str]) -> Model:
    """The model that :meth:`Model.settings` and :meth:`Model.arrays` came from."""
    inventory = Inventory(msgspec.convert(settings["lexicon"], Lexicon), candidates)
    aliases = {word: Slot(*slot) for word, slot in settings["aliases"].items()}
    model = Model(
        inventory, msgspec.convert(settings["options"], Options), aliases, arrays["act_of"], arrays["stand_in"]
    )
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
    known: Sequence[Episode] | None = None,
    tell: Tell = silent,
) -> Model:
    """A model of dialogs: who speaks, which templates are paraphrases, what to say and what to fill in.

    With ``known``, all known dialogs, it adapts to the candidates that are none of their replies.
    """
    aliases = learn_aliases(dialogs, inventory)
    counts = template_counts(inventory, reply_templates(dialogs, inventory))
    systems = Systems.fitted(inventory, counts, seed)
    system_of = most_likely(systems.posterior(counts))
    pairs = aligned(dialogs, inventory, aliases, system_of) if options.align else []
    tell(f"{len(pairs)} pairs of templates say the same in two systems")
    plan = planned(known, inventory, systems, told_apart=bool(pairs)) if known is not None else None
    act_of = acts_of(len(inventory.templates), [*pairs, *(plan.pairs if plan else [])])
    model = Model(inventory, options, aliases, act_of, plan.stand_in if plan else None)
    weights = plan.weights[system_of] if plan else None
    model.fit(dialogs, weights)
    tell(f"learned {len(model.acts.vocabulary.cues):,} cues for {act_of.max() + 1} acts from {len(dialogs):,} dialogs")
    if plan is not None:
        model.adapted = adapted(plan.weights[system_of] @ counts, plan.uses, act_of)
        shares = " and ".join(f"{weight:.2f}" for weight in plan.weights)
        tell(f"adapted to the candidates that no known dialog has; dialogs of the systems count {shares}")
    return model
