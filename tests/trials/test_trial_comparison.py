"""Results of agents compared: tasks are paired, and what would settle a difference is right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import dialgauge as package
from dialgauge.comparison import Comparison, compare_runs, comparison_json, screen_tables
from dialgauge.runs import Run, Store
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


def test_five_tasks_are_too_few_for_an_interval_of_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five tasks changing sides in all ways give no p below 1/16: every difference could be the true one."""
    for tasks, intervals in ((5, False), (6, True)):
        a = tau_file(tmp_path / "a.json", {str(task): "++-+"[task % 4 :] + "+++"[: task % 4] for task in range(tasks)})
        b = tau_file(tmp_path / "b.json", {str(task): "+---" for task in range(tasks)})
        difference = compare_runs(score_results([a, b], resamples=0).runs, resamples=2000).difference(
            "a", "b", "pass^1"
        )
        assert np.isfinite([difference.low, difference.high]).all() == intervals
        done = dialgauge(capsys, "compare", a, b, "-m", "pass^1", "--json", tmp_path / "c.json")
        assert ("No intervals: 5 tasks are too few for one at 95%" in done.out) != intervals
        [told] = json.loads((tmp_path / "c.json").read_bytes())["differences"]
        assert (told["low"] is not None) == intervals


def test_tasks_that_only_one_has_are_named_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = tau_file(tmp_path / "a.json", {"x": "+", "y": "-", "only-a": "+"})
    b = tau_file(tmp_path / "b.json", {"x": "-", "y": "-"})
    done = dialgauge(capsys, "compare", a, b, "--resamples", 100)
    assert done.code == 1
    before = done.out.partition("Systems by measures")[0]
    assert "a: 3 of 3 conversations" in before and "b: 2 of 2 conversations" in before
    assert "a: 1 task that not all have, left out: only-a" in before
    assert "b lacks 1 of 3 tasks" in before


TWENTY = {str(task): ("airline", [float(task % 2)]) for task in range(20)}


def test_files_of_different_domains_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = tau2_file(tmp_path / "a.json", TWENTY, 1)
    b = tau2_file(tmp_path / "b.json", {task: ("retail", given) for task, (_, given) in TWENTY.items()}, 1)
    done = dialgauge(capsys, "compare", a, b, "--resamples", 100)
    assert done.code == 2 and done.out == ""
    assert "different domains" in done.err and "a airline; b retail" in done.err


def test_files_with_other_tasks_under_the_same_ids_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = tau2_file(tmp_path / "a.json", TWENTY, 1)
    b = tau2_file(tmp_path / "b.json", TWENTY, 1, {str(task): "Something else." for task in range(3)})
    done = dialgauge(capsys, "compare", a, b, "--resamples", 100)
    assert done.code == 2 and done.out == ""
    assert "3 of the 20 tasks that they share by id have different goals or instructions (0, 1, 2)" in done.err


def test_a_few_other_tasks_under_the_same_ids_are_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = tau2_file(tmp_path / "a.json", TWENTY, 1)
    b = tau2_file(tmp_path / "b.json", TWENTY, 1, {"1": "Something else.", "5": "Another thing."})
    spaced = {task: f"You  want {task}.\n" for task in TWENTY}
    c = tau2_file(tmp_path / "c.json", TWENTY, 1, spaced)
    done = dialgauge(capsys, "compare", a, b, "--resamples", 100, "--json", tmp_path / "out.json")
    assert done.code == 1
    before = done.out.partition("Systems by measures")[0]
    assert "2 tasks left out, as they have different goals or instructions under the same id: 1, 5." in before
    comparison = compare_runs(score_results([a, b], resamples=0).runs, resamples=100)
    assert len(comparison.dialogues) == 18 and not {"1", "5"} & set(comparison.dialogues)
    assert comparison.corpus_values[0, 0] == pytest.approx(
        8 / 18
    )  # ten of twenty passed, and two of those are left out
    assert dialgauge(capsys, "compare", a, c, "--resamples", 100).code == 0


