"""Really installed packages, thrown away after a test: a module and a ``dist-info`` folder in a folder on the path."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

from dialgauge import plugins


def install(folder: Path, package: str, code: str, entry_points: str) -> None:
    """Put a package of one module into the folder; ``entry_points`` is the text of its ``entry_points.txt``."""
    (folder / f"{package}.py").write_text(dedent(code), encoding="utf-8")
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(dedent(entry_points), encoding="utf-8")


@contextmanager
def on_the_path(folder: Path) -> Iterator[None]:
    """What is installed in the folder can be imported here, and is forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    plugins._scan.cache_clear()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        plugins._scan.cache_clear()
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "").parent == folder:
                del sys.modules[name]


def run(folder: Path, *arguments: object, code: int = 0) -> str:
    """``dialgauge ARGUMENTS`` in a process of its own that has the folder's packages: what it prints, both streams."""
    command = [sys.executable, "-m", "dialgauge", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
