from __future__ import annotations

import math

import numpy as np
import pytest

from dialgauge.stats import fleiss_kappa, krippendorff_alpha

NAN = math.nan

#: Items x categories of the worked example of Fleiss' kappa (14 raters, 10 items, 5 categories), kappa 0.210.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip

#: Raters x items of Krippendorff's example with missing values: nominal 0.743, ordinal 0.815, interval 0.849.
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


def test_fleiss_worked_example() -> None:
    ratings: list[list[int]] = [[category for category, n in enumerate(row) for _ in range(n)] for row in FLEISS]
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorff_worked_example(level: str, value: float) -> None:
    alpha = krippendorff_alpha(np.array(KRIPPENDORFF).T, level)  # type: ignore[arg-type]
    assert alpha == pytest.approx(value, abs=5e-4)


def test_the_unit_of_ratings_does_not_matter_and_cannot_overflow() -> None:
    ratings = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 1.0]])
    plain = krippendorff_alpha(ratings, "interval")
    assert krippendorff_alpha(ratings * 1e200, "interval") == pytest.approx(plain)
    assert krippendorff_alpha(ratings * 0.0, "interval") is None
