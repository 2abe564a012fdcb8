"""A disk that is soon full."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """An empty disk of that size, mounted at the folder; the test is skipped where nothing may be mounted."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    try:
        refused = subprocess.run(mount, capture_output=True, check=False, text=True)
    except OSError as error:
        pytest.skip(f"nothing can be mounted here ({error})")
    if refused.returncode:
        pytest.skip(f"nothing may be mounted here ({refused.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
