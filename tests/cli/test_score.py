"""``dialgauge score`` from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dialgauge as package
from dialgauge.dialogue import Dialogue, State, Turn
from runs.contract import assert_run_contract
from support.commands import dialgauge

NORTH: State = {"hotel": {"area": ("north",)}}
SOUTH: State = {"hotel": {"area": ("South",), "book people": ("2",)}}
DEFAULTS = ["JGA", "SA", "AGA", "RSA", "F1", "FGA@0.5", "FGA@1"]


def save(folder: Path, name: str, *dialogues: Dialogue) -> Path:
    path = folder / name
    package.write(list(dialogues), path, format="native")
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Gold, a prediction, and a prediction that carries its own gold."""
    gold = Dialogue(
        id="A.json",
        turns=(Turn(speaker="user", text="the north, please", state=NORTH), Turn(speaker="user", state=SOUTH)),
    )
    theirs = Dialogue(
        id="a",
        turns=(Turn(speaker="user", predicted=NORTH), Turn(speaker="user", predicted={"hotel": {"area": ("south",)}})),
    )
    both = Dialogue(id="a", turns=(Turn(speaker="user", state=SOUTH, predicted=SOUTH),))
    return save(tmp_path, "gold.jsonl", gold), save(tmp_path, "mine.jsonl", theirs), save(tmp_path, "own.jsonl", both)


def scores(path: Path) -> Any:
    return json.loads(path.read_text())


