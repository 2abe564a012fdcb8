"""Every command of the documentation that prints tables, in a terminal of 80 columns: nothing wider, no word broken."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import dialgauge as package
from dialgauge.cli import COMMANDS, main
from dialgauge.dialogue import Task
from dialgauge.runs import Store
from dialgauge.users import LABELS, REASONS
from support.agent_results import tau_file
from support.commands import Outcome, dialgauge
from support.shared import shared_folder
from support.soak import soak
from support.talks import mishear, talk
from support.town import responses, write_town
from support.trackers import gold_dialogues, tracker, write_predictions

Show = Callable[[str], str]
ROOT = Path(__file__).parents[2]
DATA = shared_folder("data")

SYSTEMS = "augpt.json dots.json mintl.json tracker-with-a-long-name.json"

#: Small, for it takes a condition for each kind of error and rate.
STUDY = "lab study -n 2 --rates 0.05,0.4 --resamples 20"

#: The commands of the documentation on small files; {tracking}, {other} and {lab} are stored runs.
EMBEDDED = [
    "score self augpt.json",
    f"score self {SYSTEMS}",
    "score self augpt.json dots.json -m JGA,RSA --by domain --by slot --by turn --by n-domains --faults --sensitivity",
    "score self augpt.json --by slot --faults --no-intervals",
    "score augpt.json -p canon -p llm",
    "explain measures",
    "explain profile",
    "explain behaviours",
    "explain measures FGA",
    f"compare self {SYSTEMS} --pairs --sweep --show 2 --correlation pearson",
    "compare {tracking} {other} --store runs",
    "runs compare {tracking} {other} --store runs --pairs",
    "runs list --store runs",
    "runs show {tracking} --limit 2 --store runs",
    "runs show {lab} --limit 2 --store runs",
    "sql 'SELECT * FROM runs' --store runs",
    "sql 'SELECT * FROM turns LIMIT 5' --store runs",
    "data check augpt.json",
    "data check dots.json --gold augpt.json",
    "data formats",
    "data list",
    "babi simulate --out another --tasks 1,5 --dialogues 10 --seed 7",
    "babi models",
    "babi evaluate --data world --task 5 --model nearest --split tst",
    "babi table --data world --models rules,nearest --tasks 1,5 --splits tst",
    "babi interact --data world --model nearest --task 1 --dialogues 3",
    "babi anonymise log.jsonl --out {fresh}.jsonl",
    "lab run -n 5 --level text --channel mild --detail --store runs",
    "lab goals -n 10",
    "lab goals --goal TOWN0003",
    "lab blame {lab} --store runs",
    STUDY,
    "tasks score town/gold.json town/bot.json",
    "tasks explain town/gold.json town/bot.json {dialogue}",
    "tasks score agents.json",
    "users score talks.json",
    "users explain talks.json loop --talk",
    "users explain tutorial/gcdf1 TOWN0001",
    "users find tutorial/gcdf1 --min-repeats 3",
    "users figures talks.json --by-slot",
    "users find talks.json --min-repeats 1",
    "users faults agents.json",
]  # fmt: skip

REAL = [
    "score {data}/multiwoz21/test.json.gz {data}/dst_predictions/augpt.json.gz {data}/dst_predictions/dots.json.gz "
    "{data}/dst_predictions/mintl.json.gz {data}/dst_predictions/ubar.json.gz",
    "score {data}/multiwoz21/test.json.gz {data}/dst_predictions/augpt.json.gz --by domain --by slot --faults",
    "compare {data}/multiwoz21/test.json.gz {data}/dst_predictions/augpt.json.gz {data}/dst_predictions/dots.json.gz "
    "-m JGA,RSA,FGA@1 --pairs --show 2",
    "data check {data}/dst_predictions/augpt.json.gz --gold {data}/multiwoz21/test.json.gz",
    "tasks score {data}/multiwoz21/test.json.gz {data}/dst_predictions/augpt.json.gz",
    "tasks explain {data}/multiwoz21/test.json.gz {data}/dst_predictions/lava.json.gz PMUL1966",
    "tasks score {data}/tau/tau_airline_gpt-4o.json.gz",
    "tasks score {data}/tau/tau2_airline_grok-3-mini_cut_off.json.gz",
    "tasks score {data}/tau/tau2_telecom-workflow_grok-3.json.gz",
    "users faults {data}/tau/tau2_telecom-workflow_grok-3.json.gz",
    "data check {data}/tau/tau2_telecom-workflow_grok-3.json.gz",
    "users score {data}/gcdf1/conversations --canonical-map {data}/gcdf1/multiwoz21_canonical_map.json.gz",
    "users explain {data}/gcdf1/conversations PMUL2009",
    "users explain {data}/gcdf1/conversations PMUL2009 --canonical-map {data}/gcdf1/multiwoz21_canonical_map.json.gz",
    "users figures {data}/gcdf1/conversations --canonical-map {data}/gcdf1/multiwoz21_canonical_map.json.gz",
    "users faults {data}/tau/tau_airline_gpt-4o.json.gz",
    "reproduce rsa --data {data}",
]

#: The conversations of the tutorial on users, which have loops and long names of verdicts.
TUTORIAL = (
    "lab run --user agenda-baseline --system rule-baseline --level text --channel paper2021 -n 4 "
    "--out {out} --store {store}"
)

#: What no test can call like this, and why.
ELSEWHERE = {
    "babi train": "its table has the seconds it took",
    "babi attention": "it takes a trained network",
    "babi chat": "somebody has to talk to it",
    "lab chat": "somebody has to talk to it",
    "lab train": "it takes labelled utterances and minutes",
    "config": "it takes a project file, which would act on all commands here: tests/cli/test_project_file.py",
    "data verify": "it takes a dataset that was downloaded",
}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind, a simulated world, and a store with runs of several kinds."""
    folder = tmp_path_factory.mktemp("eighty")
    gold = gold_dialogues(12)
    for place, name in enumerate(SYSTEMS.split()):
        write_predictions(folder / name, gold, tracker(gold, 0.1 * (place + 1), place))
    goal = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
    good = talk(goal, ("hotel inform area=north", "hotel inform stars=4", "hotel request phone"), (), id="good")
    loop = talk(goal, *([("hotel inform area=north",), ("hotel inform phone=1",)] * 4), id="loop")
    package.write([good, mishear(loop, 1, "train inform phone=1")], folder / "talks.json", format="gcdf1")
    (folder / "log.jsonl").write_text(json.dumps({"dialogue": "a", "speaker": "user", "text": "call 01223 351880"}))
    write_town(folder / "town")
    (folder / "town" / "bot.json").write_text(json.dumps(responses()))
    with pytest.raises(SystemExit):
        main(TUTORIAL.format(out=folder / "tutorial", store=folder / "other-runs").split())
    tau_file(folder / "agents.json", {"cancel a flight": "+-+", "book a room": "--+"})
    return folder


