"""The locks agree with each other and with what the package declares."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from install.fresh import ROOT


def lock(name: str) -> dict[str, str]:
    """Package to its pinned version."""
    lines = (ROOT / name).read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith((" ", "#")))


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return table


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!\[; ]", requirement)[0].lower() for requirement in requirements}


def test_the_demo_installs_a_part_of_what_the_tests_install() -> None:
    demo, everything = lock("requirements-demo.lock"), lock("requirements.lock")
    assert demo.items() <= everything.items()
    assert len(demo) < len(everything) / 2


def test_the_demo_has_what_it_needs_and_nothing_for_developers() -> None:
    declared = project()
    demo = set(lock("requirements-demo.lock"))
    assert names(declared["dependencies"]) | names(declared["optional-dependencies"]["explorer"]) <= demo
    tools = names(declared["optional-dependencies"]["dev"]) - {"jsonschema"}  # which altair needs too
    assert not demo & (tools | {"torch", "scipy", "pyarrow", "pandas"})


def test_torch_is_pinned_by_the_lock_alone() -> None:
    (torch,) = project()["optional-dependencies"]["neural"]
    assert torch.startswith("torch>=")
    assert "torch" in lock("requirements.lock")
