"""Names for the kinds of arrays the scorer passes around."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.int32]
Counters: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Verdicts: TypeAlias = NDArray[np.uint8]
