"""Task 6, learned: replies are templates with slots; what to say is classified, what to fill in is chosen.

    score(candidate) = log P(template | cues) + log P(filling | template, marks)

All weights are learned from dialogs; see ``docs/rankers.md``. From the candidates both rankers learn what the templates
are and which words are values: a value that only a candidate has is known to them. The transductive ranker (its own
name, shown apart) also learns from *which* texts stand in the list how often unknown dialogs use each template.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import msgspec
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rankers.episode import Episode, Point
from dialgauge.rankers.ranker import Ranker, ScoreMatrix, Tell, silent
from dialgauge.rankers.task import RankingTask
from dialgauge.rankers.templates.inventory import Inventory, learn_lexicon
from dialgauge.rankers.templates.logistic import Floats
from dialgauge.rankers.templates.model import Model, replies_of
from dialgauge.rankers.templates.systems import SYSTEMS, template_counts, told_apart, use_rates
from dialgauge.rankers.templates.transductive import Adaptation, adapted


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a template ranker learns; defaults were chosen on dev and by leaving one system out."""

    #: Penalties (L2) of what the experts share, of what each has of its own, and of the filling.
    penalty: float = 3.0
    own_penalty: float = 5.0
    fill_penalty: float = 3.0
    #: Dialogs to learn from.
    learn_from: Literal["trn", "trn+dev"] = "trn"


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
    if not all(0 < value < math.inf for value in (options.penalty, options.own_penalty, options.fill_penalty)):
        raise DialgaugeError("penalty, own_penalty and fill_penalty must be above 0 and finite")
    return options


class Templates(Ranker):
    """Templates classified and filled."""

    name = "templates"
    summary = "templates classified and filled, for real calls (ours)"
    settable = Options.__struct_fields__
    #: Does it learn from which texts no known dialog has?
    transductive: ClassVar[bool] = False
    model: Model

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        options = options_of(self.options)
        splits = options.learn_from.split("+")
        dialogs = [dialog for split in splits for dialog in task.split(split)]
        self.candidates = task.candidates
        inventory = Inventory(learn_lexicon(task.facts, dialogs, task.candidates), task.candidates)
        besides = () if "dev" in splits or not self.transductive else task.splits.get("dev", ())
        belongs, change = self._systems(dialogs, besides, inventory)
        penalties = options.penalty, options.own_penalty, options.fill_penalty
        self.model = Model.fitted(dialogs, inventory, belongs, change, penalties)
        sizes = " and ".join(f"{size:,.0f}" for size in belongs.sum(axis=0))
        cues, templates = len(self.model.experts.vocabulary.cues), len(inventory.templates)
        tell(f"learned {cues:,} cues for {templates} templates from systems of {sizes} dialogues")

    def _systems(
        self, dialogs: Sequence[Episode], besides: Sequence[Episode], inventory: Inventory
    ) -> tuple[Floats, Adaptation]:
        """P(system | dialog) of dialogs to learn from, and how unknown ones differ; others are known ``besides``."""
        replies = [replies_of(dialog) for dialog in (*dialogs, *besides)]
        counts = template_counts(inventory, replies)
        belongs = told_apart(inventory, counts)
        own = belongs[: len(dialogs)]
        if not self.transductive:
            return own, Adaptation.none(SYSTEMS, len(inventory.templates))
        learned = use_rates(counts[: len(dialogs)], own)
        return own, adapted(inventory, replies, use_rates(counts, belongs), learned)

    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        return self.model.scores(points)

    def settings(self) -> dict[str, Any]:
        return self.model.settings()

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return self.model.arrays()

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.model = Model.restored(settings, arrays, self.candidates)


class TemplatesTransductive(Templates):
    """The same, adapted to the candidate file: texts in it that neither train nor dev has were said in test."""

    name = "templates-transductive"
    summary = "templates classified and filled, adapted to the candidate file (ours)"
    transductive = True
