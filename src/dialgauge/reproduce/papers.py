"""The papers that can be reproduced. Each is a module with ``reproduce(data) -> Reproduction``.

One that trains models has ``reproduce(data, fresh=None)``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialgauge.data import Folder, catalogue, data_folder, dataset_folder
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.reproduce.claims import Paper, judge, shipped
from dialgauge.reproduce.evidence import Evidence
from dialgauge.reproduce.reproduction import Fresh, Reproduction

#: Name on the command line, and the module. A later part of the project adds its line here.
PAPERS = {
    "fga": "dialgauge.reproduce.fga",
    "rsa": "dialgauge.reproduce.rsa",
    "babi": "dialgauge.reproduce.babi",
    "gcdf1": "dialgauge.reproduce.gcdf1",
    "mwzeval": "dialgauge.reproduce.benchmark",
}

#: Papers whose claims are data: the module has ``evidence(data)``.
CLAIMED = ("mwzeval",)

#: Papers whose module also takes ``fresh``.
TRAINED = ("babi",)
#: The paper in which people rate dialogues: its module also takes ``ratings``.
RATED = "fga"
#: Papers that take minutes: their modules also take ``tell``.
SLOW = ("babi", "gcdf1")
#: Papers whose tables can be filled with predictions of one's own: their modules also take ``systems``.
PREDICTED = ("fga", "rsa")

#: The datasets that a paper's numbers are computed from, as ``dialgauge data get`` names them.
DATASETS = {
    "fga": ("multiwoz-2.1", "dst_predictions"),
    "rsa": ("multiwoz-2.1", "dst_predictions"),
    "babi": ("babi",),
    "gcdf1": ("gcdf1", "multiwoz-2.1"),
    "mwzeval": ("multiwoz-2.1", "dst_predictions"),
}

ENVIRONMENT = "DIALGAUGE_DATA"


def data_root(given: str | Path | None) -> Path | None:
    """The folder with the datasets: the one named, else that of ``dialgauge data get``, if it is there."""
    if given is None and not os.environ.get(ENVIRONMENT):
        usual = data_folder().root
        return usual if usual.is_dir() else None
    folder = data_folder().root if given is None else Path(given)
    if not folder.is_dir():
        raise DialgaugeError("there is no such folder; name the one that holds the datasets", file=str(folder))
    return folder


def how_to_get(paper: str, data: str | Path | None = None) -> str:
    """For a paper of which nothing could be computed: what to get, and by which commands."""
    root = data_root(data)
    folder = Folder(root) if root is not None else data_folder()
    absent = [name for name in DATASETS[paper] if not dataset_folder(catalogue().find(name), folder).is_dir()]
    if not absent:
        return f"the files that it needs are not in the datasets {' and '.join(DATASETS[paper])} of {folder.root}"
    return (
        f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not in {folder.root}; run {get_commands(absent)}"
    )


def get_commands(datasets: Sequence[str]) -> str:
    """The commands that fetch some datasets."""
    return " and ".join(f"'dialgauge data get {name}'" for name in datasets)


def reproduce(
    paper: str,
    data: str | Path | None = None,
    *,
    fresh: Fresh | None = None,
    preset: str | None = None,
    keep: Path | None = None,
    ratings: Path | None = None,
    systems: Mapping[str, Path] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Reproduction:
    """Compute what a paper printed, as far as the data in the folder allows.

    ``fresh`` trains models anew where the paper's module otherwise takes results kept with the package, and ``keep``
    is the file to keep theirs in. ``preset`` shows models of one training only. ``ratings`` is a file of what people
    said of the 100 dialogues of the FGA paper, which was not released. ``systems`` are files of predictions for the
    MultiWOZ 2.1 test set by the names of models: those of the paper stand beside what it printed of them, others alone.
    ``tell`` hears what is being computed, where that takes long.
    """
    if paper not in PAPERS:
        raise DialgaugeError(f"there is no paper '{paper}' to reproduce.{nearest(paper, PAPERS)}")
    if fresh is not None and paper not in TRAINED:
        raise DialgaugeError(f"nothing of the paper '{paper}' is trained; leave --fresh out")
    if preset is not None and paper not in TRAINED:
        raise DialgaugeError(f"nothing of the paper '{paper}' is trained; leave --preset out")
    if ratings is not None and paper != RATED:
        raise DialgaugeError(f"people rated dialogues in the paper '{RATED}' only; leave --ratings out")
    if systems and paper not in PREDICTED:
        raise DialgaugeError(f"predictions fill tables of {' and '.join(PREDICTED)} only; leave --system out")
    module = importlib.import_module(PAPERS[paper])
    given: dict[str, Any] = {"fresh": fresh, "preset": preset, "keep": keep, "ratings": ratings, "systems": systems}
    given["tell"] = tell if paper in SLOW else None
    chosen = {name: value for name, value in given.items() if value}
    if paper in CLAIMED:
        return judged(shipped(paper), paper, module.evidence(data_root(data)))
    result = module.reproduce(data_root(data), **chosen)
    if not isinstance(result, Reproduction):
        raise TypeError(f"{PAPERS[paper]}.reproduce gave {type(result).__name__}")
    return result


def judged(paper: Paper, name: str, evidence: Evidence, in_print: Evidence | None = None) -> Reproduction:
    """Every line of a paper by some evidence."""
    with evidence:
        record = Reproduction(name, paper.title, paper.citation, [*evidence.missing, *paper.missing], evidence.absent)
        record.items = judge(paper, evidence, in_print)
        record.notes = dict(paper.notes)
        return record
