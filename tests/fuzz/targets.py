"""Everything that reads what others wrote: one target each, with sound content to damage and a way to have it read.

What is read is also used as the commands use it: dialogues are scored, tables printed, archives unpacked.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DialogueFormat, Notes, format_named, formats, read, read_ontology, recognise, resolve
from dialgauge.formats.base import Peek
from fuzz import mutations
from fuzz.archives import make_archive
from fuzz.mutations import Mutation
from support.examples import EXAMPLES
from support.reading import no_hint_excludes, part_of, write_bytes
from support.talks import talk
from support.trackers import gold_dialogues, tracker, write_predictions


@dataclass(frozen=True)
class Target:
    """How one case is made from chance, and what reads it, with a folder to work in that is its own."""

    name: str
    make: Callable[[Random], bytes]
    run: Callable[[bytes, Path], None]
    #: What is damaged. As it is, it must be accepted, or its damage shows nothing.
    seeds: Callable[[], list[bytes]] = list
    #: How many of its cases stand beside one case of a slow target.
    weight: int = 1


def _damaging(
    name: str,
    seeds: Callable[[], list[bytes]],
    how: tuple[Mutation, ...],
    run: Callable[[bytes, Path], None],
    weight: int,
) -> Target:
    def make(chance: Random) -> bytes:
        return chance.choice(how)(chance.choice(seeds()), chance)

    return Target(name, make, run, seeds, weight)


# Readers.


@cache
def seeds_of(name: str) -> list[bytes]:
    """A sound file of a format made by hand and, where the format is written, one by our own writer."""
    made = [EXAMPLES[name]] if name in EXAMPLES else []
    known = format_named(name)
    if isinstance(known, DialogueFormat) and known.writes:
        for dialogues in ([_conversation()], gold_dialogues(2)):
            try:
                made.append(write_bytes(name, dialogues)[0])
            except DialgaugeError:
                continue
    return made


@cache
def _conversation() -> Any:
    tasks = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
    made = talk(
        tasks,
        ("hotel inform area=north", "hotel inform stars=4"),
        ("hotel recommend name=acorn",),
        ("hotel request phone",),
        ("hotel inform phone=01223",),
        ("hotel inform area=north",),
        ("hotel nooffer",),
    )
    return replace(made, turns=tuple(replace(turn, text=f"turn {place}") for place, turn in enumerate(made.turns)))


def read_as(name: str, content: bytes, folder: Path) -> None:
    """One file in a format that is named; a tolerant reading leaves dialogues out and goes on."""
    chosen = format_named(name)
    if isinstance(chosen, DialogueFormat):
        list(chosen.read(part_of(content), Notes(tolerant=True)))
        list(chosen.read(part_of(content), Notes()))
    else:
        chosen.load(part_of(content), Notes())


def recognised(content: bytes, folder: Path) -> None:
    """Which format it is, and that no hint keeps the right one from being asked."""
    no_hint_excludes(Peek(part_of(content)))
    recognise(part_of(content))


@cache
def _any_seed() -> list[bytes]:
    return [seed for name in sorted(EXAMPLES) for seed in seeds_of(name) if _is_recognised(seed)]


def kept_folder() -> Path:
    """A folder for what is made once; it goes with the process."""
    import atexit
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="dialgauge-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _file(folder: Path, content: bytes, name: str = "file.json") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def whole_file(content: bytes, folder: Path) -> None:
    """A file as ``dialgauge.read`` reads it."""
    read(_file(folder, content))


def checked(content: bytes, folder: Path) -> None:
    """``dialgauge data check``: the report and all of its tables."""
    from dialgauge.data import check, show
    from dialgauge.report import FORMATS, Table

    report = check([str(_file(folder, content))])
    for item in show(report):
        if isinstance(item, Table):
            for form in FORMATS:
                item.render(form)


def converted(content: bytes, folder: Path) -> None:
    """``dialgauge data convert``, to a format that the content chooses, and back."""
    from dialgauge.data import convert

    writers = [one.name for one in formats().values() if isinstance(one, DialogueFormat) and one.writes]
    to = writers[hashlib.sha256(content).digest()[0] % len(writers)]
    target = folder / "converted"
    convert(_file(folder, content), target, to=to, force=True)
    read(target, format=to)


@cache
def _dialogue_seeds() -> list[bytes]:
    known = [one.name for one in formats().values() if isinstance(one, DialogueFormat)]
    return [seed for name in sorted(known) for seed in seeds_of(name) if _is_recognised(seed)]


def _is_recognised(seed: bytes) -> bool:
    with suppress(DialgaugeError):
        return bool(recognise(part_of(seed)))
    return False


@cache
def _accepted_by(run: Callable[[bytes, Path], None]) -> list[bytes]:
    """Those of the sound files of dialogues that a command can do something with."""
    import tempfile

    kept = []
    for seed in _dialogue_seeds():
        with tempfile.TemporaryDirectory() as folder, suppress(DialgaugeError):
            run(seed, Path(folder))
            kept.append(seed)
    return kept


# Scores.


@cache
def _tracked() -> tuple[bytes, bytes]:
    import tempfile

    gold = gold_dialogues(3)
    with tempfile.TemporaryDirectory() as folder:
        predicted = write_predictions(Path(folder, "p.json"), gold, tracker(gold, 0.3, 1)).read_bytes()
    return write_bytes("native", gold)[0], predicted


def scored(content: bytes, folder: Path) -> None:
    """``dialgauge score`` of damaged predictions: scores, views, faults and tables."""
    from dialgauge.tracking import score

    results = score(_file(folder, _tracked()[0], "gold.jsonl"), [_file(folder, content)], resamples=10)
    for table in results.tables(["domain", "slot", "turn"], faults=True):
        table.render("latex")
    results.as_dict(["domain"], faults=True)


def scored_by_itself(content: bytes, folder: Path) -> None:
    """``dialgauge score self``, under a profile for any data."""
    from dialgauge.tracking import score

    for table in score(None, [_file(folder, content)], profile="verbatim", resamples=10).tables():
        table.render("terminal").text()


def users_judged(content: bytes, folder: Path) -> None:
    """``dialgauge users score``: scores, tables, explanations."""
    from dialgauge.users import explanation, score_tables, score_users, warnings

    run = score_users(_file(folder, content), resamples=5).run
    list(warnings(run))
    explained = [table for name in run.table("dialogues")["dialogue"] for table in explanation(run, name)]
    for table in (*score_tables(run), *explained):
        table.render("csv")


# YAML.


def _with_path(load: Callable[[Path], object]) -> Callable[[bytes, Path], None]:
    def run(content: bytes, folder: Path) -> None:
        load(_file(folder, content, "file.yaml"))

    return run


def _yaml_profile(path: Path) -> None:
    from dialgauge.values import profile_named

    profile_named(str(path)).explain()


def _yaml_dataset_profile(path: Path) -> None:
    from dialgauge.users.profile import load_profile

    load_profile(str(path))


def _yaml_config(path: Path) -> None:
    from dialgauge.users.config import load_config

    load_config(path)


def _yaml_world(path: Path) -> None:
    from dialgauge.worlds.restaurant import load_world

    load_world(path)


def _yaml_any(path: Path) -> None:
    from dialgauge.yaml_file import read_yaml

    document = read_yaml(path)
    document.line("rules", 0, "drop")


def _catalogue(content: bytes, folder: Path) -> None:
    from dialgauge.data.datasets import parse

    parse(content, "datasets.yaml")


@cache
def _profile_seeds() -> list[bytes]:
    return [
        b"name: ours\nversion: 1\nextends: canon\nsummary: mine\nrules:\n  - replace: {b & b: bed and breakfast}\n"
        b"    slots: [type]\n    side: gold\n  - regex: [['the ', '']]\n  - drop: [unknown]\n"
        b"  - accept: {north: [the north]}\n  - split: '|'\nmatch: equal\n"
    ]


_CATALOGUE = b"""datasets:
  - name: one
    title: One
    home: https://example.org
    licence: MIT
    citation: nobody
    base: https://example.org/files/
    files:
      - {path: a.json, sha256: "00", size: 3}
      - url: https://example.org/all.zip
        unpack: true
        strip: 1
        only: ["*.json"]
    members:
      - {path: b.json, sha256: "11"}
