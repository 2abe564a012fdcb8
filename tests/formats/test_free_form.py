"""Predictions as people write them: every layout gives the same states, and errors say what is missing."""

from __future__ import annotations

import gzip
import json
import pathlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import dialgauge
from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
from dialgauge.formats import INVALID, LAST_RESORT, PARTLY, Corpus, Notes, format_named, recognise
from dialgauge.formats.predictions import StateReader
from support.commands import dialgauge as command
from support.reading import part_of
from support.shapes import SHAPES, Predictions, flat, slots_of, turns

STATE_ROW = {"hotel-area": "north"}
#: Values that texts make hard to read: separators inside, a slot's name as a word, times, two-word slots.
HARD: Predictions = {
    "MUL0001.json": [
        {},
        {"hotel": {"area": "north", "name": "alpha-milton guest house"}},
        {"hotel": {"area": "north", "name": "alpha-milton guest house", "book people": "2", "stars": "4"}},
    ],
    "PMUL0002.json": [
        {"restaurant": {"name": "the slug, lettuce", "food": "north american"}},
        {"restaurant": {"name": "the slug, lettuce", "food": "north american", "book time": "18:30"}},
        {
            "restaurant": {"name": "the slug, lettuce", "food": "north american", "book time": "18:30"},
            "train": {"leave at": "09:15", "day": "dontcare"},
        },
        {"train": {"leave at": "09:15", "arrive by": "10:00"}, "hotel": {"price range": "cheap"}},
    ],
}


def canonical(state: State | None) -> dict[str, str]:
    """Slots without spaces and underscores, as profiles compare them."""
    return {
        f"{domain}-{slot.replace(' ', '').replace('_', '')}": values[0]
        for domain, slots in (state or {}).items()
        for slot, values in slots.items()
    }


def states(corpus: Corpus) -> dict[str, list[dict[str, str]]]:
    return {one.id: [canonical(turn.predicted) for turn in one.user_turns()] for one in corpus.dialogues}


def wanted(predictions: Predictions) -> dict[str, list[dict[str, str]]]:
    return {
        name: [{key.replace(" ", ""): value for key, value in flat(state).items()} for state in held]
        for name, held in predictions.items()
    }


@pytest.fixture(scope="module")
def augpt(shared_data: Path) -> Predictions:
    """Sixty dialogues of a real system."""
    raw = json.loads(gzip.decompress((shared_data / "dst_predictions" / "augpt.json.gz").read_bytes()))
    return {name: [turn["state"] for turn in raw[name]] for name in list(raw)[:60]}


@pytest.fixture(scope="module")
def gold(shared_data: Path, augpt: Predictions) -> Corpus:
    corpus = dialgauge.read(shared_data / "multiwoz21" / "test.json.gz")
    corpus.dialogues = [one for one in corpus.dialogues if one.id.lower().removesuffix(".json") in augpt]
    return corpus


def test_there_are_many_shapes() -> None:
    assert len(SHAPES) >= 50


