"""Whether files are results of agents, told by their content; quick, as every comparison of files asks it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.formats import recognise, resolve

#: Formats whose files are results of agents; native ones are where they were made of such.
FORMATS = frozenset({"tau", "tau2"})


def are_results(files: Sequence[str | Path], *, native: bool = False) -> bool:
    """Are these results of agents? The content of the first says it, and the others must be such files too.

    With ``native``, files of our own format may be results: the conversations in them say it.
    """
    known = FORMATS | ({"native"} if native else set())
    if not files or _format(files[0]) not in known:
        return False
    for other in files[1:]:
        if (named := _format(other)) not in known:
            what = f"it is in the format {named}" if named else "it is not such a file"
            raise DialgaugeError(
                f"{files[0]} holds results of agents, and {what}; name files of one kind", file=str(other)
            )
    return True


def _format(file: str | Path) -> str:
    """The format of a file; empty for what cannot be told, or could be read only once, as a pipe."""
    if not Path(file).is_file():
        return ""
    try:
        parts = resolve(file)
        return recognise(parts[0]).name if len(parts) == 1 else ""
    except DialgaugeError:
        return ""
