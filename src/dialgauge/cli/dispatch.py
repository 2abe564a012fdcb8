"""From the first word of the command line to its module, and from an error to one sentence and an exit code."""

from __future__ import annotations

import importlib
import sys

import typer
import typer.main
from typer.exceptions import TyperException

from dialgauge.cli import COMMANDS
from dialgauge.errors import DialgaugeError, nearest

EXIT_INCOMPLETE = 1
EXIT_ERROR = 2


def run(arguments: list[str], *, debug: bool) -> int:
    """Run one command and give the exit code."""
    name, rest = arguments[0], arguments[1:]
    try:
        if name not in COMMANDS:
            raise DialgaugeError(f"there is no command '{name}'.{nearest(name, COMMANDS)}")
        app = importlib.import_module(f"dialgauge.cli.{name}").app
        command = typer.main.get_command(app)
        # Not command.main(): it would turn an interrupt and a closed pipe into exit codes of its own.
        with command.make_context(f"dialgauge {name}", rest) as context:
            outcome = command.invoke(context)
        return outcome if isinstance(outcome, int) else 0
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return _say("stopped")
    except TyperException as error:
        if debug:
            raise
        message = error.format_message()  # empty when the help page was the answer, to a command without arguments
        where = getattr(error, "ctx", None)  # the command it happened in, which may be one of a group
        called = f"dialgauge {name}" if where is None else where.command_path
        return _say(f"{message} ('{called} --help' shows how to call it)") if message else EXIT_ERROR
    except DialgaugeError as error:
        if debug:
            raise
        return _say(str(error))
    except KeyboardInterrupt:
        _say("stopped by the keyboard; finished work is kept")
        return 130


def _say(message: str) -> int:
    """One line on standard error; control characters, which names in files may hold, cannot act on the terminal."""
    line = "".join(char if char.isprintable() else "\ufffd" for char in " ".join(message.split()))
    sys.stderr.write(f"dialgauge: {line}\n")
    return EXIT_ERROR
