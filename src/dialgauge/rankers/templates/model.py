"""The model: log P(candidate) = log P(act | cues) + log P(template | act, cues) + log P(filling | template, marks).

Templates of different systems that say the same are one act, so that what is learned about when to say it is shared; a
second classifier, over templates, tells how the act is worded, for which the history of the dialog says most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rankers.episode import Episode, Point, points_of
from dialgauge.rankers.ranker import Tell, silent
from dialgauge.rankers.templates.adaptation import Adapted, adapted, planned, unadapted
from dialgauge.rankers.templates.alignment import acts_of, aligned
from dialgauge.rankers.templates.features import GROUPS, Cues, Example, Reader, gold_candidates, reply_templates
from dialgauge.rankers.templates.filling import Filling
from dialgauge.rankers.templates.history import with_predecessors
from dialgauge.rankers.templates.inventory import EntityLexicon, Ints, Inventory, Slot
from dialgauge.rankers.templates.logistic import Classifier, Floats, numbers_fitting, weights_fitting
from dialgauge.rankers.templates.resemblance import learn_aliases
from dialgauge.rankers.templates.systems import SYSTEMS, Experts, Systems, group_matrix, most_likely, template_counts

#: Below any probability that matters; its logarithm is finite.
_LEAST = 1e-12


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a template ranker learns; defaults were chosen on dev and by leaving one system out."""

    #: An expert for each system, weighed in each dialog by how well it foresees the replies; otherwise (and in the
    #: transductive ranker) one classifier of acts, and one that words them.
    experts: bool = True
    #: Penalties (L2) of what the experts share or of the classifier of acts, of what an expert has of its own, and of
    #: the classifier of templates that words an act.
    penalty: float = 3.0
    own_penalty: float = 10.0
    wording_penalty: float = 1.0
    #: Penalties of the filling: of weights that all templates share, and of a template's own.
    fill_penalty: float = 3.0
    fill_own_penalty: float = 10.0
    #: Templates of different systems that say the same count as one act (without experts).
    align: bool = True
    #: Cues that templates are classified without, separated by commas: words, state, bot, history.
    without: str = ""
    #: Dialogs to learn from.
    learn_from: Literal["trn", "trn+dev"] = "trn"

    @property
    def groups(self) -> list[str]:
        """The groups of cues that are used."""
        left_out = [name for name in self.without.split(",") if name]
        for name in left_out:
            if name not in GROUPS:
                raise DialgaugeError(f"there are no cues named '{name}'.{nearest(name, GROUPS)}")
        return [group for group in GROUPS if group not in left_out]

    @property
    def splits(self) -> list[str]:
        """The splits to learn from."""
        return self.learn_from.split("+")


