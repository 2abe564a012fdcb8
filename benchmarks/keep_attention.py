"""Keep where memory networks look (the bAbI paper's Tables 3 to 7) with the package, for ``dialgauge reproduce babi``.

    python benchmarks/keep_attention.py --data FOLDER

trains with ``dialgauge babi train --model memn2n --task N --seed 0`` for tasks 5 and 6 (about three minutes) and writes
``src/dialgauge/reproduce/kept/babi_attention.json``: weights of lines and ranks, no words of the data.
FOLDER holds the dialog bAbI files. ``--models PLACE`` keeps the models, and goes on with what was trained there.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import msgspec

from dialgauge.cli import main as dialgauge
from dialgauge.rankers import RankingTask, ReplyModel, attentive, load_ranker, load_task
from dialgauge.reproduce import shipped
from dialgauge.reproduce.bots import AttentionPlace, AttentionSample

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "dialgauge" / "reproduce" / "kept" / "babi_attention.json"
MODEL, SEED = "memn2n", 0


def encoded(content: object) -> str:
    """As JSON."""
    return msgspec.json.encode(content).decode()


def trained(data: Path, task: int, folder: Path) -> None:
    """Train with the real command; what is trained already is taken up from its checkpoint."""
    words = ["babi", "train", "--data", data, "--model", MODEL, "--task", task, "--seed", SEED, "--out", folder]
    try:
        dialgauge([str(word) for word in words])
    except SystemExit as stop:
        if stop.code:
            raise


def attention_at(ranker: ReplyModel, task: RankingTask, place: AttentionPlace) -> AttentionSample:
    """Where a fitted memory network looks at a place."""
    point = task.split(place.split)[place.dialog - 1].points()[place.reply - 1]
    order = (-ranker.scores([point.question])[0]).argsort(kind="stable").tolist()  # type: ignore[attr-defined]
    hops = [[round(weight, 4) for weight in hop] for hop in attentive(ranker).attention(point).hops]
    return AttentionSample(place, hops, order.index(task.index[point.reply]) + 1)


def attention_in(data: Path, models: Path) -> list[AttentionSample]:
    """Where the models look, task by task."""
    names = ("task", "split", "dialog", "reply")
    places = [AttentionPlace(**{name: place[name] for name in names}) for place in shipped("babi").facts["places"]]
    found = []
    for number in sorted({place.task for place in places}):
        folder = models / f"{MODEL}-{number}"
        trained(data, number, folder)
        task = load_task(data, number)
        ranker = load_ranker(folder, task=task)
        found += [attention_at(ranker, task, place) for place in places if place.task == number]
    return found


def main() -> None:
    """Train, look, keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the dialog bAbI files")
    parser.add_argument("--models", type=Path, help="keep the models here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        samples = attention_in(given.data, given.models or Path(scratch))
    made = {
        "command": f"dialgauge babi train --data babi --model {MODEL} --task {{task}} --seed {SEED} --out FOLDER",
        "hardware": f"{platform.machine()} CPU, Python {platform.python_version()}, torch {version('torch')}",
        "commit": subprocess.check_output(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], text=True).strip(),
    }
    head = [f" {encoded(name)}: {encoded(how)}" for name, how in made.items()]
    listed = ",\n  ".join(map(encoded, samples))
    TARGET.write_text("{\n" + ",\n".join([*head, f' "samples": [\n  {listed}\n ]']) + "\n}\n", encoding="utf-8")
    sys.stderr.write(f"{TARGET}\n")


if __name__ == "__main__":
    main()
