"""The GitHub action: its script with real scores, a fake event, and a server that stands for GitHub's API."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import dialgauge
from dialgauge import Dialogue, Turn
from dialgauge.dialogue import State

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "score"
SCRIPT = ACTION / "score_predictions.py"
EAST: State = {"hotel": {"area": ("east",)}}
WEST: State = {"hotel": {"area": ("west",)}}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score_predictions", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["score_predictions"] = module
    spec.loader.exec_module(module)
    return module


class GitHub:
    """The comments of pull request 7 of me/mine, and what was asked of the server that keeps them."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str]] = []
        self.tokens: set[str] = set()
        #: Comments that belong to others, and whether the token may write at all.
        self.foreign: set[int] = set()
        self.read_only = False

    def answer(self, method: str, path: str, content: Any) -> tuple[int, Any]:
        self.asked.append((method, path))
        if method == "GET" and path.startswith("/repos/me/mine/issues/7/comments?"):
            page = int(re.findall(r"[?&]page=(\d+)", path)[0])
            return 200, self.comments[100 * (page - 1) : 100 * page]
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "POST" and path == "/repos/me/mine/issues/7/comments":
            self.comments.append({"id": len(self.comments) + 1, "body": content["body"]})
            return 201, self.comments[-1]
        if method == "PATCH" and (found := re.fullmatch(r"/repos/me/mine/issues/comments/(\d+)", path)):
            number = int(found[1])
            if number in self.foreign:
                return 403, {}
            self.comments[number - 1]["body"] = content["body"]
            return 200, self.comments[number - 1]
        return 404, {}


@pytest.fixture
def github() -> Iterator[tuple[GitHub, str]]:
    state = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            content = json.loads(self.rfile.read(length)) if length else None
            state.tokens.add(self.headers.get("Authorization", ""))
            status, answer = state.answer(self.command, self.path, content)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield state, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def write_predictions(path: Path, wrong: int, dialogues: int = 40) -> Path:
    """A tracker that is wrong in the first dialogues."""
    dialgauge.write(
        [
            Dialogue(
                id=f"d{number}",
                turns=(Turn(speaker="user", text="x", predicted=WEST if number < wrong else EAST),),
            )
            for number in range(dialogues)
        ],
        path,
        format="native",
    )
    return path


@pytest.fixture
def workflow(tmp_path: Path, github: tuple[GitHub, str]) -> dict[str, str]:
    """The environment of a step that runs for a pull request."""
    gold = [Dialogue(id=f"d{number}", turns=(Turn(speaker="user", text="x", state=EAST),)) for number in range(40)]
    dialgauge.write(gold, tmp_path / "gold.jsonl", format="native")
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"action": "opened", "pull_request": {"number": 7}}))
    return {
        "SCORE_GOLD": str(tmp_path / "gold.jsonl"),
        "SCORE_PREDICTIONS": str(write_predictions(tmp_path / "mine.jsonl", 20)),
        "SCORE_BASELINE": str(write_predictions(tmp_path / "before.jsonl", 4)),
        "SCORE_MEASURES": "JGA",
        "SCORE_TOKEN": "secret",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "me/mine",
        "GITHUB_API_URL": github[1],
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "RUNNER_TEMP": str(tmp_path),
    }


def outputs(workflow: dict[str, str]) -> dict[str, str]:
    lines = Path(workflow["GITHUB_OUTPUT"]).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_a_significant_drop_fails_and_is_told_everywhere(
    workflow: dict[str, str], github: tuple[GitHub, str], tmp_path: Path
) -> None:
    """As the runner starts it: a process of its own, with nothing but its environment."""
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT],
        env=workflow | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    told = "mine: JGA dropped by 40.00 points from 90.00% to 50.00% compared with "
    assert f"::error::significant drop: {told.replace('%', '%25')}" in done.stdout
    [comment] = github[0].comments
    assert comment["body"].startswith("<!-- dialgauge-score: dialgauge -->\n### dialgauge\n")
    assert "❌ Significant drop: mine: JGA dropped by 40.00 points" in comment["body"]
    assert re.search(r"\| JGA \| 50\.00 \\\[\d+\.\d\d, \d+\.\d\d\\\] \|", comment["body"])
    assert re.search(r"95% interval \d+\.\d\d to \d+\.\d\d points, p = 0\.000", comment["body"])
    report = Path(outputs(workflow)["report"]).read_text("utf-8")
    assert outputs(workflow)["drop"] == "true"
    assert Path(workflow["GITHUB_STEP_SUMMARY"]).read_text("utf-8") == report
    assert comment["body"].endswith(report)
    assert github[0].tokens == {"Bearer secret"}
    assert "secret" not in done.stdout + done.stderr


def test_no_drop_passes(script: ModuleType, workflow: dict[str, str], github: tuple[GitHub, str]) -> None:
    better = workflow | {
        "SCORE_PREDICTIONS": workflow["SCORE_BASELINE"],
        "SCORE_BASELINE": workflow["SCORE_PREDICTIONS"],
    }
    assert script.main(better) == 0
    assert "✅ No significant drop" in github[0].comments[0]["body"]
    assert (
        "- mine: " not in github[0].comments[0]["body"] and "JGA rose by 40.00 points" in github[0].comments[0]["body"]
    )
    assert outputs(workflow)["drop"] == "false"


