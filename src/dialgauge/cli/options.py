"""How a command declares what it takes.

    app = application("State-tracking scores.")

    @app.command()
    def score(
        files: Annotated[list[str], Argument(metavar="PRED...", help="Prediction files.")],
        seed: Annotated[int, Option("--seed", "-s", min=0, help="Seed of the resampling.")] = 0,
    ) -> None:
        ...

A command of a group may have a file of its own: in ``cli/lab_blame.py`` the decorator ``@command()`` makes a function
the command ``dialgauge lab blame``, where ``cli/lab.py`` has ``app = application("...", parts=__name__)``.

A parameter may also be a bundle: a Struct whose fields are such options, for what several commands take together
(``cli/common.py`` has the usual ones). ``cli/parse.py`` reads calls by these declarations, ``cli/help_pages.py`` and
``cli/completion.py`` show them, and ``cli/project_file.py`` takes defaults for them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

if TYPE_CHECKING:
    from dialgauge.cli.choices import KnownNames

Command = TypeVar("Command", bound=Callable[..., object])

#: What asks for the help page of any command or group; no command may use these for anything else.
HELP_OPTIONS = ("-h", "--help")


class Settings(TypedDict, total=False):
    """What is declared of a parameter besides its names."""

    help: str
    #: What stands for the value on the help page.
    metavar: str
    min: float
    max: float
    #: Whether the bounds themselves are no values.
    exclusive: bool
    #: A usual value, where the bounds alone are no help.
    example: float
    #: The reason for the lower bound, where a user may wonder.
    why: str
    #: The names that it may be.
    known: KnownNames
    #: Options that it cannot be given together with; those that the command does not have do not matter. A bundle
    #: declares for all its options by a class variable of this name.
    not_with: tuple[str, ...]
    #: Options one of which must be given in its absence, and none together with it.
    unless: tuple[str, ...]
    #: Why others have no use beside it: the beginning of the sentence that says which to leave out.
    alone: str
    #: The option that it has no meaning without.
    needs: str


class Declaration:
    """The names of a parameter on the command line, and its settings."""

    def __init__(self, *names: str, **settings: Unpack[Settings]) -> None:
        self.names = names
        self.settings = settings


class Option(Declaration):
    """A parameter given by name. Unless named, ``per_dialogue`` is ``--per-dialogue``."""


class AlwaysOn(Option):
    """A flag for what the command does anyway: a script may ask for it in the same way everywhere."""


#: The most of something that a command makes when asked to: far above any use, and below what fills a machine's memory
#: or starts a hundred thousand processes. docs/decisions/command-line.md.
MOST = {
    "raters": 1_000,
    "goals": 100_000,
    "trials": 100,
    "dialogues": 100_000,
    "dialogues read": 10_000_000,
    "exchanges": 10_000,
    "turns": 1_000_000,
    "epochs": 10_000,
    "seeds": 1_000,
    "resamples": 1_000_000,
    "workers": 512,
}


class WholeNumber(Option):
    """An option that says how many ``of`` something the command makes; its upper bound is that of :data:`MOST`."""

    def __init__(self, *names: str, of: str, **settings: Unpack[Settings]) -> None:
        settings["max"] = MOST[of]
        super().__init__(*names, **settings)


class OutputFile(Option):
    """An option that names a file to write: what cannot be written is refused before the command begins."""


class OutputFolder(Option):
    """The same for a folder that files are written into."""


class Argument(Declaration):
    """A parameter given by its place."""


class CommandGroup:
    """The commands behind one word, as in ``dialgauge lab run``; a group of one command needs no second word."""

    def __init__(self, help: str, also: Mapping[str, str] | None = None, parts: str = "") -> None:
        self.help = help
        self.own: dict[str, Callable[..., object]] = {}
        #: Another word for a command, to the command.
        self.also = dict(also or {})
        self._module = parts
        self._modules = _part_modules(parts) if parts else []

    @property
    def commands(self) -> dict[str, Callable[..., object]]:
        """All commands in the order of the help page: those of the group's own file first."""
        made = dict(self.own)
        for module in self._modules:
            made |= _part(module)
        return made

    @property
    def single(self) -> bool:
        """Is the word a command by itself?"""
        return not self._modules and len(self.own) == 1

    def find(self, name: str) -> Callable[..., object] | None:
        """A command by name; imports only the file it is in."""
        module = f"{self._module}_{name.replace('-', '_')}"
        known = self.own.get(name) or (_part(module).get(name) if module in self._modules else None)
        return known or self.commands.get(name)

    def usual(self, words: Sequence[str]) -> list[str]:
        """The words with an alias of a command replaced by its name."""
        return [self.also.get(words[0], words[0]), *words[1:]] if words else []

    def command(self, name: str | None = None) -> Callable[[Command], Command]:
        """Register a function under a name; unless given, its own."""
        return _registering(self.own, name)


#: The commands in files of their own, by the module of each.
_PARTS: dict[str, dict[str, Callable[..., object]]] = {}


def command(name: str | None = None) -> Callable[[Command], Command]:
    """Make a function the command of a group that its file is named after: ``cli/lab_blame.py`` is of ``lab``."""

    def register(function: Command) -> Command:
        return _registering(_PARTS.setdefault(function.__module__, {}), name)(function)

    return register


def application(help: str, also: Mapping[str, str] | None = None, *, parts: str = "") -> CommandGroup:
    """What a command's module calls ``app``; ``also`` are other words for its commands.

    ``parts`` is the module itself where commands of the group have files of their own, which are imported when needed.
    """
    return CommandGroup(help, also, parts)


def _part(module: str) -> dict[str, Callable[..., object]]:
    """The commands in a file of their own."""
    importlib.import_module(module)
    return _PARTS.get(module, {})


def _registering(commands: dict[str, Callable[..., object]], name: str | None) -> Callable[[Command], Command]:
    def register(function: Command) -> Command:
        commands[name or function.__name__.lower().replace("_", "-")] = function
        return function

    return register


def _part_modules(module: str) -> list[str]:
    """The modules beside a group's own whose names begin with its name, in alphabetical order."""
    package, _, word = module.rpartition(".")
    files = (file for folder in sys.modules[package].__path__ for file in Path(folder).glob(f"{word}_*.py"))
    return [f"{package}.{name}" for name in sorted(file.stem for file in files)]
