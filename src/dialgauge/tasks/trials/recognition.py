"""Whether files are results of agents, told by their content; quick, as every comparison of files asks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from dialgauge import formats
from dialgauge.errors import DialgaugeError
from dialgauge.formats import (
    LAST_RESORT,
    LOGS,
    DialogueFormat,
    Part,
    UnknownFormat,
    is_document,
    recognise,
    resolve,
)
from dialgauge.text import counted, some_of

#: A line of a log that can be read.
_EXAMPLE = (
    '{"task_id":"t1","trial":0,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}],'
    '"success":true}'
)
_RESULT = '{"task_id":"t1","trial":0,"success":true}'
#: Files of a folder that are looked at, and that are named.
_LOOKED_AT, _NAMED = 20, 8
#: Files from which on a comparison may be one of predictions with gold.
_WITH_GOLD = 3
#: What the file is called that people are told to write.
_MINE = "mine.jsonl"
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
    """The format of a file; a file that is absent or cannot be read is refused with the reason."""
    _refuse_nothing(file)
    parts = resolve(file)
    if any(part.name.endswith(_WORKBOOK) for part in parts):
        reason = "it is an Excel workbook: save the sheet as CSV, with a row for each conversation"
        raise led_on(file, DialgaugeError(reason, file=str(file), example=_RESULT), parts[0])
    several = len(parts) > 1
    logs = several and _format(file, tolerant=True) in LOGS
    folders = Counter(part.folder for part in parts)
    named = ""
    for part in parts:
        try:
            named = recognise(part, folders).name
            if named == "parquet" and not several and formats.may_be_log(part):
                raise _no_log(file, part)
            if is_document(part.stem) and not several and named == "document":
                reason = "it is a document, such as Markdown, in which not exactly one table of results is found"
                if part.stem.endswith(".ipynb"):
                    reason = (
                        "it is a notebook that does not show exactly one table of results in HTML: write the table to "
                        "a file in it, as with df.to_csv('results.csv', index=False), and score that file"
                    )
                    raise led_on(file, DialgaugeError(reason, file=str(file), example=_RESULT))
                raise led_on(file, DialgaugeError(reason, file=str(file)))
            if named == LAST_RESORT and not logs and formats.may_be_log(part):
                raise _no_log(file, part)
        except UnknownFormat as error:
            if error.damage:
                raise (error if _is_broken(error, part) else led_on(file, error, part)) from error
            names = [name for name in error.names if ": " not in name]  # a line of a transcript has no keys
            seen = f"; keys seen: {', '.join(names)}" if names else ""
            if not logs:
                raise _no_log(file, part, seen) from error
            raise _unread_beside(file, parts, folders) from error
    if several and all(is_document(part.stem) for part in parts):
        raise led_on(file, DialgaugeError("all its files are documents", file=str(file)))
    return named


def refuse_unknown(files: Sequence[str | Path]) -> None:
    """An error that leads on where the first of some files is of no known format, and may be a log as well as gold."""
    if not files or not Path(files[0]).is_file():
        return
    parts = resolve(files[0])
    try:
        recognise(parts[0])
    except UnknownFormat as error:
        if not _is_broken(error, parts[0]) and (len(files) < _WITH_GOLD or formats.may_be_log(parts[0])):
            refuse_unreadable(files[0])


def _is_broken(error: UnknownFormat, part: Part) -> bool:
    """Is it JSON that does not end, or the like, of which that is all to say?"""
    return bool(error.damage) and part.head(64).lstrip()[:1] in (b"{", b"[")


class _LedOn(DialgaugeError):
    """A refusal that already says what to write instead."""


def led_on(source: str | Path, error: DialgaugeError, part: Part | None = None) -> DialgaugeError:
    """The error with what was seen, an example made of the first records, and the command to run next."""
    if isinstance(error, _LedOn):
        return error
    parts = resolve(source)
    seen = f" (it has {_kinds_of(parts)})" if len(parts) > 1 and error.file == str(source) and part is None else ""
    shown = part or next((each for each in parts if each.name == error.file), parts[0])
    unknown = isinstance(error, UnknownFormat)
    reason = (
        f"no known format of agents' logs fits it{error.damage}" if isinstance(error, UnknownFormat) else error.message
    )
    example = error.example if error.example.startswith("{") and not unknown else formats.log_advice(shown)[1]
    new = _LedOn(
        f"{reason}{seen}. Lines as below, one for each conversation, in a file such as {_MINE} will do: its "
        "task, the number of the trial, whether it succeeded (the lines below may have that wrong: write what "
        f"happened) and, where they were kept, its messages. Then: dialgauge tasks score {_MINE}",
        file=error.file,
        dialogue=error.dialogue,
        turn=error.turn,
        line=error.line,
        example=example,
    )
    return new.with_traceback(error.__traceback__)


def _kinds_of(parts: Sequence[Part]) -> str:
    """How many files of which names, or endings, a folder or archive has."""
    stems = Counter(part.stem for part in parts)
    names = Counter(
        part.stem if stems[part.stem] > 1 or len(parts) <= _NAMED else f"*{PurePosixPath(part.stem).suffix}"
        for part in parts
    )
    listed = (f"{count:,} {name}" if count > 1 else name for name, count in names.most_common())
    return f"{counted(len(parts), 'file')}: {some_of(listed, _NAMED)}"


def _unread_beside(file: str | Path, parts: Sequence[Part], folders: Mapping[str, int]) -> DialgaugeError:
    """The error for files of a folder of logs that hold no conversation; it names them all."""
    unread: dict[str, Sequence[str]] = {}
    for part in parts:
        try:
            recognise(part, folders)
        except UnknownFormat as error:
            if error.damage and part.stem.endswith((".json", ".jsonl")):  # it was to be a log
                return led_on(file, error, part)
            unread[part.name] = error.names
        except DialgaugeError:
            unread[part.name] = ()
    talk = next((part for part in parts if part.name not in unread and not formats.is_judged(part)), None)
    first, *others = unread
    more = f"; the same holds of {some_of(map(_short, others), _NAMED)}" if others else ""
    refusal = DialgaugeError(
        f"it has no messages and no verdict (keys seen: {', '.join(unread[first]) or 'none'}), as other files of the "
        "folder have; "
        f"put what it says of a conversation beside its messages, as below, or take it away{more}"
        + (f"; conversations of {_short(talk.name)} do not say how they went: this is needed, too" if talk else ""),
        file=first,
        example="" if talk else _EXAMPLE,
    )
    return led_on(file, refusal, talk)


def _short(name: str) -> str:
    return "/".join(name.split("/")[-2:])


def _no_log(file: str | Path, part: Part, seen: str = "") -> DialgaugeError:
    lacking, example = formats.log_advice(part)
    reason = f"no known format of agents' logs fits it{seen}; {lacking} (to score responses, give the gold file, too)"
    error = DialgaugeError(reason, file=part.name, example=example)
    return led_on(file, error, part)


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


def _format(file: str | Path, *, tolerant: bool = False) -> str:
    """The format of a file, or of the first file of a folder or archive that has dialogues in it.

    Empty for what cannot be told, or could be read only once, as a pipe; a tolerant look passes such parts over.
    """
    if not (Path(file).is_file() or Path(file).is_dir()):
        return ""
    try:
        parts = resolve(file)
    except DialgaugeError:
        return ""
    folders = Counter(part.folder for part in parts)
    for part in parts[:_LOOKED_AT]:
        try:
            format_ = recognise(part, folders)
        except DialgaugeError:
            if not tolerant:
                return _format_among(parts)
        else:
            if isinstance(format_, DialogueFormat):
                return format_.name
    return ""


def _format_among(parts: Sequence[Part]) -> str:
    """The format of the logs between other files; empty where there are none that can be told from these."""
    found = (format_ for _, format_ in (formats.logs_among(parts) if len(parts) > 1 else ()))
    return next((format_.name for format_ in found if isinstance(format_, DialogueFormat)), "")
