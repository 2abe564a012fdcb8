"""Real shells at a pseudo-terminal: type a line, press Tab, and see what the line has become."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

_PROMPT = "ready%"
_CLEAR, _TAB, _WRITE_LINE = b"\x15", b"\t", b"\x07"
#: Only a shell that hangs is waited for so long.
_PATIENCE = 120

#: Gives a shell a prompt of one word, and has Ctrl-G write the line being typed into the file $LINE.
_START = {
    "bash": f"""PS1='{_PROMPT}'
bind -x '"\\C-g": printf %s "$READLINE_LINE" > "$LINE.new"; mv "$LINE.new" "$LINE"'
""",
    "zsh": f"""PROMPT='{_PROMPT}%'
write-line() {{ print -rn -- "$BUFFER" > "$LINE.new"; mv "$LINE.new" "$LINE" }}
zle -N write-line; bindkey '^G' write-line; bindkey '^U' kill-whole-line
""",
    "fish": f"""function fish_prompt; echo -n '{_PROMPT}'; end; function fish_greeting; end
bind \\cg 'commandline > $LINE.new; mv $LINE.new $LINE'; bind \\cu 'commandline ""'
""",
}
_START_FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}
_OPTIONS = {"bash": ["--noprofile", "-i"], "zsh": ["-d", "-i"], "fish": ["-i"]}


class ShellAtTerminal:
    """An interactive shell with the start files in ``home``, working in ``folder``."""

    def __init__(self, shell: str, home: Path, folder: Path, environment: Mapping[str, str]) -> None:
        if shutil.which(shell) is None:
            pytest.skip(f"there is no {shell} on this machine: 'make programs' installs Debian's")
        self._line = home / "line"
        start = home / _START_FILES[shell]
        start.parent.mkdir(parents=True, exist_ok=True)
        with start.open("a", encoding="utf-8") as opened:
            opened.write(_START[shell])
        self._terminal, self._inner = pty.openpty()
        own = {"HOME": str(home), "TERM": "xterm", "LINE": str(self._line), "LC_ALL": "C.UTF-8"}
        # sh opens the terminal as leader of a new session, which makes it the terminal of that session.
        command = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(self._inner), shell, *_OPTIONS[shell]]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, cwd=folder, env={**environment, **own}, start_new_session=True
        )
        self._shown = ""

    def __enter__(self) -> Self:
        self._wait(lambda: _PROMPT in self._shown)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)
        os.close(self._inner)

    def after_tab(self, typed: str) -> str:
        """The line after ``typed`` and the Tab key."""
        self._line.unlink(missing_ok=True)
        os.write(self._terminal, _CLEAR + typed.encode() + _TAB + _WRITE_LINE)
        self._wait(self._line.exists)
        return self._line.read_text(encoding="utf-8").removesuffix("\n")

    def _wait(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE
        while not done():
            if time.monotonic() > end or self._process.poll() is not None:
                raise AssertionError(f"the shell does not answer; it showed {self._shown[-2000:]!r}")
            if select.select([self._terminal], [], [], 0.05)[0]:
                self._shown += os.read(self._terminal, 65536).decode(errors="replace")