def test_a_drop_can_be_a_warning(
    script: ModuleType, workflow: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(workflow | {"SCORE_FAIL_ON_DROP": "false"}) == 0
    assert "::warning::significant drop: mine: JGA" in capsys.readouterr().out
    assert outputs(workflow)["drop"] == "true"


def test_the_baseline_may_be_a_stored_run(script: ModuleType, workflow: dict[str, str], tmp_path: Path) -> None:
    """Called as the predictions are, as it was stored by the same command on the main branch."""
    scored = dialgauge.score(workflow["SCORE_GOLD"], {"mine": workflow["SCORE_BASELINE"]}, measures=["JGA"])
    stored = dialgauge.Store(tmp_path / "runs").add(scored.runs[0])
    assert script.main(workflow | {"SCORE_BASELINE": str(stored.path)}) == 3
    assert "from 90.00% to 50.00%" in Path(workflow["GITHUB_STEP_SUMMARY"]).read_text("utf-8")


def test_the_comment_is_replaced(script: ModuleType, workflow: dict[str, str], github: tuple[GitHub, str]) -> None:
    state, _ = github
    state.comments = [{"id": number + 1, "body": "talk"} for number in range(130)]
    script.main(workflow)
    script.main(workflow | {"SCORE_BASELINE": ""})
    assert len(state.comments) == 131
    assert "drop" not in state.comments[-1]["body"]
    script.main(workflow | {"SCORE_TITLE": "On SGD"})
    assert len(state.comments) == 132


def test_another_mans_comment_with_the_mark_is_left(
    script: ModuleType, workflow: dict[str, str], github: tuple[GitHub, str]
) -> None:
    state, _ = github
    state.comments = [{"id": 1, "body": "<!-- dialgauge-score: dialgauge -->\nmine!"}]
    state.foreign = {1}
    script.main(workflow)
    assert state.comments[0]["body"].endswith("mine!") and len(state.comments) == 2


@pytest.mark.parametrize("fault", ["read-only", "no server", "no pull request", "switched off"])
def test_without_a_comment_the_verdict_is_the_same(
    fault: str,
    script: ModuleType,
    workflow: dict[str, str],
    github: tuple[GitHub, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    if fault == "read-only":
        github[0].read_only = True
    elif fault == "no server":
        workflow["GITHUB_API_URL"] = "http://127.0.0.1:1"
    elif fault == "no pull request":
        Path(workflow["GITHUB_EVENT_PATH"]).write_text('{"ref": "refs/heads/main"}')
    else:
        workflow["SCORE_COMMENT"] = "false"
    assert script.main(workflow) == 3
    assert "❌ Significant drop" in Path(workflow["GITHUB_STEP_SUMMARY"]).read_text("utf-8")
    warned = "::warning::the comment could not be written" in capsys.readouterr().out
    assert warned == (fault in ("read-only", "no server"))
    assert not github[0].comments


def test_names_of_a_pull_request_are_only_text(
    script: ModuleType, workflow: dict[str, str], github: tuple[GitHub, str], tmp_path: Path
) -> None:
    odd = write_predictions(tmp_path / "@org #12 <img src=x> [a](http:__x) |x| `x` www.evil.org.jsonl", 20)
    assert script.main(workflow | {"SCORE_PREDICTIONS": str(odd), "SCORE_TITLE": "@team <b>#1"}) == 3
    body = github[0].comments[0]["body"]
    assert body.startswith("<!-- dialgauge-score: -team--b--1 -->\n")
    text = "\n".join(line for line in body.splitlines()[1:] if not line.startswith("`profile:"))  # the signature
    assert not re.search(r"@\w", text) and not re.search(r"#\d", text) and "www.evil" not in text
    assert not re.search(r"(?<!\\)[<>`]|(?<!\\)\[a|\]\(", text.replace("\\]", "").replace("\\[", ""))
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| JGA")}
    assert widths == {5}


def test_missing_predictions_count_as_wrong_or_fail(
    script: ModuleType, workflow: dict[str, str], tmp_path: Path
) -> None:
    """Leaving out what is hard must not look better."""
    few = str(write_predictions(tmp_path / "few.jsonl", 0, dialogues=20))
    counted = workflow | {"SCORE_PREDICTIONS": few, "SCORE_COVERAGE": "empty"}
    assert script.main(counted) == 3
    left_out = workflow | {"SCORE_PREDICTIONS": few}
    assert script.main(left_out) == 1
    assert "⚠️ Not everything was scored" in Path(workflow["GITHUB_STEP_SUMMARY"]).read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"SCORE_PREDICTIONS": " \n"}, "there is nothing to score"),
        ({"SCORE_PREDICTIONS": "nowhere.json"}, "nowhere.json: there is no such file or folder"),
        ({"SCORE_BASELINE": "nowhere.json"}, "there is no run 'nowhere.json'"),
        ({"SCORE_MEASURES": "JAG"}, "JAG"),
        ({"SCORE_COMMENT": "yes"}, "'comment' is 'true' or 'false', not 'yes'"),
    ],
)
def test_bad_settings_are_one_sentence(
    change: dict[str, str],
    sentence: str,
    script: ModuleType,
    workflow: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert script.main(workflow | change) == 2
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("::error::") and sentence in line


def test_the_action_hands_over_what_the_script_reads() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    [step] = [one for one in action["runs"]["steps"] if one.get("id") == "score"]
    read = {f"SCORE_{name}" for name in re.findall(r'text\("(\w+)"', SCRIPT.read_text())} | {"SCORE_TOKEN"}
    assert set(step["env"]) == read
    for name, value in step["env"].items():
        assert value == f"${{{{ inputs.{name.removeprefix('SCORE_').lower().replace('_', '-')} }}}}"
    assert set(re.findall(r"inputs\.([\w-]+)", (ACTION / "action.yml").read_text())) == set(action["inputs"])
    assert all("${{" not in one.get("run", "") for one in action["runs"]["steps"]), "an input would be run as a script"