@pytest.mark.parametrize("name", SHAPES)
def test_hard_values_in_every_shape(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(SHAPES[name](HARD))
    corpus = dialgauge.read(path)
    assert corpus.format == LAST_RESORT
    assert states(corpus) == wanted(HARD)
    assert corpus.notes.understood.startswith("2 dialogues, turns ")


@pytest.mark.soak
def test_every_shape_of_real_predictions_has_the_same_score(augpt: Predictions, gold: Corpus, tmp_path: Path) -> None:
    for name, write in SHAPES.items():
        (tmp_path / f"{name}.json").write_bytes(write(augpt))
    systems: dict[str, Any] = {name: tmp_path / f"{name}.json" for name in SHAPES}
    systems["as it was"] = augpt
    results = dialgauge.score(gold, systems, measures="JGA,F1", intervals=False)
    right = [float(results["as it was"][measure]) for measure in ("JGA", "F1")]
    assert right == pytest.approx([0.4838709677, 0.8616833431])
    assert {name: [float(results[name][m]) for m in ("JGA", "F1")] for name in systems} == dict.fromkeys(systems, right)


@pytest.mark.soak
def test_every_shape_of_a_whole_real_file_scores_as_the_original_does(shared_data: Path, tmp_path: Path) -> None:
    """The original is read by its own format, mwzeval, which has nothing to do with this reader."""
    original = shared_data / "dst_predictions" / "augpt.json.gz"
    raw = json.loads(gzip.decompress(original.read_bytes()))
    whole = {name: [turn["state"] for turn in held] for name, held in raw.items()}
    for name, write in SHAPES.items():
        (tmp_path / f"{name}.json").write_bytes(write(whole))
    systems: dict[str, Any] = {"original": original} | {name: tmp_path / f"{name}.json" for name in SHAPES}
    gold = shared_data / "multiwoz21" / "test.json.gz"
    results = dialgauge.score(gold, systems, measures="JGA,F1", intervals=False)
    scores = {name: [float(results[name][measure]) for measure in ("JGA", "F1")] for name in systems}
    assert scores == dict.fromkeys(systems, scores["original"])


def frames(predictions: Predictions) -> dict[str, Any]:
    """The same as frames, and as plain Python that no JSON can have."""
    rows = [{"dial_id": name, "turn": number, "pred": flat(state)} for name, number, state in turns(predictions)]
    names = slots_of(predictions)
    wide = [
        {"dial_id": name, "turn": n + 1, **{slot: flat(state).get(slot) for slot in names}}
        for name, n, state in turns(predictions)
    ]
    long = [
        {"dialogue_id": name, "turn": n, "slot": slot, "value": value}
        for name, n, state in turns(predictions)
        for slot, value in (flat(state) or {"": ""}).items()
    ]
    return {
        "list of rows": rows,
        "tuple keys": {(name, number): state for name, number, state in turns(predictions)},
        "polars, a struct": polars.DataFrame(rows, infer_schema_length=None),
        "polars, wide": polars.DataFrame(wide, infer_schema_length=None),
        "polars, long": polars.DataFrame(long),
        "pandas": pandas.DataFrame(rows),
        "pandas, wide": pandas.DataFrame(wide),
        "pandas, by its index": pandas.DataFrame(rows).set_index(["dial_id", "turn"]),
        "pandas, long": pandas.DataFrame(long),
    }


@pytest.mark.parametrize("name", frames(HARD))
def test_frames_and_plain_python(name: str) -> None:
    source = frames(HARD)[name]
    assert states(dialgauge.read(source)) == wanted(HARD)
    results = dialgauge.score(HARD, source, measures="JGA", profile="verbatim")
    assert results["system"].notes[1].startswith("read as 2 dialogues, turns numbered from ")


def test_a_frame_of_pandas_that_renamed_a_column_is_refused() -> None:
    frame = pandas.DataFrame({"dial_id": ["a"], "turn": [0], "hotel-area": ["north"], "hotel-area.1": ["east"]})
    with pytest.raises(DialgaugeError, match=r"'hotel-area\.1' is a second 'hotel-area' that polars or pandas renamed"):
        dialgauge.read(frame)
    with pytest.raises(DialgaugeError, match="two of its columns are called 'hotel-area'"):
        read(b"dial_id,turn,hotel-area,hotel-area\na,0,north,east\n")


# -- single readings -------------------------------------------------------------------------------------------------


def read(content: bytes) -> Corpus:
    corpus = Corpus(format="", kind="")
    corpus.dialogues = list(format_named(LAST_RESORT).read(part_of(content, "mine.file"), corpus.notes))  # type: ignore[union-attr]
    return corpus


def state_of(written: Any) -> tuple[State, Notes]:
    notes = Notes()
    reader = StateReader(notes)
    reader.learn(written)
    return reader.read(written, "d", 0), notes


@pytest.mark.parametrize(
    "written",
    [
        "hotel-area=north; hotel-stars=4",
        "hotel-area: north, hotel-stars: 4",
        "hotel-area-north, hotel-stars-4",
        "hotel area north, hotel stars 4",
        "hotel area north , hotel stars 4",
        "hotel area is north, hotel stars is 4",
        "hotel-area is north; hotel-stars is 4",
        "hotel_area is north; hotel_stars is 4",
        "[hotel] area is north, stars is 4",
        "[hotel] area = north, stars = 4",
        "[hotel] area=north; stars=4",
        "<|belief|> hotel area north , hotel stars 4 <|endofbelief|>",
        "<bos_belief> [hotel] area north stars 4 <eos_belief>",
        "<sos_b> [hotel] area north stars 4 <eos_b>",
        "hotel(area=north, stars=4)",
        "hotel {area = north, stars = 4}",
        "[hotel] area north stars 4",
        "[hotel] [value_area] north [value_stars] 4",
        "hotel: area=north, stars=4",
        "hotel.area=north\nhotel.stars=4",
        "hotel_area = north | hotel_stars = 4",
        'Sure! ```json\n{"hotel": {"area": "north", "stars": 4}}\n```',
        "{'hotel': {'area': 'north', 'stars': 4}}",
        "hotel-area=\"north\"; hotel-stars='4'",
        'hotel(area="north", stars="4")',
        'set_state(hotel_area="north", hotel_stars=4)',
        '[find_hotel(area="north", stars="4")]',
        'find_hotel(area="north")\nfind_hotel(stars="4")',
        'update_state(domain="hotel", area="north", stars="4")',
        'set_slot("hotel-area", "north"); set_slot("hotel-stars", "4")',
        'set_slot(slot="hotel-area", value="north"), set_slot(slot="hotel-stars", value="4")',
        "{hotel-area: north, hotel-stars: 4}",
        "<|belief|> hotel area north , hotel stars 4 <|endofbelief|> <|action|> hotel inform name <|endofaction|>",
        "<|belief|> hotel area north , hotel stars 4 <|response|> here it is",
        "```\nhotel-area=north; hotel-stars=4\n```",
        "Belief state: hotel-area=north; hotel-stars=4",
        "<pad> hotel area north , hotel stars 4</s>",
        "[hotel] [area] north [stars] 4",
        "hotel:\n  area: north\n  stars: 4",
        "### Hotel\n- **area**: north\n- **stars**: 4".replace("Hotel", "hotel"),
        "hotel: area: north, stars: 4",
        "1. hotel-area: north\n2. `hotel-stars`: `4`",
        "(hotel-area, north), (hotel-stars, 4)",
        "hotel-area → north; hotel-stars => 4",
        "hotel-area=north hotel-stars=4",
        "hotel-area = north and hotel-stars = 4",
        "hotel-area=north\thotel-stars=4",
        '{"hotel-area": "south"}\nOn reflection: {"hotel-area": "north", "hotel-stars": 4}',
        "Reasoning: the user wants a hotel.\n\nhotel-area=north; hotel-stars=4\nNote: nothing else was said.",
        "hotel-area\tnorth\nhotel-stars\t4",
        "[hotel]\narea = north\nstars = 4",
        "hotel-area=north # hotel-stars=4",
        "'hotel-area': 'north', 'hotel-stars': 4",
        "Assistant: hotel-area=north; hotel-stars=4",
        '<|im_start|>assistant\n{"hotel-area": "north", "hotel-stars": 4}<|im_end|><|im_start|>user\n{"a": {"b": "c"}}',
        "user: north, 4 stars\nState: hotel-area=north; hotel-stars=4",
        "Reasoning: hotel-area=south? No.\n**Final answer:** hotel-area=north; hotel-stars=4",
        '{"hotel-area": "north", "hotel-stars": 4}\n\nUser: thanks\nState: {"hotel-area": "south"}',
        "hotel-area=north; hotel-stars=4\nHuman: thanks\nState: hotel-area=south",
        '"{\\"hotel-area\\": \\"north\\", \\"hotel-stars\\": \\"4\\"}"',
        ['{"hotel-area": "north", "hotel-stars": "4"}'],
        [{"text": '{"hotel-area": "north", "hotel-stars": "4"}', "finish_reason": "stop"}],
        {"type": "done", "message": {"content": [{"type": "text", "text": "hotel-area=north; hotel-stars=4"}]}},
        {"candidates": [{"content": {"parts": [{"text": "hotel-area=north; hotel-stars=4"}]}}]},
        {"hotel": {"area": "north", "stars": 4}, "active_domain": "hotel", "reasoning": "because"},
        {"intent": "find_hotel", "slots": {"hotel-area": "north", "hotel-stars": "4"}},
        [{"name": "hotel.area", "val": "north"}, {"name": "hotel.stars", "val": 4}],
        [{"domain": "hotel", "slots": {"area": "north", "stars": "4"}}],
        '<think>{"hotel": {"area": "east"}}?</think> {"hotel": {"area": "north", "stars": 4}} {"slots": "unknown"}',
        {"belief_state": {"hotel": {"area": "north", "stars": "4"}}, "response": "ok"},
        {"body": {"choices": [{"message": {"content": '{"hotel-area": "north", "hotel-stars": 4}'}}]}},
        {"hotel": {"inform": {"area": "north", "stars": "4"}}},
        {"hotel->area": "north", "hotel->stars": "4"},
        ["hotel-area-north", "hotel-stars-4"],
        [("hotel", "area", "north"), ("hotel", "stars", 4)],
        [{"slot": "hotel-area", "value": "north"}, {"slot": "hotel-stars", "values": ["4"]}],
        [{"service": "hotel", "state": {"slot_values": {"hotel-area": ["north"], "hotel-stars": ["4"]}}}],
        [{"hotel-area": "north"}, {"hotel-stars": "4"}],
        {"belief_state": {"hotel": {"area": "north", "stars": "4", "name": None}}},
        {"hotel": {"semi": {"area": "north", "stars": "4", "name": "not mentioned"}, "book": {"booked": []}}},
        {"hotel-semi-area": {"value": "north", "score": 0.9}, "hotel/stars": "4"},
        [{"hotel-area": "north", "confidence": 0.9}, {"hotel-stars": "4", "confidence": 0.7}],
        {("hotel", "area"): "north", ("hotel", "stars"): 4},
    ],
)
def test_ways_to_write_a_state(written: Any) -> None:
    state, notes = state_of(written)
    assert state == {"hotel": {"area": ("north",), "stars": ("4",)}}
    assert not notes.counts.keys() & {INVALID, PARTLY}


@pytest.mark.parametrize(
    "written",
    [
        None,
        {},
        [],
        "",
        "none",
        "{}",
        "[]",
        "null",
        float("nan"),
        "(None)",
        "No slots mentioned yet.",
        "```json\n```",
        "\nNote: nothing was said.",
    ],
)
def test_ways_to_write_an_empty_state(written: Any) -> None:
    state, notes = state_of(written)
    assert state == {} and not notes.counts


def test_quotes_inside_a_value_stay() -> None:
    written = 'taxi-departure=\'saint john\'s college\'; taxi-destination="a" or "b"'
    assert canonical(state_of(written)[0]) == {
        "taxi-departure": "saint john's college",
        "taxi-destination": '"a" or "b"',
    }


def test_a_full_stop_behind_every_text_is_no_part_of_a_value() -> None:
    rows = [{"dialogue_id": "A", "turn": turn, "output": "hotel-name=st. x."} for turn in range(3)]
    assert states(dialgauge.read(rows)) == {"A": [{"hotel-name": "st. x"}] * 3}
    rows[1]["output"] = "hotel-name=st. x"
    assert states(dialgauge.read(rows))["A"][0] == {"hotel-name": "st. x."}


def test_what_holds_no_state_is_an_invalid_output() -> None:
    state, notes = state_of("sorry")
    assert state == {} and notes.counts["invalid outputs, scored as empty predictions"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I cannot determine the state.",
        "ERROR: rate limit exceeded",
        "same as before",
        "Response: there are many places",
        "<think>hotel-area=north?</think>",
        '{"hotel-area": "nor',
    ],
)
def test_sentences_are_invalid_outputs(text: str) -> None:
    rows = rows_of(*[{"output": '{"hotel-area": "north"}'}] * 3, {"output": text})
    corpus = dialgauge.read(rows)
    assert corpus.notes.counts.keys() & {INVALID, PARTLY}
    assert "turn 3: '" in next(places[0] for what, places in corpus.notes.places.items() if what in (INVALID, PARTLY))


