"""No module names the services of one town, but for readers of MultiWOZ's files, published rule sets,
bAbI's restaurant and the papers: whatever is said of a domain stands in its ``domain.yaml``."""

from __future__ import annotations

import ast
from pathlib import Path

import dialgauge
from support.source_trees import syntax_nodes

SOURCE = Path(dialgauge.__file__).parent
TOWN = {"restaurant", "hotel", "attraction", "taxi"}
#: Folders and modules that may, by what they are.
MAY = {
    "readers of MultiWOZ's files": ("worlds/domain/multiwoz.py", "formats/predictions/papers.py"),
    "published rule sets": (
        *("tasks/database.py", "tasks/delexical.py", "tasks/rules.py", "tasks/recordings/compat.py"),
        *("values/published_profiles.py", "values/standard_profiles.py"),
    ),
    "bAbI": ("worlds/restaurant/", "cli/babi.py"),
    "the papers": ("reproduce/",),
}


def names_the_town(path: Path) -> bool:
    nodes = syntax_nodes(path)
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return any(text.lower() in TOWN for text in texts)


def test_only_what_is_about_the_town_names_it() -> None:
    may = tuple(beginning for beginnings in MAY.values() for beginning in beginnings)
    naming = [path.relative_to(SOURCE).as_posix() for path in sorted(SOURCE.rglob("*.py")) if names_the_town(path)]
    assert [path for path in naming if not path.startswith(may)] == []
    assert [beginning for beginning in may if not any(path.startswith(beginning) for path in naming)] == []
