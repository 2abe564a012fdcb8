"""Files that strangers might write, all made from the same states: read with exactly the known JGA, or refused with an
example that is itself read."""

from __future__ import annotations

import csv
import io
import json
import pickle
import random
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import time
from pathlib import Path
from typing import Any, TypeAlias

import numpy
import pandas
import polars
import pytest

import dialgauge
from dialgauge.errors import DialgaugeError

Flat: TypeAlias = dict[str, str]
States: TypeAlias = dict[str, list[Flat]]
#: A file, or files by name.
Written: TypeAlias = str | bytes | dict[str, str] | dict[str, bytes]

VALUES = {
    "hotel-area": ["north", "south", "centre"],
    "hotel-stars": ["3", "4"],
    "hotel-pricerange": ["cheap", "expensive", "dontcare"],
    "hotel-book people": ["1", "2", "5"],
    "hotel-parking": ["yes", "no"],
    "restaurant-food": ["chinese", "modern european"],
    "restaurant-name": ["pizza hut city centre", "the golden curry", "saint john's chop house"],
    "restaurant-book time": ["18:30", "12:00"],
    "train-day": ["friday", "monday"],
    "train-departure": ["cambridge", "london kings cross"],
    "train-leaveat": ["09:15", "dontcare"],
    "attraction-type": ["museum", "swimming pool"],
}
SLOTS = list(VALUES)
BARS = (r"a \| b", '"a | b"')
DOMAINS = ("hotel", "restaurant", "train", "attraction")


def _gold() -> States:
    draws, states = random.Random(1), States()
    for number in range(14):
        state: Flat = {}
        turns = states.setdefault(f"{draws.choice(['MUL', 'PMUL', 'SNG'])}{1000 + 37 * number}", [])
        for turn in range(draws.randint(3, 6)):
            if turn or number % 4:
                state = {**state, **{slot: draws.choice(VALUES[slot]) for slot in draws.sample(SLOTS, 2)}}
            turns.append(state)
    return states


def _with_errors(gold: States) -> States:
    draws = random.Random(3)

    def predicted(state: Flat) -> Flat:
        if not state or draws.random() > 0.3:
            return state
        slot = draws.choice(list(state))
        other = draws.choice([value for value in VALUES[slot] if value != state[slot]])
        return {**state, slot: other} if draws.random() < 0.5 else {k: v for k, v in state.items() if k != slot}

    return {name: [predicted(state) for state in states] for name, states in gold.items()}


GOLD = _gold()
PREDICTED = _with_errors(GOLD)
TURNS = sum(map(len, GOLD.values()))
JGA = sum(ours == theirs for name in GOLD for ours, theirs in zip(GOLD[name], PREDICTED[name], strict=True)) / TURNS


def turns(states: States) -> list[tuple[str, int, Flat]]:
    return [(name, turn, state) for name, several in states.items() for turn, state in enumerate(several)]


def nested(state: Flat) -> dict[str, Flat]:
    made: dict[str, Flat] = {}
    for name, value in state.items():
        domain, _, slot = name.partition("-")
        made.setdefault(domain, {})[slot] = value
    return made


def lines(states: States, make: Callable[[str, int, Flat], Any]) -> str:
    return "".join(json.dumps(make(*turn)) + "\n" for turn in turns(states))


def rows(states: States, make: Callable[[Flat], Any], name: str = "prediction", **more: Any) -> str:
    return lines(states, lambda d, t, s: {"dialogue_id": d, "turn": t, name: make(s), **more})


def table(header: Iterable[str], cells: Iterable[Iterable[Any]], delimiter: str = ",") -> str:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter).writerows([header, *cells])
    return written.getvalue()


def frame(states: States) -> pandas.DataFrame:
    return pandas.DataFrame(
        [{"dialogue_id": d, "turn": t, **{slot: s.get(slot) for slot in SLOTS}} for d, t, s in turns(states)]
    )


def oriented(orient: Any) -> Callable[[States], str]:
    return lambda states: frame(states).to_json(orient=orient)


def equations(state: Flat, between: str = "; ") -> str:
    return between.join(f"{slot}={value}" for slot, value in state.items())


def colons(state: Flat) -> str:
    return ", ".join(f"{slot}: {value}" for slot, value in state.items()) or "none"


def labels(state: Flat) -> list[str]:
    return [f"{slot}-{value}" for slot, value in state.items()]


