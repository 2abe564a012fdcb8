"""From the first word of the command line to its module, and from an error to one sentence and an exit code."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress

from dialgauge.cli import COMMANDS
from dialgauge.cli.options import HELP_OPTIONS, AlwaysOn, Argument, CommandGroup, Option
from dialgauge.cli.parse import check_outputs, check_storing, command_name, quick_call, typer_command
from dialgauge.errors import DialgaugeError, Terminated, nearest
from dialgauge.runs import kept_to_the_end
from dialgauge.text import plain

EXIT_INCOMPLETE = 1
EXIT_ERROR = 2
#: 128 and the number of the signal, as shells count.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

_COMPLETION = ("--complete", "--install-completion", "--show-completion")
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
        if _stores_on_request(group, rest):
            check_storing(rest)
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
    except OSError as error:
        # A name that the system does not take, or a place that it does not let anybody look at.
        if debug or error.filename is None:
            raise
        return _say(f"{error.filename}: {error.strerror}")
    except UnicodeEncodeError as error:
        if debug or error.encoding != sys.getfilesystemencoding() or error.encoding == "utf-8":
            raise
        return _say(
            f"the name of a file or folder holds '{error.object[error.start]}', which the locale's encoding "
            f"({error.encoding}) lacks; set PYTHONUTF8=1"
        )
    except KeyboardInterrupt as stop:
        terminated = isinstance(stop, Terminated)
        _say(f"{'terminated' if terminated else 'interrupted'}; finished work is kept")
        return EXIT_TERMINATED if terminated else EXIT_INTERRUPTED
    return outcome if isinstance(outcome, int) else 0


def _stores_on_request(group: CommandGroup, words: list[str]) -> bool:
    """Whether only ``--run`` makes the command store, so that ``--store`` alone asks for nothing.

    Where stored runs may be given instead of files, ``--store`` says where these are.
    """
    from dialgauge.cli.parse import command_parameters

    name = command_name(group, words)
    if name is None or not any(word.startswith("--store") for word in words):
        return False
    parameters = command_parameters(group.commands[name])
    arguments = [one.declaration for one in parameters if isinstance(one.declaration, Argument)]
    takes_runs = any("RUN" in str(one.settings.get("metavar")) for one in arguments)
    return not takes_runs and any(
        isinstance(one.declaration, Option) and one.options == ("--run",) and not isinstance(one.declaration, AlwaysOn)
        for one in parameters
    )


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
