"""From the first word of the command line to its module, and from an error to one sentence and an exit code."""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dialgauge.cli import COMMANDS
from dialgauge.cli.options import HELP_OPTIONS, AlwaysOn, Argument, CommandGroup
from dialgauge.cli.parse import (
    argument_words,
    check_outputs,
    check_paths,
    command_name,
    command_parameters,
    quick_call,
    typer_command,
)
from dialgauge.errors import DialgaugeError, Terminated, nearest
from dialgauge.files import reason, system_error
from dialgauge.runs import kept_to_the_end
from dialgauge.text import plain

EXIT_INCOMPLETE = 1
EXIT_ERROR = 2
#: 128 and the number of the signal, as shells count.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

_COMPLETION = ("--complete", "--install-completion", "--show-completion")
#: Options that read from the store, write to it themselves, or leave nothing to store.
_USE_STORE = ("--from", "--fail-on-drop", "--view", "--systems", *HELP_OPTIONS)
#: Commands that a project file says nothing about.
_OWN_DEFAULTS = ("config", "schema")


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
        if (inner := command_name(group, rest)) is not None:
            check_paths(group.commands[inner], rest)
            if _stores_by_name(group.commands[inner], rest):
                rest = _with_words(group, ["--run"], rest)
        if project_file and name not in _OWN_DEFAULTS:
            rest = _with_defaults(group, name, rest)
        call = quick_call(group, rest)
        with kept_to_the_end():
            if call:
                check_outputs(call.func, call.keywords)
                outcome = call()
            else:
                outcome = _with_typer(group, name, rest, debug=debug)
    except SystemExit as stop:
        outcome = stop.code
    except DialgaugeError as error:
        if debug:
            raise
        return _say(str(error))
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
    """What the system does not let anybody do, such as a name that it does not take; empty for all other errors."""
    if isinstance(error, UnicodeEncodeError) and error.encoding == sys.getfilesystemencoding() != "utf-8":
        return (
            f"the name of a file or folder holds '{error.object[error.start]}', which the locale's encoding "
            f"({error.encoding}) lacks; set PYTHONUTF8=1"
        )
    system = system_error(error)
    if system is None:
        return ""
    if system.errno in (errno.EMFILE, errno.ENFILE):
        return f"{reason(system)}; use fewer --workers, or raise the limit with 'ulimit -n'"
    if system.filename is not None:
        return f"{system.filename}: {reason(system)}"
    return "" if isinstance(error, OSError) else f"a table cannot be read or written ({reason(system)})"


def _stores_by_name(command: Callable[..., object], words: list[str]) -> bool:
    """Whether ``--store`` was typed to say where the results go, so that it means ``--run``.

    It says where stored runs are instead, where any are named: after an option, or as arguments that are no files. The
    store of a project file is a default, and stores nothing.
    """
    named = {word.partition("=")[0] for word in words}
    if "--store" not in named or named & {"--run", *_USE_STORE}:
        return False
    parameters = command_parameters(command)
    stores = any(one.options == ("--run",) and not isinstance(one.declaration, AlwaysOn) for one in parameters)
    arguments = [one.declaration for one in parameters if isinstance(one.declaration, Argument)]
    if stores and any("RUN" in str(one.settings.get("metavar")) for one in arguments):
        return any(Path(word).exists() for word in argument_words(command, words))
    return stores


def _with_defaults(group: CommandGroup, name: str, words: list[str]) -> list[str]:
    """The words with those of the project file before them; what was taken is said."""
    from dialgauge.cli.project_file import find_project_file, project_words

    path = find_project_file()
    if path is None or any(word in HELP_OPTIONS for word in words):
        return words
    added = project_words(path, group, name, words)
    if not added:
        return words
    shown = " ".join(added)
    _tell(f"{path} sets {shown} (--no-project-file ignores it)")
    return _with_words(group, added, words)


def _with_words(group: CommandGroup, added: list[str], words: list[str]) -> list[str]:
    """The words with others before them, behind the name of the command."""
    if len(group.commands) == 1:
        return [*added, *words]
    return [words[0], *added, *words[1:]]


def _with_typer(group: CommandGroup, name: str, words: list[str], *, debug: bool) -> object:
    """The help page, the error message, or a call in an uncommon spelling."""
    import typer
    from typer.exceptions import TyperException

    inner = command_name(group, words)
    if inner is None and not (words and words[0].startswith("-")):
        return _without_command(group, name, words)
    made = typer_command(group)
    try:
        # Not made.main(): it would turn an interrupt and a closed pipe into exit codes of its own.
        with made.make_context(f"dialgauge {name}", list(words)) as context:
            return made.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    except TyperException as error:
        if debug:
            raise
        from dialgauge.cli.mistakes import mistake

        called = f"dialgauge {name} {inner}" if inner and len(group.commands) > 1 else f"dialgauge {name}"
        return _say(mistake(error, called, group.commands[inner] if inner else None, words))


def _without_command(group: CommandGroup, name: str, words: list[str]) -> int:
    """A word with several commands, and none of them after it: its page, or which was meant."""
    if words:
        raise DialgaugeError(f"unknown command '{name} {words[0]}'.{nearest(words[0], group.commands)}")
    from dialgauge.cli.help_pages import group_page

    sys.stdout.write(group_page(f"dialgauge {name}", group))
    return EXIT_ERROR


def _say(message: str) -> int:
    """One line on standard error; control characters, which names in files may hold, cannot act on the terminal."""
    _tell(f"dialgauge: {message}")
    return EXIT_ERROR


def _tell(message: str) -> None:
    with suppress(OSError):  # where nobody can be told, the exit code has to say it
        sys.stderr.write(f"{plain(' '.join(message.split()))}\n")
        sys.stderr.flush()
