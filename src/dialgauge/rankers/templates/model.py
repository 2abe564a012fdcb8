"""The model: log P(candidate) = log P(template | cues) + log P(filling | template, marks)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.rankers.episode import Episode, Line, Point, points_of
from dialgauge.rankers.templates.cues import cues_of
from dialgauge.rankers.templates.filling import Filling
from dialgauge.rankers.templates.history import Aliases, DialogHistory, learn_aliases
from dialgauge.rankers.templates.inventory import EntityLexicon, Inventory, Slot
from dialgauge.rankers.templates.logistic import Floats, weights_fitting
from dialgauge.rankers.templates.marks import Mark, marks_of
from dialgauge.rankers.templates.systems import SYSTEMS, Experts, mixed
from dialgauge.rankers.templates.transductive import Adaptation


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
        asked = [moments[place] for place in places]
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
        log_p: Floats = self.filling.log_probabilities([moments[place].marks for place in places])
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
        """The numbers."""
        return {"experts": self.experts.weights, "filling": self.filling.weights, **self.change._asdict()}

    @classmethod
    def restored(cls, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], texts: Sequence[str]) -> Model:
        """The model of these candidates that :meth:`settings` and :meth:`arrays` came from."""
        inventory = Inventory(msgspec.convert(settings["lexicon"], EntityLexicon), texts)
        cues, marks, templates = settings["cues"], settings["marks"], len(inventory.templates)
        source = weights_fitting(arrays["source"], templates)
        if not np.isin(source, np.arange(templates)).all():
            raise DialgaugeError("the model names templates that its candidates do not have; save it again")
        return cls(
            inventory,
            {word: Slot(*slot) for word, slot in settings["aliases"].items()},
            Experts(cues, weights_fitting(arrays["experts"], SYSTEMS, len(cues), templates)),
            Filling(inventory, marks, weights_fitting(arrays["filling"], len(marks))),
            Adaptation(
                weights_fitting(arrays["prior"], SYSTEMS),
                source.astype(np.int64),
                weights_fitting(arrays["shift"], templates),
            ),
        )


def replies_of(dialog: Episode) -> list[str]:
    """What the bot said at each prompt."""
    return [dialog.lines[at + 1].text for at in dialog.prompts]
