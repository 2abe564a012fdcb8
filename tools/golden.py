"""Golden outputs: what every command gives on the shared data, taken once, and compared after a change of the house.

    python tools/golden.py take FOLDER            run the commands of this checkout, keep what they gave in FOLDER
    python tools/golden.py diff FOLDER FOLDER     print the differences, exit 1 where there are any
    python tools/golden.py take FOLDER lab babi   only commands whose name begins so

Kept are the JSON of every command, the tables and the manifest of every stored run, and the text of reports. Values are
compared under their names first; what is only called or ordered otherwise afterwards counts as equal, and is told in
one line. To compare with an older commit, take its outputs in a worktree of it.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DIALGAUGE_DATA") or ROOT.parent / "shared" / "data")

#: Words of a page that differ from run to run: ids of runs, times, paths, checksums.
PASSING = re.compile(r"\d{8}-\d{6}|^\d\d:\d\d(:\d\d)?$|/|[0-9a-f]{8,}")
#: The command whose run others show.
STORED = "lab-act"
#: What differs from run to run, or is told by the commit itself.
UNSTEADY = re.compile(
    r"(^|\.)(created|started|finished|seconds|wall|cpu|versions?|command|id|run|runs|run_id|folder|path|store|machine|host|python|platform"
    r"|checksum|sha256|bytes|modified|argv|cwd|seconds_per.*|duration|elapsed|config_hash)(\.|$|\[)"
)


def main() -> int:
    """Take or diff."""
    match sys.argv[1:]:
        case ["take", folder, *beginnings]:
            return take(Path(folder).resolve(), tuple(beginnings))
        case ["diff", before, after]:
            return diff(Path(before), Path(after))
    print(__doc__)
    return 2


def take(folder: Path, beginnings: tuple[str, ...]) -> int:
    """Run the commands and keep their outputs, one file each."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, words in commands():
        if beginnings and not name.startswith(beginnings):
            continue
        work = folder / "work" / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        began = time.perf_counter()
        output = _run(work, [*_stored(folder, words), "--json", "output.json"])
        took = time.perf_counter() - began
        good = output.returncode in (0, 1) and (work / "output.json").exists()
        failed += not good
        print(f"{name:20}{took:6.1f} s{'' if good else '  FAILED: ' + output.stderr.strip()[-300:]}", flush=True)
        if good:
            _keep(folder / f"{name}.json", json.loads((work / "output.json").read_text()))
        keep_runs(folder, name, work)
    if not beginnings or "demo".startswith(beginnings):
        keep_demo(folder)
    return 1 if failed else 0


def commands() -> Iterator[tuple[str, list[str]]]:
    """The names and words of the commands, patterns expanded."""
    places = {
        "mwz": "multiwoz21",
        "dst": "dst_predictions",
        "sgd": "sgd",
        "gcdf1": "gcdf1",
        "tau": "tau",
        "babi": "babi",
    }
    for line in (ROOT / "tools" / "golden_commands.txt").read_text().splitlines()[1:]:
        name, typed = line.split(maxsplit=1)
        words = shlex.split(typed.format(**{key: str(DATA / place) for key, place in places.items()}))
        yield name, words


def _stored(folder: Path, words: list[str]) -> list[str]:
    """The words, with the run that the command STORED made in place of ``RUN``."""
    store = folder / "work" / STORED / "runs"
    runs = sorted(path.parent.name for path in store.glob("*/run.json"))
    return [runs[0] if runs and word == "RUN" else str(store) if word == "STORE" else word for word in words]


