"""Dialogues in tables: frames of polars and pandas, Hugging Face datasets, Parquet files and folders of the Hub."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars
import pytest
from hypothesis import given, settings, strategies as st

import dialgauge
from dialgauge import Act, DialgaugeError, Dialogue, Fact, Goal, Task, Turn
from dialgauge.dialogue import Outcome, State
from dialgauge.formats import Corpus
from support.commands import dialgauge as command
from support.soak import examples, soak

EAST: State = {"hotel": {"area": ("east",)}}
WHOLE = [
    Dialogue(
        id="d1",
        domains=("hotel", "train"),
        goal=Goal(tasks={"hotel": Task(info={"area": "east"}, requests=("phone",))}, message=("find it",)),
        outcome=Outcome(success=None, reason="not judged"),
        turns=(
            Turn(
                speaker="user",
                text='["not", JSON',
                state=EAST,
                predicted={"hotel": {"area": ("east",), "stars": ("4", "5")}},
                acts=(Act("inform", "hotel", "area", ("east",)),),
                blank={"hotel": {"name": ("none",)}},
                judged={"hotel": {"area": True}},
                active=(),
                source=3,
            ),
            Turn(speaker="system", results=(Fact("x", "R_phone", "1"),), candidates=("a", "b")),
            Turn(speaker="user", text="{}", state={}, predicted={"hotel": {}}),
        ),
    ),
    Dialogue(id="d2", turns=(Turn(speaker="user", text="", state=EAST), Turn(speaker="user", predicted={}))),
]


def corpus(dialogues: Sequence[Dialogue]) -> Corpus:
    return Corpus(format="native", kind="dialogues", dialogues=dialogues)


def pandas_frame(dialogues: list[Dialogue]) -> Any:
    pytest.importorskip("pandas")
    return corpus(dialogues).to_pandas()


def dataset(dialogues: list[Dialogue]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_polars(corpus(dialogues).to_polars())


def arrow(dialogues: list[Dialogue]) -> Any:
    pytest.importorskip("pyarrow")
    return corpus(dialogues).to_polars().to_arrow()


HOLDERS: dict[str, Callable[[list[Dialogue]], Any]] = {
    "polars": lambda dialogues: corpus(dialogues).to_polars(),
    "lazy": lambda dialogues: corpus(dialogues).to_polars().lazy(),
    "pandas": pandas_frame,
    "pandas of arrow": lambda dialogues: arrow(dialogues).to_pandas(),
    "arrow": arrow,
    "dataset": dataset,
    "dataset for training": lambda dialogues: dataset(dialogues).with_format("numpy"),
    "stream": lambda dialogues: dataset(dialogues).to_iterable_dataset(),
    "one split": lambda dialogues: pytest.importorskip("datasets").DatasetDict(test=dataset(dialogues)),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_everything_comes_back(holder: str) -> None:
    read = dialgauge.read(HOLDERS[holder](WHOLE))
    assert read.dialogues == WHOLE
    assert not read.notes.counts


names = st.sampled_from(["hotel", "area", "book day", "a-b", "é"])
values = st.lists(st.sampled_from(["east", "[x", "{", "4", "dontcare", "none of it"]), min_size=1, max_size=2).map(
    tuple
)
states = st.none() | st.dictionaries(names, st.dictionaries(names, values, max_size=2), max_size=2)
turns = st.builds(
    Turn, speaker=st.sampled_from(["user", "system"]), text=st.text(max_size=8), state=states, predicted=states
)
conversations = st.lists(
    st.builds(lambda turns: Dialogue(id="d", turns=tuple(turns)), st.lists(turns, min_size=1, max_size=3)),
    min_size=1,
    max_size=3,
).map(lambda them: [msgspec.structs.replace(one, id=f"d{place}") for place, one in enumerate(them)])


@given(conversations)
@settings(max_examples=examples(50), deadline=None)
def test_any_dialogues_come_back(dialogues: list[Dialogue]) -> None:
    assert dialgauge.read(corpus(dialogues).to_polars()).dialogues == dialogues


def read_rows(*rows: dict[str, Any]) -> Corpus:
    return dialgauge.read(polars.DataFrame(list(rows), infer_schema_length=None))


@pytest.mark.parametrize("numbers", [(0, 1, 3), (1, 2, 4)])
def test_a_turn_without_a_row_is_a_hole_and_shifts_nothing(numbers: tuple[int, ...]) -> None:
    """Later predictions would else be scored against the gold of the turn before theirs."""
    told = [{"dialogue": "d", "turn": number, "predicted": json.dumps({"x": {"y": str(number)}})} for number in numbers]
    read = read_rows(*told)
    given = [turn.predicted and turn.predicted["x"]["y"][0] for turn in read[0].turns]
    assert given == [str(numbers[0]), str(numbers[1]), None, str(numbers[2])]
    assert read.notes.counts["missing turns, left as holes"] == 1


def test_both_speakers_may_share_a_number() -> None:
    pairs = [(0, "USER"), (0, "SYSTEM"), (1, "USER"), (1, "assistant")]
    read = read_rows(*({"id": "d", "turn": number, "speaker": speaker} for number, speaker in pairs))
    assert [turn.speaker for turn in read[0].turns] == ["user", "system", "user", "system"]


def test_structs_give_a_state_only_what_it_has() -> None:
    read = read_rows(
        {
            "dialogue": "d",
            "turn": 0,
            "speaker": "user",
            "state": {"hotel": {"area": "east", "stars": None}, "train": None},
        },
        {
            "dialogue": "d",
            "turn": 1,
            "speaker": "user",
            "state": {"hotel": {"area": None, "stars": "4"}, "train": {"day": "monday"}},
        },
    )
    assert [turn.state for turn in read[0].turns] == [EAST, {"hotel": {"stars": ("4",)}, "train": {"day": ("monday",)}}]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"a": 1}], "it needs the column record, or dialogue and turn; it has a"),
        ([{"id": "d", "turn": "x"}], "dialogue d: the turn 'x' is no whole number"),
        ([{"id": "d", "turn": 2}], "turns are numbered from 0 or from 1, and here the first is 2"),
        (
            [{"id": "d", "turn": 0}, {"id": "d", "turn": 20_000}, {"id": "d", "turn": 20_001}],
            "dialogue d, turn 20000: the table has no row for turn 1",
        ),
        ([{"id": None, "turn": 0}], "a row has no id; every row needs that of its dialogue"),
        ([{"id": "d", "turn": 1}, {"id": "d", "turn": 0}], "dialogue d, turn 0: its turns are not in order"),
        ([{"id": "d", "turn": 0}, {"id": "d", "turn": 0}], "dialogue d, turn 0: its turns are not in order"),
        ([{"id": one, "turn": 0} for one in "aba"], "dialogue a: its rows are not together"),
        (
            [
                {"id": "d", "turn": number, "speaker": who}
                for number, who in ((0, "user"), (1, "system"), (3, "system"))
            ],
            "dialogue d, turn 3: the table has no row for turn 2",
        ),
        ([{"id": "d", "turn": 0, "speaker": "moderator"}], "dialogue d: it does not have the expected shape: Invalid"),
        (
            [{"id": "d", "turn": 0, "speaker": "user", "state": '{"area": "east"}'}],
            "'area' is not domain-slot",
        ),
        (
            [{"id": "d", "turn": 0, "speaker": "user", "state": "{east"}],
            "dialogue d: it does not have the expected shape",
        ),
        ([{"id": "d", "record": "{}"}], "dialogue d: it does not have the expected shape"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(rows: list[dict[str, Any]], sentence: str) -> None:
    with pytest.raises(DialgaugeError) as raised:
        read_rows(*({**row, "speaker": row.get("speaker", "user")} for row in rows))
    assert sentence in str(raised.value)
    assert str(raised.value).startswith("the polars DataFrame")


def tracked(*areas: str) -> list[Dialogue]:
    """Two user turns each; gold is east, then the centre."""
    return [
        Dialogue(
            id=f"d{number}",
            turns=(
                Turn(speaker="user", text="a", state=EAST, predicted={"hotel": {"area": (area,)}}),
                Turn(speaker="system", text="b"),
                Turn(speaker="user", text="c", state={"hotel": {"area": ("centre",)}}, predicted=EAST),
            ),
        )
        for number, area in enumerate(areas)
    ]


@pytest.mark.parametrize("holder", ["polars", "pandas", "dataset", "arrow"])
def test_scores_of_frames_are_those_of_dialogues(holder: str) -> None:
    dialogues = tracked("east", "north", "east")
    frame = HOLDERS[holder](dialogues)
    expected = dialgauge.score(dialogues, {"mine": dialogues})[0]
    assert expected["JGA"] == 1 / 3
    assert dialgauge.score(frame, {"mine": frame})[0].scores == expected.scores
    assert dialgauge.score("self", {"mine": frame})["mine"]["JGA"] == 1 / 3
    other = tracked("north", "north", "east")
    compared = dialgauge.compare(frame, {"a": frame, "b": HOLDERS[holder](other)}, measures=["JGA"])
    assert compared.difference("a", "b", "JGA").difference == pytest.approx(1 / 6)


def test_parquet_written_by_dialgauge_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    dialgauge.write(WHOLE, path, format="parquet")
    assert dialgauge.read(path).dialogues == WHOLE


def test_a_damaged_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    done = command(capsys, "score", path, path)
    assert done.code == 2
    assert "cannot be read as Parquet" in " ".join(done.err.split())


@pytest.mark.parametrize(
    "name",
    [
        soak("multiwoz21/test.json.gz"),
        "dst_predictions/mintl.json.gz",
        "dst_predictions/somdst_human100.tar.gz",
        "sgd/synthetic_pred_dialogues_001.json.gz",
        "gcdf1/conversations/dialogues_001.json.gz",
        "tau/tau2_airline_grok-3.json.gz",
        soak("babi/dialog-babi-task6-dstc2-tst.txt.gz"),
    ],
)
def test_real_dialogues_come_back(name: str, shared_data: Path) -> None:
    read = dialgauge.read(shared_data / name)
    assert dialgauge.read(read.to_polars()).dialogues == read.dialogues


def test_a_cell_without_a_state_is_an_empty_state_as_in_a_csv_file() -> None:
    read = read_rows(
        {"dialogue": "d", "turn": 0, "predicted": None},
        {"dialogue": "d", "turn": 1, "predicted": '{"hotel-area": "x"}'},
    )
    assert [turn.predicted for turn in read[0].turns] == [{}, {"hotel": {"area": ("x",)}}]
