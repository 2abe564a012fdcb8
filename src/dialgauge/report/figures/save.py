"""A chart as a file: SVG and PDF for papers, PNG for slides, Vega-Lite JSON for other tools. No browser, no network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dialgauge.errors import DialgaugeError, missing_extra
from dialgauge.files import atomic

#: Sharp in print at the size it is drawn.
PNG_PPI = 200

ENDINGS = (".svg", ".png", ".pdf", ".json")


def save(chart: Any, path: str | Path) -> Path:
    """Write the chart, atomically, in the format of the file's ending (``.svg``, ``.png``, ``.pdf``, ``.json``)."""
    target = Path(path)
    content = _rendered(chart, check_ending(target))
    with atomic(target) as scratch:
        scratch.write_bytes(content)
    return target


def check_ending(target: Path) -> str:
    """The ending of a figure's file, in small letters; an error unless a figure can be written so."""
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise DialgaugeError(f"a figure is written as {', '.join(ENDINGS)}; choose such an ending", file=str(target))
    return ending


def _rendered(chart: Any, ending: str) -> bytes:
    specification: dict[str, Any] = chart.to_dict()
    if ending == ".json":
        return json.dumps(specification, indent=1, ensure_ascii=False).encode() + b"\n"
    try:
        import vl_convert
    except ImportError as error:
        raise missing_extra("vl-convert-python", "figures", "Drawing a figure") from error
    allowed: dict[str, Any] = {"allowed_base_urls": []}
    draw: dict[str, Callable[[], bytes | str]] = {
        ".svg": lambda: vl_convert.vegalite_to_svg(specification, **allowed),
        ".png": lambda: vl_convert.vegalite_to_png(specification, ppi=PNG_PPI, **allowed),
        ".pdf": lambda: vl_convert.vegalite_to_pdf(specification, **allowed),
    }
    drawn = draw[ending]()
    return drawn.encode() if isinstance(drawn, str) else drawn