@pytest.mark.parametrize(
    "text",
    [
        "The area: hotel-area=north",
        "hotel-area=north; hotel-stars",
        "hotel-area=north // as the user said",
        "hotel-area=north\nLet me know if you need more!",
        "hotel-area=north, hotel-stars=4 hotel-parking=yes",
        "user: south\nState: hotel-area=south\nuser: no, north\nState: hotel-area=north",
        '{"hotel-area": "south"}\n{"hotel-area": "north"}',
        '{"hotel": {"area": "north"}, "train": {"day": "mon',
        "<think>hmm {'hotel-area': 'north'}",
        "[hotel] please area north",
        "hotel-area ~ north",
        "hotel is in the north and it has to be cheap and with parking for the car of my wife",
    ],
)
def test_a_text_that_was_understood_in_part_says_so(text: str) -> None:
    state, notes = state_of(text)
    assert state and notes.counts[PARTLY] == 1
    assert notes.places[PARTLY][0].startswith(f"dialogue d, turn 0: '{text[:5]}")


TEXTS: dict[str, Callable[[str, str, str], str]] = {
    "; ": "{}-{}={}".format,
    ", ": "{}-{}: {}".format,
    " , ": "{} {} {}".format,
    "\n": "- **{}-{}**: {}".format,
    "; \n": "{}-{} is {}".format,
    " | ": "{}({}={})".format,
    " ": "{}-{}={}".format,
    "  ": "[{}] {} {}".format,
}


@pytest.mark.parametrize("separator", TEXTS)
@pytest.mark.parametrize("file", ["sgd/dev_dialogues_008.json.gz", "dst_predictions/augpt.json.gz"])
def test_a_text_of_real_values_is_read_rightly_or_says_that_it_was_not(
    file: str, separator: str, shared_data: Path
) -> None:
    turns = [turn for one in dialgauge.read(shared_data / file).dialogues[:40] for turn in one.turns]
    wanted = [state for turn in turns if (state := turn.state or turn.predicted)]
    triples = [[(d, s, values[0]) for d, held in state.items() for s, values in held.items()] for state in wanted]
    texts = [separator.join(TEXTS[separator](*triple) for triple in state) for state in triples]
    reader = StateReader(notes := Notes())
    for text in texts:
        reader.learn(text)
    misread = told = 0
    for number, (text, slots) in enumerate(zip(texts, triples, strict=True)):
        read = {(d, s): v for d, held in reader.read(text, "d", number).items() for s, v in held.items()}
        before, told = told, notes.counts[PARTLY] + notes.counts[INVALID]
        is_right = read == {(d, s): (v,) for d, s, v in slots}
        assert is_right or told > before, text
        misread += not is_right
    assert misread == 0 or separator.isspace() or "(" in TEXTS[separator]("", "", "")


