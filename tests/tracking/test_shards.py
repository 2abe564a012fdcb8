"""One system in many files: the scores of one file, whatever engine, order and interruption."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from msgspec.structs import replace

import dialgauge
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.engine import WorkPlace
from dialgauge.errors import DialgaugeError
from dialgauge.formats import write
from dialgauge.measures import Resampling
from dialgauge.runs import Run, Store
from dialgauge.stats import share_interval
from dialgauge.tracking import (
    RESAMPLED,
    Renaming,
    ShardSettings,
    TrackingRuns,
    chosen_measures,
    required_measures,
    score_shards,
)
from dialgauge.tracking.shard_scores import Moments
from support.shared import shared_folder

DATA = shared_folder("data")
VALUES = ("north", "south", "east", "west")


def talk(number: int) -> Dialogue:
    """A dialogue of a few turns whose tracker errs now and then."""
    chance = random.Random(number)
    turns, gold, predicted = [], {}, {}
    for _ in range(chance.randint(1, 6)):
        slot = chance.choice(["area", "stars", "name", "parking"])
        gold[slot] = (chance.choice(VALUES),)
        predicted[slot] = gold[slot] if chance.random() < 0.8 else (chance.choice(VALUES),)
        turns.append(Turn(speaker="user", state={"hotel": dict(gold)}, predicted={"hotel": dict(predicted)}))
    return Dialogue(id=f"talk{number}", turns=tuple(turns), domains=("hotel", "train"))


TALKS = [talk(number) for number in range(120)]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The talks in five files of five kinds."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(5):
        write(TALKS[number::5], folder / f"part-{number}.jsonl", format="native")
    packers = {1: (gzip, ".gz"), 2: (bz2, ".bz2"), 3: (lzma, ".xz")}
    for number, (packer, ending) in packers.items():
        plain = folder / f"part-{number}.jsonl"
        (folder / f"part-{number}.jsonl{ending}").write_bytes(packer.compress(plain.read_bytes()))
        plain.unlink()
    write(TALKS[4::5], folder / "part-4.parquet", format="parquet")
    (folder / "part-4.jsonl").unlink()
    (folder / "README.md").write_text("what these are")
    return folder


def scored(sources: Sequence[Path | str], store: Path, place: WorkPlace | None = None, **more: Any) -> TrackingRuns:
    chosen = more.pop("measures", None)
    given: dict[str, Any] = {"profile": "canon", "coverage": "intersection", "exclude": []} | more
    how, name = given.pop("resampling", Resampling()), given.pop("name", "mine")
    settings = ShardSettings(measures=[str(measure) for measure in chosen_measures(chosen)], **given)
    return score_shards(
        [str(source) for source in sources], settings, required=required_measures(chosen), resampling=how, name=name,
        store=Store(store), workers=place or WorkPlace("local"),
    )  # fmt: skip


def content(run: Run, store: Path) -> tuple[bytes, dict[str, Any]]:
    """The bytes of a stored run but for its id, its moment and its command."""
    stored = Store(store).add(run)
    stored.verify()
    facts = stored.manifest
    kept = {name: getattr(facts, name) for name in facts.__struct_fields__ if name not in ("id", "created", "command")}
    return b"".join(path.read_bytes() for path in stored.files["dialogue_scores"]), kept


def test_many_files_give_the_scores_and_the_signature_of_one(files: Path, tmp_path: Path) -> None:
    whole = dialgauge.score(None, {"mine": TALKS}, intervals=False).systems[0]
    parts = scored([files], tmp_path / "store", resampling=None).systems[0]
    assert parts.scores.keys() == whole.scores.keys()
    for name, score in whole.scores.items():
        assert parts[name] == pytest.approx(whole[name], rel=1e-14), name
        assert parts.scores[name].signature == score.signature
    assert parts.details.counts == whole.details.counts
    assert parts.details.evidence == whole.details.evidence
    assert parts.coverage.sentence() == whole.coverage.sentence()
    together = sorted(whole.run.table("dialogue_scores").rows())
    assert sorted(parts.run.table("dialogue_scores").rows()) == together


@pytest.mark.soak
def test_equal_bytes_on_every_engine_in_any_order(files: Path, tmp_path: Path) -> None:
    here = content(scored([files], tmp_path / "a").runs[0], tmp_path / "b")
    names = sorted(str(path) for path in files.glob("part-*"))
    for place, sources in (
        (WorkPlace("pool", 1), [str(files)]),
        (WorkPlace("pool", 2), [str(files)]),
        (WorkPlace("pool", 3), names[::-1]),
        (WorkPlace("local"), [names[2], *names]),
    ):
        table, facts = content(scored(sources, tmp_path / "a", place).runs[0], tmp_path / "b")
        assert table == here[0]
        assert {key: value for key, value in facts.items() if key != "inputs"} == {
            key: value for key, value in here[1].items() if key != "inputs"
        }
        assert [(one.files, one.size, one.sha256) for one in facts["inputs"]] == [
            (one.files, one.size, one.sha256) for one in here[1]["inputs"]
        ]


def test_gold_apart_in_one_file_or_in_files_of_the_same_names(tmp_path: Path) -> None:
    gold = [replace(one, turns=tuple(replace(turn, predicted=None) for turn in one.turns)) for one in TALKS]
    theirs = [replace(one, turns=tuple(replace(turn, state=None) for turn in one.turns)) for one in TALKS[:-3]]
    whole = dialgauge.score(gold, {"mine": theirs}, intervals=False).systems[0]
    for folder, dialogues in (("gold", gold), ("pred", theirs)):
        (tmp_path / folder).mkdir()
        for number in range(3):
            write(dialogues[number * 40 : number * 40 + 40], tmp_path / folder / f"{number}.jsonl", format="native")
    write(gold, tmp_path / "gold.jsonl", format="native")
    for reference in (tmp_path / "gold.jsonl", tmp_path / "gold"):
        parts = scored([tmp_path / "pred"], tmp_path / "store", gold=str(reference), resampling=None).systems[0]
        assert {name: parts[name] for name in parts.scores} == pytest.approx(
            {name: whole[name] for name in whole.scores}, rel=1e-14
        )
        assert parts.coverage.missing_dialogues == whole.coverage.missing_dialogues == [one.id for one in TALKS[-3:]]
        assert parts.coverage.gold_turns == whole.coverage.gold_turns
        assert parts.signature["gold"] == whole.signature["gold"]
    empty = dialgauge.score(gold, {"mine": theirs}, coverage="empty", intervals=False).systems[0]
    paired = scored([tmp_path / "pred"], tmp_path / "store", gold=str(tmp_path / "gold"), coverage="empty").systems[0]
    assert paired["JGA"] == pytest.approx(empty["JGA"], rel=1e-14)
    assert paired.coverage == empty.coverage
    left_out = [TALKS[0].id, TALKS[-1].id]
    fewer = dialgauge.score(gold, {"mine": theirs}, exclude=left_out, intervals=False).systems[0]
    for reference in (tmp_path / "gold.jsonl", tmp_path / "gold"):
        parts = scored([tmp_path / "pred"], tmp_path / "store", gold=str(reference), exclude=left_out).systems[0]
        assert parts.coverage.sentence() == fewer.coverage.sentence()
    with pytest.raises(DialgaugeError, match="3 gold dialogues have no prediction"):
        scored([tmp_path / "pred"], tmp_path / "store", gold=str(tmp_path / "gold.jsonl"), coverage="empty")


def test_names_of_dialogues_are_changed_before_their_gold_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    gold = {f"D{number}": [{"hotel-area": "north"}] for number in range(4)}
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    for number in range(2):
        states = {f"X{each}": [{"hotel-area": "north" if each else "south"}] for each in (number, number + 2)}
        (tmp_path / "mine" / f"{number}.json").write_text(json.dumps(states))
    renaming = Renaming(dialogues={f"X{number}": f"D{number}" for number in range(4)})
    how: dict[str, Any] = {"gold": str(tmp_path / "gold.json"), "renaming": renaming, "measures": "JGA"}
    assert float(scored([tmp_path / "mine"], tmp_path / "store", **how)["mine"]["JGA"]) == 3 / 4


def test_a_bad_file_is_named_and_the_others_work_is_kept(files: Path, tmp_path: Path) -> None:
    good = content(scored([files], tmp_path / "a").runs[0], tmp_path / "b")
    bad = files / "part-5.jsonl"
    bad.write_text("nothing of ours\n")
    with pytest.raises(
        DialgaugeError, match=r"(?s)part-5.jsonl: no known layout fits.*5 other files are done and kept"
    ):
        scored([files], tmp_path / "kept")
    (work,) = Store(tmp_path / "kept").unfinished()
    kept = sorted((tmp_path / "kept" / ".work" / work / "units").iterdir())
    assert len(kept) == 5
    bad.unlink()
    again = scored([files], tmp_path / "kept", WorkPlace("pool", 2))
    assert content(again.runs[0], tmp_path / "b")[0] == good[0]
    assert Store(tmp_path / "kept").unfinished() == []


def test_finished_files_are_not_read_again_and_changed_ones_are(files: Path, tmp_path: Path) -> None:
    (files / "part-5.jsonl").write_text("nothing of ours\n")
    with pytest.raises(DialgaugeError):
        scored([files], tmp_path / "kept")
    first = files / "part-0.jsonl"
    (work,) = Store(tmp_path / "kept").unfinished()
    done = tmp_path / "kept" / ".work" / work / "units"
    before = {path.name for path in done.iterdir()}
    write(TALKS[1:2], first, format="native")  # another dialogue, which is in part-1 too
    (files / "part-5.jsonl").unlink()
    with pytest.raises(DialgaugeError, match=r"dialogue talk1: the dialogue is in part-0.jsonl and in part-1.jsonl.gz"):
        scored([files], tmp_path / "kept")
    assert len({path.name for path in done.iterdir()} - before) == 1


def test_files_that_do_not_go_together(files: Path, tmp_path: Path) -> None:
    flags = [Dialogue(id="f", turns=(Turn(speaker="user", state={}, judged={"hotel": {"area": True}}),))]
    write(flags, files / "part-6.jsonl", format="native")
    with pytest.raises(DialgaugeError, match=r"part-6.jsonl: it holds PRED=gold.flags, but part-0.jsonl holds"):
        scored([files], tmp_path)
    states = [Dialogue(id="g", turns=(Turn(speaker="user", state={"hotel": {"area": ("east",)}}),))]
    write(states, files / "part-6.jsonl", format="native")
    with pytest.raises(DialgaugeError, match=r"part-6.jsonl: it has gold states but no predictions; name both"):
        scored([files / "part-6.jsonl"], tmp_path)
    with pytest.raises(DialgaugeError, match="there is no such file or folder"):
        scored([tmp_path / "nowhere"], tmp_path)


def test_measures_that_sums_cannot_give(files: Path, tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match=r"F1\(average=slot\) cannot be computed: it is not a ratio of sums"):
        scored([files], tmp_path, measures=["F1(average=slot)"])
    parts = scored([files], tmp_path, profile="verbatim", resampling=None).systems[0]
    assert "give them with --ontology" in parts.left_out["SA"]
    assert "SA" not in parts.scores and parts.signature.get("slots", "") == ""
    assert parts["JGA"] == pytest.approx(dialgauge.score(None, TALKS, profile="verbatim")[0]["JGA"], rel=1e-14)


def test_linearised_intervals_are_those_of_resampling_where_there_are_many_dialogues() -> None:
    from dialgauge.stats import ratio_intervals

    chance = np.random.default_rng(7)
    below = chance.integers(1, 12, 20_000).astype(float)
    above = chance.binomial(below.astype(int), chance.beta(3, 2, 20_000)).astype(float)
    low, high, _ = Moments.of(above, below).interval(len(above), Resampling(), (0.0, 1.0))
    ((left, right),) = ratio_intervals(above[None], below[None], resamples=2000, seed=0, level=0.95, bounds=[(0, 1)])
    width = right - left
    assert abs(low - left) < 0.06 * width and abs(high - right) < 0.06 * width
    twos = np.full(5, 2.0)
    assert Moments.of(twos, twos).interval(5, Resampling(), (0.0, 1.0)).ends == (1.0, 1.0)


def test_shares_of_dialogues_need_no_resamples_however_many_there_are() -> None:
    right, there = (np.arange(1000.0) < limit for limit in (700, 800))
    made = Moments.of(right.astype(float), there.astype(float)).interval(1000, Resampling(), (0.0, 1.0))
    assert made == (*share_interval(700, 800), "0.95-one-more-unit")


def test_many_dialogues_get_linearised_intervals_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert RESAMPLED == 50_000
    monkeypatch.setattr("dialgauge.tracking.shards.RESAMPLED", 100)
    write(TALKS, tmp_path / "all.jsonl", format="native")
    run = scored([tmp_path / "all.jsonl"], tmp_path / "store").runs[0]
    assert "interval:0.95-linearised" in run.signature
    assert any("linearised from sums over dialogues" in note for note in run.notes)
    score = run.scores["JGA"]
    assert score.low is not None and score.high is not None and score.low < (score.value or 0) < score.high


@pytest.mark.soak
@pytest.mark.skipif(DATA is None, reason="DIALGAUGE_DATA is not set: no MultiWOZ predictions here")
def test_a_real_tracker_in_parts_scores_what_it_scores_whole(tmp_path: Path) -> None:
    assert DATA is not None
    gold = str(DATA / "multiwoz21" / "test.json.gz")
    whole = dialgauge.score(gold, [DATA / "dst_predictions" / "augpt.json.gz"], intervals=False).systems[0]
    theirs = list(dialgauge.read(DATA / "dst_predictions" / "augpt.json.gz"))
    (tmp_path / "pred").mkdir()
    for number in range(4):
        write(theirs[number::4], tmp_path / "pred" / f"{number}.parquet", format="parquet")
    parts = scored([tmp_path / "pred"], tmp_path / "store", WorkPlace("pool", 2), gold=gold, resampling=None).systems[0]
    assert f"{parts['JGA']:.4f}" == f"{whole['JGA']:.4f}" == "0.4948"
    assert {name: parts[name] for name in parts.scores} == pytest.approx(
        {name: whole[name] for name in whole.scores}, rel=1e-13
    )
    assert parts.signature["gold"] == whole.signature["gold"]


def test_a_run_in_pieces_is_stored_read_copied_queried_and_guarded(files: Path, tmp_path: Path) -> None:
    run = scored([files], tmp_path / "work").runs[0]
    store = Store(tmp_path / "store")
    stored = store.add(run)
    assert stored.tables["dialogue_scores"].parts == 5
    assert len(stored.files["dialogue_scores"]) == 5
    assert stored.table("dialogue_scores").equals(run.table("dialogue_scores"))
    copied = Store(tmp_path / "copy").add(stored)
    assert copied.manifest.tables == stored.manifest.tables
    answer = store.sql(
        "SELECT run, sum(num) / sum(den) AS value FROM dialogue_scores WHERE measure = 'JGA' GROUP BY run"
    )
    assert answer.row(0) == (stored.id, pytest.approx(run.scores["JGA"].value))
    pieces = stored.files["dialogue_scores"]
    pieces[1].write_bytes(pieces[0].read_bytes())
    with pytest.raises(DialgaugeError, match="the run is damaged"):
        store.open(stored.id).table("dialogue_scores")
    pieces[1].unlink()
    with pytest.raises(DialgaugeError, match="the run is damaged"):
        store.open(stored.id).check()


def test_a_dialogue_twice_in_one_file_is_refused(tmp_path: Path) -> None:
    write([*TALKS[:5], TALKS[2]], tmp_path / "twice.jsonl", format="native")
    with pytest.raises(DialgaugeError, match=r"twice.jsonl, dialogue talk2: two dialogues have this id"):
        scored([tmp_path / "twice.jsonl"], tmp_path / "store")


def test_a_profile_that_changes_under_its_name_is_another_one(files: Path, tmp_path: Path) -> None:
    bad, rules = files / "part-5.jsonl", tmp_path / "mine.yaml"
    bad.write_text("nothing of ours\n")
    for text in ("name: mine\nextends: canon\n", "name: mine\nextends: verbatim\n"):
        rules.write_text(text)
        with pytest.raises(DialgaugeError, match="5 other files are done and kept"):
            scored([files], tmp_path / "store", profile=str(rules))
    assert len(Store(tmp_path / "store").unfinished()) == 2


def test_files_with_nothing_to_score_are_counted_and_spoil_nothing(files: Path, tmp_path: Path) -> None:
    gold = [replace(one, turns=tuple(replace(turn, predicted=None) for turn in one.turns)) for one in TALKS[:10]]
    theirs = [replace(one, turns=tuple(replace(turn, state=None) for turn in one.turns)) for one in TALKS[:12]]
    (tmp_path / "pred").mkdir()
    write(gold, tmp_path / "gold.jsonl", format="native")
    for name, part in (("a", theirs[:4]), ("b", theirs[4:5]), ("c", theirs[5:10]), ("d", theirs[10:])):
        write(part, tmp_path / "pred" / f"{name}.jsonl", format="native")
    whole = dialgauge.score(gold, {"mine": theirs}, exclude=["talk4"], intervals=False).systems[0]
    parts = scored(
        [tmp_path / "pred"], tmp_path / "store", gold=str(tmp_path / "gold.jsonl"), exclude=["talk4"], resampling=None
    ).systems[0]
    assert parts["JGA"] == pytest.approx(whole["JGA"], rel=1e-14)
    assert (parts.coverage.extra_dialogues, parts.coverage.excluded) == (["talk10", "talk11"], ["talk4"])
    assert parts.coverage == whole.coverage


def test_a_dialogue_without_a_score_is_in_one_file_too(tmp_path: Path) -> None:
    """Predictions that gold lacks, and gold that predictions lack, would be counted twice in the coverage."""
    gold, ours = tmp_path / "gold", tmp_path / "ours"
    golden = [replace(one, turns=tuple(replace(turn, predicted=None) for turn in one.turns)) for one in TALKS[:8]]
    for folder, dialogues in ((gold, golden), (ours, TALKS)):
        folder.mkdir()
        for number in range(2):
            write(dialogues[number:8:2], folder / f"{number}.jsonl", format="native")
    (gold / "_SUCCESS").touch()
    assert scored([ours], tmp_path / "a", gold=str(gold)).systems[0].coverage.dialogues == 8
    write([*TALKS[1:8:2], TALKS[0]], ours / "1.jsonl", format="native")
    with pytest.raises(DialgaugeError, match=r"is in 0\.jsonl and in 1\.jsonl, and would be counted twice"):
        scored([ours], tmp_path / "b", gold=str(gold))
    write(TALKS[1:8:2], ours / "1.jsonl", format="native")
    write([*golden[1:8:2], golden[0]], gold / "1.jsonl", format="native")
    with pytest.raises(DialgaugeError, match=r"is in 0\.jsonl and in 1\.jsonl, and would be counted twice"):
        scored([ours], tmp_path / "c", gold=str(gold))


def said(id: str, *, gold: dict[str, Any] | None = None, predicted: dict[str, Any] | None = None) -> Dialogue:
    """A dialogue of one turn that declares hotels."""
    return Dialogue(id=id, turns=(Turn(speaker="user", state=gold, predicted=predicted),), domains=("hotel",))


NORTH: State = {"hotel": {"area": ("north",)}}


def test_dialogues_for_which_no_measure_has_a_value_are_known_all_the_same(tmp_path: Path) -> None:
    gold = [said("a", gold=NORTH), said("b", gold={}), said("c", gold=NORTH)]
    predictions = [said(one.id, predicted=NORTH) for one in gold]
    write(gold, tmp_path / "gold.jsonl", format="native")
    (tmp_path / "parts").mkdir()
    write(predictions[:2], tmp_path / "parts" / "0.jsonl", format="native")
    write(predictions[2:], tmp_path / "parts" / "1.jsonl", format="native")
    for coverage in ("intersection", "empty"):
        found = scored(
            [tmp_path / "parts"], tmp_path / coverage, gold=str(tmp_path / "gold.jsonl"), measures="AGA",
            coverage=coverage,
        ).systems[0]  # fmt: skip
        assert found.coverage.complete and found.coverage.turns == 3
    write(predictions[1:2], tmp_path / "parts" / "2.jsonl", format="native")
    with pytest.raises(DialgaugeError, match="would be counted twice"):
        scored([tmp_path / "parts"], tmp_path / "s", gold=str(tmp_path / "gold.jsonl"), measures="AGA")


def test_one_domain_predictions_are_refused_because_gold_would_have_to_be_cut(tmp_path: Path) -> None:
    both = {**NORTH, "train": {"day": ("monday",)}}
    (tmp_path / "parts").mkdir()
    for number in range(2):
        write([said(f"d{number}", predicted=NORTH)], tmp_path / "parts" / f"{number}.jsonl", format="native")
    for gold, fails in ((NORTH, False), (both, True)):
        write([said(f"d{number}", gold=gold) for number in range(2)], tmp_path / "gold.jsonl", format="native")
        given: dict[str, Any] = {"gold": str(tmp_path / "gold.jsonl"), "measures": "JGA"}
        if fails:
            with pytest.raises(DialgaugeError, match=r"one domain each \(hotel\).* without --engine"):
                scored([tmp_path / "parts"], tmp_path / "store", **given)
        else:
            assert scored([tmp_path / "parts"], tmp_path / "store", **given)[0]["JGA"] == 1


def test_intervals_are_those_of_one_file_in_whatever_order_the_predictions_are(tmp_path: Path) -> None:
    write([replace(one, turns=tuple(replace(turn, predicted=None) for turn in one.turns)) for one in TALKS],
          tmp_path / "gold.jsonl", format="native")  # fmt: skip
    write([replace(one, turns=tuple(replace(turn, state=None) for turn in one.turns)) for one in TALKS[::-1]],
          tmp_path / "mine.jsonl", format="native")  # fmt: skip
    whole = dialgauge.score(tmp_path / "gold.jsonl", {"mine": tmp_path / "mine.jsonl"}, measures="JGA").systems[0]
    parts = scored(
        [tmp_path / "mine.jsonl"], tmp_path / "s", gold=str(tmp_path / "gold.jsonl"), measures="JGA"
    ).systems[0]
    assert (parts.scores["JGA"].low, parts.scores["JGA"].high) == pytest.approx(
        (whole.scores["JGA"].low, whole.scores["JGA"].high), rel=1e-12
    )


def test_what_was_kept_among_other_files_is_stored_as_if_it_had_been_done_now(tmp_path: Path) -> None:
    (tmp_path / "d" / "a").mkdir(parents=True)
    (tmp_path / "d" / "b").mkdir()
    for number in range(2):
        write(TALKS[number::2], tmp_path / "d" / "a" / f"{number}.jsonl", format="native")
    (tmp_path / "d" / "b" / "bad.txt").write_text("no dialogues")
    with pytest.raises(DialgaugeError, match="2 other files are done and kept"):
        scored([tmp_path / "d"], tmp_path / "store")
    (tmp_path / "d" / "b" / "bad.txt").unlink()
    resumed = content(scored([tmp_path / "d"], tmp_path / "store").runs[0], tmp_path / "x")
    assert resumed == content(scored([tmp_path / "d"], tmp_path / "other").runs[0], tmp_path / "y")


def test_a_table_that_is_excluded_whole_spoils_nothing(tmp_path: Path) -> None:
    for number in range(2):
        pairs = [["hotel-area=1"] * 2, ["hotel-area=1", "hotel-area=2"]]
        frame = {"dialogue": [f"d{number}"] * 2, "turn": [0, 1], "gold": pairs[0], "pred": pairs[1]}
        polars.DataFrame(frame).write_parquet(tmp_path / f"{number}.parquet")
    found = scored([tmp_path / "*.parquet"], tmp_path / "s", exclude=["d0", "nobody"], measures="JGA").systems[0]
    assert (float(found["JGA"]), found.coverage.turns) == (0.5, 2)
    assert (found.coverage.excluded, found.coverage.not_found) == (["d0"], ["nobody"])
    with pytest.raises(DialgaugeError, match="every dialogue that gold and predictions share is excluded"):
        scored([tmp_path / "*.parquet"], tmp_path / "s", exclude=["d0", "d1"], measures="JGA")


@pytest.mark.parametrize("profile", ["trade", "mwzeval", "canon", "verbatim"])
def test_notes_are_those_of_one_process(tmp_path: Path, profile: str) -> None:
    """Also what gold scores against itself, over files in which it gets 100 and others, and blank values."""
    states = [{"area": "north"}, {"area": "dontcare", "stars": "4 stars"}, {"stars": "3"}, {"area": "dontcare"}]
    golden = [{"hotel": {slot: (value,) for slot, value in state.items()}} for state in states]
    gold = tmp_path / "gold.jsonl"
    write([said(f"d{number}", gold=state) for number, state in enumerate(golden)], gold, format="native")
    (tmp_path / "mine").mkdir()
    turn = Turn(speaker="user", predicted=NORTH, blank={"hotel": {"stars": ("none",)}})
    talks = [Dialogue(id=f"d{number}", turns=(turn,)) for number in range(len(golden))]
    write(talks[:2], tmp_path / "mine/a.jsonl", format="native")
    write(talks[2:], tmp_path / "mine/b.jsonl", format="native")
    how: dict[str, Any] = {"profile": profile, "measures": "JGA,FGA@0.5", "intervals": False}
    [whole] = dialgauge.score(str(gold), {"mine": talks}, **how).systems
    [parts] = dialgauge.score(
        str(gold), {"mine": str(tmp_path / "mine")}, workers=1, store=Store(tmp_path), **how
    ).systems
    assert parts.details.gold_against_itself == pytest.approx(whole.details.gold_against_itself, rel=1e-14)
    assert bool(whole.details.gold_against_itself) == (profile in ("trade", "mwzeval"))
    assert [remark.sentence() for remark in parts.details.remarks] == [
        remark.sentence() for remark in whole.details.remarks
    ]
    assert whole.details.remarks[0].count == len(talks)
    assert parts.run.notes == whole.run.notes
