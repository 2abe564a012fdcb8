"""Golden values: the numbers and codes that every command gives on the shared data.

    python tools/golden.py check [NAME...]          run the commands, name the parts that differ from goldens.json
    python tools/golden.py accept [NAME...]         run the commands, write their digests to goldens.json
    python tools/golden.py take FOLDER [NAME...]    run the commands, keep their values in FOLDER
    python tools/golden.py diff FOLDER FOLDER       show how the values in two folders differ

NAME is a name in golden_commands.txt, or a pattern such as 'lab-*'; without one all commands run. To see what a change
did, take values in a worktree of the old commit and in the new one, and diff them. Accept deliberate changes by name.

The parts of a command are its JSON, the manifest, tables and corpus of every stored run, and the JSON Lines it wrote.
A part is a list of rows, and a row maps places to values: a document is one row, a table has one for each record. The
order of rows and columns does not matter; the order of a list inside a row does.

What is compared:
- Numbers, rounded to 12 decimals and 9 significant digits, so that sums in another order agree. A value on the edge can
  still flip; diff then shows a change in the ninth digit alone.
- Texts, except in the fields named in SENTENCES. In a document, a text with two plain words side by side is a sentence
  too, unless it is a signature. Values in tables and JSON Lines may have spaces ("kings lynn") and are compared.
- Nothing that changes without a number: the fields named in PASSING and the records of files (they have a sha256) are
  left out; in texts, ids of runs, versions, checksums and folders are replaced.
"""

from __future__ import annotations

import fnmatch
import gzip
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import polars

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DIALGAUGE_DATA") or ROOT.parent / "shared" / "data").resolve()
COMMANDS = ROOT / "tools" / "golden_commands.txt"
GOLDENS = ROOT / "tools" / "goldens.json"
#: Beginnings of the names of commands that have no --json.
WITHOUT_JSON = ("demo", "babi-train", "data-convert")
#: Fields that differ from run to run or from version to version.
PASSING = frozenset({"created", "command", "seconds", "versions", "schema", "schema_version"})
#: Fields whose texts are sentences. A number in them, such as that of a message, is compared.
SENTENCES = frozenset(
    {"text", "sentence", "explanation", "message", "lines", "note", "notes", "title", "detail", "holds", "formula"}
)
TWO_WORDS = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
REPLACED = (
    (re.compile(re.escape(str(DATA))), "DATA"),
    (re.compile(re.escape(str(ROOT))), "ROOT"),
    (re.compile(r"/\S*/golden-\w+"), "WORK"),
    (re.compile(r"\d{8}-\d{6}(-[\w-]+)?"), "RUN"),
    (re.compile(r"(dialgauge-\d|(?<=\|)version:|(?<=\|)v:)[^|]*"), "VERSION"),
    (re.compile(r"(?<![\w.])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8,}(?![\w.])"), "CHECKSUM"),
)
#: How many rows diff shows of each part, and how many values of each row.
SHOWN = 8
#: What diff names a row by.
NAMED_BY = (".dialogue", ".turn", ".domain", ".slot", ".measure", ".task", ".name")

Row = dict[str, str]
Parts = dict[str, list[Row]]


def main() -> int:
    """Check, accept, take or diff."""
    match sys.argv[1:]:
        case ["check", *patterns]:
            return check(patterns)
        case ["accept", *patterns]:
            return accept(patterns)
        case ["take", folder, *patterns]:
            return take(Path(folder).resolve(), patterns)
        case ["diff", before, after]:
            return diff(Path(before), Path(after))
    print(__doc__)
    return 2


def check(patterns: list[str]) -> int:
    """Compare with the committed digests; 1 if anything differs."""
    goldens: dict[str, dict[str, str]] = json.loads(GOLDENS.read_text())
    different = []
    for name, parts in run_commands(patterns):
        old, new = goldens.get(name, {}), digests(parts)
        for part in sorted(old.keys() | new.keys()):
            if old.get(part) != new.get(part):
                different.append(f"{name}, {part}: {old.get(part, 'absent')} -> {new.get(part, 'absent')}")
    different += [f"{name}: not in {COMMANDS.name}" for name in goldens if name not in read_commands()]
    print("", *different, f"{len(different)} parts differ", sep="\n")
    return 1 if different else 0


