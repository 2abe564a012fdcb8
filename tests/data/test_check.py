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
from dialgauge.dialogue import DONTCARE, Dialogue, Ontology, SlotSpec, Turn
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
        [("d1", 0, "'area' in turns[0].state.hotel"), ("d2", 0, "'text' in turns[0]")],
    ),
    "a single line": (
        b'{"id":"d1","turns":[],"turns":[{"speaker":"user","text":"hi","state":{}}]}\n',
        [("d1", None, "'turns' in the dialogue itself")],
    ),
    "nested": (
        b'{"MUL1.json": {"0": {"gt": {"hotel": {"area": "north"}}, "pr": {}, "pr": {"hotel": {"area": "east"}}}}}',
        [("MUL1.json", 0, "'pr' in 0")],
    ),
    "sgd": (
        EXAMPLES["sgd"].replace(b'"location": [', b'"location": ["Paris"], "location": [', 1),
        [("1_00000", 0, "'location' in turns[0].frames[0].state.slot_values")],
    ),
    "hidden": (
        b'{"id":"d1","turns":[{"speaker":"user","text":"say \\u0022: it","text":"x","state":{}}]}\n',
        [("d1", 0, "'text' in turns[0]")],
    ),
}


@pytest.mark.parametrize(("content", "places"), REPEATED.values(), ids=REPEATED)
def test_keys_that_stand_twice_in_a_dialogue_are_a_problem(
    content: bytes, places: list[tuple[str, int | None, str]], tmp_path: Path
) -> None:
    (tmp_path / "d.json").write_bytes(content)
    report = check([tmp_path / "d.json"])
    assert kinds(report)["repeated key"] == len(places)
    (finding,) = (one for one in only_group(report).findings if one.kind == "repeated key")
    assert [(place.dialogue, place.turn, place.detail) for place in finding.places] == places
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


class TestOntology:
    """Values compared with an ontology: given, found beside the data, or the best of several."""

    def ontology(self, folder: Path, name: str, **slots: list[str]) -> Path:
        content = {f"hotel-semi-{slot}": values for slot, values in slots.items()}
        (folder / name).write_bytes(msgspec.json.encode(content))
        return folder / name

    def source(self, folder: Path) -> Path:
        dialogues = (
            Dialogue(id="a", turns=exchange("north", "nroth", "nroth")),
            Dialogue(id="b", turns=exchange(DONTCARE)),
        )
        return file(folder, *dialogues)

    def test_values_outside_it_are_remarks_with_their_first_place(self, tmp_path: Path) -> None:
        ontology = self.ontology(tmp_path, "ontology.json", area=["North", "south"])
        report = check([self.source(tmp_path)], ontology=ontology)
        (finding,) = only_group(report).findings
        assert (finding.kind, finding.severity, finding.count) == ("value outside ontology", "remark", 1)
        assert str(finding.places[0]) == "dialogue a, turn 2 (hotel-area = 'nroth', 2 times)"
        assert only_group(report).slots[0].outside == 2
        assert report.exit_code == 0

    def test_one_in_the_same_source_is_used_and_told(self, tmp_path: Path) -> None:
        self.ontology(tmp_path, "a_other.json", price=["cheap"])
        self.ontology(tmp_path, "b_fitting.json", area=["north", "nroth"])
        self.source(tmp_path)
        report = check([tmp_path])
        assert only_group(report).ontology == str(tmp_path / "b_fitting.json")
        assert kinds(report) == {} and only_group(report).slots[0].outside == 0
        assert [resource.kind for resource in report.resources] == ["ontology", "ontology"]

    def test_slots_it_lacks(self, tmp_path: Path) -> None:
        turn = Turn(speaker="user", state={"hotel": {"area": ("north",), "colour": ("red",)}})
        source = file(tmp_path, Dialogue(id="a", turns=(turn,)))
        report = check([source], ontology=self.ontology(tmp_path, "o.json", area=["north"]))
        assert kinds(report) == {"slot outside ontology": 1}

    def test_open_slots_of_a_schema_take_any_value(self, tmp_path: Path) -> None:
        from dialgauge.data.check_report import Findings
        from dialgauge.data.slots import NamedOntology, SlotInventory, compare

        slots = {"area": SlotSpec(values=("north",), categorical=True), "name": SlotSpec(values=("ritz",))}
        inventory, findings = SlotInventory(), Findings()
        inventory.add({"hotel": {"area": ("moon",), "name": ("any",)}}, "d", 0)
        outside = compare(inventory, NamedOntology("o", Ontology(domains={"hotel": slots})), findings)
        assert outside == {("hotel", "area"): 1}

    def test_a_file_that_is_no_ontology(self, tmp_path: Path) -> None:
        with pytest.raises(DialgaugeError, match="holds no ontology"):
            check([self.source(tmp_path)], ontology=self.source(tmp_path))


