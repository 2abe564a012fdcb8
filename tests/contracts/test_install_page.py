"""The page on installing names every extra, and only those that there are."""

from __future__ import annotations

import re
import tomllib

from support.doc_pages import DOCS, ROOT


def test_the_table_of_extras_is_that_of_the_package() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    section = (DOCS / "install.md").read_text("utf-8").partition("## Extras")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)) == sorted(extras)
