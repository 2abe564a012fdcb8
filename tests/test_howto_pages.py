"""The how-to pages: what tests/docs/test_blocks_run.py, which runs their commands, does not see."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.extend_pages import HOWTO, ExtendPage

ACTION = Path(__file__).parents[1] / ".github" / "actions" / "score" / "action.yml"


def test_the_workflow_uses_inputs_that_the_action_has() -> None:
    page = ExtendPage("ci", HOWTO)
    workflow = yaml.safe_load(page.files["score.yml"])
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    [step] = [one for one in workflow["jobs"]["score"]["steps"] if "actions/score" in one.get("uses", "")]
    assert set(step["with"]) <= set(action["inputs"])
    text = page.path.read_text("utf-8")
    assert all(f"`{name}`" in text for name in (*action["inputs"], *action["outputs"]))
    for name, one in action["inputs"].items():
        if one.get("default", "").isalnum():
            assert one["default"] in text, name


#: Stand-ins for the two packages: they print what they are given.
STAND_INS = {
    "mlflow": """
from contextlib import nullcontext as start_run
def log_metrics(numbers): print("mlflow", numbers)
""",
    "wandb": """
class Run:
    def __enter__(self): return self
    def __exit__(self, *error): pass
    def log(self, numbers): print("wandb", numbers)
def init(project): return Run()
""",
}


@pytest.mark.parametrize("package", STAND_INS)
def test_scores_are_handed_over(package: str, tmp_path: Path) -> None:
    page = ExtendPage("python-ecosystem", HOWTO)
    page.write(tmp_path)
    for name in ("gold.jsonl", "careful.jsonl"):
        shutil.copy(HOWTO.parent / "examples" / name, tmp_path)
    (tmp_path / f"{package}.py").write_text(STAND_INS[package])
    command = [sys.executable, "log_scores.py", package]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert f"{package} {{'JGA/value': 0.69" in printed
    assert "'FGA_0.5/value'" in printed
