"""Dialgauge with every Python from 3.11 on that is found here: a bare install, the demo, and the core of the tests.

``make pythons``, or with the interpreters named, ``make pythons PYTHONS="/usr/bin/python3.14 ..."``; otherwise those of
pyenv and of the PATH. It needs nothing but the standard library, so it can run in another root too (docs/install.md).
Exit code 1 if one of them fails or cannot be started.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
VERSIONS = range(11, 20)
#: What the core tests import beside the package.
NEEDED = ("duckdb", "pytest", "hypothesis", "scikit-learn")
CORE = (
    "tests/install",
    "tests/test_files.py",
    "tests/stats",
    "tests/measures",
    "tests/values",
    "tests/formats",
    "tests/tracking",
    "tests/runs/test_sql.py",
)


def named_interpreters(names: Sequence[str]) -> dict[tuple[int, int], Path]:
    """These interpreters, by version."""
    known: dict[tuple[int, int], Path] = {}
    for name in names:
        found = shutil.which(name)
        version = _version(Path(found)) if found else None
        if version is None or version < OLDEST:
            sys.exit(f"{name} is no Python from {OLDEST[0]}.{OLDEST[1]} on that can be started")
        known[version] = Path(found or name)
    return known


def interpreters() -> dict[tuple[int, int], Path]:
    """One interpreter for each version of Python that can be started."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [*sorted(pyenv.glob("3.*/bin/python")), Path(sys.executable)]
    places += [Path(found) for minor in VERSIONS if (found := shutil.which(f"python3.{minor}"))]
    known: dict[tuple[int, int], Path] = {}
    for place in places:
        version = _version(place)
        if version is not None and version >= OLDEST:
            known.setdefault(version, place)
    return dict(sorted(known.items()))


def _version(place: Path) -> tuple[int, int] | None:
    """The version, or None for what cannot be started, as pyenv's stand-ins for versions that are switched off."""
    done = subprocess.run([place, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    match = re.match(r"Python (\d+)\.(\d+)", done.stdout)
    return (int(match[1]), int(match[2])) if match and done.returncode == 0 else None


def tried(python: Path, folder: Path) -> str | None:
    """The first step that fails with this interpreter, with the end of what it said; None when all is well."""
    made = folder / "venv" / "bin" / "python"
    pip = [str(made), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = {
        "environment": [str(python), "-m", "venv", str(folder / "venv")],
        "install": [*pip, str(ROOT)],
        "demo": [str(made.with_name("dialgauge")), "demo", "--out", str(folder / "demo"), "--dialogues", "10"],
        "install of pytest": [*pip, *NEEDED],
        "tests": [str(made), "-m", "pytest", "-p", "no:cacheprovider", *CORE],
    }
    for name, command in steps.items():
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            return f"{name} failed:\n{(done.stdout + done.stderr)[-3000:]}"
    return None


def main() -> int:
    """Try them all and say how each went."""
    failed = False
    named = sys.argv[1:]
    for version, python in (named_interpreters(named) if named else interpreters()).items():
        with tempfile.TemporaryDirectory() as folder:
            fault = tried(python, Path(folder))
        failed |= fault is not None
        verdict = fault or "install, every command, demo and core tests pass"
        sys.stdout.write(f"Python {version[0]}.{version[1]} ({python}): {verdict}\n")
        sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
