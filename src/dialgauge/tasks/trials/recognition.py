"""Whether files are results of agents, told by their content; quick, as every comparison of files asks it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.formats import LAST_RESORT, LOGS, DialogueFormat, Part, UnknownFormat, may_be_log, recognise, resolve

#: A line of a log that can be read.
_EXAMPLE = (
    '{"task_id":"t1","trial":0,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}],'
    '"success":true}'
)
#: Files of a folder that are looked at.
_LOOKED_AT = 20
#: Files from which on a comparison may be one of predictions with gold.
_WITH_GOLD = 3
#: What every workbook of Excel holds.
_WORKBOOK = "![Content_Types].xml"


def are_results(files: Sequence[str | Path], *, native: bool = False) -> bool:
    """Are these results of agents? The content of the first says it, and the others must be such files too.

    With ``native``, files of our own format may be results: the conversations in them say it.
    """
    known = LOGS | ({"native"} if native else set())
    if not files or _format(files[0]) not in known:
        return False
    for other in files[1:]:
        if (named := _format(other)) not in known:
            _refuse_nothing(other)
            if not named and Path(other).is_file():
                with suppress(UnknownFormat):
                    recognise(resolve(other)[0])  # of several formats, which its error tells
            what = f"it is in the format {named}" if named else "it is not such a file"
            raise DialgaugeError(
                f"{files[0]} holds results of agents, and {what}; name files of one kind", file=str(other)
            )
    return True


def refuse_unreadable(file: str | Path) -> str:
    """The format of a file; a file that is absent, or no log that can be read, is refused with the reason."""
    _refuse_nothing(file)
    parts = resolve(file)
    if any(part.name.endswith(_WORKBOOK) for part in parts):
        reason = "it is an Excel workbook: save the sheet as CSV, with a row for each conversation"
        raise DialgaugeError(reason, file=str(file), example=_EXAMPLE)
    named = ""
    for part in parts:
        try:
            named = recognise(part).name
        except UnknownFormat as error:
            if _is_broken(error, part):
                raise
            raise _no_log(part, error.damage, several=len(parts) > 1) from error
        if named in (LAST_RESORT, "parquet") and may_be_log(part):
            raise _no_log(part)
    return named


def refuse_unknown(files: Sequence[str | Path]) -> None:
    """An error where the first of some files is of no known format, and may be a log as well as gold."""
    if not files or not Path(files[0]).is_file():
        return
    parts = resolve(files[0])
    try:
        recognise(parts[0])
    except UnknownFormat as error:
        if not _is_broken(error, parts[0]) and (len(files) < _WITH_GOLD or may_be_log(parts[0])):
            refuse_unreadable(files[0])


def _is_broken(error: UnknownFormat, part: Part) -> bool:
    """True for damaged JSON, such as a file that was cut off."""
    return bool(error.damage) and part.head(64).lstrip()[:1] in (b"{", b"[")


def _no_log(part: Part, damage: str = "", *, several: bool = False) -> DialgaugeError:
    how = "name the logs alone, as in 'logs/*.jsonl', or " if several else ""
    return DialgaugeError(
        f"no known format of agents' logs fits it{damage}; {how}write a line such as the one below for each "
        "conversation, with or without its messages, into a file such as mine.jsonl",
        file=part.name,
        example=_EXAMPLE,
    )


def _refuse_nothing(file: str | Path) -> None:
    """A list of results with nothing in it looks like any other empty list."""
    if not Path(file).is_file():
        return
    parts = resolve(file)
    if len(parts) == 1 and b"".join(parts[0].head().split()) == b"[]":
        raise DialgaugeError(
            "it is an empty list: no conversation was recorded. Results of tau-bench have an entry for "
            "each trial of each task",
            file=str(file),
        )


def _format(file: str | Path) -> str:
    """The format of a file, or of the first file of a folder or archive that has dialogues in it.

    Empty for what cannot be told, or could be read only once, as a pipe.
    """
    if not (Path(file).is_file() or Path(file).is_dir()):
        return ""
    try:
        found = map(recognise, resolve(file)[:_LOOKED_AT])
        return next((format_.name for format_ in found if isinstance(format_, DialogueFormat)), "")
    except DialgaugeError:
        return ""