def test_a_model_that_runs_on_does_so_behind_an_empty_state_too() -> None:
    rows = rows_of(
        {"output": "hotel-area=north\nUser: ok\nState: hotel-area=x"}, {"output": "\nUser: ok\nState: taxi-x=y"}
    )
    counts = dialgauge.read(rows).notes.counts
    assert (counts[PARTLY], counts["outputs that go on with the next turn, cut off there"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[taxi] destination whale of a time departure arbury lodge guesthouse",
            {"taxi-destination": "whale of a time", "taxi-departure": "arbury lodge guesthouse"},
        ),
        ("[taxi] destination whale of a time", {"taxi-destination": "whale of a time"}),
        (
            "[attraction] name people 's portraits area west",
            {"attraction-name": "people 's portraits", "attraction-area": "west"},
        ),
        ("[restaurant] name cocum time 18:00", {"restaurant-name": "cocum", "restaurant-time": "18:00"}),
        ("[attraction] area west pricerange cheap", {"attraction-area": "west", "attraction-pricerange": "cheap"}),
        ("[taxi] time 18:00", {"taxi-time": "18:00"}),
        ("[bank] name whale time 18:00", {"bank-name": "whale", "bank-time": "18:00"}),
    ],
)
def test_words_of_values_in_spans_name_no_slot_that_the_domain_lacks(text: str, expected: dict[str, str]) -> None:
    state, notes = state_of(text)
    assert (canonical(state), notes.counts[PARTLY]) == (expected, 0)


@pytest.mark.parametrize("name", ["alpha, beta", "alpha (beta), gamma", "alpha; beta", "a, hotel-area=b"])
def test_quoted_values_of_calls_are_whole(name: str) -> None:
    for call in ("hotel(name={!r}, area='north')", "set_state(hotel_name={!r}, hotel_area='north')"):
        state, notes = state_of(call.format(name))
        assert canonical(state) == {"hotel-name": name, "hotel-area": "north"} and not notes.counts[PARTLY]


def test_spans_with_slots_of_two_words() -> None:
    state, notes = state_of(
        "[hotel] name worth house book day friday book people 2 [train] leave at 10:15 price range cheap"
    )
    assert canonical(state) == {
        "hotel-name": "worth house",
        "hotel-bookday": "friday",
        "hotel-bookpeople": "2",
        "train-leaveat": "10:15",
        "train-pricerange": "cheap",
    }
    assert not notes.counts


def test_two_columns_of_values_are_refused() -> None:
    rows = [("A", 0, "hotel-area", "north", "north"), ("A", 0, "hotel-stars", "4", "3")]
    for first, second in (("value", "pred"), ("pred_gpt4", "pred_llama"), ("val", "pred_value")):
        table = [dict(zip(("dialogue_id", "turn", "slot", first, second), row, strict=True)) for row in rows]
        with pytest.raises(DialgaugeError, match=f"the columns '{first}', '{second}' all hold predictions"):
            dialgauge.read(table)
        mended = [{"prediction" if name == second else name: cell for name, cell in row.items()} for row in table]
        assert states(dialgauge.read(mended)) == {"A": [{"hotel-area": "north", "hotel-stars": "3"}]}
        classes = [{**row, second: "span"} for row in table]
        if first != "pred_gpt4":
            assert states(dialgauge.read(classes)) == {"A": [{"hotel-area": "north", "hotel-stars": "4"}]}


def test_rows_of_two_models_are_refused() -> None:
    rows = [{"dialogue_id": "A", "turn": 0, "slot": "hotel-area", "value": value} for value in "ne"]
    with pytest.raises(DialgaugeError, match=r"hotel-area has two values in this turn.*a file for each model"):
        dialgauge.read(rows)


def test_times_of_a_spreadsheet() -> None:
    assert states(read(b"dialogue_id,turn,train-leaveat,hotel-area_conf\nA,0,17:30:00,0.5\n")) == {
        "A": [{"train-leaveat": "17:30"}]
    }


def test_the_layout_of_trades_data() -> None:
    turns = [{"turn_idx": 0, "belief_state": [{"slots": [["hotel-area", "north"]], "act": "inform"}]}]
    assert states(dialgauge.read([{"dialogue_idx": "A", "dialogue": turns}])) == {"A": [STATE_ROW]}


def test_columns_in_lists_without_turns() -> None:
    held = {"dialogue_id": ["A", "B"], "predictions": [["{}", '{"hotel-area": "north"}'], ["{}"]]}
    assert states(dialgauge.read(held)) == {"A": [{}, {"hotel-area": "north"}], "B": [{}]}


def test_gold_beside_predictions_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("dialogue_id,turn,gold,prediction\na,0,hotel-area=north,hotel-area=east\n")
    turn = dialgauge.read(path)["a"].turns[0]
    assert (turn.state, turn.predicted) == ({"hotel": {"area": ("north",)}}, {"hotel": {"area": ("east",)}})
    wide = read(b"dial_id,turn,gold:hotel-area,pred:hotel-area\na,0,north,east\n").dialogues[0].turns[0]
    assert (wide.state, wide.predicted) == (turn.state, turn.predicted)


def test_a_turn_without_a_row_is_empty_where_a_row_is_a_slot() -> None:
    corpus = read(b"dialogue_id,turn,slot,value\na,0,hotel-area,north\na,2,hotel-area,north\nb,1,hotel-stars,4.0\n")
    assert [turn.predicted for turn in corpus.dialogues[1].turns] == [{}, {"hotel": {"stars": ("4",)}}]
    assert corpus.notes.counts["turns without a row, read as empty states"] == 2


def test_a_turn_without_a_record_is_a_hole() -> None:
    corpus = read(b'{"a": {"0": {"hotel-area": "north"}, "3": {"hotel-area": "north"}}, "b": {"1": {}}}')
    assert [turn.predicted is None for turn in corpus.dialogues[0].turns] == [False, True, True, False]


# -- what cannot be read ---------------------------------------------------------------------------------------------