def twice(state: Flat) -> str:
    """JSON of nested slots, each with its domain anew."""
    pairs = [(*slot.split("-", 1), value) for slot, value in state.items()]
    return "{" + ", ".join(f'"{domain}": {json.dumps({slot: value})}' for domain, slot, value in pairs) + "}"


def span(state: Flat) -> str:
    return " ".join(
        f"[{domain}] " + " ".join(f"{slot} {value}" for slot, value in slots.items())
        for domain, slots in nested(state).items()
    )


def soloist(state: Flat) -> str:
    domains = (
        f"{domain} " + " ; ".join(f"{slot} = {value}" for slot, value in slots.items())
        for domain, slots in nested(state).items()
    )
    return "belief : " + " | ".join(domains)


def sql(state: Flat) -> str:
    return " ; ".join(
        f"SELECT * FROM {domain} WHERE " + " AND ".join(f"{slot} = '{value}'" for slot, value in slots.items())
        for domain, slots in nested(state).items()
    )


def changes(states: States, name: str, turn: int) -> dict[str, str | None]:
    before = states[name][turn - 1] if turn else {}
    now = states[name][turn]
    changed = {slot: value for slot, value in now.items() if before.get(slot) != value}
    return {**changed, **{slot: None for slot in before if slot not in now}}


def filled(states: States, name: str, turn: int) -> Flat:
    return {slot: value for slot, value in changes(states, name, turn).items() if value}


def emptied(states: States, name: str, turn: int) -> list[str]:
    return [slot for slot, value in changes(states, name, turn).items() if not value]