def options_of(given: Mapping[str, str]) -> Options:
    """Options from texts such as ``{"penalty": "3"}``; unknown names and bad values are errors."""
    for name in given:
        if name not in Options.__struct_fields__:
            raise DialgaugeError(
                f"the template models have no setting '{name}'.{nearest(name, Options.__struct_fields__)}"
            )
    try:
        options = msgspec.convert(dict(given), Options, strict=False)
    except msgspec.ValidationError as error:
        raise DialgaugeError(f"a setting of the model has the wrong kind of value: {error}") from error
    penalties = [name for name in Options.__struct_fields__ if name.endswith("penalty")]
    if not all(0 < getattr(options, name) < math.inf for name in penalties):
        raise DialgaugeError(f"{', '.join(penalties[:-1])} and {penalties[-1]} must be above 0 and finite")
    options.groups  # noqa: B018 - names are checked here, not in the middle of training
    return options


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

    def fit(self, dialogs: Sequence[Episode], of_dialogs: Floats) -> None:
        """Learn what to say and what to fill in from dialogs.

        ``of_dialogs`` has a row for each of them: how much it counts, or, for a model with experts, whose it is.
        """
        points, options = points_of(dialogs), self.options
        examples = self._reader.read(points)
        gold = gold_candidates(points, self.inventory)
        of_points = np.repeat(of_dialogs, [len(dialog.prompts) for dialog in dialogs], axis=0)
        self._fit_templates(examples, self.inventory.template_of[gold], of_points)
        self.filling = Filling.fitted(
            self.inventory,
            [example.marked for example in examples],
            gold,
            options.fill_penalty,
            options.fill_own_penalty,
        )

    def _fit_templates(self, examples: Sequence[Example], templates: Ints, of_points: Floats) -> None:
        """Learn what to say; here ``of_points`` says how much each point counts."""
        cues, every = [example.cues for example in examples], [example.every for example in examples]
        members, options = self._members, self.options
        acts = self.act_of[templates]
        self.acts = Classifier.fitted(cues, acts, members.shape[1], options.penalty, counts=of_points)
        self.wording = Classifier.fitted(every, templates, len(members), options.wording_penalty, counts=of_points)

    def log_templates(self, examples: Sequence[Example]) -> Floats:
        """log P(template | point) = log P(act) + log P(template | act), points × templates."""
        acts = self.acts.log_probabilities([example.cues for example in examples])
        templates = self.wording.log_probabilities([example.every for example in examples])
        adapted = self.adapted
        of_act = np.log(np.exp(templates) @ self._members)
        worded = np.exp(templates - of_act[:, self.act_of]) * adapted.factor + adapted.extra
        worded /= (worded @ self._members)[:, self.act_of]
        log_p: Floats = (acts + adapted.act)[:, self.act_of] + np.log(np.maximum(worded, _LEAST))
        return log_p

    def scores(self, points: Sequence[Point]) -> Floats:
        """log P(candidate | point), points × candidates."""
        examples = self.read(points)
        return self._filled(self.log_templates(examples), examples)

    def _filled(self, log_templates: Floats, examples: Sequence[Example]) -> Floats:
        """log P(template) + log P(filling | template), points × candidates."""
        fillings = self.filling.log_probabilities([example.marked for example in examples])
        log_p: Floats = log_templates[:, self.inventory.template_of] + fillings
        return log_p

    def read(self, points: Sequence[Point]) -> list[Example]:
        """Points as examples."""
        return self._reader.read(points)

    def settings(self) -> dict[str, Any]:
        """All but the numbers, as plain values."""
        return {
            "options": msgspec.to_builtins(self.options),
            "lexicon": msgspec.to_builtins(self.inventory.lexicon),
            "aliases": {word: list(slot) for word, slot in self.aliases.items()},
            "marks": self.filling.slots.marks,
            **self._template_settings(),
        }

    def _template_settings(self) -> dict[str, Any]:
        return {"act_cues": self.acts.vocabulary.cues, "wording_cues": self.wording.vocabulary.cues}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The numbers."""
        own = {"act_of": self.act_of, "stand_in": self.stand_in}
        return {**own, **self._template_arrays(), **self.filling.arrays()}

    def _template_arrays(self) -> dict[str, NDArray[Any]]:
        adapted = {f"adapted_{name}": value for name, value in self.adapted._asdict().items()}
        return {"acts": self.acts.weights, "wording": self.wording.weights, **adapted}

    def restore(self, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what :meth:`settings` and :meth:`arrays` gave."""
        self._restore_templates(settings, arrays)
        self.filling = Filling(self.inventory, settings["marks"])
        self.filling.restore(arrays)

    def _restore_templates(self, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        act_cues, wording_cues = settings["act_cues"], settings["wording_cues"]
        templates, acts = self._members.shape
        self.acts = Classifier(act_cues, weights_fitting(arrays["acts"], len(act_cues), acts))
        self.wording = Classifier(wording_cues, weights_fitting(arrays["wording"], len(wording_cues), templates))
        self.adapted = Adapted(
            weights_fitting(arrays["adapted_act"], acts),
            weights_fitting(arrays["adapted_factor"], templates),
            weights_fitting(arrays["adapted_extra"], templates),
        )


class MixtureModel(Model):
    """Templates by a mixture of experts, weighed by what the dialog tells so far about who speaks.

    log P(candidate) = log Σ_s P(s | dialog so far) P_s(template | cues) + log P(filling | template, marks)
    """

    experts: Experts

    def scores(self, points: Sequence[Point]) -> Floats:
        chain = with_predecessors(points)
        examples = self.read(chain.points)
        said = np.array([self.inventory.parse(text).template if text else -1 for text in chain.said], dtype=np.int64)
        by_expert = self.experts.log_probabilities([example.cues for example in examples])
        log_templates = self.experts.mixed(by_expert, chain.before, said)
        return self._filled(log_templates[chain.places], [examples[place] for place in chain.places])

    def _fit_templates(self, examples: Sequence[Example], templates: Ints, of_points: Floats) -> None:
        cues = [example.cues for example in examples]
        penalties = (self.options.penalty, self.options.own_penalty)
        self.experts = Experts.fitted(cues, templates, of_points, len(self.inventory.templates), penalties)

    def _template_settings(self) -> dict[str, Any]:
        return {"expert_cues": self.experts.vocabulary.cues}

    def _template_arrays(self) -> dict[str, NDArray[Any]]:
        return {"experts": self.experts.weights}

    def _restore_templates(self, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        cues, weights = settings["expert_cues"], arrays["experts"]
        self.experts = Experts(cues, weights_fitting(weights, SYSTEMS + 1, len(cues), len(self.inventory.templates)))


# From dialogs to a model.


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
    inventory = Inventory(msgspec.convert(settings["lexicon"], EntityLexicon), candidates)
    aliases = {word: Slot(*slot) for word, slot in settings["aliases"].items()}
    options = msgspec.convert(settings["options"], Options)
    act_of, stand_in = (numbers_fitting(arrays[name], len(inventory.templates)) for name in ("act_of", "stand_in"))
    kind = MixtureModel if "expert_cues" in settings else Model
    model = kind(inventory, options, aliases, act_of, stand_in)
    model.restore(settings, arrays)
    return model