"""


@cache
def _config_seeds() -> list[bytes]:
    return [
        b"mode: reference\nfailures: auto\nmax_turns: 100\nigcd_f1:\n  repetitions:\n    max_repetitions: 3\n"
        b"    count_fp: true\n  value_matching:\n    fuzzy_match_threshold: 0.9\n"
        b"rgcd_f1:\n  auto_add_to_ref: [ref, hotel-ref]\n"
    ]


@cache
def _shipped(package: str, *path: str) -> list[bytes]:
    return [resources.files(package).joinpath(*path).read_bytes()]


def _world_seeds() -> list[bytes]:
    small = (
        b"base: restaurant\nprices: [cheap, dear]\nsizes: [two]\nratings: [1, 2]\nhalves:\n  A: {locations: [rome]}\n"
    )
    return [small, *_shipped("dialgauge.worlds.restaurant", "worlds", "bakery.yaml")]


# Archives.


def opened(content: bytes, folder: Path) -> None:
    """Every part of an archive, read."""
    failure: DialgaugeError | None = None
    for part in resolve(_file(folder, content, "archive.zip"), limit=50_000_000):
        try:
            part.read()
            recognise(part)
        except DialgaugeError as error:
            failure = error
    if failure is not None:
        raise failure


def unpacked(content: bytes, folder: Path) -> None:
    """``dialgauge data get``: the archive of a dataset, below its folder and nowhere else."""
    from dialgauge.data.unpack import unpack

    inside = folder / "deep" / "inside"
    try:
        unpack(_file(folder, content, "archive.zip"), inside, limit=50_000_000)
    finally:
        strangers = {item.name for item in folder.iterdir()} - {"archive.zip", "deep"}
        strangers |= {item.name for item in (folder / "deep").iterdir()} - {"inside"} if inside.exists() else set()
        assert not strangers, f"unpacked outside the folder: {strangers}"


# What lies beside the dialogues, and what we wrote ourselves and somebody changed.


def _canonical_map(content: bytes, folder: Path) -> None:
    from dialgauge.users import load_map

    load_map(_file(folder, content))


def _ontology(content: bytes, folder: Path) -> None:
    read_ontology(_file(folder, content))


def _ratings(content: bytes, folder: Path) -> None:
    from dialgauge.comparison import read_ratings

    for ratings in read_ratings(_file(folder, content, "ratings.csv")).values():
        ratings.agreement()


def _systems(content: bytes, folder: Path) -> None:
    from dialgauge.comparison import read_system_table, system_table_json, system_tables

    read_table = read_system_table(_file(folder, content, "systems.csv"))
    system_table_json(read_table)
    for table in system_tables(read_table):
        table.render("markdown")


def _receipt(content: bytes, folder: Path) -> None:
    from dialgauge.data import catalogue, listing, verify
    from dialgauge.data.folder import Folder

    place = folder / catalogue().datasets[0].name
    place.mkdir()
    _file(place, content, ".dialgauge")
    held = Folder(folder)
    held.receipt(place.name)
    verify(catalogue().datasets[0], held)
    listing(catalogue(), held)


def _first_seen(content: bytes, folder: Path) -> None:
    from dialgauge.data.folder import Folder

    (folder / ".dialgauge").mkdir()
    _file(folder / ".dialgauge", content, "first_seen.json")
    Folder(folder).remember({"http://x": "0"})


_ANSWER: dict[str, Any] = {
    "status": 200,
    "headers": {"ETag": '"one"', "Content-Length": "3", "Content-Range": "bytes 0-2/3", "Retry-After": "1"},
    "body": "abc",
    "part": "a",
    "note": '{"url":"http://example.org/f","validator":"\\"one\\""}',
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

    from dialgauge.data.fetch import Patience, fetch

    try:
        answer = {**_ANSWER, **json.loads(content)}
        headers = {str(name): str(value) for name, value in dict(answer["headers"]).items()}
        body, part, note = (str(answer[key]).encode("utf-8", "surrogatepass") for key in ("body", "part", "note"))
        fields = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        status = min(max(int(answer["status"]), 100), 599)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return  # what no server can send

    def answered(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers=fields, stream=httpx.ByteStream(body))

    (folder / "f.part").write_bytes(part)
    (folder / "f.part.json").write_bytes(note)
    whole = httpx.Client
    httpx.Client = partial(whole, transport=httpx.MockTransport(answered))  # type: ignore[misc, assignment]
    try:
        patience = Patience(tries=2, sleep=lambda seconds: None)
        fetch("http://example.org/f", folder / "f", patience=patience, limit=10_000)
    finally:
        httpx.Client = whole  # type: ignore[misc]


@cache
def stored_run() -> Path:
    """A store with one run, made once."""
    from dialgauge.runs import Store
    from dialgauge.tracking import score

    folder = kept_folder()
    gold, predicted = _tracked()
    results = score(
        _file(folder, gold, "gold.jsonl"), [_file(folder, predicted, "system.json")], measures="JGA", resamples=5
    )
    store = Store(folder / "store")
    run = store.add(results.runs[0])
    facts = json.loads((run.path / "run.json").read_bytes())
    # The same in every process, so that a case is the same too.
    facts |= {"id": "20260101-000000-tracking-system-0000", "created": "2026-01-01T00:00:00Z", "command": ["score"]}
    facts["inputs"], facts["versions"] = [], {"dialgauge": "0"}
    (run.path / "run.json").write_text(json.dumps(facts, indent=1))
    run.path.rename(store.folder / facts["id"])
    return store.folder


def _files_of_run(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(stored_run().rglob(pattern))]


def _read_store(folder: Path) -> None:
    """Whatever the commands do with stored runs."""
    from dialgauge.report import run_tables
    from dialgauge.runs import Store
    from dialgauge.tracking import present

    store = Store(folder)
    problems: list[DialgaugeError] = []
    store.sql("SELECT count(*), max(num) FROM dialogue_scores", on_problem=problems.append)
    for run in store.survey().runs:
        for table in run_tables(run):
            table.render("terminal").text()
        for name in run.tables:
            run.table(name)
        list(run.dialogues())
        present([run]).tables()


def _manifest(content: bytes, folder: Path) -> None:
    shutil.copytree(stored_run(), folder / "store")
    next((folder / "store").glob("2*/run.json")).write_bytes(content)
    _read_store(folder / "store")


def _corpus_file(content: bytes, folder: Path) -> None:
    shutil.copytree(stored_run(), folder / "store")
    next((folder / "store").glob("corpora/*/corpus.json")).write_bytes(content)
    _read_store(folder / "store")


def _parquet(name: str, content: bytes, folder: Path) -> None:
    """A table whose checksum was forged with it."""
    shutil.copytree(stored_run(), folder / "store")
    table = next((folder / "store").rglob(f"{name}.parquet"))
    table.write_bytes(content)
    owner = next(path for path in (table.parent / "run.json", table.parent / "corpus.json") if path.exists())
    facts = json.loads(owner.read_bytes())
    facts["tables"][table.stem] |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    owner.write_text(json.dumps(facts))
    _read_store(folder / "store")


def _sql(content: bytes, folder: Path) -> None:
    from dialgauge.cli.common import frame_csv, frame_json, frame_parquet, frame_table
    from dialgauge.runs import Store

    frame = Store(stored_run()).sql(content.decode("utf-8", "replace")).head(50)
    frame_table("", frame).render("terminal").text()
    frame_csv(frame), frame_json(frame), frame_parquet(frame)


_QUERIES = [
    b"SELECT run, measure, sum(num) / sum(den) AS score FROM dialogue_scores GROUP BY ALL ORDER BY ALL",
    b"SHOW TABLES",
    b"SELECT TIMESTAMP '2020-01-01 10:00:00', DATE '2020-01-01', 'NaN'::DOUBLE, 10::HUGEINT, 'infinity'",
    b"SELECT TIMESTAMPTZ 'epoch', TIME '12:00', UUID '00000000-0000-0000-0000-000000000000', '1'::BLOB",
    b"SELECT {'a': 1}, [1, 2], MAP {'a': 2}, '[1]'::JSON, 1.5::DECIMAL(38, 10), true, NULL, [DATE '2020-01-01']",
    b"SELECT * FROM runs",
    b"SELECT * FROM dialogues JOIN turns USING (dialogue) WHERE text ILIKE '%a%' LIMIT 3",
    b"WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t",
    b"SELECT TIMESTAMP_NS '2262-04-11 23:47:16', TIMESTAMP_S '9990-01-01', DATE '9990-01-01', TIME '1:00'",
]


def _measure(content: bytes, folder: Path) -> None:
    from dialgauge.measures import Signature
    from dialgauge.measures.registry import parse_measure

    text = content.decode("utf-8", "replace")
    if "|" in text:
        Signature.parse(text)
    else:
        parse_measure(text)


_NAMES = [
    b"JGA", b"FGA@0.5(rule=paper)", b"hits@10", b"I-GCDF1[hotel]", b"F1(average=slot)", b"RSA(empty=one)",
    b"measure:JGA|profile:canon@1-75ba0b9a|gold:a%7Cb|version:0.2.0",
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
    _file(folder, content, "ranker.json")
    load_ranker(folder)


def _model_arrays(content: bytes, folder: Path) -> None:
    """Arrays whose checksum was forged with them, as a model and as a checkpoint."""
    from dialgauge.rankers import load_ranker
    from dialgauge.rankers.model_folder import _training_of

    shutil.copytree(fitted_model(), folder, dirs_exist_ok=True)
    _file(folder, content, "arrays.npz")
    facts = json.loads((folder / "ranker.json").read_bytes())
    facts["arrays_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "ranker.json").write_text(json.dumps(facts))
    try:
        _training_of(_file(folder, content, "checkpoint.npz"))
    except DialgaugeError:
        load_ranker(folder)


def _model_files(name: str) -> list[bytes]:
    return [(fitted_model() / name).read_bytes()]


def _targets() -> Iterator[Target]:
    for name in sorted(EXAMPLES):
        is_json = EXAMPLES[name].lstrip()[:1] in (b"{", b"[")
        how = mutations.JSON if is_json else mutations.TEXT
        yield _damaging(f"read:{name}", partial(seeds_of, name), how, partial(read_as, name), 100)
    anything = (*mutations.JSON, mutations.damage_text)
    yield _damaging("recognise", _any_seed, anything, recognised, 60)
    yield _damaging("read", _dialogue_seeds, anything, whole_file, 60)
    yield _damaging("check", _any_seed, anything, checked, 10)
    yield _damaging("convert", partial(_accepted_by, converted), anything, converted, 20)
    yield _damaging("score", lambda: [_tracked()[1]], mutations.JSON, scored, 3)
    yield _damaging("score:self", partial(_accepted_by, scored_by_itself), mutations.JSON, scored_by_itself, 6)
    yield _damaging("users", partial(_accepted_by, users_judged), mutations.JSON, users_judged, 6)
    yaml: dict[str, tuple[Callable[[], list[bytes]], Callable[[bytes, Path], None]]] = {
        "profile": (_profile_seeds, _with_path(_yaml_profile)),
        "config": (_config_seeds, _with_path(_yaml_config)),
        "dataset-profile": (
            partial(_shipped, "dialgauge.users", "profiles", "multiwoz21.yaml"),
            _with_path(_yaml_dataset_profile),
        ),
        "world": (_world_seeds, _with_path(_yaml_world)),
        "catalogue": (lambda: [_CATALOGUE], _catalogue),
        "any": (_profile_seeds, _with_path(_yaml_any)),
    }
    for name, (seeds, run) in yaml.items():
        yield _damaging(f"yaml:{name}", seeds, mutations.YAML, run, 30)
    yield Target("archive:read", make_archive, opened, weight=50)
    yield Target("archive:unpack", make_archive, unpacked, weight=50)
    side: dict[str, tuple[Callable[[], list[bytes]], tuple[Mutation, ...], Callable[[bytes, Path], None], int]] = {
        "canonical-map": (partial(seeds_of, "canonical-map"), mutations.JSON, _canonical_map, 15),
        "ontology": (
            lambda: [*seeds_of("schema"), *seeds_of("multiwoz-ontology"), *seeds_of("convlab3-ontology")],
            mutations.JSON,
            _ontology,
            15,
        ),
        "ratings": (
            lambda: [
                b"dialogue,rater,rating\nMUL1,a,1\nMUL1,b,0\nMUL2,a,1\n",
                b"system,dialogue,rater,rating\ns,d,r,2\n",
            ],
            mutations.TEXT,
            _ratings,
            15,
        ),
        "systems": (lambda: [b"system,JGA,FGA\na,0.5,0.6\nb,0.4,0.7\nc,0.3,0.1\n"], mutations.TEXT, _systems, 15),
        "receipt": (
            lambda: [b'{"dataset":"x","downloads":[],"files":[{"path":"a.json","size":1,"sha256":"00"}]}'],
            mutations.JSON,
            _receipt,
            15,
        ),
        "first-seen": (lambda: [b'{"http://a":"00"}'], mutations.JSON, _first_seen, 10),
        "manifest": (partial(_files_of_run, "run.json"), mutations.JSON, _manifest, 1),
        "corpus": (partial(_files_of_run, "corpus.json"), mutations.JSON, _corpus_file, 1),
        **{
            name: (partial(_files_of_run, f"{name}.parquet"), mutations.BYTES, partial(_parquet, name), 1)
            for name in ("dialogue_scores", "dialogues", "turns", "slot_scores")
        },
        "sql": (lambda: _QUERIES, (mutations.damage_text, mutations.damage_bytes), _sql, 1),
        "measure": (lambda: _NAMES, mutations.BYTES, _measure, 40),
        "model": (partial(_model_files, "ranker.json"), mutations.JSON, _model_manifest, 5),
        "arrays": (partial(_model_files, "arrays.npz"), mutations.BYTES, _model_arrays, 5),
    }
    yield Target("side:download", _make_answer, _download, _answers, weight=5)
    for name, (make_seeds, how, run, weight) in side.items():
        yield _damaging(f"side:{name}", make_seeds, how, run, weight)


@cache
def targets() -> dict[str, Target]:
    """All targets by name."""
    from fuzz.commands import command_targets

    return {target.name: target for target in (*_targets(), *command_targets())}
