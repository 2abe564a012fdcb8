"""What the paper printed (Bordes et al. 2017), and whether data is the released data."""

from __future__ import annotations

from functools import cache

import msgspec

from dialgauge.rankers import RankingTask
from dialgauge.yaml_file import shipped_yaml


class Released(msgspec.Struct, frozen=True, kw_only=True):
    """Checksums of the released dialogs with their candidates."""

    #: By task, what models are fitted on; by column, what they are tested on.
    training: dict[int, str]
    test: dict[str, str]


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """Tables 1, 2 and 10 of the paper (Bordes et al. 2017), in percent."""

    columns: list[str]
    per_response: dict[str, list[float]]
    per_dialog: dict[str, dict[str, float]]
    statistics: dict[str, list[float]]
    vocabulary: dict[str, int]
    candidates: dict[str, int]
    released: Released

    def accuracy(self, model: str, column: str) -> tuple[float, float] | None:
        """Per-response and per-dialog accuracy as fractions, or None where the paper has no such cell."""
        if model not in self.per_response or column not in self.columns:
            return None
        response = self.per_response[model][self.columns.index(column)]
        return response / 100, self.per_dialog.get(model, {}).get(column, 0.0) / 100


@cache
def published() -> Published:
    """The paper's numbers, from the file beside this module."""
    return shipped_yaml("dialgauge.responses", "published.yaml").as_record(Published, "what the paper prints")


def column_of(task: int, split: str) -> str | None:
    """The paper's column for a task and split; it prints test sets only.

    >>> column_of(1, "tst-OOV")
    'T1-OOV'
    """
    return {"tst": f"T{task}", "tst-OOV": f"T{task}-OOV"}.get(split)


def training_is_released(task: RankingTask) -> bool:
    """Whether a task's training and development dialogs, and its candidates, are those of the release."""
    return published().released.training.get(task.number) == task.dialogs_digest("trn", "dev")


def split_is_released(task: RankingTask, split: str) -> bool:
    """Whether a split and the candidates are those of a column of the paper."""
    column = column_of(task.number, split)
    return column is not None and published().released.test.get(column) == task.dialogs_digest(split)
