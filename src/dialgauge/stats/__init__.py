"""Statistics over arrays: intervals, paired tests, correlations, agreement. Knows nothing of dialogues or files."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.stats.agreement import fleiss_kappa, krippendorff_alpha
    from dialgauge.stats.correlations import (
        CORRELATIONS,
        Matrix,
        correlation,
        correlation_matrix,
        kendall,
        pearson,
        ranks,
        spearman,
    )
    from dialgauge.stats.randomisation import PairedRandomisation, paired_randomisation
    from dialgauge.stats.resampling import (
        Floats,
        bootstrap_weights,
        divide,
        quantiles,
        ratio_intervals,
        swap_masks,
        varied,
        weighted_sums,
    )
    from dialgauge.stats.significance import (
        PairedBootstrap,
        detectable,
        discriminative_power,
        holm,
        paired_bootstrap,
        win_tie_loss,
    )

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
    "paired_bootstrap",
    "paired_randomisation",
    "pearson",
    "quantiles",
    "ranks",
    "ratio_intervals",
    "spearman",
    "swap_masks",
    "varied",
    "weighted_sums",
    "win_tie_loss",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
