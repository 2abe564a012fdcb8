"""Mistakes that no declaration tells of: one sentence, exit code 2, nothing printed or stored.

What can be made from the declarations of options and files: tests/contracts/test_commands.py.
"""

from __future__ import annotations

import shlex

import pytest

from support.commands import dialgauge
from support.workbench import Workbench

SCORE = "score gold.jsonl good.jsonl"
TASKS = "tasks score town/gold.json mine.json"
LAB = "lab run -n 2"
LLM = "lab run --system llm-system --level text --system-set model=m --system-set endpoint=http://localhost:1/v1"
BABI = "babi evaluate --data babi"

#: Words of a call on the workbench, and what is said.
MISTAKES = [
    ("score", "name the gold file"),
    ("score self", "name the gold file"),
    ("score good.jsonl", "no gold states of its own"),
    (f"{SCORE} -m JGAA", "Did you mean 'JGA'"),
    (f"{SCORE} -m FGA@-1", "must be ≥ 0 (got -1)"),
    (f"{SCORE} -m FGA@1e309", "lambda is too large a number (got 1e309)"),
    (f"{SCORE} -p cannon", "Did you mean 'canon'"),
    (f"{SCORE} --pred-format nativ", "Did you mean 'native'"),
    (f"{SCORE} --sgd-matching exact", "need --schema FILE"),
    ("score self augpt.json ./augpt.json", "it is given twice; give each file once"),
    ("tasks score town/gold.json mine.json mine.json", "it is given twice; give each file once"),
    ("review tau.json ./tau.json", "it is given twice; give each file once"),
    ("users score talks.json talks.json", "it is given twice; give each file once"),
    ("users score . --json talks.json", "would overwrite an input of this command"),
    ("users score 't*.json' --json talks.json", "would overwrite an input of this command"),
    ("score 'gold=gold.jsonl' good.jsonl --json gold.jsonl", "would overwrite an input of this command"),
    ("compare GOOD", "at least two stored runs"),
    ("compare GOOD absent", "no run 'absent'"),
    ("compare GOOD GOOD", "compared with itself"),
    ("compare GOOD BAD --only differencs", "Did you mean 'differences'"),
    ("compare GOOD --printed systems.csv --seed 2", "RUN RUN..., --seed"),
    ("explore nothing-like-it", "there is no run 'nothing-like-it'"),
    ("report no-run", "there is no run"),
    ("report GOOD --dialogue none", "no run of this report has a dialogue 'none'"),
    ("explain JGAA", "'JGA'"),
    ("explain trackin", "'tracking'"),
    ("explain 'JGA(over=x)'", "turns, dialogues"),
    ("explain trad", "'trade'"),
    ("explain unmatchd", "'unmatched'"),
    ("tasks score", "dialgauge tasks score GOLD PRED..."),
    ("tasks score town/gold.json", "dialgauge tasks score GOLD PRED..."),
    ("tasks score mine.json town/gold.json", "GOLD comes first: dialgauge tasks score GOLD PRED..."),
    ("tasks score town/gold.json town/gold.json", "comes first: dialgauge tasks score GOLD PRED..."),
    (f"{TASKS} -m Sucess", "Did you mean 'Success'"),
    (f"{TASKS} --database nowhere", "restaurant_db.json"),
    ("users score talks.json --set igcd_f1.repetition.max=3", "Did you mean 'repetitions'"),
    ("users score talks.json --dataset multiwoz", "Did you mean 'multiwoz21'"),
    ("users faults tau.json --judge http://127.0.0.1:9 --judge-set modell=x", "model"),
    (f"{LAB} --system rule-sytem", "there is no agent named 'rule-sytem'. Did you mean 'rule-system'"),
    (f"{LAB} --system agenda", "agenda is a user agent; it cannot be the system"),
    (f"{LAB} --system-set render=x", "the setting render of rule-system must be yes or no (got 'x')"),
    (f"{LAB} --system-set channl=mild", "there is no setting 'channl' of rule-system. Did you mean 'channel'"),
    (f"{LAB} --user-set channel", "--user-set expects NAME=VALUE (got 'channel')"),
    (f"{LAB} --channel mlid", "there is no channel 'mlid'. Did you mean 'mild'"),
    (f"{LAB} --channel drop=2", "a rate must be between 0 and 1"),
    (f"{LAB} --goals mine.json", "mine.json"),
    (f"{LAB} --database nowhere", "nowhere"),
    (f"{LAB} --endpoint local", "--endpoint only applies to language models"),
    (f"{LAB} --fail-on-drop good.jsonl", "there is no run 'good.jsonl'"),
    (f"{LLM} --level act", "llm-system speaks text, not dialogue acts; add --level text"),
    (f"{LLM} --system-set key_env=NOT_SET_ANYWHERE", "the environment variable that key_env names is not set"),
    (f"{LLM} --system-set budget_tokens=5", "needs a cassette"),
    (f"{LLM} --user llm-system --user-set model=m --user-set endpoint=local", "it cannot be the user"),
    (f"{LLM} --system-set endpoint=", "needs an endpoint: --endpoint URL"),
    ("lab goals --goal H0002", "there is no goal 'H0002'"),
    ("lab chat --as wizard", "wizard"),
    ("lab study --rates x", "--rates"),
    ("lab study --rates 2", "--rates"),
    ("lab study --errors drpo", "must be drop, value, relabel or insert (got 'drpo')"),
    ("lab call calls.json --domain depots", "Did you mean 'depot'"),
    ("lab call calls.json --domain ./nowhere", "there is no such folder"),
    ("lab call calls.json --domain depot --task x", "there is no task 'x'"),
    ("lab call mine.json --domain depot", "not a list of calls"),
    ("babi simulate --out new --tasks 0-3", "--tasks expects numbers from 1 to 5"),
    ("babi simulate --out new --splits train", "there is no split 'train'"),
    ("babi simulate --out new --world restaurnt", "Did you mean 'restaurant'"),
    (f"{BABI} --model http://127.0.0.1:9/ --set dim=8", "leave out --set"),
    (f"{BABI} --task 3", "no dialog files of task 3"),
    (f"{BABI} --logs x.jsonl", "leave out --logs"),
    (f"{BABI} --model memn2n --set epochs=none", "wrong kind of value"),
    (f"{BABI} --model tfidf --set device=cuda", "there is no setting 'device' of tfidf"),
    (f"{BABI} --model memn2n --set device=abacus", "there is no device 'abacus'"),
    (f"{BABI} --model memn3n", "Did you mean 'memn2n'"),
    (f"{BABI} --model tfidf --transfer", "--model names a trained model"),
    (f"{BABI} --model tfidf --attention 1", "no attention"),
    (f"{BABI} --world bakery", "leave out --data"),
    (f"{BABI} --live --split tst", "leave out --split"),
    (f"{BABI} --live --task 6", "task 6 and chat logs have none"),
    ("babi table --data babi --tasks one", "--tasks expects numbers from 1 to 6, for example 1-6 or 1,3 (got 'one')"),
    ("babi table --data babi --models tfdif", "Did you mean 'tfidf'"),
]


@pytest.mark.parametrize(("call", "said"), MISTAKES, ids=[call for call, _ in MISTAKES])
def test_a_mistake_is_one_sentence(
    bench: Workbench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, call: str, said: str
) -> None:
    monkeypatch.chdir(bench.folder)
    monkeypatch.setenv("DIALGAUGE_RUNS", str(bench.store.folder))
    before = len(bench.store.list())
    outcome = dialgauge(capsys, *(bench.runs.get(word, word) for word in shlex.split(call)))
    assert (outcome.code, outcome.out) == (2, ""), outcome.err
    assert said in " ".join(outcome.err.split())
    assert outcome.err.splitlines()[-1].startswith("dialgauge: ") and "Traceback" not in outcome.err
    assert len(bench.store.list()) == before