def accept(patterns: list[str]) -> int:
    """Write the digests; 1 if a command failed, whose digests stay."""
    goldens = json.loads(GOLDENS.read_text()) if GOLDENS.exists() else {}
    failed = False
    for name, parts in run_commands(patterns):
        failed = failed or not parts
        if parts:
            goldens[name] = digests(parts)
    listed = {name: goldens[name] for name in read_commands() if name in goldens}
    GOLDENS.write_text(json.dumps(listed, indent=1) + "\n")
    return 1 if failed else 0


def digests(parts: Parts) -> dict[str, str]:
    """The digest and number of values of each part."""
    found = {}
    for part, rows in sorted(parts.items()):
        digest = hashlib.sha256("\n".join(sorted_rows(rows)).encode()).hexdigest()[:16]
        found[part] = f"{digest} of {sum(map(len, rows))} values"
    return found


def sorted_rows(rows: list[Row]) -> list[str]:
    """Every row as a text, sorted."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def take(folder: Path, patterns: list[str]) -> int:
    """Keep the values of each command in a file; 1 if a command failed."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name, parts in run_commands(patterns):
        failed = failed or not parts
        with gzip.open(folder / f"{name}.json.gz", "wt") as file:
            json.dump(parts, file)
    return 1 if failed else 0


def read_commands(work: Path = Path("work")) -> dict[str, list[str]]:
    """The words of each command, by name; in ``work`` each command has a folder."""
    places = {"data": DATA, "examples": ROOT / "docs" / "examples", "tools": ROOT / "tools", "work": work}
    lines = [line.split(maxsplit=1) for line in COMMANDS.read_text().splitlines() if not line.startswith("#")]
    return {name: shlex.split(line.format(**places)) for name, line in lines}


def run_commands(patterns: list[str]) -> Iterator[tuple[str, Parts]]:
    """The parts of each command that matches, none if it failed; commands whose stores it reads run too."""
    if not DATA.is_dir():
        sys.exit(f"{DATA} is absent; set DIALGAUGE_DATA to the folder of the shared data")
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        work = Path(folder)
        commands = read_commands(work)
        wanted = set() if patterns else set(commands)
        for pattern in patterns:
            matching = fnmatch.filter(commands, pattern)
            if not matching:
                sys.exit(f"{COMMANDS.name} has no {pattern}")
            wanted.update(matching)
        read = {name for name in commands for other in wanted if str(work / name / "runs") in commands[other]}
        link_three_tasks(work / "three-tasks" / "babi")
        for name, words in commands.items():
            if name in wanted | read:
                parts = run_command(name, words, work / name)
                if name in wanted:
                    yield name, parts


def link_three_tasks(folder: Path) -> None:
    """A data folder with bAbI's tasks 1, 4 and 6 alone: reproducing all six takes more than a minute."""
    folder.mkdir(parents=True)
    for path in (DATA / "babi").glob("dialog-babi-*"):
        if not re.match("dialog-babi-task[235]", path.name):
            (folder / path.name).symlink_to(path)


def run_command(name: str, words: list[str], folder: Path) -> Parts:
    """Run a command of this checkout in a new folder, and read what it left there."""
    folder.mkdir()
    own = {"PYTHONPATH": str(ROOT / "src"), "DIALGAUGE_DATA": str(DATA), "DIALGAUGE_RUNS": str(folder / "runs")}
    written = not name.startswith(WITHOUT_JSON)
    call = [sys.executable, "-m", "dialgauge", *words, *(["--json", "output.json"] if written else [])]
    began = time.perf_counter()
    result = subprocess.run(
        call, cwd=folder, env=os.environ | own | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
    )
    print(f"{name:20}{time.perf_counter() - began:6.1f} s", flush=True)
    if result.returncode not in (0, 1) or (written and not (folder / "output.json").exists()):
        print(f"{name} FAILED: {result.stderr.strip()[-500:]}", flush=True)
        return {}
    parts = read_parts(folder)
    parts["output"][0]["exit code"] = str(result.returncode)
    return parts


