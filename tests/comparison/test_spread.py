from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialgauge.comparison import rank_agreement, spreads, swapped_pairs
from dialgauge.stats import correlation_matrix

NAMES = ("jga", "sa", "f1", "rsa")


def published(expected: Path) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((expected / "dst_paper_tables.json").read_text())["rsa_paper"]
    return tables


def test_rsa_table_1_gives_figure_4_and_the_ranges(expected: Path) -> None:
    paper = published(expected)
    values = [[row[name] for name in NAMES] for row in paper["table1"]]
    for spread in spreads(NAMES, values):
        figure = paper["figure4_mean_std"]
        assert spread.mean == pytest.approx(figure["mean"][spread.measure], abs=1e-9)
        assert spread.population_std == pytest.approx(figure["std_population"][spread.measure], abs=1e-9)
        assert spread.sample_std == pytest.approx(figure["std_sample"][spread.measure], abs=1e-9)
        assert spread.range == pytest.approx(paper["table1_ranges"]["expected"][spread.measure], abs=1e-9)
        assert spread.systems == 10


def test_rsa_table_1_gives_the_correlations_over_models(expected: Path) -> None:
    paper = published(expected)
    columns = [[row[name] for row in paper["table1"]] for name in NAMES]
    for kind in ("pearson", "spearman"):
        ours = np.array(correlation_matrix(columns, kind), dtype=float)
        np.testing.assert_allclose(ours, paper["table1_model_level_correlation"][kind], atol=1e-9)


def test_small_and_missing() -> None:
    one, none = spreads(["a", "b"], [[0.5, math.nan]])
    assert (one.mean, one.population_std, one.sample_std, one.range) == (0.5, 0.0, None, 0.0)
    assert (none.systems, none.mean, none.range) == (0, None, None)


def test_rank_agreement_and_swaps() -> None:
    values = [[1, 3, 1], [2, 2, 1], [3, 1, 1]]
    assert rank_agreement(values)[0] == [1.0, -1.0, None]
    assert swapped_pairs(values) == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]
