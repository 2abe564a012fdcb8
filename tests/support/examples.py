"""One tiny valid file for every registered format, so that one test can push the same faults through all of them.

They lie in ``support/formats``: each holds at least one dialogue (or, for a resource, one entry), and must be
recognised as its format and as no other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dialgauge.formats import BUILT_IN


def as_json(value: Any) -> bytes:
    """The value as indented UTF-8 JSON, the way people publish it."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode()


#: Format name to the content of a file in that format.
EXAMPLES: dict[str, bytes] = {
    path.name.partition(".")[0]: path.read_bytes() for path in sorted((Path(__file__).parent / "formats").iterdir())
}
assert EXAMPLES.keys() <= BUILT_IN.keys()
