"""Several trials of each task: how often an agent succeeds, how often every time, and how much of that is chance."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tasks.trials.trial_measures import flip_chance as flip_chance, pass_chance as pass_chance


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
