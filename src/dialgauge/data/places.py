"""Where a dataset and its files lie: in the folder that ``get`` makes, or in one that somebody put there.

There is one layout. A collection made by hand may call a dataset's folder by another of its names (``multiwoz21``), and
may have its files gzipped one by one.
"""

from __future__ import annotations

from pathlib import Path

from dialgauge.data.datasets import Dataset, catalogue
from dialgauge.data.folder import Folder


def dataset_folder(dataset: Dataset, folder: Folder) -> Path:
    """The folder in which a dataset is, or would be."""
    places = [folder.path(name) for name in dataset.folders]
    return next((place for place in places if place.is_dir()), places[0])


def dataset_file(root: Path | None, dataset: str, path: str) -> Path | None:
    """A file (or folder) of a dataset below the root of all datasets; ``None`` where it is not."""
    if root is None:
        return None
    found = (root / name / f"{path}{ending}" for name in catalogue().find(dataset).folders for ending in ("", ".gz"))
    return next((place for place in found if place.exists()), None)
