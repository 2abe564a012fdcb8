"""``dialgauge review``: can I trust this agent's log, and what do I read first?"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dialgauge import explorer, formats, rendering, runs
from dialgauge.cli import writing
from dialgauge.cli.app import EXIT_INCOMPLETE, command
from dialgauge.cli.explore import missing_explorer
from dialgauge.cli.options import FILE, FORMATS, PATH, TOOL_DOMAINS
from dialgauge.cli.output import OnScreen
from dialgauge.cli.screen import err, out

if TYPE_CHECKING:
    from dialgauge.trials import Review

#: Letters of a page's name that come from its logs.
_LONGEST = 80
#: Lines of all reviews together, with the one that names the page, and their width.
_MOST_LINES, _WIDTH = 25, 80
#: Letters of an id that is shown whole, and lines for the table of several logs.
_LONG_NAME, _MOST_ROWS = 40, 16
_DETAIL, _DETAIL_OF_ONE = "--detail has the whole review of each log.", "--detail has the whole review."


@command("review")
@click.argument(
    "logs",
    nargs=-1,
    required=True,
    metavar="LOG...",
    help="Logs of agents in any known format: tau, chat messages, inspect, ...",
)
@click.option(
    "--format", "format", metavar="NAME", shell_complete=FORMATS, help="Input format; overrides format detection."
)
@click.option(
    "--success", "success", default="", metavar="FIELD", help="The field of a log that says whether it passed."
)
@click.option(
    "--domain",
    "domain",
    metavar="NAME|FOLDER",
    shell_complete=TOOL_DOMAINS,
    help="Tool domain to replay calls in. Default: airline or retail, if the log is from there.",
)
@click.option("--tasks", "tasks", type=PATH, help="Tasks to judge by. Default: those of the log or domain.")
@click.option("--detail", "detail", is_flag=True, help="The whole review of every log, however many lines that takes.")
@click.option("-o", "--out", "page", type=FILE, help="The page. Default: review-NAME.html in the store.")
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@click.option("--json", "json", type=FILE, help="Write JSON to FILE; - for stdout, without tables.")
def app(
    logs: tuple[str, ...],
    format: str | None,
    success: str,
    domain: str | None,
    tasks: Path | None,
    detail: bool,
    page: Path | None,
    store: Path | None,
    json: Path | None,
) -> int:
    """Store a log as a run, write its page, and print at most 25 lines: how complete and consistent the log is, how
    often the agent passes, which tasks are unfair, whose fault failures were, and which conversations to read first.

    Several logs share the 25 lines: a table, and what to read first of each. No language model is used. If something
    cannot be determined, a line says what would be needed. Code in a domain's folder runs with your permissions. Exit
    code: 0 nothing contradicts the log, 1 something does or it is incomplete.
    """
    from dialgauge.trials import same_reviews

    opened = runs.Store(store)
    opened.check_writable()
    named = formats.named_files(logs)
    reviews = [
        _reviewed(name, source, opened, domain=domain, tasks=tasks, format=format, success=success)
        for name, source in named.items()
    ]
    page = page or opened.folder / f"review-{_page_name(named)}.html"
    last = [f"Page: {page}{' (in place of an older one)' if page.exists() else ''}"]
    explorer.write_report(page, [each.run for each in reviews], title="Review")
    writing.write_document(json, "review", {"logs": [each.document() for each in reviews]})
    if writing.on_screen(json):
        same = [f"{' and '.join(names)} are the same log under different names." for names in same_reviews(reviews)]
        last = [*_folded(same), *last]
        if detail or len(reviews) == 1:
            room = sys.maxsize if detail else _MOST_LINES - len(last)
            lines = [line for each in reviews for line in _log_lines(each, opened, store, room)]
        else:
            lines = several_lines(reviews, opened, store, _MOST_LINES - len(last))
        for line in (*lines, *last):
            out.print(line)
    return 0 if all(each.sound for each in reviews) else EXIT_INCOMPLETE


def _page_name(logs: Iterable[str]) -> str:
    """The names of the logs as part of the name of a file, none of them too long for it."""
    return re.sub(r"[^\w.-]+", "-", "-".join(logs))[:_LONGEST].strip("-.") or "log"


def _reviewed(name: str, source: str, store: runs.Store, **how: Any) -> Review:
    from dialgauge.api import review_log

    review = review_log(source, name, **how, store=store, progress=OnScreen())
    err.print(f"stored as run {review.run.id} in {store.folder}")
    return review


def _folded(sentences: Iterable[str]) -> list[str]:
    return [line for sentence in sentences for line in rendering.fold_sentence(sentence, _WIDTH)]


def _log_lines(review: Review, opened: runs.Store, store: Path | None, room: int) -> list[str]:
    """One log: everything that is said, and what to read, shortened and joined where there is not room for all."""
    sentences = [*review.lines, *([f"Exit code 1: {', '.join(review.doubts)}."] if review.doubts else [])]
    commands = _commands(review, opened, store)
    joined = [sentences[0], " ".join(sentences[1:])]
    for texts, short in ((sentences, False), (sentences, True), (joined, True)):
        lines = [*_folded(texts), *_reading_lines(review, commands, short=short)]
        if len(lines) <= room:
            return lines
    return [*lines[: room - 1], _DETAIL_OF_ONE]


def _reading_lines(review: Review, commands: Sequence[str], *, short: bool) -> list[str]:
    """Each conversation to read with the command that opens it; a line for each of these, if it is to be short."""
    readings = list(_readings(review))
    if not readings:
        return [*commands[:1]]
    if not commands:
        return ["Read first, on the page:", *(line for each in readings for line in _shown(f"  {each}", short=short))]
    lines = ["Read first (each command opens one at the message named):"]
    for reading, opening in zip(readings, commands, strict=True):
        lines += [*_shown(f"  {reading}", short=short), opening]
    return lines


def _readings(review: Review) -> Iterator[str]:
    names = [" ".join(each.conversation.splitlines()) for each in review.readings]
    for each, name in zip(review.readings, _shortened(names, review), strict=True):
        yield f"{name}{'' if each.message is None else f', message {each.message}'}: {each.why}"


def _shortened(names: Sequence[str], review: Review) -> list[str]:
    """Long ids as their beginning and end, as much of them as tells each from all others of the log."""
    if all(len(name) <= _LONG_NAME for name in names):
        return list(names)
    known = [dialogue.id for dialogue in review.run.dialogues()]
    return [_abbreviated(name, known) for name in names]


def _abbreviated(name: str, known: Sequence[str]) -> str:
    for size in range(_LONG_NAME // 2, len(name) // 2):
        head, tail = name[:size], name[-size:]
        if sum(other.startswith(head) and other.endswith(tail) for other in known) == 1:
            return f"{head}…{tail}"
    return name


def _shown(text: str, *, short: bool) -> list[str]:
    lines = _folded([text])
    return lines if not short or len(lines) == 1 else [f"{text[: _WIDTH - 1].rstrip()}…"]


def _commands(review: Review, opened: runs.Store, store: Path | None) -> list[str]:
    """What opens each conversation to read first; without any, the run. Nothing where no pages can be served."""
    if missing_explorer() is not None:
        return []
    run, where = opened.short_id(review.run.id), f" --store {shlex.quote(str(store))}" if store else ""
    numbers = range(1, len(review.readings) + 1)
    each = [f"dialgauge explore {run} --read {number}{where}" for number in numbers]
    return [f"    {writing.typed_command(line)}" for line in each or [f"dialgauge explore {run}{where}"]]


def several_lines(reviews: Sequence[Review], opened: runs.Store, store: Path | None, room: int) -> list[str]:
    """Several logs: a table of them, then the first conversation to read of each, as far as there is room."""
    shown = len(reviews)
    while shown > 1 and len(_table_lines(reviews[:shown])) > _MOST_ROWS:
        shown -= 1
    more = [f"{len(reviews) - shown:,} more logs are on the page."] if shown < len(reviews) else []
    lines = [*_table_lines(reviews[:shown]), *more]
    to_read: list[str] = []
    for each in reviews:
        for reading in list(_readings(each))[:1]:
            own = [*_shown(f"  {each.run.name}, {reading}", short=True), *_commands(each, opened, store)[:1]]
            if len(lines) + len(to_read) + len(own) + 2 <= room:
                to_read += own
    return [*lines, *(["Read first:", *to_read] if to_read else []), _DETAIL]


def _table_lines(reviews: Sequence[Review]) -> list[str]:
    numbers = [rendering.Column(name, align="right") for name in ("scored", "pass^1")]
    table = rendering.Table("", ["log", *numbers, "contradicted by", "whose fault"])
    for each in reviews:
        scored, rate = each.run.coverage.units["conversations"], each.run.scores.get("pass^1")
        counts = each.blame.counts if each.blame is not None else {}
        table.add(
            each.run.name,
            f"{scored.scored or 0:,}/{scored.expected or 0:,}",
            None if rate is None or rate.value is None else f"{100 * rate.value:.1f}%",
            ", ".join(each.doubts) or "nothing",
            ", ".join(f"{side} {number:,}" for side, number in counts.items() if number) or None,
        )
    return table.render("terminal").fitted(_WIDTH).text().rstrip("\n").splitlines()
