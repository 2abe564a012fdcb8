"""``dialgauge users`` from end to end."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import msgspec
import pytest

import dialgauge as package
from dialgauge.dialogue import Task
from dialgauge.runs import Store, new_run
from support.commands import dialgauge
from support.talks import mishear, talk

Capture = pytest.CaptureFixture[str]

GOAL = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
GOOD = talk(GOAL, ("hotel inform area=north", "hotel inform stars=4", "hotel request phone"), (), id="good")
LOOP = talk(GOAL, *([("hotel inform area=north",), ("hotel inform phone=1",)] * 4), id="loop")
BROKEN = msgspec.structs.replace(GOOD, id="broken", goal=None)


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    path = tmp_path / "talks.json"
    misheard = mishear(LOOP, 1, "train inform phone=1")
    package.write([GOOD, misheard], path, format="gcdf1")
    return path


def test_failures_in_files_whose_names_are_not_utf8_are_stored(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"talks-\xff")
    folder.mkdir()
    package.write([GOOD, BROKEN], tmp_path / "sound.json", format="gcdf1")
    (tmp_path / "sound.json").rename(folder / os.fsdecode(b"bad-\xfe.json"))
    store = tmp_path / "runs"
    result = dialgauge(
        capsys, "users", "score", folder, "--run", "--store", store, "--resamples", 0, "--table", tmp_path / "t.md"
    )
    assert result.code == 1, result.err
    (manifest,) = Store(store).list()
    (failure,) = Store(store).open(manifest.id).table("failures").to_dicts()
    assert failure["dialogue"] == "broken"
    assert "bad-" in failure["file"]
    assert Store(store).sql("SELECT file FROM failures").rows() == [(failure["file"],)]


def test_words_without_any_act_are_a_warning(capsys: Capture, tmp_path: Path) -> None:
    silent = tuple(msgspec.structs.replace(turn, text="hello", acts=()) for turn in GOOD.turns)
    path = tmp_path / "talks.json"
    package.write([GOOD, msgspec.structs.replace(GOOD, id="silent", turns=silent)], path, format="gcdf1")
    result = dialgauge(capsys, "users", "score", path, "--resamples", 0)
    assert result.code == 0
    said = "dialogue silent: there is text but no turn has an act, so it counts as a user that says nothing"
    assert said in result.err
    assert "dialogue good" not in result.err


def test_scores_on_the_screen_and_as_json(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    result = dialgauge(capsys, "users", "score", talks, "--json", tmp_path / "out.json", "--per-dialogue")
    assert result.code == 0
    assert "combined" in result.out
    assert "mode:reference" in result.out
    written = json.loads((tmp_path / "out.json").read_text())
    (system,) = written["systems"]
    assert system["scores"]["I-GCDF1"]["value"] == pytest.approx((1.0 + 2 * 0.25 * 0.5 / 0.75) / 2)
    assert {"value", "low", "high", "signature"} <= system["scores"]["R-GCDF1"].keys()
    assert system["by"]["domain"]["hotel"]["scores"]["I-GCDF1"] == system["scores"]["I-GCDF1"]["value"]
    assert system["per_dialogue"]["good"]["I-GCDF1"]["hotel"] == {"f1": 1.0, "precision": 1.0, "recall": 1.0}
    assert written["coverage"]["talks"]["dialogues"]["failed"] == 0


def test_options_change_scores_and_signature(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("igcd_f1: {repetitions: {count_fp: false}}\n")
    plain = dialgauge(capsys, "users", "score", talks, "--json", "-")
    once = dialgauge(capsys, "users", "score", talks, "--json", "-", "--config", tmp_path / "config.yaml")
    also = dialgauge(capsys, "users", "score", talks, "--json", "-", "--set", "igcd_f1.repetitions.count_fp=false")
    values = [json.loads(each.out)["systems"][0] for each in (plain, once, also)]
    assert values[1] == values[2]
    assert values[0]["scores"]["I-GCDF1"]["value"] < values[1]["scores"]["I-GCDF1"]["value"]
    assert values[0]["scores"]["I-GCDF1"]["signature"] != values[1]["scores"]["I-GCDF1"]["signature"]


def test_failed_dialogues_are_named_counted_and_exit_with_1(capsys: Capture, tmp_path: Path) -> None:
    package.write([GOOD, BROKEN], tmp_path / "talks.jsonl", format="native")
    result = dialgauge(capsys, "users", "score", tmp_path / "talks.jsonl", "--json", tmp_path / "out.json")
    assert result.code == 1
    assert "1 of 2 dialogues could not be scored" in result.err
    assert "dialogue broken: it has no goal" in " ".join(result.err.split())
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["systems"][0]["coverage"] == {
        "dialogues": {"expected": 2, "read": 2, "scored": 1, "failed": 1},
        "turns": {"expected": 4, "read": 4, "scored": 2, "failed": 2},
    }
    assert "broken" in written["systems"][0]["failures"][0]


def test_results_in_the_layout_of_the_reference(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    path = tmp_path / "reference.json"
    assert dialgauge(capsys, "users", "score", talks, "--reference", path).code == 0
    report = json.loads(path.read_text())
    assert report["igcd_recall"]["hotel"] == 0.75
    assert report["rcgd_recall"]["combined"] == 1.0
    assert report["metadata"]["counts"]["igcd_f1"] == {"combined": 2, "hotel": 2}
    repeated = report["metadata"]["igcd_f1"]["multiple_constraint_informs"]["unmatched"]
    assert repeated == {"loop": {"hotel": [{"area===north": [at, at + 2]} for at in (0, 2, 4)]}}
    assert report["metadata"]["rgcd_f1"]["auto_ref"] == {}
    two = dialgauge(capsys, "users", "score", talks, talks, "--reference", path)
    assert (two.code, "one source" in two.err) == (2, True)


def test_explanations(capsys: Capture, talks: Path) -> None:
    whole = dialgauge(capsys, "users", "explain", talks, "loop", "--talk")
    assert whole.code == 0
    assert "repeated-penalised" in dialgauge(capsys, "users", "explain", talks, "loop", "--wide").out
    heads = [line.split() for line in whole.out.splitlines() if line.startswith("domain")]
    assert all("verdict" in head and "fault" in head for head in heads[1:]), heads
    assert re.search(r"Left out to fit 80 columns: because, TP, FP, FN ", whole.out)
    assert re.search(r"^repeated-penalised \(hotel area=north\): nothing in the context excuses it", whole.out, re.M)
    assert "heard Train-Inform(phone=1)" in whole.out
    assert "Loops" in whole.out
    inside = dialgauge(capsys, "users", "explain", talks, "loop")
    assert "area=north" in inside.out
    wrong = dialgauge(capsys, "users", "explain", talks, "lop")
    assert (wrong.code, "Did you mean 'loop'" in wrong.err) == (2, True)


def test_an_explanation_as_json(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    shown = dialgauge(capsys, "users", "explain", talks, "loop", "--json", "-")
    record = json.loads(shown.out)
    assert record["dialogue"] == "loop"
    lost = [row for row in record["verdicts"] if row["fp"] + row["fn"] > 0]
    assert lost
    assert all(row["fault"] and row["because"] for row in lost)
    both = dialgauge(capsys, "users", "explain", talks, "loop", "--talk", "--json", tmp_path / "loop.json")
    assert "because" in both.out
    assert len(json.loads((tmp_path / "loop.json").read_text())["turns"]) == 8


def test_a_dialogue_that_could_not_be_read_is_explained_by_the_reason(capsys: Capture, talks: Path) -> None:
    content = talks.read_bytes()
    at = content.index(b'"dialogue_id":"loop"')
    talks.write_bytes(content[:at] + content[at:].replace(b'"info"', b'"infos"', 1))
    result = dialgauge(capsys, "users", "explain", talks, "loop")
    assert result.code == 2
    assert "could not be read, so it has no scores: the goal of 'hotel' has a part 'infos'" in result.err
    assert "there is no dialogue" not in result.err


def test_find_speaks_of_any_measure_and_of_whole_labels(capsys: Capture, talks: Path) -> None:
    low = dialgauge(capsys, "users", "find", talks, "--measure", "I-GCDF1 recall", "--max-score", "0.5", "--json", "-")
    assert [row["dialogue"] for row in json.loads(low.out)["rows"]] == ["loop"]
    fault = dialgauge(capsys, "users", "find", talks, "--fault", "user policy", "--json", "-")
    assert [row["dialogue"] for row in json.loads(fault.out)["rows"]] == ["loop"]
    lost = ("--measure", "I-GCDF1 lost to user policy", "--min-score", "0.1", "--json", "-")
    assert [row["dialogue"] for row in json.loads(dialgauge(capsys, "users", "find", talks, *lost).out)["rows"]] == [
        "loop"
    ]
    two = dialgauge(capsys, "users", "find", talks, "--behaviour", "unmatched")
    assert "'unmatched' matches multiple_constraint_informs/unmatched and constraints_not_in_goal/unmatched" in two.err
    wrong = dialgauge(capsys, "users", "find", talks, "--measure", "R-GCDF1 recal", "--max-score", "0.5")
    assert (wrong.code, "Did you mean 'R-GCDF1 recall'" in wrong.err) == (2, True)


def test_what_cannot_be_meant_is_one_sentence(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("name: own\nacts: {inform: [Tell], request: [Ask]}\ndomains: {hotel: {}}\n")
    wrong = dialgauge(capsys, "users", "score", talks, "--dataset", own)
    assert (wrong.code, wrong.out) == (2, "")
    assert "the profile own recognises none of" in wrong.err
    assert wrong.err.count("\n") == 1
    without = dialgauge(capsys, "users", "score", talks, "-m", "I-GCDF1", "--reference", tmp_path / "reference.json")
    assert (without.code, "was not among the measures requested" in without.err) == (2, True)


def stored(capsys: Capture, talks: Path, store: Path) -> str:
    """The id of the conversations scored and stored."""
    result = dialgauge(capsys, "users", "score", talks, "--run", "--store", store)
    return result.err.split("stored as run ")[1].split()[0]


def test_a_stored_run_is_explained_and_drawn_like_fresh_conversations(
    capsys: Capture, talks: Path, tmp_path: Path
) -> None:
    store = tmp_path / "runs"
    run = ("--from", stored(capsys, talks, store), "--store", store)
    talks.rename(tmp_path / "moved.json")  # everything comes from the store
    moved = tmp_path / "moved.json"
    fresh = dialgauge(capsys, "users", "explain", moved, "loop", "--talk")
    assert dialgauge(capsys, "users", "explain", "loop", "--talk", *run).out == fresh.out != ""
    assert (
        dialgauge(capsys, "users", "figures", "--by-slot", *run).out
        == dialgauge(capsys, "users", "figures", moved, "--by-slot").out
        != ""
    )
    for arguments in (("explain", "loop"), ("explain", moved, "loop", *run), ("figures",), ("figures", moved, *run)):
        wrong = dialgauge(capsys, "users", *arguments)
        assert wrong.code == 2
        assert "--from RUN" in wrong.err or "leave out --from" in wrong.err


def test_only_runs_of_users_are_presented(capsys: Capture, tmp_path: Path) -> None:
    other = Store(tmp_path / "runs").add(new_run(kind="tracking", name="x"))
    wrong = dialgauge(capsys, "users", "figures", "--from", other.id, "--store", tmp_path / "runs")
    assert (wrong.code, "is not a run of 'dialgauge users score'" in wrong.err) == (2, True)


def test_figures_as_tables_files_and_json(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    result = dialgauge(
        capsys, "users", "figures", talks, "--by-slot", "--figures", tmp_path / "plots",
        "--json", tmp_path / "numbers.json", "--table", tmp_path / "all.md",
    )  # fmt: skip
    assert result.code == 0
    assert "How requests are expressed" in result.out and "Figure" not in result.out
    drawn = sorted(path.name for path in (tmp_path / "plots").iterdir())
    names = (
        "goals_per_domain", "repeated_constraints", "constraints_outside_goal", "search_constraints_expressed",
        "booking_constraints_expressed", "domains_never_discussed", "requests_expressed", "requests_answered_unasked",
        "repeated_requests",
    )  # fmt: skip
    assert drawn == sorted(f"{name}.{ending}" for name in names for ending in ("svg", "pdf"))
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["figures"]["1"]["bars"]["goals"]["hotel"] == 2
    assert numbers["loops"][0]["loops"] == 1
    assert "Why users repeat constraints" in (tmp_path / "all.md").read_text()
    few = dialgauge(capsys, "users", "figures", talks, "--by-slot", "--limit", 1, "--table", tmp_path / "few.md")
    assert few.code == 0
    assert (tmp_path / "few.md").read_text() == (tmp_path / "all.md").read_text(), "files have all rows"


def test_finding_in_files_and_in_runs(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs"
    kept = dialgauge(capsys, "users", "score", talks, "--run", "--store", store)
    run = kept.err.split("stored as run ")[1].split()[0]
    conditions = ("--domain", "hotel", "--min-repeats", "2", "--end", "loop", "--json", "-")
    in_files = dialgauge(capsys, "users", "find", talks, *conditions)
    in_run = dialgauge(capsys, "users", "find", "--from", run, "--store", store, *conditions)
    assert in_files.out == in_run.out
    assert [row["dialogue"] for row in json.loads(in_files.out)["rows"]] == ["loop"]
    both = dialgauge(capsys, "users", "find", talks, "--from", run, "--store", store)
    assert (both.code, "leave out --from" in both.err) == (2, True)
    names = dialgauge(capsys, "explain", "behaviours")
    assert "failed_sys_nlu" in names.out


@pytest.mark.parametrize(
    ("command", "options", "sentence"),
    [
        ("score", ("--table", "scores.xyz"), "use one of these endings"),
        ("figures", ("--table", "scores.xyz"), "use one of these endings"),
        ("score", ("other.json", "--reference", "out.json"), "one user model"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_work(
    capsys: Capture, tmp_path: Path, command: str, options: tuple[str, ...], sentence: str
) -> None:
    result = dialgauge(capsys, "users", command, tmp_path / "absent.json", *options)
    assert (result.code, result.out) == (2, "")
    assert sentence in result.err


def test_nothing_a_file_holds_reaches_the_terminal_as_a_command(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    turns = (msgspec.structs.replace(GOOD.turns[0], text="\x1b[31mred"), *GOOD.turns[1:])
    loud = msgspec.structs.replace(GOOD, turns=turns)
    empty = msgspec.structs.replace(GOOD, id="\x1b[32mempty", turns=())
    package.write([loud, empty, msgspec.structs.replace(BROKEN, id="\x1b[33mbroken")], path, format="native")
    shown = dialgauge(capsys, "users", "explain", path, "good", "--talk")
    scored = dialgauge(capsys, "users", "score", path)
    assert "[31mred" in shown.out
    assert "[32mempty" in scored.err
    assert "[33mbroken" in scored.err
    assert "\x1b" not in shown.out + scored.out + scored.err


def test_what_cannot_be_searched_is_said(capsys: Capture, tmp_path: Path) -> None:
    path, store = tmp_path / "talks.jsonl", tmp_path / "runs"
    package.write([GOOD, BROKEN], path, format="native")
    fresh = dialgauge(capsys, "users", "find", path)
    assert fresh.code == 1
    assert "1 of 2 dialogues could not be scored" in fresh.err
    assert "1 conversation\n" in fresh.err
    run = dialgauge(capsys, "users", "score", path, "--run", "--store", store).err.split("stored as run ")[1].split()[0]
    stored = dialgauge(capsys, "users", "find", "--from", run, "--store", store)
    assert (stored.code, stored.err) == (1, fresh.err)


def test_two_user_models_side_by_side_and_compared(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    better = tmp_path / "better.json"
    package.write([GOOD, msgspec.structs.replace(GOOD, id="loop")], better, format="gcdf1")
    store = tmp_path / "runs"
    result = dialgauge(
        capsys, "users", "score", talks, better, "--run", "--store", store, "--json", tmp_path / "both.json"
    )
    signature = json.loads((tmp_path / "both.json").read_text())["signature"]
    assert "mode:reference|profile:" in signature
    assert "turns:" not in signature
    assert result.code == 0
    runs = [line.split("stored as run ")[1].split()[0] for line in result.err.splitlines() if "stored as" in line]
    compared = dialgauge(capsys, "compare", *runs, "--store", store)
    assert compared.code == 0
    assert "I-GCDF1" in compared.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--set", "igcd_f1.repetition.max=3"), "Did you mean 'repetitions'"),
        (("--mode", "perfect"), "mode"),
        (("--dataset", "multiwoz"), "Did you mean 'multiwoz21'"),
        (("--canonical-map", "absent.json"), "no such file"),
    ],
)
def test_wrong_options_are_one_sentence(
    capsys: Capture, talks: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    result = dialgauge(capsys, "users", "score", talks, *arguments)
    assert result.code == 2
    assert sentence in result.err
    assert result.err.count("\n") == 1
