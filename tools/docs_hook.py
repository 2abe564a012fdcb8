"""MkDocs hook: the generated pages, and the parts of the navigation that follow from files and code.

In ``mkdocs.yml`` a navigation entry such as ``generated: measures`` stands for a list made here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from tools.reference import api_pages, command_pages, list_pages, measure_pages


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill in the navigation."""
    generated = {
        "generated: measures": measure_pages.navigation(),
        "generated: commands": command_pages.navigation(),
        "generated: api": api_pages.navigation(),
        "generated: lists": list_pages.navigation(),
    }
    config.nav = _filled(config.nav or [], generated)
    return config


def _filled(entry: Any, generated: dict[str, list[Any]]) -> Any:
    if isinstance(entry, list):
        filled = [_filled(one, generated) for one in entry]
        return [one for one in filled if one is not None]
    if isinstance(entry, dict):
        [(title, content)] = entry.items()
        inner = _filled(content, generated)
        return None if inner is None else {title: inner}
    if entry in generated:
        return generated[entry]
    return entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in generated_pages():
        files.append(File.generated(config, path, content=text))
    return files


def generated_pages() -> list[tuple[str, str]]:
    """Path and text of every page that is made from the code."""
    return [
        *measure_pages.measure_pages(),
        *command_pages.command_pages(),
        *api_pages.api_pages(),
        *list_pages.list_pages(),
    ]
