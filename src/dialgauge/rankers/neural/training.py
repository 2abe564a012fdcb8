"""The training loop: epochs, the best on dev kept, early stopping, and a checkpoint after every epoch.

Invariant: the weights after epoch n depend on the seed, the data and the configuration alone, so a training that was
interrupted and resumed ends with the same weights as one that was not. Batches are drawn from (seed, epoch).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.rankers.model_folder import UNREADABLE
from dialgauge.rankers.neural.config import Hyperparameters
from dialgauge.rankers.ranker import Tell, TrainingName
from dialgauge.text import counted

Weights = dict[str, NDArray[Any]]
#: Epochs that follow the first one without a mistake on dev.
_SETTLING = 2


class Epoch(msgspec.Struct, frozen=True):
    """One line of the training log."""

    epoch: int
    loss: float
    dev: float
    seconds: float


class _Progress(msgspec.Struct):
    """What a checkpoint says besides arrays."""

    identity: str
    log: list[Epoch]
    training: TrainingName | None = None
    done: bool = False


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


class Training:
    """Trains a module. ``step`` gives the loss of a batch, ``accuracy`` the accuracy on dev."""

    def __init__(
        self,
        module: nn.Module,
        config: Hyperparameters,
        identity: str,
        checkpoint: Path | None,
        name: TrainingName | None = None,
    ) -> None:
        self._module, self._config, self._identity = module, config, identity
        self._checkpoint, self._name = checkpoint, name
        self._parameters = list(module.parameters())
        self._optimiser = Optimiser(self._parameters, config)
        self.log: list[Epoch] = []
        self._best: Weights = {}

    def run(
        self,
        batches: Callable[[int], Iterable[Any]],
        step: Callable[[Any], Tensor],
        accuracy: Callable[[], float],
        tell: Tell,
    ) -> None:
        """Train to the end (or from the checkpoint to the end) and leave the module with its best weights."""
        if not self._resume(tell):
            for epoch in range(len(self.log) + 1, self._config.epochs + 1):
                if self._stale():  # asked here, so that a training cut off after its last epoch has ended too
                    break
                begun = time.perf_counter()
                loss = self.epoch(batches(epoch), step)
                if not math.isfinite(loss):
                    if not self._best:
                        raise DialgaugeError(
                            "training broke down in its first epoch (the loss is not a number); use a smaller "
                            "learning_rate"
                        )
                    tell(f"epoch {epoch}: the loss is not a number; training stops with the best weights so far")
                    break
                reached = accuracy()
                self._note(Epoch(epoch, loss, reached, time.perf_counter() - begun), tell)
            self._save(done=True)
        _load(self._module, self._best)

    def epoch(self, batches: Iterable[Any], step: Callable[[Any], Tensor]) -> float:
        """One pass; the mean loss, or NaN as soon as a batch's loss or, at the end, a weight is not finite."""
        self._module.train()
        losses = []
        for batch in batches:
            losses.append(self._learn(batch, step))
            if not math.isfinite(losses[-1]):
                return math.nan
        self._module.eval()
        sound = all(bool(torch.isfinite(weights).all()) for weights in self._parameters)
        return math.fsum(losses) / len(losses) if losses and sound else math.nan

    def _learn(self, batch: Any, step: Callable[[Any], Tensor]) -> float:
        """One step; its loss, and when that is not finite nothing was learned."""
        for weights in self._parameters:
            weights.grad = None
        loss = step(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        reached = loss.item()
        if math.isfinite(reached):
            self._clip()
            self._optimiser.step()
        return reached

    def _clip(self) -> None:
        """Scale the gradients down to the largest norm allowed; as a rule they are below it and left as they are."""
        grads = [weights.grad for weights in self._parameters if weights.grad is not None]
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(grad) for grad in grads]))
        if norm > self._config.clip:
            nn.utils.clip_grads_with_norm_(self._parameters, self._config.clip, norm)

    def _note(self, epoch: Epoch, tell: Tell) -> None:
        better = not self.log or _quality(epoch) > max(map(_quality, self.log))
        self.log.append(epoch)
        if better:
            self._best = _weights(self._module)
        tell(f"epoch {epoch.epoch}: loss {epoch.loss:.4f}, dev {100 * epoch.dev:.2f}, {epoch.seconds:.1f} s")
        self._save(done=False)

    def _stale(self) -> bool:
        if not self.log:
            return False
        reached = [epoch.dev for epoch in self.log]
        since = len(reached) - 1 - reached.index(max(reached))
        return since >= (_SETTLING if max(reached) == 1.0 else self._config.patience)

    def _save(self, *, done: bool) -> None:
        if self._checkpoint is None:
            return
        arrays = {f"now/{name}": value for name, value in _weights(self._module).items()}
        arrays |= {f"best/{name}": value for name, value in self._best.items()}
        for index, state in self._optimiser.state.items():
            arrays |= {f"state/{index}/{name}": value.cpu().numpy() for name, value in state.items()}
        progress = _Progress(self._identity, self.log, self._name, done)
        arrays["progress"] = np.frombuffer(msgspec.json.encode(progress), dtype=np.uint8)
        with atomic(self._checkpoint) as scratch, scratch.open("wb") as out:
            np.savez(out, allow_pickle=False, **arrays)

    def _resume(self, tell: Tell) -> bool:
        """Take up a checkpoint of the same training; True when that training had come to its end."""
        if self._checkpoint is None or not self._checkpoint.exists():
            return False
        try:
            with np.load(self._checkpoint, allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
            progress = msgspec.json.decode(arrays.pop("progress").tobytes(), type=_Progress)
        except (*UNREADABLE, msgspec.DecodeError) as error:
            raise DialgaugeError(
                f"the checkpoint cannot be read ({error}); delete it to start over", file=str(self._checkpoint)
            ) from error
        if progress.identity != self._identity:
            tell("the checkpoint there is from another training (data, settings or seed); training starts over")
            return False
        self.log = progress.log
        self._best = _part(arrays, "best/")
        try:
            _load(self._module, _part(arrays, "now/"))
            self._optimiser.restore(_part(arrays, "state/"))
        except (*UNREADABLE, IndexError, AttributeError) as error:
            raise DialgaugeError(
                f"the checkpoint does not fit the model ({str(error).splitlines()[0]}); delete it to start over",
                file=str(self._checkpoint),
            ) from error
        tell(f"resumed after epoch {len(self.log)}")
        return progress.done


def _quality(epoch: Epoch) -> tuple[float, float]:
    """Accuracy on dev; among equals the smaller loss, because a small dev set is soon all right by a hair."""
    return epoch.dev, -epoch.loss


def _weights(module: nn.Module) -> Weights:
    return {name: value.detach().cpu().numpy().copy() for name, value in module.state_dict().items()}


def _load(module: nn.Module, weights: Weights) -> None:
    module.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})


