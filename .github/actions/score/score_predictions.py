"""Scores predictions in CI, comments on the pull request, and fails on a significant drop against a baseline.

Settings come from variables of the environment (``action.yml``). The Markdown goes to the summary of the job and, on a
pull request, into one comment that later runs replace. The exit code is that of ``dialgauge score``: 0 all well, 1
turns without a prediction, 2 nothing could be scored, 3 a significant drop. A comment that cannot be written is a
warning: a fork's token may not write.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dialgauge
from dialgauge.cli import main as dialgauge_command
from dialgauge.report import markdown

#: GitHub refuses longer comments; the rest is for the sentence that says so.
_LONGEST = 65_000
_PAGE = 100
_MOST_PAGES = 30
_SECONDS = 30


@dataclass(frozen=True)
class Settings:
    """What the workflow asks for."""

    gold: str
    predictions: tuple[str, ...]
    baseline: str
    measures: tuple[str, ...]
    profile: str
    coverage: str
    margin: str
    fail_on_drop: bool
    comment: bool
    title: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Settings:
        """The settings in the environment."""

        def text(name: str, default: str = "") -> str:
            return environment.get(f"SCORE_{name}", "").strip() or default

        predictions = tuple(line.strip() for line in text("PREDICTIONS").splitlines() if line.strip())
        if not predictions:
            raise dialgauge.DialgaugeError("there is nothing to score: set 'predictions' to a file or folder")
        return cls(
            gold=text("GOLD"),
            predictions=predictions,
            baseline=text("BASELINE"),
            measures=tuple(text("MEASURES", "JGA F1").replace(",", " ").split()),
            profile=text("PROFILE"),
            coverage=text("COVERAGE"),
            margin=text("MARGIN"),
            fail_on_drop=_is_true(text("FAIL_ON_DROP", "true"), "fail-on-drop"),
            comment=_is_true(text("COMMENT", "true"), "comment"),
            title=text("TITLE", "dialgauge"),
        )


@dataclass(frozen=True)
class Verdict:
    """What ``dialgauge score`` found: the Markdown of the report, the drops, and whether turns were not scored."""

    report: str
    drops: tuple[str, ...]
    incomplete: bool


def command(settings: Settings, predictions: Sequence[str], *options: str) -> list[str]:
    """The command that scores some predictions as the workflow asks."""
    optional = {"--profile": settings.profile, "--coverage": settings.coverage}
    asked = [word for name, value in optional.items() if value for word in (name, value)]
    return ["score", "-m", ",".join(settings.measures), *asked, *options, "--", settings.gold or "self", *predictions]


def baseline_run(settings: Settings, folder: Path) -> str:
    """The stored run of the baseline, whose predictions are scored first; empty where there is none."""
    path = Path(settings.baseline)
    if not settings.baseline or not path.exists() or (path / "run.json").is_file():
        return settings.baseline
    run(command(settings, [settings.baseline], "--store", str(folder / "baseline")))
    return str(dialgauge.Store(folder / "baseline").open("latest").path)


def run(words: list[str]) -> int:
    """Run a command silently; its exit code, unless it is that of an error."""
    told = io.StringIO()
    with redirect_stderr(told), redirect_stdout(io.StringIO()):
        try:
            dialgauge_command(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
    if code in (0, 1, 3):
        return code
    lines = told.getvalue().splitlines()
    error = next((line for line in reversed(lines) if line.startswith("dialgauge: ")), lines[-1] if lines else "")
    raise dialgauge.DialgaugeError(error.removeprefix("dialgauge: "))


def judge(settings: Settings, folder: Path) -> Verdict:
    """Run the command, and make its verdict readable."""
    options = ["--json", str(folder / "scores.json"), "--table", str(folder / "scores.md")]
    if baseline := baseline_run(settings, folder):
        options += ["--fail-on-drop", baseline, *(["--margin", settings.margin] if settings.margin else [])]
    code = run(command(settings, settings.predictions, *options))
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    units = [unit for run in scores["runs"] for unit in run["coverage"]["units"].values()]
    checks = [check for check in scores["checks"] if check["check"] != "missing"]
    incomplete = (
        code == 1 or len(checks) < len(scores["checks"]) or any(unit["scored"] != unit["expected"] for unit in units)
    )
    drops = tuple(_sentence(check) for check in checks if not check["passed"])
    table = (folder / "scores.md").read_text(encoding="utf-8").strip()
    return Verdict(_report(settings, table, checks, incomplete), drops, incomplete)


def _sentence(check: Mapping[str, Any]) -> str:
    return f"{check['system']}: {check['sentence']}"


def _report(settings: Settings, table: str, checks: list[dict[str, Any]], incomplete: bool) -> str:
    failed = [check for check in checks if not check["passed"]]
    head = [f"❌ Significant drop: {markdown(_sentence(check))}" for check in failed]
    if checks and not failed:
        head.append("✅ No significant drop against the baseline.")
    if incomplete:
        head.append("⚠️ Not everything was scored: some turns have no prediction.")
    others = [f"- {markdown(_sentence(check))}" for check in checks if check["passed"]]
    return inert("\n\n".join([f"### {markdown(settings.title)}", *head, table, "\n".join(others)]).strip()) + "\n"


def inert(text: str) -> str:
    """The text without what GitHub would make of it beyond Markdown: mentions, references to issues, links.

    A name in a pull request is anybody's: it must not call people or point elsewhere. An invisible space after the sign
    leaves it readable.
    """
    for sign in ("@", "://", "www."):
        text = text.replace(sign, f"{sign}\u200b")
    return text.replace("\\#", "\\#\u200b")


def marker(title: str) -> str:
    """The first line of a comment, by which a later run finds it."""
    safe = "".join(letter if letter.isalnum() else "-" for letter in title)
    return f"<!-- dialgauge-score: {safe} -->"


class PullRequest:
    """The comments of the pull request that the workflow runs for."""

    def __init__(self, api: str, repository: str, number: int, token: str) -> None:
        self._api, self._token = api.rstrip("/"), token
        self._repository, self._number = repository, number

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> PullRequest | None:
        """The pull request of the event; None for events that have none."""
        path = environment.get("GITHUB_EVENT_PATH", "")
        event = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
        number = event.get("pull_request", {}).get("number")
        if number is None:
            return None
        api = environment.get("GITHUB_API_URL") or "https://api.github.com"
        return cls(api, environment["GITHUB_REPOSITORY"], int(number), environment.get("SCORE_TOKEN", ""))

    def say(self, mark: str, text: str) -> None:
        """Write the comment, in place of the one that bears the mark if there is one that may be changed."""
        content = {"body": _cut(f"{mark}\n{text}")}
        for comment in self._comments():
            if str(comment.get("body", "")).startswith(mark):
                try:
                    self._ask("PATCH", f"issues/comments/{int(comment['id'])}", content)
                except urllib.error.HTTPError as error:
                    if error.code not in (403, 404):
                        raise
                else:
                    return
        self._ask("POST", f"issues/{self._number}/comments", content)

    def _comments(self) -> Iterator[Any]:
        for page in range(1, _MOST_PAGES + 1):
            found = self._ask("GET", f"issues/{self._number}/comments?per_page={_PAGE}&page={page}")
            yield from found
            if len(found) < _PAGE:
                return

    def _ask(self, method: str, path: str, content: Any = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the address is GitHub's own
            f"{self._api}/repos/{self._repository}/{path}",
            data=None if content is None else json.dumps(content).encode(),
            method=method,
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "dialgauge-score",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            return json.loads(answer.read() or b"null")


def _cut(text: str) -> str:
    return (
        text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n\n… cut here; the summary of the job has all of it.\n"
    )


def publish(settings: Settings, verdict: Verdict, folder: Path, environment: Mapping[str, str]) -> None:
    """The report into the job's summary, the step's outputs and the pull request."""
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as out:
            out.write(verdict.report)
    path = folder / "report.md"
    path.write_text(verdict.report, encoding="utf-8")
    if outputs := environment.get("GITHUB_OUTPUT"):
        with Path(outputs).open("a", encoding="utf-8") as out:
            out.write(f"drop={'true' if verdict.drops else 'false'}\nreport={path}\n")
    if not settings.comment:
        return
    try:
        pull_request = PullRequest.of(environment)
        if pull_request is not None:
            pull_request.say(marker(settings.title), verdict.report)
    except (OSError, ValueError, KeyError) as error:
        _tell("warning", f"the comment could not be written ({error}); the summary of the job has the table")


def _tell(level: str, message: str) -> None:
    """A line that GitHub shows as an annotation; it ends such a command at a line break."""
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    sys.stdout.write(f"::{level}::{escaped}\n")


def _is_true(text: str, name: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise dialgauge.DialgaugeError(f"'{name}' is 'true' or 'false', not '{text}'")
    return text.lower() == "true"


def main(environment: Mapping[str, str]) -> int:
    """Score, publish, and end with the command's exit code; a drop that only warns leaves the code of the rest."""
    folder = Path(tempfile.mkdtemp(prefix="dialgauge-", dir=environment.get("RUNNER_TEMP") or tempfile.gettempdir()))
    try:
        settings = Settings.of(environment)
        verdict = judge(settings, folder)
    except dialgauge.DialgaugeError as error:
        _tell("error", str(error))
        return 2
    sys.stdout.write(verdict.report)
    publish(settings, verdict, folder, environment)
    if verdict.incomplete:
        _tell("error", "not everything was scored: some turns have no prediction")
    for drop in verdict.drops:
        _tell("error" if settings.fail_on_drop else "warning", f"significant drop: {drop}")
    if verdict.drops and settings.fail_on_drop:
        return 3
    return 1 if verdict.incomplete else 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
