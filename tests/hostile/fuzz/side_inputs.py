"""What lies beside the dialogues, what servers answer, and what we wrote ourselves and somebody changed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats import read_ontology
from hostile.fuzz import mutations
from hostile.fuzz.dialogues import seeds_of
from hostile.fuzz.mutations import Mutation
from hostile.fuzz.target import Reading, Seeds, Target, damaging, in_file, kept_folder


def side_targets() -> Iterator[Target]:
    """Each kind of file by its reader."""
    side: dict[str, tuple[Seeds, tuple[Mutation, ...], Reading, int]] = {
        "canonical-map": (partial(seeds_of, "canonical-map"), mutations.JSON, _canonical_map, 15),
        "ontology": (_ontologies, mutations.JSON, _ontology, 15),
        "ratings": (lambda: _RATINGS, mutations.TEXT, _ratings, 15),
        "systems": (lambda: [b"system,JGA,FGA\na,0.5,0.6\nb,0.4,0.7\nc,0.3,0.1\n"], mutations.TEXT, _systems, 15),
        "receipt": (lambda: [_RECEIPT], mutations.JSON, _receipt, 15),
        "measure": (lambda: _NAMES, mutations.BYTES, _measure, 40),
        "model": (partial(_model_files, "ranker.json"), mutations.JSON, _model_manifest, 5),
        "arrays": (partial(_model_files, "arrays.npz"), mutations.BYTES, _model_arrays, 5),
        "agent-log": (_agent_logs, mutations.JSON, _audited, 15),
        "tool-tasks": (_tool_tasks, mutations.JSON, _task_file, 15),
        "tool-calls": (
            lambda: [b'[{"name": "pay_duty", "arguments": {"parcel_id": "P-1004"}}]'],
            mutations.JSON,
            _calls,
            15,
        ),
    }
    yield Target("side:download", _make_answer, _download, _answers, weight=5)
    for name, (seeds, how, run, weight) in side.items():
        yield damaging(f"side:{name}", seeds, how, run, weight)


_TASKS = [b'[{"id": 0, "user_id": "a", "instruction": "Cancel.", "actions": [{"name": "x", "arguments": {}}]}]']
_RATINGS = [b"dialogue,rater,rating\nMUL1,a,1\nMUL1,b,0\nMUL2,a,1\n", b"system,dialogue,rater,rating\ns,d,r,2\n"]
_RECEIPT = b'{"dataset":"x","downloads":{"https://x/a.json":"00"}}'


@cache
def _agent_logs() -> list[bytes]:
    from dialgauge.worlds.tools import load_tool_domain
    from support.agent_results import desk_tasks
    from support.scripted_logs import write_scripted_log

    folder = kept_folder()
    tasks = desk_tasks(folder / "desk.json")
    write_scripted_log(load_tool_domain("depot"), tasks, "gold", folder / "log.json")
    return [(folder / "log.json").read_bytes(), *seeds_of("tau"), *seeds_of("tau2")]


def _audited(content: bytes, folder: Path) -> None:
    from dialgauge import review
    from dialgauge.report import csv_page, run_report

    [run] = review(in_file(folder, content), domain="depot", resamples=0).runs
    csv_page(run_report(run, run.table("dialogues")["dialogue"].to_list()))


def _tool_tasks() -> list[bytes]:
    return [*_TASKS, json.dumps(json.loads(_agent_logs()[0])["tasks"]).encode()]


def _task_file(content: bytes, folder: Path) -> None:
    from dialgauge.trials import task_facts
    from dialgauge.worlds.tools import load_tool_domain, read_tool_tasks

    task_facts(read_tool_tasks(in_file(folder, content, "tasks.json")), load_tool_domain("depot"))


def _calls(content: bytes, folder: Path) -> None:
    from dialgauge.worlds.tools import load_tool_domain, read_calls

    world = load_tool_domain("depot").world()
    for outcome in world.call_all(read_calls(in_file(folder, content, "calls.json"))):
        assert outcome.text
    world.changes()


def _ontologies() -> list[bytes]:
    return [*seeds_of("schema"), *seeds_of("multiwoz-ontology"), *seeds_of("convlab3-ontology")]


def _canonical_map(content: bytes, folder: Path) -> None:
    from dialgauge.users import load_map

    load_map(in_file(folder, content))


def _ontology(content: bytes, folder: Path) -> None:
    read_ontology(in_file(folder, content))


def _ratings(content: bytes, folder: Path) -> None:
    from dialgauge.comparison import read_ratings

    for ratings in read_ratings(in_file(folder, content, "ratings.csv")).values():
        ratings.agreement()


def _systems(content: bytes, folder: Path) -> None:
    from dialgauge.comparison import printed_page, read_system_table

    str(printed_page(read_system_table(in_file(folder, content, "systems.csv"))))


def _receipt(content: bytes, folder: Path) -> None:
    from dialgauge.data import Folder, catalogue, listing_page

    place = folder / catalogue().datasets[0].name
    place.mkdir()
    in_file(place, content, ".dialgauge")
    held = Folder(folder)
    held.receipt(place.name)
    listing_page(catalogue(), held)


_ANSWER: dict[str, Any] = {
    "status": 200,
    "headers": {"ETag": '"one"', "Content-Length": "3", "Content-Range": "bytes 0-2/3", "Retry-After": "1"},
    "body": "abc",
    "part": "a",
}


def _answers(*, refusals: bool = False) -> list[bytes]:
    """Answers that bring the file; or that send on, put off and refuse."""
    rest = {"status": 206, "headers": {**_ANSWER["headers"], "Content-Range": "bytes 1-2/3"}, "body": "bc"}
    moved = {"status": 302, "headers": {**_ANSWER["headers"], "Location": "http://example.org/elsewhere"}}
    others: list[dict[str, Any]] = [moved, *({"status": status} for status in (404, 416, 503))]
    return [json.dumps({**_ANSWER, **one}).encode() for one in (others if refusals else [{}, rest])]


def _make_answer(chance: Random) -> bytes:
    return mutations.damage_json(chance.choice(_answers(refusals=chance.random() < 0.5)), chance)


def _download(content: bytes, folder: Path) -> None:
    """A server that answers what it likes, twice, and what an earlier try left."""
    import httpx

    from dialgauge.data import Patience, fetch_file

    try:
        answer = {**_ANSWER, **json.loads(content)}
        headers = {str(name): str(value) for name, value in dict(answer["headers"]).items()}
        body, part = (str(answer[key]).encode("utf-8", "surrogatepass") for key in ("body", "part"))
        fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        status = min(max(int(answer["status"]), 100), 599)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return  # what no server can send

    def answered(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers=fields, stream=httpx.ByteStream(body))

    (folder / "f.part").write_bytes(part)
    whole = httpx.Client
    httpx.Client = partial(whole, transport=httpx.MockTransport(answered))  # type: ignore[misc, assignment]
    try:
        patience = Patience(tries=2, sleep=lambda seconds: None)
        fetch_file(
            "http://example.org/f",
            folder / "f",
            sha256=hashlib.sha256(b"abc").hexdigest(),
            patience=patience,
            limit=10_000,
        )
    finally:
        httpx.Client = whole  # type: ignore[misc]


def _measure(content: bytes, folder: Path) -> None:
    from dialgauge.measures import Signature, parse_measure

    text = content.decode("utf-8", "replace")
    if "|" in text:
        Signature.parse(text)
    else:
        parse_measure(text)


_NAMES = [
    b"JGA", b"FGA@0.5(rule=paper)", b"hits@10", b"I-GCDF1[hotel]", b"F1(average=slot)", b"RSA(empty=one)",
    b"measure:JGA|profile:canon@1-75ba0b9a|gold:a%7Cb|version:0.3.0",
]  # fmt: skip


@cache
def fitted_model() -> Path:
    """A small fitted model in a folder."""
    from dialgauge.rankers import ranker_class, save_ranker
    from support.tiny_world import tiny_task

    folder = kept_folder()
    model = ranker_class("tfidf")(0)
    model.fit(tiny_task(1, 5))
    save_ranker(model, folder, 1)
    return folder


def _model_manifest(content: bytes, folder: Path) -> None:
    from dialgauge.rankers import load_ranker

    shutil.copytree(fitted_model(), folder, dirs_exist_ok=True)
    in_file(folder, content, "ranker.json")
    load_ranker(folder)


def _model_arrays(content: bytes, folder: Path) -> None:
    """Arrays whose checksum was forged with them, as a model and as a checkpoint."""
    from dialgauge.rankers import claim_folder, fit_model, fresh_model, load_ranker
    from support.tiny_world import tiny_task

    shutil.copytree(fitted_model(), folder, dirs_exist_ok=True)
    in_file(folder, content, "arrays.npz")
    facts = json.loads((folder / "ranker.json").read_bytes())
    facts["arrays_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "ranker.json").write_text(json.dumps(facts))
    try:
        begun = folder / "begun"
        begun.mkdir()
        in_file(begun, content, "checkpoint.npz")
        ranker = fresh_model("memn2n", 0, {"epochs": "1", "dim": "4"})
        ranker.checkpoint = claim_folder(begun)
        fit_model(ranker, tiny_task(1, 5))
    except DialgaugeError:
        load_ranker(folder)


def _model_files(name: str) -> list[bytes]:
    return [(fitted_model() / name).read_bytes()]
