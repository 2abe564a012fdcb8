"""Statistics over arrays: intervals, paired tests, correlations, agreement. Knows nothing of dialogues or files."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha, rogan_gladen
    from dialgauge.stats.correlations import (
        CORRELATIONS,
        Matrix,
        correlation,
        correlation_draws,
        correlation_matrix,
        kendall,
        pearson,
        ranks,
        spearman,
    )
    from dialgauge.stats.divergences import (
        SMOOTHING,
        CramerVonMises,
        DistributionDistances,
        cramer_von_mises,
        distribution_distances,
        histogram,
        kullback_leibler,
    )
    from dialgauge.stats.intervals import (
        INTERVAL_METHODS,
        BootstrapDraws,
        IntervalMethod,
        group_mean_interval,
        ratio_intervals,
        share_interval,
    )
    from dialgauge.stats.one_more_unit import (
        amount_difference_interval,
        amount_difference_p,
        amount_mean_interval,
        share_difference_interval,
        share_mean_interval,
    )
    from dialgauge.stats.paired_units import decide_amounts, limit_shares, unit_differences
    from dialgauge.stats.randomisation import PairedRandomisation, paired_randomisation
    from dialgauge.stats.resampling import (
        Floats,
        bootstrap_weights,
        divide,
        quantiles,
        swap_masks,
        varied,
    )
    from dialgauge.stats.significance import (
        PairedBootstrap,
        detectable,
        discriminative_power,
        holm,
        paired_bootstrap,
        win_tie_loss,
    )
    from dialgauge.stats.vector_sums import SeveralSums, bootstrap_several, randomise_several

__all__ = [
    "CORRELATIONS",
    "INTERVAL_METHODS",
    "SMOOTHING",
    "BootstrapDraws",
    "CramerVonMises",
    "DistributionDistances",
    "Floats",
    "IntervalMethod",
    "Matrix",
    "PairedBootstrap",
    "PairedRandomisation",
    "SeveralSums",
    "amount_difference_interval",
    "amount_difference_p",
    "amount_mean_interval",
    "bootstrap_several",
    "bootstrap_weights",
    "cohen_kappa",
    "correlation",
    "correlation_draws",
    "correlation_matrix",
    "cramer_von_mises",
    "decide_amounts",
    "detectable",
    "discriminative_power",
    "distribution_distances",
    "divide",
    "fleiss_kappa",
    "group_mean_interval",
    "histogram",
    "holm",
    "kendall",
    "krippendorff_alpha",
    "kullback_leibler",
    "limit_shares",
    "paired_bootstrap",
    "paired_randomisation",
    "pearson",
    "quantiles",
    "randomise_several",
    "ranks",
    "ratio_intervals",
    "rogan_gladen",
    "share_difference_interval",
    "share_interval",
    "share_mean_interval",
    "spearman",
    "swap_masks",
    "unit_differences",
    "varied",
    "win_tie_loss",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
