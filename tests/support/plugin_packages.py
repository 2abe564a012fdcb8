"""Throw-away packages as pip would leave them: a module and a ``dist-info`` folder each, in a folder on the path."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from dialgauge import plugins

#: Package, code of its module, and its entry points by group.
Install = Callable[[str, str, dict[str, str]], None]


@contextmanager
def plugin_packages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs packages into a folder while the block lasts."""
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)

    def install(package: str, code: str, groups: dict[str, str]) -> None:
        (folder / f"{package}.py").write_text(dedent(code))
        info = folder / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        sections = (f"[{group}]\n{entries}\n" for group, entries in groups.items())
        (info / "entry_points.txt").write_text("\n".join(sections))
        plugins._scan.cache_clear()

    yield install
    plugins._scan.cache_clear()
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(folder) in str(sys.modules[name].__file__):
            del sys.modules[name]