WRONG = {
    "no state": (b'{"conv": "c1", "utterance": "hi"}\n{"conv": "c1", "utterance": "yes"}\n', "the state of each turn"),
    "no id": (b'[{"turn": 0, "state": {"hotel-area": "north"}}]', "the id of each dialogue"),
    "no turns": (b'{"MUL1": {"hotel": {"area": "north"}}, "MUL2": {"taxi": {"leave": "9"}}}', "a state for each turn"),
    "no domain": (b'{"MUL1": [{"area": "north"}, {"area": "east"}]}', "the domain of each slot"),
    "late turns": (b'{"MUL1": {"5": {"hotel-area": "north"}}}', "the first turns"),
    "no states in it": (b'{"MUL1": ["hello there", "good bye"]}', "states that can be read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_teaches(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was seen, what is missing, and a file of three lines that is read."""
    content, missing = WRONG[name]
    path = tmp_path / "mine.json"
    path.write_bytes(content)
    outcome = command(capsys, "data", "convert", path, tmp_path / "out.jsonl", "--to", "native")
    assert outcome.code == 2
    sentence, *example = outcome.err.splitlines()
    assert f"missing: {missing}" in sentence and "nearest format: " in sentence
    assert "keys seen: " in sentence or name in ("no states in it", "late turns")
    assert len(example) == 3
    (tmp_path / "example.jsonl").write_text("\n".join(example))
    assert len(dialgauge.read(tmp_path / "example.jsonl").dialogues[0].turns) == 3


def test_the_example_has_the_users_own_words(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError) as caught:
        recognise(part_of(WRONG["no turns"][0]))
    assert '"dialogue_id":"MUL1"' in caught.value.example and '"hotel-area":"north"' in caught.value.example


def test_json_lines_are_never_called_invalid_json() -> None:
    with pytest.raises(DialgaugeError, match=r"no known format fits it \(it is JSON lines\)"):
        recognise(part_of(WRONG["no state"][0]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": ' * 50_000, "nested too deeply"),
        (b'[{"dialogue_id": "a", "turn": 0, "state": NaN}]', "NaN"),
        (b'{"a": [{"hotel-area": "north"}], "a": [{}]}', "this id is used twice"),
        (b'{"a": {"0": {}, "0": {}}}', "a turn or a key twice"),
        (b'{"dialogue_id": "a", "turn": "soon", "state": {"hotel-area": "n"}}\n', "is no number"),
        (b'{"dialogue_id": "a", "turn": 99999, "state": {}}\n{"dialogue_id": "a", "turn": 0, "state": {}}\n', "beyond"),
        (b'{"dialogue_id": "a", "turn": 0, "state": {}}\n{"dialogue_id": "a"', "line 2: it is not valid JSON"),
        (b"dialogue_id,turn,state\na,0,hotel-area=north\nb,1,x,y,z\n", "line 3: it has 5 cells"),
        (b'dialogue_id,turn,state\na,0,"' + b"x" * 200_000 + b'"\n', "no sound table"),
        (b"dialogue_id,turn,state\na,0,hotel-area=north\na,0,hotel-area=north\n", "turn 0: this turn appears twice"),
    ],
)
def test_hostile_files_end_in_a_sentence(content: bytes, message: str) -> None:
    with pytest.raises(DialgaugeError, match=message) as caught:
        read(content)
    assert str(caught.value).startswith("mine.file") and "\n" not in str(caught.value)


def test_a_long_text_of_separators_takes_no_time() -> None:
    many = (" ", ",", "hotel ", "[a]", "a(", "\nstate:", "\nUser:", "a-b=c ", "\n- ", "(a,b)", "no a ", "{")
    for text in ("a" + " " * 49_000, *(part * (49_000 // len(part)) for part in many)):
        for whole in (f"x{text}", f"x{text}y", text):
            state_of(whole)


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"MUL\x1b[31m": {"hotel\x07": {"area": "\x1b]0;x"}}}))
    outcome = command(capsys, "data", "convert", path, tmp_path / "out.jsonl", "--to", "native")
    assert outcome.code == 2 and "\x1b" not in outcome.err and "\x07" not in outcome.err


def rows_of(*states: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"dialogue_id": "A", "turn": number, **state} for number, state in enumerate(states)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("state", "output"),
        ("belief_state", "output"),
        ("state", "generated_text"),
        ("state", "state_hat"),
        ("answer", "response"),
        ("bs", "bs_gen"),
        ("state", "extracted_slots"),
        ("belief_state", "decoded_belief_state"),
        ("state", "returned_slots"),
    ],
)
@pytest.mark.parametrize("as_text", [False, True])
def test_two_columns_of_states_are_refused(first: str, second: str, as_text: bool) -> None:
    gold, predicted = {"hotel-area": "north"}, {"hotel-area": "east"}
    other = {True: "hotel area east", False: predicted}[as_text]
    rows = rows_of({first: {}, second: {}}, {first: gold, second: other}, {first: gold, second: other})
    for order in (rows, [dict(reversed(row.items())) for row in rows]):
        with pytest.raises(DialgaugeError, match=f"columns '{first}' and '{second}' both hold states.*'prediction'"):
            dialgauge.read(order)
    by_dialogue = {"A": [{first: row[first], second: row[second]} for row in rows]}
    with pytest.raises(DialgaugeError, match="both hold states"):
        dialgauge.read(by_dialogue)


def test_a_generated_belief_state_is_the_prediction_beside_another() -> None:
    gold, predicted = {"hotel-area": "north"}, {"hotel-area": "east"}
    rows = rows_of(*[{"belief_state": gold, "generated_belief_state": predicted}] * 2)
    assert states(dialgauge.read(rows)) == {"A": [predicted] * 2}


def test_a_third_column_of_states_beside_gold_is_refused() -> None:
    rows = rows_of(*[{"gold": {}, "state": {"hotel-area": "north"}, "extracted_slots": {"hotel-area": "east"}}] * 2)
    with pytest.raises(DialgaugeError, match="'state' and 'extracted_slots' both hold states"):
        dialgauge.read(rows)


def test_messages_of_each_turn_end_with_its_state(tmp_path: Path) -> None:
    def row(turn: int, answer: str, **beside: Any) -> dict[str, Any]:
        said = [("system", 'Return {"hotel-area": "north"}'), ("user", "hi"), ("assistant", answer)]
        messages = [{"role": role, "content": text} for role, text in said]
        return {"dialogue_id": "A", "turn_id": turn, "messages": messages, **beside}

    path = tmp_path / "asked.jsonl"
    answers = ["{}", '{"hotel-area": "east"}', '```json\n{"hotel-stars": "4"}\n```']
    path.write_text("\n".join(json.dumps(row(turn, answer)) for turn, answer in enumerate(answers)))
    assert states(dialgauge.read(path)) == {"A": [{}, {"hotel-area": "east"}, {"hotel-stars": "4"}]}
    for log in (row(0, "Hello!"), row(0, '{"hotel-area": "east"}', reward=1.0)):
        path.write_text(json.dumps(log))
        assert dialgauge.read(path).format == "messages"