class TestCoverage:
    """Against a gold file."""

    def gold(self, folder: Path) -> Path:
        folder.mkdir()
        return file(folder, *(Dialogue(id=name, turns=exchange("a", "b")) for name in ("A.json", "B.json", "C.json")))

    def test_what_is_missing_too_much_and_of_another_length(self, tmp_path: Path) -> None:
        gold = self.gold(tmp_path / "gold")
        source = file(
            tmp_path,
            Dialogue(id="a", turns=exchange("a", "b")),
            Dialogue(id="b", turns=exchange("a")),
            Dialogue(id="x", turns=exchange("a")),
        )
        report = check([source], gold=gold)
        (coverage,) = only_group(report).coverage
        counts = (coverage.dialogues_expected, coverage.dialogues_read, coverage.dialogues_matched)
        assert counts == (3, 3, 2)
        assert (coverage.turns_expected, coverage.turns_read, coverage.turns_matched) == (6, 4, 3)
        assert (coverage.missing, coverage.extra) == (["C.json"], ["x"])
        assert str(coverage.differing[0]) == "dialogue B.json (2 user turns expected, 1 read)"
        assert report.exit_code == 1
        text = text_of(report)
        assert "1 dialogue missing: C.json" in text and "1 set does not cover the gold file" in text

    def test_extra_dialogues_alone_are_no_problem(self, tmp_path: Path) -> None:
        gold = self.gold(tmp_path / "gold")
        source = file(tmp_path, *(Dialogue(id=name, turns=exchange("a", "b")) for name in "abcd"))
        assert check([source], gold=gold).exit_code == 0

    def test_systems_side_by_side_are_compared_one_by_one(self, tmp_path: Path) -> None:
        gold = self.gold(tmp_path / "gold")
        (tmp_path / "systems").mkdir()
        for name, ids in (("one", "abc"), ("two", "ab")):
            dialogues = (Dialogue(id=letter, turns=exchange("a", "b")) for letter in ids)
            file(tmp_path / "systems", *dialogues, name=f"{name}.jsonl")
        coverage = only_group(check([tmp_path / "systems"], gold=gold)).coverage
        assert [one.dialogues_missing for one in coverage] == [0, 1]

    def test_parts_of_one_set_are_compared_together(self, tmp_path: Path) -> None:
        gold = self.gold(tmp_path / "gold")
        (tmp_path / "parts").mkdir()
        for letter in "abc":
            file(tmp_path / "parts", Dialogue(id=letter, turns=exchange("a", "b")), name=f"{letter}.jsonl")
        (coverage,) = only_group(check([tmp_path / "parts"], gold=gold)).coverage
        assert coverage.complete and coverage.turns_matched == 6

    def test_a_gold_file_with_an_id_twice_is_an_error(self, tmp_path: Path) -> None:
        source = file(tmp_path, *(Dialogue(id=name, turns=exchange("a")) for name in ("A", "a.json")))
        with pytest.raises(DialgaugeError, match=r"dialogue a.json: this id was used before in the gold file"):
            check([source], gold=source)

    def test_an_unreadable_gold_file_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(DialgaugeError, match="no such file"):
            check([file(tmp_path, Dialogue(id="a", turns=()))], gold=tmp_path / "nowhere")


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
        assert "--max-bytes" in report.unread[0].why

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


def test_hostile_names_and_values_stay_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialgauge.data.slots.MOST_SLOTS", 50)
    monkeypatch.setattr("dialgauge.data.slots.MOST_VALUES", 100)
    turns = tuple(
        Turn(
            speaker="user",
            state={"d": {f"slot{number}": ("x" * 500 + str(number),) for number in range(start, start + 30)}},
        )
        for start in (0, 30, 60)
    )
    values = tuple(Turn(speaker="user", state={"d": {"slot0": (f"value {number}",)}}) for number in range(200))
    report = check([file(tmp_path, Dialogue(id="a", turns=turns), Dialogue(id="b", turns=values))])
    group = only_group(report)
    assert len(group.slots) == 50
    assert "too many slots" in kinds(report)
    assert next(slot for slot in group.slots if slot.slot == "slot0").more_values
    assert sum(slot.values for slot in group.slots) == 100
    assert "more distinct values than counted" in text_of(report)


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

    def test_the_fitting_ontology_is_found(self, report: Report) -> None:
        chosen = {group.format: Path(group.ontology or "").name for group in report.groups}
        assert chosen["multiwoz"] == "ontology21.json.gz"
        assert chosen["sgd"] == "dev_schema.json.gz"

    def test_the_system_that_lacks_a_dialogue(self, shared_data: Path) -> None:
        predictions = shared_data / "dst_predictions" / "mintl.json.gz"
        report = check([predictions], gold=shared_data / "multiwoz21" / "test.json.gz")
        (coverage,) = only_group(report).coverage
        assert coverage.missing == ["MUL0789"] and coverage.dialogues_differing == 0
        assert report.exit_code == 1
