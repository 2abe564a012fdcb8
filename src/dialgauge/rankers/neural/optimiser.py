"""Adam and plain gradient descent, by PyTorch's functions.

Its optimiser classes do the same, but the first of them that is made imports PyTorch's compiler: 800 modules, and more
than a second in which nothing is trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from dialgauge.rankers.neural.config import Hyperparameters

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
