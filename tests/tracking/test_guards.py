"""Turns counted otherwise, names that differ, outputs without states: told, refused, mended or accepted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

import dialgauge
from dialgauge.engine import WorkPlace
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Store
from dialgauge.text import note_kind
from dialgauge.tracking import GUARDS
from support.commands import dialgauge as command

STATE = {"hotel-area": "north", "hotel-stars": "4"}
#: Four dialogues of three turns, of which the predictions have the last but one wrong.
GOLD: dict[str, list[dict[str, str]]] = {
    f"MUL{n}": [{}, {"hotel-area": "north"}, STATE, {**STATE, "train-departure": "ely"}] for n in range(4)
}
PREDICTED = {name: [*states[:2], {"hotel-area": "north"}, *states[3:]] for name, states in GOLD.items()}
JGA = 0.75


def jga(predictions: Any, **how: Any) -> float:
    return float(dialgauge.score(GOLD, predictions, measures="JGA", intervals=False, **how)["system"]["JGA"])


def notes(predictions: Any, **how: Any) -> dict[str, str]:
    run = dialgauge.score(GOLD, predictions, measures="JGA", intervals=False, **how)["system"]
    return {note_kind(note): str(note) for note in run.notes}


def nested(folder: Path, first: int, step: int = 1) -> str:
    """The predictions in the format nested, which takes turn numbers as they are."""
    path = folder / f"from{first}by{step}.json"
    turns = {
        name: {str(first + step * n): {"pr": _nested(state)} for n, state in enumerate(states)}
        for name, states in PREDICTED.items()
    }
    path.write_text(json.dumps(turns))
    return str(path)


def _nested(state: dict[str, str]) -> dict[str, dict[str, str]]:
    made: dict[str, dict[str, str]] = {}
    for name, value in state.items():
        domain, _, slot = name.partition("-")
        made.setdefault(domain, {})[slot] = value
    return made


@pytest.mark.parametrize(("first", "step", "option"), [(1, 1, "shift=1"), (0, 2, "step=2"), (1, 2, "shift=1,step=2")])
def test_turns_counted_otherwise_are_refused_and_the_option_mends_it(
    first: int, step: int, option: str, tmp_path: Path
) -> None:
    file = nested(tmp_path, first, step)
    with pytest.raises(DialgaugeError, match=f"of 4 of 4 dialogues fit gold if .* --turns {option} "):
        dialgauge.score(GOLD, [file])
    name = Path(file).stem
    for turns in (option, "auto"):
        run = dialgauge.score(GOLD, [file], measures="JGA", intervals=False, turns=turns)[name]
        assert float(run["JGA"]) == JGA
        assert "renumbered" in map(note_kind, run.notes)
    accepted = dialgauge.score(GOLD, [file], measures="JGA", intervals=False, accept=["turn_numbers"])
    assert float(accepted[name]["JGA"]) != JGA
    assert any("fit gold if" in note for note in accepted.notes)
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    by_file: Any = {"workers": WorkPlace("local"), "store": Store(tmp_path / "store"), "measures": "JGA"}
    with pytest.raises(DialgaugeError, match=f"of 4 of 4 dialogues fit gold if .* --turns {option} "):
        dialgauge.score(tmp_path / "gold.json", [file], **by_file)
    run = dialgauge.score(tmp_path / "gold.json", [file], turns=option, **by_file)[name]
    assert float(run["JGA"]) == JGA
    assert "renumbered" in map(note_kind, run.notes)
    with pytest.raises(DialgaugeError, match="auto takes all files at once"):
        dialgauge.score(tmp_path / "gold.json", [file], turns="auto", **by_file)


def test_turns_that_fit_are_left_alone(tmp_path: Path) -> None:
    file = nested(tmp_path, 0)
    for turns in (None, "auto"):
        assert float(dialgauge.score(GOLD, [file], measures="JGA", turns=turns).runs[0]["JGA"]) == JGA


@pytest.mark.parametrize("turns", ["shift", "shift=x", "step=3", "shift=-1", "two", "shift=1000"])
def test_ways_of_counting_that_there_are_not(turns: str) -> None:
    with pytest.raises(DialgaugeError, match="--turns"):
        jga(PREDICTED, turns=turns)


def test_a_state_before_the_first_turn() -> None:
    ahead = {name: [{}, *states] for name, states in PREDICTED.items()}
    with pytest.raises(DialgaugeError, match="--turns shift=1"):
        jga(ahead)
    assert jga(ahead, turns="auto") == JGA
    behind = {name: [*states, states[-1]] for name, states in PREDICTED.items()}
    assert jga(behind) == JGA


def misnamed(**names: str) -> dict[str, list[dict[str, str]]]:
    renamed = {old.replace("_", "-"): new for old, new in names.items()}
    return {
        name: [{renamed.get(slot, slot): value for slot, value in state.items()} for state in states]
        for name, states in PREDICTED.items()
    }


def test_slots_by_another_name_are_refused_with_a_file_to_complete(tmp_path: Path) -> None:
    wrong = misnamed(train_departure="train-from", hotel_area="hotel-location")
    with pytest.raises(DialgaugeError, match=r"gold never fills .*train-from \(gold: train-departure\?\)") as caught:
        jga(wrong)
    assert caught.value.example.startswith("# rename.yaml, to be completed\nslots:\n")
    assert "  train-from: train-departure" in caught.value.example
    assert jga(wrong, accept="slot_names") < JGA
    (tmp_path / "rename.yaml").write_text(caught.value.example.replace("hotel-stars", "hotel-area"))
    assert jga(wrong, rename=tmp_path / "rename.yaml") == JGA
    renaming = {"slots": {"Train-From": "train-departure", "hotel-location": "hotel-area", "taxi-x": "taxi-y"}}
    assert jga(wrong, rename=renaming) == JGA
    assert "taxi-x" in notes(wrong, rename=renaming)["renamed"]


def test_the_file_of_names_spells_them_as_the_predictions_do(tmp_path: Path) -> None:
    wrong = misnamed(train_departure="train-departing From")
    with pytest.raises(DialgaugeError, match="train-departing From") as caught:
        jga(wrong, profile="canon")
    (tmp_path / "rename.yaml").write_text(caught.value.example)
    assert jga(wrong, profile="canon", rename=tmp_path / "rename.yaml") == JGA


def test_domains_by_another_name() -> None:
    wrong = misnamed(hotel_area="hotels-area", hotel_stars="hotels-stars", train_departure="trains-departure")
    with pytest.raises(DialgaugeError, match="hotels-area") as caught:
        jga(wrong)
    assert "domains:\n  hotels: hotel\n  trains: train" in caught.value.example
    assert jga(wrong, rename={"domains": {"hotels": "hotel", "trains": "train"}}) == JGA


def test_the_profile_renames_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\nextends: canon\nrename:\n  slots: {train-from: train-departure}\n")
    assert jga(misnamed(train_departure="train-from"), profile=str(path)) == JGA
    path.write_text("name: mine\nrename: {slots: {train: train-departure}}\n")
    with pytest.raises(DialgaugeError, match="'train' is not of the form domain-slot"):
        jga(PREDICTED, profile=str(path))


@pytest.mark.parametrize(
    "content", ["slots: 3", "slots: {a: b}", "names: {}", "slots: {hotel-a: hotel}", "- 1", "dialogues: [a]"]
)
def test_a_file_of_names_that_is_none(content: str, tmp_path: Path) -> None:
    path = tmp_path / "rename.yaml"
    path.write_text(content)
    with pytest.raises(DialgaugeError, match=r"rename\.yaml"):
        jga(PREDICTED, rename=path)


def test_ids_by_another_name() -> None:
    wrong = {f"test/{name}" if name != "MUL0" else name: states for name, states in PREDICTED.items()}
    with pytest.raises(DialgaugeError, match="only 1 of 4 gold dialogues have predictions, and 3 predicted") as caught:
        jga(wrong)
    assert '  "test/MUL1": "MUL1"' in caught.value.example
    assert jga(wrong, accept="dialogue_ids") == JGA
    assert jga(wrong, rename={"dialogues": {f"test/MUL{n}": f"MUL{n}" for n in range(1, 4)}}) == JGA
    with pytest.raises(DialgaugeError, match=r"share no dialogue.*--rename"):
        jga({f"x{name}": states for name, states in PREDICTED.items()})


def test_a_part_of_the_dialogues_is_no_mistake() -> None:
    assert jga({"MUL0": PREDICTED["MUL0"]}) == JGA


def test_outputs_without_states_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.jsonl"
    lines = [{"dialogue": name, "turn": n, "output": "Sorry!"} for name in GOLD for n in range(4)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DialgaugeError, match="16 of 16 outputs hold no state"):
        dialgauge.score(GOLD, [path])
    assert dialgauge.score(GOLD, [path], measures="JGA", accept=GUARDS).runs[0]["JGA"] == 0.25


def with_text(text: str, every: int = 4) -> list[dict[str, Any]]:
    """A row a turn, with the text in place of one in four."""
    states = [(name, n, state) for name, held in PREDICTED.items() for n, state in enumerate(held)]
    return [
        {"dialogue_id": name, "turn": n, "output": text if number % every == 0 else json.dumps(state)}
        for number, (name, n, state) in enumerate(states)
    ]


@pytest.mark.parametrize("text", ["I'm sorry, I cannot tell.", "hotel-area=north\nHe said so."])
def test_texts_that_were_not_understood_in_whole_are_refused(text: str) -> None:
    with pytest.raises(DialgaugeError, match=r"4 of 16 outputs were not understood in whole.*dialogue MUL0, turn 0: '"):
        jga(with_text(text))
    assert jga(with_text("I'm sorry, I cannot tell."), accept="invalid_outputs") == JGA
    assert "not understood in whole" in notes(with_text(text), accept="invalid_outputs")["invalid_outputs"]
    assert jga(with_text("{}")) == JGA


def test_states_that_are_mostly_cut_off_are_counted_and_the_first_is_shown() -> None:
    rows = [
        {**row, "output": row["output"] if number % 3 == 0 else '{"hotel-area": "nor'}
        for number, row in enumerate(with_text("{}"))
    ]
    with pytest.raises(DialgaugeError, match=r"10 of 16 outputs were not understood.*MUL0, turn 1: '.\"hotel-area"):
        jga(rows)
    with pytest.raises(DialgaugeError, match=r"states that can be read.*here is '.\"hotel-area"):
        jga([{**row, "output": rows[1]["output"] if row["turn"] else "{}"} for row in rows])


def test_a_chat_log_without_states_shows_a_file_that_would_do(tmp_path: Path) -> None:
    reply = json.dumps({"hotel": {"area": "north"}})
    said = [({"role": "user", "content": "hi"}, {"role": "assistant", "content": text}) for text in (reply, "ok", "no")]
    messages = [message for pair in said for message in pair]
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(json.dumps({"id": name, "messages": messages}) + "\n" for name in GOLD))
    with pytest.raises(DialgaugeError, match="where the replies are states, write a line for each turn") as caught:
        dialgauge.score(GOLD, [path])
    assert caught.value.example.splitlines()[1] == '{"dialogue_id":"MUL0","turn":1,"state":{"hotel-area":"north"}}'


def test_slots_that_polars_did_not_foresee_are_told() -> None:
    rows = [
        {"dialogue": name, "turn": n, "prediction": s} for name, held in PREDICTED.items() for n, s in enumerate(held)
    ]
    frame = polars.DataFrame(rows, infer_schema_length=2)
    assert "infer_schema_length=None" in notes(frame)["slot_names"]
    assert "slot_names" not in notes(polars.DataFrame(rows, infer_schema_length=None))


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    file = nested(tmp_path, 1)
    arguments = ("score", tmp_path / "gold.json", file, "--no-intervals", "-m", "JGA")
    refused = command(capsys, *arguments)
    assert refused.code == 2 and "--turns shift=1" in refused.err and "--accept turn_numbers" in refused.err
    mended = command(capsys, *arguments, "--turns", "auto")
    assert mended.code == 0 and "75.00" in mended.out and "and were counted that way" in mended.out
    assert "gold: read as 4 dialogues, turns in order, 3 slots" in mended.err
    (tmp_path / "wrong.json").write_text(json.dumps(misnamed(train_departure="train-from")))
    arguments = ("score", tmp_path / "gold.json", str(tmp_path / "wrong.json"), "--no-intervals", "-m", "JGA")
    refused = command(capsys, *arguments)
    assert refused.err.endswith("  # rename.yaml, to be completed\n  slots:\n    train-from: train-departure\n")
    (tmp_path / "rename.yaml").write_text("slots:\n  train-from: train-departure\n")
    assert "75.00" in command(capsys, *arguments, "--rename", tmp_path / "rename.yaml").out
    assert command(capsys, *arguments, "--accept", "slot_names").code == 0
    assert "--accept" in command(capsys, *arguments, "--accept", "everything").err


def test_a_file_that_says_predicted_is_no_gold(tmp_path: Path) -> None:
    rows = [
        {"dialogue_id": name, "turn": n, "prediction": s}
        for name, held in PREDICTED.items()
        for n, s in enumerate(held)
    ]
    (tmp_path / "pred.json").write_text(json.dumps(rows))
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    with pytest.raises(DialgaugeError, match="it carries predictions, so it cannot be GOLD"):
        dialgauge.score(tmp_path / "pred.json", [tmp_path / "gold.json"])


@pytest.mark.parametrize("word", ["null", "N/A", "-", "<NA>", "unk", "?"])
def test_a_word_for_absent_that_the_profile_does_not_know_is_refused(word: str, tmp_path: Path) -> None:
    slots = ["hotel-area", "hotel-stars", "train-departure", "train-day", "train-people"]
    listed = {name: [{**dict.fromkeys(slots, word), **state} for state in states] for name, states in PREDICTED.items()}
    with pytest.raises(DialgaugeError, match=r"fills 60 of 80 predicted slots.*--accept absent_values") as caught:
        jga(listed, profile="verbatim")
    assert f"'{word}'" in str(caught.value)
    assert jga(listed, profile="verbatim", accept=["absent_values", "slot_names"]) == 0.0
    if word not in ("<NA>", "unk"):
        assert jga(listed, profile="llm") == JGA


def test_a_shift_of_nothing_says_so_and_one_back_says_what_to_do() -> None:
    assert notes(PREDICTED, turns="shift=0")["renumbered"].endswith("as they were read, so nothing changed")
    with pytest.raises(DialgaugeError, match="a file that lacks the first turns needs them"):
        jga(PREDICTED, turns="shift=-1")


def test_texts_without_separators_are_refused() -> None:
    texts = {
        name: [" ".join(f"{slot.replace('-', ' ')} {value}" for slot, value in state.items()) for state in states]
        for name, states in PREDICTED.items()
    }
    with pytest.raises(
        DialgaugeError, match=r"4 of 12 predicted values hold further slots or words, such as hotel-area = 'north"
    ):
        jga(texts)
    assert jga(texts, accept=["joined_slots"]) == 0.5
    separated = {
        name: ["; ".join(f"{slot}={value}" for slot, value in state.items()) for state in states]
        for name, states in PREDICTED.items()
    }
    assert jga(separated) == JGA


def test_words_for_absent_are_counted_together_and_by_slot() -> None:
    """Two words that each fill less than half; and one that fills one slot only."""
    both = {
        name: [{"hotel-name": "unknown", "hotel-type": "not specified", **state} for state in states]
        for name, states in PREDICTED.items()
    }
    with pytest.raises(DialgaugeError, match="'not specified', 'unknown' fill 32 of 52 predicted slots"):
        jga(both)
    alone = {name: [{"hotel-name": "unspecified", **state} for state in states] for name, states in PREDICTED.items()}
    with pytest.raises(DialgaugeError, match="'unspecified' fills 16 of 36 predicted slots"):
        jga(alone)
    assert jga(alone, profile="llm") == JGA


def test_turns_that_hold_changes_are_refused_and_the_column_mends_it() -> None:
    changes = [{}, {"hotel-area": "north"}, {"hotel-stars": "4"}, {"train-departure": "ely"}]
    rows: Any = [{"dialogue_id": name, "turn": n, "state": change} for name in GOLD for n, change in enumerate(changes)]
    many: Any = rows + [{**row, "dialogue_id": f"{row['dialogue_id']}b"} for row in rows]
    gold = {**GOLD, **{f"{name}b": states for name, states in GOLD.items()}}
    with pytest.raises(DialgaugeError, match=r"16 of 16 predicted slots are gone in the next turn; .* 'changes'"):
        dialgauge.score(gold, many, measures="JGA", intervals=False)
    renamed: Any = [{"dialogue_id": row["dialogue_id"], "turn": row["turn"], "changes": row["state"]} for row in many]
    assert dialgauge.score(gold, renamed, measures="JGA", intervals=False)["system"]["JGA"] == 1.0
    assert dialgauge.score(gold, many, measures="JGA", intervals=False, accept=["turn_changes"])["system"]["JGA"] == 0.5


def test_a_file_from_1_that_lacks_the_first_turns() -> None:
    rows: Any = [
        {"dialogue_id": name, "turn": n, "pred": state}
        for name, states in PREDICTED.items()
        for n, state in enumerate(states)
        if n
    ]
    with pytest.raises(DialgaugeError, match=r"4 of 4 dialogues fit gold if .* left out; .* --turns shift=0 "):
        jga(rows)
    assert jga(rows, turns="shift=0") == jga(rows, turns="auto") == 2 / 3
    shifted = [{**row, "turn": row["turn"] + 1} for row in rows if row["turn"] < 3]
    whole = [{"dialogue_id": name, "turn": 1, "pred": {}} for name in PREDICTED] + shifted
    assert jga(whole) == jga(whole, turns="shift=1")


def test_slots_with_their_domain_as_multiwoz_22_has_them(tmp_path: Path) -> None:
    """The service before the slot, too, in SGD's shape, where predictions are called the state."""
    file = tmp_path / "mwz22.json"

    def frames(state: dict[str, str]) -> list[dict[str, Any]]:
        return [
            {
                "service": service,
                "state": {"slot_values": {name: [value] for name, value in state.items() if name.startswith(service)}},
            }
            for service in ("hotel", "train")
        ]

    def dialogue(states: list[dict[str, str]], slot: str) -> list[dict[str, Any]]:
        named = [{name.replace("hotel-area", slot): value for name, value in state.items()} for state in states]
        return [{"speaker": "USER", "utterance": "", "frames": frames(state)} for state in named]

    for slot, rename in (("hotel-area", None), ("hotel-region", {"slots": {"hotel-region": "hotel-area"}})):
        content = [{"dialogue_id": name, "turns": dialogue(states, slot)} for name, states in PREDICTED.items()]
        text = json.dumps(content)
        file.write_text(text if rename is None else text.replace('"hotel-', '"').replace('"train-', '"'))
        assert dialgauge.score(GOLD, str(file), measures="JGA", intervals=False, rename=rename)["mwz22"]["JGA"] == JGA


