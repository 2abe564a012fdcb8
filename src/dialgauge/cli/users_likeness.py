"""``dialgauge users likeness``: how like people simulated users are, beside GCDF1."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge import formats, users
from dialgauge.cli.common import ResamplesOption, SeedOption, TableOutput
from dialgauge.cli.options import Argument, Option, command
from dialgauge.cli.users_options import Scoring


@command()
def likeness(
    conversations: Annotated[list[str], Argument(help="Recorded conversations: one source per user model.")],
    corpus: Annotated[Path, Option(help="People's dialogues with user acts and the same ids (MultiWOZ).")],
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    *,
    scoring: Scoring,
    output: TableOutput,
) -> None:
    """Compare users with people: acts turn by turn, distributions of acts and lengths, and GCDF1."""
    compared = users.likeness(
        corpus,
        formats.named_files(conversations),
        scoring.options(),
        resamples=resamples,
        seed=seed,
    )
    output.show([users.likeness_table(compared, corpus.name)])
    if output.json is not None:
        output.document("users-likeness", users.likeness_document(compared, str(corpus)))
