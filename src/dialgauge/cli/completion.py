"""Shell completion: the scripts, and the words that they ask for.

``dialgauge --show-completion SHELL`` prints a script, ``--install-completion`` puts it where the shell reads it. The
script calls ``dialgauge --complete WORD...`` with the words up to the cursor; an empty answer means file names.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from dialgauge.cli import COMMANDS
from dialgauge.cli.options import HELP_OPTIONS
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.cli.parse import CommandParameter

_GLOBAL = (*HELP_OPTIONS, "--version", "--debug", "--no-project-file", "--install-completion", "--show-completion")

# bash breaks words at = : and @ too, and replaces only what follows the last break; quotes and backslashes stay in its
# words. So the words are joined as they were typed, and the answers lose what stands before the last break. An @ is
# a break that bash replaces too.
_BASH = """\
# bash completion for dialgauge
_dialgauge() {
    local IFS=$'\\n' line=${COMP_LINE:0:COMP_POINT} words=() word rest before
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        rest=${line#"${line%%[! $'\\t']*}"}
        if [[ ${#words[@]} -eq 0 || $rest != "$line" ]]; then words+=(""); fi
        [[ $rest == "$word"* ]] || word=$rest
        before=${words[${#words[@]}-1]}
        words[${#words[@]}-1]+=$word
        line=${rest:${#word}}
    done
    if [[ $word == [=:] ]]; then before+=$word; fi
    words=("${words[@]//[\\\\\\'\\"]/}")
    before=${before//[\\\\\\'\\"]/}
    before=${before%@}
    COMPREPLY=($(dialgauge --complete "${words[@]:1}" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    [[ ${#COMPREPLY[@]} -gt 0 ]] || return
    compopt +o default
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    [[ $word == [\\'\\"]* ]] && return
    COMPREPLY=($(printf '%q\\n' "${COMPREPLY[@]}"))
    COMPREPLY=("${COMPREPLY[@]//\\\\,/,}")
}
complete -o default -F _dialgauge dialgauge
"""
_ZSH = """\
#compdef dialgauge
# zsh completion for dialgauge
_dialgauge() {
    local -a found
    found=(${(f)"$(dialgauge --complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"})
    if (( ${#found} )); then
        if [[ ${#found} -eq 1 && $found[1] == *= ]]; then compadd -S '' -a found; else compadd -a found; fi
    else
        compset -P '--*='
        _files
    fi
}
if [[ ${funcstack[1]} == _dialgauge ]]; then
    _dialgauge "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
    compdef _dialgauge dialgauge
fi
"""
# The condition asks once and keeps the answer; where it does not hold, fish offers file names.
_FISH = """\
# fish completion for dialgauge
function __dialgauge_known
    set -l words (commandline -opc)
    set -l last (commandline -ct | string unescape)
    set -g __dialgauge_found (dialgauge --complete $words[2..-1] "$last" 2>/dev/null)
    test (count $__dialgauge_found) -gt 0
end
complete -c dialgauge -n __dialgauge_known -f -a '$__dialgauge_found'
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
            return _fitting(last, [*group.commands, *HELP_OPTIONS])
        rest = group.usual(rest)
        function = group.commands.get(rest[0])
        rest = rest[1:]
    else:
        function = next(iter(group.commands.values()))
    return [] if function is None else _of_command(function, rest, last)


def _of_command(function: Callable[..., object], before: Sequence[str], last: str) -> list[str]:
    from dialgauge.cli.parse import command_parameters, named_options

    options = named_options(function)
    before, last, written = _option_and_value(before, last)
    asked = options.get(before[-1]) if before else None
    if asked is not None and asked.type is not bool:
        return [f"{written}{value}" for value in _values(asked, before, last)]
    if last.startswith("-"):
        return _fitting(last, [*options, *HELP_OPTIONS])
    arguments = [parameter for parameter in command_parameters(function) if not parameter.is_option]
    position = len(_typed_arguments(before, options))
    if not arguments or (position >= len(arguments) and not arguments[-1].many):
        return []
    return _values(arguments[min(position, len(arguments) - 1)], before, last)


def _option_and_value(before: Sequence[str], last: str) -> tuple[list[str], str, str]:
    """``--engine=lo`` as an option, its value and what is written before the value."""
    if last.startswith("--") and "=" in last:
        option, _, value = last.partition("=")
        return [*before, option], value, f"{option}="
    return list(before), last, ""


def _typed_arguments(before: Sequence[str], options: Mapping[str, CommandParameter]) -> list[str]:
    """The words that are neither options nor their values."""
    typed = []
    words = iter(before)
    for word in words:
        if not word.startswith("-") or word == "-":
            typed.append(word)
        elif "=" not in word and word in options and options[word].type is not bool:
            next(words, None)
    return typed


def _values(asked: CommandParameter, before: Sequence[str], start: str) -> list[str]:
    """What an option or argument may be, where that is known: names, or ids of runs."""
    metavar = asked.value_name
    if get_origin(asked.type) is Literal:
        return _fitting(start, [str(value) for value in get_args(asked.type)])
    if choice := asked.declaration.settings.get("known"):
        done, comma, rest = start.rpartition(",") if choice.several else ("", "", start)
        return [f"{done}{comma}{name}{choice.ending}" for name in _fitting(rest, list(choice.names()))]
    if "|" in metavar and metavar.replace("|", "").islower():
        return _fitting(start, metavar.split("|"))
    if "RUN" in metavar.replace("...", "").strip("[]").split():
        folder = before[before.index("--store") + 1] if "--store" in before[:-1] else os.environ.get("DIALGAUGE_RUNS")
        store = Path(folder or "runs")
        return _fitting(start, sorted(path.parent.name for path in store.glob("*/run.json"))) if store.is_dir() else []
    return []


def _fitting(start: str, words: Iterable[str]) -> list[str]:
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
    with atomic(script) as scratch:
        scratch.write_text(_SCRIPTS[shell], encoding="utf-8")
    if shell == "fish":
        return f"wrote {script}; it works in new terminals"
    start = (Path(os.environ.get("ZDOTDIR") or home) if shell == "zsh" else home) / f".{shell}rc"
    line = f"[ -f '{script}' ] && . '{script}'  # dialgauge completion"
    present = start.read_bytes().decode("utf-8", "surrogateescape") if start.exists() else ""
    if line not in present.splitlines():
        added = f"{'' if present.endswith(chr(10)) or not present else chr(10)}{line}\n"
        with atomic(start) as scratch:
            scratch.write_text(present + added, encoding="utf-8", errors="surrogateescape", newline="")
    return f"wrote {script}, which {start} reads; it works in new terminals"
