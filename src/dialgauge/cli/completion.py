"""Shell completion: the scripts, and the words that they ask for.

``dialgauge --show-completion SHELL`` prints a script, ``--install-completion`` puts it where the shell reads it. The
script calls ``dialgauge --complete WORD...`` with the words up to the cursor; an empty answer means file names.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, get_args, get_origin

from dialgauge.cli import COMMANDS
from dialgauge.cli.options import Argument, Option
from dialgauge.errors import DialgaugeError

_GLOBAL = ("--help", "--version", "--debug", "--no-project-file", "--install-completion", "--show-completion")

_BASH = """\
# bash completion for dialgauge
_dialgauge() {
    local IFS=$'\\n'
    COMPREPLY=($(dialgauge --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [ ${#COMPREPLY[@]} -gt 0 ] && compopt +o default
}
complete -o default -F _dialgauge dialgauge
"""
_ZSH = """\
#compdef dialgauge
# zsh completion for dialgauge
_dialgauge() {
    local -a found
    found=(${(f)"$(dialgauge --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ${#found} )); then compadd -a found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _dialgauge dialgauge
"""
_FISH = """\
# fish completion for dialgauge
function __dialgauge_complete
    set -l words (commandline -opc)
    set -l found (dialgauge --complete $words[2..-1] (commandline -ct | string collect -a) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c dialgauge -f -a '(__dialgauge_complete)'
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion(option: str, words: Sequence[str]) -> int:
    """Answer ``--complete``, ``--show-completion`` or ``--install-completion``; the exit code."""
    if option == "--complete":
        for word in completions(words):
            sys.stdout.write(f"{word}\n")
        return 0
    shell = _shell(words)
    if option == "--show-completion":
        sys.stdout.write(_SCRIPTS[shell])
    else:
        sys.stdout.write(f"{_install(shell)}\n")
    return 0


def completions(words: Sequence[str]) -> list[str]:
    """What the last word may become; nothing where a file name is wanted."""
    *before, last = words or [""]
    commands = [word for word in before if not word.startswith("-")]
    if not commands:
        return _fitting(last, _GLOBAL if last.startswith("-") else COMMANDS)
    name, rest = commands[0], before[before.index(commands[0]) + 1 :]
    if name not in COMMANDS:
        return []
    group = importlib.import_module(f"dialgauge.cli.{name}").app
    if len(group.commands) > 1:
        if not rest:
            return _fitting(last, [*group.commands, "--help"])
        function = group.commands.get(rest[0])
        rest = rest[1:]
    else:
        function = next(iter(group.commands.values()))
    return [] if function is None else _of_command(function, rest, last)


def _of_command(function: Callable[..., object], before: Sequence[str], last: str) -> list[str]:
    from dialgauge.cli.parse import command_parameters

    parameters = command_parameters(function)
    options = {name: one for one in parameters if isinstance(one.declaration, Option) for name in one.options}
    asked = options.get(before[-1]) if before else None
    if asked is not None and asked.type is not bool:
        return _fitting(last, _values(asked.type, asked.declaration.settings.get("metavar", ""), before))
    if last.startswith("-"):
        flags = [f"--no-{one.name}" for one in parameters if one.type is bool and not one.declaration.names]
        return _fitting(last, [*options, *flags, "--help"])
    arguments = [one for one in parameters if isinstance(one.declaration, Argument)]
    metavars = " ".join(str(one.declaration.settings.get("metavar", "")) for one in arguments)
    return _fitting(last, _values(str, metavars, before))


def _values(kind: object, metavar: str, before: Sequence[str]) -> list[str]:
    """What an option or argument may be, where that is known without work."""
    if get_origin(kind) is Literal:
        return [str(value) for value in get_args(kind)]
    if "|" in metavar and metavar.replace("|", "").islower():
        return metavar.split("|")
    if "RUN" in metavar.replace("...", "").strip("[]").split():
        place = before[before.index("--store") + 1] if "--store" in before[:-1] else os.environ.get("DIALGAUGE_RUNS")
        store = Path(place or "runs")
        return sorted(path.parent.name for path in store.glob("*/run.json")) if store.is_dir() else []
    return []


def _fitting(start: str, words: Sequence[str] | dict[str, str]) -> list[str]:
    return [word for word in words if word.startswith(start)]


def _shell(words: Sequence[str]) -> str:
    shell = words[0] if words else Path(os.environ.get("SHELL", "")).name
    if shell not in _SCRIPTS:
        known = ", ".join(_SCRIPTS)
        raise DialgaugeError(
            f"completion for the shell '{shell}' is not supported; name one of {known}, for example "
            "dialgauge --show-completion bash"
        )
    return shell


def _install(shell: str) -> str:
    """Write the script, and have the shell read it; what was done, in a sentence."""
    from dialgauge.files import atomic

    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    if shell == "fish":
        script = config / "fish" / "completions" / "dialgauge.fish"
    else:
        script = (
            Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "dialgauge" / f"completion.{shell}"
        )
    script.parent.mkdir(parents=True, exist_ok=True)
    with atomic(script) as scratch:
        scratch.write_text(_SCRIPTS[shell], encoding="utf-8")
    if shell == "fish":
        return f"wrote {script}; it works in new terminals"
    start = home / f".{shell}rc"
    line = f"[ -f '{script}' ] && . '{script}'  # dialgauge completion"
    present = start.read_text(encoding="utf-8", errors="surrogateescape") if start.exists() else ""
    if line not in present.splitlines():
        with start.open("a", encoding="utf-8") as opened:
            opened.write(f"{'' if present.endswith(chr(10)) or not present else chr(10)}{line}\n")
    return f"wrote {script}, which {start} reads; it works in new terminals"
