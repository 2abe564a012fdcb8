"""Task 6, learned: replies are templates with slots; what to say is classified, what to fill in is chosen.

    score(candidate) = log P(template | cues) + log P(filling | template, marks)

Both parts are learned from dialogs; see ``docs/task6.md``. The plain ranker mixes experts for the template
(``MixtureModel``) and takes the candidates only as the list to choose from. The transductive one (its own name, shown
apart) goes by way of acts (``Model``) and also learns from which texts stand in the list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from dialgauge.rankers.episode import Episode, Point
from dialgauge.rankers.ranker import Ranker, ScoreMatrix, Tell, silent
from dialgauge.rankers.task import RankingTask
from dialgauge.rankers.templates.inventory import Inventory, learn_lexicon
from dialgauge.rankers.templates.model import Model, Options, learn, options_of, restored


class Templates(Ranker):
    """Templates classified and filled."""

    name = "templates"
    summary = "templates classified and filled, for real calls (ours)"
    settable = Options.__struct_fields__
    model: Model

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        options = options_of(self.options)
        dialogs = [dialog for split in options.splits for dialog in task.split(split)]
        self.candidates = task.candidates
        inventory = Inventory(learn_lexicon(task.facts, dialogs, task.candidates), task.candidates)
        self.model = learn(dialogs, inventory, options, seed=self.seed, known=self.known_dialogs(task), tell=tell)

    def known_dialogs(self, task: RankingTask) -> list[Episode] | None:
        """The dialogs of train and dev; None when the candidates are but a list."""
        return None

    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        return self.model.scores(points)

    def settings(self) -> dict[str, Any]:
        return self.model.settings()

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return self.model.arrays()

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.model = restored(settings, arrays, self.candidates)


class TemplatesTransductive(Templates):
    """The same, adapted to the candidate file: texts in it that neither train nor dev has were said in test."""

    name = "templates-transductive"
    summary = "templates classified and filled, adapted to the candidate file (ours)"
    settable = tuple(name for name in Options.__struct_fields__ if name != "experts")

    def known_dialogs(self, task: RankingTask) -> list[Episode] | None:
        return [dialog for split in ("trn", "dev") for dialog in task.splits.get(split, ())]
