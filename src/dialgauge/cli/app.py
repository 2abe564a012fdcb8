"""The program as click knows it: lazy commands, the project file's defaults, errors as sentences with an exit code."""

from __future__ import annotations

import errno
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from glob import iglob
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

import click
from click.shell_completion import shell_complete

from dialgauge.cli import COMMANDS, module_of
from dialgauge.cli.options import FILE, FOLDER, Advanced, long_name
from dialgauge.errors import DialgaugeError, Terminated, nearest
from dialgauge.files import reason

EXIT_INCOMPLETE = 1
EXIT_ERROR = 2
#: 128 and the number of the signal, as shells count.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

_HELP = {"help_option_names": ["-h", "--help"], "terminal_width": 79, "show_default": True}
#: The range that click adds to the help of a number; the error for a number outside repeats it.
_RANGE = re.compile(r"(?:; |  \[)(?:[\d.]+<=?)?x(?:[<>]=?[\d.]+)?\]")
#: What the system says of a stream that takes no more.
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class Command(click.Command):
    """A command: defaults from the project file, rare options last on its page, no output over an input."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **{"context_settings": _HELP, **settings})

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of a call, with what the project file sets for it."""
        from dialgauge.cli.project_file import project_defaults

        path = None
        if parent is not None and parent.find_root().obj and not {"-h", "--help"} & {*args}:
            words = [*_words(parent), info_name or ""]
            path, extra["default_map"] = project_defaults(self, words)
        context = super().make_context(info_name, args, parent, **extra)
        if path is not None:
            set_here = extra["default_map"]
            taken = [
                long_name(each) if value is True else f"{long_name(each)}={value}"
                for each in self.params
                if context.get_parameter_source(each.name) is click.core.ParameterSource.DEFAULT_MAP
                for value in (set_here[each.name] if each.multiple else [set_here[each.name]])
            ]
            if taken:
                say(f"{path} sets {' '.join(taken)} (--no-project-file ignores it)")
        return context

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The usual options, then the rare ones."""
        usual = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        rare = [each for each in usual if isinstance(each, Advanced)]
        for title, listed in (("Options", [each for each in usual if each not in rare]), ("Advanced", rare)):
            records = [
                (names, _RANGE.sub(lambda found: "]" if found[0].startswith(";") else "", text))
                for each in listed
                for names, text in filter(None, [each.get_help_record(ctx)])
            ]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records, col_max=27)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        _check_outputs(self, ctx.params)
        return super().invoke(ctx)


class Group(click.Group):
    """Commands behind one word, as in ``dialgauge lab run``."""

    command_class = Command


class Program(click.Group):
    """All commands, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_named(cmd_name) if cmd_name in COMMANDS else None


def command_named(word: str) -> click.Command:
    """The command or group of a first word."""
    command: click.Command = getattr(importlib.import_module(module_of(word)), word)
    return command


def commands_of(word: str) -> dict[str, click.Command]:
    """The commands behind a first word, by their full names."""
    command = command_named(word)
    if isinstance(command, click.Group):
        return {f"{word} {name}": each for name, each in command.commands.items()}
    return {word: command}


def run(words: list[str]) -> int:
    """Run one command; the exit code."""
    _prepare_streams()
    if sys.stdout is None:
        say("dialgauge: standard output is closed; redirect it to a file or to /dev/null")
        return EXIT_ERROR
    program = Program("dialgauge", context_settings=_HELP)
    if instruction := os.environ.get("_DIALGAUGE_COMPLETE"):
        return shell_complete(program, {}, "dialgauge", "_DIALGAUGE_COMPLETE", instruction)
    from dialgauge.cli.screen import out

    everywhere = {word: word in words for word in ("--debug", "--no-project-file", "--wide")}
    debug, project_file, out.wide = everywhere["--debug"], not everywhere["--no-project-file"], everywhere["--wide"]
    words = [word for word in words if word not in everywhere]
    try:
        code = _answered(program, words, project_file=project_file)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt as stop:
        terminated = isinstance(stop, Terminated)
        say(f"dialgauge: {'terminated' if terminated else 'interrupted'}; what was stored is kept")
        code = EXIT_TERMINATED if terminated else EXIT_INTERRUPTED
    except BrokenPipeError:  # whoever read the output has seen enough
        code = 0
    except Exception as error:
        sentence, example = ("", "") if debug else _sentence(error)
        if not sentence:
            raise
        say(f"dialgauge: {sentence}", example)
        code = EXIT_ERROR
    return flushed(code)


def _answered(program: Program, words: list[str], *, project_file: bool) -> int:
    try:
        with program.make_context("dialgauge", words, obj=project_file) as context:
            outcome = program.invoke(context)
    except click.exceptions.NoArgsIsHelpError as page:
        click.echo(page.format_message())
        return EXIT_ERROR
    except click.exceptions.Exit as stop:
        return stop.exit_code
    return outcome if isinstance(outcome, int) else 0


