"""What the paper printed (Bordes et al. 2017), to stand beside our numbers."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """Tables 1, 2 and 10 of the paper, in percent."""

    columns: list[str]
    per_response: dict[str, list[float]]
    per_dialog: dict[str, dict[str, float]]
    statistics: dict[str, list[float]]
    vocabulary: dict[str, int]
    candidates: dict[str, int]

    def accuracy(self, model: str, column: str) -> tuple[float, float] | None:
        """Per-response and per-dialog accuracy as fractions, or None where the paper has no such cell."""
        if model not in self.per_response or column not in self.columns:
            return None
        response = self.per_response[model][self.columns.index(column)]
        return response / 100, self.per_dialog.get(model, {}).get(column, 0.0) / 100


@cache
def published() -> Published:
    """The paper's numbers, from the file beside this module."""
    import yaml

    text = files("dialgauge.responses").joinpath("published.yaml").read_text("utf-8")
    return msgspec.convert(yaml.safe_load(text), Published)


def column_of(task: int, split: str) -> str | None:
    """The paper's column for a task and split; it prints test sets only.

    >>> column_of(1, "tst-OOV")
    'T1-OOV'
    """
    return {"tst": f"T{task}", "tst-OOV": f"T{task}-OOV"}.get(split)
