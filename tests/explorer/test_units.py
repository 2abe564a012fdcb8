"""Runs with several trials are compared by task or goal; pages and reports still show their conversations."""

from __future__ import annotations

import re

import pytest

from dialgauge import Store
from dialgauge.explorer import Library, neighbours, ranking, report_html, side_by_side
from dialgauge.lab import AgentSpec, LabConfig, open_town, run_lab
from dialgauge.runs import Run
from dialgauge.tasks import score_results
from dialgauge.users.faults import user_faults
from support.agent_results import tau_file

pytestmark = pytest.mark.usefixtures("without_pictures")
TASKS = {"one": {"a": "++", "b": "+-", "c": "--", "d": "++"}, "two": {"a": "--", "b": "++", "c": "-+", "d": "++"}}


def lab_run(store: Store, channel: str) -> Run:
    sitting = LabConfig(
        user=AgentSpec("agenda", {"channel": channel}), system=AgentSpec("rule-system", {"channel": channel}),
        level="act", seed=1, trials=2,
    )  # fmt: skip
    return run_lab(open_town(count=12, seed=1), sitting, store=store)


@pytest.fixture(scope="module", params=["trials", "faults", "lab"])
def compared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, list[Run]]:
    tmp_path = tmp_path_factory.mktemp("units")
    store = Store(tmp_path / "runs")
    files = [tau_file(tmp_path / f"{name}.json", tasks) for name, tasks in TASKS.items()]
    if request.param == "trials":
        runs = [store.add(run) for run in score_results(files, resamples=10).runs]
    elif request.param == "faults":
        runs = [store.add(user_faults(file, resamples=10)[0]) for file in files]
    else:
        runs = [lab_run(store, channel) for channel in ("mild", "paper2021")]
    return Library(store), runs


def test_every_unit_that_differs_leads_to_conversations(compared: tuple[Library, list[Run]]) -> None:
    library, runs = compared
    ids = [run.id for run in runs]
    shown = ranking(library, ids)
    for part in shown.parting:
        side = side_by_side(library, ids, part.conversation)
        assert len(side.dialogues) == 2 and len({dialogue.id for dialogue in side.dialogues}) == 1
        near = neighbours(library, ids, side.dialogues[0].id, shown.measure)
        assert near.number and side.dialogues[0].id not in (near.before, near.after)
        for name in (near.before, near.after):
            assert name is None or library.dialogue(runs[0], name).id == name
    if runs[0].kind != "faults":
        assert shown.parting


def test_runs_that_differ_are_not_said_to_be_the_same(compared: tuple[Library, list[Run]]) -> None:
    library, runs = compared
    ids = [run.id for run in runs]
    side = side_by_side(library, ids, next(iter(runs[0].dialogues())).id)
    assert (side.parting is not None) == any(turn.differs for turn in side.turns)


def test_a_report_shows_them(compared: tuple[Library, list[Run]]) -> None:
    text = report_html(compared[1], dialogues=4)
    shown = re.findall(r'<details class="dialogue"[^>]*><summary><strong>([^<]*)', text)
    known = {dialogue.id for dialogue in compared[1][0].dialogues()}
    assert set(shown) <= known and (shown or compared[1][0].kind == "faults")
