"""The papers that can be reproduced. Each is a module with ``reproduce(data) -> Reproduction``.

One that trains models has ``reproduce(data, fresh=None)``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialgauge.data import Folder, catalogue, data_folder, dataset_file, dataset_folder
from dialgauge.dialogue import Dialogue, State, Turn, dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import read
from dialgauge.reproduce.reproduction import Fresh, Reproduction
from dialgauge.runs import Run
from dialgauge.tracking import score
from dialgauge.yaml_file import shipped_yaml

#: Name on the command line, and the module. A later part of the project adds its line here.
PAPERS = {
    "fga": "dialgauge.reproduce.fga",
    "rsa": "dialgauge.reproduce.rsa",
    "babi": "dialgauge.reproduce.babi",
    "gcdf1": "dialgauge.reproduce.gcdf1",
    "mwzeval": "dialgauge.reproduce.mwzeval",
}

#: Papers whose module also takes ``fresh``.
TRAINED = ("babi",)
#: The paper in which people rate dialogues: its module also takes ``ratings``.
RATED = "fga"

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
) -> Reproduction:
    """Compute what a paper printed, as far as the data in the folder allows.

    ``fresh`` trains models anew where the paper's module otherwise takes results kept with the package, and ``keep``
    is the file to keep theirs in. ``preset`` shows models of one training only. ``ratings`` is a file of what people
    said of the 100 dialogues of the FGA paper, which was not released.
    """
    if paper not in PAPERS:
        raise DialgaugeError(f"there is no paper '{paper}' to reproduce.{nearest(paper, PAPERS)}")
    if fresh is not None and paper not in TRAINED:
        raise DialgaugeError(f"nothing of the paper '{paper}' is trained; leave --fresh out")
    if preset is not None and paper not in TRAINED:
        raise DialgaugeError(f"nothing of the paper '{paper}' is trained; leave --preset out")
    if ratings is not None and paper != RATED:
        raise DialgaugeError(f"people rated dialogues in the paper '{RATED}' only; leave --ratings out")
    module = importlib.import_module(PAPERS[paper])
    given = {"fresh": fresh, "preset": preset, "keep": keep, "ratings": ratings}
    chosen = {name: value for name, value in given.items() if value is not None}
    result = module.reproduce(data_root(data), **chosen)
    if not isinstance(result, Reproduction):
        raise TypeError(f"{PAPERS[paper]}.reproduce gave {type(result).__name__}")
    return result


# Which data of the papers is present, and where.

#: Said where the test dialogues are missing.
NO_TEST = "multiwoz-2.1/test.json is not present"

#: TRADE-style preprocessing drops this dialogue (one utterance is too long), so papers report 999 of 1,000.
DROPPED = "PMUL1455"

#: As fetched, a folder; or packed, by hand.
HUMAN_100 = "human_evaluation_files"
_HUMAN_100_PACKED = "somdst_human100.tar.gz"


_PREDICTIONS = "dst_predictions"


class Sources:
    """Files below a data folder; a file that is not there is None."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def human_100(self) -> Sequence[Dialogue] | None:
        """SOM-DST's states for the 100 dialogues of the FGA paper's human evaluation, gold beside them."""
        names = (HUMAN_100, _HUMAN_100_PACKED)
        path = next((found for name in names if (found := dataset_file(self.folder, _PREDICTIONS, name))), None)
        return read(path).dialogues if path else None

    def multiwoz(self, split: str) -> list[Dialogue] | None:
        """The dialogues of MultiWOZ 2.1 (``test``, ``val`` or ``train``), without the one that papers drop."""
        path = dataset_file(self.folder, "multiwoz-2.1", f"{split}.json")
        if path is None:
            return None
        return [dialogue for dialogue in read(path).dialogues if dialogue_key(dialogue.id) != DROPPED.lower()]

    def predictions(self, *names: str) -> Sequence[Dialogue] | None:
        """A system's predictions on the whole test set: ``dst_predictions/NAME.*``, the first name that is there."""
        for name in names if self.folder else ():
            for path in sorted(self.folder.glob(f"{_PREDICTIONS}/{name}.*") if self.folder else ()):
                return read(path).dialogues
        return None


def user_turns(dialogues: Sequence[Dialogue]) -> int:
    """The number of user turns."""
    return sum(1 for dialogue in dialogues for _ in dialogue.user_turns())


def silent(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """The predictions of a tracker that predicts nothing."""
    return [
        Dialogue(id=dialogue.id, turns=tuple(Turn(speaker="user", predicted={}) for _ in dialogue.user_turns()))
        for dialogue in dialogues
    ]


# What the papers print, from our YAML files, and their worked examples as scored dialogues.

#: The examples' states, written as the papers print them; slot accuracy counts MultiWOZ's 30 slots.
PROFILE = "plain"


def published(paper: str) -> dict[str, Any]:
    """Our file of what a paper prints."""
    return shipped_yaml("dialgauge.reproduce", "published", f"{paper}.yaml").as_mapping("what a paper prints")


def example(turns: Sequence[Mapping[str, Mapping[str, str]]], measures: Sequence[str]) -> Run:
    """Scores of one dialogue given as gold and predicted states; keys are ``domain-slot``."""
    states = [Turn(speaker="user", state=_state(turn["gold"]), predicted=_state(turn["pred"])) for turn in turns]
    dialogue = Dialogue(id="example", turns=tuple(states))
    return score(None, {"example": [dialogue]}, measures=measures, profile=PROFILE, intervals=False)[0]


def _state(flat: Mapping[str, str]) -> State:
    state: State = {}
    for name, value in flat.items():
        domain, slot = name.split("-", 1)
        state.setdefault(domain, {})[slot] = (value,)
    return state


def marks(values: Sequence[object]) -> str:
    """A row of ones and zeros, as the papers' examples are kept in our files.

    >>> marks([True, False, True])
    '1 0 1'
    """
    return " ".join("1" if value else "0" for value in values)
