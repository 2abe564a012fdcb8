"""The YAML that people write: profiles, configurations, worlds, catalogues."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import resources
from pathlib import Path

from hostile.fuzz import mutations
from hostile.fuzz.target import Reading, Seeds, Target, damaging, in_file


def yaml_targets() -> Iterator[Target]:
    """Every loader, and the reader that all of them share."""
    dataset_profile = partial(_shipped, "dialgauge.users", "profiles", "multiwoz21.json")
    loaders: dict[str, tuple[Seeds, Reading]] = {
        "profile": (_profile_seeds, _with_path(_yaml_profile)),
        "config": (_config_seeds, _with_path(_yaml_config)),
        "dataset-profile": (dataset_profile, _with_path(_yaml_dataset_profile)),
        "world": (_world_seeds, _with_path(_yaml_world)),
        "catalogue": (lambda: [_CATALOGUE], _catalogue),
        "any": (_profile_seeds, _with_path(_yaml_any)),
    }
    for name, (seeds, run) in loaders.items():
        yield damaging(f"yaml:{name}", seeds, mutations.YAML, run, 30)


def _with_path(load: Callable[[Path], object]) -> Reading:
    def run(content: bytes, folder: Path) -> None:
        load(in_file(folder, content, "file.yaml"))

    return run


def _yaml_profile(path: Path) -> None:
    from dialgauge.values import profile_named

    profile_named(str(path)).explain()


def _yaml_dataset_profile(path: Path) -> None:
    from dialgauge.users import load_profile

    load_profile(str(path))


def _yaml_config(path: Path) -> None:
    from dialgauge.users import load_config

    load_config(path)


def _yaml_world(path: Path) -> None:
    from dialgauge.worlds.restaurant import load_world

    load_world(path)


def _yaml_any(path: Path) -> None:
    from dialgauge.yaml_file import read_yaml

    document = read_yaml(path)
    document.line("rules", 0, "drop")


def _catalogue(content: bytes, folder: Path) -> None:
    from dialgauge.data import parse_catalogue

    parse_catalogue(content, "datasets.yaml")


@cache
def _profile_seeds() -> list[bytes]:
    return [
        b"name: ours\nversion: 1\nextends: canon\nsummary: mine\nrules:\n  - replace: {b & b: bed and breakfast}\n"
        b"    slots: [type]\n    side: gold\n  - regex: [['the ', '']]\n  - drop: [unknown]\n"
        b"  - accept: {north: [the north]}\n  - split: '|'\nmatch: equal\n"
    ]


_CATALOGUE = b"""datasets:
  - name: one
    title: One
    home: https://example.org
    licence: MIT
    citation: nobody
    base: https://example.org/files/
    files:
      - {path: a.json, sha256: "00", size: 3}
      - url: https://example.org/all.zip
        unpack: true
        strip: 1
        only: ["*.json"]
    members:
      - {path: b.json, sha256: "11"}
"""


@cache
def _config_seeds() -> list[bytes]:
    return [
        b"mode: reference\nigcd_f1:\n  repetitions:\n    max_repetitions: 3\n"
        b"    count_fp: true\n  value_matching:\n    fuzzy_match_threshold: 0.9\n"
        b"rgcd_f1:\n  auto_add_to_ref: [ref, hotel-ref]\n"
    ]


@cache
def _shipped(package: str, *path: str) -> list[bytes]:
    return [resources.files(package).joinpath(*path).read_bytes()]


def _world_seeds() -> list[bytes]:
    small = (
        b"base: restaurant\nprices: [cheap, dear]\nsizes: [two]\nratings: [1, 2]\nhalves:\n  A: {locations: [rome]}\n"
    )
    return [small, *_shipped("dialgauge.worlds.restaurant", "worlds", "bakery.yaml")]
