"""Running the command line in this process, as a user would, and seeing what came of it."""

from __future__ import annotations

from dataclasses import dataclass

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
