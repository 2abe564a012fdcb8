"""From the first word of the command line to its module, and from an error to one sentence and an exit code."""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dialgauge.cli import COMMANDS
from dialgauge.cli.options import HELP_OPTIONS, AlwaysOn, CommandGroup
from dialgauge.cli.parse import (
    Words,
    check_outputs,
    check_together,
    command_name,
    command_parameters,
    given_values,
    keyword_arguments,
    read_words,
    unknown_group_option,
)
from dialgauge.errors import DialgaugeError, Terminated, nearest
from dialgauge.runs import kept_to_the_end
from dialgauge.text import plain

EXIT_INCOMPLETE = 1
EXIT_ERROR = 2
#: 128 and the number of the signal, as shells count.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

_COMPLETION = ("--complete", "--install-completion", "--show-completion")
#: Options that read from the store, write to it themselves, or leave nothing to store.
_USE_STORE = {"--from", "--fail-on-drop", "--view", "--systems", "--run"}


def run(arguments: list[str], *, debug: bool, project_file: bool = True) -> int:
    """Run one command and give the exit code: what the command returns or raises ``SystemExit`` with, else 0."""
    name, rest = arguments[0], arguments[1:]
    try:
        if name in _COMPLETION:
            from dialgauge.cli.completion import completion

            return completion(name, rest)
        if name not in COMMANDS:
            raise DialgaugeError(f"unknown command '{name}'.{nearest(name, COMMANDS)}")
        group = importlib.import_module(f"dialgauge.cli.{name}").app
        rest = group.usual(rest)
        inner = command_name(group, rest)
        if inner is None:
            return _without_command(group, name, rest)
        outcome = _run_command(group, name, inner, rest, project_file=project_file)
    except SystemExit as stop:
        outcome = stop.code
    except DialgaugeError as error:
        if debug:
            raise
        return _say(error.sentence(), error.example)
    except BrokenPipeError:
        raise
    except Exception as error:
        sentence = "" if debug else _system_sentence(error)
        if not sentence:
            raise
        return _say(sentence)
    except KeyboardInterrupt as stop:
        terminated = isinstance(stop, Terminated)
        _say(f"{'terminated' if terminated else 'interrupted'}; what was stored is kept")
        return EXIT_TERMINATED if terminated else EXIT_INTERRUPTED
    return outcome if isinstance(outcome, int) else 0


def _system_sentence(error: Exception) -> str:
    """The sentence for an error of the operating system; empty for all other errors."""
    if isinstance(error, UnicodeEncodeError) and error.encoding == sys.getfilesystemencoding() != "utf-8":
        return (
            f"the name of a file or folder holds '{error.object[error.start]}', which the locale's encoding "
            f"({error.encoding}) lacks; set PYTHONUTF8=1"
        )
    from dialgauge.files import reason

    if not isinstance(error, OSError):
        return ""
    system = error
    if system.errno in (errno.EMFILE, errno.ENFILE):
        return f"{reason(system)}; use fewer --workers, or raise the limit with 'ulimit -n'"
    if system.filename is not None:
        return f"{system.filename}: {reason(system)}"
    return ""


def _run_command(group: CommandGroup, name: str, inner: str, words: list[str], *, project_file: bool) -> object:
    command, single = group.find(inner) or group.commands[inner], group.single
    called = f"dialgauge {name}" if single else f"dialgauge {name} {inner}"
    given = read_words(called, command, words if single else words[1:])
    if given.help:
        from dialgauge.cli.help_pages import command_page

        sys.stdout.write(command_page(called, command))
        return 0
    added = ["--run"] if stores_by_name(command, given) else []
    if project_file:
        added += _project_words(group, name, inner, given)
    if added:
        before = read_words(called, command, added)
        given = given._replace(options=[*before.options, *given.options])
    values = given_values(called, command, given)
    check_together(command, given)
    check_outputs(command, values)
    arguments = keyword_arguments(command, values)
    with kept_to_the_end():
        return command(**arguments)


def stores_by_name(command: Callable[..., object], given: Words) -> bool:
    """Whether ``--store`` was typed to say where the results go, so that it means ``--run``.

    It says where stored runs are instead, where any are named: after an option, or as arguments that are no files. The
    store of a project file is a default, and stores nothing.
    """
    if "--store" not in given.named or given.named & _USE_STORE:
        return False
    parameters = command_parameters(command)
    stores = any(
        parameter.options == ("--run",) and not isinstance(parameter.declaration, AlwaysOn) for parameter in parameters
    )
    if stores and any("RUN" in parameter.value_name for parameter in parameters if not parameter.is_option):
        return any(Path(word).exists() for word in given.places)
    return stores


def _project_words(group: CommandGroup, name: str, inner: str, given: Words) -> list[str]:
    """The words that the project file adds; prints which."""
    from dialgauge.cli.project_file import find_project_file, project_words

    path = find_project_file()
    added = [] if path is None else project_words(path, group, name, inner, given.named)
    if added:
        _tell(f"{path} sets {' '.join(added)} (--no-project-file ignores it)")
    return added


def _without_command(group: CommandGroup, name: str, words: list[str]) -> int:
    """Answer a group named without a command: print its help page, or name the nearest command in an error."""
    unknown_group_option(f"dialgauge {name}", words)
    if words and words[0] not in HELP_OPTIONS:
        raise DialgaugeError(f"unknown command '{name} {words[0]}'.{nearest(words[0], group.commands)}")
    from dialgauge.cli.help_pages import group_page

    sys.stdout.write(group_page(f"dialgauge {name}", group))
    return 0 if words else EXIT_ERROR


def _say(message: str, example: str = "") -> int:
    """One line on standard error; control characters, which names in files may hold, cannot act on the terminal.

    An example of what would do follows in lines of its own.
    """
    _tell(f"dialgauge: {message}")
    if example:
        with suppress(OSError):
            sys.stderr.write("".join(f"  {plain(line)}\n" for line in example.split("\n")))
            sys.stderr.flush()
    return EXIT_ERROR


def _tell(message: str) -> None:
    with suppress(OSError):  # where nobody can be told, the exit code has to say it
        sys.stderr.write(f"{plain(' '.join(message.split()))}\n")
        sys.stderr.flush()
