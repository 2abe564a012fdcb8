"""Calls of the public API that no single family can answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from msgspec.structs import replace

from dialgauge.comparison import Comparison, compare_runs
from dialgauge.dialogue import Blame, Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.report import RunSet
from dialgauge.runs import Run, Store
from dialgauge.tracking import named_systems, score

if TYPE_CHECKING:
    from dialgauge.engine import Progress
    from dialgauge.tracking import MeasureChoice, Source, TrackingOptions
    from dialgauge.trials import Attempted


def compare(
    systems: Mapping[str, Run] | Source | Sequence[Mapping[str, Run] | Run | str] | None,
    predictions: Mapping[str, Source] | Sequence[str | Path] | None = None,
    *,
    measures: MeasureChoice = None,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
    store: Store | str | Path | None = None,
    **tracking: Unpack[TrackingOptions],
) -> Comparison:
    """Which system is better, and by which measure?

    Compared are runs of any kind (one :class:`RunSet`, or a list of them, of runs, or of ids of stored runs), or
    trackers: ``compare(gold, predictions)``, each as for :func:`dialgauge.score`, with its options.
    Tests are paired over the dialogues that all systems have; of trackers, ``coverage="empty"`` scores what a system
    lacks as empty states.

    >>> import dialgauge
    >>> gold = {str(n): [{"hotel-area": "north"}] for n in range(8)}
    >>> results = dialgauge.score(gold, {"right": gold, "silent": {name: [{}] for name in gold}}, measures="JGA")
    >>> comparison = dialgauge.compare(results, resamples=1000)
    >>> comparison["right"]["JGA"], comparison.difference("right", "silent", "JGA").significant
    (<Score 1 [0.6537, 1], n=8>, True)
    """
    if predictions is not None:
        if len(named_systems(predictions)) < 2:
            raise DialgaugeError("a comparison needs at least two systems; name two or more prediction files")
        results = score(cast("Source | None", systems), predictions, measures=measures, intervals=False, **tracking)
        return compare_runs(results.runs, resamples=resamples, seed=seed, level=level)
    if tracking:
        raise DialgaugeError(f"runs are already scored; leave out {', '.join(tracking)}")
    given = [systems] if isinstance(systems, Mapping) else systems
    if not isinstance(given, list | tuple):
        raise DialgaugeError("give runs to compare, or gold and predictions: compare(gold, predictions)")
    runs: list[Run | str] = []
    for system in given:
        if isinstance(system, Mapping):
            runs += cast("Mapping[str, Run]", system).values()
        elif isinstance(system, Run | str):
            runs.append(system)
        else:
            raise DialgaugeError(f"a {type(system).__name__} cannot be compared; give runs or ids of stored runs")
    chosen = [measures] if isinstance(measures, str) else measures
    named = None if chosen is None else [str(measure) for measure in chosen]
    return compare_runs(runs, store=store, measures=named, resamples=resamples, seed=seed, level=level)


def review(
    logs: Attempted | Iterable[str | Path] | Mapping[str, Attempted],
    *,
    domain: str | None = None,
    tasks: str | Path | None = None,
    judges: Iterable[str | Path] = (),
    truth: str | None = None,
    measures: str | Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
    format: str | None = None,
    success: str = "",
    progress: Progress | None = None,
) -> RunSet:
    """Can these logs of agents be trusted? Scores, whether a log is what it says, unfair tasks, suspects of failures.

    No language model is used. ``domain`` names the tool domain in which calls are made again (by default ours, where
    the log is from there). With ``tasks``, a file of tasks, each log is graded again by these: two runs, as recorded
    and graded again. ``judges`` are files with verdicts of graders, of whom ``truth`` is right. ``format`` names the
    format of files, ``success`` the field that says whether a conversation passed.

    >>> import dialgauge
    >>> print(dialgauge.review("tau.json").page().verdict)
    58.3% of tasks passed (pass^1, 95% interval 16.7 to 88.4); in 0.0% all four trials passed.
    """
    from dialgauge.engine import SILENT
    from dialgauge.formats import named_sources
    from dialgauge.trials import read_log, regrade_log, review_log

    runs, named, files = [], named_sources(logs), tuple(judges)
    with (progress or SILENT).reading(len(named)) as advance:
        for name, source in named.items():
            log = read_log(source, name, format, success)
            how: dict[str, Any] = {"domain": domain, "measures": measures, "resamples": resamples, "seed": seed}
            if tasks is not None:
                runs += regrade_log(log, Path(tasks), **how)
            else:
                runs.append(review_log(log, _user_faults, judges=files, truth=truth, **how))
            advance(1)
    return RunSet(runs)


def _user_faults(dialogue: Dialogue, instruction: str = "") -> list[Blame]:
    """What the checks of users see in a conversation, by the instruction of its task where it has none itself."""
    from dialgauge.dialogue import Goal
    from dialgauge.users.faults import check_user

    if dialogue.goal is None and instruction:
        dialogue = replace(dialogue, goal=Goal(message=(instruction,)))
    return [
        Blame(dialogue=dialogue.id, side="user", turn=fault.message, code=fault.kind, arguments=(fault.about,))
        for fault in check_user(dialogue).faults
    ]
