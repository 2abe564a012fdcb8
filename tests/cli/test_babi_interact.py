"""``dialgauge babi interact``: models, agents and other people's agents in front of the simulated user."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.rankers import ranker_class, save_ranker
from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import dialgauge
from support.packages import install, run
from support.tiny_world import tiny_task

pytestmark = pytest.mark.usefixtures("own_store")
QUICK = ("--set", "epochs=2", "--set", "dim=8")


def test_interact_with_rules(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    outcome = dialgauge(
        capsys, "babi", "interact", "--task", 1, "--dialogues", 5, "--run", "--json", tmp_path / "i.json"
    )
    assert outcome.code == 0, outcome.err
    systems = json.loads((tmp_path / "i.json").read_text())["systems"]
    values = [(one["half"], *(one["scores"][name]["value"] for name in ("completed", "per-dialog"))) for one in systems]
    assert values == [("A", 1.0, 1.0), ("B", 1.0, 1.0)]
    assert {"value", "low", "high", "signature"} <= set(systems[0]["scores"]["completed"])
    stored = Store().list()
    assert [manifest.kind for manifest in stored] == ["interaction"] * 2
    assert "completed" in set(Store().open(stored[0].id).table("dialogue_scores")["measure"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--data",), "the agent rules is not trained; drop --data, or choose a model with --model"),
        (
            ("--url", "http://localhost:9", "--data"),
            "drop --data",
        ),
    ],
)
def test_what_would_train_is_refused_where_nothing_is_trained(
    given: tuple[object, ...], told: str, capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    outcome = dialgauge(capsys, "babi", "interact", *given, *([data] if given[-1] == "--data" else []))
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
    assert Store().list() == []


@pytest.mark.soak
def test_interact_with_a_loaded_model_in_another_world(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    dialgauge(capsys, "babi", "train", "--data", data, "--model", "typed", "--out", tmp_path / "m", *QUICK)
    world = tmp_path / "world.yaml"
    world.write_text("base: restaurant\nratings: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n")
    outcome = dialgauge(
        capsys, "babi", "interact", "--load", tmp_path / "m", "--world", world, "--half", "B", "--dialogues", 3,
        "--json", tmp_path / "i.json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    (system,) = json.loads((tmp_path / "i.json").read_text())["systems"]
    assert (system["task"], system["half"], system["dialogs"]) == (1, "B", 3)


def test_a_model_of_real_calls_has_nobody_to_meet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ranker = ranker_class("nearest")()
    ranker.fit(tiny_task(1))
    save_ranker(ranker, tmp_path / "m", 6)
    outcome = dialgauge(capsys, "babi", "interact", "--load", tmp_path / "m")
    assert outcome.code == 2
    assert "the model was trained on task 6 (real calls), which cannot be simulated" in outcome.err


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--world", "utopia", "--model", "nearest", "--data", "DATA", "--task", "1"), "no file named 'utopia'"),
        (("--half", "C", "--model", "nearest", "--data", "DATA", "--task", "1"), "there is no half 'C'"),
        (("--accept", "7", "--task", "1"), "'--accept': 7.0"),
        (("--model", "rulez"), "unknown model or agent 'rulez'. Did you mean 'rules'"),
        (("--model", "nearest"), "give --data FOLDER (dialogues to train nearest on)"),
        (("--model", "rules", "--set", "dim=3"), "there is no setting 'dim' of rules"),
        (("--model", "rules", "--url", "http://x"), "--url names the bot; leave out --model"),
    ],
)
def test_interact_mistakes(
    capsys: pytest.CaptureFixture[str], data: Path, extra: tuple[str, ...], sentence: str
) -> None:
    given = [str(data) if item == "DATA" else item for item in extra]
    outcome = dialgauge(capsys, "babi", "interact", *given)
    assert outcome.code == 2
    assert sentence in outcome.err


def test_the_model_is_rules_unless_another_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As the help page says."""
    written = []
    for place, named in enumerate(((), ("--model", "rules"))):
        file = tmp_path / f"{place}.json"
        outcome = dialgauge(capsys, "babi", "interact", *named, "--dialogues", 2, "--half", "A", "--json", file)
        assert outcome.code == 0, outcome.err
        (system,) = json.loads(file.read_text())["systems"]
        assert system["model"] == "rules"
        written.append(system["scores"])
    assert written[0] == written[1]


def test_an_agent_needs_no_data_and_gives_the_numbers_of_the_model(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    dialgauge(capsys, "babi", "train", "--data", data, "--model", "rules", "--out", tmp_path / "m")
    for source in (("--model", "rules", "--task", 1), ("--load", tmp_path / "m")):
        outcome = dialgauge(capsys, "babi", "interact", *source, "--dialogues", 4)
        assert outcome.code == 0, outcome.err
        assert outcome.out.count("100.0") >= 4
    stored = [Store().open(one.id) for one in Store().list() if one.kind == "interaction"]
    assert len(stored) == 4
    for one in stored:
        assert_run_contract(one)


GREETER = """
from dialgauge.agents import Reply
from dialgauge.dialogue import Turn


class Greeter:
    name = "greeter"

    def __init__(self, words="hello what can i help you with today"):
        self.words = words

    def start(self, context):
        self.facts = context.database.facts

    def respond(self, turn):
        if self.words == "crash":
            raise RuntimeError("out of order")
        return Reply(turn=Turn(speaker="system", text=self.words))
"""


@pytest.mark.soak
def test_an_agent_of_another_package_talks(tmp_path: Path) -> None:
    install(tmp_path, "acme_greeter", GREETER, "[dialgauge.agents]\ngreeter = acme_greeter:Greeter\n")
    said = run(tmp_path, "babi", "interact", "--model", "greeter", "--task", 1, "--half", "A", "--dialogues", 3)
    assert "greeter talks to 3 users of half A" in said
    assert "'hello what can i help you with today': unexpected reply; expected a confirmation (3)" in said
    mute = ("--model", "greeter", "--set", "words=hm", "--task", 1, "--half", "B", "--dialogues", 2, "--json", "-")
    assert "'hm': unexpected reply; expected a greeting" in run(tmp_path, "babi", "interact", *mute)
    crash = ("--model", "greeter", "--set", "words=crash", "--task", 1, "--half", "A", "--dialogues", 2)
    broken = run(tmp_path, "babi", "interact", *crash, code=1)
    assert (
        "2 conversations ended because an agent failed: the agent greeter raised RuntimeError: out of order" in broken
    )
    unknown = run(tmp_path, "babi", "interact", "--model", "greter", code=2)
    assert "unknown model or agent 'greter'. Did you mean 'greeter'" in unknown
