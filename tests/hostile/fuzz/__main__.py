"""``python -m hostile.fuzz``: fuzz for so many seconds, or run one case again.

A case that kills or stalls the process is the last one printed with ``--verbose``.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from hostile.fuzz.session import Tally, guarded, run_case, schedule
from hostile.fuzz.targets import targets


def main() -> int:
    parser = argparse.ArgumentParser(prog="hostile.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="how long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="", help="only targets whose name begins so")
    parser.add_argument("--file", type=Path, help="have the target read this file, and nothing else")
    parser.add_argument("--start", type=int, default=0, help="begin behind so many cases")
    parser.add_argument("--verbose", action="store_true", help="name each case before it runs")
    given = parser.parse_args()
    if given.file is not None:
        said = run_case(targets()[given.target], given.file.read_bytes())
        print("accepted" if said is None else f"refused: {said}")
        return 0
    names = [name for name in targets() if name.startswith(given.target)]
    if not names:
        parser.error(f"no target begins with {given.target!r}; there are {', '.join(targets())}")
    tally, end = Tally(), time.monotonic() + given.seconds
    for target, case in schedule(names, given.start):
        if time.monotonic() > end:
            break
        if given.verbose:
            print(f"{target.name} {case}", flush=True)
        guarded(target, given.seed, case, tally)
    print(_summary(tally))
    return 1 if tally.findings else 0


def _summary(tally: Tally) -> str:
    lines = [f"{count:>10,}  {tally.refused[name] / count:>4.0%} refused  {name}" for name, count in tally.runs.items()]
    lines.append(f"{sum(tally.runs.values()):>10,}  in all, {len(tally.findings)} findings")
    return "\n".join([*lines, *(f"\n{finding}" for finding in tally.findings)])


if __name__ == "__main__":
    sys.exit(main())