def _run(work: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DIALGAUGE_DATA": str(DATA), "DIALGAUGE_RUNS": str(work / "runs"), "COLUMNS": "80"}
    call = [sys.executable, "-m", "dialgauge", *words]
    return subprocess.run(call, cwd=work, env=environment, capture_output=True, text=True, check=False)


def keep_runs(folder: Path, name: str, work: Path) -> None:
    """The manifest and tables of every run in the command's store, and the report on all of them."""
    import polars

    # By kind and system: ids of runs stored in the same second end at random.
    runs = sorted((path.parent for path in work.glob("runs/*/run.json")), key=lambda run: run.name.split("-")[2:-1])
    for number, run in enumerate(runs):
        manifest = json.loads((run / "run.json").read_text())
        _keep(folder / f"{name}.run{number}.json", manifest)
        for table in sorted({path.stem.split(".")[0] for path in run.rglob("*.parquet")}):
            frame = polars.concat(
                [polars.read_parquet(path) for path in sorted(run.rglob(f"{table}*.parquet"))], how="diagonal_relaxed"
            )
            columns = {column: _column(frame[column].to_list()) for column in frame.columns}
            _keep(folder / f"{name}.run{number}.{table}.json", columns)
    if runs:
        _run(work, ["report", *(run.name for run in runs), "-o", "report.html", "-n", "5"])
        _keep_page(folder / f"{name}.report.json", work / "report.html")


def _column(values: list[Any]) -> list[str]:
    """The values of a column whatever their order."""
    return sorted(_text(value) for value in values)


def keep_demo(folder: Path) -> None:
    """The demo: what it prints, and its report."""
    work = folder / "work" / "demo"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    output = _run(work, ["demo", "--dialogues", "60"])
    _keep(folder / "demo.json", re.findall(r"-?\d+(?:\.\d+)?%?", output.stdout))
    for page in sorted(work.rglob("*.html")):
        _keep_page(folder / f"demo.{page.stem}.json", page)


def _keep_page(kept: Path, page: Path) -> None:
    """The words and numbers that a page shows."""
    if page.exists():
        text = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", " ", page.read_text())
        words = html.unescape(re.sub(r"(?s)<[^>]*>", " ", text)).split()
        counted = Counter(word for word in words if not PASSING.search(word))
        _keep(kept, {"words": [f"{count} x {word}" for word, count in sorted(counted.items())]})


def _keep(path: Path, document: Any) -> None:
    values = {place: value for place, value in leaves(document) if not UNSTEADY.search(place)}
    with gzip.open(f"{path}.gz", "wt") as file:
        json.dump(values, file, indent=0)


def leaves(document: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a document with its place."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, f"{place}.{key}" if place else str(key))
    elif isinstance(document, list) and len(document) > 20000:  # a column: what it holds, in any order
        counted = Counter(_text(value) for value in document)
        digest = hashlib.sha256(json.dumps(sorted(counted.items())).encode()).hexdigest()[:16]
        yield f"{place}[]", f"{len(document)} values, {len(counted)} distinct, {digest}"
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from leaves(value, f"{place}[{number}]")
    else:
        yield place, _text(document)


def _text(value: Any) -> str:
    """A value as text; the last bits of a number apart."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else f"{value:.10g}"
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True, default=str)
    return str(value)


def diff(before: Path, after: Path) -> int:
    """Print what differs."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.gz")})
    different = 0
    for name in names:
        old, new = _values(before / name), _values(after / name)
        lines = list(_differences(old, new))
        if lines:
            different += 1
            print(f"== {name.removesuffix('.json.gz')}")
            print("\n".join(lines))
    print(f"{len(names) - different} of {len(names)} outputs are equal")
    return 1 if different else 0


def _values(path: Path) -> dict[str, str] | None:
    if not path.exists():
        return None
    with gzip.open(path, "rt") as file:
        values: dict[str, str] = json.load(file)
    return values


def _differences(old: dict[str, str] | None, new: dict[str, str] | None, shown: int = 12) -> Iterable[str]:
    if old is None or new is None:
        yield "  only " + ("after" if old is None else "before")
        return
    if old == new:
        return
    lost, gained = Counter(old.values()), Counter(new.values())
    lost, gained = lost - gained, gained - lost
    if not lost and not gained:
        yield "  the same values under other names or in another order"
        return
    changed = [place for place in old if place in new and old[place] != new[place]]
    for place in changed[:shown]:
        yield f"  {place}: {old[place][:120]} -> {new[place][:120]}"
    for sign, here, there in (("-", old, new), ("+", new, old)):
        only = [place for place in here if place not in there]
        for place in only[:shown]:
            yield f"  {sign} {place}: {here[place][:120]}"
        if len(only) > shown:
            yield f"  {sign} and {len(only) - shown:,} more"
    if len(changed) > shown:
        yield f"  {len(changed):,} values differ under the same name"


if __name__ == "__main__":
    sys.exit(main())
