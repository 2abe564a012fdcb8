"""The template rankers of task 6: what fitting costs, and what each part buys.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_templates.py [--quick] [--parts TEXT] [--most N]

``--quick`` shows the cost alone; ``--parts`` measures only the parts with that text in their name; ``--most`` learns
from and asks at most so many dialogs in each setting. Each part is switched off in turn: on dev, on systems left out
and on systems hardly heard (``task6_settings.py``; test dialogs are never read). A part that buys nothing in any of
them should not be there. All of it takes about half an hour on one core, 12 minutes with ``--most 600``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
from task6_settings import Setting, World, release

from dialgauge.rankers import RankingTask
from dialgauge.rankers.templates import inventory, ranker, systems, transductive
from dialgauge.rankers.templates.cues import cues_of, marks_of
from dialgauge.rankers.templates.filling import Filling
from dialgauge.rankers.templates.history import DialogHistory
from dialgauge.rankers.templates.ranker import Templates, TemplatesTransductive
from dialgauge.rankers.templates.systems import Experts
from dialgauge.responses import evaluate

Switch = Callable[[], AbstractContextManager[Any]]


def without_cues(*beginnings: str) -> Switch:
    """Cues that begin so are not given."""

    def fewer(history: DialogHistory) -> list[str]:
        return [cue for cue in cues_of(history) if not cue.startswith(beginnings)]

    return lambda: patch.object(ranker, "cues_of", fewer)


def without_marks(*parts: str) -> Switch:
    """Marks that have such a part are not given."""

    def fewer(history: DialogHistory) -> list[tuple[int, str]]:
        return [mark for mark in marks_of(history) if not any(part in mark[1] for part in parts)]

    return lambda: patch.object(ranker, "marks_of", fewer)


def instead(module: Any, name: str, value: Any) -> Switch:
    """Something else stands for a part."""
    return lambda: patch.object(module, name, value)


#: Of both rankers: name and how to switch the part off.
PARTS: dict[str, Switch] = {
    "(all parts)": nullcontext,
    "the user's words": without_cues("word"),
    "pairs of words": without_cues("words "),
    "the state": without_cues("called", "outcome", "R_", "mentions", "changes", "matches"),
    "calls and outcomes": without_cues("called", "outcome"),
    "mentions": without_cues("R_", "mentions"),
    "changes": without_cues("changes"),
    "matches": without_cues("matches"),
    "the last two replies": without_cues("reply"),
    "all replies": without_cues("said"),
    "aliases": instead(ranker, "learn_aliases", lambda dialogs, inventory: {}),
    "values by analogy": instead(inventory, "_with_analogies", lambda lexicon, texts: lexicon),
    "belief in experts": instead(systems, "_TEMPER", 0.0),
    "a floor of belief": instead(systems, "_FLOOR", 1e-12),
    "texts said": without_marks("text: "),
    "values the user said before": without_marks("user before"),
    "values the user said since the call": without_marks("user since"),
    "values the bot said": without_marks(": bot"),
    "names said": without_marks("name: said"),
    "the first result": without_marks("name: first result"),
    "the first name waiting": without_marks("name: first waiting"),
}
OPTIONS = {"experts of their own": {"own_penalty": "1000000"}}
#: Of the transductive ranker alone.
ADAPTING: dict[str, Switch] = {
    "belief in systems": instead(transductive, "_LEAST_BELIEF", 1.0),
    "a system with the words of both": instead(
        transductive, "_speakers", lambda rates: np.vstack([rates + 1e-3, 1e-9 * rates[0]])
    ),
    "paraphrases": instead(transductive, "paraphrases", lambda inventory, uses: {}),
}


@contextmanager
def fits_kept() -> Iterator[None]:
    """Experts and fillings are fitted once for the same input: most parts change one of them only."""
    with ExitStack() as stack:
        for kind in (Experts, Filling):
            stack.enter_context(patch.object(kind, "fitted", _kept(kind.fitted)))
        yield


def _kept(fitted: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[int, Any] = {}

    def recalled(first: Any, *others: Any) -> Any:
        key = hash(str((getattr(first, "candidates", first), *others)))
        known[key] = known.get(key) or fitted(first, *others)
        return known[key]

    return recalled


def table(
    task: RankingTask, settings: Sequence[Setting], kind: type[Templates], parts: dict[str, Switch], only: str
) -> None:
    """Print per-response accuracy (and dialogs wholly right) without each part, in each setting."""
    print(f"| `{kind.name}` without | " + " | ".join(one.name for one in settings) + " | mean |")
    print("| --- |" + " --- |" * (len(settings) + 1))
    rows = [*((name, switch, {}) for name, switch in parts.items()), *((n, nullcontext, o) for n, o in OPTIONS.items())]
    for name, switch, options in rows:
        if only not in name:
            continue
        reached = []
        for setting in settings:
            ranker = kind(0)
            ranker.options = dict(options)
            with switch():
                reached.append(setting.reached(task, ranker))
        cells = [f"{response:.1f} ({dialog:.1f})" for response, dialog in [*reached, np.mean(reached, axis=0)]]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print()


def cost(task: RankingTask) -> None:
    """Print the CPU time to fit and to answer, and what is reached on dev among all candidates."""
    ranker = Templates(0)
    start = time.process_time()
    ranker.fit(task)
    fitted = time.process_time()
    result = evaluate(ranker, task.split("dev"))
    per_reply = 1000 * (time.process_time() - fitted) / len(result)
    print(f"fit on {len(task.split('trn')):,} dialogs: {fitted - start:.1f} s of CPU")
    print(f"evaluation among {len(task.candidates):,} candidates: {per_reply:.2f} ms of CPU per reply")
    print(f"dev: {100 * result.per_response:.2f} ({100 * result.per_dialog:.2f})\n", flush=True)


def main() -> None:
    """Print the cost, then the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the cost alone")
    parser.add_argument("--parts", default="", help="only parts with this text in their name")
    parser.add_argument("--most", type=int, default=10_000, help="dialogs to learn from and to ask, at most")
    given, task = parser.parse_args(), release()
    if task is None:
        return
    cost(task)
    if not given.quick:
        world = World(task)
        settings = [one.sampled(given.most) for one in (*world.fixed(), *list(world.drawn(0))[:2])]
        with fits_kept():
            table(task, settings, Templates, PARTS, given.parts)
            table(task, settings, TemplatesTransductive, {**ADAPTING, **PARTS}, given.parts)


if __name__ == "__main__":
    main()
