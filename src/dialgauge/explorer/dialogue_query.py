"""What a list of dialogues is asked for, as its address says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np
from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.explorer.templating import received, sent
from dialgauge.presentation import RunPages

#: Facets that every run has.
DOMAIN = "domain"
LABEL = "label"


class DialogueQuery(Struct, frozen=True):
    """What a list of dialogues is asked for, as its address says it."""

    text: str = ""
    facets: Mapping[str, str] = {}
    measure: str = ""
    least: float | None = None
    most: float | None = None
    sort: str = ""
    falling: bool = False
    page: int = 1

    @classmethod
    def read(cls, parameters: Mapping[str, str], pages: RunPages) -> DialogueQuery:
        """From the parameters of an address; what cannot be understood is an error."""
        names = [*(facet.name for facet in pages.facets), DOMAIN, LABEL]
        return cls(
            text=parameters.get("q", "").strip(),
            facets={name: received(parameters[name]) for name in names if parameters.get(name)},
            measure=parameters.get("measure", ""),
            least=_number(parameters.get("least", ""), "least"),
            most=_number(parameters.get("most", ""), "most"),
            sort=parameters.get("sort", ""),
            falling=parameters.get("falling", "") == "1",
            page=max(int(_number(parameters.get("page", ""), "page") or 1), 1),
        )

    def address(self, **changes: Any) -> str:
        """The parameters of the address that asks for this, with some of them changed; the page is not kept."""
        values: dict[str, Any] = {
            "q": self.text, **{name: sent(value) for name, value in self.facets.items()}, "measure": self.measure,
            "least": _written(self.least), "most": _written(self.most), "sort": self.sort,
            "falling": "1" if self.falling else "",
        } | changes  # fmt: skip
        return urlencode({name: value for name, value in values.items() if value not in ("", None)})

    @property
    def filtered(self) -> bool:
        return bool(self.text or self.facets or self.least is not None or self.most is not None)


def _number(text: str, name: str) -> float | None:
    if not text.strip():
        return None
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number) or abs(number) > 1e12:
        raise DialgaugeError(f"'{name}' must be a number (got '{text}')")
    return number


def _written(number: float | None) -> str:
    return "" if number is None else f"{number:g}"
