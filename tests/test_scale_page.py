"""The section about a billion turns is what its script computes from what was measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_section_is_what_the_script_prints() -> None:
    script = ROOT / "benchmarks" / "simulated_future.py"
    printed = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout
    assert (ROOT / "docs" / "scale.md").read_text().endswith(printed)
