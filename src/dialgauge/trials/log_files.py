"""Whether files are results of agents, told by their format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.formats import LOGS, DialogueFormat, Part, Peek, first_cells, recognise, resolve

#: Files of a folder that are looked at.
_LOOKED_AT = 20
_KEYS = 12


def are_results(files: Sequence[str | Path], *, native: bool = False) -> bool:
    """Are these results of agents? The content of the first says it, and the others must be such files too.

    With ``native``, files of our own format may be results: the conversations in them say it.
    """
    known = LOGS | ({"native"} if native else set())
    if not files or _format(files[0]) not in known:
        return False
    for other in files[1:]:
        if (named := _format(other)) not in known:
            what = f"it is in the format {named}" if named else "it is not such a file"
            raise DialgaugeError(
                f"{files[0]} holds results of agents, and {what}; name files of one kind", file=str(other)
            )
    return True


def no_log(file: str | Path) -> DialgaugeError:
    """The refusal of a file that is no log in a known format, with the keys that it has."""
    keys = _keys(resolve(file)[0])
    seen = f" (it has {', '.join(keys)})" if keys else ""
    return DialgaugeError(
        f"it is no log of agents in a known format{seen}; 'dialgauge data map {file}' proposes how to read it",
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


def _keys(part: Part) -> list[str]:
    """The names in the first record of a file: keys of JSON, or columns."""
    peek = Peek(part)
    first = peek.json[0] if isinstance(peek.json, list) and peek.json else peek.first_line or peek.json
    names = list(map(str, first)) if isinstance(first, dict) else first_cells(peek.lines)
    return [name[:30] for name in names[:_KEYS] if name.isprintable()] if len(names) > 1 else []
