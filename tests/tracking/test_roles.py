"""What each input is taken for: swapped files are refused with the right order, and every signature says the roles."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import dialgauge
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DialogueFormat, formats
from dialgauge.measures import Signature
from support.commands import dialgauge as run
from support.examples import EXAMPLES, as_json
from support.soak import MANY

pytestmark = pytest.mark.usefixtures("own_folder")

NORTH, EAST = {"hotel": {"area": "north"}}, {"hotel": {"area": "east"}}
#: Files about one dialogue, by what they carry; those of the formats come from the examples of all formats.
MADE = {
    "native gold": b'{"id":"MUL0001","turns":[{"speaker":"user","state":{"hotel":{"area":["north"]}}}]}\n',
    "native predictions": b'{"id":"MUL0001","turns":[{"speaker":"user","predicted":{"hotel":{"area":["east"]}}}]}\n',
    "native both": b'{"id":"MUL0001","turns":[{"speaker":"user","state":{"hotel":{"area":["north"]}},'
    b'"predicted":{"hotel":{"area":["east"]}}}]}\n',
    "nested gold": as_json({"MUL0001.json": {"0": {"gt": NORTH}}}),
    "nested predictions": as_json({"MUL0001.json": {"0": {"pr": EAST}}}),
    "responses": as_json({"mul0001": [{"response": "hello"}]}),
}
SHAPES = {
    name: text.replace(b'"d1"', b'"MUL0001"').replace(b'"1_00000"', b'"MUL0001"')
    for name, text in {**EXAMPLES, **MADE}.items()
    if name in MADE or isinstance(formats()[name], DialogueFormat)
}
ORDER = "put the gold file first: dialgauge score GOLD PRED"


def written(folder: Path, name: str) -> Path:
    path = folder / name.replace(" ", "-")
    path.write_bytes(SHAPES[name])
    return path


def carried(path: Path) -> set[str]:
    turns = [turn for dialogue in dialgauge.read(path).dialogues for turn in dialogue.turns]
    return {kind for kind in ("state", "predicted", "judged") if any(getattr(turn, kind) is not None for turn in turns)}


@pytest.mark.parametrize("first", SHAPES)
def test_every_pair_of_files(first: str, tmp_path: Path) -> None:
    (tmp_path / "gold").mkdir()
    gold = written(tmp_path / "gold", first)
    for place, second in enumerate(SHAPES, start=[*SHAPES].index(first)):
        if MANY or place % 4 == 0:
            check_pair(gold, written(tmp_path, second), second)


def check_pair(gold: Path, pred: Path, second: str) -> None:
    """Only a file without predictions is gold, and only one with predictions (or of SGD's shape) is scored."""
    wanted, given = carried(gold), carried(pred)
    fits = wanted == {"state"} and (given & {"predicted", "judged"} or (given == {"state"} and second == "sgd"))
    try:
        found = dialgauge.score(gold, [pred], profile="verbatim", intervals=False)
    except DialgaugeError as error:
        assert not fits or "share" in str(error), error
        if wanted & {"predicted", "judged"} or (given == {"state"} and wanted and second != "sgd"):
            assert ORDER in str(error)
    else:
        assert fits
        assert Signature.parse(found.signature)["roles"].startswith("GOLD=gold,PRED=")


@pytest.mark.parametrize("name", SHAPES)
def test_every_file_alone(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name)
    inside = carried(path)
    try:
        found = dialgauge.score(None, [path], profile="verbatim", intervals=False)
    except DialgaugeError as error:
        assert "judged" not in inside and inside != {"state", "predicted"}
        assert ("has predictions but no gold states" in str(error)) == (inside == {"predicted"})
        if inside == {"state"}:
            assert "but no predictions;" in str(error)
    else:
        assert Signature.parse(found.signature)["roles"] == (
            "PRED=flags" if inside == {"judged"} else "PRED=gold+predictions"
        )


def test_swapped_files_are_refused_with_the_right_order(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """On the old code this scored 100, exit 0, under the signature of the right order."""
    gold, both = written(tmp_path, "native gold"), written(tmp_path, "nested")
    right = run(capsys, "score", gold, both, "--resamples", "0", "-m", "JGA", "--json", "-")
    assert json.loads(right.out)["runs"][0]["scores"]["JGA"]["value"] == 0.0
    swapped = run(capsys, "score", both, gold, "--resamples", "0", "-m", "JGA")
    assert (swapped.code, swapped.out) == (2, "")
    assert f"{both}: it holds predictions alongside its gold states" in swapped.err
    assert f"{ORDER}..., here: {gold} {both}" in swapped.err


def test_two_trackers_without_a_gold_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, other = written(tmp_path, "nested"), written(tmp_path, "som-dst")
    done = run(capsys, "score", one, other)
    assert done.code == 2 and f"write self first: self {one} {other}" in done.err
    assert run(capsys, "score", "self", one, other, "--resamples", "0").code == 0


def test_states_that_a_system_predicted_in_a_format_of_gold_are_one_command_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    gold, predicted = written(tmp_path, "native gold"), tmp_path / "my states.jsonl"
    predicted.write_bytes(SHAPES["native gold"].replace(b"north", b"east"))
    done = run(capsys, "score", gold, predicted)
    assert done.code == 2 and "cannot be PRED" in done.err
    command = " ".join(done.err.split()).partition("'dialgauge ")[2].partition(" --to sgd'")[0]
    assert run(capsys, *shlex.split(command), "--to", "sgd").code == 0
    assert run(capsys, "score", gold, "predictions.json", "-m", "JGA", "--resamples", "0").code == 0


def test_one_file_in_both_places_is_refused_by_whatever_name(tmp_path: Path) -> None:
    """Plain states of SGD's shape may be predictions: only the file itself tells that these are not."""
    path = written(tmp_path, "sgd")
    linked = tmp_path / "linked"
    linked.symlink_to(path)
    for pred in (path, linked, tmp_path / "." / path.name):
        with pytest.raises(DialgaugeError, match="given as both GOLD and PRED, and would score 100 against itself"):
            dialgauge.score(path, [pred], profile="verbatim", intervals=False)
    copied = tmp_path / "copied"
    copied.write_bytes(path.read_bytes())
    assert dialgauge.score(path, [copied], profile="verbatim", intervals=False)["copied"]["JGA"] == 1.0
