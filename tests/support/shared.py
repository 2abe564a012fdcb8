"""Where the real data lies: ``DIALGAUGE_DATA`` names ``shared/data``; expected values lie beside it."""

from __future__ import annotations

import os
from pathlib import Path


def shared_folder(name: str) -> Path | None:
    """``shared/NAME`` (``data`` or ``expected``), or None where it is absent."""
    root = os.environ.get("DIALGAUGE_DATA")
    if not root:
        return None
    data = Path(root)
    folder = data if name == "data" else data.parent / name
    return folder if folder.is_dir() and (data / "multiwoz21").is_dir() else None
