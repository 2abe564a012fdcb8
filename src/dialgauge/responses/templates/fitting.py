"""Arrays of a saved model must fit what the rest of it says, or they are of another model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.responses.templates.inventory import Ints


def weights_fitting(weights: NDArray[Any], *shape: int) -> NDArray[Any]:
    """The weights, if they have this shape."""
    if weights.shape != shape:
        raise DialgaugeError("the weights of the model do not fit its cues and templates; save it again")
    return weights


def numbers_fitting(numbers: NDArray[Any], templates: int) -> Ints:
    """The numbers, if there is one for each of so many templates and none reaches their count."""
    fitting = numbers.shape == (templates,) and np.issubdtype(numbers.dtype, np.integer)
    if not fitting or not ((numbers >= 0) & (numbers < templates)).all():
        raise DialgaugeError("the numbers of acts in the model do not fit its templates; save it again")
    return numbers.astype(np.int64)
