"""The template ranker of task 6: what it costs, and what each part buys on dev and on a system it has hardly heard.

    python benchmarks/bench_templates.py FOLDER [--quick]

FOLDER holds the dialog bAbI release. Test dialogs are never read. ``few B`` learns from all dialogs of system A and 50
of system B and answers the other dialogs of B; ``few A`` learns from B, dev (the same system) and 100 dialogs of A and
answers 500 others of A. There the candidate list holds just the replies of both sides, as a release's would.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from turnwise.responses.episodes import Episode, points_of
from turnwise.responses.evaluate import evaluate
from turnwise.responses.rankers.templates import Templates, TemplatesTransductive
from turnwise.responses.task import Task, load_task
from turnwise.responses.templates.inventory import Ints, Inventory
from turnwise.responses.templates.lexicon import learn_lexicon
from turnwise.responses.templates.systems import Systems, most_likely, template_counts

ABLATIONS: tuple[tuple[str, type[Templates], dict[str, str]], ...] = (
    ("templates", Templates, {}),
    ("without the user's words", Templates, {"without": "words"}),
    ("without the state", Templates, {"without": "state"}),
    ("without the last two replies", Templates, {"without": "bot"}),
    ("acts without the history", Templates, {"without": "history"}),
    ("without alignment", Templates, {"align": "false"}),
    ("templates-transductive", TemplatesTransductive, {}),
)


def settings_of(task: Task) -> dict[str, tuple[Task, tuple[Episode, ...]]]:
    """What to learn from and what to answer, by name."""
    trn, dev = task.split("trn"), task.split("dev")
    system_of = systems_of(task)
    a, b = ([trn[at] for at in np.flatnonzero(system_of == system).tolist()] for system in (0, 1))
    sides = {"dev": (trn, dev), "few B": ([*a, *b[:50]], b[100:]), "few A": ([*b, *dev, *a[:100]], a[300:800])}
    return {name: (limited(task, learned, asked), tuple(asked)) for name, (learned, asked) in sides.items()}


def systems_of(task: Task) -> Ints:
    """The system of each training dialog."""
    trn = task.split("trn")
    inventory = Inventory(learn_lexicon(task.facts, trn, task.candidates), task.candidates)
    said = [[inventory.parse(point.reply).template for point in points_of([dialog])] for dialog in trn]
    counts = template_counts(inventory, said)
    return most_likely(Systems.fitted(inventory, counts, seed=0).posterior(counts))


def limited(task: Task, learned: Sequence[Episode], asked: Sequence[Episode]) -> Task:
    """The task with just the replies of both sides as candidates; those of the release keep their order."""
    replies = dict.fromkeys(point.reply for point in points_of([*learned, *asked]))
    candidates = tuple(sorted(replies, key=lambda text: task.index.get(text, len(task.candidates))))
    return replace(task, splits={"trn": tuple(learned)}, candidates=candidates)


def ablations(task: Task) -> None:
    """Print per-response (per-dialog) accuracy of each variant in each setting."""
    settings = settings_of(task)
    print("| variant | " + " | ".join(settings) + " |\n| --- |" + " --- |" * len(settings))
    for name, kind, options in ABLATIONS:
        cells = []
        for learned, asked in settings.values():
            ranker = kind(0)
            ranker.options = dict(options)
            ranker.fit(learned)
            result = evaluate(ranker, asked)
            cells.append(f"{100 * result.per_response:.1f} ({100 * result.per_dialog:.1f})")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def cost(task: Task) -> None:
    """Print the time to fit and to answer."""
    ranker = Templates(0)
    start = time.perf_counter()
    ranker.fit(task)
    fitted = time.perf_counter()
    result = evaluate(ranker, task.split("dev"))
    per_reply = 1000 * (time.perf_counter() - fitted) / len(result.dialogues)
    print(f"fit on {len(task.split('trn')):,} dialogs: {fitted - start:.1f} s")
    print(f"evaluation among {len(task.candidates):,} candidates: {per_reply:.2f} ms per reply\n")


if __name__ == "__main__":
    loaded = load_task(Path(sys.argv[1]), 6, ("trn", "dev"))
    cost(loaded)
    if "--quick" not in sys.argv:
        ablations(loaded)
