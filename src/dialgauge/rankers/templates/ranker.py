"""Task 6, learned: replies are templates with slots; what to say is classified, what to fill in is chosen.

    score(candidate) = log P(template | cues) + log P(filling | template, marks)

All weights are learned from dialogs; see ``docs/rankers.md``. From the candidates both rankers learn what the templates
are and which words are values: a value that only a candidate has is known to them. The transductive ranker (its own
name, shown apart) also learns from *which* texts stand in the list how often unknown dialogs use each template.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rankers.episode import Episode, Line, Point, points_of
from dialgauge.rankers.ranker import Ranker, ScoreMatrix, Tell, silent
from dialgauge.rankers.task import RankingTask
from dialgauge.rankers.templates.cues import Mark, cues_of, marks_of
from dialgauge.rankers.templates.filling import Filling
from dialgauge.rankers.templates.history import Aliases, DialogHistory, learn_aliases
from dialgauge.rankers.templates.inventory import EntityLexicon, Inventory, Slot, learn_lexicon
from dialgauge.rankers.templates.logistic import Floats
from dialgauge.rankers.templates.systems import SYSTEMS, Experts, mixed, template_counts, told_apart, use_rates
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


class Moment(NamedTuple):
    """A place of a dialog where the user has spoken.

    ``before`` is the number of the moment before in the same dialog (-1: none), ``heard`` the template of the reply to
    it (-1: unknown, or none).
    """

    cues: list[str]
    marks: list[Mark]
    before: int
    heard: int


def read(points: Sequence[Point], inventory: Inventory, aliases: Aliases) -> tuple[list[Moment], list[int]]:
    """The moments on the way to points, and which of them are the points.

    Points come in any order and from any place of a dialog; one that extends the point before it goes on from there.
    """
    moments: list[Moment] = []
    places: list[int] = []
    taken: tuple[Line, ...] = ()
    history, latest, replied = DialogHistory(inventory, aliases), -1, 0
    for point in points:
        lines = (*point.history, Line("user", point.utterance))
        if len(lines) <= len(taken) or lines[: len(taken)] != taken:
            history, latest, replied, taken = DialogHistory(inventory, aliases), -1, 0, ()
        for line in lines[len(taken) :]:
            history.take(line)
            if line.kind == "user":
                heard = history.replies[-1] if len(history.replies) > replied else -1
                moments.append(Moment(cues_of(history), marks_of(history), latest, heard))
                latest, replied = len(moments) - 1, len(history.replies)
        taken = lines
        places.append(latest)
    return moments, places


class Model:
    """Experts say which template, the filling what stands in its slots; an adaptation may change the templates."""

    def __init__(
        self, inventory: Inventory, aliases: Mapping[str, Slot], experts: Experts, filling: Filling, change: Adaptation
    ) -> None:
        self.inventory, self.aliases = inventory, dict(aliases)
        self.experts, self.filling, self.change = experts, filling, change

    @classmethod
    def fitted(
        cls,
        dialogs: Sequence[Episode],
        inventory: Inventory,
        belongs: Floats,
        change: Adaptation,
        penalties: tuple[float, float, float],
    ) -> Model:
        """Learned from dialogs, given P(system | dialog).

        ``penalties`` are of what the experts share, of what each has of its own, and of the filling.
        """
        aliases = learn_aliases(dialogs, inventory)
        moments, places = read(points_of(dialogs), inventory, aliases)
        asked = [moments[index] for index in places]
        gold = np.array([inventory.index[text] for dialog in dialogs for text in replies_of(dialog)], dtype=np.int64)
        of_points = np.repeat(belongs, [len(dialog.prompts) for dialog in dialogs], axis=0)
        cues, marks = [moment.cues for moment in asked], [moment.marks for moment in asked]
        templates = inventory.template_of[gold]
        experts = Experts.fitted(cues, templates, of_points, len(inventory.templates), penalties[:2])
        return cls(inventory, aliases, experts, Filling.fitted(inventory, marks, gold, penalties[2]), change)

    def scores(self, points: Sequence[Point]) -> Floats:
        """log P(candidate | point), points × candidates."""
        moments, places = read(points, self.inventory, self.aliases)
        by_expert = self.experts.log_probabilities([moment.cues for moment in moments])
        before, heard = [moment.before for moment in moments], [moment.heard for moment in moments]
        templates = self.change.of(mixed(by_expert, before, heard, self.change.prior)[places])
        log_p: Floats = self.filling.log_probabilities([moments[index].marks for index in places])
        log_p += templates[:, self.inventory.template_of]
        return log_p

    def settings(self) -> dict[str, Any]:
        """All but the numbers, as plain values."""
        return {
            "lexicon": msgspec.to_builtins(self.inventory.lexicon),
            "aliases": {word: list(slot) for word, slot in self.aliases.items()},
            "cues": self.experts.vocabulary.cues,
            "marks": self.filling.marks,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"experts": self.experts.weights, "filling": self.filling.weights, **self.change._asdict()}

    @classmethod
    def restored(cls, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], texts: Sequence[str]) -> Model:
        """The model of these candidates that :meth:`settings` and :meth:`arrays` came from."""
        inventory = Inventory(msgspec.convert(settings["lexicon"], EntityLexicon), texts)
        cues, marks, templates = settings["cues"], settings["marks"], len(inventory.templates)
        source = _fitting(arrays["source"], templates)
        if not np.isin(source, np.arange(templates)).all():
            raise DialgaugeError("the model names templates that its candidates do not have; save it again")
        return cls(
            inventory,
            {word: Slot(*slot) for word, slot in settings["aliases"].items()},
            Experts(cues, _fitting(arrays["experts"], SYSTEMS, len(cues), templates)),
            Filling(inventory, marks, _fitting(arrays["filling"], len(marks))),
            Adaptation(
                _fitting(arrays["prior"], SYSTEMS),
                source.astype(np.int64),
                _fitting(arrays["shift"], templates),
            ),
        )


def replies_of(dialog: Episode) -> list[str]:
    """What the bot said at each prompt."""
    return [dialog.lines[at + 1].text for at in dialog.prompts]


def _fitting(weights: NDArray[Any], *shape: int) -> NDArray[Any]:
    """The weights, if they have this shape; otherwise they are of another model."""
    if weights.shape != shape:
        raise DialgaugeError("the weights of the model do not fit its cues and templates; save it again")
    return weights
