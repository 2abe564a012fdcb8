"""Options that were renamed or removed: a script that still uses one is told the new spelling, never misunderstood."""

from __future__ import annotations

_TO_FROM = "use --from RUN"
_TO_TO = "use --to FORMAT (--format is the input format)"
_LIMIT = "use --limit N"
_DATASET = "use --dataset NAME (--profile is for value-matching rules)"
_CONFIDENCE = "use --confidence LEVEL (--level is what agents exchange in the lab)"
_WRITTEN = "use --candidates-out FILE (--candidates is a file to read)"
_DIALOGUES = "use --dialogues N"
_TABLE = "use --table FILE, which takes the format from the file's ending"

#: Command and old option to what to write now. Shown only where the command does not know the option any more.
RENAMED: dict[tuple[str, str], str] = {
    ("score", "--explain-profile"): "use 'dialgauge explain profile NAME'",
    ("score", "--explain-measures"): "use 'dialgauge explain measures'",
    ("compare", "--format"): _TO_TO,
    ("runs compare", "--format"): _TO_TO,
    ("compare", "--level"): _CONFIDENCE,
    ("runs compare", "--level"): _CONFIDENCE,
    ("runs show", "--rows"): _LIMIT,
    ("data convert", "--from"): "use --format NAME for the input format",
    ("tasks score", "--explain"): "use 'dialgauge tasks explain'",
    (
        "tasks score",
        "--missing",
    ): "use --unanswered HOW (--missing is an option of 'compare')",
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
    ("users figures", "--out"): "use --figures FOLDER",
    ("users figures", "--as"): "use --figure-format FORMAT",
    ("users faults", "--explain"): "use --dialogue ID",
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
    ("lab goals", "--show"): "use --goal ID",
    ("lab blame", "--all"): "use --limit 0",
    ("babi attention", "--most"): _LIMIT,
    ("babi attention", "--dialog"): "use --dialogue N",
    ("babi attention", "--figure"): "use --figures FOLDER",
}


def renamed_option(command: str, option: str) -> str | None:
    """What to write instead of an option that a command does not have, if it once had it or others do."""
    return RENAMED.get((command, option))
