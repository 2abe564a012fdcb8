"""``dialgauge schema``: the JSON Schemas of what ``--json`` writes."""

from __future__ import annotations

from typing import Annotated

from dialgauge.cli.choices import names_of
from dialgauge.cli.options import Argument, application
from dialgauge.cli.screen import out
from dialgauge.schemas import schema_id, schema_names, schema_text

app = application("The JSON Schemas of all JSON outputs.")


@app.command()
def schema(
    name: Annotated[
        str | None, Argument(known=names_of("schemas", "schema_names"), help="Name of the schema. Default: list all.")
    ] = None,
) -> None:
    """Print a JSON Schema, or list the names of all."""
    if name is None:
        for each in schema_names():
            out.print(f"{each:<20} {schema_id(each)}")
        return
    out.write(schema_text(name.removeprefix("dialgauge/").partition("/")[0]))
