"""What ``check`` finds in files made to hold each fault, and in the real ones."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import polars
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.data import GroupReport, Report, check, check_page
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.formats import read, write
from support.examples import EXAMPLES
from support.soak import examples


def exchange(*values: str, system: bool = True) -> tuple[Turn, ...]:
    """User turns that fill hotel-area with one value after the other, each answered."""
    turns: list[Turn] = []
    for value in values:
        turns.append(Turn(speaker="user", text="please", state={"hotel": {"area": (value,)}}))
        if system:
            turns.append(Turn(speaker="system", text="gladly"))
    return tuple(turns)


def file(folder: Path, *dialogues: Dialogue, name: str = "d.jsonl") -> Path:
    write(dialogues, folder / name, format="native")
    return folder / name


def only_group(report: Report) -> GroupReport:
    (group,) = report.groups
    return group


def kinds(report: Report) -> dict[str, int]:
    return {finding.kind: finding.count for group in report.groups for finding in group.findings}


def text_of(report: Report) -> str:
    return str(check_page(report))


def test_duplicate_ids_in_one_file_are_a_problem(tmp_path: Path) -> None:
    source = file(tmp_path, *(Dialogue(id=name, turns=exchange("north")) for name in ("A.json", "b", "a", "A")))
    report = check([source])
    assert kinds(report) == {"duplicate id": 2}
    assert [place.dialogue for place in only_group(report).findings[0].places] == ["a", "A"]
    assert report.exit_code == 1


REPEATED = {
    "native": (
        b'{"id":"d1","turns":[{"speaker":"user","text":"hi","state":{"hotel":{"area":["east"],"area":["west"]}}}]}\n'
        b'{"id":"d2","turns":[{"speaker":"user","text":"hi","state":{},"text":"ho"}]}\n',
        [("d1", "area"), ("d2", "text")],
    ),
    "a single line": (
        b'{"id":"d1","turns":[],"turns":[{"speaker":"user","text":"hi","state":{}}]}\n',
        [("d1", "turns")],
    ),
    "nested": (
        b'{"MUL1.json": {"0": {"gt": {"hotel": {"area": "north"}}, "pr": {}, "pr": {"hotel": {"area": "east"}}}}}',
        [("MUL1.json", "pr")],
    ),
    "sgd": (
        EXAMPLES["sgd"].replace(b'"location": [', b'"location": ["Paris"], "location": [', 1),
        [("1_00000", "location")],
    ),
    "hidden": (
        b'{"id":"d1","turns":[{"speaker":"user","text":"say \\u0022: it","text":"x","state":{}}]}\n',
        [("d1", "text")],
    ),
}


@pytest.mark.parametrize(("content", "places"), REPEATED.values(), ids=REPEATED)
def test_keys_that_stand_twice_in_a_dialogue_are_a_problem(
    content: bytes, places: list[tuple[str, str]], tmp_path: Path
) -> None:
    (tmp_path / "d.json").write_bytes(content)
    report = check([tmp_path / "d.json"])
    assert kinds(report)["repeated key"] == len(places)
    (finding,) = (one for one in only_group(report).findings if one.kind == "repeated key")
    for place, (dialogue, key) in zip(finding.places, places, strict=True):
        assert place.dialogue == dialogue and f"'{key}' twice" in place.detail
    assert report.exit_code == 1
    assert "sound" not in text_of(report)


def test_a_parquet_file_is_a_common_file(tmp_path: Path) -> None:
    rows = [{"dialogue_id": "d", "turn": turn, "pred": '{"hotel-area": "x"}'} for turn in range(2)]
    polars.DataFrame(rows).write_parquet(tmp_path / "x.parquet")
    report = check([tmp_path / "x.parquet"])
    assert (report.exit_code, report.unread, only_group(report).predicted) == (0, [], 2)


def test_a_broken_common_file_does_not_hide_the_others(tmp_path: Path) -> None:
    for name, turn in (("a", 0), ("b", "x"), ("c", 0)):
        (tmp_path / f"{name}.json").write_text(json.dumps([{"id": name, "turn": turn, "pred": {"hotel-area": "x"}}]))
    report = check([tmp_path])
    assert [Path(file.file).name for file in only_group(report).files] == ["a.json", "c.json"]
    assert [Path(one.file).name for one in report.unread] == ["b.json"]


def test_parquet_files_are_one_table(tmp_path: Path) -> None:
    rows = [{"dialogue_id": "d", "turn": turn, "pred": '{"hotel-area": "x"}'} for turn in range(4)]
    for part in range(2):
        polars.DataFrame(rows[2 * part : 2 * part + 2]).write_parquet(tmp_path / f"{part}.parquet")
    assert [len(dialogue.turns) for dialogue in read(tmp_path)] == [4]


def test_holes(tmp_path: Path) -> None:
    silent = Turn(speaker="user", text="hello")
    source = file(
        tmp_path,
        Dialogue(id="empty", turns=()),
        Dialogue(id="system only", turns=(Turn(speaker="system", text="hi"),)),
        Dialogue(id="hole", turns=(*exchange("north"), silent)),
        Dialogue(id="twice", turns=(*exchange("north"), Turn(speaker="system", text="again"))),
        Dialogue(id="users only", turns=exchange("north", "south", system=False)),
    )
    report = check([source])
    expected = {"empty dialogue": 1, "no user turn": 1, "missing state": 1, "speaker repeats": 1}
    assert kinds(report) == expected
    places = {finding.kind: str(finding.places[0]) for finding in only_group(report).findings}
    assert places["missing state"] == "dialogue hole, turn 2"
    assert places["speaker repeats"] == "dialogue twice, turn 2 (system after system)"
    assert report.exit_code == 1
    assert "4 kinds" not in check_page(report).verdict and "3 kinds of problems" in check_page(report).verdict


class TestUnreadable:
    """A broken file is listed with its reason, and does not hide the others."""

    def test_one_broken_file_beside_a_good_one(self, tmp_path: Path) -> None:
        file(tmp_path, Dialogue(id="a", turns=exchange("x")), name="good.jsonl")
        (tmp_path / "bad.json").write_text("{]")
        (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b'{"a": 1}' * 100)[:-12])
        (tmp_path / "empty.json").write_bytes(b"")
        (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 not really")
        (tmp_path / "README.md").write_text("hello")
        report = check([tmp_path])
        assert only_group(report).dialogues == 1
        assert {Path(item.file).name for item in report.unread} == {
            "bad.json",
            "cut.json.gz",
            "empty.json",
            "broken.zip",
        }
        assert [Path(name).name for name in report.documents] == ["README.md"]
        assert report.exit_code == 1 and report.files == 6
        assert "4 files could not be read" in check_page(report).verdict

    def test_every_dialogue_that_cannot_be_read_is_counted(self, tmp_path: Path) -> None:
        source = file(tmp_path, Dialogue(id="a", turns=exchange("x")))
        source.write_bytes(b'{"id": "b", "turns": 3}\n' * 40 + source.read_bytes() + b'{"id": "c"}\n')
        report = check([source])
        (finding,) = only_group(report).findings
        assert (finding.kind, finding.count, len(finding.places)) == ("unreadable dialogue", 41, 5)
        assert "line 1: the JSON does not have the expected shape" in str(finding.places[0])
        assert only_group(report).dialogues == 1 and report.exit_code == 1


IDS = st.text("ab\u00e9", min_size=1, max_size=3)
STATES = st.dictionaries(
    st.sampled_from(["hotel", "taxi"]),
    st.dictionaries(st.sampled_from(["area", "name"]), st.tuples(st.sampled_from("xyz")), min_size=1),
)
TURNS = st.builds(
    Turn,
    speaker=st.sampled_from(["user", "system"]),
    text=st.sampled_from(["", "hi"]),
    state=st.none() | STATES,
    predicted=st.none() | STATES,
)
DIALOGUES = st.lists(st.builds(Dialogue, id=IDS, turns=st.lists(TURNS, max_size=5).map(tuple)), min_size=1, max_size=6)


@settings(max_examples=examples(60), deadline=None)
@given(dialogues=DIALOGUES)
def test_the_numbers_agree_with_counting_by_hand(
    dialogues: list[Dialogue], tmp_path_factory: pytest.TempPathFactory
) -> None:
    group = only_group(check([file(tmp_path_factory.mktemp("c"), *dialogues)]))
    users = [turn for dialogue in dialogues for turn in dialogue.user_turns()]
    assert group.dialogues == len(dialogues)
    assert group.user_turns == len(users)
    assert group.states == sum(turn.state is not None for turn in users)
    assert group.predicted == sum(turn.predicted is not None for turn in users)
    filled = Counter((d, s) for turn in users for d, slots in (turn.state or {}).items() for s in slots)
    assert {(s.domain, s.slot): s.filled for s in group.slots if s.filled} == filled
    found = {finding.kind: finding.count for finding in group.findings}
    keys = [dialogue.id for dialogue in dialogues]
    assert found.get("duplicate id", 0) == len(keys) - len(set(keys))
    assert found.get("empty dialogue", 0) == sum(not dialogue.turns for dialogue in dialogues)
    assert group.fields.get("text", 0) == sum(bool(turn.text) for dialogue in dialogues for turn in dialogue.turns)


@pytest.fixture(scope="module")
def report(shared_data: Path) -> Report:
    return check(sorted(shared_data.iterdir()))


@pytest.mark.soak
class TestRealData:
    """Everything under shared/data is accounted for, with the counts of the specs."""

    def test_every_file_is_accounted_for(self, report: Report, shared_data: Path) -> None:
        assert report.unread == []
        seen = {file.file.split("!")[0] for group in report.groups for file in group.files}
        seen |= {resource.file for resource in report.resources} | set(report.documents)
        assert seen == {str(path) for path in shared_data.rglob("*") if path.is_file()}
        assert report.exit_code == 0

    def test_the_counts_of_the_specs(self, report: Report) -> None:
        groups = {group.format: group for group in report.groups}
        counts = {Path(f.file).name: (f.dialogues, f.user_turns) for group in report.groups for f in group.files}
        assert counts["test.json.gz"] == (1000, 7372)
        assert counts["val.json.gz"] == (999, 7365)
        assert counts["mintl.json.gz"] == (999, 7354)
        assert counts["dialog-babi-task1-API-calls-trn.txt.gz"][0] == 1000
        assert counts["dialog-babi-task6-dstc2-tst.txt.gz"] == (1117, 11237)
        assert (groups["gcdf1"].dialogues, groups["gcdf1"].turns) == (1000, 26432)
        assert (groups["human-eval"].dialogues, groups["human-eval"].user_turns) == (100, 751)
        assert groups["human-eval"].states == groups["human-eval"].predicted == 751


def test_a_log_without_a_verdict_is_remarked(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"task_id": "a", "messages": [{"role": "user", "content": "hi"}], "result": "fail"}\n')
    assert kinds(check([log])) == {"no verdict": 1}
    log.write_text('{"task_id": "a", "messages": [{"role": "user", "content": "hi"}], "success": false}\n')
    assert kinds(check([log])) == {}
