"""One tiny valid file for every registered format, so that one test can push the same faults through all of them.

The owner of a format adds its entry: the format's name, and the bytes of a file with at least one dialogue (or, for a
resource, one entry). The entry must be recognised as that format and as no other.
"""

from __future__ import annotations

import json
from typing import Any


def as_json(value: Any) -> bytes:
    """The value as indented UTF-8 JSON, the way people publish it."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode()


#: Format name to the content of a file in that format.
EXAMPLES: dict[str, bytes] = {
    "native": b'{"id":"d1","turns":[{"speaker":"user","text":"hi","state":{"hotel":{"area":["east"]}}}]}\n',
}
