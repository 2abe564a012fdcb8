"""One tiny valid file for every registered format, so that one test can push the same faults through all of them.

They are those of ``formats/examples``, a file with at least one dialogue (or, for a resource, one
entry) in ``formats/examples``. Each must be recognised as its format and as no other.
"""

from __future__ import annotations

import json
from typing import Any

from dialgauge.formats import BUILT_IN, format_example


def as_json(value: Any) -> bytes:
    """The value as indented UTF-8 JSON, the way people publish it."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode()


#: Format name to the content of a file in that format.
EXAMPLES: dict[str, bytes] = {name: content for name in BUILT_IN if (content := format_example(name)) is not None}
