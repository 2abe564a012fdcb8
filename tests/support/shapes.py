"""One set of predictions, written down in many ways that people invented: each must be read as the same states."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

#: Dialogue to the states of its user turns, each ``{domain: {slot: value}}``.
Predictions: TypeAlias = dict[str, list[dict[str, dict[str, str]]]]

SHAPES: dict[str, Callable[[Predictions], bytes]] = {}


def shape(write: Callable[[Predictions], Any]) -> Callable[[Predictions], Any]:
    """Keep a way of writing; what it gives that is not bytes is written as JSON."""

    def written(predictions: Predictions) -> bytes:
        content = write(predictions)
        return content if isinstance(content, bytes) else json.dumps(content).encode()

    SHAPES[write.__name__.strip("_")] = written
    return write


def turns(predictions: Predictions) -> Iterator[tuple[str, int, dict[str, dict[str, str]]]]:
    for dialogue, states in predictions.items():
        for number, state in enumerate(states):
            yield dialogue, number, state


def flat(state: dict[str, dict[str, str]], sign: str = "-") -> dict[str, str]:
    return {f"{domain}{sign}{slot}": value for domain, slots in state.items() for slot, value in slots.items()}


def lines(records: Any) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def table(rows: Any, header: list[str], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def slots_of(predictions: Predictions) -> list[str]:
    return sorted({name for _, _, state in turns(predictions) for name in flat(state)})


# -- JSON by dialogue ------------------------------------------------------------------------------------------------


@shape
def list_of_nested(p: Predictions) -> Any:
    return p


@shape
def list_of_flat(p: Predictions) -> Any:
    return {name: [flat(state) for state in states] for name, states in p.items()}


@shape
def turn_numbers_flat_dots(p: Predictions) -> Any:
    return {name: {str(n): flat(state, ".") for n, state in enumerate(states)} for name, states in p.items()}


@shape
def turn_underscore_number(p: Predictions) -> Any:
    return {name: {f"turn_{n}": state for n, state in enumerate(states)} for name, states in p.items()}


@shape
def turn_hyphen_number_from_one(p: Predictions) -> Any:
    return {name: {f"turn-{n}": flat(state, "_") for n, state in enumerate(states, 1)} for name, states in p.items()}


@shape
def t_number(p: Predictions) -> Any:
    return {name: {f"t{n}": flat(state, " ") for n, state in enumerate(states)} for name, states in p.items()}


@shape
def word_turn_and_space(p: Predictions) -> Any:
    return {name: {f"Turn {n}": state for n, state in enumerate(states, 1)} for name, states in p.items()}


@shape
def numbered_by_two(p: Predictions) -> Any:
    return {name: {str(2 * n): state for n, state in enumerate(states)} for name, states in p.items()}


@shape
def numbered_by_two_from_one(p: Predictions) -> Any:
    return {name: {str(2 * n + 1): flat(state) for n, state in enumerate(states)} for name, states in p.items()}


@shape
def under_a_key(p: Predictions) -> Any:
    return {"model": "mine", "predictions": {name: [flat(state) for state in states] for name, states in p.items()}}


@shape
def under_data_and_a_split(p: Predictions) -> Any:
    return {"data": {"test": p}}


@shape
def dialogues_of_records(p: Predictions) -> Any:
    records = [
        {"dialogue_id": name, "turns": [{"turn_id": n, "belief_state": state} for n, state in enumerate(states)]}
        for name, states in p.items()
    ]
    return {"dialogues": records}


@shape
def turn_records_by_dialogue(p: Predictions) -> Any:
    return {name: [{"turn": n, "pred": flat(state)} for n, state in enumerate(states)] for name, states in p.items()}


@shape
def dialogue_objects_with_states(p: Predictions) -> Any:
    return {name: {"domains": ["hotel"], "states": states} for name, states in p.items()}


@shape
def a_key_for_each_turn(p: Predictions) -> Any:
    return {f"{name}_{n}": flat(state) for name, n, state in turns(p)}


@shape
def a_key_for_each_turn_with_lists(p: Predictions) -> Any:
    return {f"{name}-turn{n}": [f"{key}-{value}" for key, value in flat(state).items()] for name, n, state in turns(p)}


@shape
def lists_of_trade(p: Predictions) -> Any:
    return {
        name: {str(n): [f"{key}-{value}" for key, value in flat(state).items()] for n, state in enumerate(states)}
        for name, states in p.items()
    }


@shape
def lists_of_pairs(p: Predictions) -> Any:
    return {
        name: [[[key, value] for key, value in flat(state).items()] for state in states] for name, states in p.items()
    }


@shape
def lists_of_triples(p: Predictions) -> Any:
    return {
        name: [[[d, s, v] for d, slots in state.items() for s, v in slots.items()] for state in states]
        for name, states in p.items()
    }


@shape
def lists_of_slot_objects(p: Predictions) -> Any:
    return {
        name: {
            f"turn{n}": [{"domain": d, "slot": s, "value": v} for d, slots in state.items() for s, v in slots.items()]
            for n, state in enumerate(states)
        }
        for name, states in p.items()
    }


@shape
def texts_with_equals(p: Predictions) -> Any:
    return {
        name: ["; ".join(f"{k}={v}" for k, v in flat(state).items()) for state in states] for name, states in p.items()
    }


@shape
def texts_with_colons(p: Predictions) -> Any:
    return {
        name: [", ".join(f"{k}: {v}" for k, v in flat(state).items()) for state in states] for name, states in p.items()
    }


@shape
def texts_in_words(p: Predictions) -> Any:
    return {
        name: [", ".join(f"{k} {v}" for k, v in flat(state, " ").items()) for state in states]
        for name, states in p.items()
    }


@shape
def texts_in_groups(p: Predictions) -> Any:
    def group(state: dict[str, dict[str, str]]) -> str:
        return "; ".join(f"{d}: " + ", ".join(f"{s}={v}" for s, v in slots.items()) for d, slots in state.items())

    return {name: [group(state) for state in states] for name, states in p.items()}


@shape
def metadata_of_multiwoz(p: Predictions) -> Any:
    def metadata(slots: dict[str, str]) -> dict[str, Any]:
        book = {s.removeprefix("book "): v for s, v in slots.items() if s.startswith("book ")}
        return {"semi": {s: v for s, v in slots.items() if not s.startswith("book ")}, "book": {**book, "booked": []}}

    return {
        name: [{d: metadata(slots) for d, slots in state.items()} for state in states] for name, states in p.items()
    }


# -- lists of records ------------------------------------------------------------------------------------------------


@shape
def records(p: Predictions) -> Any:
    return [{"dialogue_id": name, "turn_idx": n, "prediction": state} for name, n, state in turns(p)]


@shape
def records_with_gaps_as_none(p: Predictions) -> Any:
    names = slots_of(p)
    return [
        {"dialog_id": name, "turn_id": n, "predicted_state": {k: flat(state).get(k) for k in names}}
        for name, n, state in turns(p)
    ]


@shape
def records_in_a_list_each(p: Predictions) -> Any:
    return [
        [{"conversation_id": name, "turn": n, "state": flat(state)} for n, state in enumerate(states)]
        for name, states in p.items()
    ]


@shape
def objects_of_one_member(p: Predictions) -> Any:
    return [{name: [flat(state) for state in states]} for name, states in p.items()]


@shape
def columns_of_pandas(p: Predictions) -> Any:
    rows = list(turns(p))
    return {
        "dialogue_id": {str(i): row[0] for i, row in enumerate(rows)},
        "turn": {str(i): row[1] for i, row in enumerate(rows)},
        "belief_state": {str(i): flat(row[2]) for i, row in enumerate(rows)},
    }


@shape
def split_of_pandas(p: Predictions) -> Any:
    return {"columns": ["id", "turn", "state"], "index": [], "data": [[name, n, flat(s)] for name, n, s in turns(p)]}


# -- JSON lines ------------------------------------------------------------------------------------------------------


@shape
def jsonl_of_turns(p: Predictions) -> bytes:
    return lines({"dial_id": name, "turn": n, "pred": flat(state)} for name, n, state in turns(p))


@shape
def jsonl_from_one_with_text(p: Predictions) -> bytes:
    return lines(
        {"conversation": name, "turn": n + 1, "prediction": json.dumps(flat(state))} for name, n, state in turns(p)
    )


@shape
def jsonl_of_python_literals(p: Predictions) -> bytes:
    return lines({"dialogue_id": name, "turn_id": n, "output": str(state)} for name, n, state in turns(p))


@shape
def jsonl_of_dialogues(p: Predictions) -> bytes:
    return lines({"dialogue_id": name, "predictions": states} for name, states in p.items())


@shape
def jsonl_of_native_like_dialogues(p: Predictions) -> bytes:
    return lines(
        {"id": name, "turns": [{"turn": n, "state": s} for n, s in enumerate(states)]} for name, states in p.items()
    )


@shape
def jsonl_with_speakers(p: Predictions) -> bytes:
    return lines(
        row
        for name, n, state in turns(p)
        for row in (
            {"dialogue_id": name, "turn_id": 2 * n, "speaker": "USER", "utterance": "hi", "belief_state": flat(state)},
            {"dialogue_id": name, "turn_id": 2 * n + 1, "speaker": "SYSTEM", "utterance": "yes?"},
        )
    )


@shape
def jsonl_of_slots(p: Predictions) -> bytes:
    return lines(
        {"dialogue_id": name, "turn": n, "domain": d, "slot": s, "value": v}
        for name, n, state in turns(p)
        for d, s, v in [(d, s, v) for d, slots in state.items() for s, v in slots.items()] or [("", "", "")]
    )


@shape
def jsonl_one_id(p: Predictions) -> bytes:
    return lines({"guid": f"test-{name}-{n}", "pred_belief": flat(state)} for name, n, state in turns(p))


@shape
def jsonl_in_order(p: Predictions) -> bytes:
    return lines({"dialogue": name, "belief_state": state} for name, _, state in turns(p))


@shape
def jsonl_of_arrays(p: Predictions) -> bytes:
    return lines([name, n, flat(state)] for name, n, state in turns(p))


@shape
def jsonl_of_spans(p: Predictions) -> bytes:
    def span(state: dict[str, dict[str, str]]) -> str:
        return " ".join(
            f"[{d}] " + " ".join(f"[value_{s.replace(' ', '_')}] {v}" for s, v in slots.items())
            for d, slots in state.items()
        )

    return lines({"dial_id": name, "turn_num": n, "bspn_gen": span(state)} for name, n, state in turns(p))


@shape
def jsonl_with_slots_beside(p: Predictions) -> bytes:
    return lines({"dialogue_id": name, "turn": n, **flat(state)} for name, n, state in turns(p))


# -- tables ----------------------------------------------------------------------------------------------------------


@shape
def csv_with_json(p: Predictions) -> bytes:
    rows = ((name, n, json.dumps(state)) for name, n, state in turns(p))
    return table(rows, ["dialogue_id", "turn", "belief_state"])


@shape
def csv_long(p: Predictions) -> bytes:
    rows = ((name, n, k, v) for name, n, state in turns(p) for k, v in (flat(state) or {"": ""}).items())
    return table(rows, ["dialogue_id", "turn_id", "slot", "value"])


@shape
def csv_long_with_pred_and_domain(p: Predictions) -> bytes:
    rows = (
        (name, n + 1, d, s, v)
        for name, n, state in turns(p)
        for d, s, v in [(d, s, v) for d, slots in state.items() for s, v in slots.items()] or [("", "", "")]
    )
    return table(rows, ["conversation_id", "turn", "domain", "slot", "prediction"], ";")


@shape
def csv_wide(p: Predictions) -> bytes:
    names = slots_of(p)
    rows = ([name, n, *(flat(state).get(k, "") for k in names)] for name, n, state in turns(p))
    return table(rows, ["dialogue_id", "turn", *names])


@shape
def csv_wide_underscores_and_pandas_index(p: Predictions) -> bytes:
    names = slots_of(p)
    rows = ([i, name, n, *(flat(state).get(k, "") for k in names)] for i, (name, n, state) in enumerate(turns(p)))
    return table(rows, ["", "dial_id", "turn_idx", *(name.replace("-", "_").replace(" ", "_") for name in names)])


@shape
def tsv_with_words(p: Predictions) -> bytes:
    rows = ((name, n, ", ".join(f"{k} {v}" for k, v in flat(state, " ").items())) for name, n, state in turns(p))
    return table(rows, ["Dialogue ID", "Turn ID", "Predicted State"], "\t")


@shape
def tsv_with_lists_of_python(p: Predictions) -> bytes:
    rows = ((name, n, str([f"{k}-{v}" for k, v in flat(state).items()])) for name, n, state in turns(p))
    return table(rows, ["dial_id", "turn_id", "pred"], "\t")


@shape
def csv_without_a_header(p: Predictions) -> bytes:
    return table(((name, n, json.dumps(flat(state))) for name, n, state in turns(p)), ["first", "0", "{}"]).replace(
        b"first,0,{}\r\n", b"", 1
    )


# -- states in other ways --------------------------------------------------------------------------------------------


@shape
def jsonl_of_sets(p: Predictions) -> bytes:
    def written(state: dict[str, dict[str, str]]) -> str:
        return str({f"{k}-{v}" for k, v in flat(state).items()} or set())

    return lines({"dialogue_id": name, "turn": n, "state": written(state)} for name, n, state in turns(p))


@shape
def jsonl_of_slot_values_beside_intents(p: Predictions) -> bytes:
    return lines(
        {
            "dialogue_id": name,
            "turn": n,
            "state": {"active_intent": "find", "slot_values": {k: [v] for k, v in flat(state).items()}},
        }
        for name, n, state in turns(p)
    )


@shape
def jsonl_of_lists_by_domain(p: Predictions) -> bytes:
    return lines(
        {
            "dialogue_id": name,
            "turn": n,
            "pred": {d: [f"{s}={v}" for s, v in held.items()] for d, held in state.items()},
        }
        for name, n, state in turns(p)
    )


@shape
def jsonl_of_answers(p: Predictions) -> bytes:
    return lines(
        {"dialogueId": name, "turnIndex": n, "response": f"Here is the state: {json.dumps(flat(state))}"}
        for name, n, state in turns(p)
    )


@shape
def jsonl_of_keys_and_values(p: Predictions) -> bytes:
    return lines({"key": f"{name}::{n}", "value": flat(state)} for name, n, state in turns(p))


@shape
def results_beside_metadata(p: Predictions) -> Any:
    rows = [{"dial_id": name, "turn": n, "output": flat(state)} for name, n, state in turns(p)]
    return {"metadata": {"model": "mine", "date": "today"}, "results": rows}


@shape
def numbered_pairs(p: Predictions) -> Any:
    return {name: [[n, flat(state)] for n, state in enumerate(states, 1)] for name, states in p.items()}


@shape
def beliefs_in_a_list_by_dialogue(p: Predictions) -> Any:
    return {
        name: {"generated_belief": [[f"{k} {v}" for k, v in flat(state, " ").items()] for state in states]}
        for name, states in p.items()
    }
