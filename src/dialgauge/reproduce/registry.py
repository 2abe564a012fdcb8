"""The papers that can be reproduced. Each is a module with ``reproduce(data) -> Reproduction``.

One that trains models has ``reproduce(data, fresh=None)``.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.reproduce.record import Fresh, Reproduction

#: Name on the command line, and the module. A later part of the project adds its line here.
PAPERS = {
    "fga": "dialgauge.reproduce.fga",
    "rsa": "dialgauge.reproduce.rsa",
    "babi": "dialgauge.reproduce.babi",
    "gcdf1": "dialgauge.reproduce.gcdf1",
}

#: Papers whose module also takes ``fresh``.
TRAINED = ("babi",)

ENVIRONMENT = "DIALGAUGE_DATA"


def data_folder(given: str | Path | None) -> Path | None:
    """The folder with the datasets: the one named, else ``$DIALGAUGE_DATA``, else none."""
    named = given if given is not None else os.environ.get(ENVIRONMENT) or None
    if named is None:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise DialgaugeError("there is no such folder; name the one that holds the datasets", file=str(folder))
    return folder


def reproduce(paper: str, data: str | Path | None = None, *, fresh: Fresh | None = None) -> Reproduction:
    """Compute what a paper printed, as far as the data in the folder allows.

    ``fresh`` trains models anew where the paper's module otherwise takes results kept with the package.
    """
    if paper not in PAPERS:
        raise DialgaugeError(f"there is no paper '{paper}' to reproduce.{nearest(paper, PAPERS)}")
    if fresh is not None and paper not in TRAINED:
        raise DialgaugeError(f"nothing of the paper '{paper}' is trained; leave --fresh out")
    module = importlib.import_module(PAPERS[paper])
    chosen = {} if fresh is None else {"fresh": fresh}
    result = module.reproduce(data_folder(data), **chosen)
    if not isinstance(result, Reproduction):
        raise TypeError(f"{PAPERS[paper]}.reproduce gave {type(result).__name__}")
    return result