def read_parts(folder: Path) -> Parts:
    """What a command left in its folder."""
    output = folder / "output.json"
    parts = {"output": [flat(json.loads(output.read_text()) if output.exists() else {})]}
    for path in folder.rglob("*.jsonl"):
        lines = path.read_text().splitlines()
        parts[str(path.relative_to(folder))] = [flat(json.loads(line), table=True) for line in lines]
    corpora = set()
    # Ids of runs end at random, so runs go by kind and name; those that share both share their parts.
    manifests = {path.parent: json.loads(path.read_text()) for path in folder.rglob("run.json")}
    labels = {run: f"{manifest['kind']} {manifest['name']}" for run, manifest in manifests.items()}
    for run in sorted(manifests, key=lambda run: labels[run]):
        parts.setdefault(labels[run], []).append(flat(manifests[run]))
        tables = {path: f"{labels[run]}: {path.name.split('.')[0]}" for path in run.rglob("*.parquet")}
        corpus = manifests[run].get("corpus")
        if corpus and corpus not in corpora:
            corpora.add(corpus)
            shared = (run.parent / "corpora" / corpus).glob("*.parquet")
            tables |= {path: f"{labels[run]}: corpus {path.name.split('.')[0]}" for path in shared}
        for path, name in tables.items():
            rows = polars.read_parquet(path).iter_rows(named=True)
            parts.setdefault(name, []).extend(flat(row, table=True) for row in rows)
    return parts


def flat(document: Any, *, table: bool = False) -> Row:
    """Every value that is compared, by its place."""
    return dict(leaves(document, "", "", table=table))


def leaves(value: Any, place: str, key: str, *, table: bool) -> Iterator[tuple[str, str]]:
    """Places and values; JSON in a text is taken apart too."""
    if isinstance(value, str) and value.startswith(("{", "[")) and key not in SENTENCES:
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, dict):
        named: Counter[str] = Counter()  # ids of runs can be names of columns
        for name, inner in value.items():
            named[replaced(name)] += 1
            if name not in PASSING and "sha256" not in value:
                own = replaced(name) + f" {named[replaced(name)]}" * (named[replaced(name)] > 1)
                yield from leaves(inner, f"{place}.{own}", name, table=table)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{place}[{number}]", key, table=table)
    elif isinstance(value, str):
        compared = table or key == "signature" or not TWO_WORDS.search(value)
        if compared and key not in SENTENCES:
            yield place, replaced(value)
    elif isinstance(value, float):
        yield place, f"{round(value, 12) + 0.0:.9g}"
    elif value is not None:
        yield place, str(value)


@cache
def replaced(text: str) -> str:
    """The text without ids of runs, versions, checksums and folders."""
    for pattern, sign in REPLACED:
        text = pattern.sub(sign, text)
    return text


def diff(before: Path, after: Path) -> int:
    """Show what differs in the commands that both folders have; 1 if anything does."""
    names = [{path.name for path in folder.glob("*.json.gz")} for folder in (before, after)]
    different = 0
    for name in sorted(names[0] & names[1]):
        old, new = (json.loads(gzip.decompress((folder / name).read_bytes())) for folder in (before, after))
        for part in sorted(old.keys() | new.keys()):
            lines = list(differences(old.get(part, []), new.get(part, [])))
            different += bool(lines)
            if lines:
                print(f"== {name.removesuffix('.json.gz')}, {part}", *lines, sep="\n")
    alone = sorted(name.removesuffix(".json.gz") for name in names[0] ^ names[1])
    print(f"{different} parts differ", *(f"not compared, as one folder lacks it: {name}" for name in alone), sep="\n")
    return 1 if different else 0


def differences(old: list[Row], new: list[Row]) -> Iterator[str]:
    """How rows differ: each old one beside the new one most like it."""
    before, after = Counter(sorted_rows(old)), Counter(sorted_rows(new))
    gone: list[Row] = [json.loads(text) for text in (before - after).elements()]
    come: list[Row] = [json.loads(text) for text in (after - before).elements()]
    if not gone and not come:
        return
    yield f"  {len(old)} rows before, {len(new)} after; {len(gone)} gone, {len(come)} new"
    lost, gained = (Counter(value for row in rows for value in row.values()) for rows in (gone, come))
    if lost == gained:
        yield "  the same values in other places or other rows"
    none: Row = {}
    for row in gone[:SHOWN] or [none]:
        like = max(come[:2000], key=lambda other: len(row.items() & other.items()), default=none)
        places = [place for place in row | like if row.get(place) != like.get(place)]
        yield "  " + " ".join(f"{place}={row[place]}" for place in NAMED_BY if place in row)
        yield from (f"    {place}: {row.get(place)} -> {like.get(place)}" for place in places[:SHOWN])
        if len(places) > SHOWN:
            yield f"    and {len(places) - SHOWN} more values"


if __name__ == "__main__":
    sys.exit(main())
