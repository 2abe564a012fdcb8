"""Options that were renamed or removed: a script that still uses one is told the new spelling, never misunderstood."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class NewOption(NamedTuple):
    """The option to use now; ``rest`` is what else is said, with ``{}`` for the dashes of options."""

    name: str
    value: str
    rest: str = ""

    def __str__(self) -> str:
        return f"use --{self.name} {self.value}{self.rest.format('--')}"

    def as_key(self, keys: Collection[str]) -> str:
        """The same of the key of a project file that stands for the option, if there is one.

        >>> NewOption("limit", "N", " ({}most is gone)").as_key(["limit"])
        "write 'limit = ...' (most is gone)"
        """
        return f"write '{self.name} = ...'{self.rest.format('')}" if self.name in keys else str(self)


_TO_FROM = NewOption("from", "RUN")
_TO_TO = NewOption("to", "FORMAT", " ({}format is the input format)")
_LIMIT = NewOption("limit", "N")
_DATASET = NewOption("dataset", "NAME", " ({}profile is for value-matching rules)")
_CONFIDENCE = NewOption("confidence", "LEVEL", " ({}level is what agents exchange in the lab)")
_WRITTEN = NewOption("candidates-out", "FILE", " ({}candidates is a file to read)")
_DIALOGUES = NewOption("dialogues", "N")
_TABLE = NewOption("table", "FILE", ", which takes the format from the file's ending")

#: Command and old option to what to write now. Shown only where the command does not know the option any more.
RENAMED: dict[tuple[str, str], NewOption | str] = {
    ("score", "--explain-profile"): "use 'dialgauge explain profile NAME'",
    ("score", "--explain-measures"): "use 'dialgauge explain measures'",
    ("compare", "--format"): _TO_TO,
    ("runs compare", "--format"): _TO_TO,
    ("compare", "--level"): _CONFIDENCE,
    ("runs compare", "--level"): _CONFIDENCE,
    ("runs show", "--rows"): _LIMIT,
    ("data convert", "--from"): NewOption("format", "NAME", " for the input format"),
    ("tasks score", "--explain"): "use 'dialgauge tasks explain'",
    (
        "tasks score",
        "--missing",
    ): NewOption("unanswered", "HOW", " ({}missing is an option of 'compare')"),
    ("tasks explain", "--run"): _TO_FROM,
    ("users score", "--explain"): "use 'dialgauge users explain'",
    ("users score", "--profile"): _DATASET,
    ("users explain", "--profile"): _DATASET,
    ("users figures", "--profile"): _DATASET,
    ("users find", "--profile"): _DATASET,
    ("users figures", "--most"): _LIMIT,
    ("users faults", "--most"): _LIMIT,
    ("users explain", "--run"): _TO_FROM,
    ("users figures", "--run"): _TO_FROM,
    ("users find", "--run"): _TO_FROM,
    ("users find", "--behaviours"): "use 'dialgauge explain behaviours'",
    ("users figures", "--out"): NewOption("figures", "FOLDER"),
    ("users figures", "--as"): NewOption("figure-format", "FORMAT"),
    ("users faults", "--explain"): NewOption("dialogue", "ID"),
    ("babi simulate", "--format"): _TO_TO,
    ("babi convert-dstc2", "--format"): _TO_TO,
    ("babi anonymise", "--format"): _TO_TO,
    ("babi convert-dstc2", "--candidates"): _WRITTEN,
    ("babi anonymise", "--candidates"): _WRITTEN,
    ("babi simulate", "--dialogs"): _DIALOGUES,
    ("babi evaluate", "--dialogs"): _DIALOGUES,
    ("babi interact", "--dialogs"): _DIALOGUES,
    ("demo", "--dialogs"): _DIALOGUES,
    ("babi table", "--markdown"): _TABLE,
    ("babi table", "--latex"): _TABLE,
    ("babi table", "--html"): _TABLE,
    ("babi table", "--statistics"): "the paper's Table 1 is shown by default; use --no-statistics to leave it out",
    ("lab goals", "--show"): NewOption("goal", "ID"),
    ("lab blame", "--all"): NewOption("limit", "0"),
    ("babi attention", "--most"): _LIMIT,
    ("babi attention", "--dialog"): NewOption("dialogue", "N"),
    ("babi attention", "--figure"): NewOption("figures", "FOLDER"),
}


def renamed_option(command: str, option: str) -> NewOption | str | None:
    """What to write instead of an option that a command does not have, if it once had it or others do."""
    return RENAMED.get((command, option))
