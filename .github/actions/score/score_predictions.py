"""Scores predictions in CI, comments on the pull request, and fails on a significant drop against a baseline.

Settings come from variables of the environment (``action.yml``). The Markdown goes to the summary of the job and, on a
pull request, into one comment that later runs replace. Exit code: 0 all well, 1 a significant drop or turns without a
prediction, 2 nothing could be scored. A comment that cannot be written is a warning: a fork's token may not write.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dialgauge
from dialgauge.comparison import Difference
from dialgauge.formats import system_names
from dialgauge.report import Cell, Column, Table, markdown, score_column
from dialgauge.runs import Run
from dialgauge.tracking import TrackingRuns

BASELINE = "baseline"
#: One number for scores and comparisons, so that a score has one interval.
_RESAMPLES = 10_000
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
            measures=tuple(text("MEASURES", "JGA").replace(",", " ").split()),
            profile=text("PROFILE", "canon"),
            coverage=text("COVERAGE", "empty"),
            fail_on_drop=_is_true(text("FAIL_ON_DROP", "true"), "fail-on-drop"),
            comment=_is_true(text("COMMENT", "true"), "comment"),
            title=text("TITLE", "dialgauge"),
        )


@dataclass(frozen=True)
class Verdict:
    """The Markdown of the report, the drops in it, and whether some turns were not scored."""

    report: str
    drops: tuple[str, ...]
    incomplete: tuple[str, ...]


def judge(settings: Settings) -> Verdict:
    """Score the predictions, and compare each with the baseline."""
    names = system_names(list(settings.predictions))
    results = _scored(settings, dict(zip(names, settings.predictions, strict=True)))
    incomplete = tuple(f"{one.name}: {one.coverage.sentence()}" for one in results.systems if not one.coverage.complete)
    if settings.coverage == "empty":  # then what is missing was scored, as wrong
        incomplete = ()
    tables, drops, notes = [results.table(compact=True)], [], []
    if settings.baseline:
        base = _baseline(settings)
        for run in results.runs:
            comparison = dialgauge.compare([base, run], measures=settings.measures, resamples=_RESAMPLES)
            old, new = comparison.systems
            found = [comparison.difference(new, old, measure) for measure in comparison.measures]
            tables.append(_drop_table(run, comparison, found))
            drops += [_sentence(run, one) for one in found if one.significant and one.better == old]
            notes += [f"{run.name}: {note}" for note in comparison.notes]
    return Verdict(_report(settings, tables, drops, incomplete, notes), tuple(drops), incomplete)


def _scored(settings: Settings, predictions: Mapping[str, str]) -> TrackingRuns:
    return dialgauge.score(
        settings.gold or None,
        dict(predictions),
        measures=list(settings.measures),
        profile=settings.profile,
        coverage=settings.coverage,
        resamples=_RESAMPLES,
    )


def _baseline(settings: Settings) -> Run:
    path = Path(settings.baseline)
    if (path / "run.json").is_file():
        return Run.load(path)
    return _scored(settings, {BASELINE: settings.baseline}).runs[0]


def _drop_table(run: Run, comparison: dialgauge.Comparison, found: list[Difference]) -> Table:
    titles = (BASELINE, "now", "difference")
    numbers = [Column(title, align="right") for title in titles]
    table = Table(f"{run.name} against the {BASELINE}", [Column("measure"), *numbers, Column("p"), Column("verdict")])
    for place, one in enumerate(found):
        look, signed = (score_column("", run.scores[one.measure], signed=sign) for sign in (False, True))
        values, ends = comparison.values[:, place], comparison.intervals[:, place]
        before, after = (
            Cell(float(values[row]), float(ends[row, 0]), float(ends[row, 1]), like=look) for row in (0, 1)
        )
        verdict = "could be noise" if not one.significant else "better" if one.better == one.first else "worse"
        difference = Cell(one.difference, one.low, one.high, like=signed)
        table.add(one.measure, before, after, difference, one.adjusted, verdict)
    table.notes.append(f"{comparison.basis}.")
    return table


def _sentence(run: Run, one: Difference) -> str:
    look = score_column("", run.scores[one.measure])
    scale = 100 if look.percent else 1
    size = f"{scale * abs(one.difference):.{look.digits}f}{' points' if look.percent else ''}"
    return f"{run.name}: {one.measure} is {size} worse than the {BASELINE}'s (p = {one.adjusted:.4f})"


def _report(
    settings: Settings, tables: list[Table], drops: list[str], incomplete: tuple[str, ...], notes: list[str]
) -> str:
    if drops:
        head = [f"❌ Significant drop: {markdown(drop)}." for drop in drops]
    elif settings.baseline:
        head = ["✅ No significant drop against the baseline."]
    else:
        head = []
    head += [f"⚠️ Not everything was scored: {markdown(one)}" for one in incomplete]
    body = [table.render("markdown") for table in tables]
    told = [f"*{markdown(note)}*" for note in notes]
    return inert("\n\n".join([f"### {markdown(settings.title)}", *head, *body, *told])) + "\n"


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


def publish(settings: Settings, verdict: Verdict, environment: Mapping[str, str]) -> None:
    """The report into the job's summary, the step's outputs and the pull request."""
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as out:
            out.write(verdict.report)
    folder = environment.get("RUNNER_TEMP") or tempfile.gettempdir()
    path = Path(tempfile.mkdtemp(prefix="dialgauge-", dir=folder), "report.md")
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
    """Score, publish, and say by the exit code how it went."""
    try:
        settings = Settings.of(environment)
        verdict = judge(settings)
    except dialgauge.DialgaugeError as error:
        _tell("error", str(error))
        return 2
    sys.stdout.write(verdict.report)
    publish(settings, verdict, environment)
    for one in verdict.incomplete:
        _tell("error", f"not everything was scored: {one}")
    for drop in verdict.drops:
        _tell("error" if settings.fail_on_drop else "warning", f"significant drop: {drop}")
    return 1 if verdict.incomplete or (verdict.drops and settings.fail_on_drop) else 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
