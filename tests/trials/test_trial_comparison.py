"""Results of agents compared: tasks are paired, and what would settle a difference is right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from dialgauge.comparison import Comparison, compare_runs
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run
from dialgauge.trials import Settling, score_results, settling
from support.agent_results import tau2_file, tau_file
from support.commands import dialgauge

TALK = [{"role": "user", "content": "hi"}]


def runs_of(folder: Path, **files: Mapping[str, str]) -> list[Run]:
    return score_results([tau_file(folder / f"{name}.json", tasks) for name, tasks in files.items()], resamples=0).runs


def drawn(folder: Path, name: str, chances: np.ndarray, trials: int, seed: int) -> Path:
    """A file of an agent that passes each task with a known chance."""
    generator = np.random.default_rng(seed)
    marks = np.where(generator.random((len(chances), trials)) < chances[:, None], "+", "-")
    return tau_file(folder / f"{name}.json", {str(task): "".join(row) for task, row in enumerate(marks)})


def compared(folder: Path, a: Mapping[str, str], b: Mapping[str, str]) -> Comparison:
    return compare_runs(runs_of(folder, a=a, b=b), resamples=2000)


def of_logs(*logs: Path) -> Comparison:
    return compare_runs(score_results(logs, resamples=0).runs, resamples=100)


def test_tasks_are_paired_whatever_their_numbers_of_trials(tmp_path: Path) -> None:
    comparison = compared(tmp_path, {"x": "++++", "y": "+-+-", "z": "----"}, {"x": "+-", "y": "--", "z": "--"})
    assert comparison.dialogues == ("x", "y", "z")
    difference = comparison.difference("a", "b", "pass^1")
    assert difference.difference == pytest.approx((0.5 + 0.5 + 0.0) / 3)
    assert (difference.wins, difference.ties, difference.losses) == (2, 1, 0)
    assert any("the numbers of trials differ (a 4, b 2)" in note for note in comparison.notes)
    assert comparison.basis == "95% intervals over 3 tasks"


def test_the_values_are_those_of_the_runs(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, a={"x": "++-", "y": "+--"}, b={"x": "+++", "y": "---"})
    comparison = compare_runs(runs, resamples=100)
    for run in runs:
        for measure in comparison.measures:
            value = comparison.corpus_values[
                comparison.scores.place_of_system(run.name), comparison.scores.place_of_measure(measure)
            ]
            assert value == pytest.approx(run.scores[measure].value), measure


def test_five_tasks_are_too_few_for_an_interval_of_a_difference(tmp_path: Path) -> None:
    """Five tasks changing sides in all ways give no p below 1/16: every difference could be the true one."""
    for tasks, intervals in ((5, False), (6, True)):
        a = tau_file(tmp_path / "a.json", {str(task): "++-+"[task % 4 :] + "+++"[: task % 4] for task in range(tasks)})
        b = tau_file(tmp_path / "b.json", {str(task): "+---" for task in range(tasks)})
        difference = compare_runs(score_results([a, b], resamples=0).runs, resamples=2000).difference(
            "a", "b", "pass^1"
        )
        assert np.isfinite([difference.low, difference.high]).all() == intervals


def test_tasks_that_only_one_has_are_named_first(tmp_path: Path) -> None:
    a = tau_file(tmp_path / "a.json", {"x": "+", "y": "-", "only-a": "+"})
    b = tau_file(tmp_path / "b.json", {"x": "-", "y": "-"})
    comparison = of_logs(a, b)
    before = " ".join(comparison.notes)
    assert not comparison.complete
    assert "a: 3 of 3 conversations" in before and "b: 2 of 2 conversations" in before
    assert "a: 1 task that not all have, left out: only-a" in before
    assert "b lacks 1 of 3 tasks" in before


TWENTY = {str(task): ("airline", [float(task % 2)]) for task in range(20)}


def test_files_of_different_domains_are_refused(tmp_path: Path) -> None:
    a = tau2_file(tmp_path / "a.json", TWENTY, 1)
    b = tau2_file(tmp_path / "b.json", {task: ("retail", given) for task, (_, given) in TWENTY.items()}, 1)
    with pytest.raises(DialgaugeError, match=r"different domains .*a airline; b retail"):
        of_logs(a, b)


def test_files_with_other_tasks_under_the_same_ids_are_refused(tmp_path: Path) -> None:
    a = tau2_file(tmp_path / "a.json", TWENTY, 1)
    b = tau2_file(tmp_path / "b.json", TWENTY, 1, {str(task): "Something else." for task in range(3)})
    with pytest.raises(DialgaugeError, match=r"3 of the 20 tasks .* have different goals or instructions \(0, 1, 2\)"):
        of_logs(a, b)


def test_a_few_other_tasks_under_the_same_ids_are_left_out_and_named(tmp_path: Path) -> None:
    a = tau2_file(tmp_path / "a.json", TWENTY, 1)
    b = tau2_file(tmp_path / "b.json", TWENTY, 1, {"1": "Something else.", "5": "Another thing."})
    spaced = {task: f"You  want {task}.\n" for task in TWENTY}
    c = tau2_file(tmp_path / "c.json", TWENTY, 1, spaced)
    comparison = of_logs(a, b)
    assert not comparison.complete
    assert "2 tasks left out, as they have different goals or instructions under the same id: 1, 5" in comparison.notes
    assert len(comparison.dialogues) == 18 and not {"1", "5"} & set(comparison.dialogues)
    assert comparison.corpus_values[0, 0] == pytest.approx(
        8 / 18
    )  # ten of twenty passed, and two of those are left out
    assert of_logs(a, c).complete


def test_real_files_of_other_tasks_are_refused(shared_data: Path) -> None:
    tau = shared_data / "tau"
    grok, telecom, gpt = (
        tau / f"{name}.json.gz"
        for name in ("tau2_airline_grok-3", "tau2_telecom-workflow_grok-3", "tau_airline_gpt-4o")
    )
    with pytest.raises(DialgaugeError, match="grok-3 airline; tau2_telecom-workflow_grok-3 telecom-workflow"):
        of_logs(grok, telecom)
    with pytest.raises(DialgaugeError, match="20 of the 20 tasks that they share by id have different goals"):
        of_logs(grok, gpt)


def test_an_incomplete_file_is_told_first(tmp_path: Path) -> None:
    a = tau_file(tmp_path / "a.json", {"x": "++", "y": "-+"})
    b = tau_file(tmp_path / "b.json", {"x": "+!", "y": "--"})
    comparison = of_logs(a, b)
    assert not comparison.complete
    assert comparison.page().warnings[0].startswith("b: INCOMPLETE: 3 of 4 conversations")
    # Only one file has two trials of x.
    assert "compared without the 1 task that some system lacks" in " ".join(comparison.notes)


class TestSettling:
    def made(self, tmp_path: Path, *, trials: int, tasks: int, gain: float, seed: int = 1) -> Settling:
        chances = np.random.default_rng(9).uniform(0.2, 0.7, size=tasks)
        files = [
            drawn(tmp_path, "a", chances, trials, seed),
            drawn(tmp_path, "b", chances + gain, trials, seed + 1000),
        ]
        comparison = compare_runs(score_results(files, resamples=0).runs, resamples=2000)
        return settling(comparison, "a", "b")

    def test_what_is_needed_shrinks_the_error_to_what_shows_the_difference(self, tmp_path: Path) -> None:
        """Agents that differ alike on all tasks: the error falls as one over the root of tasks times trials."""
        one = self.made(tmp_path, trials=4, tasks=60, gain=0.06, seed=2)
        assert one.detectable is not None and one.trials_needed is not None and one.tasks_needed is not None
        ratio = (one.detectable / abs(one.difference)) ** 2
        assert one.tasks_needed == pytest.approx(60 * ratio, abs=1)
        # Trials cannot do better than tasks, where nothing but trials is noise they do about as well.
        assert one.trials_needed >= 4 * ratio - 1

    def test_a_clear_difference_is_settled(self, tmp_path: Path) -> None:
        assert self.made(tmp_path, trials=8, tasks=100, gain=0.3).settled

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
            one = settling(
                compare_runs(score_results(files, resamples=0, measures=["pass^1"]).runs, resamples=300), "a", "b"
            )
            found.append(one.settled)
            detectable.append(one.detectable)
        assert np.mean([value for value in detectable if value is not None]) == pytest.approx(0.175, abs=0.02)
        assert 0.65 <= np.mean(found) <= 0.95


FILLER = {f"f{n}": "+-" if n % 2 else "--" for n in range(8)}


def test_the_real_files(shared_data: Path) -> None:
    folder = shared_data / "tau"
    comparison = of_logs(folder / "tau2_airline_grok-3.json.gz", folder / "tau2_airline_grok-3-mini_cut_off.json.gz")
    first, second, *others = comparison.notes
    assert "20 of 20 conversations" in first and "14 of 200 conversations" in second
    assert "different settings (user)" in " ".join(others) and "compared on the 5 tasks" in " ".join(others)


def test_other_verdicts_on_the_same_words_are_named(tmp_path: Path) -> None:
    def log(name: str, passing: int) -> Path:
        rows = [
            {
                "task_id": f"t{task}",
                "trial": trial,
                "messages": [
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": f"{name[:3]} {trial}"},
                ],
                "success": task < passing,
            }
            for task in range(8)
            for trial in range(2)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return tmp_path / f"{name}.jsonl"

    old = log("old", 3)
    assert not any("word for word" in note for note in of_logs(old, log("new", 7)).notes)
    [note] = [note for note in of_logs(old, log("old-again", 5)).notes if "word for word" in note]
    assert note.startswith("4 conversations of old and old-again are word for word the same, and judged otherwise")


def chat_log(path: Path, changed: tuple[str, int] | None = None) -> Path:
    """Three tasks with two trials each; one trial may have another instruction than its task."""
    told = {(task, trial): f"You want {task}." for task in "abc" for trial in range(2)}
    told |= {changed: "You want something else."} if changed else {}
    lines = [
        {
            "task_id": task, "trial": trial, "success": task == "a", "instruction": instruction,
            "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "bye"}],
        }
        for (task, trial), instruction in told.items()
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


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


def test_trials_with_other_instructions_than_their_task_are_named_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, odd = chat_log(tmp_path / "whole.jsonl"), chat_log(tmp_path / "odd.jsonl", ("b", 1))
    for command in (("tasks", "score"), ("users", "faults")):
        told = "odd: the trials of 1 task have different instructions (b): are conversations filed under another task?"
        done = dialgauge(capsys, *command, odd, "--resamples", 0)
        assert told in " ".join((done.out + done.err).split())
        done = dialgauge(capsys, *command, whole, "--resamples", 0)
        assert "different instructions" not in done.out + done.err
    checked = dialgauge(capsys, "data", "check", odd)
    assert checked.code == 1 and "1 kind of problem" in checked.out
    assert dialgauge(capsys, "data", "check", whole).code == 0
    left_out = "1 task left out, as it has different goals or instructions under the same id: b"
    assert left_out in of_logs(whole, odd).notes


def test_what_was_not_read_of_logs_is_told_once_where_it_is_the_same(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        records = [{"task_id": str(task), "success": True, "odd": 1, "messages": TALK} for task in range(4)]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(record) + "\n" for record in records))
    assert [note for note in of_logs(*files).notes if "odd" in note] == [
        "a, b: read as: rows [], task=task_id, success=success, messages=messages; not read: odd"
    ]
