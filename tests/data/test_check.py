"""What ``check`` finds in files made to hold each fault, and in the real ones."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.data import GroupReport, Report, check, check_page
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import write
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


def test_a_sound_file(tmp_path: Path) -> None:
    source = file(
        tmp_path, Dialogue(id="a", turns=exchange("north", "south")), Dialogue(id="b", turns=exchange("north"))
    )
    report = check([source])
    group = only_group(report)
    assert (group.format, group.kind, group.tier) == ("native", "dialogues", "a named format, told by its content")
    assert (group.dialogues, group.turns, group.user_turns, group.states, group.predicted) == (2, 6, 3, 3, 0)
    assert group.domains == {"hotel": 2}
    assert [(slot.domain, slot.slot, slot.filled, slot.values) for slot in group.slots] == [("hotel", "area", 3, 2)]
    assert group.fields == {"state": 3, "text": 6}
    assert group.findings == [] and report.exit_code == 0
    assert check_page(report).verdict == "1 file: sound."


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


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_no_key_of_an_example_stands_twice(name: str, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_bytes(EXAMPLES[name].replace(b"hotel in", b'say \\"x\\": '))
    assert not any(
        one.kind == "repeated key" for group in check([tmp_path / "d.json"]).groups for one in group.findings
    )


def test_no_key_of_the_real_files_stands_twice(shared_data: Path) -> None:
    files = ["multiwoz21/val.json.gz", "sgd/dev_dialogues_001.json.gz", "gcdf1/conversations/dialogues_001.json.gz"]
    report = check([shared_data / file for file in files])
    assert not any(one.kind == "repeated key" for group in report.groups for one in group.findings)


def test_the_same_ids_in_two_files_are_two_sets(tmp_path: Path) -> None:
    dialogues = [Dialogue(id=name, turns=exchange("north")) for name in "abc"]
    file(tmp_path, *dialogues, name="one.jsonl")
    file(tmp_path, *dialogues[:2], name="two.jsonl")
    report = check([tmp_path])
    assert kinds(report) == {"id in several files": 2}
    assert report.exit_code == 0
    assert check_page(report).verdict == "2 files: sound, with 1 remark."


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


def test_text_without_any_state_has_no_holes(tmp_path: Path) -> None:
    report = check([file(tmp_path, Dialogue(id="a", turns=(Turn(speaker="user", text="hi"),)))])
    assert kinds(report) == {}
    assert "dialogues, no states" in text_of(report)


def test_gold_and_predicted_states_are_both_told(tmp_path: Path) -> None:
    turn = Turn(
        speaker="user", state={"hotel": {"area": ("a",)}}, predicted={"hotel": {"area": ("b",), "type": ("c",)}}
    )
    report = check([file(tmp_path, Dialogue(id="a", turns=(turn,)))])
    assert "both annotated states on 1 user turns and predicted states on 1 user turns" in text_of(report)
    assert [(s.slot, s.filled, s.predicted) for s in only_group(report).slots] == [("area", 1, 1), ("type", 0, 1)]


def test_places_are_counted_beyond_those_named(tmp_path: Path) -> None:
    source = file(tmp_path, *(Dialogue(id=f"d{number}", turns=()) for number in range(20)))
    (finding,) = only_group(check([source])).findings
    assert finding.count == 20
    assert [place.dialogue for place in finding.places] == ["d0", "d1", "d2", "d3", "d4"]


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

    def test_a_file_that_breaks_in_the_middle_keeps_what_came_before(self, tmp_path: Path) -> None:
        source = file(tmp_path, Dialogue(id="a", turns=exchange("x")))
        source.write_bytes(source.read_bytes() + b'{"id": 3}\n')
        report = check([source])
        assert only_group(report).dialogues == 1
        problems = [str(f.places[0]) for f in only_group(report).findings] + [item.why for item in report.unread]
        assert len(problems) == 1 and "expected shape" in problems[0]
        assert report.exit_code == 1

    def test_every_dialogue_that_cannot_be_read_is_counted(self, tmp_path: Path) -> None:
        source = file(tmp_path, Dialogue(id="a", turns=exchange("x")))
        source.write_bytes(b'{"id": "b", "turns": 3}\n' * 40 + source.read_bytes() + b'{"id": "c"}\n')
        report = check([source])
        (finding,) = only_group(report).findings
        assert (finding.kind, finding.count, len(finding.places)) == ("unreadable dialogue", 41, 5)
        assert "line 1: the JSON does not have the expected shape" in str(finding.places[0])
        assert only_group(report).dialogues == 1 and report.exit_code == 1

    def test_a_file_of_which_no_dialogue_can_be_read_is_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "bad.jsonl").write_bytes(b'{"id": "b", "turns": 3}\n' * 3)
        report = check([tmp_path / "bad.jsonl"])
        assert report.groups == [] and report.exit_code == 2
        assert report.unread[0].why.startswith("line 1: the JSON does not have the expected shape")
        file(tmp_path, Dialogue(id="a", turns=exchange("x")), name="a.jsonl")
        report = check([tmp_path])
        assert [Path(f.file).name for f in only_group(report).files] == ["a.jsonl"]
        assert report.exit_code == 1 and report.files == 2

    def test_nothing_readable_is_exit_code_2(self, tmp_path: Path) -> None:
        (tmp_path / "bad.json").write_text("{]")
        report = check([tmp_path / "bad.json", tmp_path / "nowhere.json", f"{tmp_path}/*.txt"])
        assert report.exit_code == 2
        assert [item.why.split(";")[0] for item in report.unread][1:] == [
            "there is no such file or folder",
            "no file matches this pattern",
        ]

    def test_a_bomb_is_stopped_by_the_limit(self, tmp_path: Path) -> None:
        line = msgspec.json.encode(Dialogue(id="a", turns=exchange("x" * 1000))) + b"\n"
        (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(line * 5000))
        report = check([tmp_path / "bomb.jsonl.gz"], limit=1_000_000)
        assert "unpack it first" in report.unread[0].why

    def test_an_archive_that_points_outside(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            archive.writestr("../../evil.jsonl", "{}")
        assert "points outside the archive" in check([tmp_path / "x.zip"]).unread[0].why

    def test_no_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        source = file(tmp_path, Dialogue(id="a", turns=()))

        def forbidden(self: Path, *_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", forbidden)
        report = check([source])
        assert report.unread[0].why == "no permission to read it" and report.exit_code == 2

    def test_a_misnamed_format(self, tmp_path: Path) -> None:
        with pytest.raises(DialgaugeError, match=r"no format named 'nativ'. Did you mean 'native'"):
            check([tmp_path], format="nativ")


def test_archives_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = file(tmp_path, Dialogue(id="a", turns=exchange("x")))
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        archive.add(source, "deep/one.jsonl")
        archive.add(source, "deep/two.jsonl")
    report = check([tmp_path / "x.tar.gz"])
    assert only_group(report).dialogues == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source.read_bytes())))
    assert only_group(check(["-"])).files[0].file == "standard input"


def test_overlong_values_are_told_apart(tmp_path: Path) -> None:
    source = file(tmp_path, Dialogue(id="a", turns=exchange("x" * 5000 + "1", "x" * 5000 + "2", "x" * 5000 + "1")))
    assert only_group(check([source])).slots[0].values == 2


def test_texts_that_look_like_markup_survive(tmp_path: Path) -> None:
    name = "[bold]\u202eדיאלוג 𝒹 |x|"
    source = file(tmp_path, Dialogue(id=name, turns=()))
    assert only_group(check([source])).findings[0].places[0].dialogue == name


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


@settings(max_examples=examples(150), deadline=None)
@given(
    name=st.sampled_from(sorted(EXAMPLES)),
    cut=st.floats(0, 1),
    noise=st.binary(max_size=6),
    span=st.integers(0, 20),
)
def test_damaged_files_of_every_format_are_reported_and_never_a_crash(
    name: str, cut: float, noise: bytes, span: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = EXAMPLES[name]
    at = int(cut * len(content))
    path = tmp_path_factory.mktemp("damaged") / "file.json"
    path.write_bytes(content[:at] + noise + content[at + span :])
    for named in (None, name):
        report = check([path], format=named)
        assert report.files == 1
        assert check_page(report).verdict and text_of(report)


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
