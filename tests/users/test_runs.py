"""Users as runs: the contract of every run, the same output in memory and from the store, any source, any number of
workers."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dialgauge
from dialgauge.dialogue import Dialogue, Task
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature
from dialgauge.runs import Run, Store
from dialgauge.users import (
    Query,
    UserOptions,
    UserRuns,
    as_system,
    draw,
    explanation,
    figure_numbers,
    find,
    paper_figures,
    reference_report,
    score_conversations,
    score_tables,
    transcript,
    verdict_table,
)
from runs.contract import assert_run_contract
from support.talks import mishear, talk

GOAL = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",)), "taxi": Task(book={"day": "friday"})}
GOOD = talk(GOAL, ("hotel inform area=north", "hotel inform stars=4", "hotel request phone"), (), id="good")
LOOP = mishear(
    talk(GOAL, *([("hotel inform area=north",), ("hotel inform phone=1",)] * 4), id="loop"), 1, "bus inform x"
)
BROKEN = msgspec.structs.replace(GOOD, id="broken", goal=None)
EMPTY = talk(GOAL, id="empty")
TALKS = [GOOD, BROKEN, LOOP, EMPTY]


@pytest.fixture(scope="module")
def stored_real(convlab_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The 1,000 conversations, from a store."""
    return Store(tmp_path_factory.mktemp("store") / "runs").add(convlab_run)


def test_every_users_run_keeps_the_contract(tmp_path: Path) -> None:
    run = dialgauge.score_users(TALKS, resamples=20)[0]
    assert_run_contract(run)
    stored = Store(tmp_path / "runs").add(run)
    assert_run_contract(stored)
    assert (stored.kind, stored.scores, stored.details) == ("users", run.scores, run.details)
    assert list(stored.dialogues()) == TALKS
    assert stored.table("failures")["dialogue"].to_list() == ["broken"]
    for name in run.tables:
        assert stored.table(name).equals(run.table(name)), name


def test_the_contract_holds_for_real_conversations(stored_real: Run, convlab_run: Run) -> None:
    assert_run_contract(stored_real)
    assert_run_contract(convlab_run)


def everything(run: Run) -> Iterator[tuple[str, Any]]:
    """All that is ever shown of a run."""
    yield "scores", [table.render("markdown") for table in score_tables(run)]
    yield "json", msgspec.json.encode(as_system(run, per_dialogue=True))
    yield "reference", msgspec.json.encode(reference_report(run))
    yield "verdicts", verdict_table(run).render("markdown")
    yield "figures", msgspec.json.encode(figure_numbers(run))
    yield "drawn", [draw(figure).to_dict() for figure in paper_figures(run)]
    for query in (Query(), Query(behaviour="unmatched", domain="hotel"), Query(verdict="missing"), Query(end="loop")):
        yield str(query), find(run, query).write_json()


@pytest.mark.soak
def test_fresh_and_stored_runs_show_the_same(convlab_run: Run, stored_real: Run) -> None:
    for (name, fresh), (_, stored) in zip(everything(convlab_run), everything(stored_real), strict=True):
        assert fresh == stored, name
    ids = convlab_run.table("conversation_facts")["dialogue"].to_list()
    for dialogue in ids[::100]:
        fresh, stored = (
            [table.render("markdown") for table in explanation(run, dialogue)] for run in (convlab_run, stored_real)
        )
        assert fresh == stored
        assert list(transcript(convlab_run, dialogue)) == list(transcript(stored_real, dialogue))


