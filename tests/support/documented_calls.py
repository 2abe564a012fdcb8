"""Calls that the documentation shows: what a command is tried with that has no call of its own on the workbench.

Pages work on the small files of ``docs/examples``, so both the workbench and the sandbox of the fuzzing have these.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "examples"

#: Blocks of commands without a marker: they end with 0, need nothing and take no long time.
_BLOCK = re.compile(r"(?<!-->\n)^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: What only a shell understands.
_SHELL = re.compile(r"[|&;<>$*?`~#(){}\\]")


@cache
def _shown() -> tuple[str, ...]:
    pages = sorted(DOCS.rglob("*.md"))
    blocks = (block for page in pages for block in _BLOCK.findall(page.read_text("utf-8")))
    return tuple(line for block in blocks for line in block.splitlines() if line.startswith("$ dialgauge "))


def documented_call(command: str) -> str | None:
    """What follows a command where a page first calls it with files of the examples; None where no page does."""
    start = f"$ dialgauge {command} "
    for rest in (line.removeprefix(start) for line in _shown() if line.startswith(start)):
        files = [word for word in rest.split() if re.search(r"\.[a-z]+$", word)]
        if files and not _SHELL.search(rest) and all((EXAMPLES / name).is_file() for name in files):
            return rest
    return None


def add_examples(folder: Path) -> None:
    """Copy the example files that a folder does not have under the same name."""
    for file in EXAMPLES.iterdir():
        if file.is_file() and file.suffix != ".md" and not (folder / file.name).exists():
            shutil.copy(file, folder)