def test_slots_of_two_words_and_several_tagged_domains_are_pairs() -> None:
    written = "[hotel] name is worth house, book day is friday [train] arrive by = 10:15"
    state = {"hotel": {"name": ("worth house",), "book day": ("friday",)}, "train": {"arrive by": ("10:15",)}}
    assert dialgauge.read(rows_of({"output": written}))["A"].turns[0].predicted == state


@pytest.mark.parametrize("second", [{"hotel-area": "east"}, {}, "hotel-area=east"])
def test_predictions_of_several_models_are_refused(second: Any) -> None:
    first = {"hotel-area": "north"}
    rows = rows_of(*[{"pred_gpt4": first, "pred_llama": second}] * 2)
    for order in (rows, [dict(reversed(row.items())) for row in rows]):
        with pytest.raises(DialgaugeError, match=r"columns 'pred_\w+', 'pred_\w+' all hold predictions; keep one"):
            dialgauge.read(order)
    chosen = [{"prediction" if name == "pred_gpt4" else name: held for name, held in row.items()} for row in rows]
    beside = rows_of(*[{"pred_gpt4": first, "pred_text": "It is north.", "pred_raw": "hotel-area=north"}] * 2)
    final = rows_of(*[{"pred_raw": "hotel-area=east", "pred_final": first}] * 2)
    for read in (chosen, beside, final):
        assert dialgauge.read(read)["A"].turns[0].predicted == {"hotel": {"area": ("north",)}}


def test_columns_beside_the_states_are_no_second_states() -> None:
    state = {"hotel-area": "north"}
    beside = {
        "response": "Hotel A is in the north.",
        "utterance": "hotel please: cheap",
        "output": '```json\n{"hotel": {"area": "north"}}\n```',
        "previous_state": {"hotel-area": "east"},
        "scores": {"hotel-area": 0.5},
    }
    corpus = dialgauge.read(rows_of({**beside, "state": {}, "output": "{}"}, {"state": state, **beside}))
    assert states(corpus) == {"A": [{}, state]}
    [read] = dialgauge.read(rows_of({"state": {"hotel-area": "east"}, "prediction": state})).dialogues
    assert (read.turns[0].state, read.turns[0].predicted) == (
        {"hotel": {"area": ("east",)}},
        {"hotel": {"area": ("north",)}},
    )


@pytest.mark.parametrize("names", ["{}_pred/{}_true", "{}_prediction/{}_gold", "pred:{}/{}", "{}/{}_gt", "{}.hat/{}"])
def test_columns_of_slots_by_side(names: str, tmp_path: Path) -> None:
    predicted, gold = (names.split("/")[side].format for side in (0, 1))
    header = ["dialogue_id", "turn_id", gold("hotel-area"), predicted("hotel-area"), predicted("hotel-stars")]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(header), "A,0,north,east,", "A,1,north,north,4"]))
    [dialogue] = dialgauge.read(path).dialogues
    assert [canonical(turn.predicted) for turn in dialogue.turns] == [
        {"hotel-area": "east"},
        {"hotel-area": "north", "hotel-stars": "4"},
    ]
    assert [canonical(turn.state) for turn in dialogue.turns] == [{"hotel-area": "north"}] * 2


@pytest.mark.parametrize(
    "best",
    [
        [{"hotel-area": "east"}, {"hotel-area": "north"}],
        [{"hotel": {"area": "east"}}, {"hotel": {"area": "east"}}],
        [{"hotel-area": "east"}, {}],
        [{"state": {"hotel-area": "east"}, "score": -2.1}, {"state": {"hotel-area": "north"}, "score": -0.1}],
        [{"text": "hotel-area=north", "logprob": -0.1}],
        [["hotel-area=north", 0.9]],
    ],
)
def test_a_list_of_states_for_one_turn_is_refused(best: list[Any]) -> None:
    with pytest.raises(DialgaugeError, match="a list of outputs for one turn") as caught:
        dialgauge.read(rows_of({"predictions": []}, {"predictions": best}))
    assert "dialogue A, turn 1" in str(caught.value)


def test_a_null_prediction_is_a_missing_turn() -> None:
    corpus = dialgauge.read(rows_of({"pred": None}, {"pred": {"hotel-area": "north"}}, {"pred": {}}))
    [dialogue] = corpus.dialogues
    assert [turn.predicted for turn in dialogue.turns] == [None, {"hotel": {"area": ("north",)}}, {}]
    assert corpus.notes.counts["null predictions, read as missing turns"] == 1


def test_an_empty_cell_of_a_frame_is_an_empty_state() -> None:
    frame = polars.read_csv(b"dial_id,turn,belief\nA,0,\nA,1,hotel-area=north")
    assert states(dialgauge.read(frame)) == {"A": [{}, {"hotel-area": "north"}]}
    assert all(turn.predicted is not None for turn in dialgauge.read(frame).dialogues[0].turns)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b'{"dialogue_id":"A","turn":0,"state":{}}\n{"dialogue_id":"A","tu',
            r"line 2: it is not valid JSON: Input data was truncated",
        ),
        (
            b'{"dialogue_id":"A","turn":0,"state":{}}\n{"dialogue_id":"A","turn":1,"reward":1e999}',
            r"line 2: the number 1e999 \(byte 37\) is out of range",
        ),
        (b'{"task_id":"a","messages":[],"reward":1e999}', r"the number 1e999 \(byte 38\)"),
        (b'{"dialogue_id":"A","turn":' + b"9" * 5000 + b"}", r"number 9{20} \(byte 26\)"),
    ],
)
def test_broken_json_is_told_with_its_place(content: bytes, told: str) -> None:
    with pytest.raises(DialgaugeError, match=told):
        recognise(part_of(content))


