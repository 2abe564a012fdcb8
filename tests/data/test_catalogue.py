"""The catalogue itself: complete, honest about what is unknown, and right where real files can tell."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dialgauge.data import catalogue, is_intact, parse_catalogue
from dialgauge.errors import DialgaugeError

NAMES = [
    "multiwoz-2.0",
    "multiwoz-2.1",
    "multiwoz-2.2",
    "multiwoz-2.3",
    "multiwoz-2.4",
    "sgd",
    "babi",
    "gcdf1",
    "dst_predictions",
]


def test_every_dataset_of_the_field_is_there() -> None:
    assert catalogue().names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_entries_are_whole(name: str) -> None:
    dataset = catalogue().find(name)
    assert dataset.licence and dataset.citation and dataset.title
    for remote in dataset.remotes:
        address = urlsplit(remote.url)
        assert address.scheme in ("http", "https") and address.netloc
        assert remote.unpack or remote.path
        assert address.scheme == "https" or remote.sha256, "an address without encryption needs a checksum"
        assert remote.size is None or remote.size > 0
    checksums = [r.sha256 for r in dataset.files if r.sha256] + [m.sha256 for m in dataset.members]
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in checksums)
    assert len(set(checksums)) == len(checksums)
    paths = [r.path for r in dataset.files if r.path] + [m.path for m in dataset.members]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize(
    "text", [b"datasets: 3", b"datasets: [{name: x, nmae: y}]", b"a: [", b"{}", b"datasets: [{name: 1}]"]
)
def test_a_broken_catalogue_is_a_sentence(text: bytes) -> None:
    with pytest.raises(DialgaugeError, match=r"not a catalogue of datasets|not valid YAML"):
        parse_catalogue(text, "x.yaml")


def test_the_real_files_have_the_checksums_of_the_catalogue(shared_data: Path) -> None:
    for name, files in (("babi", 27), ("gcdf1", 34), ("dst_predictions", 8)):
        dataset = catalogue().find(name)
        assert is_intact(dataset, shared_data / name)
        assert len(dataset.known_members) == files