def _sentence(error: Exception) -> tuple[str, str]:
    """What is said of an error that a user can mend, and an example; empty for a bug."""
    if isinstance(error, DialgaugeError):
        return error.sentence(), error.example
    if isinstance(error, click.exceptions.NoSuchCommand) and error.ctx is not None:
        known = error.ctx.command.list_commands(error.ctx) if isinstance(error.ctx.command, click.Group) else []
        return f"unknown command '{error.command_name}'.{nearest(error.command_name, known)}", ""
    if isinstance(error, click.exceptions.NoSuchOption):
        own = error.ctx.command.params if error.ctx is not None else []
        known = [name for each in own if isinstance(each, click.Option) for name in each.opts]
        near = nearest(error.option_name, known, likeness=0.7, listed=False)
        return f"unknown option {error.option_name}.{near or _shows_how(error)}", ""
    if isinstance(error, click.UsageError):
        message = error.format_message().removesuffix(".")
        return f"{message[:1].lower()}{message[1:]}.{_shows_how(error)}", ""
    return _system_sentence(error), ""


def _shows_how(error: click.UsageError) -> str:
    return f" '{error.ctx.command_path} --help' shows how to call it." if error.ctx is not None else ""


def _system_sentence(error: Exception) -> str:
    """The sentence for an error of the operating system; empty for all other errors."""
    if not isinstance(error, OSError):
        return ""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{reason(error)}; use fewer --workers, or raise the limit with 'ulimit -n'"
    if error.filename is not None:
        return f"{error.filename}: {reason(error)}"
    if error.errno in _UNWRITABLE:
        return f"standard output cannot be written ({reason(error)})"
    return ""


def say(message: str, example: str = "") -> None:
    """One line on standard error, with nothing that acts on the terminal; an example follows in lines of its own."""
    from dialgauge.text import plain, without_secrets

    lines = [
        plain(" ".join(without_secrets(message).split())),
        *(f"  {plain(line)}" for line in example.split("\n") if example),
    ]
    with suppress(OSError):  # where nobody can be told, the exit code has to say it
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()


def _words(context: click.Context) -> list[str]:
    """The words that name the commands of a context, without the program's."""
    return [] if context.parent is None else [*_words(context.parent), context.info_name or ""]


# Files and streams


def _check_outputs(command: click.Command, given: dict[str, Any]) -> None:
    """Refuse to write over what is read, and to write two things into one file."""
    outputs = {
        long_name(each): given[each.name].resolve()
        for each in command.params
        if each.type is FILE and given.get(each.name) is not None and str(given[each.name]) != "-"
    }
    inputs = [each for each in command.params if each.type not in (FILE, FOLDER)]
    read = {path for each in inputs for path in _paths(given.get(str(each.name)))}
    for name, path in outputs.items():
        if other := next((other for other, its in outputs.items() if other != name and its == path), None):
            raise DialgaugeError(f"{name} and {other} name the same file; choose two", file=str(path))
        if path.is_file() and not read.isdisjoint({path, *path.parents}):
            raise DialgaugeError(
                f"{name} would overwrite an input of this command; choose another file", file=str(path)
            )


def _paths(value: Any) -> Iterator[Path]:
    """The files that a value names, also as NAME=FILE, and the folders that texts do."""
    for each in value if isinstance(value, list | tuple) else [value]:
        for name in (each, each.partition("=")[2]) if isinstance(each, str) else (each,):
            with suppress(OSError, ValueError, RuntimeError):
                if isinstance(name, Path) and name.is_file():
                    yield name.resolve()
                elif isinstance(name, str) and name:
                    yield from (Path(each).resolve() for each in (name, *iglob(name)))


def _prepare_streams() -> None:
    """Replace letters that the standard streams lack; keep descriptors 0 to 2 occupied, so that no file gets them."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - as long as the process lives
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def flushed(code: int) -> int:
    """The exit code once all output has left; output that cannot leave is an error, unless its reader has left."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            code = unwritten(stream, error, code)
    return code


def unwritten(stream: TextIO, error: OSError, code: int = 0) -> int:
    """The exit code where a stream takes no more: an error, unless its reader has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # for what Python holds when it ends
    if isinstance(error, BrokenPipeError):
        return code
    if code != EXIT_ERROR:
        say(f"dialgauge: standard output cannot be written ({reason(error)})")
    return EXIT_ERROR


def group(name: str, help: str) -> Group:
    """A group of commands behind one word."""
    return Group(name, help=help, context_settings=_HELP)


def command(name: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command of its own word."""
    return click.command(name, cls=Command)
