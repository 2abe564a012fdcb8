"""What a terminal shows of a command."""

from __future__ import annotations

import re


def uncoloured(text: str) -> str:
    """The text without what steers a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
