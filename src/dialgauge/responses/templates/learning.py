"""From dialogs to a model: who speaks, which templates are paraphrases, what to say and what to fill in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.responses.episodes import Episode
from dialgauge.responses.ranker import Tell, silent
from dialgauge.responses.templates.adaptation import adapted, planned
from dialgauge.responses.templates.aliases import learn_aliases
from dialgauge.responses.templates.alignment import acts_of
from dialgauge.responses.templates.examples import reply_templates
from dialgauge.responses.templates.fitting import numbers_fitting
from dialgauge.responses.templates.inventory import Inventory
from dialgauge.responses.templates.lexicon import Lexicon, Slot
from dialgauge.responses.templates.mixture import MixtureModel
from dialgauge.responses.templates.model import Model
from dialgauge.responses.templates.options import Options
from dialgauge.responses.templates.pairing import aligned
from dialgauge.responses.templates.systems import Systems, most_likely, template_counts


def learn(
    dialogs: Sequence[Episode],
    inventory: Inventory,
    options: Options,
    *,
    seed: int = 0,
    known: Sequence[Episode] | None = None,
    tell: Tell = silent,
) -> Model:
    """A model of dialogs; with ``known``, all known dialogs, one adapted to the candidates that none of them has."""
    counts = template_counts(inventory, reply_templates(dialogs, inventory))
    systems = Systems.fitted(inventory, counts, seed)
    if known is None and options.experts:
        return _mixture(dialogs, inventory, options, systems.posterior(counts), tell)
    aliases = learn_aliases(dialogs, inventory)
    system_of = most_likely(systems.posterior(counts))
    pairs = aligned(dialogs, inventory, aliases, system_of) if options.align else []
    tell(f"{len(pairs)} pairs of templates say the same in two systems")
    plan = planned(known, inventory, systems, told_apart=bool(pairs)) if known is not None else None
    act_of = acts_of(len(inventory.templates), [*pairs, *(plan.pairs if plan else [])])
    model = Model(inventory, options, aliases, act_of, plan.stand_in if plan else None)
    weights = plan.weights[system_of] if plan else np.ones(len(dialogs))
    model.fit(dialogs, weights)
    tell(f"learned {len(model.acts.vocabulary.cues):,} cues for {act_of.max() + 1} acts from {len(dialogs):,} dialogs")
    if plan is not None:
        model.adapted = adapted(weights @ counts, plan.uses, act_of)
        shares = " and ".join(f"{weight:.2f}" for weight in plan.weights)
        tell(f"adapted to the candidates that no known dialog has; dialogs of the systems count {shares}")
    return model


def _mixture(
    dialogs: Sequence[Episode], inventory: Inventory, options: Options, belongs: NDArray[np.float64], tell: Tell
) -> MixtureModel:
    """A mixture of experts; each template is an act of its own, since what systems share is learned without pairs."""
    model = MixtureModel(inventory, options, learn_aliases(dialogs, inventory), np.arange(len(inventory.templates)))
    model.fit(dialogs, belongs)
    sizes = " and ".join(f"{size:,.0f}" for size in belongs.sum(axis=0))
    cues = len(model.experts.vocabulary.cues)
    tell(f"learned {cues:,} cues for {len(inventory.templates)} templates from systems of {sizes} dialogs")
    return model


def restored(settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]], candidates: Sequence[str]) -> Model:
    """The model that :meth:`Model.settings` and :meth:`Model.arrays` came from."""
    inventory = Inventory(msgspec.convert(settings["lexicon"], Lexicon), candidates)
    aliases = {word: Slot(*slot) for word, slot in settings["aliases"].items()}
    options = msgspec.convert(settings["options"], Options)
    act_of, stand_in = (numbers_fitting(arrays[name], len(inventory.templates)) for name in ("act_of", "stand_in"))
    kind = MixtureModel if "expert_cues" in settings else Model
    model = kind(inventory, options, aliases, act_of, stand_in)
    model.restore(settings, arrays)
    return model
