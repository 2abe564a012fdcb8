"""``dialgauge review``: can I trust this agent's log, and what do I read first?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dialgauge.cli.choices import names_of
from dialgauge.cli.common import JsonOption, StoreOption, on_screen, print_sentence, typed_command, write_document
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Argument, Option, OutputFile, application
from dialgauge.cli.output import OnScreen
from dialgauge.cli.screen import err, out

if TYPE_CHECKING:
    from dialgauge.runs import Store
    from dialgauge.tasks import Review

#: Letters of a page's name that come from its logs.
_LONGEST = 80
#: Lines of a review, with the one that names the page.
_MOST_LINES = 25
_LONG_NAME = 60

app = application("One page on an agent's log: what it is, whether it is what it says, whose fault its failures were.")


@app.command()
def review(
    logs: Annotated[
        list[str],
        Argument(metavar="LOG...", help="Logs of agents in any known format: tau, chat messages, inspect, ..."),
    ],
    domain: Annotated[
        str | None,
        Option(
            "--domain",
            metavar="NAME|FOLDER",
            known=names_of("worlds.tools", "installed_domains", closed=False),
            help="Tool domain to replay calls in. Default: airline or retail, if the log is from there.",
        ),
    ] = None,
    tasks: Annotated[
        Path | None, Option("--tasks", metavar="FILE", help="Tasks to judge by. Default: those of the log or domain.")
    ] = None,
    page: Annotated[
        Path | None, OutputFile("--out", "-o", metavar="FILE", help="The page. Default: review-NAME.html in the store.")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = None,
) -> int:
    """Store a log as a run, write its page, and print at most 25 lines: how complete and consistent the log is, how
    often the agent passes, which tasks are unfair, whose fault failures were, and which conversations to read first.

    No language model is used. If something cannot be determined, a line says what would be needed. Code in a domain's
    folder runs with your permissions. Exit code: 0 nothing contradicts the log, 1 something does or it is incomplete.
    """
    from dialgauge.explorer import write_report
    from dialgauge.formats import named_files
    from dialgauge.runs import Store
    from dialgauge.tasks import same_reviews

    place = Store(store)
    place.check_writable()
    named = named_files(logs)
    reviews = [_reviewed(name, source, domain, tasks, place) for name, source in named.items()]
    page = page or place.folder / f"review-{_page_name(named)}.html"
    replaced = page.exists()
    write_report(page, [each.run for each in reviews], title="Review")
    write_document(json, "review", {"logs": [each.document() for each in reviews]})
    if on_screen(json):
        for each in reviews:
            for line in _screen_lines(each, named[each.run.name], domain, store):
                out.print(line)
        for names in same_reviews(reviews):
            print_sentence(f"{' and '.join(names)} are the same log under different names.")
        out.print(f"Page: {page}{' (in place of an older one)' if replaced else ''}")
    return 0 if all(each.sound for each in reviews) else EXIT_INCOMPLETE


def _page_name(logs: Iterable[str]) -> str:
    """The names of the logs as part of the name of a file, none of them too long for it."""
    return re.sub(r"[^\w.-]+", "-", "-".join(logs))[:_LONGEST].strip("-.") or "log"


def _reviewed(name: str, source: str, domain: str | None, tasks: Path | None, store: Store) -> Review:
    from dialgauge.api import review_log

    review = review_log(source, name, domain=domain, tasks=tasks, store=store, progress=OnScreen())
    err.print(f"stored as run {review.run.id} in {store.folder}")
    return review


def _screen_lines(review: Review, source: str, domain: str | None, store: Path | None) -> list[str]:
    """A review that fits a screen: everything that is said, and as much to read as there is room for."""
    from dialgauge.report import fold_sentence

    doubts = [f"Exit code 1: {', '.join(review.doubts)}."] if review.doubts else []
    said = [part for line in (*review.lines, *doubts) for part in fold_sentence(line, 80)]
    failures = {each.conversation for each in review.blame.failures} if review.blame is not None else set()
    readings = review.readings
    failed = [each.conversation for each in readings if each.conversation in failures]
    commands = _commands(review.run.id, source, failed[:1], domain, store)
    room = _MOST_LINES - len(said) - sum(len(each.splitlines()) for each in commands) - 2
    listed: list[str] = []
    for reading in readings:
        where = "" if reading.message is None else f", message {reading.message}"
        named = f"  {' '.join(reading.conversation.splitlines())}{where}:"
        if len(named) > _LONG_NAME:  # whole, so that it can be copied
            shown = [named, *fold_sentence(f"    {reading.why}", 80)]
        else:
            shown = fold_sentence(f"{named} {reading.why}", 80)
        if len(listed) + len(shown) > room:
            break
        listed += shown
    if not listed:
        return [*said, *commands]
    if not failed:
        how = "the explorer has them"
    elif len(failed) == len(readings):
        how = "the first command opens each by its id"
    else:
        how = "the first command opens a failure by its id, the explorer each"
    return [*said, f"Read first ({how}):", *listed, *commands]


def _commands(run: str, source: str, failed: Sequence[str], domain: str | None, store: Path | None) -> list[str]:
    world = f" --domain {shlex.quote(domain)}" if domain else ""
    place = f" --store {shlex.quote(str(store))}" if store else ""
    file = shlex.quote(source)
    typed = [f"dialgauge tasks blame {file} --dialogue {shlex.quote(each)}{world}" for each in failed]
    return [f"  {typed_command(each)}" for each in (*typed, f"dialgauge explore {run}{place}")]
