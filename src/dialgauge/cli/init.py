"""``dialgauge init``: a folder to begin in, with a project file, small examples of every kind and a notebook."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from dialgauge.cli.app import command
from dialgauge.cli.options import PATH
from dialgauge.cli.screen import err, out
from dialgauge.cli.writing import typed_command
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic

_PROJECT_FILE = """\
# Defaults of options for everybody who works here.
[defaults]
store = "runs"

# [score]
# profile = "canon"
# measures = ["JGA", "F1"]
"""
#: Where the examples and the notebook lie in an installed package, and in a checkout of the project.
_SHIPPED = Path(__file__).parents[1] / "starter"
_CHECKOUT = Path(__file__).parents[3]


@command("init")
@click.argument(
    "folder", required=False, default=Path(), type=PATH, help="Folder to write to. Default: the current one."
)
def app(folder: Path) -> None:
    """Write dialgauge.toml, a folder for runs, the tutorials' example files and a notebook. Existing files are kept.

    dialgauge init my-project && cd my-project/examples

    dialgauge score gold.jsonl careful.jsonl
    """
    if folder.exists() and not folder.is_dir():
        raise DialgaugeError("there is a file of this name; name a folder", file=str(folder))
    written, kept = 0, []
    for target, source in _files(folder):
        if target.exists():
            kept.append(target)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic(target) as scratch:
            if source is None:
                scratch.write_text(_PROJECT_FILE, encoding="utf-8")
            else:
                shutil.copyfile(source, scratch)
        written += 1
    (folder / "runs").mkdir(exist_ok=True)
    err.print(f"wrote {written} files into {folder.resolve()}")
    if kept:
        err.print(f"kept {len(kept)} that were there, among them {kept[0]}")
    first = [] if folder == Path() else [f"cd {folder}"]
    out.print("Try next:")
    for line in (
        *first,
        typed_command("dialgauge score examples/gold.jsonl examples/careful.jsonl examples/hasty.jsonl", folder),
        typed_command("dialgauge review examples/tau.json", folder),
        typed_command("dialgauge data check YOUR_FILE", folder),
    ):
        out.print(f"  {line}")
    out.print(f"Commands of the tutorials run in {folder / 'examples'}.")


def _files(folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Each file to write, and what it is a copy of; None for the project file."""
    yield folder / "dialgauge.toml", None
    examples = _SHIPPED / "examples" if _SHIPPED.is_dir() else _CHECKOUT / "docs" / "examples"
    notebook = _SHIPPED / "tour.ipynb" if _SHIPPED.is_dir() else _CHECKOUT / "notebooks" / "tour.ipynb"
    for source in sorted(examples.rglob("*")):
        if source.is_file():
            yield folder / "examples" / source.relative_to(examples), source
    yield folder / "tour.ipynb", notebook
