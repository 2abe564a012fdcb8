"""Where the numbers come from: facts that are committed beside this file, and the shared data where it is present."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FACTS = Path(__file__).parent / "facts"


def _document(path: Path) -> Any:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


@pytest.fixture(scope="session")
def fact() -> Callable[[str], Any]:
    """A committed document of facts by its file name."""
    return lambda name: _document(FACTS / name)


@pytest.fixture(scope="session")
def expected_values(expected: Path) -> Callable[[str], Any]:
    """A document of expected values from outside the repository by its file name."""
    return lambda name: _document(expected / name)