def answer(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {
        "status_code": 200,
        "body": {"object": "chat.completion", "choices": [choice], "usage": {"total_tokens": 5}},
    }


def archive(files: dict[str, str]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return written.getvalue()


def binary(write: Callable[[io.BytesIO], object]) -> bytes:
    written = io.BytesIO()
    write(written)
    return written.getvalue()


def shuffled(states: States) -> States:
    names = list(states)
    random.Random(1).shuffle(names)
    return {name: states[name] for name in names}


READ: dict[str, Callable[[States], Written]] = {
    "TRADE": lambda p: json.dumps({f"{d}.json": {str(t): {
        "turn_belief": labels(GOLD[d][t]), "pred_bs_ptr": labels(s)} for t, s in enumerate(ss)}
        for d, ss in p.items()}),
    "SUMBT": lambda p: lines(p, lambda d, t, s: {"guid": f"test-{d}.json-{t}", "pred": labels(s)}),
    "SUMBT, a column a slot": lambda p: table(
        ["id", *SLOTS], ([f"{d}-{t}", *(s.get(slot, "none") for slot in SLOTS)] for d, t, s in turns(p)), "\t"),
    "SimpleTOD": lambda p: json.dumps({f"{d}.json": {
        "target_turn_belief": [[label.replace("-", " ", 2) for label in labels(s)] for s in GOLD[d]],
        "generated_turn_belief": [[label.replace("-", " ", 2) for label in labels(s)] for s in ss],
    } for d, ss in p.items()}),
    "SimpleTOD's text": lambda p: rows(p, lambda s: "<|belief|> " + ", ".join(
        f"{slot.replace('-', ' ')} {value}" for slot, value in s.items()) + " <|endofbelief|>", "generated"),
    "SOLOIST": lambda p: rows(p, soloist, "belief"),
    "UBAR": lambda p: json.dumps({d.lower(): [
        {"dial_id": d.lower(), "turn_num": t, "user": "hi", "bspn": span(GOLD[d][t]), "bspn_gen": span(s)}
        for t, s in enumerate(ss)] for d, ss in p.items()}),
    "UBAR's table": lambda p: table(["dial_id", "turn_num", "user", "bspn", "bspn_gen"], (
        [d.lower(), t, "hello there", span(GOLD[d][t]), span(s)] for d, t, s in turns(p))),
    "T5-DST": lambda p: json.dumps({f"{d}.json": {"domains": [], "turns": {str(t): {
        "turn_belief": labels(GOLD[d][t]), "pred_belief": labels(s)} for t, s in enumerate(ss)}}
        for d, ss in p.items()}),
    "SDP-DST": lambda p: "".join(json.dumps(
        {"dial_id": d, "turn_id": t, "domain-slot": slot, "generated": s.get(slot, "NONE")}) + "\n"
        for d, t, s in turns(p) for slot in SLOTS),
    "SDP-DST with targets": lambda p: "".join(json.dumps(
        {"ID": f"{d}.json", "turn_id": t, "slot_text": slot, "value_text": GOLD[d][t].get(slot, "none"),
         "pred": s.get(slot, "none")}) + "\n" for d, t, s in turns(p) for slot in SLOTS),
    "LLaMA-Factory with ids": lambda p: lines(p, lambda d, t, s: {
        "id": d, "turn": t, "prompt": "Track", "label": json.dumps(GOLD[d][t]), "predict": json.dumps(s)}),
    "InstructDST": lambda p: rows(p, lambda s: "; ".join(f"{k}: {v}" for k, v in s.items()) or "none", "completion"),
    "a batch of OpenAI": lambda p: lines(p, lambda d, t, s: {
        "id": f"batch_{d}_{t}", "custom_id": f"{d}.json-{t}",
        "response": answer(f"```json\n{json.dumps(nested(s))}\n```"), "error": None}),
    "a batch in another order": lambda p: lines(
        shuffled(p), lambda d, t, s: {"custom_id": f"{d}||turn{t}", "response": answer(json.dumps(s))}),
    "a batch of Anthropic": lambda p: lines(p, lambda d, t, s: {"custom_id": f"{d}_t{t}", "result": {
        "type": "succeeded", "message": {"role": "assistant", "content": [{"type": "text", "text": json.dumps(s)}]}}}),
    "vLLM": lambda p: lines(p, lambda d, t, s: {"request_id": "1", "dialogue_id": d, "turn_id": t, "outputs": [
        {"index": 0, "text": json.dumps(s), "cumulative_logprob": -1.5, "finish_reason": "stop"}]}),
    "Ollama": lambda p: rows(p, lambda s: {"role": "assistant", "content": json.dumps(s)}, "message", done=True),
    "LangChain": lambda p: lines(p, lambda d, t, s: {
        "metadata": {"dialogue": d, "turn": t}, "generations": [[{"text": json.dumps(s)}]]}),
    "lm-evaluation-harness": lambda p: lines(p, lambda d, t, s: {
        "doc_id": t, "doc": {"dialogue_id": d, "turn_id": t}, "target": json.dumps(GOLD[d][t]),
        "resps": [[json.dumps(s)]], "filtered_resps": [json.dumps(s)], "exact_match": 1.0}),
    "lm-evaluation-harness in words": lambda p: lines(p, lambda d, t, s: {
        "doc_id": t, "doc": {"dialogue_id": d, "turn_id": t, "context": "hi", "state": colons(GOLD[d][t])},
        "target": colons(GOLD[d][t]), "resps": [[f" {colons(s)}"]], "filtered_resps": [colons(s)], "filter": "none"}),
    "answers in lists of lists": lambda p: rows(p, lambda s: [[f" {colons(s)}"]], "resps"),
    "a text in a list": lambda p: rows(p, lambda s: [colons(s)]),
    "equations in a list": lambda p: rows(p, lambda s: [equations(s)]),
    "a chat model": lambda p: rows(
        p, lambda s: f"Sure! Here is the state:\n```json\n{json.dumps(s, indent=2)}\n```\nAnything else?", "answer"),
    "thoughts": lambda p: rows(p, lambda s: f"<think>he wants a hotel</think>\n{json.dumps(s)}", "response"),
    "calls": lambda p: rows(p, lambda s: " ".join(
        f"{domain}({', '.join(f'{slot}={json.dumps(value)}' for slot, value in slots.items())})"
        for domain, slots in nested(s).items()), "output"),
    "messages": lambda p: "".join(json.dumps({"id": d, "messages": [said for s in ss for said in (
        {"role": "user", "content": "hello"}, {"role": "assistant", "content": json.dumps(s)})]}) + "\n"
        for d, ss in p.items()),
    "changes": lambda p: lines(p, lambda d, t, s: {"dialogue_id": d, "turn": t, "delta": changes(p, d, t)}),
    "a file for each dialogue": lambda p: {f"{d}.json": json.dumps(ss) for d, ss in p.items()},
    "a table for each dialogue": lambda p: {f"{d}.csv": table(["turn", *SLOTS], (
        [t, *(s.get(slot, "") for slot in SLOTS)] for t, s in enumerate(ss))) for d, ss in p.items()},
    "records of each dialogue": lambda p: {f"{d}.json": json.dumps(
        {"turns": [{"turn": t, "state": s} for t, s in enumerate(ss)]}) for d, ss in p.items()},
    "a zip": lambda p: {"preds.zip": archive({"preds.jsonl": rows(p, dict)})},
    "a table with an index": lambda p: frame(p).to_csv(),
    "a table with NaN": lambda p: frame(p).to_csv(index=False, na_rep="NaN"),
    **{f"pandas, {orient}": oriented(orient) for orient in ("records", "split", "index", "columns", "table")},
    "pandas with two indices": lambda p: frame(p).set_index(["dialogue_id", "turn"]).to_json(orient="index"),
    "Parquet": lambda p: {"preds.parquet": binary(frame(p).to_parquet)},
    "labels": lambda p: json.dumps({d: [*map(labels, ss)] for d, ss in p.items()}),
    "triples": lambda p: json.dumps(
        {d: [[[*k.split("-"), v] for k, v in s.items()] for s in ss] for d, ss in p.items()}),
    "triples as text": lambda p: rows(p, lambda s: str([(*k.split("-"), v) for k, v in s.items()])),
    "equations": lambda p: table(
        ["dialogue_id", "turn", "state"], ([d, t, equations(s)] for d, t, s in turns(p)), "\t"),
    "two columns without names": lambda p: "".join(f"{d}_{t}\t{json.dumps(s)}\n" for d, t, s in turns(p)),
    "pairs of id and turns": lambda p: json.dumps([[d, [*enumerate(ss)]] for d, ss in p.items()]),
    "turns from 1": lambda p: lines(p, lambda d, t, s: {"dialogue_id": d, "turn": t + 1, "state": s}),
    "turns by 2": lambda p: lines(p, lambda d, t, s: {"dialogue_id": d, "turn": 2 * t + 1, "state": s}),
    "ids in small letters": lambda p: json.dumps({d.lower(): ss for d, ss in p.items()}),
    "ids with paths": lambda p: json.dumps({f"/data/test/{d}.json": ss for d, ss in p.items()}),
    "gold inside": lambda p: lines(p, lambda d, t, s: {
        "dialogue_id": d, "turn_id": t, "user": "hi", "gold_state": GOLD[d][t], "pred_state": s, "jga": 1.0}),
    "probabilities": lambda p: rows(p, lambda s: {k: {"value": v, "prob": 0.93} for k, v in s.items()}, "state"),
    "DSTC8": lambda p: json.dumps([{"dialogue_id": d, "services": ["hotel"], "turns": [turn for s in ss for turn in (
        {"speaker": "USER", "utterance": "hi", "frames": [
            {"service": domain, "state": {"slot_values": {k: [v] for k, v in nested(s).get(domain, {}).items()}}}
            for domain in DOMAINS]},
        {"speaker": "SYSTEM", "utterance": "ok", "frames": []})]} for d, ss in p.items()]),
    "a row a slot": lambda p: table(["Dialogue ID", "Turn #", "Slot", "Predicted Value"], (
        [d, t, slot, value] for d, t, s in turns(p) for slot, value in s.items()), ";"),
    "names of one's own": lambda p: json.dumps({"model": "x", "results": {
        d: {"turns": [{"t": t, "ds": s} for t, s in enumerate(ss)]} for d, ss in p.items()}}),
    "capital letters": lambda p: rows(p, lambda s: {k.upper(): v.upper() for k, v in s.items()}, "state"),
    "underscores": lambda p: rows(
        p, lambda s: {k.replace("-", "_").replace(" ", "_"): v for k, v in s.items()}, "state"),
    "from 1, in small letters, by paths, with targets": lambda p: table(["file", "turn", "target", "output"], (
        [f"C:\\mwz\\{d.lower()}.json", t + 1, json.dumps(GOLD[d][t]), str(s)] for d, t, s in turns(p)), ";"),
    "changes with deletions": lambda p: json.dumps({d: [{
        "turn": t, "update": filled(p, d, t), "delete": emptied(p, d, t)} for t in range(len(ss))]
        for d, ss in p.items()}),
    "changes with deletions in words": lambda p: lines(p, lambda d, t, s: {
        "dialogue_id": d, "turn": t, "changes": filled(p, d, t), "removed_slots": ", ".join(emptied(p, d, t))}),
    "what is set and unset": lambda p: json.dumps({d: [{
        "turn": t, "set": filled(p, d, t), "unset": emptied(p, d, t)} for t in range(len(ss))]
        for d, ss in p.items()}),
    "what is added and removed": lambda p: lines(p, lambda d, t, s: {"dialogue_id": d, "turn": t, "changes": {
        "added": filled(p, d, t), "removed": emptied(p, d, t)}}),
    "domains that come twice": lambda p: json.dumps({d: ["@" + twice(s) + "@" for s in ss] for d, ss in p.items()})
        .replace('"@', "").replace('@"', "").replace('\\"', '"'),
    "domains that come twice in a text": lambda p: rows(p, lambda s: f"Sure! ```json\n{twice(s)}\n```", "answer"),
    "Markdown with bars": lambda p: "| dialogue | turn | note | state |\n|---|---|---|---|\n" + "".join(
        f"| {d} | {t} | {BARS[t % 2]} | {equations(s)} |\n" for d, t, s in turns(p)),
    "a column a domain": lambda p: table(["id", "turn", *DOMAINS], (
        [d, t, *(json.dumps(nested(s)[name]) if name in nested(s) else "" for name in DOMAINS)]
        for d, t, s in turns(p))),
    "merged cells": lambda p: table(["Dialogue", "Turn", *SLOTS], (
        [d if not t else "", t + 1, *(s.get(slot, "") for slot in SLOTS)] for d, t, s in turns(p))),
    "merged cells, a row a slot": lambda p: table(["dialogue", "turn", "slot", "value"], (
        [d if not (t or n) else "", t if not n else "", slot, s.get(slot, "")]
        for d, t, s in turns(p) for n, slot in enumerate(SLOTS))),
    "settings before records": lambda p: json.dumps({"args": {"model": "t5", "seed": 1}}) + "\n" + rows(p, dict),
}  # fmt: skip

REFUSED: dict[str, tuple[str, Callable[[States], Written]]] = {
    "LDST": ("name its slot in a field 'slot'", lambda p: "".join(json.dumps(
        {"dialogue_id": d, "turn": t, "instruction": f"Track the state of the slot <{slot}> in the dialogue",
         "output": s.get(slot, "NONE")}) + "\n"
        for d, t, s in turns(p) for slot in SLOTS)),
    "LLaMA-Factory": ("keys seen: prompt, label, predict (of 64 records); missing: the id of each", lambda p: "".join(
        json.dumps({"prompt": "Track", "label": json.dumps(s), "predict": json.dumps(s)}) + "\n"
        for _, _, s in turns(p))),
    "generated_predictions.txt": ("a state alone does not say whose", lambda p: "\n".join(
        equations(s) for _, _, s in turns(p))),
    "generated_predictions.txt with ids": ("a state alone does not say whose", lambda p: {
        "generated_predictions.txt": "\n".join(equations(s) for _, _, s in turns(p)),
        "ids.txt": "\n".join(f"{d}_{t}" for d, t, _ in turns(p))}),
    "ids alone": ("these are ids alone; write each state beside", lambda p: json.dumps(
        [f"{d}_{t}" for d, t, _ in turns(p)])),
    "vLLM without ids": ("missing: the id of each dialogue", lambda p: "".join(
        json.dumps({"prompt": "p", "outputs": [{"text": json.dumps(s)}]}) + "\n" for _, _, s in turns(p))),
    "a file for each domain": ("if each file holds the states of one domain", lambda p: {
        f"{domain}.json": json.dumps(
            {d: [{k: v for k, v in s.items() if k.startswith(domain)} for s in ss] for d, ss in p.items()})
        for domain in DOMAINS}),
    "a file for each domain, which names it": ("missing: the domain of each slot", lambda p: {
        "hotel.json": json.dumps({d: [nested(s).get("hotel", {}) for s in ss] for d, ss in p.items()})}),
    "a text for each dialogue": ("a state alone does not say whose", lambda p: {
        f"{d}.txt": "\n".join(map(equations, ss)) for d, ss in p.items()}),
    "a turn's slots as TRADE calls them": ("if it is 'turn_label', call that 'changes'", lambda p: lines(
        p, lambda d, t, s: {"dialogue_id": d, "turn": t, "turn_label": changes(p, d, t)})),
    "a file for each turn": ("the state of one turn, 0 of MUL1000: put those of all turns into one file", lambda p: {
        f"{d}_{t}.json": json.dumps(s) for d, t, s in turns(p)}),
    "a file for each turn, one of which looks like verdicts": ("the state of one turn, 0 of MUL1000", lambda p: {
        f"{d}_turn{t}.json": json.dumps(s if d != "MUL1037" or t else {"hotel-parking": "yes", "hotel-internet": "yes"})
        for d, t, s in turns(p)}),
    "rows without names": ("names of the columns", lambda p: frame(p).to_json(orient="values")),
    "a pickle": ("Python pickle, which is never loaded", lambda p: pickle.dumps(p)),
    "Feather": ("polars.read_ipc('FILE').write_parquet(", lambda p: {"preds.feather": binary(
        lambda file: polars.DataFrame({"dialogue_id": [*p]}).write_ipc(file))}),
    "a dataset on disk": ("datasets.load_from_disk('FOLDER').to_parquet(", lambda p: {"data.arrow": binary(
        lambda file: polars.DataFrame({"dialogue_id": [*p]}).write_ipc_stream(file))}),
    "an array": ("array of NumPy", lambda p: binary(lambda file: numpy.save(file, numpy.array([1, 2])))),
    "arrays": ("numpy.load('FILE.npz')", lambda p: {"preds.npz": binary(lambda file: numpy.savez(file, ids=[1, 2]))}),
    "Excel": ("save the sheet as CSV", lambda p: {"preds.xlsx": archive({"[Content_Types].xml": "<Types/>"})}),
    "Python": ("ast.literal_eval(open('FILE').read())", lambda p: repr(p)),
    "lines of Python": ("json.dumps(ast.literal_eval(line))", lambda p: "\n".join(
        repr({"dialogue_id": d, "turn": t, "state": s}) for d, t, s in turns(p))),
    "lines with colons": ("its first line is 'MUL1000:0: '", lambda p: "".join(
        f"{d}:{t}: {equations(s, ', ')}\n" for d, t, s in turns(p))),
    "BIO tags": ("keys seen: dialogue_id, turn, tokens, tags (of 64 records)", lambda p: lines(p, lambda d, t, s: {
        "dialogue_id": d, "turn": t, "tokens": ["in", "the", "north"], "tags": ["O", "O", "B-hotel-area"]})),
    "CoNLL": ("its first line is '# MUL1000 0'", lambda p: "\n".join(
        f"# {d} {t}\nin O\nnorth B-hotel-area\n" for d, t, _ in turns(p))),
    "XML": ("its first line is '<predictions>", lambda p: "<predictions>" + "".join(
        f'<turn dialogue="{d}" n="{t}"/>' for d, t, _ in turns(p)) + "</predictions>"),
    "YAML": ("yaml.safe_load(open('FILE'))", lambda p: "".join(
        f"{d}:\n" + "".join(f"- {json.dumps(s)}\n" for s in ss) for d, ss in p.items())),
    "blocks": ("a line names a dialogue, and those below it its turns", lambda p: "".join(
        f"=== {d} ===\n" + "".join(f"Turn {t}: {equations(s)}\n" for t, s in enumerate(ss)) for d, ss in p.items())),
    "no ids": ("missing: the id of each dialogue", lambda p: json.dumps([*p.values()])),
    "last states": ("a state for each turn: here is one thing per dialogue", lambda p: json.dumps(
        {d: ss[-1] for d, ss in p.items()})),
    "questions": ("missing: the number of each turn", lambda p: "".join(json.dumps(
        {"id": f"{d}_{t}_{slot}", "question": f"what is the {slot}?", "answer": s.get(slot, "none")}) + "\n"
        for d, t, s in turns(p) for slot in SLOTS)),
    "codes of values": ("states that can be read", lambda p: json.dumps({"slots": SLOTS, "predictions": {
        d: [[int(slot in s) for slot in SLOTS] for s in ss] for d, ss in p.items()}})),
    "numbers of requests": ("number single outputs, of 14 gold dialogues", lambda p: "".join(json.dumps(
        {"request_id": str(n), "outputs": [{"index": 0, "text": json.dumps(s)}]}) + "\n"
        for n, (_, _, s) in enumerate(turns(p)))),
    "distributions": ("missing: a text for each value", lambda p: rows(
        p, lambda s: {k: {v: 0.9, "none": 0.1} for k, v in s.items()}, "state")),
    "several values with scores": ("missing: a text for each value", lambda p: rows(p, lambda s: {
        k: [{"value": "elsewhere", "score": 0.1}, {"value": v, "score": 0.8}] for k, v in s.items()}, "state")),
    "several states with scores": ("a list of outputs for one turn", lambda p: rows(
        p, lambda s: [{"state": {}, "score": -5.0}, {"state": s, "score": -0.2}], "hypotheses")),
    "several changes with scores": ("a list of outputs for one turn", lambda p: lines(p, lambda d, t, s: {
        "dialogue_id": d, "turn": t, "changes": [
            {"update": {}, "score": -4.0}, {"update": changes(p, d, t), "score": -0.1}]})),
    "several states without scores": ("a list of outputs for one turn", lambda p: rows(
        p, lambda s: [equations(s), "hotel-area=elsewhere; hotel-stars=5"], "outputs")),
    "flags beside values": ("'active' stands beside values", lambda p: rows(p, lambda s: {
        **{k: {"value": VALUES[k][0], "active": False} for k in SLOTS},
        **{k: {"value": v, "active": True} for k, v in s.items()}}, "state")),
    "gates": ("'gate' stands beside values", lambda p: rows(p, lambda s: {k: {
        "value": s.get(k, "north"), "gate": "ptr" if k in s else "none"} for k in SLOTS}, "state")),
    "a row a slot with a gate": ("'gate' stands beside values", lambda p: table(
        ["dialogue_id", "turn", "slot", "value", "gate"],
        ([d, t, k, s.get(k, "north"), "ptr" if k in s else "none"] for d, t, s in turns(p) for k in SLOTS))),
    "operations": ("'op' stands beside values", lambda p: lines(p, lambda d, t, s: {
        "dialogue_id": d, "turn": t, "changes": [
            *({"op": "delete", "slot": k} for k in emptied(p, d, t)),
            *({"op": "add", "slot": k, "value": v} for k, v in filled(p, d, t).items())]})),
    "JSON patches": ("missing: the state of each turn", lambda p: lines(p, lambda d, t, s: {
        "dialogue_id": d, "turn": t, "patch": [
            *({"op": "remove", "path": f"/{k.replace('-', '/')}"} for k in emptied(p, d, t)),
            *({"op": "add", "path": f"/{k.replace('-', '/')}", "value": v} for k, v in filled(p, d, t).items())]})),
}  # fmt: skip


def put(written: Written, folder: Path) -> Path:
    files: dict[str, Any] = written if isinstance(written, dict) else {"preds": written}
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / next(iter(files)) if len(files) == 1 else folder


def jga(predictions: Path) -> float:
    run = dialgauge.score(
        {f"{d}.json": ss for d, ss in GOLD.items()}, str(predictions), measures="JGA", intervals=False
    )
    return float(run[0]["JGA"])


def test_the_states_are_worth_the_trial() -> None:
    assert TURNS == 64 and 0.5 < JGA < 0.9 and len(READ) + len(REFUSED) > 80


@pytest.mark.parametrize("name", READ)
def test_odd_files_that_are_read_have_exactly_the_known_score(name: str, tmp_path: Path) -> None:
    assert jga(put(READ[name](GOLD), tmp_path / "right")) == 1
    assert jga(put(READ[name](PREDICTED), tmp_path / "predicted")) == pytest.approx(JGA)


@pytest.mark.parametrize("name", REFUSED)
def test_odd_files_that_are_refused_have_an_example_that_is_read(name: str, tmp_path: Path) -> None:
    told, make = REFUSED[name]
    with pytest.raises(DialgaugeError) as caught:
        jga(put(make(PREDICTED), tmp_path / "predicted"))
    assert told in caught.value.sentence()
    (tmp_path / "example.jsonl").write_text(caught.value.example)
    [dialogue] = dialgauge.read(tmp_path / "example.jsonl").dialogues
    assert len(dialogue.turns) == 3 and dialogue.turns[-1].predicted
    if f"{(first := next(iter(GOLD)))}" in str(make(PREDICTED))[:300] and "id of each dialogue" not in told:
        assert dialogue.id.startswith((first, "dialogue-1"))


@dataclass
class Row:
    dialogue_id: str
    turn_id: int
    state: Flat


IN_PYTHON: dict[str, Callable[[States], Any]] = {
    "numbers of NumPy": lambda p: [
        {"dialogue_id": numpy.str_(d), "turn": numpy.int64(t), "state": {
            k: numpy.int64(v) if v.isdigit() else numpy.str_(v) for k, v in s.items()}} for d, t, s in turns(p)],
    "values of NumPy": lambda p: {
        d: [{k: numpy.int64(v) if v.isdigit() else v for k, v in s.items()} for s in ss] for d, ss in p.items()},
    "times": lambda p: [
        {"dialogue_id": d, "turn": t, "state": {
            k: time.fromisoformat(v) if ":" in v else v for k, v in s.items()}} for d, t, s in turns(p)],
    "dataclasses": lambda p: [Row(*turn) for turn in turns(p)],
    "dictionaries that make what they lack": lambda p: defaultdict(lambda: defaultdict(dict), {
        d: defaultdict(dict, enumerate(ss)) for d, ss in p.items()}),
    "rows of a system by name": lambda p: {"mine": [
        {"dialogue_id": d, "turn": t, "state": s} for d, t, s in turns(p)]},
    "sets of labels by dialogue and turn": lambda p: {(f"{d}.json", t): {*labels(s)} for d, t, s in turns(p)},
    "records under their dialogue": lambda p: {d: [
        {"dial_id": d.lower(), "turn": t, "state": s} for t, s in enumerate(ss)] for d, ss in p.items()},
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PYTHON)
def test_predictions_in_python_have_exactly_the_known_score(name: str) -> None:
    run = dialgauge.score(dict(GOLD), IN_PYTHON[name](PREDICTED), measures="JGA", intervals=False)
    assert float(run[0]["JGA"]) == pytest.approx(JGA)


def test_gold_may_be_what_json_makes_of_a_file_of_multiwoz() -> None:
    def log(states: list[Flat]) -> list[dict[str, Any]]:
        held = [{name: {"semi": nested(state).get(name, {}), "book": {}} for name in DOMAINS} for state in states]
        return [turn for each in held for turn in ({"text": "hi", "metadata": {}}, {"text": "ok", "metadata": each})]

    gold: Any = {f"{d}.json": {"goal": {}, "log": log(ss)} for d, ss in GOLD.items()}
    run = dialgauge.score(gold, dict(PREDICTED), measures="JGA", intervals=False)
    assert float(run[0]["JGA"]) == pytest.approx(JGA)


TOLD: dict[str, tuple[str, Any]] = {
    "fields 'source' beside values, not read": ("a field that nobody knows", {
        "hotel-area": {"value": "north", "source": "user"}}),
    "slots with two values in one state, the later kept": ("a slot twice", "@{'hotel-area': 'a', 'hotel-area': 'b'}@"),
}  # fmt: skip


@pytest.mark.parametrize("what", TOLD)
def test_what_stands_beside_values_and_slots_that_come_twice_are_told(what: str, tmp_path: Path) -> None:
    states: tuple[Any, ...] = (TOLD[what][1], {})
    rows = "".join(json.dumps({"dialogue_id": "D1", "turn": n, "state": s}) + "\n" for n, s in enumerate(states))
    (tmp_path / "mine.jsonl").write_text(rows.replace('"@', "").replace('@"', "").replace("'", '"'))
    assert dialgauge.read(tmp_path / "mine.jsonl").notes.counts[what] == 1


def _two_columns(first: str, second: str) -> tuple[States, Any]:
    gold = {
        f"d{number}": [{"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": "4"}] for number in range(200)
    }
    rows = [
        {"dialogue_id": name, "turn": turn, first: state, second: {"hotel-area": "south"}}
        for name, states in gold.items()
        for turn, state in enumerate(states)
    ]
    return gold, rows


@pytest.mark.parametrize("second", ["updated_state", "state_updated"])
def test_the_state_after_a_turn_is_a_second_state(second: str) -> None:
    with pytest.raises(DialgaugeError, match="both hold states"):
        dialgauge.score(*_two_columns("state", second))


def test_states_beside_the_prediction_are_told() -> None:
    results = dialgauge.score(*_two_columns("pred", "pred_fixed"))
    assert any("states under 'pred_fixed' not read" in str(note) for note in results.notes)


@pytest.mark.parametrize("around", [{}, {"dev": {}}, {"model": "m", "dev": {}}])
def test_a_system_keeps_its_name_where_its_dialogues_stand_under_a_split(around: dict[str, Any]) -> None:
    held: Any = {**around, "test": {d: dict(enumerate(ss)) for d, ss in PREDICTED.items()}}
    run = dialgauge.score(dict(GOLD), {"mine": held}, measures="JGA", intervals=False)
    assert float(run["mine"]["JGA"]) == pytest.approx(JGA)
