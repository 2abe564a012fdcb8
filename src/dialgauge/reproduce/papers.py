"""The papers that can be reproduced, and anybody's: a file of claims and the evidence they are judged by."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from dialgauge.data import Folder, catalogue, data_folder, dataset_folder
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.reproduce.claims import Paper, judge, load, shipped, shown_tables
from dialgauge.reproduce.evidence import ClaimTables, run_evidence
from dialgauge.reproduce.reproduction import Reproduction
from dialgauge.runs import Run

#: Name on the command line, the function that gives its evidence, and the datasets that this is computed from.
PAPERS = {
    "fga": ("dialgauge.reproduce.trackers:fga", ("multiwoz-2.1", "dst_predictions")),
    "rsa": ("dialgauge.reproduce.trackers:rsa", ("multiwoz-2.1", "dst_predictions")),
    "babi": ("dialgauge.reproduce.bots:evidence", ("babi",)),
    "gcdf1": ("dialgauge.reproduce.users:evidence", ("gcdf1", "multiwoz-2.1")),
    "mwzeval": ("dialgauge.reproduce.benchmark:evidence", ("multiwoz-2.1", "dst_predictions")),
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
    if paper not in PAPERS:
        return "its claims name no table of these runs"
    root, datasets = data_root(data), PAPERS[paper][1]
    folder = Folder(root) if root is not None else data_folder()
    absent = [name for name in datasets if not dataset_folder(catalogue().find(name), folder).is_dir()]
    if not absent:
        return f"the files that it needs are not in the datasets {' and '.join(datasets)} of {folder.root}"
    verb = "is" if len(absent) == 1 else "are"
    return f"{' and '.join(absent)} {verb} not in {folder.root}; run {get_commands(absent)}"


def get_commands(datasets: Sequence[str]) -> str:
    """The commands that fetch some datasets."""
    return " and ".join(f"'dialgauge data get {name}'" for name in datasets)


def reproduce(
    paper: str | Path, data: str | Path | None = None, *, runs: Mapping[str, Run] | None = None
) -> Reproduction:
    """Judge what a paper says, as far as the data in the folder allows.

    ``paper`` is the name of one that comes with dialgauge, or a YAML file of claims on tables of ``runs``. For the
    papers on trackers, runs are systems by name, which stand beside what the paper prints of them, or alone.
    """
    if str(paper) in PAPERS:
        module, _, function = PAPERS[str(paper)][0].partition(":")
        claims = shipped(str(paper))
        builder: Callable[[Paper, Path | None, Mapping[str, Run]], ClaimTables] = getattr(
            import_module(module), function
        )
        return judged(claims, str(paper), builder(claims, data_root(data), runs or {}))
    if Path(paper).suffix not in (".yaml", ".yml"):
        raise DialgaugeError(
            f"there is no paper '{paper}', nor is it a YAML file of claims.{nearest(str(paper), PAPERS)}"
        )
    return judged(load(paper), Path(paper).stem, run_evidence(runs or {}))


def judged(paper: Paper, name: str, evidence: ClaimTables) -> Reproduction:
    """Every line and table of a paper by some evidence."""
    with evidence:
        lines = judge(paper, evidence)
        missing = [*evidence.missing_data, *paper.missing]
        tables = shown_tables(paper, evidence)
        return Reproduction(
            name, paper.title, paper.citation, missing, evidence.datasets_to_get, lines, tables, paper.notes
        )  # fmt: skip
