"""The optimisers against their formulas, and what they remember when they are taken up again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from dialgauge.rankers.neural import Hyperparameters, Optimiser

RATE = 0.01
RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.normal(size=(4, 3)).astype("float32")
GRADIENTS = [gradient.astype("float32") for gradient in RANDOM.normal(size=(9, 4, 3))]


def adam() -> NDArray[np.float64]:
    """Algorithm 1 of Kingma and Ba (2015), in double precision."""
    weights, mean, square = WEIGHTS.astype(float), np.zeros((4, 3)), np.zeros((4, 3))
    for step, gradient in enumerate(GRADIENTS, start=1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient.astype(float) ** 2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def made(kind: str) -> tuple[list[torch.nn.Parameter], Optimiser]:
    """Two parameters, of which the second never gets a gradient."""
    parameters = [torch.nn.Parameter(torch.from_numpy(WEIGHTS.copy())) for _ in range(2)]
    config = Hyperparameters(optimiser="adam" if kind == "adam" else "sgd", learning_rate=RATE)
    return parameters, Optimiser(parameters, config)


def learn(parameters: list[torch.nn.Parameter], optimiser: Optimiser, gradients: list[NDArray[np.float32]]) -> None:
    for gradient in gradients:
        parameters[0].grad = torch.from_numpy(gradient.copy())
        optimiser.step()


@pytest.mark.parametrize(
    ("kind", "expected"), [("adam", adam()), ("sgd", WEIGHTS - RATE * np.sum(GRADIENTS, axis=0, dtype=float))]
)
def test_the_steps_are_those_of_the_formula(kind: str, expected: NDArray[np.float64]) -> None:
    parameters, optimiser = made(kind)
    learn(parameters, optimiser, GRADIENTS)
    learned, untouched = (one.detach().numpy() for one in parameters)
    np.testing.assert_allclose(learned, expected, atol=1e-6)
    np.testing.assert_array_equal(untouched, WEIGHTS)


@pytest.mark.parametrize("kind", ["adam", "sgd"])
def test_taken_up_again_it_goes_on_to_the_same_bits(kind: str) -> None:
    whole, optimiser = made(kind)
    learn(whole, optimiser, GRADIENTS)
    parameters, before = made(kind)
    learn(parameters, before, GRADIENTS[:4])
    kept = {
        f"{number}/{name}": value.numpy() for number, state in before.state.items() for name, value in state.items()
    }
    _, after = made(kind)
    after._parameters = parameters
    after.restore(kept)
    learn(parameters, after, GRADIENTS[4:])
    np.testing.assert_array_equal(parameters[0].detach().numpy(), whole[0].detach().numpy())


@pytest.mark.parametrize("name", ["0/exp_avg", "0/other", "7/step", "x/step"])
def test_what_is_no_state_of_these_parameters_is_refused(name: str) -> None:
    parameters, optimiser = made("adam")
    learn(parameters, optimiser, GRADIENTS[:1])
    kept = {f"0/{key}": value.numpy() for key, value in optimiser.state[0].items()}
    with pytest.raises((ValueError, RuntimeError, IndexError)):
        optimiser.restore({**kept, name: np.zeros((2, 7), dtype="float32")})
