"""Statistics over arrays: intervals, paired tests, correlations, agreement. Knows nothing of dialogues or files."""

from __future__ import annotations

from dialgauge.stats.agreement import fleiss_kappa, krippendorff_alpha
from dialgauge.stats.correlation import (
    CORRELATIONS,
    Matrix,
    correlation,
    correlation_matrix,
    kendall,
    pearson,
    spearman,
)
from dialgauge.stats.intervals import ratio_intervals
from dialgauge.stats.multiple import holm
from dialgauge.stats.paired import PairedBootstrap, PairedRandomisation, paired_bootstrap, paired_randomisation
from dialgauge.stats.power import detectable, discriminative_power, noise_floor, win_tie_loss
from dialgauge.stats.resample import Floats, bootstrap_weights, divide, quantiles, weighted_sums

__all__ = [
    "CORRELATIONS",
    "Floats",
    "Matrix",
    "PairedBootstrap",
    "PairedRandomisation",
    "bootstrap_weights",
    "correlation",
    "correlation_matrix",
    "detectable",
    "discriminative_power",
    "divide",
    "fleiss_kappa",
    "holm",
    "kendall",
    "krippendorff_alpha",
    "noise_floor",
    "paired_bootstrap",
    "paired_randomisation",
    "pearson",
    "quantiles",
    "ratio_intervals",
    "spearman",
    "weighted_sums",
    "win_tie_loss",
]
