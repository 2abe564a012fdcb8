"""Running the command line in this process, as a user would, and seeing what came of it."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialgauge.cli import main
from dialgauge.cli.screen import out


@dataclass(frozen=True)
class Outcome:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str


def dialgauge(capsys: pytest.CaptureFixture[str], *arguments: object) -> Outcome:
    """Run ``dialgauge ARGUMENTS``."""
    capsys.readouterr()
    out.wide = False  # as in a process of its own: a test that failed after a call with --wide leaves it behind
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    code = stop.value.code
    return Outcome(code if isinstance(code, int) else 0, printed.out, printed.err)


def dialgauge_in(folder: Path, environment: Mapping[str, str], words: Sequence[str]) -> Outcome:
    """``dialgauge WORDS`` as in a shell: a process of its own would spend most of its time on imports."""
    printed, said = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(written, "utf-8", write_through=True) for written in (printed, said)]
    with (
        pytest.MonkeyPatch.context() as patched,
        chdir(folder),
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
    ):
        for name, value in environment.items():
            patched.setenv(name, value)
        patched.setattr(sys, "argv", ["dialgauge", *words])
        with pytest.raises(SystemExit) as stop:
            main(sys.argv[1:])
    code = stop.value.code
    return Outcome(code if isinstance(code, int) else 0, printed.getvalue().decode(), said.getvalue().decode())