def _part(arrays: Weights, prefix: str) -> Weights:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


_MOMENTS = ("exp_avg", "exp_avg_sq")


class Optimiser:
    """Changes parameters by their gradients; ``state`` is what it remembers, by the number of the parameter."""

    def __init__(self, parameters: Sequence[nn.Parameter], config: Hyperparameters) -> None:
        self._parameters, self._rate = parameters, config.learning_rate
        self._adam = config.optimiser == "adam"
        self.state: dict[int, dict[str, Tensor]] = {}

    @torch.no_grad()
    def step(self) -> None:
        """One step along the gradients; a parameter without one stays as it is."""
        learning = {number: weights for number, weights in enumerate(self._parameters) if weights.grad is not None}
        parameters: list[Tensor] = list(learning.values())
        gradients = [weights.grad for weights in learning.values() if weights.grad is not None]
        if self._adam:
            self._adam_step(list(learning), parameters, gradients)
        else:
            none: list[Tensor | None] = [None] * len(parameters)
            sgd(
                parameters, gradients, none,
                lr=self._rate, weight_decay=0, momentum=0, dampening=0, nesterov=False, maximize=False,
            )  # fmt: skip

    def _adam_step(self, numbers: list[int], parameters: list[Tensor], gradients: list[Tensor]) -> None:
        for number, weights in zip(numbers, parameters, strict=True):
            if number not in self.state:
                begun = torch.zeros((), device=weights.device)
                self.state[number] = {"step": begun, **{name: torch.zeros_like(weights) for name in _MOMENTS}}
        states = [self.state[number] for number in numbers]
        means, squares = ([state[name] for state in states] for name in _MOMENTS)
        adam(
            parameters, gradients, means, squares, [], [state["step"] for state in states],
            fused=True, amsgrad=False, beta1=0.9, beta2=0.999, lr=self._rate, weight_decay=0, eps=1e-8, maximize=False,
        )  # fmt: skip

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take up a state that was kept as arrays, each by the number of its parameter and its name."""
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in arrays.items():
            number, _, key = name.partition("/")
            weights = self._parameters[int(number)]
            like = weights if key in _MOMENTS else torch.zeros((), device=weights.device)
            if value.shape != like.shape:
                raise ValueError(f"{name} of the optimiser has another shape")
            state.setdefault(int(number), {})[key] = torch.from_numpy(value.copy()).to(like)
        if any(kept.keys() != {"step", *_MOMENTS} for kept in state.values()):
            raise ValueError("what the optimiser remembers is not whole")
        self.state = state
