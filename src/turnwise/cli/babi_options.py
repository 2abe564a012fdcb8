"""What the commands of ``turnwise babi`` about models share: options, and the way to a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnwise.cli.common import err
from turnwise.errors import TurnwiseError

if TYPE_CHECKING:
    from turnwise.responses.ranker import Ranker
    from turnwise.responses.task import Task

DataOption = Annotated[
    Path, typer.Option("--data", metavar="FOLDER", help="Folder with the dialog bAbI files, plain or gzipped.")
]
MaybeDataOption = Annotated[
    Path | None, typer.Option("--data", metavar="FOLDER", help="Folder with the dialog bAbI files, plain or gzipped.")
]
ModelOption = Annotated[str, typer.Option("--model", help="A model's name (see 'turnwise babi models').")]
LoadOption = Annotated[
    Path | None, typer.Option("--load", metavar="FOLDER", help="Use the fitted model in this folder.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the model, such as dim=64. Repeatable."),
]
PresetOption = Annotated[
    str | None, typer.Option(help="Settings of a learned model by name: default, or paper (its optimiser and rates).")
]
DeviceOption = Annotated[
    str | None, typer.Option(help="Where a learned model works: cpu, cuda, or auto (a GPU when there is one).")
]
StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FOLDER", help="The run store; without it, $TURNWISE_RUNS or ./runs.")
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Also write JSON; - is standard output.")
]


def tell(line: str) -> None:
    """A line about the work."""
    err.print(line, style="dim", markup=False)


def settings(given: Sequence[str] | None, preset: str | None, device: str | None) -> dict[str, str]:
    """The settings a command line names, as options of a model."""
    found: dict[str, str] = {}
    for item in given or ():
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise TurnwiseError(f"--set takes NAME=VALUE, such as dim=64, not '{item}'")
        found[name.strip()] = value.strip()
    named = {"preset": preset, "device": device}
    return found | {name: value for name, value in named.items() if value is not None}


def fresh_ranker(model: str, seed: int, options: dict[str, str]) -> Ranker:
    """A model that is still to be fitted, with the options given."""
    from turnwise.responses.ranker import options_by_model, ranker_class

    ranker = ranker_class(model)(seed)
    ranker.options = options_by_model([model], options)[model]
    return ranker


def fitted_ranker(task: Task, model: str, folder: Path | None, seed: int, options: dict[str, str]) -> Ranker:
    """The model in the folder, or else a new one fitted on the task."""
    from turnwise.responses.model_folder import load_ranker

    if folder is not None:
        return load_ranker(folder, task=task, options=load_options(options))
    ranker = fresh_ranker(model, seed, options)
    ranker.fit(task, tell)
    return ranker


def load_options(options: dict[str, str]) -> dict[str, str]:
    """Only the device can be set for a model that is fitted already."""
    name = next((name for name in options if name != "device"), None)
    if name is not None:
        raise TurnwiseError(f"the model in the folder is fitted already; '{name}' cannot be set any more")
    return options
