"""``dialgauge users profile``: what users do in corpora of conversations, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge import formats, users
from dialgauge.cli.common import ResamplesOption, SeedOption, TableOutput
from dialgauge.cli.options import Argument, Option, command


@command()
def profile(
    conversations: Annotated[
        list[str], Argument(help="Conversations of people or of simulated users: one source each.")
    ],
    beside: Annotated[
        Path | None,
        Option(metavar="SOURCE", help="Reference conversations, usually people's, to measure distances from."),
    ] = None,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    *,
    output: TableOutput,
) -> None:
    """What users do: length, details, identifiers, questions, corrections, politeness, repetition, endings.

    --beside adds the distance of each corpus from that one, and between random halves of that one. This describes
    behaviour; it is not a score of realism. Dialogue acts are used where recorded, but not needed.
    """
    sources = formats.named_files([beside, *conversations] if beside is not None else conversations)
    first = next(iter(sources)) if beside is not None else ""
    profiles = users.behaviour_profile(sources, beside=first, resamples=resamples, seed=seed)
    output.show(users.profile_tables(profiles, first, resamples))
    if output.json is not None:
        output.document("users-profile", users.profile_document(profiles, first))
