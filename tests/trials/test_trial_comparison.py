"""Results of agents compared: tasks are paired, and what would settle a difference is right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import dialgauge
from dialgauge import review
from dialgauge.comparison import Comparison, compare_runs
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run
from dialgauge.trials import Settling, settling
from support.agent_results import tau2_file, tau_file


def runs_of(folder: Path, **files: Mapping[str, str]) -> list[Run]:
    return review([tau_file(folder / f"{name}.json", tasks) for name, tasks in files.items()], resamples=0).runs


def drawn(folder: Path, name: str, chances: np.ndarray, trials: int, seed: int) -> Path:
    """A file of an agent that passes each task with a known chance."""
    generator = np.random.default_rng(seed)
    marks = np.where(generator.random((len(chances), trials)) < chances[:, None], "+", "-")
    return tau_file(folder / f"{name}.json", {str(task): "".join(row) for task, row in enumerate(marks)})


def compared(folder: Path, a: Mapping[str, str], b: Mapping[str, str]) -> Comparison:
    return compare_runs(runs_of(folder, a=a, b=b), resamples=2000)


def test_tasks_are_paired_whatever_their_numbers_of_trials(tmp_path: Path) -> None:
    comparison = compared(tmp_path, {"x": "++++", "y": "+-+-", "z": "----"}, {"x": "+-", "y": "--", "z": "--"})
    assert comparison.dialogues == ("x", "y", "z")
    difference = comparison.difference("a", "b", "pass^1")
    assert difference.difference == pytest.approx((0.5 + 0.5 + 0.0) / 3)
    assert (difference.wins, difference.ties, difference.losses) == (2, 1, 0)
    assert any("the numbers of trials differ (a 4, b 2)" in note for note in comparison.notes)
    assert comparison.basis == "95% intervals over 3 tasks"


def test_tasks_that_only_one_has_are_named(tmp_path: Path) -> None:
    comparison = compared(tmp_path, {"x": "+", "y": "-", "only-a": "+"}, {"x": "-", "y": "-"})
    assert comparison.dialogues == ("x", "y")
    assert any("a: 1 task that not all have, left out: only-a" in note for note in comparison.notes)


TWENTY = {str(task): ("airline", [float(task % 2)]) for task in range(20)}


def refusal(*files: Path) -> str:
    with pytest.raises(DialgaugeError) as error:
        dialgauge.compare(review(files, resamples=0), resamples=100)
    return error.value.message


def test_logs_of_other_tasks_are_refused(tmp_path: Path, shared_data: Path) -> None:
    a = tau2_file(tmp_path / "a.json", TWENTY, 1)
    b = tau2_file(tmp_path / "b.json", {task: ("retail", given) for task, (_, given) in TWENTY.items()}, 1)
    assert "different domains" in refusal(a, b)
    c = tau2_file(tmp_path / "c.json", TWENTY, 1, {str(task): "Something else." for task in range(3)})
    assert "3 of the 20 tasks that they share by id have different goals" in refusal(a, c)
    tau = shared_data / "tau"
    assert "20 of the 20 tasks" in refusal(tau / "tau2_airline_grok-3.json.gz", tau / "tau_airline_gpt-4o.json.gz")


def test_a_few_other_tasks_under_the_same_ids_are_left_out_and_named(tmp_path: Path) -> None:
    a = tau2_file(tmp_path / "a.json", TWENTY, 1)
    b = tau2_file(tmp_path / "b.json", TWENTY, 1, {"1": "Something else.", "5": "Another thing."})
    comparison = dialgauge.compare(review([a, b], resamples=0), resamples=100)
    assert any(note.startswith("2 tasks left out, which have different goals") for note in comparison.notes)
    assert len(comparison.dialogues) == 18 and not {"1", "5"} & set(comparison.dialogues)
    # Ten of twenty passed, and two of those are left out.
    assert comparison.corpus_values[0, 0] == pytest.approx(8 / 18)
    spaced = tau2_file(tmp_path / "c.json", TWENTY, 1, {task: f"You  want {task}.\n" for task in TWENTY})
    assert len(dialgauge.compare(review([a, spaced], resamples=0), resamples=100).dialogues) == 20


class TestSettling:
    def made(self, tmp_path: Path, *, trials: int, tasks: int, gain: float, seed: int = 1) -> Settling:
        chances = np.random.default_rng(9).uniform(0.2, 0.7, size=tasks)
        files = [
            drawn(tmp_path, "a", chances, trials, seed),
            drawn(tmp_path, "b", chances + gain, trials, seed + 1000),
        ]
        return settling(compare_runs(review(files, resamples=0).runs, resamples=2000), "a", "b")

    def test_what_is_needed_shrinks_the_error_to_what_shows_the_difference(self, tmp_path: Path) -> None:
        """Agents that differ alike on all tasks: the error falls as one over the root of tasks times trials."""
        one = self.made(tmp_path, trials=4, tasks=60, gain=0.06, seed=2)
        assert one.detectable is not None and one.trials_needed is not None and one.tasks_needed is not None
        ratio = (one.detectable / abs(one.difference)) ** 2
        assert one.tasks_needed == pytest.approx(60 * ratio, abs=1)
        # Trials cannot do better than tasks, where nothing but trials is noise they do about as well.
        assert one.trials_needed >= 4 * ratio - 1

    def test_single_trials_leave_the_noise_unknown(self, tmp_path: Path) -> None:
        one = self.made(tmp_path, trials=1, tasks=60, gain=0.05)
        assert one.trials_needed is None and one.tasks_needed is not None
        assert "tried once" in one.why

    def test_where_agents_differ_on_other_tasks_each_trials_do_not_help(self, tmp_path: Path) -> None:
        half = {f"a{n}": "++" for n in range(10)} | {f"b{n}": "--" for n in range(11)}
        other = {f"a{n}": "--" for n in range(10)} | {f"b{n}": "++" for n in range(11)}
        one = settling(compared(tmp_path, half, other), "a", "b")
        assert one.trials_needed is None and "more tasks are needed" in one.why
        assert one.tasks_needed is not None and one.tasks_needed > 21

    def test_no_difference_has_nothing_to_settle(self, tmp_path: Path) -> None:
        one = settling(compared(tmp_path, {"x": "+-", "y": "-+"} | FILLER, {"x": "++", "y": "--"} | FILLER), "a", "b")
        assert one.difference == 0
        assert one.trials_needed is None and one.tasks_needed is None and one.why == "no difference was seen"

    @pytest.mark.soak
    def test_the_power_is_what_is_promised(self, tmp_path: Path) -> None:
        """Of agents that truly differ by what is said to be detectable, about 8 pairs in 10 are told apart."""
        chances = np.random.default_rng(4).uniform(0.1, 0.6, size=40)
        found, detectable = [], []
        for seed in range(80):
            files = [drawn(tmp_path, "a", chances, 3, 2 * seed), drawn(tmp_path, "b", chances + 0.175, 3, 2 * seed + 1)]
            runs = review(files, resamples=0, measures=["pass^1"]).runs
            comparison = compare_runs(runs, resamples=300)
            found.append(comparison.difference("a", "b", "pass^1").significant)
            detectable.append(settling(comparison, "a", "b").detectable)
        assert np.mean([value for value in detectable if value is not None]) == pytest.approx(0.175, abs=0.02)
        assert 0.65 <= np.mean(found) <= 0.95


FILLER = {f"f{n}": "+-" if n % 2 else "--" for n in range(8)}


def test_other_verdicts_on_the_same_words_are_named() -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    rows = [
        {"task_id": f"t{task}", "trial": trial, "messages": talk, "success": task < 3}
        for task in range(8)
        for trial in range(2)
    ]
    again = [row | {"success": row["success"] or row["task_id"] == "t5"} for row in rows]
    for other, told in ((rows, False), (again, True)):
        comparison = dialgauge.compare(review({"old": rows, "again": other}, resamples=0), resamples=10)
        notes = [note for note in comparison.notes if "word for word the same and judged differently" in note]
        assert bool(notes) == told and all(note.startswith("2 conversations of old and again") for note in notes)


def test_equal_means_need_no_tasks_to_tell_them_apart(tmp_path: Path) -> None:
    """Sums of thirds in another order differ in their last bit."""
    passed = {"one": [3, 3, 1, 3, 1, 0, 3, 2], "other": [3, 1, 2, 3, 1, 0, 3, 3]}
    files = {
        name: {f"t{task}": "+" * number + "-" * (3 - number) for task, number in enumerate(numbers)}
        for name, numbers in passed.items()
    }
    comparison = compare_runs(runs_of(tmp_path, **files), resamples=100)
    difference = comparison.difference("one", "other", "pass^1").difference
    assert 0 < abs(difference) < 1e-15
    settled = settling(comparison, "one", "other")
    assert (settled.tasks_needed, settled.trials_needed, settled.why) == (None, None, "no difference was seen")
