"""What ``torch.testing.assert_close`` asserts, without the five hundred modules that it imports."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

#: Relative and absolute; whole numbers are the same or not.
_TOLERANCES = {torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}


def assert_close(found: Tensor | Sequence[Tensor] | None, expected: Tensor | Sequence[Tensor] | None) -> None:
    """Both of one type and shape, and each number of one within the tolerance of its type of the other's."""
    if isinstance(found, Tensor) and isinstance(expected, Tensor):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        relative, absolute = _TOLERANCES.get(found.dtype, (0.0, 0.0))
        assert torch.allclose(found, expected, rtol=relative, atol=absolute), (found, expected)
        return
    assert found is not None and expected is not None
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)
