"""What rooms say of themselves that code cannot: the file ``reference.yaml`` beside a room's modules.

examples   commands over ``docs/examples`` by name; or the name of the example whose files one reads, and the command
tables     what a row of each table of a run is
measures   ``misleads``: when the number does; ``variants``: other formulas under the same name. Keys are measures,
           several with commas, or patterns (SGD-*); texts are Markdown.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

ROOMS = Path(__file__).parents[2] / "src" / "dialgauge"
FILE = "reference.yaml"


@cache
def room_notes(part: Literal["examples", "tables", "measures"]) -> dict[str, Any]:
    """One part of these files, of all rooms together."""
    found: dict[str, Any] = {}
    for file in sorted(ROOMS.rglob(FILE)):
        own = yaml.safe_load(file.read_text("utf-8")).get(part, {})
        if twice := found.keys() & own.keys():
            raise ValueError(f"{file}: another room has notes on {', '.join(sorted(twice))} too")
        found |= own
    return found
