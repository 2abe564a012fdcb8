"""Tables 3 to 7 of the bAbI paper: the printed weights, our samples, and what is said of both."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import MEMORY_SIZES, Ranker, load_task, ranker_class
from dialgauge.reproduce import IMPOSSIBLE, Fresh, Reproduction, as_json, as_markdown, tables_by_part
from dialgauge.reproduce.babi import (
    CLAIMS,
    AttentionPlace,
    AttentionSample,
    StoredAttention,
    attention_at,
    attention_tables,
    digest,
    printed,
    reproduce,
    stored_attention,
    trained_attention,
    trained_cells,
    write_attention,
)
from support.babi_release import released_task
from support.commands import dialgauge
from support.tiny_world import tiny_release, tiny_task

COMPUTED = "computed"
DIFFERS = "differs"
EXACT = "exact"
HOLDS = "holds"

PARTS = ("Table 3", "Table 4", "Table 5", "Table 6")
#: Lines before the reply of each table.
MEMORIES = {"Table 3": 12, "Table 4": 18, "Table 5": 41, "Table 6": 45}


def made_up(part: str, heavy: int, right: int = 1) -> AttentionSample:
    """Attention with nearly all weight on one line."""
    table = next(table for table in printed().tables if table.part == part)
    size = MEMORIES[part]
    hop = [0.01 / (size - 1)] * size
    hop[heavy - 1] = 0.99
    flat = [1 / size] * size
    return AttentionSample(table.place, "unknown", [flat, hop, hop], [5, 4, 3, 2, 1], right)


def record_of(*samples: AttentionSample) -> Reproduction:
    record = Reproduction("babi", "title", "citation")
    attention_tables(record, samples, None, "a training on task {task}")
    return record


def test_the_kept_command_can_be_called(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = stored_attention()
    assert kept is not None
    words = kept.command.format(task=5).replace("FOLDER", "model").replace("--data babi", f"--data {tmp_path}").split()
    said = dialgauge(capsys, *words[1:])
    assert (said.code, "no dialog files of task 5" in said.err) == (2, True)


def test_printed_weights_are_shares_of_the_lines_before_the_reply() -> None:
    assert tuple(table.part for table in printed().tables) == PARTS
    for table in printed().tables:
        lines = [row[0] for row in table.rows]
        assert lines == sorted(set(lines))
        assert lines[-1] <= MEMORIES[table.part]
        for hop in range(3):
            total = sum(weights[hop] for weights in table.weights().values())
            assert total <= 1.002
            if len(lines) == MEMORIES[table.part]:
                assert total == pytest.approx(1, abs=0.002)


def test_the_papers_dialog_is_the_first_of_the_released_test_file(shared_data: Path) -> None:
    task = released_task(shared_data, 5)
    points = {table.part: table.place.point(task) for table in printed().tables}
    assert {part: len(point.history) for part, point in points.items()} == MEMORIES
    history = points["Table 6"].history
    assert history[13].text.split()[0] == points["Table 3"].reply.split()[0] == "api_call"
    assert history[13].text == points["Table 3"].reply
    named = {history[line - 1].text.split()[-1] for line in (3, 9)}
    assert named < set(points["Table 3"].reply.split())
    assert [history[line - 1].text.split()[1] for line in (27, 34, 41)] == ["R_rating"] * 3
    assert history[22].text.split()[1:] == ["R_address", points["Table 6"].reply.split()[-1]]


def test_kept_looks_are_of_the_papers_places_and_of_the_released_dialogs(shared_data: Path) -> None:
    kept = stored_attention()
    assert kept is not None
    assert [one.place for one in kept.samples] == printed().places()
    tasks = {number: released_task(shared_data, number) for number in (5, 6)}
    for one in kept.samples:
        point = one.place.point(tasks[one.place.task])
        assert one.lines == digest(point)
        assert len(one.hops) == MEMORY_SIZES[one.place.task][1]
        assert all(len(hop) == len(point.history) and sum(hop) == pytest.approx(1, abs=0.01) for hop in one.hops)
        assert (task := tasks[one.place.task]).candidates[one.answers[0]] in task.index
        assert (one.right == 1) == (task.candidates[one.answers[0]] == point.reply)


@pytest.mark.parametrize(
    ("part", "heavy", "verdicts"),
    [
        ("Table 3", 7, [HOLDS, HOLDS, EXACT]),
        ("Table 3", 2, [DIFFERS, DIFFERS, EXACT]),
        ("Table 4", 15, [HOLDS, EXACT]),
        ("Table 4", 3, [DIFFERS, EXACT]),
        ("Table 5", 21, [HOLDS, EXACT]),
        ("Table 5", 34, [DIFFERS, EXACT]),
        ("Table 6", 43, [HOLDS, DIFFERS]),
        ("Table 6", 23, [DIFFERS, DIFFERS]),
    ],
)
def test_what_the_paper_says_is_judged(part: str, heavy: int, verdicts: list[str]) -> None:
    record = record_of(made_up(part, heavy))
    assert [item.verdict for item in record.items if item.part == part] == verdicts


def test_more_hops_strengthen_only_what_no_hop_weakens() -> None:
    kept = stored_attention()
    assert kept is not None
    (line,) = [item for item in record_of(*kept.samples).items if item.what == "more hops strengthen that"]
    assert (line.verdict, line.ours) == (DIFFERS, "48.8% → 84.8% → 82.8%")
    assert line.note.endswith("less again at hop 3; weights are others in every training")


def test_a_wrong_answer_is_what_table_6_prints() -> None:
    items = [item for item in record_of(made_up("Table 6", 43, right=9)).items if item.part == "Table 6"]
    assert (items[-1].theirs, items[-1].ours, items[-1].verdict) == ("wrong", "wrong", EXACT)


def test_rows_are_theirs_and_ours_with_weight() -> None:
    (shown,) = record_of(made_up("Table 5", 23)).tables["Table 5"]
    rows = {row["#"]: row for row in shown.records()}
    assert sorted(rows) == sorted({*next(t for t in printed().tables if t.part == "Table 5").weights(), 23})
    assert rows[25]["theirs hop 3"] == 0.745
    assert (rows[23]["theirs hop 1"], rows[23]["ours hop 3"]) == (None, 0.99)
    assert "For the words give --data FOLDER, with the dialog bAbI files in FOLDER/babi." in shown.notes
    assert "Ours: a training on task 5." in shown.notes
    assert "Lines left out: 23 (below 0.05 in every hop of ours and not printed in the paper)." in shown.notes


def test_what_is_not_kept_is_said() -> None:
    record = record_of()
    assert [(item.part, item.verdict) for item in record.items] == [(part, IMPOSSIBLE) for part in (*PARTS, "Table 7")]
    assert set(record.tables) == {"Table 7"}


def test_words_come_from_the_data_unless_it_is_another_dialog(shared_data: Path) -> None:
    task = released_task(shared_data, 5)
    kept = stored_attention()
    assert kept is not None
    record, other = Reproduction("babi", "", ""), Reproduction("babi", "", "")
    attention_tables(record, kept.samples[:1], [task], "")
    shown, point = record.tables["Table 3"][0], kept.samples[0].place.point(task)
    assert shown.records()[2]["memory"] == point.history[2].text
    assert f"right: {point.reply}" in shown.notes
    attention_tables(other, [msgspec.structs.replace(kept.samples[0], lines="0")], [task], "")
    assert other.tables["Table 3"][0].records()[2]["memory"] is None
    assert "another than the one our weights are from" in other.tables["Table 3"][0].notes[0]


def test_every_output_has_the_attention_tables() -> None:
    record = reproduce(None)
    parts = [f"Table {number}" for number in range(1, 11)]
    assert list(tables_by_part(record))[:10] == parts
    assert set(CLAIMS) == set(PARTS)
    assert COMPUTED not in {item.verdict for item in record.items}
    assert "theirs hop 1" in as_markdown(record)
    assert as_json(record)["tables"]["Table 3"][0]["rows"][0]["theirs hop 1"] == 0.054
    assert len(record.figures) == 5


def test_a_sample_is_the_attention_and_the_ranking_of_the_model(tmp_path: Path) -> None:
    task = tiny_task(1)
    ranker = ranker_class("memn2n")(0)
    assert isinstance(ranker, Ranker)
    ranker.options = {"epochs": "2", "dim": "8", "hops": "2"}
    ranker.fit(task)
    place = AttentionPlace(1, "tst", 2, 3)
    point = task.split("tst")[1].points()[2]
    seen = attention_at(ranker, task, place)
    assert [len(hop) for hop in seen.hops] == [len(point.history)] * 2
    assert all(sum(hop) == pytest.approx(1, abs=0.001) for hop in seen.hops)
    scores = ranker.scores([point])[0]
    assert seen.right == 1 + sum(scores > scores[task.index[point.reply]])
    assert seen.answers[0] == scores.argmax()
    kept = StoredAttention("command", "hardware", "commit", [seen, seen])
    write_attention(tmp_path / "kept.json", kept)
    assert msgspec.json.decode((tmp_path / "kept.json").read_bytes(), type=StoredAttention) == kept
    with pytest.raises(DialgaugeError, match="no such place in this data: task 1, tst, dialog 99, reply 1"):
        AttentionPlace(1, "tst", 99, 1).point(task)


@pytest.mark.soak
def test_fresh_trains_cells_and_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tiny_release(tmp_path / "babi", (1,))
    monkeypatch.setattr("dialgauge.reproduce.babi.kept.TASKS", (1,))
    few = msgspec.structs.replace(printed(), tables=[], nearest_to_concierge=AttentionPlace(1, "tst", 1, 2))
    monkeypatch.setattr("dialgauge.reproduce.babi.kept.printed", lambda: few)
    told: list[str] = []
    fresh = Fresh(seeds=2, store=tmp_path / "runs", tell=told.append)
    cells = trained_cells(data, ("memn2n",), fresh)
    assert [(cell.split, cell.seed) for cell in cells] == [("tst", 0), ("tst-OOV", 0), ("tst", 1), ("tst-OOV", 1)]
    (seen,) = trained_attention([load_task(data, 1)], fresh)
    assert seen.place == AttentionPlace(1, "tst", 1, 2)
    assert told == [
        "1 of 2: memn2n, task 1, seed 0",
        "2 of 2: memn2n, task 1, seed 1",
        "attention: memn2n, task 1, seed 0",
    ]


def test_fresh_needs_data_and_a_paper_with_models(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lost = dialgauge(capsys, "reproduce", "babi", "--fresh", "--data", tmp_path)
    assert (lost.code, "give --data FOLDER with the released bAbI files in FOLDER/babi" in lost.err) == (2, True)
    idle = dialgauge(capsys, "reproduce", "babi", "--seeds", 2, "--data", tmp_path)
    assert (idle.code, "--seeds needs --fresh" in idle.err) == (2, True)
    other = dialgauge(capsys, "reproduce", "gcdf1", "--fresh", "--data", tmp_path)
    assert (other.code, "nothing of the paper 'gcdf1' is trained" in other.err) == (2, True)
