"""``dialgauge review``: can I trust this agent's log, and what do I read first?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
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

app = application("One page on an agent's log: what it is, whether it is what it says, whose fault its failures were.")


@app.command()
def review(
    logs: Annotated[
        list[str],
        Argument(metavar="LOG...", help="Logs of agents in any format that is read: tau, chat messages, inspect, ..."),
    ],
    domain: Annotated[
        str | None,
        Option(
            "--domain",
            metavar="NAME|FOLDER",
            known=names_of("worlds.tools", "installed_domains", closed=False),
            help="Tool domain to replay calls in. Default: airline or retail, where the log is theirs.",
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
    """Store a log as a run, write its page, and say in at most 25 lines what it is, whether it is what it says, how
    often it passes, which tasks are unfair, whose fault failures were, and which conversations to read first.

    No model is asked. What cannot be said of a log is a line that says what it would take. The code of a domain's
    folder runs with your own rights. Exit code: 0 nothing contradicts the log, 1 something does or it is incomplete.
    """
    from dialgauge.explorer import write_report
    from dialgauge.formats import named_files
    from dialgauge.runs import Store

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
            for line in each.lines:
                print_sentence(line)
            _print_readings(each, named[each.run.name], domain, store)
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


def _print_readings(review: Review, source: str, domain: str | None, store: Path | None) -> None:
    from dialgauge.tasks import short_id

    readings = review.readings
    if not readings:
        return
    out.print("Read first:")
    for reading in readings:
        where = "" if reading.message is None else f", message {reading.message}"
        print_sentence(f"  {short_id(reading.conversation)}{where}: {reading.why}")
    failures = {each.conversation for each in review.blame.failures} if review.blame is not None else set()
    if failed := next((each.conversation for each in readings if each.conversation in failures), None):
        world = f" --domain {shlex.quote(domain)}" if domain else ""
        file, conversation = shlex.quote(source), shlex.quote(failed)
        out.print(f"  {typed_command(f'dialgauge tasks blame {file} --dialogue {conversation}{world}')}")
    place = f" --store {shlex.quote(str(store))}" if store else ""
    out.print(f"  {typed_command(f'dialgauge explore {review.run.id}{place}')}")