def test_rows_of_a_domain_each_are_one_state(tmp_path: Path) -> None:
    rows = [
        {"dialogue_id": "A", "turn": 0, "domain": "hotel", "state": {"area": "north"}},
        {"dialogue_id": "A", "turn": 0, "domain": "train", "state": {}},
        {"dialogue_id": "A", "turn": 1, "domain": "hotel", "state": {"hotel-area": "north"}},
        {"dialogue_id": "A", "turn": 1, "domain": "train", "state": {"train-day": "monday"}},
    ]
    assert states(dialgauge.read(rows)) == {
        "A": [{"hotel-area": "north"}, {"hotel-area": "north", "train-day": "monday"}]
    }
    for other in ({"domain": "hotel", "state": {"area": "east"}}, {"domain": "train", "state": {"hotel-area": "east"}}):
        with pytest.raises(DialgaugeError, match="this turn appears twice; keep one of them"):
            dialgauge.read([rows[2], {**rows[2], **other}])


@pytest.mark.parametrize(
    "content",
    [
        b"dialogue,turn,domain,state\nA,0,hotel,area=north; book people=2\nA,0,train,day=monday\n"
        b"A,3,hotel,area=north\n",
        b'dialogue,turn,domain,state\nA,0,hotel,"{""area"": ""north"", ""book people"": 2}"\n'
        b'A,0,train,"{""day"": ""monday""}"\nA,3,hotel,hotel-area=north\n',
        b'{"dialogue": "A", "turn": 0, "domain": "hotel", "state": {"area": "north", "book people": 2}}\n'
        b'{"dialogue": "A", "turn": 0, "domain": "train", "state": {"day": "monday"}}\n'
        b'{"dialogue": "A", "turn": 3, "domain": "hotel", "state": {"area": "north"}}\n',
    ],
)
def test_rows_of_a_domain_need_not_name_it_again(content: bytes) -> None:
    first = {"hotel-area": "north", "hotel-bookpeople": "2", "train-day": "monday"}
    assert states(read(content)) == {"A": [first, {}, {}, {"hotel-area": "north"}]}


@pytest.mark.parametrize("name", ["pred_delta", "turn_state_delta", "changes", "state_update"])
def test_changes_that_are_called_so_are_put_together(name: str) -> None:
    changes: list[dict[str, Any]] = [{"hotel-area": "north"}, {"hotel-stars": "4"}, {"hotel-area": "none"}, {}]
    rows = [{"dialogue_id": "A", "turn": turn, name: change} for turn, change in enumerate(changes)]
    whole = [{"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": "4"}, *[{"hotel-stars": "4"}] * 2]
    corpus = dialgauge.read(rows)
    assert states(corpus) == {"A": whole}
    assert "changes of each turn put together" in corpus.notes.understood
    beside = [{**row, "state": {"hotel-area": "east"}} for row in rows]
    assert states(dialgauge.read(beside)) == {"A": [{"hotel-area": "east"}] * 4}


def test_changes_of_a_slot_each() -> None:
    content = b"dialogue_id,turn,slot,changed_value\na,0,hotel-area,north\na,3,hotel-area,none\na,3,hotel-stars,4\n"
    assert states(read(content)) == {"a": [*[{"hotel-area": "north"}] * 3, {"hotel-stars": "4"}]}


def test_columns_of_slots_with_the_side_in_brackets() -> None:
    content = b"DialogueID,TurnIndex,hotel-area (predicted),hotel-name (predicted)\nA,0,-,-\nA,1,north,a lodge\n"
    assert states(read(content)) == {"A": [{}, {"hotel-area": "north", "hotel-name": "a lodge"}]}


@pytest.mark.parametrize(
    "written",
    [
        {"('A', 0)": {}, "('A', 1)": {"hotel-area": "north"}},
        [{"id": f"A-{turn}", "turn": turn, "pred": state} for turn, state in enumerate([{}, {"hotel-area": "north"}])],
        [
            {"id": f"batch_{nth + 5}", "custom_id": f"A-{nth}", "response": {"body": {"choices": [{"message": told}]}}}
            for nth, told in enumerate([{"content": "{}"}, {"content": '{"hotel-area": "north"}'}])
        ],
    ],
)
def test_ids_that_name_the_turn(written: Any) -> None:
    assert states(dialgauge.read(written)) == {"A": [{}, {"hotel-area": "north"}]}


def test_states_of_user_and_system_that_differ_are_refused() -> None:
    rows = [
        {"dialogue_id": "A", "turn_id": n, "speaker": who, "state": state}
        for n, (who, state) in enumerate([("user", {}), ("system", STATE_ROW), ("user", STATE_ROW), ("system", None)])
    ]
    with pytest.raises(DialgaugeError, match="of the user and of the system both have a state, and they differ"):
        dialgauge.read(rows)
    rows[0]["state"] = STATE_ROW
    assert states(dialgauge.read(rows)) == {"A": [STATE_ROW] * 2}


def test_states_of_the_system_only_are_those_of_the_turns_before() -> None:
    rows = [
        {"dialogue_id": "A", "turn_id": n, "speaker": who, **state}
        for n, (who, state) in enumerate([("user", {}), ("system", {"state": STATE_ROW})] * 2)
    ]
    assert states(dialgauge.read(rows)) == {"A": [STATE_ROW] * 2}


def test_the_best_few_texts_of_a_turn_are_refused() -> None:
    best = ["hotel-area=north; hotel-stars=4", "hotel-area=north"]
    with pytest.raises(DialgaugeError, match="a list of outputs for one turn"):
        dialgauge.read([{"dialogue_id": "A", "turn": 0, "predictions": best}])


@pytest.mark.parametrize(
    "before",
    ["", '"sep=;"\n', "sep=;\n", "# model: x\n# made: today\n"],
)
def test_lines_before_a_table(before: str) -> None:
    content = f"{before}dialogue_id;turn;state\nA;0;hotel-area=north\n"
    assert states(read(content.encode())) == {"A": [STATE_ROW]}
    assert recognise(part_of(content.encode())).name == LAST_RESORT


def test_a_table_of_markdown() -> None:
    content = b"| dialogue_id | turn | prediction |\n|---|---|:--|\n| A | 0 | hotel-area=north |\n"
    assert states(read(content)) == {"A": [STATE_ROW]}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"A:\n  0:\n    hotel-area: north\n", "it looks like YAML: save it as JSON"),
        (b"- dialogue_id: A\n  turn: 0\n", "it looks like YAML: save it as JSON"),
        (b"{'A': [{'hotel-area': 'north'}]}", "it looks like Python: write it with json.dump"),
        (b"hotel-area=north; hotel-stars=4\nhotel-area=north\n", "write rows with dialogue_id, turn and state"),
        (b'"{\\"dialogue_id\\": \\"A\\"}"\n', "each line is a text that holds JSON"),
        (b'{"dialogue_id": "A", "turn": 0, "pred": {}}\n{"model": "x"}\n', "the dialogue_id of record 2 is empty"),
        (b"dialogue_id,turn,slot,value\nA,1,hotel-area,north\n,0,hotel-stars,4\n", "dialogue_id of record 2 is empty"),
    ],
)
def test_a_refusal_says_what_to_do(content: bytes, told: str) -> None:
    with pytest.raises(DialgaugeError, match=told):
        recognise(part_of(content))


