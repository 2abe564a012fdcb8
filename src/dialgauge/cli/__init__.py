"""The command line. One module per command group, imported only when that command runs.

``dialgauge --help`` must answer at once, so this module imports nothing heavy: it knows each command's name and one
line about it; the module ``dialgauge.cli.NAME`` declares the command's options in a group called ``app``.
"""

from __future__ import annotations

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
    "reproduce": "every table and figure of a paper, theirs beside ours",
    "runs": "the run store: list, show, remove, compare",
    "sql": "SQL over all stored runs",
}


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
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; the rest goes nowhere, also what Python still holds when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:  # while a command's modules were still being imported; dispatch answers later ones
        sys.stderr.write("dialgauge: stopped by the keyboard\n")
        code = 130
    sys.exit(code)


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
