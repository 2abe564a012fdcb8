"""``dialgauge runs``: what has been measured so far."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dialgauge.cli.common import JsonOption, StoreOption, application, err, frame_table, on_screen, out, write_json
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.runs_compare import compare
from dialgauge.report import Table, plain
from dialgauge.runs import Manifest, Run, Store
from dialgauge.runs import plain as as_json

app = application("The run store: every measurement that was kept, as a folder with run.json and Parquet tables.")

app.command()(compare)

_SCORES_IN_LIST = 3


@app.command("list")
def list_runs(
    kind: Annotated[str | None, typer.Option(help="Only runs of this kind, such as tracking.")] = None,
    json: JsonOption = None,
    store: StoreOption = None,
) -> None:
    """List all runs, oldest first, and say which are damaged."""
    place = Store(store)
    survey = place.survey()
    manifests = [run.manifest for run in survey.runs if kind in (None, run.manifest.kind)]
    for problem in survey.problems:
        _tell(problem)
    for name in place.unfinished():
        _tell(f"unfinished: {name} (run the same command again to go on, or 'dialgauge runs rm {name}')")
    if json is not None:
        write_json(json, [_summary(manifest) for manifest in manifests])
    if on_screen(json):
        _print_list(place, manifests)
    if survey.problems:
        raise typer.Exit(EXIT_INCOMPLETE)


@app.command()
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its beginning.")],
    rows: Annotated[int, typer.Option(min=0, help="Rows to show of each table.")] = 5,
    json: JsonOption = None,
    store: StoreOption = None,
) -> None:
    """Show one run: how it came about, its scores, and the beginning of its tables, after verifying their bytes."""
    found = Store(store).open(run)
    found.verify()
    if json is not None:
        write_json(json, as_json(found.manifest))
    if on_screen(json):
        for table in (_facts(found), *_value_tables(found.manifest), *_heads(found, rows)):
            out.print(table.render("terminal"))


@app.command()
def rm(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN", help="Ids of runs, or their beginnings; names of unfinished work.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreOption = None,
) -> None:
    """Delete runs for good."""
    place = Store(store)
    names = list(dict.fromkeys(place.resolve(name, unfinished=True) for name in runs))
    if not yes:
        typer.confirm(f"Delete {', '.join(names)}?", abort=True, err=True)
    for name in names:
        place.remove(name)
        _tell(f"removed {name}")


@app.command()
def path(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its beginning.")], store: StoreOption = None
) -> None:
    """Print the folder of a run, for other tools."""
    place = Store(store)
    out.print(str(place.folder / place.resolve(run)), markup=False)


def _tell(message: object) -> None:
    err.print(plain(str(message)), markup=False, soft_wrap=True)


def _print_list(store: Store, manifests: list[Manifest]) -> None:
    if not manifests:
        _tell(f"no runs in {store.folder}: commands that measure store one with --run")
        return
    table = Table(f"Runs in {store.folder}", ["run", "name", "scored", "scores", "tables"])
    for manifest in manifests:
        numbers = [(name, value) for name, value in map(_number, manifest.scores.items()) if value is not None]
        shown = ", ".join(f"{name} {value:.4g}" for name, value in numbers[:_SCORES_IN_LIST])
        more = ", ..." if len(numbers) > _SCORES_IN_LIST else ""
        table.add(manifest.id, manifest.name, _scored(manifest.coverage), shown + more, ", ".join(manifest.tables))
    out.print(table.render("terminal"))


def _number(score: tuple[str, Any]) -> tuple[str, float | None]:
    """A score's name and number, whether it stands alone or with its interval (``{"value": ...}``)."""
    name, value = score
    held = value.get("value") if isinstance(value, dict) else value
    return name, held if isinstance(held, int | float) else None


def _scored(coverage: dict[str, Any]) -> str | None:
    """``998 of 1000``, or nothing when the run does not count."""
    if "scored" not in coverage:
        return None
    scored, expected = coverage["scored"], coverage.get("expected")
    return f"{scored}" if expected is None else f"{scored} of {expected}"


def _summary(manifest: Manifest) -> dict[str, Any]:
    keep = ("id", "kind", "name", "created", "signature", "coverage", "scores")
    return {key: as_json(getattr(manifest, key)) for key in keep} | {"tables": list(manifest.tables)}


def _facts(run: Run) -> Table:
    manifest = run.manifest
    table = Table(f"Run {run.id}", ["field", "value"])
    table.add("kind", manifest.kind)
    table.add("name", manifest.name)
    table.add("created", f"{manifest.created:%Y-%m-%d %H:%M:%S} UTC")
    table.add("command", " ".join(manifest.command))
    table.add("signature", manifest.signature or None)
    table.add("seeds", ", ".join(map(str, manifest.seeds)) or None)
    for item in manifest.inputs:
        table.add("input", f"{item.path} ({item.size:,} bytes, sha256 {item.sha256[:12] or 'unknown'})")
    table.add("versions", ", ".join(f"{name} {version}" for name, version in manifest.versions.items()))
    table.add("folder", str(run.path))
    return table


def _value_tables(manifest: Manifest) -> list[Table]:
    titles = {"Configuration": manifest.config, "Coverage": manifest.coverage, "Scores": manifest.scores}
    return [Table(title, ["field", "value"], _flat(values)) for title, values in titles.items() if values]


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, str | int | float | None]]:
    """Nested values as rows, the names of the levels joined with dots."""
    rows: list[tuple[str, str | int | float | None]] = []
    for name, value in values.items():
        if isinstance(value, dict) and value:
            rows += _flat(value, f"{prefix}{name}.")
        else:
            rows.append((f"{prefix}{name}", value if isinstance(value, str | int | float | None) else str(value)))
    return rows


def _heads(run: Run, rows: int) -> list[Table]:
    tables = []
    for name, info in run.tables.items():
        title = f"Table {name}: {info.rows:,} rows"
        tables.append(frame_table(title, run.table(name).head(rows)))
    return tables
