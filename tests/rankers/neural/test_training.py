"""The training loop on a model of one weight, and its checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from dialgauge.errors import DialgaugeError
from dialgauge.rankers.neural.config import Hyperparameters
from dialgauge.rankers.neural.training import Epoch, Progress, Training, device_named, within_memory


class Line(nn.Module):
    """One weight."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(()))


def progress(identity: str) -> Progress:
    """Of a training that has not begun."""
    return Progress(identity)


class Play:
    """A training whose loss is (slope - target)² and whose accuracy on dev is given beforehand."""

    def __init__(self, checkpoint: Path | None, dev: list[float], **settings: object) -> None:
        self.module = Line()
        config = Hyperparameters(learning_rate=0.1, **settings)  # type: ignore[arg-type]
        self.training = Training(self.module, config, progress("play"), checkpoint)
        self.log: list[Epoch] = []
        self.dev = dev
        self.told: list[str] = []
        self.spoilt: Callable[[int], bool] = lambda epoch: False
        self.slopes: list[float] = []

    @property
    def slope(self) -> float:
        return self.module.slope.item()

    def run(self) -> None:
        self.log = self.training.run(self.losses, self._accuracy, self.told.append)

    def losses(self, epoch: int) -> Iterator[Tensor]:
        for _ in range(3):
            loss = (self.module.slope - epoch) ** 2
            yield loss * math.nan if self.spoilt(epoch) else loss

    def _accuracy(self) -> float:
        self.slopes.append(self.slope)
        return self.dev[len(self.slopes) - 1]


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_the_best_epoch_on_dev_is_kept(optimiser: str) -> None:
    play = Play(None, [0.1, 0.5, 0.4, 0.3], epochs=4, optimiser=optimiser)
    play.run()
    assert play.slope == play.slopes[1]
    assert [epoch.dev for epoch in play.log] == [0.1, 0.5, 0.4, 0.3]


def test_training_stops_when_dev_no_longer_improves() -> None:
    play = Play(None, [0.2, 0.1, 0.1, 0.9], epochs=4, patience=2)
    play.run()
    assert len(play.log) == 3


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
@pytest.mark.parametrize("stopped", [1, 2, 3])
def test_an_interrupted_training_ends_with_the_same_weights(tmp_path: Path, optimiser: str, stopped: int) -> None:
    dev = [0.1, 0.4, 0.3, 0.2]
    whole = Play(None, dev, epochs=4, optimiser=optimiser)
    whole.run()

    class PowerCut(Exception):
        """The machine goes down."""

    first = Play(tmp_path / "c.npz", dev, epochs=4, optimiser=optimiser)

    def cut(line: str) -> None:
        # The checkpoint of an epoch is written after the line about it.
        if line.startswith(f"epoch {stopped + 1}"):
            raise PowerCut

    with pytest.raises(PowerCut):
        first.training.run(first.losses, first._accuracy, cut)
    second = Play(tmp_path / "c.npz", dev[stopped:], epochs=4, optimiser=optimiser)
    second.run()
    assert second.told[0] == f"resumed after epoch {stopped}"
    assert len(second.slopes) == 4 - stopped
    assert second.slope == whole.slope
    assert [epoch.dev for epoch in second.log] == dev

    third = Play(tmp_path / "c.npz", [], epochs=4, optimiser=optimiser)
    third.run()
    assert third.slopes == []
    assert third.slope == whole.slope


def test_a_checkpoint_of_another_training_is_left_and_said(tmp_path: Path) -> None:
    Play(tmp_path / "c.npz", [0.1], epochs=1).run()
    other = Play(tmp_path / "c.npz", [0.1], epochs=1)
    other.training = Training(other.module, Hyperparameters(epochs=1), progress("another"), tmp_path / "c.npz")
    other.run()
    assert "from another training" in other.told[0]
    assert len(other.slopes) == 1


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04junk"])
def test_a_damaged_checkpoint(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "c.npz"
    path.write_bytes(content)
    with pytest.raises(DialgaugeError, match="delete it to start over"):
        Play(path, [0.1], epochs=1).run()


def test_nan_stops_with_the_last_good_weights_and_says_so() -> None:
    play = Play(None, [0.1, 0.4], epochs=5)
    play.spoilt = lambda epoch: epoch == 3
    play.run()
    assert play.slope == play.slopes[1]
    assert play.told[-1] == "epoch 3: the loss is not a number; training stops with the best weights so far"


def test_nan_in_the_first_epoch_is_an_error() -> None:
    play = Play(None, [], epochs=5)
    play.spoilt = lambda epoch: True
    with pytest.raises(DialgaugeError, match=r"first epoch .* smaller learning_rate"):
        play.run()


def test_devices() -> None:
    assert device_named("cpu").type == "cpu"
    assert device_named("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(DialgaugeError, match="no device 'gpu0'"):
        device_named("gpu0")


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DialgaugeError, match="a GPU was asked for"):
        device_named("cuda")


def test_memory_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(DialgaugeError, match="make the settings dim or batch smaller"), within_memory():
        torch.empty(10**15)
    with pytest.raises(RuntimeError, match="shape"), within_memory():
        torch.zeros(2) @ torch.zeros(3, 3)
