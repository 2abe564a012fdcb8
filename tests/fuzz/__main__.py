"""``python -m fuzz``: fuzz for so many seconds, or run one case again."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fuzz.session import Tally, run_case, watch, work
from fuzz.targets import targets


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="how long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="", help="only targets whose name begins so")
    parser.add_argument("--file", type=Path, help="have the target read this file, and nothing else")
    parser.add_argument("--start", type=int, default=0, help="begin behind so many cases")
    for option in ("--work", "--note", "--report"):
        parser.add_argument(option, help=argparse.SUPPRESS)
    parser.add_argument("--end", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--watcher", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        files = Path(given.note), Path(given.report)
        work(given.work.split(","), given.seed, given.start, given.end, *files, watcher=given.watcher)
        return 0
    if given.file is not None:
        said = run_case(targets()[given.target], given.file.read_bytes())
        print("accepted" if said is None else f"refused: {said}")
        return 0
    names = [name for name in targets() if name.startswith(given.target)]
    if not names:
        parser.error(f"no target begins with {given.target!r}; there are {', '.join(targets())}")
    began = time.monotonic()
    tally = watch(names, given.seed, given.seconds, lambda so_far, place: _tell(so_far, place, began), given.start)
    print(_summary(tally))
    return 1 if tally.findings else 0


def _tell(tally: Tally, place: int, began: float) -> None:
    seconds = time.monotonic() - began
    total = sum(tally.runs.values())
    print(f"{total:,} cases in {seconds:,.0f} s, {len(tally.findings)} findings (next: --start {place})", flush=True)


def _summary(tally: Tally) -> str:
    lines = [f"{count:>10,}  {tally.refused[name] / count:>4.0%} refused  {name}" for name, count in tally.runs.items()]
    lines.append(f"{sum(tally.runs.values()):>10,}  in all, {len(tally.findings)} findings")
    return "\n".join([*lines, *(f"\n{finding}" for finding in tally.findings)])


if __name__ == "__main__":
    sys.exit(main())
