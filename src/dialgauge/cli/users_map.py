"""``dialgauge users map``: a canonical map of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge import users
from dialgauge.cli.common import LimitOption, TableOutput, row_limit
from dialgauge.cli.options import Argument, Option, OutputFile, command
from dialgauge.cli.users_options import Scoring
from dialgauge.cli.writing import write_json


@command("map")
def canonical_map(
    source: Annotated[str, Argument(metavar="ONTOLOGY|FOLDER", help="An ontology or schema, or a domain's folder.")],
    to: Annotated[Path, OutputFile("--out", help="The map to write (JSON).")],
    dialogues: Annotated[
        str | None, Option(metavar="FILE", help="Dialogues with acts, from which to add spellings of values.")
    ] = None,
    limit: LimitOption = 20,
    *,
    scoring: Scoring,
    output: TableOutput,
) -> None:
    """Build a canonical map: the values that goals can have, and how they are written. 'data check' inspects it."""
    built = users.build_map(source, dialogues, scoring.options())
    write_json(to, built.content)
    output.show([built.table(row_limit(limit) or len(built.unplaced))], in_file=[built.table(len(built.unplaced))])
    if output.json is not None:
        output.document(
            "users-map",
            {
                "slots": len(built.content),
                "values": built.values,
                "forms": built.forms,
                "open_slots": built.open_slots,
                "unplaced": [
                    {
                        "slot": unassigned.slot,
                        "value": unassigned.value,
                        "times": unassigned.times,
                        "nearest": unassigned.nearest,
                        "similarity": unassigned.similarity,
                    }
                    for unassigned in built.unplaced
                ],
            },
        )
