"""The command line. One module per command group, imported only when that command runs.

``dialgauge --help`` must answer at once, so this module imports nothing heavy: it knows each command's name and one
line about it; the module ``dialgauge.cli.NAME`` declares the command's options in a group called ``app``.
"""

from __future__ import annotations

import atexit
import errno
import os
import signal
import sys
from io import TextIOWrapper

from dialgauge._lazy import lazy
from dialgauge._version import __version__
from dialgauge.errors import Terminated, terminate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.cli.completion import completions as completions
    from dialgauge.cli.dispatch import stores_by_name as stores_by_name
    from dialgauge.cli.gates import Threshold as Threshold
    from dialgauge.cli.help_pages import command_page as command_page
    from dialgauge.cli.options import (
        AlwaysOn as AlwaysOn,
        Argument as Argument,
        CommandGroup as CommandGroup,
        Declaration as Declaration,
        Option as Option,
        OutputFile as OutputFile,
        OutputFolder as OutputFolder,
        application as application,
    )
    from dialgauge.cli.parse import (
        CommandParameter as CommandParameter,
        changed_options as changed_options,
        check_together as check_together,
        command_parameters as command_parameters,
        given_values as given_values,
        keyword_arguments as keyword_arguments,
        read_words as read_words,
    )
    from dialgauge.cli.project_file import (
        SHARED as SHARED,
        TYPED_ONLY as TYPED_ONLY,
        find_project_file as find_project_file,
    )
    from dialgauge.cli.screen import confirm as confirm
    from dialgauge.cli.sql import frame_csv as frame_csv, frame_json as frame_json
    from dialgauge.cli.writing import frame_table as frame_table


#: Command, and the one line the overview shows. The order is the order of a newcomer's questions.
COMMANDS = {
    "demo": "guided tour: simulate, track, answer, compare, write a report",
    "init": "a folder to begin in: project file, example files, notebook",
    "data": "inspect, check and convert dialogue files; download datasets",
    "score": "score state-tracking predictions against gold, with intervals",
    "show": "everything there is to see of a stored run",
    "compare": "which system is better, by which measure, and is it noise?",
    "babi": "bAbI restaurant tasks: simulate them, convert to them, test bots",
    "users": "simulated users: GCDF1 scores, explanations, figures, search",
    "tasks": "was the job done? Inform, Success, BLEU, pass^k, what they hide",
    "review": "can I trust this agent's log? One page, without a language model",
    "lab": "let systems and simulated users talk, and score the result",
    "explore": "browse the run store in a web browser",
    "report": "write runs as one HTML file, or as Markdown for a pull request",
    "reproduce": "recompute the tables and figures of a paper, next to theirs",
    "runs": "the run store: list, show, annotate, copy, remove",
    "sql": "query all stored runs with SQL",
    "explain": "what profiles, measures and behaviours mean",
}


#: What the system says of a stream that takes no more. Files that cannot be written are told by whoever writes them.
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def overview() -> str:
    """The text of ``dialgauge --help``."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {line}" for name, line in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: dialgauge COMMAND ...",
            "",
            "Measures task-oriented dialogue: trackers, bots, simulated users, systems.",
            "",
            "Commands:",
            *lines,
            "",
            "Options:",
            "  -h, --help                    this page; see also 'dialgauge COMMAND --help'",
            "  --version                     print the version",
            "  --debug                       show the traceback of an error",
            "  --no-project-file             ignore dialgauge.toml",
            "  --install-completion [SHELL]  install tab completion for bash, zsh or fish",
            "  --show-completion [SHELL]     print the completion script",
            "",
            "Exit codes:",
            "  0 done; 1 done, but scores are incomplete; 2 error;",
            "  3 a --fail-under or --fail-on-drop check failed",
        ]
    )


def program() -> None:
    """The script ``dialgauge`` and ``python -m dialgauge``, after which nothing comes.

    The process ends without taking its memory apart, a tenth of the time of a large command. That is registered before
    anything else, so it comes after whatever else waits for the end: threads, pools, temporary folders; and it does not
    come where something went wrong that Python itself has to tell.
    """
    ended: list[int] = []
    atexit.register(lambda: os._exit(ended[0]) if ended else None)
    _stop_as_from_the_keyboard()
    ended.append(_exit_code(sys.argv[1:]))
    sys.exit(ended[0])


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit.

    0 done, 1 ran but scores are incomplete, 2 an error the user can fix, 3 a check of --fail-under or --fail-on-drop
    failed, 130 Ctrl-C, 143 SIGTERM.
    """
    if argv is None:
        _stop_as_from_the_keyboard()
    sys.exit(_exit_code(sys.argv[1:] if argv is None else argv))


def _exit_code(argv: list[str]) -> int:
    _prepare_streams()
    if sys.stdout is None:
        _say("standard output is closed; redirect it to a file or to /dev/null")
        return 2
    try:
        code = _run(list(argv))
    except BrokenPipeError:  # whoever read the output has seen enough
        code = 0
    except OSError as error:
        if error.filename is not None or error.errno not in _UNWRITABLE:
            raise
        _say_unwritable(error)
        code = 2
    except KeyboardInterrupt as stop:  # while modules were still being imported; dispatch answers later ones
        terminated = isinstance(stop, Terminated)
        _say("terminated" if terminated else "interrupted")
        code = 143 if terminated else 130
    return _flushed(code)


def _stop_as_from_the_keyboard() -> None:
    """Let a plain ``kill`` end the program as Ctrl-C does: finished work is kept.

    Only the exit code tells them apart: 143, not 130.
    """
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)


def _prepare_streams() -> None:
    """Make the standard streams safe to write to, whatever they are.

    The number of a closed stream would go to the next file that is opened, and what is meant for the stream into it.
    What an encoding cannot say is replaced. The locale C names no encoding: as Python does unless PYTHONUTF8=0 forbids
    it, we take UTF-8.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - as long as the process lives
    nameless = getattr(sys.stdout, "errors", "") == "surrogateescape"  # which Python sets in the locale C only
    for stream, errors in ((sys.stdin, "strict"), (sys.stdout, "replace"), (sys.stderr, "replace")):
        if isinstance(stream, TextIOWrapper):
            if nameless:
                stream.reconfigure(encoding="utf-8", errors=errors)
            elif stream.errors == "strict":
                stream.reconfigure(errors=errors)


def _flushed(code: int) -> int:
    """The exit code once all output has left; output that cannot leave is an error, unless its reader has left."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            # The rest goes nowhere, also what Python still holds when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if isinstance(error, BrokenPipeError):
                continue
            if stream is sys.stdout and code != 2:
                _say_unwritable(error)
            code = 2
    return code


def _say_unwritable(error: OSError) -> None:
    from dialgauge.files import reason

    _say(f"standard output cannot be written ({reason(error)})")


def _say(message: str) -> None:
    try:
        sys.stderr.write(f"dialgauge: {message}\n")
    except OSError:
        return  # the exit code has to say it


def _run(arguments: list[str]) -> int:
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    project_file = "--no-project-file" not in arguments
    if not project_file:
        arguments.remove("--no-project-file")
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        sys.stdout.write(overview() + "\n")
        return 0
    if arguments[0] in ("--version", "-V"):
        sys.stdout.write(f"dialgauge {__version__}\n")
        return 0
    if arguments[0] != "babi":  # its rankers multiply matrices; all others count, and the same on any number of cores
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from dialgauge.cli.dispatch import run

    return run(arguments, debug=debug, project_file=project_file)


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
