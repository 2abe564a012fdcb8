"""How fast the explorer answers, and how large a report is.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_explorer.py

A run with 100,000 turns, and one with 100,000 dialogues, in a real server: the first visit of each page, and the median
of ten more. The pages that people open again and again are to answer in under 200 ms once warm and 2 s at first.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx

from dialgauge import Dialogue, Store, Turn, score
from dialgauge.dialogue import State
from dialgauge.explorer import served, write_report

SLOTS, VALUES = (
    ("area", "food", "pricerange", "name", "day", "people"),
    ("north", "south", "cheap", "dear", "one", "two"),
)


def tracked(count: int, exchanges: int, seed: int) -> list[Dialogue]:
    """So many dialogues whose states are predicted with some errors."""
    draw = random.Random(seed)
    dialogues = []
    for number in range(count):
        same = random.Random(number)
        gold: State = {}
        seen: State = {}
        turns = []
        for _ in range(exchanges):
            domain, slot, value = same.choice(("hotel", "restaurant")), same.choice(SLOTS), same.choice(VALUES)
            gold = {**gold, domain: {**gold.get(domain, {}), slot: (value,)}}
            if draw.random() > 0.1:
                seen = {**seen, domain: {**seen.get(domain, {}), slot: (value if draw.random() > 0.05 else "x",)}}
            turns.append(Turn(speaker="user", text=f"the {slot} {value} for {number}", state=gold, predicted=seen))
            turns.append(Turn(speaker="system", text=f"how about {same.choice(VALUES)}?"))
        dialogues.append(Dialogue(id=f"D{number:06}", turns=tuple(turns), domains=tuple(gold)))
    return dialogues


def visit(client: httpx.Client, address: str) -> float:
    """Seconds until the page is there."""
    start = time.perf_counter()
    client.get(address).raise_for_status()
    return time.perf_counter() - start


def measure(store: Store, title: str) -> None:
    """The pages of the store's two runs."""
    one, two = (run.id for run in store.survey().runs)
    pages = {
        "runs": "/",
        "run": f"/runs/{one}",
        "dialogues": f"/runs/{one}/dialogues",
        "dialogues, sorted": f"/runs/{one}/dialogues?sort=JGA",
        "dialogues, by slot and text": f"/runs/{one}/dialogues?slot=hotel-area&q=cheap",
        "one dialogue": f"/runs/{one}/dialogue?id=D000077&sort=JGA",
        "which is better": f"/compare?run={one}&run={two}",
        "side by side": f"/side?run={one}&run={two}&id=D000077",
    }
    print(f"\n{title}\n{'page':<30} first (ms)  warm (ms)")
    with served(store) as site, httpx.Client(timeout=120) as client:
        for name, address in pages.items():
            first = visit(client, f"{site}{address}")
            warm = statistics.median(visit(client, f"{site}{address}") for _ in range(10))
            print(f"{name:<30} {1000 * first:>10.0f} {1000 * warm:>10.0f}")


def main() -> None:
    """Measure both stores, and reports on real dialogues where they are."""
    with tempfile.TemporaryDirectory() as folder:
        for title, count, exchanges in (("100,000 turns", 6_250, 8), ("100,000 dialogues", 100_000, 4)):
            store = Store(Path(folder) / title)
            systems = {name: tracked(count, exchanges, seed) for seed, name in enumerate(("alpha", "beta"))}
            for run in score(None, systems, resamples=100).runs:
                store.add(run)
            measure(store, f"Two runs with {title} each")
        data = os.environ.get("DIALGAUGE_DATA")
        if not data:
            sys.exit("without DIALGAUGE_DATA there is nothing to report on")
        files = [Path(data) / "dst_predictions" / f"{name}.json.gz" for name in ("augpt", "dots", "ubar")]
        runs = score(Path(data) / "multiwoz21" / "test.json.gz", files, resamples=100).runs
        print("\nA report of 200 dialogues of MultiWOZ")
        for many in (1, 2, 3):
            start = time.process_time()
            size = write_report(Path(folder) / "report.html", runs[:many], dialogues=200).stat().st_size
            print(f"{many} runs: {size / 1e6:.1f} MB, {time.process_time() - start:.1f} s CPU")


if __name__ == "__main__":
    main()
