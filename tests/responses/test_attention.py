from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import Attention, TfIdf, attend, points_of
from dialgauge.rankers.neural import MemN2N
from dialgauge.rendering import save_all
from dialgauge.responses import (
    CellKey,
    attention_figure,
    attention_frame,
    attention_of,
    attention_run,
    attention_table,
    evaluation_run,
)
from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.tiny_world import point, tiny_task


def made() -> Attention:
    one = point(("user", "hi"), ("bot", "hello"), ("fact", "inn R_phone inn_phone"), utterance="phone?", reply="yes")
    return Attention.of(one, "no", [[0.5, 0.1, 0.4], [0.0, 0.1, 0.9]])


def test_a_table_of_memories_and_weights() -> None:
    rows = attention_table(made()).records()
    assert [row["memory"] for row in rows] == ["hi", "hello", "inn R_phone inn_phone"]
    assert [row["hop 2"] for row in rows] == [0.0, 0.1, 0.9]
    assert "bot says: no (wrong; right is: yes)" in attention_table(made()).notes


def test_only_the_weightiest_in_the_dialogs_order() -> None:
    table = attention_table(made(), most=2)
    assert [row["#"] for row in table.records()] == [1, 3]
    assert "1 memories with less weight are left out." in table.notes


def test_a_dialog_that_has_just_begun() -> None:
    seen = Attention.of(point(utterance="hi", reply="hello"), "hello", [])
    assert "The dialogue has no memories yet." in attention_table(seen).notes
    assert attention_frame([seen], [1]).height == 0


def test_a_row_per_memory_and_hop() -> None:
    frame = attention_frame([made()], [1, 5])
    assert frame.height == 6
    assert set(frame["turn"]) == {5}
    assert frame.filter(frame["hop"] == 1)["weight"].to_list() == [0.5, 0.1, 0.4]


def test_weights_of_a_network_sum_to_one_and_its_answer_is_its_best_candidate(tmp_path: Path) -> None:
    ranker = MemN2N()
    ranker.options = {"epochs": "1", "dim": "8", "hops": "3"}
    task = tiny_task(5)
    ranker.fit(task)
    points = task.split("tst")[0].points()
    seen = attend(ranker, points)
    scores = ranker.scores(points)
    assert seen[0].hops == ()
    for one, row in zip(seen[1:], scores[1:], strict=True):
        assert len(one.hops) == 3
        assert all(sum(hop) == pytest.approx(1.0, abs=1e-5) for hop in one.hops)
        assert all(len(hop) == len(one.memories) for hop in one.hops)
        assert one.chosen == task.candidates[int(row.argmax())]
    svg, _ = save_all(tmp_path, {"map": lambda: attention_figure(seen[-1])})
    assert "hop 3" in svg.read_text()


def test_models_without_memories() -> None:
    ranker = TfIdf()
    ranker.fit(tiny_task(1))
    with pytest.raises(DialgaugeError, match="the model tfidf has no attention"):
        attend(ranker, points_of(tiny_task(1).split("tst")))


def test_a_run_of_attention_gives_it_all_again(tmp_path: Path) -> None:
    ranker, task = MemN2N(), tiny_task(5)
    ranker.options = {"epochs": "1", "dim": "8", "hops": "2"}
    ranker.fit(task)
    dialog = task.split("tst")[1]
    shown = [0, 2, 5]
    run = attention_run(ranker, task, "tst", dialog, shown)
    assert_run_contract(run)
    stored = Store(tmp_path).add(run)
    assert_run_contract(stored)
    points = dialog.points()
    assert attention_of(stored) == attention_of(run) == attend(ranker, [points[number] for number in shown])
    said = {(row["dialogue"], row["turn"]): row["text"] for row in stored.table("turns").iter_rows(named=True)}
    for reply in stored.table("replies").iter_rows(named=True):
        assert said[reply["dialogue"], reply["turn"]] == reply["gold"]


def test_an_evaluated_run_keeps_the_attention_of_its_first_dialogues(tmp_path: Path) -> None:
    ranker, task = MemN2N(), tiny_task(5)
    ranker.options = {"epochs": "1", "dim": "8", "hops": "2"}
    ranker.fit(task)
    run = evaluation_run(CellKey.of(ranker, task, "tst"), ranker, task, attention=2)
    assert_run_contract(run)
    stored = Store(tmp_path).add(run)
    kept = stored.table("attention")
    first, second = task.split("tst")[:2]
    assert set(kept["dialogue"]) == {first.id, second.id}
    alone = attention_run(ranker, task, "tst", second, range(len(second.prompts))).table("attention")
    assert kept.schema == alone.schema
    assert kept.filter(kept["dialogue"] == second.id).equals(alone)
    assert evaluation_run(CellKey.of(ranker, task, "tst"), ranker, task).tables.keys() == run.tables.keys() - {
        "attention"
    }


def test_no_attention_is_kept_of_a_model_that_has_none() -> None:
    ranker, task = TfIdf(), tiny_task(1)
    ranker.fit(task)
    with pytest.raises(DialgaugeError, match="the model tfidf has no attention"):
        evaluation_run(CellKey.of(ranker, task, "tst"), ranker, task, attention=1)
