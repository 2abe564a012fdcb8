"""A run as tables: where it comes from, its scores with all that is needed to read them, how much was scored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Score, Signature
from dialgauge.rendering.table import Cell, Column, Table, Value, percent_note

if TYPE_CHECKING:
    from dialgauge.measures import Coverage
    from dialgauge.runs import Run

#: The unit of scores that people read in percent.
SHARE = "share"
#: Scores of a run that a list of runs shows.
SCORES_IN_LIST = 3
_PART = re.compile(r"(.+)\[([^\[\]]+)\]")
#: The title of the table of what single scores depend on.
_OWN_SETTINGS = "Settings of each score beyond the run's signature"


def score_column(title: str, score: Score | None, *, signed: bool = False) -> Column:
    """A column of a measure's numbers: shares in percent, others as they are."""
    share = score is not None and score.unit == SHARE
    return Column(title, digits=2 if share else 4, percent=share, signed=signed)


def measure_and_part(name: str) -> tuple[str, str]:
    """``JGA`` and ``hotel`` of ``JGA[hotel]``; the part is empty where there is none."""
    parted = _PART.fullmatch(name)
    return (parted[1], parted[2]) if parted else (name, "")


def system_labels(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by the names of their systems; those that share one are numbered."""
    return dict(zip(numbered([run.name for run in runs]), runs, strict=True))


def numbered(names: Sequence[str]) -> list[str]:
    """Names of which those that several share have their place behind them."""
    return [name if names.count(name) == 1 else f"{name} ({index})" for index, name in enumerate(names, 1)]


def run_tables(run: Run) -> dict[str, Table]:
    """Everything the manifest of a run says: ``run``, ``scores``, ``settings`` of each score, ``coverage``, ..."""
    manifest = run.manifest
    facts = {
        "kind": manifest.kind,
        "name": manifest.name,
        "created": f"{manifest.created:%Y-%m-%d %H:%M:%S} UTC",
        "command": " ".join(manifest.command),
        "signature": manifest.signature or None,
        "seeds": ", ".join(map(str, manifest.seeds)) or None,
        "corpus": manifest.corpus or None,
        "versions": ", ".join(f"{name} {version}" for name, version in manifest.versions.items()),
    }
    inputs = [(item.role or "input", _source(item)) for item in manifest.inputs]
    where = {"folder": str(run.path)} if run.stored else {}
    rows = [*facts.items(), *inputs, *where.items()]
    scores = dict(zip(("scores", "settings"), score_tables(run), strict=False))
    if scores:
        scores["scores"].signature = manifest.signature
    tables = {"run": _fields(f"Run {run.id}", rows), **scores}
    if run.coverage.units:
        tables["coverage"] = _coverage_table(run.coverage)
    for title, values in {"Configuration": manifest.config, "Details": manifest.details}.items():
        if values:
            tables[title.lower()] = _fields(title, list(_flat(values)))
    if run.notes:
        tables["notes"] = Table("Notes", ["note"], [[note] for note in run.notes])
    return tables


def score_tables(run: Run) -> list[Table]:
    """The scores of a run with interval, unit and direction; and what one was computed from that others were not."""
    if not run.scores:
        return []
    table = Table("Scores", [Column("measure", exact=True), Column("score", align="right"), "unit", "better"])
    for name, score in run.scores.items():
        cell = Cell(score.value, score.low, score.high, like=score_column(name, score))
        table.add(name, cell, "percent" if score.unit == SHARE else score.unit, _direction(score))
    own = list(_own_parts(run))
    if any(score.unit == SHARE for score in run.scores.values()):
        table.notes.append(percent_note("Shares in percent"))
    return [table, _fields(_OWN_SETTINGS, own)] if own else [table]


def _direction(score: Score) -> str | None:
    return None if score.higher_is_better is None else "higher" if score.higher_is_better else "lower"


def _own_parts(run: Run) -> Iterator[tuple[str, str]]:
    """The parts of each score's signature that the run's does not have, unless it is the measure by its own name."""
    common = _parsed(run.signature)
    for name, score in run.scores.items():
        own = {key: value for key, value in _parsed(score.signature).items() if common.get(key) != value}
        if set(own) > {"measure"} or own.get("measure", name) != name:
            yield name, "|".join(f"{key}:{value}" for key, value in own.items())


def _parsed(signature: str) -> Mapping[str, str]:
    try:
        return Signature.parse(signature) if signature else {}
    except DialgaugeError:  # what another version wrote
        return {}


def _coverage_table(coverage: Coverage) -> Table:
    table = Table("Coverage", ["unit", "expected", "read", "scored", "failed"])
    for unit, count in coverage.units.items():
        table.add(unit, count.expected, count.read, count.scored, count.failed)
    if coverage.policy:
        table.notes.append(f"Coverage policy: {coverage.policy}.")
    return table


def _source(item: Any) -> str:
    return f"{item.path} ({item.size:,} bytes, sha256 {item.sha256[:12] or 'unknown'})"


def _fields(title: str, rows: Sequence[tuple[str, Value]]) -> Table:
    return Table(title, ["field", Column("value", exact=True)], rows)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Value]]:
    """Nested values as rows, the names of the levels joined with dots."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value if isinstance(value, str | int | float | None) else str(value)