@pytest.mark.parametrize("name", ["MUL0001_{}.json", "MUL0001-{}.json", "MUL0001/{}.json", "MUL0001/turn_{}.json"])
def test_what_is_advised_for_a_file_for_each_turn_makes_a_file_that_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = [STATE_ROW, {**STATE_ROW, "hotel-stars": "4"}]
    for turn, state in enumerate(wanted):
        file = tmp_path / "FOLDER" / name.format(turn)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(state))
    with pytest.raises(DialgaugeError) as error:
        dialgauge.read("FOLDER")
    [advised] = re.findall(r"in Python: (json\.dump.*?'w'\)\))", str(error.value))
    exec(advised, {"json": json, "pathlib": pathlib})
    assert states(dialgauge.read("predictions.json")) == {"MUL0001": wanted}


def test_the_example_for_python_is_of_its_own_dialogue_and_slot() -> None:
    for content in (b"{'HOTEL1': [{'hotel-area': 'north'}]}", b"{'HOTEL1': [\n{'hotel-area': 'north'}]\n}"):
        with pytest.raises(DialgaugeError) as error:
            recognise(part_of(content))
        second = json.loads(error.value.example.splitlines()[1])
        assert second == {"dialogue_id": "HOTEL1", "turn": 1, "state": STATE_ROW}


def test_documents_and_workbooks_say_what_they_are_taken_for(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text(
        "| dialogue_id | turn | prediction |\n|---|---|---|\n| A | 0 | hotel-area=north |\n"
    )
    with pytest.raises(DialgaugeError, match=r"taken for a document: call it \.csv"):
        dialgauge.read(tmp_path / "mine.md")
    with pytest.raises(DialgaugeError, match="it is an Excel workbook: save the sheet as CSV"):
        recognise(part_of(b"<x/>", "[Content_Types].xml"))


@pytest.mark.parametrize(
    "record", [{"generated_text": "hotel-area=north"}, {"dialogue_id": "A", "pred": {"hotel-area": "north"}}]
)
def test_the_example_takes_no_name_of_a_record_for_a_slot(record: dict[str, Any]) -> None:
    lines = [record, {**record, "dialogue_id": "B"}] if "dialogue_id" in record else [record] * 2
    with pytest.raises(DialgaugeError) as error:
        recognise(part_of("\n".join(map(json.dumps, lines)).encode()))
    assert json.loads(error.value.example.splitlines()[1])["state"] == STATE_ROW


def test_states_beside_messages_are_predictions_and_no_chat_log() -> None:
    rows = [
        {"dialogue_id": "A", "turn_id": 0, "speaker": "user", "text": "hi"},
        {"dialogue_id": "A", "turn_id": 1, "speaker": "system", "text": "ok", "belief_state": STATE_ROW},
    ]
    part = part_of("\n".join(map(json.dumps, rows)).encode())
    assert recognise(part).name == LAST_RESORT
    assert states(dialgauge.read(rows)) == {"A": [STATE_ROW]}


def read_lines(folder: Path, rows: list[dict[str, Any]]) -> Corpus:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return dialgauge.read(path)


STEPS: list[dict[str, str]] = [{}, {"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": "4"}]


def _columnar(state: dict[str, str] | None) -> dict[str, Any]:
    """A frame of the user's turn and none of the system's, as the package datasets writes MultiWOZ 2.2."""
    if state is None:
        return {"service": [], "state": [], "slots": []}
    names, values = list(state), [[value] for value in state.values()]
    held = {"active_intent": "", "slots_values": {"slots_values_name": names, "slots_values_list": values}}
    return {"service": ["hotel"], "state": [held], "slots": [[]]}


@pytest.mark.parametrize(
    "rows",
    [
        [{"dialogue_id": "A", "turns": {
            "turn_id": list("012345"), "speaker": [0, 1] * 3, "utterance": [""] * 6,
            "frames": [_columnar(one) for state in STEPS for one in (state, None)]}}],
        [{"dialogue_id": "A", "turns": [
            {"speaker": "USER", "frames": [{"service": "hotel", "state": {"slot_values": one}}]} for one in STEPS]}],
        [{"dialogue_id": "A", "turns": [{"frames": {"hotel": {"slot_values": state}}} for state in STEPS]}],
        [{"dial": "A", "turn": turn, "pred": state} for turn, state in enumerate(STEPS)],
        [{"dialogue_ids": ["A"] * 3, "turn_ids": [0, 1, 2], "preds": STEPS}],
    ],
)  # fmt: skip
def test_shapes_of_the_fifth_tester(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    assert states(read_lines(tmp_path, rows)) == {"A": STEPS}


def test_deletions_in_changes_empty_a_slot(tmp_path: Path) -> None:
    changes = [{"hotel-area": "north", "hotel-day": "friday"}, {"hotel-day": "[DELETE]"}]
    rows: list[dict[str, Any]] = [{"dialogue_id": "A", "turn": n, "changes": each} for n, each in enumerate(changes)]
    wanted = {"A": [changes[0], {"hotel-area": "north"}]}
    assert states(read_lines(tmp_path, rows)) == wanted


@pytest.mark.parametrize(
    "output", ["SELECT * FROM hotel WHERE area = north AND stars = 4", "[states] 7=north", "[states] 7=north 8=4"]
)
def test_queries_and_numbered_slots_are_not_understood(output: str) -> None:
    corpus = dialgauge.read(rows_of({"prediction": output}, {"prediction": "hotel-area=north"}))
    assert corpus.notes.counts["outputs that were not understood in whole"] == 1


def test_numbers_that_count_through_the_file_are_those_of_no_dialogue(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"dialogue_id": name, "turn": 3 * n + turn, "state": state}
        for n, name in enumerate("ABCD")
        for turn, state in enumerate(STEPS)
    ]
    corpus = read_lines(tmp_path, rows)
    assert states(corpus) == dict.fromkeys("ABCD", STEPS)
    assert "turns in order" in corpus.notes.understood
