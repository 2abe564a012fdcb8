"""What remains significant when many questions are asked at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dialgauge.stats.resample import Floats


def holm(p: ArrayLike) -> Floats:
    """Holm's step-down adjustment along the first axis: one family per column.

    With the m defined p-values in rising order, the k-th (from 0) becomes ``max over j <= k of min(1, (m - j) p_j)``.
    It bounds the chance of even one false finding in the family, whatever the dependence. (Holm, *A simple sequentially
    rejective multiple test procedure*, 1979.) Undefined values stay undefined and do not count.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    flat = values.reshape(len(values), -1)
    adjusted = np.full_like(flat, np.nan)
    for column in range(flat.shape[1]):
        defined = np.flatnonzero(~np.isnan(flat[:, column]))
        order = defined[np.argsort(flat[defined, column], kind="stable")]
        steps = np.arange(len(order), 0, -1) * flat[order, column]
        adjusted[order, column] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted.reshape(values.shape)
