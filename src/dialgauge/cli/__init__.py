"""The command line, whose modules are imported when their command runs.

``dialgauge --help`` answers before click is imported: this module knows each command's name and one line about it. A
module has the commands of its first words by their names: a command, or a group of them.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

from dialgauge._version import __version__
from dialgauge.errors import terminate

#: Command, and the one line the overview shows. The order is the order of a newcomer's questions.
COMMANDS = {
    "demo": "guided tour: simulate, track, answer, compare, write a report",
    "init": "start a project folder: settings, example files, notebook",
    "data": "inspect, check and convert dialogue files; download datasets",
    "score": "score state-tracking predictions against gold, with intervals",
    "show": "show a stored run: scores, tables, dialogues",
    "compare": "which system is better, by which measure, and is it noise?",
    "babi": "bAbI restaurant tasks: simulate them, convert to them, test bots",
    "users": "simulated users: GCDF1 scores, faults, search, likeness to people",
    "tasks": "was the job done? Inform, Success and BLEU of responses",
    "review": "logs of agents: pass^k, replay, fairness, suspects",
    "lab": "let systems and simulated users talk, and score the result",
    "explore": "browse the run store in a web browser",
    "report": "write runs as one HTML file, or as Markdown for a pull request",
    "reproduce": "check a paper's numbers and claims, ours next to theirs",
    "runs": "the run store: list, tag, copy, remove",
    "sql": "query all stored runs with SQL",
    "explain": "what profiles, measures and behaviours mean",
}

#: Commands that share a module with others.
_MODULES = {
    "init": "start", "demo": "start", "explain": "start", "reproduce": "start", "show": "runs", "compare": "runs",
    "sql": "runs", "explore": "pages", "report": "pages", "review": "tasks",
}  # fmt: skip

_OVERVIEW = """\
Usage: dialgauge COMMAND ...

Measures task-oriented dialogue: trackers, bots, simulated users, systems.

Commands:
{commands}

Options:
  -h, --help         this page; see also 'dialgauge COMMAND --help'
  --version          print the version
  --wide             show every column of a table
  --debug            show the traceback of an error
  --no-project-file  ignore dialgauge.toml

Exit codes:
  0 done; 1 done, but scores are incomplete; 2 error;
  3 a --fail-under or --fail-on-drop check failed
"""


def overview() -> str:
    """The text of ``dialgauge --help``."""
    width = max(map(len, COMMANDS))
    return _OVERVIEW.format(commands="\n".join(f"  {name:<{width}}  {line}" for name, line in COMMANDS.items()))


def module_of(word: str) -> str:
    """The module of a command's first word."""
    return f"dialgauge.cli.{_MODULES.get(word, word)}"


def program() -> None:
    """The script ``dialgauge`` and ``python -m dialgauge``."""
    main()


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit.

    0 done, 1 ran but scores are incomplete, 2 an error the user can fix, 3 a check of --fail-under or --fail-on-drop
    failed, 130 Ctrl-C, 143 SIGTERM.
    """
    if argv is None and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)  # a plain kill ends the program as Ctrl-C does
    sys.exit(_exit_code(sys.argv[1:] if argv is None else argv))


def _exit_code(words: list[str]) -> int:
    text = ""
    if "_DIALGAUGE_COMPLETE" not in os.environ:
        if not words or words[0] in ("--help", "-h", "help"):
            text = overview()
        elif words[0] in ("--version", "-V"):
            text = f"dialgauge {__version__}\n"
    if words[:1] != ["babi"]:  # its rankers multiply matrices; all others count, the same on any number of cores
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000, 20, 20)  # dialogues are millions of records that live until the end
    try:
        if not text or sys.stdout is None:
            from dialgauge.cli.app import run

            return run(words)
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError as error:
            from dialgauge.cli.app import unwritten

            return unwritten(sys.stdout, error)
    except KeyboardInterrupt as stop:  # while modules are being imported; app answers later ones
        return 143 if type(stop) is not KeyboardInterrupt else 130
    return 0