def test_no_resamples_are_no_intervals(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """As on every other command; ``--engine`` goes another way to the same scores."""
    for engine in ((), ("--engine", "local")):
        given, without, usual = (
            dialgauge(capsys, "score", *files[:2], "--json", "-", *engine, *option)
            for option in (("--resamples", 0), ("--no-intervals",), ())
        )
        assert (given.code, usual.code) == (0, 0), given.err
        assert given.out == without.out != usual.out


def test_table_and_json(capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = dialgauge(capsys, "score", files[0], files[1], "--json", target)
    assert done.code == 0
    assert "JGA" in done.out and "50.00" in done.out and "canon@1" in done.out
    assert "2 of 2 gold turns in 1 dialogue scored" in done.err
    found = scores(target)
    assert list(found)[:4] == ["schema", "signature", "coverage", "systems"]
    system = found["systems"][0]
    assert (system["name"], system["dialogues"], system["turns"]) == ("mine", 1, 2)
    assert list(system["scores"]) == DEFAULTS
    assert system["scores"]["JGA"]["value"] == 0.5
    assert set(system["scores"]["JGA"]) == {"value", "low", "high", "signature"}
    assert system["by"] == {}
    assert found["coverage"]["systems"]["mine"]["turns"] == 2


def test_json_on_standard_output_is_only_json(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path]
) -> None:
    done = dialgauge(capsys, "score", files[0], files[1], "--json", "-", "--no-intervals")
    assert json.loads(done.out)["systems"][0]["scores"]["JGA"] == {
        "value": 0.5,
        "low": None,
        "high": None,
        "signature": json.loads(done.out)["systems"][0]["scores"]["JGA"]["signature"],
    }


def test_the_same_seed_gives_the_same_bytes(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    texts = []
    for name in ("a", "b"):
        dialgauge(capsys, "score", files[0], files[1], "--seed", 7, "--json", tmp_path / name)
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1]


def test_a_table_for_a_paper_says_what_was_scored_and_has_intervals_if_asked_for(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    paper = tmp_path / "scores.tex"
    for path in files[:2]:
        one = json.loads(path.read_text())
        path.write_text("".join(json.dumps({**one, "id": f"{n}{one['id']}"}) + "\n" for n in range(9)))
    for wide in ((), ("--wide",)):
        done = dialgauge(capsys, "score", files[0], files[1], "-p", "plain", "-m", "JGA", "--table", paper, *wide)
        assert done.code == 0, done.err
        text = paper.read_text()
        assert r"\caption{State-tracking scores (percent). 9 dialogues, profile plain." in text
        assert ("interval:" in text) == (r"{\scriptsize [" in text) == bool(wide)


def test_gold_inside_the_predictions(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "out.json"
    for arguments in ([files[2]], ["self", files[2]]):
        done = dialgauge(capsys, "score", *arguments, "--json", target)
        assert done.code == 0, done.err
        assert scores(target)["systems"][0]["scores"]["JGA"]["value"] == 1.0
    done = dialgauge(capsys, "score", files[0], files[2], "--json", target)
    assert "ignoring its own gold states" in done.err
    assert scores(target)["systems"][0]["scores"]["JGA"]["value"] == 0.0


def test_views_faults_worst_sensitivity_and_profiles(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    target, report = tmp_path / "out.json", tmp_path / "out.md"
    done = dialgauge(
        capsys, "score", files[0], files[1], "-p", "plain", "-p", "canon_nodc", "--by", "domain", "--by", "slot",
        "--faults", "--worst", 1, "--sensitivity", "--json", target, "--table", report, "-m", "all",
    )  # fmt: skip
    assert done.code == 0, done.err
    for words in ("by domain", "by slot", "errors by slot", "confused values", "first error", "under each profile"):
        assert words in done.out
    assert "Dialogue ID : A.json" in done.out and "Usr : the north, please" in done.out
    assert "mine (plain): worst dialogue no. 1, ranked by FGA@0.5, then by wrong slots" in done.out
    found = scores(target)
    assert [one["profile"] for one in found["systems"]] == ["plain", "canon_nodc"]
    assert found["systems"][0]["by"]["slot"]["hotel-people"]["scores"]["JGA"]["value"] == 0.5
    assert found["systems"][0]["faults"]["confusions"][0]["slot"] == "hotel-people"
    assert found["sensitivity"]["values"]["mine"]["canon"] == 0.5
    assert report.read_text().startswith("**State-tracking scores")


@pytest.mark.parametrize("engine", [(), ("--engine", "local", "--workers", "1")])
def test_an_ontology_that_the_profile_would_ignore_is_refused(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    files: tuple[Path, Path, Path],
    tmp_path: Path,
    engine: tuple[str, ...],
) -> None:
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    gold, mine, _ = files
    slots = tmp_path / "ontology.json"
    slots.write_text(json.dumps({"hotel-area": ["north", "south"], "hotel-book people": ["2"]}))
    done = dialgauge(capsys, "score", gold, mine, "--ontology", slots, *engine)
    assert done.code == 2
    assert "--ontology: the slots come with the profile (canon), so an ontology would be ignored" in done.err
    options = ("--ontology", slots, "-p", "verbatim", "-m", "SA", "--no-intervals")
    done = dialgauge(capsys, "score", gold, mine, *options, *engine)
    assert done.code == 0 and "|s:2|" in done.out
    with pytest.raises(package.DialgaugeError, match="ontology: the slots come with the profile"):
        package.score(gold, mine, ontology=package.Ontology(domains={}), intervals=False)


def test_missing_predictions_show_in_the_exit_code(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    short = save(tmp_path, "short.jsonl", Dialogue(id="a", turns=(Turn(speaker="user", predicted=NORTH),)))
    target = tmp_path / "out.json"
    done = dialgauge(capsys, "score", files[0], short, "--json", target)
    assert done.code == 1
    assert "no prediction for 1 turn: left out" in done.err
    assert scores(target)["systems"][0]["scores"]["JGA"]["value"] == 1.0
    assert scores(target)["coverage"]["systems"]["short"]["turns_missing"] == 1
    done = dialgauge(capsys, "score", files[0], short, "--coverage", "empty", "--json", target)
    assert done.code == 0
    assert scores(target)["systems"][0]["scores"]["JGA"]["value"] == 0.5


def test_each_system_is_told_of_its_own_names(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """Names of one file were told of the files after it, too."""
    strange: State = {"hotel": {"area": ("north",)}, "police": {"name": ("x",)}, "bus": {"day": ("monday",)}}
    odd = save(tmp_path, "odd.jsonl", Dialogue(id="a", turns=(Turn(speaker="user", predicted=strange),)))
    for order in ([odd, files[1]], [files[1], odd]):
        done = dialgauge(capsys, "score", files[0], *order, "--no-intervals")
        told = [line for line in done.err.splitlines() if "out of scope" in line]
        assert told == ["odd (canon): 1 slot name unified, 2 slot names out of scope (bus-day, police-name)"]


@pytest.mark.parametrize("asked", [["--run"], []])
def test_runs_are_kept(
    asked: list[str], capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """With --run, and with a store alone: whoever names it wants the results there."""
    from dialgauge.runs import Store

    done = dialgauge(capsys, "score", files[0], files[1], *asked, "--store", tmp_path / "runs")
    assert "stored as run" in done.err
    manifests = Store(tmp_path / "runs").list()
    assert [one.name for one in manifests] == ["mine"]
    assert [one.role for one in manifests[0].inputs] == ["gold", "predictions"]


def test_explanations(capsys: pytest.CaptureFixture[str]) -> None:
    assert "H:MM" in dialgauge(capsys, "explain", "canon").out
    listed = dialgauge(capsys, "explain", "profiles").out
    assert "canon_nodc" in listed and "convlab3" in listed
    assert "1 - exp(-lambda x)" in dialgauge(capsys, "explain", "measures", "--wide").out


def test_names_of_files_that_are_called_alike(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.jsonl").write_bytes(files[1].read_bytes())
    target = tmp_path / "out.json"
    dialgauge(capsys, "score", files[0], tmp_path / "x/mine.jsonl", tmp_path / "y/mine.jsonl", "--json", target)
    assert [one["name"] for one in scores(target)["systems"]] == ["x/mine", "y/mine"]
    dialgauge(capsys, "score", files[0], files[1], files[1], "--json", target)
    assert len({one["name"] for one in scores(target)["systems"]}) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the gold file"),
        (["self"], "name the gold file"),
        (["GOLD"], "no gold states of its own"),
        (["GOLD", "PRED", "-m", "JGAA"], "Did you mean 'JGA'"),
        (["GOLD", "PRED", "-m", "FGA@-1"], "must be ≥ 0 (got -1)"),
        (["GOLD", "PRED", "-p", "cannon"], "Did you mean 'canon'"),
        (["GOLD", "PRED", "--coverage", "union"], "'--coverage': 'union'"),
        (["GOLD", "PRED", "--by", "domains"], "'--by': 'domains'"),
        (["GOLD", "missing.json"], "there is no"),
        (["GOLD", "OTHER"], "share no dialogue"),
        (["GOLD", "PRED", "--pred-format", "nativ"], "Did you mean 'native'"),
    ],
)
def test_mistakes_are_one_sentence(
    capsys: pytest.CaptureFixture[str],
    files: tuple[Path, Path, Path],
    tmp_path: Path,
    arguments: list[str],
    message: str,
) -> None:
    other = save(tmp_path, "other.jsonl", Dialogue(id="z", turns=(Turn(speaker="user", predicted=NORTH),)))
    only_predictions = save(tmp_path, "p.jsonl", Dialogue(id="a", turns=(Turn(speaker="user", predicted=NORTH),)))
    names = {"GOLD": only_predictions if arguments == ["GOLD"] else files[0], "PRED": files[1], "OTHER": other}
    done = dialgauge(capsys, "score", *(names.get(one, one) for one in arguments))
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


def test_published_set_of_test_dialogues(capsys: pytest.CaptureFixture[str], shared_data: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = dialgauge(
        capsys, "score", shared_data / "multiwoz21/test.json.gz", shared_data / "dst_predictions/augpt.json.gz",
        "--exclude", "PMUL1455", "--json", target, "--no-intervals",
    )  # fmt: skip
    assert done.code == 0, done.err
    system = scores(target)["systems"][0]
    assert (system["dialogues"], system["turns"]) == (999, 7368)


def test_sgd_official_scores(
    capsys: pytest.CaptureFixture[str], shared_data: Path, expected: Path, tmp_path: Path
) -> None:
    sgd, target = shared_data / "sgd", tmp_path / "out.json"
    done = dialgauge(
        capsys, "score", sgd / "dev_dialogues_*.json.gz", sgd / "synthetic_pred_dialogues_*.json.gz",
        "--schema", sgd / "dev_schema.json.gz", "--train-schema", sgd / "train_schema.json.gz",
        "--json", target, "--no-intervals",
    )  # fmt: skip
    assert done.code == 0, done.err
    wanted = json.loads((expected / "dst_sgd_synthetic.json").read_text())["fuzzy_frame"]
    found = scores(target)["systems"][0]["sgd"]
    for group, values in wanted.items():
        for name, value in values.items():
            if value != "NA":
                assert found[group][name] == pytest.approx(value, abs=1e-9), (group, name)


SGD_SCHEMA = [
    {
        "service_name": "Hotels_1",
        "slots": [
            {"name": "city", "is_categorical": False, "possible_values": []},
            {"name": "stars", "is_categorical": True, "possible_values": ["1", "2"]},
        ],
        "intents": [{"name": "FindHotel"}],
    }
]


def sgd_dialogue(name: str, values: dict[str, list[str]]) -> dict[str, Any]:
    state = {"active_intent": "FindHotel", "requested_slots": [], "slot_values": values}
    frames = [{"service": "Hotels_1", "slots": [], "state": state}]
    return {
        "dialogue_id": name,
        "services": ["Hotels_1"],
        "turns": [{"speaker": "USER", "utterance": "hello", "frames": frames}],
    }


@pytest.fixture
def sgd_files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Gold, predictions of which the second is wrong, and their schema."""
    gold = [sgd_dialogue(name, {"city": ["Paris"], "stars": ["1"]}) for name in ("1_0", "1_1")]
    theirs = [gold[0], sgd_dialogue("1_1", {"city": ["Paris"], "stars": ["2"]})]
    paths = tmp_path / "gold.json", tmp_path / "theirs.json", tmp_path / "schema.json"
    for path, content in zip(paths, (gold, theirs, SGD_SCHEMA), strict=True):
        path.write_text(json.dumps(content))
    return paths


def test_official_scores_are_kept_and_signed(
    capsys: pytest.CaptureFixture[str], sgd_files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    gold, theirs, schema = sgd_files
    target, store = tmp_path / "out.json", tmp_path / "runs"
    options = ("--schema", schema, "--json", target, "--run", "--store", store, "--no-intervals")
    done = dialgauge(capsys, "score", gold, theirs, *options)
    assert done.code == 0
    system = scores(target)["systems"][0]
    assert system["sgd"]["#ALL_SERVICES"]["joint_goal_accuracy"] == 0.5
    assert "joint=frame" in system["sgd_signature"] and "slots:2" in system["sgd_signature"]
    run = package.Store(store).open(package.Store(store).list()[0].id)
    table = run.table("dialogue_scores")
    rows = table.filter(table["measure"] == "SGD-JGA")
    assert float(rows["num"].to_numpy().sum() / rows["den"].to_numpy().sum()) == 0.5
    assert run.scores["SGD-JGA"].value == 0.5
    assert run.scores["SGD-JGA"].signature.startswith("measure:SGD-JGA(matching=levenshtein")
    assert (run.coverage["turns"].scored, run.coverage["turns"].expected) == (2, 2)
    assert_run_contract(run)


def test_excluded_dialogues_are_out_of_the_official_scores_too(
    capsys: pytest.CaptureFixture[str], sgd_files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    gold, theirs, schema = sgd_files
    target = tmp_path / "out.json"
    dialgauge(capsys, "score", gold, theirs, "--schema", schema, "--json", target, "--exclude", "1_1")
    assert scores(target)["systems"][0]["sgd"]["#ALL_SERVICES"]["joint_goal_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "domian"), "'domain'"),
        (("--worst", "1", "--worst-by", "JGAA"), "'JGA'"),
        (("--worst", "1", "--worst-by", "F1(average=slot)"), "single dialogues"),
        (("--resamples", "9999999999"), "--resamples"),
        (("--sgd-matching", "exact"), "need --schema FILE"),
        (("-m", "FGA@1e309"), "lambda is too large a number (got 1e309)"),
        (("--schema", "s.json", "--sgd-matching", "difflip"), "'--sgd-matching': 'difflip'"),
    ],
)
def test_wrong_options_are_found_before_anything_is_read(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    done = dialgauge(capsys, "score", "no-such-file.json", *options)
    assert done.code == 2 and said in done.err and not done.out


def test_sensitivity_includes_the_profiles_that_were_named(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "out.json"
    dialgauge(capsys, "score", files[0], files[1], "--sensitivity", "-p", "convlab3", "-p", "canon", "--json", target)
    assert scores(target)["sensitivity"]["profiles"] == ["plain", "canon", "plain_nodc", "canon_nodc", "convlab3"]


def test_a_stored_run_is_shown_as_the_scored_one_was(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    store, views = tmp_path / "runs", ("--by", "domain", "--by", "turn", "--faults", "--worst", 1)
    scored, shown = tmp_path / "scored.json", tmp_path / "shown.json"
    first = dialgauge(
        capsys,
        "score",
        files[0],
        files[1],
        "-m",
        "all",
        *views,
        "--sensitivity",
        "--json",
        scored,
        "--run",
        "--store",
        store,
    )
    run = package.Store(store).list()[0].id
    again = dialgauge(capsys, "score", "--from", run, "--store", store, *views, "--json", shown)
    assert (again.code, again.out) == (0, first.out)
    assert shown.read_bytes() == scored.read_bytes()
    assert "under each profile" in again.out and "Usr : the north, please" in again.out
    assert len(package.Store(store).list()) == 1


def test_official_scores_are_shown_from_a_stored_run(
    capsys: pytest.CaptureFixture[str], sgd_files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    gold, theirs, schema = sgd_files
    store = tmp_path / "runs"
    first = dialgauge(capsys, "score", gold, theirs, "--schema", schema, "--run", "--store", store)
    run = package.Store(store).list()[0].id
    assert dialgauge(capsys, "score", "--from", run, "--store", store).out == first.out
    assert "SGD's official scores" in first.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "20"], "there is no run '20'"),
        (["GOLD", "--from", "RUN", "-p", "canon"], "[GOLD] PRED..., --profile"),
        (["--from", "OTHER"], "cannot be shown as tracker scores: its kind is responses"),
    ],
)
def test_what_cannot_be_shown_from_a_store(
    capsys: pytest.CaptureFixture[str],
    files: tuple[Path, Path, Path],
    tmp_path: Path,
    arguments: list[str],
    message: str,
) -> None:
    from dialgauge.runs import new_run

    store = package.Store(tmp_path / "runs")
    names = {"GOLD": str(files[0])}
    if "OTHER" in arguments:
        names["OTHER"] = store.add(new_run(kind="responses", name="other")).id
    done = dialgauge(capsys, "score", *(names.get(one, one) for one in arguments), "--store", tmp_path / "runs")
    assert done.code == 2 and message in done.err and not done.out


def test_a_plain_score_imports_no_more_than_it_needs(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Tables of runs, statistics beyond intervals, views and figures are imported when they are asked for."""
    unwanted = {
        "scipy", "altair", "duckdb", "numpy.ma", "rapidfuzz",
        *(f"dialgauge.tracking.{name}" for name in ("slot_errors", "sensitivity", "accumulate")),
        "dialgauge.tracking.sgd.official", "dialgauge.comparison",
    }  # fmt: skip
    code = (
        "import sys; from dialgauge.tracking import score\n"
        f"print(score({str(files[0])!r}, [{str(files[1])!r}], intervals=False).document()['systems'][0]['name'])\n"
        f"print(*({unwanted!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["mine", ""]


def test_a_system_can_be_named_and_a_file_of_the_whole_name_goes_first(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.json"
    monkeypatch.chdir(tmp_path)
    named = dialgauge(
        capsys, "score", "gold.jsonl", "My tracker=mine.jsonl", "-m", "JGA", "--worst", 1, "--json", target
    )
    assert named.code == 0, named.err
    assert [one["name"] for one in scores(target)["systems"]] == ["My tracker"]
    assert "My tracker (canon): worst dialogue no. 1, ranked by JGA, then by wrong slots" in named.out
    Path("x=mine.jsonl").write_bytes(files[1].read_bytes())
    assert dialgauge(capsys, "score", "gold.jsonl", "x=mine.jsonl", "--json", target).code == 0
    assert [one["name"] for one in scores(target)["systems"]] == ["x=mine"]
    missing = dialgauge(capsys, "score", "gold.jsonl", "a=none.jsonl")
    assert missing.code == 2 and "none.jsonl" in missing.err
