"""No module names the services of one town, but for its own folder, readers of MultiWOZ's files, published rule sets,
bAbI's restaurant and the papers: whatever is said of a domain stands in its ``domain.yaml``."""

from __future__ import annotations

import ast
from pathlib import Path

import dialgauge

SOURCE = Path(dialgauge.__file__).parent
TOWN = {"restaurant", "hotel", "attraction", "taxi"}
#: Folders and modules that may, by what they are.
MAY = {
    "the worlds themselves": ("worlds/",),
    "readers of MultiWOZ's files": ("formats/", "tasks/gold.py"),
    "published rule sets": (
        *("tasks/delexical.py", "tasks/rules.py", "tasks/measures.py", "tasks/tables.py", "tasks/recordings/compat.py"),
        *("values/published_profiles.py", "values/standard_profiles.py"),
    ),
    "bAbI": ("agents/restaurant_user.py", "agents/rules.py", "cli/babi", "demo/steps.py", "lab/interaction.py"),
    "the papers": ("reproduce/",),
    # The model that understands the town's own sentences was trained on MultiWOZ; other domains have domain_nlu.
    "the town's trained NLU": tuple(
        f"agents/speech/{name}.py" for name in ("mentions", "nlu_features", "nlu_samples", "spoken_words")
    ),
}


def names_the_town(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return any(text.lower() in TOWN for text in texts)


def test_only_what_is_about_the_town_names_it() -> None:
    may = tuple(beginning for beginnings in MAY.values() for beginning in beginnings)
    naming = [path.relative_to(SOURCE).as_posix() for path in sorted(SOURCE.rglob("*.py")) if names_the_town(path)]
    assert naming, "the test looks at something"
    assert [path for path in naming if not path.startswith(may)] == []
