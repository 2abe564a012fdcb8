"""What dialgauge costs on large work: CPU seconds, throughput and memory beside their limits.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench.py [--base CHECKOUT] [--rounds 3] [--only NAME...]

Each case is one command as typed, in a process of its own that stores its run in a new folder. User and system time
count, of workers too; the median of the rounds is shown, and the first round, which compiles, is not counted. With
``--base`` the same command of another checkout (its source, our libraries) runs in turn with ours, so that both meet
the same machine, and the ratio is shown. The exit code is 1 where a limit is not kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
import polars

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("DIALGAUGE_DATA") or ROOT.parent / "shared" / "data").resolve()
#: Dialogues of the large corpus, ten turns each; it is written in parts, of which shards are the first four.
DIALOGUES, PARTS, SHARDS = 100_000, 20, 4


@dataclass
class Case:
    """A command and what it may cost; `units` of work turn the limit into a rate per CPU second."""

    words: list[str]
    limit: float
    unit: str = "CPU s"
    units: int = 0
    #: The same command with next to no work: its time is start-up, which a rate leaves out.
    start_up: list[str] = field(default_factory=list)


def cases(scratch: Path) -> dict[str, Case]:
    """The cases by name; the files of the large ones are written to the scratch folder."""
    gold, systems = str(DATA / "multiwoz21" / "test.json.gz"), DATA / "dst_predictions"
    augpt, gcdf1, tau = str(systems / "augpt.json.gz"), DATA / "gcdf1", DATA / "tau"
    values = ["--canonical-map", str(gcdf1 / "multiwoz21_canonical_map.json.gz")]
    shards, one, large = write_turns(scratch)
    engine = ["-p", "verbatim", "--engine", "pool", "--workers", "2"]
    return {
        "help": Case(["--help"], 0.1),
        "score": Case(["score", gold, augpt], 1.0),
        "users": Case(["users", "score", str(gcdf1 / "conversations"), *values], 1.8),
        "tasks": Case(["tasks", "score", gold, augpt], 2.5),
        "review": Case(["review", str(tau / "tau_airline_gpt-4o.json.gz")], 6.0),
        "lab": Case(["lab", "run", "-n", "1001"], 300, "dialogues per CPU s", 1000, ["lab", "run", "-n", "1"]),
        "shards": Case(
            ["score", shards, *engine],
            700_000,
            "turns per CPU s",
            10 * DIALOGUES * SHARDS // PARTS,
            ["score", one, *engine],
        ),
        "memory": Case(["score", large, "-p", "verbatim"], 2000, "MB"),
    }


def write_turns(folder: Path) -> tuple[str, str, str]:
    """Gold and predicted states as tables: a folder of shards, a folder with one dialogue, one large file."""
    generator, frames = np.random.default_rng(0), []
    (folder / "shards").mkdir()
    (folder / "one").mkdir()
    for number in range(PARTS):
        frames.append(states(generator, number * DIALOGUES // PARTS, DIALOGUES // PARTS))
    for number in range(SHARDS):
        frames[number].write_parquet(folder / "shards" / f"part-{number}.parquet")
    frames[0].head(10).write_parquet(folder / "one" / "part-0.parquet")
    polars.concat(frames).write_parquet(folder / "large.parquet")
    return str(folder / "shards"), str(folder / "one"), str(folder / "large.parquet")


def states(generator: np.random.Generator, first: int, dialogues: int) -> polars.DataFrame:
    """Dialogues of ten turns that fill five of thirty slots as they go on; a tracker errs in one slot of twenty."""
    rows = []
    for dialogue in range(first, first + dialogues):
        slots = generator.choice(30, 5, replace=False)
        begins, wrong = generator.integers(0, 10, 5), generator.random(5) < 0.05
        for turn in range(10):
            filled = [place for place in range(5) if begins[place] <= turn]
            gold = {f"domain{slots[place] // 6}-slot{slots[place]}": f"value {dialogue % 97}" for place in filled}
            said = {
                f"domain{slots[place] // 6}-slot{slots[place]}": "other" if wrong[place] else f"value {dialogue % 97}"
                for place in filled
            }
            rows.append((f"d{dialogue}", turn, _text(gold), _text(said)))
    return polars.DataFrame(rows, schema=["dialogue_id", "turn", "gold", "predicted"], orient="row")


def _text(state: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{slot}": "{value}"' for slot, value in state.items()) + "}"


def measured(source: Path, words: list[str], cache: Path) -> tuple[float, float]:
    """CPU seconds of a command and its workers, and the memory peak of its largest process in MB."""
    with tempfile.TemporaryDirectory() as store:
        environment = os.environ | {
            "PYTHONPATH": str(source / "src"),
            "PYTHONPYCACHEPREFIX": str(cache),
            "DIALGAUGE_RUNS": store,
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        with Path(store, "messages").open("w+") as messages:
            call = [sys.executable, "-m", "dialgauge", *words]
            process = subprocess.Popen(call, env=environment, stdout=messages, stderr=messages)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in (0, 1):
                messages.seek(0)
                raise SystemExit(f"dialgauge {' '.join(words)} failed:\n{messages.read()[-2000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def figure(case: Case, source: Path, cache: Path) -> float:
    """One measurement of a case, in its unit."""
    seconds, megabytes = measured(source, case.words, cache)
    if case.unit == "MB":
        return megabytes
    if not case.units:
        return seconds
    start_up, _ = measured(source, case.start_up, cache)
    return case.units / max(seconds - start_up, 1e-9)


def main() -> int:
    """Print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    chosen = parser.parse_args()
    if not DATA.is_dir():
        print("the data is not here: set DIALGAUGE_DATA to the folder shared/data")
        return 0
    sources = {"here": ROOT} | ({"base": chosen.base.resolve()} if chosen.base else {})
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name, case in cases(scratch).items():
            if chosen.only and name not in chosen.only:
                continue
            found: dict[str, list[float]] = {which: [] for which in sources}
            for _ in range(chosen.rounds + 1):
                for which, source in sources.items():
                    found[which].append(figure(case, source, scratch / "bytecode" / which))
            middle = {which: median(each[1:]) for which, each in found.items()}
            is_rate = bool(case.units)
            good = middle["here"] >= case.limit if is_rate else middle["here"] <= case.limit
            kept &= good
            limit = f"{'at least' if is_rate else 'at most'} {case.limit:,g}"
            line = f"{name:8} {middle['here']:12,.2f} {case.unit:20} {limit}"
            if "base" in middle:
                line += f"   base {middle['base']:,.2f}, ratio {middle['here'] / middle['base']:.2f}"
            print(line + ("" if good else "   NOT KEPT"), flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