@pytest.fixture
def here(workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """In the workplace at a terminal of 80 columns; the names that commands may use."""
    monkeypatch.chdir(workplace)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("DIALGAUGE_RUNS", "runs")
    if not (workplace / "runs").exists():
        for line in (
            "score self augpt.json dots.json --run --store runs",
            "lab run -n 6 --level text --channel mild --store runs",
            "babi simulate --out world --tasks 1,5 --dialogues 10 --seed 7",
        ):
            assert dialgauge(capsys, *line.split()).code == 0
    kinds: dict[str, list[str]] = {}
    for manifest in Store(workplace / "runs").list():
        kinds.setdefault(manifest.kind, []).append(manifest.id)
    tracking, other = kinds["tracking"][:2]
    dialogue = next(iter(responses()))
    return {"tracking": tracking, "other": other, "lab": kinds["lab"][0], "dialogue": dialogue, "data": str(DATA)}


@pytest.fixture(scope="module")
def kept() -> dict[str, str]:
    return {}


@pytest.fixture
def show(here: dict[str, str], kept: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Show:
    """What a command prints. It runs once, whoever asks."""

    def run(line: str) -> str:
        if line not in kept:
            words = shlex.split(line.format(**here, fresh=tmp_path / str(len(kept))))
            kept[line] = printed(dialgauge(capsys, *words))
        return kept[line]

    return run


def printed(outcome: Outcome) -> str:
    assert outcome.code in (0, 1), outcome.err
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", outcome.out)


def words(text: str) -> set[str]:
    return set(re.split(r"[\s|]+", text))


def check(line: str, show: Show) -> None:
    narrow, wide = show(line), show(f"{line} --wide")
    assert narrow.strip()
    for row in narrow.splitlines():
        assert len(row) <= 80 or " " not in row.strip(), row
    known = words(wide)
    known |= {word.strip("(),:;.") for word in known}
    own = re.sub(r"Left out to fit 80 columns: [^)]*\)\.", "", narrow)
    own = re.sub(r"\S+ (names|ids) (are shortened )?\(…\)[^.]*\.", "", own)
    own = own.replace("--wide and files have the settings of each score.", "")
    own = re.sub(r"Signature: sig:[0-9a-f]{8}", "", own)
    for word in words(own) - known:
        parts = re.compile(".*".join(map(re.escape, word.split("…"))))
        cut = "…" in word and any(parts.fullmatch(one) for one in known)
        said = word.strip("(),:;.") in known
        assert cut or said or set(word) == {"─"} or is_part_of_a_name(word, known), word


def is_part_of_a_name(part: str, names: set[str]) -> bool:
    """Whether a name was folded between its parts: after a comma or a slash, or before a bracket; never at - = or _."""
    return any(
        part in name
        and (name.endswith(part) or part[-1] in "/," or name.split(part, 1)[1].startswith("("))
        and (name.startswith(part) or part[0] == "(" or name.split(part, 1)[0][-1:] in tuple("/,"))
        for name in names
    )


@pytest.mark.parametrize("line", EMBEDDED)
def test_nothing_is_wider_and_no_word_is_broken(line: str, show: Show) -> None:
    check(line, show)


@pytest.mark.skipif(DATA is None, reason="DIALGAUGE_DATA names no real data")
@pytest.mark.parametrize("line", [REAL[0], *map(soak, REAL[1:])])
def test_nothing_is_wider_with_real_data(line: str, show: Show) -> None:
    check(line, show)


#: What is asked for by name: none of these is ever shortened.
NAMED = [line for line in EMBEDDED if line.startswith(("explain", "babi models", "data", "users", "runs list"))]


@pytest.mark.parametrize("line", NAMED)
def test_no_name_that_was_asked_for_is_shortened(line: str, show: Show) -> None:
    assert "…" not in show(line)


def test_every_behaviour_on_the_screen_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    shown = set(printed(dialgauge(capsys, "explain", "behaviours")).split())
    assert {*LABELS, *REASONS} <= shown
    longest = max(LABELS, key=len)
    assert longest in printed(dialgauge(capsys, "explain", "behaviours", longest))


LONG = [
    "our-organisation-experiment-2026-11-16-large-model-seed-0",
    "our-organisation-experiment-2026-11-16-large-seed-1",
]


def test_long_names_of_systems_leave_every_score_and_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    gold = gold_dialogues(12)
    for place, name in enumerate([*LONG, "dots"]):
        write_predictions(tmp_path / f"{name}.json", gold, tracker(gold, 0.1 + 0.3 * place, place))
    files = [f"{name}.json" for name in [*LONG, "dots"]]
    scored = dialgauge(capsys, "score", "self", *files, "-m", "JGA,F1").out
    values = re.findall(r"^JGA +([\d.]+) \[.*?\] +([\d.]+) \[.*?\] +([\d.]+) \[", scored, re.MULTILINE)
    assert len(values) == 1 and len(set(values[0])) == 3, scored
    compared = dialgauge(capsys, "compare", "self", *files, "-m", "JGA", "--pairs", "--resamples", "200").out
    pairs = compared.partition("Differences, first minus second")[2].partition("\n\n")[0]
    assert pairs.splitlines()[2].split()[-1] == "verdict"
    assert len(re.findall(r"could be noise|better", pairs.partition("\nVerdicts:")[0])) == 3, pairs
    for line in (scored + pairs).splitlines():
        assert len(line) <= 80 or line.startswith(("Signature:", "Verdicts:", "Wins,", "Left out")), line


def wide_commands() -> set[str]:
    """Commands that take ``--wide``."""
    found = set()
    for name in COMMANDS:
        commands = importlib.import_module(f"dialgauge.cli.{name}").app.commands
        for second, function in commands.items():
            if "wide" in function.__annotations__:
                found.add(name if len(commands) == 1 else f"{name} {second}")
    return found


def test_every_command_with_tables_is_tried() -> None:
    """Those of the documentation among them."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    documented = {
        " ".join(line.split()[2:4])
        for page in pages
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("$ dialgauge ")
    }
    tried = {" ".join(line.split()[:2]) for line in [*EMBEDDED, *REAL]}
    named = tried | {one.split()[0] for one in tried}
    tables = wide_commands()
    assert not {one for one in tables if one not in named and one not in ELSEWHERE}
    assert {one for one in documented if one in tables} - named - ELSEWHERE.keys() == set()


@pytest.mark.parametrize(
    "line",
    [
        f"score self {SYSTEMS}",
        f"compare self {SYSTEMS} --pairs --sweep --show 2 --correlation pearson",
        "babi evaluate --data world --task 5 --model nearest --split tst",
        "tasks score agents.json",
        "lab run -n 5 --level text --channel mild --detail --store runs",
        "lab blame {lab} --store runs",
        STUDY,
        "users faults agents.json",
        "users figures talks.json --by-slot",
        "users score talks.json",
    ],
)
def test_scores_have_a_signature_of_one_line(line: str, show: Show) -> None:
    shown = show(line)
    if "No conversation in this run failed" in shown:
        pytest.skip("nothing failed, so nothing is scored")
    lines = shown.splitlines()
    places = [place for place, text in enumerate(lines) if text.startswith("Signature: ")]
    assert places
    for place in places:
        assert len(lines[place]) <= 80 and "|v" in lines[place], lines[place]
        following = lines[place + 1] if place + 1 < len(lines) else ""
        assert "|" not in following, following


def test_codes_are_words_on_screen(show: Show) -> None:
    ended = show("tasks score agents.json")
    assert "Success and consistency (percent)" in ended
    assert not re.search(r"user_stop|agent_stop|max_steps", ended)
    faults = show("users faults agents.json")
    assert "early end" in faults and "role swap" in faults
    study = show(STUDY)
    assert "5% of acts are lost" in study and "drop=" not in study.partition("Conditions")[2]


def test_tables_of_score_are_a_line_apart(here: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(dialgauge(capsys, "score", "self", "augpt.json", "-m", "JGA", "--by", "domain", "--faults"))
    lines = shown.splitlines()
    titles = [place for place, text in enumerate(lines) if text.startswith("augpt:")]
    assert titles and all(not lines[place - 1] for place in titles)
    assert re.search(r"dialogues? ends? with a wrong state", shown)


def test_no_system_is_left_out_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"agent-of-model-{place}" for place in range(6)]
    for name in names:
        tau_file(tmp_path / f"{name}.json", {"cancel a flight": "+-+", "book a room": "--+"})
    shown = printed(dialgauge(capsys, "tasks", "score", *(f"{name}.json" for name in names)))
    success = shown.partition("Success and consistency")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in success.splitlines() if line.startswith("agent")] == names
    left_out = re.search(r"Left out to fit 80 columns: (.*) \(--wide", success)
    assert left_out is not None and "intervals" not in left_out[1] and "agent" not in left_out[1]
    assert "noise floor" in left_out[1] and "Noise floor" not in success


def test_a_star_stands_beside_its_name(show: Show) -> None:
    shown = show("tasks score town/gold.json town/bot.json")
    assert re.search(r"^human \* ", shown, re.MULTILINE)
    assert not re.search(r"^\s*\*\s*$", shown, re.MULTILINE)