def test_several_values_of_a_slot_are_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    rows = [
        {"dialogue_id": name, "turn": n, "pred": {slot: [value, "zzz"] for slot, value in state.items()}}
        for name, states in PREDICTED.items()
        for n, state in enumerate(states)
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    run = dialgauge.score(GOLD, str(file), measures="JGA", intervals=False)["mine"]
    assert any("20 of 20 predicted slots have several values" in str(note) for note in run.notes)


# -- file by file ----------------------------------------------------------------------------------------------------

#: Enough dialogues for two files and every guard.
MANY = {f"MUL{n}": states for n, states in enumerate(list(GOLD.values()) * 3)}
CHANGES = [{}, {"hotel-area": "north"}, {"hotel-stars": "4"}, {"train-departure": "ely"}]


def rows_of(states: dict[str, list[Any]], first: int = 0, step: int = 1) -> list[dict[str, Any]]:
    return [
        {"dialogue_id": name, "turn": first + step * n, "state": state}
        for name, every in states.items()
        for n, state in enumerate(every)
    ]


def changed(change: Callable[[str, str], tuple[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {name: [dict(change(*pair) for pair in one.items()) for one in states] for name, states in MANY.items()}


def test_states_of_the_turn_before_are_refused() -> None:
    late = {name: [{}, *states[:-1]] for name, states in MANY.items()}
    how: dict[str, Any] = {"measures": "JGA", "intervals": False}
    with pytest.raises(
        DialgaugeError, match="of 24 turns in which a gold state changes, 24 have that of the turn before"
    ):
        dialgauge.score(MANY, late, **how)
    assert float(dialgauge.score(MANY, late, accept="turn_numbers", **how)["system"]["JGA"]) == 0.25
    stuck = {name: [states[1]] * 4 for name, states in MANY.items()}
    assert float(dialgauge.score(MANY, stuck, **how)["system"]["JGA"]) == 0.25


def test_what_fits_some_dialogues_only_is_told() -> None:
    how: dict[str, Any] = {"measures": "JGA", "intervals": False}

    def told(predicted: dict[str, list[dict[str, str]]], gold: Any = MANY) -> str:
        return " ".join(map(str, dialgauge.score(gold, predicted, **how)["system"].notes))

    names = list(MANY)
    late = {name: [{}, *states[:-1]] if name in names[:4] else states for name, states in MANY.items()}
    assert "of 24 turns in which a gold state changes, 8 have that of the turn before; check how" in told(late)
    early = {name: [*states[1:], states[-1]] if name in names[:4] else states for name, states in MANY.items()}
    assert "of 24 turns in which a gold state changes, 8 have that of the turn after; check how" in told(early)
    blank: dict[str, list[dict[str, str]]] = {
        name: [{}] * 4 if name in names[:2] else states for name, states in MANY.items()
    }
    assert "2 of 12 dialogues in which gold fills slots have only empty states" in told(blank)
    gold = {f"{name}{n}": states for n in range(9) for name, states in MANY.items()}
    lacking = {
        name: [{s: v for s, v in one.items() if "stars" not in s} for one in held] for name, held in gold.items()
    }
    assert "the predictions never fill hotel-stars, which gold does" in told(lacking, gold)
    assert "never fill" not in told(MANY) and "check how" not in told(MANY) and "only empty" not in told(MANY)


@pytest.mark.parametrize("write", [str, str.upper])
def test_states_of_a_later_turn_are_refused(write: Callable[[str], str]) -> None:
    how: dict[str, Any] = {"measures": "JGA", "intervals": False}
    written = {
        name: [{write(slot): write(value) for slot, value in state.items()} for state in states]
        for name, states in MANY.items()
    }
    early = {name: [*states[1:], states[-1]] for name, states in written.items()}
    short = {name: states[1:] for name, states in written.items()}
    for moved in (early, short):
        with pytest.raises(DialgaugeError, match=r"those of the turn after: .* put the state of the first turn in fr"):
            dialgauge.score(MANY, moved, **how)
    mended = {name: [{}, *states] for name, states in short.items()}
    assert float(dialgauge.score(MANY, mended, **how)["system"]["JGA"]) == 1.0
    last = {name: [states[-1]] * 4 for name, states in written.items()}
    with pytest.raises(DialgaugeError, match=r"those after the last turn, in all turns: of 24 .* 24 have"):
        dialgauge.score(MANY, last, **how)
    assert float(dialgauge.score(MANY, last, accept="turn_numbers", **how)["system"]["JGA"]) == 0.25


MISTAKES: dict[str, list[dict[str, Any]]] = {
    "turn_numbers": [row for row in rows_of(MANY) if row["turn"]],
    "turn_changes": rows_of(dict.fromkeys(MANY, CHANGES)),
    "slot_names": rows_of(changed(lambda slot, value: (slot.replace("stars", "starz"), value))),
    "dialogue_ids": rows_of({f"talk{name}": states for name, states in MANY.items()} | {"MUL0": MANY["MUL0"]}),
    "invalid_outputs": [{"dialogue": name, "turn": n, "output": "Sorry!"} for name in MANY for n in range(4)],
    "absent_values": rows_of({name: [dict.fromkeys(STATE, "unk")] * 4 for name in MANY}),
    "joined_slots": rows_of(changed(lambda slot, value: (slot, f"{value} hotel stars 4"))),
    "several_values": rows_of(changed(lambda slot, value: (slot, [value, "zzz"]))),
    "renamed": rows_of(changed(lambda slot, value: (slot, value))),
    "own_gold": [{**row, "pred": row["state"], "gold": {"hotel-area": "north"}} for row in rows_of(MANY)],
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_files_scored_one_by_one_are_guarded_as_one_file_is(kind: str, tmp_path: Path) -> None:
    """The same sentence, file by file and whole, as error and, accepted, as note with the same score."""
    gold, folder, whole = tmp_path / "gold.json", tmp_path / "mine", tmp_path / "whole" / "mine.jsonl"
    gold.write_text(json.dumps(MANY))
    folder.mkdir()
    whole.parent.mkdir()
    rows = MISTAKES[kind]
    cut = next(n for n, row in enumerate(rows) if next(iter(row.values())).endswith("MUL6"))
    texts = ["\n".join(map(json.dumps, some)) for some in (rows, rows[:cut], rows[cut:])]
    for path, text in zip((whole, folder / "1.jsonl", folder / "2.jsonl"), texts, strict=True):
        path.write_text(text)

    def outcome(path: Path, workers: WorkPlace | None, **how: Any) -> tuple[str, float, dict[str, str]]:
        how |= {"measures": "JGA", "intervals": False, "workers": workers, "store": Store(tmp_path / "store")}
        try:
            run = dialgauge.score(str(gold), {"mine": str(path)}, **how)["mine"]
        except DialgaugeError as error:
            return str(error), 0.0, {}
        return "", float(run["JGA"]), {note_kind(note): str(note) for note in run.notes}

    here = WorkPlace("local")
    error, _, told = outcome(whole, None)
    for path in (whole, folder):
        assert outcome(path, here)[0] == error, path
    assert bool(error) == (kind in GUARDS)
    if error:
        assert f"--accept {kind}" in error
        _, jga, told = outcome(whole, None, accept=kind)
        assert kind in told
    for path in (whole, folder):
        _, value, notes = outcome(path, here, accept=kind if error else ())
        assert ({**notes, "understood": ""}, value) == ({**told, "understood": ""}, jga if error else value)


def test_names_are_renamed_file_by_file_too(tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_text(json.dumps(MANY))
    folder = tmp_path / "mine"
    folder.mkdir()
    rows = MISTAKES["slot_names"]
    for number, some in enumerate((rows[:20], rows[20:])):
        (folder / f"{number}.jsonl").write_text("\n".join(map(json.dumps, some)))
    run = dialgauge.score(
        tmp_path / "gold.json", {"mine": str(folder)}, measures="JGA", intervals=False, store=Store(tmp_path / "store"),
        rename={"slots": {"hotel-starz": "hotel-stars", "hotel-area2": "hotel-area"}}, workers=WorkPlace("local"),
    )["mine"]  # fmt: skip
    assert float(run["JGA"]) == 1.0
    told = [str(note) for note in run.notes if note_kind(note) == "renamed"]
    assert told == [
        "renamed as asked: hotel-starz to hotel-stars (24 times)",
        "no such name in the predictions, so not renamed: hotel-area2",
    ]


def _frames(states: dict[str, list[dict[str, str]]], path: Path, *, prefixed: bool) -> Path:
    """Dialogues as SGD and MultiWOZ 2.2 write them; only the latter has the domain before each slot."""
    dialogues = []
    for name, turns in states.items():
        made = []
        for n, state in enumerate(turns):
            frames = []
            for domain, slots in _nested(state).items():
                values = {f"{domain}-{slot}" if prefixed else slot: [value] for slot, value in slots.items()}
                frames.append({"service": domain, "state": {"slot_values": values}})
            made.append({"turn_id": str(2 * n), "speaker": "USER", "utterance": "hi", "frames": frames})
            made.append({"turn_id": str(2 * n + 1), "speaker": "SYSTEM", "utterance": "yes", "frames": []})
        services = ["hotel", "train"]
        dialogues.append({"dialogue_id": name, "services": services, "turns": made})
    path.write_text(json.dumps(dialogues))
    return path


@pytest.mark.parametrize("profile", ["canon", "verbatim", "multiwoz22"])
def test_slots_meet_whether_or_not_a_side_has_the_domain_before_them(profile: str, tmp_path: Path) -> None:
    gold = {prefixed: _frames(GOLD, tmp_path / f"gold{prefixed}.json", prefixed=prefixed) for prefixed in (True, False)}
    ours = {
        prefixed: _frames(PREDICTED, tmp_path / f"p{prefixed}.json", prefixed=prefixed) for prefixed in (True, False)
    }
    flat = tmp_path / "flat.json"
    flat.write_text(json.dumps(PREDICTED))
    how: Any = {"measures": "JGA", "intervals": False, "profile": profile}
    for prefixed, file in gold.items():
        run = dialgauge.score(file, [ours[True], ours[False], flat], **how)
        told = {name: "renamed" in map(note_kind, run[name].notes) for name in ("pTrue", "pFalse", "flat")}
        assert [float(one["JGA"]) for one in run.runs] == [JGA] * 3
        assert told == {"pTrue": not prefixed, "pFalse": prefixed, "flat": prefixed}
    by_file: Any = {"workers": WorkPlace("local"), "store": Store(tmp_path / "store"), "measures": "JGA"}
    filed = dialgauge.score(gold[True], [flat], profile=profile, **by_file)["flat"]
    assert float(filed["JGA"]) == JGA
    assert "renamed" in map(note_kind, filed.notes)


def test_times_of_a_table_meet_gold_with_the_domain_before_each_slot(tmp_path: Path) -> None:
    gold = {name: [{"train-arriveby": "17:30", "hotel-bookday": "friday"}] * 4 for name in GOLD}
    table = tmp_path / "times.csv"
    rows = [f"{name},{turn},17:30:00,Friday" for name in GOLD for turn in range(4)]
    table.write_text("\n".join(["dialogue_id,turn,train-arriveby,hotel-bookday", *rows]))
    for prefixed in (True, False):
        file = _frames(gold, tmp_path / f"gold{prefixed}.json", prefixed=prefixed)
        assert float(dialgauge.score(file, [table], measures="JGA", intervals=False)["times"]["JGA"]) == 1.0


def test_true_and_false_for_yes_and_no_are_refused(tmp_path: Path) -> None:
    words = {True: "yes", False: "no"}
    gold = {
        name: [{**state, "hotel-parking": words[n % 2 == 0]} for state in GOLD["MUL0"]] for n, name in enumerate(GOLD)
    }
    typed: Any = {
        name: [{**state, "hotel-parking": state["hotel-parking"] == "yes"} for state in states]
        for name, states in gold.items()
    }
    how: Any = {"measures": "JGA", "intervals": False}
    sentence = r"true and false fill 16 of 40 predicted slots \(hotel-parking\).*-p llm.*--accept boolean_values"
    for profile in ("canon", "verbatim"):
        with pytest.raises(DialgaugeError, match=sentence):
            dialgauge.score(gold, typed, profile=profile, **how)
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "typed.json").write_text(json.dumps(typed))
    by_file: Any = {"workers": WorkPlace("local"), "store": Store(tmp_path / "store"), **how}
    with pytest.raises(DialgaugeError, match=sentence):
        dialgauge.score(tmp_path / "gold.json", [tmp_path / "typed.json"], **by_file)
    assert float(dialgauge.score(gold, typed, accept="boolean_values", **how)["system"]["JGA"]) == 0.0
    for profile in ("llm", "trippy"):
        assert float(dialgauge.score(gold, typed, profile=profile, **how)["system"]["JGA"]) == 1.0
    assert float(dialgauge.score(typed, typed, **how)["system"]["JGA"]) == 1.0


def test_a_single_true_is_told_and_scored() -> None:
    gold = {name: [{**state, "hotel-parking": "yes"} for state in states] for name, states in GOLD.items()}
    once = {**gold, "MUL0": [*gold["MUL0"][:-1], {**gold["MUL0"][-1], "hotel-parking": "True"}]}
    run = dialgauge.score(gold, once, measures="JGA", intervals=False)["system"]
    assert float(run["JGA"]) == 15 / 16
    assert "boolean_values" in map(note_kind, run.notes)


def test_an_older_state_behind_the_answer_is_no_late_turn() -> None:
    rows: Any = [
        {"dialogue": name, "turn": n, "output": f"{json.dumps(state)}\n\nExplanation: it was {json.dumps(before)}."}
        for name, states in MANY.items()
        for n, (before, state) in enumerate(zip([{}, *states], states, strict=False))
    ]
    with pytest.raises(DialgaugeError, match=r"outputs were not understood in whole.*--accept invalid_outputs"):
        dialgauge.score(MANY, rows, measures="JGA", intervals=False)


def test_predictions_without_any_slot_are_told_and_refused_where_states_had_to_be_found(tmp_path: Path) -> None:
    nothing: dict[str, Any] = {name: [{} for _ in turns] for name, turns in GOLD.items()}
    run = dialgauge.score(GOLD, nothing, measures="JGA", intervals=False)[0]
    [note] = [str(note) for note in run.notes if note_kind(note) == "invalid_outputs"]
    assert note.startswith("the predictions fill no slot at all, where gold fills ")
    rows = [
        {"dial": name, "turn_no": turn, "prediction": {}}
        for name, turns in nothing.items()
        for turn in range(len(turns))
    ]
    found = tmp_path / "found.jsonl"
    found.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DialgaugeError, match=r"fill no slot at all, where gold fills \d+.*--accept invalid_outputs"):
        dialgauge.score(GOLD, found, intervals=False)


def test_states_of_the_active_domain_only_are_refused() -> None:
    hotel, train = {"hotel-area": "north"}, {"train-day": "friday"}
    gold = {f"MUL{n}": [hotel, hotel, {**hotel, **train}, {**hotel, **train}] for n in range(8)}
    active = {name: [hotel, hotel, train, train] for name in gold}
    with pytest.raises(
        DialgaugeError, match=r"only the domain that is spoken of.* of 16 turns with several in gold 16"
    ):
        dialgauge.score(gold, active, intervals=False)
    one = {name: [hotel] * 4 for name in gold}  # a tracker of one domain
    assert float(dialgauge.score(gold, one, measures="JGA", intervals=False)[0]["JGA"]) == 0.5


def test_domains_that_vanish_when_another_is_spoken_of_are_refused() -> None:
    """Some turns speak of two domains, so that many have several."""
    hotel, train, taxi = {"hotel-area": "north"}, {"train-day": "friday"}, {"taxi-departure": "ely"}
    last = {**hotel, **train, **taxi}
    gold = {f"MUL{n}": [hotel, {**hotel, **train}, last, last] for n in range(8)}
    active = {name: [hotel, train, {**train, **taxi} if name < "MUL4" else taxi, taxi] for name in gold}
    with pytest.raises(DialgaugeError, match=r"of 16 turns that fill a new domain 12 lose.*--accept turn_changes"):
        dialgauge.score(gold, active, measures="JGA", intervals=False)
    forgetful = {name: [*states[:2], states[2] if name < "MUL6" else taxi, states[3]] for name, states in gold.items()}
    assert dialgauge.score(gold, forgetful, measures="JGA", intervals=False)["system"]["JGA"] == 30 / 32
    assert dialgauge.score(active, active, measures="JGA", intervals=False)["system"]["JGA"] == 1.0


def test_values_that_gold_never_has_are_told_or_refused() -> None:
    slots = {"train-leaveat": "09:15", "hotel-stars": "4", "hotel-area": "dontcare", "hotel-name": "lensfield hotel"}
    gold = {f"MUL{n}": [slots] * 5 for n in range(12)}

    def written(slot: str, value: str, dialogues: int) -> Any:
        return {name: [{**slots, slot: value} if n < dialogues else slots] * 5 for n, name in enumerate(gold)}

    how: Any = {"measures": "JGA", "intervals": False}
    sentence = r"gold never has 60 of 240 predicted values: train-leave '{}'; gold has '09:15' in train-leave; write"
    for word, llm in (("9:15 am", True), ("09h15", False)):
        advice = r".*-p llm.*" if llm else " values as gold does; "
        with pytest.raises(DialgaugeError, match=sentence.format(word) + advice + "--accept value_spellings"):
            dialgauge.score(gold, written("train-leaveat", word, 12), **how)
    late = dialgauge.score(gold, written("train-leaveat", "9:15 am", 12), profile="llm", **how)
    assert float(late[0]["JGA"]) == 1.0
    for slot, value, dialogues, told in (
        ("hotel-area", "any", 2, ["gold never has 10 of 240 predicted values: hotel-area 'any'"]),
        ("hotel-area", "any", 1, []),
        ("hotel-area", "elsewhere", 5, []),
        ("hotel-name", "the lensfield hotel", 5, []),
    ):
        run = dialgauge.score(gold, written(slot, value, dialogues), **how)[0]
        notes = [str(note) for note in run.notes if note_kind(note) == "value_spellings"]
        assert [note.partition(";")[0] for note in notes] == told


def test_turns_of_which_some_hold_changes_are_told() -> None:
    whole = [{f"hotel-slot{n}": "x" for n in range(turn)} for turn in range(1, 8)]
    gold = {f"MUL{n}": whole for n in range(8)}
    changes = [{f"hotel-slot{turn}": "x"} for turn in range(7)]
    how: Any = {"measures": "JGA", "intervals": False, "profile": "verbatim"}
    mixed = {name: changes if n % 2 else whole for n, name in enumerate(gold)}
    run = dialgauge.score(gold, mixed, **how)[0]
    [told] = [str(note) for note in run.notes if note_kind(note) == "turn_changes"]
    assert told.startswith("24 of 108 predicted slots are gone in the next turn, which gold keeps")


def with_gold(
    of_gold: dict[str, list[dict[str, str]]], predicted: dict[str, list[dict[str, str]]]
) -> list[dict[str, Any]]:
    return [
        {"dialogue_id": name, "turn": turn, "gold": state, "pred": predicted[name][turn]}
        for name, states in of_gold.items()
        for turn, state in enumerate(states)
    ]


def test_gold_and_predictions_that_are_swapped_in_their_file_are_refused() -> None:
    assert jga(with_gold(GOLD, PREDICTED)) == JGA
    with pytest.raises(
        DialgaugeError, match=r"gold differs from GOLD in 4 of 16 turns.*seem swapped; --accept own_gold"
    ):
        jga(with_gold(PREDICTED, GOLD))
    assert jga(with_gold(PREDICTED, GOLD), accept="own_gold") == 1


def test_another_version_of_gold_in_a_file_is_told() -> None:
    other = {name: [*states[:3], {**states[3], "hotel-area": "west"}] for name, states in GOLD.items()}
    assert "differs from GOLD in 4 of 16 turns; GOLD is what counts" in notes(with_gold(other, PREDICTED))["own_gold"]


def test_two_names_of_one_slot_in_a_turn_are_told() -> None:
    def with_days(first: str, other: str) -> dict[str, list[dict[str, str]]]:
        days = {"hotel-day": first, "hotel-book day": other}
        return {name: [{**state, **days} for state in states] for name, states in GOLD.items()}

    how = {"profile": "canon", "accept": ("slot_names", "absent_values")}
    told = notes(with_days("monday", "friday"), **how)["several_values"]
    assert told.startswith("16 slots of the predictions have two names in one turn, with different values (hotel-book")
    assert "several_values" not in notes(with_days("monday", "monday"), **how)


def test_two_slots_are_not_renamed_to_one() -> None:
    both = {name: [{"a-b": "north", "a-c": "south"} for _ in states] for name, states in GOLD.items()}
    with pytest.raises(DialgaugeError, match=r"MUL0.*hotel-area of two slots with different values in one turn, a-c"):
        jga(both, rename={"slots": {"a-b": "hotel-area", "a-c": "hotel-area"}})


def test_names_to_complete_are_guessed_by_likeness_or_values_and_each_once() -> None:
    renamed = {name: [{"hotel-where": "north", "hotel-star_count": "4"}] * 4 for name in GOLD}
    with pytest.raises(DialgaugeError) as refused:
        jga(renamed)
    assert "hotel-where: hotel-area" in refused.value.example
    assert '"hotel-star_count": hotel-stars' in refused.value.example


def test_a_name_that_is_like_that_of_a_slot_with_other_values_is_no_other_name_of_it() -> None:
    places, times = ("ely", "cambridge", "norwich"), ("09:15", "17:30", "11:00")
    gold = {f"D{n}": [{"train-departure": places[n % 3], "train-leave": times[n % 3]}] for n in range(30)}
    predicted = {f"D{n}": [{"train-from": places[n % 3], "train-departure_time": times[n % 3]}] for n in range(30)}
    with pytest.raises(DialgaugeError) as refused:
        dialgauge.score(gold, predicted, measures="JGA", intervals=False)
    assert refused.value.example.splitlines()[2:] == [
        '  "train-departure_time": train-leave',
        "  train-from: train-departure",
    ]


@pytest.mark.parametrize(("word", "told"), [("*", True), ("[DONTCARE]", True), ("do n't care", False)])
def test_a_word_of_many_slots_that_may_mean_dontcare_is_told(word: str, told: bool) -> None:
    slots = ("hotel-area", "hotel-stars", "train-day", "restaurant-food")
    gold = {f"D{n}": [dict.fromkeys(slots, "dontcare" if n % 9 == 0 else "abc"[n % 3])] for n in range(90)}
    predicted = {
        name: [{slot: word if value == "dontcare" else value for slot, value in state.items()} for state in states]
        for name, states in gold.items()
    }
    rows: Any = [{"id": name, "turn": 0, "state": states[0]} for name, states in predicted.items()]
    run = dialgauge.score(gold, rows, measures="JGA", intervals=False, profile="canon")["system"]
    sentence = f"are '{word}', which gold never has, and no prediction is dontcare"
    assert any(sentence in str(note) for note in run.notes) == told


def test_names_that_a_small_gold_lacks_are_told_and_scored() -> None:
    gold = {f"D{n}": [{"hotel-name": f"hotel {n}"}] for n in range(30)}
    predicted = {f"D{n}": [{"hotel-name": f"inn {n}"}] for n in range(30)}
    run = dialgauge.score(gold, predicted, measures="JGA", intervals=False)["system"]
    assert float(run["JGA"]) == 0
    assert "where they are spelled otherwise, write" in next(
        str(note) for note in run.notes if note_kind(note) == "value_spellings"
    )


TOWN = {
    f"D{n}": [
        {"hotel-area": "north", "hotel-stars": "4"},
        {"hotel-area": "north", "hotel-stars": "4", "train-day": "monday", "train-departure": "ely"},
    ]
    for n in range(30)
}


def without(states: dict[str, list[dict[str, str]]], *slots: str) -> dict[str, list[dict[str, str]]]:
    return {
        name: [{slot: value for slot, value in state.items() if slot not in slots} for state in several]
        for name, several in states.items()
    }


def with_domain(old: str, new: str, dialogues: int) -> dict[str, list[dict[str, str]]]:
    """The gold states, with another name of a domain in the last dialogues."""
    return {
        name: [{slot.replace(old, new): value for slot, value in state.items()} for state in several]
        if number >= 30 - dialogues
        else several
        for number, (name, several) in enumerate(TOWN.items())
    }


LOST = "the predictions never fill train-day, which gold does: 30 of 180 gold values"
INN = "rename.yaml, to be completed\ndomains:\n  inn: hotel"


@pytest.mark.parametrize(
    ("predicted", "sentence", "stops", "example"),
    [
        (without(TOWN, "train-day"), LOST, "", ""),
        (
            {"D0": [*TOWN["D0"][:1], {**TOWN["D0"][0], "train-days": "monday"}]}
            | {name: without(TOWN, "train-day")[name] for name in list(TOWN)[1:]},
            "the predictions never fill train-day (predicted: train-days?), which gold does: 30 of 180 gold values",
            "",
            "",
        ),
        (without(TOWN, "train-day", "train-departure", "hotel-stars"), "120 of 180 gold values", "slot_names", ""),
        (with_domain("hotel", "inn", 30), "gold never fills inn-area (gold: hotel-area?)", "slot_names", INN),
        (with_domain("hotel", "inn", 8), "inn-area, inn-stars: 32 of 180 predicted values", "slot_names", INN),
        ({f"X{name}": states for name, states in TOWN.items()}, "gold has ids like 'D0', the predictions like 'XD0'",
         "any", "dialogues:\n  'XD0': 'D0'"),
    ],
    ids=["lost slot", "its nearest", "most lost", "other domain", "other domain in some", "other ids"],
)  # fmt: skip
def test_the_same_is_said_by_the_command_line_by_python_and_in_shards(
    predicted: dict[str, list[dict[str, str]]],
    sentence: str,
    stops: str,
    example: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    gold, shards, file = tmp_path / "gold.json", tmp_path / "mine", tmp_path / "mine.json"
    shards.mkdir()
    gold.write_text(json.dumps(TOWN))
    file.write_text(json.dumps(predicted))
    names = list(predicted)
    for number in range(2):
        some = {name: predicted[name] for name in names[15 * number : 15 * number + 15]}
        (shards / f"{number}.json").write_text(json.dumps(some))
    by_file: dict[str, Any] = {"workers": WorkPlace("local"), "store": Store(tmp_path / "store")}

    def said(predictions: Any, **how: Any) -> tuple[list[str], str]:
        try:
            run = dialgauge.score(gold, predictions, measures="JGA", intervals=False, **how).runs[0]
        except DialgaugeError as error:
            return [error.message], error.example
        return [str(note) for note in run.notes if note_kind(note) == "slot_names"], ""

    arguments = ("score", gold, file, "--no-intervals", "-m", "JGA")
    checked = command(capsys, "data", "check", file, "--gold", gold)
    (told,), shown = said({"mine": predicted})
    assert sentence in told and example in shown
    assert said([file]) == said([shards], **by_file) == ([told], shown)
    printed = command(capsys, *arguments)
    assert told in (printed.err if stops else printed.out) and printed.code == (2 if stops else 0)
    assert checked.code == (1 if stops else 0) and ("problem" if stops else "remark") in checked.out
    if stops == "slot_names":
        assert command(capsys, *arguments, "--accept", stops).code == 0
        assert said([shards], accept=[stops], **by_file) == said([file], accept=[stops])


def test_a_wide_table_may_have_lost_a_column() -> None:
    rows: Any = [{"dialogue": name, "turn": n, **s} for name, held in TOWN.items() for n, s in enumerate(held)]
    how: dict[str, Any] = {"measures": "JGA", "intervals": False}
    cut: Any = without({"": rows}, "train-day")[""]
    for frame in (polars.DataFrame(rows, infer_schema_length=1, strict=False), cut):
        run = dialgauge.score(TOWN, frame, **how, accept="slot_names")["system"]
        told = next(str(note) for note in run.notes if note_kind(note) == "slot_names")
        assert "train-day" in told and "the table may have lost their columns: polars" in told
    assert not any("never fill" in str(note) for note in dialgauge.score(TOWN, rows, **how)["system"].notes)
    empty = polars.DataFrame(rows).with_columns(polars.lit(None).alias("train-day"))
    states = [{slot: None if slot == "train-day" else row.get(slot) for slot in TOWN["D0"][1]} for row in rows]
    nested: Any = polars.DataFrame([{"dialogue": r["dialogue"], "turn": r["turn"], "state": s} for r, s in
                                    zip(rows, states, strict=True)], infer_schema_length=None)  # fmt: skip
    none: Any = [{**row, "train-day": "none"} for row in rows]
    for given in (empty, nested, none):
        run = dialgauge.score(TOWN, given, **how, accept="slot_names")["system"]
        told = next(str(note) for note in run.notes if "never fill" in str(note))
        assert "; the table has train-day, always empty" in told and "may have lost" not in told
    rare: Any = {**TOWN, **{f"R{n}": [{**TOWN["D0"][0], "taxi-leave": "09:15"}] for n in range(9)}}
    assert not any("never" in str(note) for note in dialgauge.score(rare, without(rare, "taxi-leave"), **how).notes)


def test_a_slot_that_is_filled_once_where_gold_often_does_is_told() -> None:
    gold: Any = {f"{name}-{n}": states for n in range(7) for name, states in TOWN.items()}
    once: Any = {**without(gold, "train-day"), "D0-0": gold["D0-0"]}
    notes = [str(note) for note in dialgauge.score(gold, once, measures="JGA", intervals=False)["system"].notes]
    assert any("the predictions fill train-day once, gold 210 times" in note for note in notes)
