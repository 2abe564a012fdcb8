"""What the commands of ``dialgauge babi`` about models share: options, and the way to a fitted model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Struct

from dialgauge import rankers
from dialgauge.cli.choices import MODELS, WORLDS, KnownNames
from dialgauge.cli.options import Option
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import restaurant

DataOption = Annotated[Path, Option(metavar="FOLDER", help="Folder of dialog bAbI files, plain or gzipped.")]
#: What is fitted when neither --model nor --load is given.
DEFAULT_MODEL = "rules"
ModelOption = Annotated[
    str | None,
    Option(
        "--model",
        not_with=("--url",),
        metavar="NAME",
        known=MODELS,
        help=f"Model name, such as tfidf or memn2n. Default: {DEFAULT_MODEL}.",
    ),
]
LoadOption = Annotated[
    Path | None,
    Option(
        "--load",
        metavar="FOLDER",
        not_with=("--url",),
        alone="a loaded model is finished",
        help="Load the trained model in this folder.",
    ),
]
SetOption = Annotated[
    list[str] | None, Option("--set", metavar="NAME=VALUE", help="Model setting, for example dim=64; repeatable.")
]
PresetOption = Annotated[
    Literal["default", "paper"] | None,
    Option(metavar="NAME", help="Settings preset for learned models: default or paper (slow)."),
]
DeviceOption = Annotated[
    str | None,
    Option(
        metavar="NAME",
        known=KnownNames("cpu cuda auto".split),
        help="Device for learned models: cpu, cuda, or auto (a GPU if present).",
    ),
]
TaskOption = Annotated[int | None, Option(min=1, max=6, not_with=("--logs",), help="Task in --data. Default: 1.")]
UrlOption = Annotated[
    str | None,
    Option(metavar="URL", alone="--url names the bot", help="Use the bot at this HTTP address instead of a model."),
]
LogsOption = Annotated[
    str | None,
    Option(
        metavar="FILE",
        alone="--logs takes the place of --data; chat logs have no tasks",
        help="Recorded dialogues in any format, instead of --data; all replies become candidates.",
    ),
]
CandidatesOption = Annotated[Path | None, Option(needs="--logs", help="With --logs: candidate replies, one per line.")]
FactsOption = Annotated[
    Path | None, Option(needs="--logs", help="With --logs: knowledge base with tab-separated entity, relation, value.")
]


MessagesOption = Annotated[
    Literal["joined", "apart"],
    Option(needs="--logs", help="With --logs: join consecutive messages of a user, or make each a memory of its own."),
]


class Replies(Struct, frozen=True):
    """The dialogues that a model learns from or is evaluated on: the bAbI files, or chat logs."""

    data: Annotated[
        Path | None,
        Option(metavar="FOLDER", unless=("--logs", "--world"), help="Folder of dialog bAbI files, plain or gzipped."),
    ] = None
    logs: LogsOption = None
    candidates: CandidatesOption = None
    facts: FactsOption = None
    messages: MessagesOption = "joined"

    def task(
        self, task: int | None, seed: int, *, folder: Path | None = None, splits: tuple[str, ...] | None = None
    ) -> rankers.RankingTask:
        """A task of the bAbI files (the one asked for, else that of the model in the folder, else 1), or of logs."""
        if self.data is not None:
            return rankers.load_task(self.data, task_of(folder, task, 1), splits or rankers.SPLITS)
        apart = self.messages == "apart"
        return rankers.log_task(str(self.logs), candidates=self.candidates, facts=self.facts, seed=seed, apart=apart)


class ModelSettings(Struct, frozen=True):
    """The settings of a model."""

    not_with: ClassVar = ("--url",)
    given: SetOption = None
    device: DeviceOption = None

    def options(self) -> dict[str, str]:
        """The settings by name: those of ``--set``, the preset and the device."""
        named: dict[str, str] = {}
        for item in self.given or ():
            name, equals, value = item.partition("=")
            if not equals or not name.strip():
                raise DialgaugeError(f"--set expects NAME=VALUE, for example dim=64 (got '{item}')")
            named[name.strip()] = value.strip()
        by_option = {"preset": getattr(self, "preset", None), "device": self.device}
        return named | {name: value for name, value in by_option.items() if value is not None}


class TrainingSettings(ModelSettings, frozen=True):
    """The settings of a model that is yet to be trained."""

    preset: PresetOption = None


class Bot(Struct, frozen=True):
    """Who answers: a model by name, a trained one, or a bot at an address."""

    model: ModelOption = None
    folder: LoadOption = None
    url: UrlOption = None


class SimulatedWorld(Struct, frozen=True):
    """A world of restaurants or the like, and how its users behave."""

    world: Annotated[
        str, Option(metavar="NAME|FILE", known=WORLDS, help="restaurant, bakery, or a world file (YAML).")
    ] = "restaurant"
    accept: Annotated[float, Option(min=0, max=1, help="Probability that the user accepts an offer (tasks 3, 5).")] = (
        0.25
    )
    min_results: Annotated[
        str, Option(help="Minimum number of results for a query (tasks 3, 5), or per task, for example 3:3,5:1.")
    ] = "3"

    def parameters(self, seed: int, **more: Any) -> restaurant.Parameters:
        """The parameters of a simulation."""
        least = _least_results(self.min_results)
        return restaurant.Parameters(seed=seed, accept=self.accept, min_results=least, **more)


def task_numbers(text: str, *, most: int) -> list[int]:
    """``1-3,5`` as a list of numbers, in order."""
    numbers: list[int] = []
    for piece in text.split(","):
        bounds = re.fullmatch(rf"\s*([1-{most}])\s*(?:-\s*([1-{most}])\s*)?", piece)
        if not bounds or (bounds[2] and bounds[1] > bounds[2]):
            raise DialgaugeError(
                f"--tasks expects numbers from 1 to {most}, for example 1-{most} or 1,3 (got '{text}')"
            )
        numbers += range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1)
    return list(dict.fromkeys(numbers))


def _least_results(text: str) -> int | dict[int, int]:
    """``3``, or ``3:3,5:1`` as task to number."""
    if re.fullmatch(r"\s*\d{1,9}\s*", text):
        return int(text)
    least: dict[int, int] = {}
    for piece in text.split(","):
        parts = re.fullmatch(r"\s*(\d+):(\d{1,9})\s*", piece)
        if not parts:
            raise DialgaugeError(f"--min-results expects a number, or TASK:NUMBER such as 5:1 (got '{text}')")
        least[int(parts[1])] = int(parts[2])
    return least


def tell(line: str) -> None:
    """Print a line about progress on standard error."""
    err.print(line, style="dim")


def keep_inputs(outputs: Mapping[str, Path | None], inputs: Iterable[str | Path]) -> None:
    """Refuse to write over what is read, by whatever name, and to write two things into one file."""
    sources = [Path(str(name).partition("!")[0]) for name in inputs]
    taken: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None or str(path) == "-":
            continue
        source = next((each for each in sources if _same_file(path, each)), None)
        if source is not None:
            raise DialgaugeError(
                f"{option} would overwrite {source}, an input of this command; choose another file", file=str(path)
            )
        resolved = path.resolve()
        if resolved in taken:
            raise DialgaugeError(f"{taken[resolved]} and {option} name the same file; choose two", file=str(path))
        taken[resolved] = option


def _same_file(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # one of them is not there
        return path.resolve() == other.resolve()


def fresh_ranker(model: str, seed: int, options: dict[str, str]) -> rankers.ReplyModel:
    """A model that is still to be fitted, with the options given."""
    ranker = rankers.ranker_class(model)(seed)
    ranker.options = rankers.options_by_model([model], options)[model]
    return ranker


def fitted_ranker(
    task: rankers.RankingTask, model: str | None, folder: Path | None, seed: int | None, options: dict[str, str]
) -> rankers.ReplyModel:
    """The model in the folder, or else a new one fitted on the task."""
    if folder is not None:
        return loaded_ranker(folder, model, seed, options, task)
    ranker = fresh_ranker(model or DEFAULT_MODEL, seed or 0, options)
    rankers.fit_model(ranker, task, tell)
    return ranker


def loaded_ranker(
    folder: Path, model: str | None, seed: int | None, options: dict[str, str], task: rankers.RankingTask | None = None
) -> rankers.ReplyModel:
    """The trained model in the folder; an error if other settings than the device are given."""
    name = next((name for name in options if name != "device"), None)
    if name is not None:
        raise DialgaugeError(f"the loaded model is already trained; '{name}' can no longer be set")
    ranker = rankers.load_ranker(folder, task=task, options=options)
    if model not in (None, ranker.name):
        raise DialgaugeError(f"the folder holds the model {ranker.name}, not {model}; drop --model", file=str(folder))
    if seed not in (None, ranker.seed):
        raise DialgaugeError(f"the model was trained with seed {ranker.seed}; drop the seed", file=str(folder))
    return ranker


def task_of(folder: Path | None, given: int | None, default: int) -> int:
    """The task asked for, else the one the model in the folder was fitted on, else the default."""
    if given is not None or folder is None:
        return given or default
    if (fitted := rankers.fitted_on(folder)) == rankers.LOGS:
        raise DialgaugeError("the model was trained on chat logs; give them with --logs FILE", file=str(folder))
    return fitted