def test_real_files_of_other_tasks_are_refused(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tau = shared_data / "tau"
    grok, telecom, gpt = (
        tau / f"{name}.json.gz"
        for name in ("tau2_airline_grok-3", "tau2_telecom-workflow_grok-3", "tau_airline_gpt-4o")
    )
    done = dialgauge(capsys, "compare", grok, telecom)
    assert done.code == 2 and "tau2_airline_grok-3 airline; tau2_telecom-workflow_grok-3 telecom-workflow" in done.err
    done = dialgauge(capsys, "compare", grok, gpt)
    assert (
        done.code == 2 and "20 of the 20 tasks that they share by id have different goals or instructions" in done.err
    )


def test_an_incomplete_file_is_told_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = tau_file(tmp_path / "a.json", {"x": "++", "y": "-+"})
    b = tau_file(tmp_path / "b.json", {"x": "+!", "y": "--"})
    done = dialgauge(capsys, "compare", a, b, "--resamples", 100)
    assert done.code == 1
    assert done.out.splitlines()[1].startswith("b: INCOMPLETE: 3 of 4 conversations")
    # Only one file has two trials of x.
    assert "compared without the 1 task that some system lacks" in done.out


def test_files_and_stored_runs_compare_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [
        tau_file(tmp_path / f"{name}.json", tasks)
        for name, tasks in (("a", {"x": "++", "y": "+-"}), ("b", {"x": "+-", "y": "--"}))
    ]
    store = Store(tmp_path / "store")
    ids = [store.add(run).id for run in score_results(files, resamples=0).runs]
    documents = []
    for arguments in (files, [*ids, "--store", tmp_path / "store"]):
        done = dialgauge(capsys, "compare", *arguments, "--resamples", 100, "--json", "-")
        assert done.code == 0
        documents.append(json.loads(done.out))
    for document in documents:
        for system in document["systems"]:
            system.pop("run")
    assert documents[0] == documents[1]
    assert documents[0]["unit"] == "task"
    assert documents[0]["settling"][0]["tasks"] == 2


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

    def test_it_is_always_shown(self, tmp_path: Path) -> None:
        comparison = compared(tmp_path, {"x": "+-", "y": "-+"} | FILLER, {"x": "++", "y": "+-"} | FILLER)
        assert any(table.title == "What would settle the difference in pass^1" for table in screen_tables(comparison))
        assert comparison_json(comparison)["settling"][0]["trials"] == [2, 2]


FILLER = {f"f{n}": "+-" if n % 2 else "--" for n in range(8)}


def test_the_real_files(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_data / "tau"
    done = dialgauge(
        capsys, "compare", folder / "tau2_airline_grok-3.json.gz",
        folder / "tau2_airline_grok-3-mini_cut_off.json.gz", "--resamples", 200,
    )  # fmt: skip
    assert done.code == 1
    first, second = done.out.splitlines()[:2]
    assert "20 of 20 conversations" in first and "14 of 200 conversations" in second
    assert "different settings (user)" in done.out and "compared on the 5 tasks" in done.out


@pytest.fixture
def chat_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same logs as a file each (old.jsonl, new.jsonl) and as folders with a file for each conversation."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    for name, passing in (("old", 3), ("new", 7)):
        rows = [
            {
                "task_id": f"t{task}",
                "trial": trial,
                "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": f"{name} {trial}"}],
                "success": task < passing,
            }
            for task in range(8)
            for trial in range(2)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        (tmp_path / name).mkdir()
        for number, row in enumerate(rows):
            (tmp_path / name / f"{number:02}.json").write_text(json.dumps(row))


@pytest.mark.usefixtures("chat_logs")
@pytest.mark.parametrize("logs", [("old.jsonl", "new"), ("old", "new"), ("old.jsonl", "new.jsonl")])
def test_folders_of_logs_are_compared_as_files_are(logs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "compare", *logs, "--resamples", 100, "--json", "out.json")
    assert outcome.code == 0, outcome.err
    by_command = json.loads(Path("out.json").read_text())
    assert [system["name"] for system in by_command["systems"]] == ["old", "new"]
    for named in (list(logs), [Path(log) for log in logs]):
        difference = package.compare(named, resamples=100).difference("old", "new", "pass^1")
        assert difference.difference == pytest.approx((3 - 7) / 8)


@pytest.mark.usefixtures("chat_logs")
def test_a_log_may_be_compared_with_a_stored_run_and_comes_before_one_of_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    dialgauge(capsys, "tasks", "score", "old.jsonl", "new.jsonl", "--run")
    shutil.rmtree("old")
    mixed = dialgauge(capsys, "compare", "old", "new", "--resamples", 100, "-m", "pass^1")
    assert mixed.code == 0, mixed.err
    assert "new: compared is the file or folder of this name, not the stored run" in mixed.err
    assert "old: compared is" not in mixed.err
    missing = dialgauge(capsys, "compare", "absent", "new")
    assert (missing.code, missing.err.splitlines()[-1]) == (2, "dialgauge: absent: there is no such file or folder")


@pytest.mark.usefixtures("chat_logs")
def test_other_verdicts_on_the_same_words_are_named() -> None:
    told = [note for note in package.compare(["old.jsonl", "new.jsonl"], resamples=10).notes if "word for word" in note]
    assert not told
    rows = [json.loads(line) for line in Path("old.jsonl").read_text().splitlines()]
    rejudged = [row | {"success": row["success"] or row["task_id"] == "t5"} for row in rows]
    Path("again.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rejudged))
    [note] = [
        note for note in package.compare(["old.jsonl", "again.jsonl"], resamples=10).notes if "word for word" in note
    ]
    assert note.startswith("2 conversations of old and again are word for word the same, and judged otherwise")


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
    compared = dialgauge(capsys, "compare", whole, odd, "--resamples", 100)
    assert "1 task left out, as it has different goals or instructions under the same id: b." in compared.out


def test_what_was_not_read_of_logs_is_told_once_where_it_is_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = []
    for name in ("a", "b"):
        records = [{"task_id": str(task), "success": True, "odd": 1, "messages": TALK} for task in range(4)]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(record) + "\n" for record in records))
    told = dialgauge(capsys, "compare", *files).err.splitlines()
    assert [line for line in told if "odd" in line] == ["a, b: fields of the log that are not read: odd."]
