"""The colours of figures, as colour-blind readers see them and on paper: computed, not judged by eye."""

from __future__ import annotations

from itertools import combinations

import pytest

from dialgauge.rendering import DIVERGING, INK, LINES, PAPER, RISING, SHADES
from support.colour_vision import MACHADO, contrast, distance, lab

#: CIEDE2000 at which two patches are told apart at a glance (1 is just noticeable side by side).
APART = 10.0
#: WCAG 2's least contrast of graphical objects, and of text.
OBJECT, TEXT = 3.0, 4.5


@pytest.mark.parametrize(
    ("one", "other", "published"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_distance_is_ciede2000(
    one: tuple[float, float, float], other: tuple[float, float, float], published: float
) -> None:
    """Pairs 1, 17 and 34 of the table of Sharma, Wu and Dalal (2005)."""
    assert distance(one, other) == pytest.approx(published, abs=5e-5)


@pytest.mark.parametrize("vision", MACHADO)
@pytest.mark.parametrize("palette", [LINES, SHADES], ids=["lines", "shades"])
def test_series_are_told_apart(palette: tuple[str, ...], vision: str) -> None:
    near = min((distance(lab(one, vision), lab(other, vision)), one, other) for one, other in combinations(palette, 2))
    assert near[0] >= APART, near


def test_the_old_palette_was_not() -> None:
    """Green and grey of the palette before: the test can fail."""
    assert min(distance(lab("#009e73", vision), lab("#7d7d7d", vision)) for vision in MACHADO) < APART


def test_lines_stand_out_from_paper_and_text_is_read() -> None:
    assert min(contrast(colour, PAPER) for colour in LINES) >= OBJECT
    assert contrast(INK, PAPER) >= TEXT


@pytest.mark.parametrize("vision", MACHADO)
def test_the_ends_of_a_diverging_scale_are_told_apart(vision: str) -> None:
    low, middle, high = DIVERGING[0], DIVERGING[len(DIVERGING) // 2], DIVERGING[-1]
    assert (middle, RISING[0]) == (PAPER, PAPER)
    assert distance(lab(low, vision), lab(high, vision)) >= 2 * APART
    assert distance(lab(DIVERGING[1], vision), lab(DIVERGING[-2], vision)) >= 2 * APART
