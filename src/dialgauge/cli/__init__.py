"""The command line. One module per command group, imported only when that command runs.

``dialgauge --help`` must answer at once, so this module imports nothing heavy: it knows each command's name and one
line about it; the module ``dialgauge.cli.NAME`` declares the command's options in a group called ``app``.
"""

from __future__ import annotations

import errno
import os
import sys

#: Command, and the one line the overview shows. The order is the order of a newcomer's questions.
COMMANDS = {
    "demo": "the guided tour: a simulated world tracked, answered and compared, with a report",
    "data": "what is this file, what is in it, what is wrong with it; convert and fetch datasets",
    "score": "state-tracking scores of predictions against gold, with intervals and signatures",
    "compare": "which system is better, by which measure, and is it more than noise",
    "babi": "the bAbI restaurant tasks: simulate them, convert to them, evaluate bots on them",
    "users": "simulated users: GCDF1 scores, explanations, figures, and finding conversations",
    "tasks": "was the job done? Inform, Success, BLEU of recorded responses, and what they hide",
    "lab": "systems and users in conversation: held, recorded once, scored in every way there is",
    "explore": "the run store as web pages: scores, dialogues, runs side by side",
    "report": "runs as one HTML file to mail, and as Markdown for a pull request",
    "leaderboard": "all runs of a store as one static page, ranked where they were measured alike",
    "reproduce": "every table and figure of a paper, theirs beside ours",
    "runs": "the run store: list, show, remove, compare",
    "sql": "SQL over all stored runs",
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
            "Measures task-oriented dialogue: trackers, bots, simulated users, whole systems.",
            "",
            "Commands:",
            *lines,
            "",
            "Options:",
            "  --help     this page; 'dialgauge COMMAND --help' for one command",
            "  --version  the version",
            "  --debug    show the traceback of an error (before or after the command)",
        ]
    )


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 ran but scores are incomplete, 2 an error the user can fix."""
    _prepare_streams()
    if sys.stdout is None:
        _say("standard output is closed, so nothing could be shown; send it to a file or to /dev/null")
        sys.exit(2)
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
    except BrokenPipeError:  # whoever read the output has seen enough
        code = 0
    except OSError as error:
        if error.filename is not None or error.errno not in _UNWRITABLE:
            raise
        _say(f"standard output cannot be written ({error.strerror})")
        code = 2
    except KeyboardInterrupt:  # while a command's modules were still being imported; dispatch answers later ones
        _say("stopped by the keyboard")
        code = 130
    sys.exit(_flushed(code))


def _prepare_streams() -> None:
    """Make the standard streams safe to write to, whatever they are.

    The number of a closed stream would go to the next file that is opened, and what is meant for the stream into it.
    What an encoding cannot say is replaced.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") == "strict":
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


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
                _say(f"standard output cannot be written ({error.strerror})")
            code = 2
    return code


def _say(message: str) -> None:
    try:
        sys.stderr.write(f"dialgauge: {message}\n")
    except OSError:
        return  # the exit code has to say it


def _run(arguments: list[str]) -> int:
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        sys.stdout.write(overview() + "\n")
        return 0
    if arguments[0] in ("--version", "-V"):
        from dialgauge._version import __version__

        sys.stdout.write(f"dialgauge {__version__}\n")
        return 0
    if arguments[0] != "babi":  # its rankers multiply matrices; all others count, and the same on any number of cores
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from dialgauge.cli.dispatch import run

    return run(arguments, debug=debug)
