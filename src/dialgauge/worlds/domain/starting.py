"""A small domain to begin with: a commented folder that runs at once."""

from __future__ import annotations

import re
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic, together

_TEMPLATE = Path(__file__).with_name("template")
_NAME = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")


def new_domain(folder: str | Path) -> list[Path]:
    """Write the folder, which must not exist yet; its name becomes the domain's. The files that were written."""
    target = Path(folder)
    if not _NAME.fullmatch(target.name):
        raise DialgaugeError(f"'{target.name}' cannot be the name of a domain: use letters, digits and hyphens")
    if target.exists():
        raise DialgaugeError("it exists already; choose another name", file=str(target))
    written = []
    with together():
        for source in sorted(_TEMPLATE.iterdir()):
            text = source.read_text(encoding="utf-8")
            if source.suffix == ".yaml":
                text = text.replace("{name}", target.name)
            file = target / (source.name if source.suffix == ".yaml" else f"{target.name}{source.suffix}")
            with atomic(file) as scratch:
                scratch.write_bytes(text.encode())
            written.append(file)
    return written