def test_a_stored_run_can_be_opened_from_python(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    fresh = dialgauge.score_users(TALKS, resamples=0)[0]
    opened = UserRuns([store.open(store.add(fresh).id)])
    assert opened[0]["I-GCDF1"] == fresh["I-GCDF1"]
    assert str(opened.explain("loop")) == str(UserRuns([fresh]).explain("loop"))
    with pytest.raises(DialgaugeError, match="no goal"):
        opened.explain("broken")
    with pytest.raises(DialgaugeError, match="is not a run of"):
        UserRuns([store.add(dialgauge.runs.new_run(kind="tracking", name="x"))])


def test_files_a_corpus_a_run_a_list_and_a_stream_score_alike(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    dialgauge.write(TALKS, path, format="native")
    from_files = dialgauge.score_users(path, resamples=50)[0]
    for source in (dialgauge.read(path), TALKS, tuple(TALKS), (each for each in TALKS), from_files):
        users = dialgauge.score_users(source, resamples=50)[0]
        assert users.scores == from_files.scores
        assert users.coverage == from_files.coverage
        assert users.table("verdicts").equals(from_files.table("verdicts"))
        assert list(users.dialogues()) == TALKS


def test_the_profile_follows_the_format_of_a_corpus(shared_data: Path) -> None:
    path = shared_data / "multiwoz21" / "val.json.gz"
    users = dialgauge.score_users(dialgauge.read(path), resamples=0)[0]
    assert users.details["profile"] == "multiwoz21-people"
    assert users.scores == dialgauge.score_users(path, resamples=0)[0].scores


def test_an_id_used_twice_in_memory_is_a_failure_and_no_conversation(tmp_path: Path) -> None:
    again = msgspec.structs.replace(LOOP, id="GOOD.json")
    users = dialgauge.score_users([GOOD, *(msgspec.structs.replace(GOOD, id=str(n)) for n in range(40)), again])[0]
    assert "already used by an earlier dialogue" in users.table("failures")["reason"][0]
    assert len(list(users.dialogues())) == 41
    Store(tmp_path / "runs").add(users)


def test_a_dialogue_that_failed_gives_way_to_a_later_one_of_its_id(tmp_path: Path) -> None:
    """As ever, files are scored one by one: an id counts as used when a dialogue of it was scored."""
    for name, dialogue in (("a", BROKEN), ("b", msgspec.structs.replace(GOOD, id="broken"))):
        dialgauge.write([dialogue], tmp_path / f"{name}.jsonl", format="native")
    users = dialgauge.score_users(tmp_path, resamples=0)[0]
    assert users.table("conversation_facts")["dialogue"].to_list() == ["broken"]
    (kept,) = users.dialogues()
    assert kept.goal is not None
    assert_run_contract(users)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files with a failure, an id used twice and a dialogue that cannot be read, and an archive."""
    path = tmp_path / "talks"
    path.mkdir()
    dialgauge.write([GOOD, BROKEN], path / "a.jsonl", format="native")
    dialgauge.write([LOOP, GOOD], path / "b.json", format="gcdf1")
    dialgauge.write([msgspec.structs.replace(GOOD, id="bad"), EMPTY], path / "c.json", format="gcdf1")
    content = (path / "c.json").read_bytes()
    (path / "c.json").write_bytes(content.replace(b'"dialogue_id":"bad"', b'"dialogue_id":"bad","services":7'))
    packed = tmp_path / "member.jsonl"
    dialgauge.write([msgspec.structs.replace(GOOD, id="packed")], packed, format="native")
    with tarfile.open(path / "d.tar", "w") as archive:
        archive.add(packed, "member.jsonl")
    return path


def test_files_of_several_kinds_are_scored_in_order(folder: Path) -> None:
    scored = score_conversations(folder)
    assert [each.id for each in scored.results] == ["good", "loop", "empty", "packed"]
    assert [each.dialogue for each in scored.failures] == ["broken", "good", "bad"]
    assert scored.unread == 1


def test_the_order_of_files_changes_no_number(tmp_path: Path) -> None:
    goals = [{"hotel": Task(info={"area": "north", "stars": str(n)})} for n in range(12)]
    talks = [
        talk(goal, ("hotel inform area=north",), (), *([("hotel inform area=north",), ()] * (n % 4)), id=f"d{n}")
        for n, goal in enumerate(goals)
    ]
    for name, order in (("one", talks), ("other", talks[::-1])):
        (tmp_path / name).mkdir()
        for number, each in enumerate(order):
            dialgauge.write([each], tmp_path / name / f"{number:02}.jsonl", format="native")
    one, other = (dialgauge.score_users(tmp_path / name, resamples=200)[0] for name in ("one", "other"))
    first, second = (users.scores["I-GCDF1"] for users in (one, other))
    assert first.low != first.high
    assert (first.low, first.high) == (second.low, second.high)
    assert first.value == pytest.approx(second.value, abs=1e-15)
    by_id = [
        dict(zip(t["dialogue"], t["num"], strict=True)) for t in (u.table("dialogue_scores") for u in (one, other))
    ]
    assert by_id[0] == by_id[1]
    facts = one.table("conversation_facts")["dialogue"].to_list()
    assert facts == [each.id for each in talks]


def test_the_folder_into_which_the_reference_wrote_its_results_is_read(tmp_path: Path) -> None:
    """It writes its scores and the dialogues once more, with metrics and altered goals, beside the conversations."""
    folder = tmp_path / "test"
    folder.mkdir()
    dialgauge.write([GOOD], folder / "dialogues_001.json", format="gcdf1")
    dialgauge.write([LOOP], folder / "dialogues_002.json", format="gcdf1")
    alone = dialgauge.score_users(folder, resamples=0)[0]
    (folder / "baseline.json").write_bytes(msgspec.json.encode(reference_report(alone)))
    again = {}
    for number in (1, 2):
        for record in msgspec.json.decode((folder / f"dialogues_00{number}.json").read_bytes()):
            again[record["dialogue_id"]] = record | {"metrics": {"igcd_f1": {"hotel": [1.0]}}}
    (folder / "metrics_per_dialogue.json").write_bytes(msgspec.json.encode(again))
    beside = dialgauge.score_users(folder, resamples=0)[0]
    assert beside.scores == alone.scores
    assert beside.table("failures").is_empty()
    assert [note.partition(":")[0] for note in beside.notes] == [
        "baseline.json skipped",
        "metrics_per_dialogue.json skipped",
    ]
    assert dialgauge.score_users(folder / "metrics_per_dialogue.json", resamples=0)[0].scores == alone.scores


def test_what_ends_the_work_is_one_sentence(folder: Path) -> None:
    (folder / "b.json").write_text('[{"dialogue_id": "x", "turns": [')
    with pytest.raises(DialgaugeError) as caught:
        score_conversations(folder / "b.json", UserOptions(format="gcdf1"))
    assert str(caught.value).startswith(str(folder / "b.json"))
    assert "\n" not in str(caught.value)


def test_the_signature_says_what_could_change_the_score(tmp_path: Path) -> None:
    users = dialgauge.score_users(TALKS, mode="recommended", resamples=0)[0]
    signature = Signature.parse(users.scores["I-GCDF1 precision[hotel]"].signature)
    parts = ["measure", "mode", "profile", "map", "config", "dialogues", "turns", "version"]
    assert list(signature) == parts
    assert signature["measure"] == "I-GCDF1 precision[hotel]"
    assert (signature["mode"], signature["dialogues"], signature["turns"]) == ("recommended", "2", "10")


def test_only_one_dialogue_is_no_list_of_dialogues() -> None:
    with pytest.raises(dialgauge.DialgaugeError, match="something of type Dialogue cannot be read"):
        dialgauge.score_users(Dialogue(id="x", turns=()))  # type: ignore[arg-type]
