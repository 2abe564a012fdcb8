"""The training loop: epochs, the best on dev kept, early stopping, and a checkpoint after every epoch.

An epoch draws from its own seed, so a training that was interrupted and resumed ends with the same weights as one that
was not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.rankers.model_folder import UNREADABLE
from dialgauge.rankers.neural.config import Hyperparameters
from dialgauge.rankers.ranker import Tell
from dialgauge.text import counted

Arrays = dict[str, NDArray[Any]]
#: Epochs that follow the first one without a mistake on dev.
_SETTLING = 2


class Epoch(msgspec.Struct, frozen=True):
    """One line of the training log."""

    epoch: int
    loss: float
    dev: float
    seconds: float


class Progress(msgspec.Struct):
    """The part of a checkpoint that is no array: a checksum of model and data, and the epochs so far."""

    identity: str
    log: list[Epoch] = []


def device_named(name: str) -> torch.device:
    """The device to train on; asking for one that is not there is an error."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise _no_device(name) from error
    if device.type not in ("cpu", "cuda"):
        raise _no_device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DialgaugeError("a GPU was asked for (device=cuda) but PyTorch sees none; use device=cpu or device=auto")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        seen = counted(torch.cuda.device_count(), "GPU")
        raise DialgaugeError(f"there is no device={name}: PyTorch sees {seen}, numbered from 0")
    return device


def _no_device(name: str) -> DialgaugeError:
    return DialgaugeError(f"there is no device '{name}'; use cpu, cuda or auto")


@contextmanager
def within_memory() -> Iterator[None]:
    """One sentence where PyTorch, on whatever device, cannot have the memory it asks for."""
    try:
        yield
    except RuntimeError as error:
        if "memory" not in str(error):
            raise
        raise DialgaugeError(
            "training needs more memory than there is; make the settings dim or batch smaller"
        ) from error


def weights_of(module: nn.Module) -> Arrays:
    """The weights of a module as arrays."""
    return {name: value.detach().cpu().numpy().copy() for name, value in module.state_dict().items()}


def set_weights(module: nn.Module, arrays: Arrays) -> None:
    """Give a module the weights that :func:`weights_of` took from another."""
    module.load_state_dict({name: torch.from_numpy(value) for name, value in arrays.items()})


class Training:
    """Trains a module by the losses of each epoch, and leaves it with the weights that were best on dev."""

    def __init__(self, module: nn.Module, config: Hyperparameters, progress: Progress, checkpoint: Path | None) -> None:
        self._module, self._config, self._progress, self._checkpoint = module, config, progress, checkpoint
        optimisers = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
        self._parameters = list(module.parameters())
        self._optimiser = optimisers[config.optimiser](self._parameters, lr=config.learning_rate, fused=True)
        self._best: Arrays = {}

    def run(self, losses: Callable[[int], Iterable[Tensor]], accuracy: Callable[[], float], tell: Tell) -> list[Epoch]:
        """Train to the end, or from the checkpoint to the end; ``losses`` gives those of an epoch, batch by batch."""
        log = self._progress.log = self._resumed(tell)
        while not self._finished(log):
            number, begun = len(log) + 1, time.perf_counter()
            loss = self._epoch(losses(number))
            if not math.isfinite(loss):
                if not log:
                    raise DialgaugeError(
                        "training broke down in its first epoch (the loss is not a number); use a smaller learning_rate"
                    )
                tell(f"epoch {number}: the loss is not a number; training stops with the best weights so far")
                break
            epoch = Epoch(number, loss, accuracy(), time.perf_counter() - begun)
            # Among equals on dev the smaller loss is better: a small dev set is soon all right by a hair.
            if all((epoch.dev, -epoch.loss) > (other.dev, -other.loss) for other in log):
                self._best = weights_of(self._module)
            log.append(epoch)
            tell(f"epoch {number}: loss {loss:.4f}, dev {100 * epoch.dev:.2f}, {epoch.seconds:.1f} s")
            self._save()
        set_weights(self._module, self._best)
        return log

    def _finished(self, log: list[Epoch]) -> bool:
        if not log:
            return False
        reached = [epoch.dev for epoch in log]
        since = len(log) - 1 - reached.index(max(reached))
        return len(log) >= self._config.epochs or since >= (_SETTLING if max(reached) == 1 else self._config.patience)

    def _epoch(self, losses: Iterable[Tensor]) -> float:
        """The mean loss, or NaN where that or a weight is not finite."""
        reached = [self._step(loss) for loss in losses]
        sound = all(bool(weights.isfinite().all()) for weights in self._parameters)
        return math.fsum(reached) / len(reached) if sound else math.nan

    def _step(self, loss: Tensor) -> float:
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        grads = [weights.grad for weights in self._parameters if weights.grad is not None]
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(grad) for grad in grads]))
        if norm > self._config.clip:  # as a rule it is not, and the gradients stay as they are
            nn.utils.clip_grads_with_norm_(self._parameters, self._config.clip, norm)
        self._optimiser.step()
        return loss.item()

    def _save(self) -> None:
        if self._checkpoint is None:
            return
        arrays = {f"best/{name}": value for name, value in self._best.items()}
        arrays |= {f"now/{name}": value for name, value in weights_of(self._module).items()}
        for number, state in self._optimiser.state_dict()["state"].items():
            arrays |= {
                f"state/{number}/{name}": value.cpu().numpy() for name, value in state.items() if value is not None
            }
        arrays["progress"] = np.frombuffer(msgspec.json.encode(self._progress), dtype=np.uint8)
        with atomic(self._checkpoint) as scratch, scratch.open("wb") as out:
            np.savez(out, allow_pickle=False, **arrays)

    def _resumed(self, tell: Tell) -> list[Epoch]:
        """The log of a checkpoint of the same training, whose weights are taken up; without one, an empty log."""
        if self._checkpoint is None or not self._checkpoint.exists():
            return []
        try:
            with np.load(self._checkpoint, allow_pickle=False) as held:
                arrays = dict(held)
            found = msgspec.json.decode(arrays.pop("progress").tobytes(), type=Progress)
            if found.identity != self._progress.identity:
                tell("the checkpoint there is from another training (data, settings or seed); training starts over")
                return []
            state: dict[int, dict[str, Tensor]] = {}
            for name, value in _part(arrays, "state/").items():
                number, _, key = name.partition("/")
                state.setdefault(int(number), {})[key] = torch.from_numpy(value)
            self._optimiser.load_state_dict({**self._optimiser.state_dict(), "state": state})
            set_weights(self._module, _part(arrays, "now/"))
        except (*UNREADABLE, msgspec.DecodeError) as error:
            raise DialgaugeError(
                f"the checkpoint cannot be read ({error}); delete it to start over", file=str(self._checkpoint)
            ) from error
        self._best = _part(arrays, "best/")
        tell(f"resumed after epoch {len(found.log)}")
        return found.log


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
