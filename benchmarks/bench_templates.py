"""The template ranker of task 6: what it costs, and what each part buys on known systems and on one hardly heard.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_templates.py [--quick]

``--quick`` shows the cost alone. Test dialogs are never read. The systems of train are A (larger) and B; ``dev``
sounds like B. ``rest A`` learns from train but 400 dialogs of A and answers those; ``few B`` learns from all dialogs of
A and 50 of B and answers the other dialogs of B; ``few A`` learns from B, dev and 100 dialogs of A and answers 500
others of A. The last two are means of two draws. The candidate list holds just the replies of both sides, as a
release's would.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dialgauge.rankers.episode import Episode, points_of
from dialgauge.rankers.task import RankingTask, load_task
from dialgauge.rankers.templates.inventory import Ints, Inventory, learn_lexicon
from dialgauge.rankers.templates.ranker import Templates, TemplatesTransductive
from dialgauge.rankers.templates.systems import Systems, most_likely, template_counts
from dialgauge.responses.evaluation import RankingResult, evaluate

#: Draws of the few dialogs that are learned from.
DRAWS = 2
ABLATIONS: tuple[tuple[str, type[Templates], dict[str, str]], ...] = (
    ("templates", Templates, {}),
    ("without experts", Templates, {"experts": "false"}),
    ("without the user's words", Templates, {"without": "words"}),
    ("without the state", Templates, {"without": "state"}),
    ("without the last two replies", Templates, {"without": "bot"}),
    ("without the history", Templates, {"without": "history"}),
    ("without experts and alignment", Templates, {"experts": "false", "align": "false"}),
    ("templates-transductive", TemplatesTransductive, {}),
)


#: What to learn from and what to answer.
Side = tuple[RankingTask, tuple[Episode, ...]]


def settings_of(task: RankingTask) -> dict[str, list[Side]]:
    """The sides of each setting, by name."""
    trn, dev = task.split("trn"), task.split("dev")
    system_of = systems_of(task)
    settings = {"dev": [_side(task, trn, dev)], "rest A": [], "few B": [], "few A": []}
    for draw in range(DRAWS):
        draws = np.random.default_rng(100 + draw)
        a, b = ([trn[at] for at in draws.permutation(np.flatnonzero(system_of == system))] for system in (0, 1))
        settings["few B"].append(_side(task, [*a, *b[:50]], b[50:]))
        settings["few A"].append(_side(task, [*b, *dev, *a[:100]], a[100:600]))
    settings["rest A"].append(_side(task, [*a[400:], *b], a[:400]))
    return settings


def systems_of(task: RankingTask) -> Ints:
    """The system of each training dialog."""
    trn = task.split("trn")
    inventory = Inventory(learn_lexicon(task.facts, trn, task.candidates), task.candidates)
    said = [[inventory.parse(point.reply).template for point in points_of([dialog])] for dialog in trn]
    counts = template_counts(inventory, said)
    return most_likely(Systems.fitted(inventory, counts, seed=0).posterior(counts))


def _side(task: RankingTask, learned: Sequence[Episode], asked: Sequence[Episode]) -> Side:
    return limited(task, learned, asked), tuple(asked)


def limited(task: RankingTask, learned: Sequence[Episode], asked: Sequence[Episode]) -> RankingTask:
    """The task with just the replies of both sides as candidates; those of the release keep their order."""
    replies = dict.fromkeys(point.reply for point in points_of([*learned, *asked]))
    candidates = tuple(sorted(replies, key=lambda text: task.index.get(text, len(task.candidates))))
    return replace(task, splits={"trn": tuple(learned)}, candidates=candidates)


def ablations(task: RankingTask) -> None:
    """Print per-response accuracy (and dialogs wholly right) of each variant in each setting."""
    settings = settings_of(task)
    print("| variant | " + " | ".join(settings) + " |\n| --- |" + " --- |" * len(settings))
    for name, kind, options in ABLATIONS:
        cells = [_cell([_reached(kind, options, *side) for side in sides]) for sides in settings.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def _reached(
    kind: type[Templates], options: dict[str, str], learned: RankingTask, asked: tuple[Episode, ...]
) -> RankingResult:
    ranker = kind(0)
    ranker.options = dict(options)
    ranker.fit(learned)
    return evaluate(ranker, asked)


def _cell(results: Sequence[RankingResult]) -> str:
    response, dialog = (
        100 * float(np.mean(values))
        for values in ([one.per_response for one in results], [one.per_dialog for one in results])
    )
    return f"{response:.1f} ({dialog:.1f})"


def cost(task: RankingTask) -> None:
    """Print the time to fit and to answer."""
    ranker = Templates(0)
    start = time.perf_counter()
    ranker.fit(task)
    fitted = time.perf_counter()
    result = evaluate(ranker, task.split("dev"))
    per_reply = 1000 * (time.perf_counter() - fitted) / len(result)
    print(f"fit on {len(task.split('trn')):,} dialogs: {fitted - start:.1f} s")
    print(f"evaluation among {len(task.candidates):,} candidates: {per_reply:.2f} ms per reply\n")


def release() -> RankingTask | None:
    """Train and dev of task 6, where the data is present."""
    root = os.environ.get("DIALGAUGE_DATA", "")
    if not root or not (Path(root) / "babi").is_dir():
        print("no data: set DIALGAUGE_DATA to the folder that holds babi/")
        return None
    return load_task(Path(root) / "babi", 6, ("trn", "dev"))


def main() -> None:
    """Print the cost, then the ablations."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the cost alone")
    quick, task = parser.parse_args().quick, release()
    if task is not None:
        cost(task)
        if not quick:
            ablations(task)


if __name__ == "__main__":
    main()
