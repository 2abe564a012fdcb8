"""Statistics over arrays: intervals, paired tests, correlations, agreement. Knows nothing of dialogues or files."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.stats.agreement import (
        cohen_kappa as cohen_kappa,
        fleiss_kappa as fleiss_kappa,
        krippendorff_alpha as krippendorff_alpha,
        rogan_gladen as rogan_gladen,
    )
    from dialgauge.stats.correlations import (
        CORRELATIONS as CORRELATIONS,
        Matrix as Matrix,
        correlation as correlation,
        correlation_draws as correlation_draws,
        correlation_matrix as correlation_matrix,
        kendall as kendall,
        pearson as pearson,
        ranks as ranks,
        spearman as spearman,
    )
    from dialgauge.stats.divergences import (
        SMOOTHING as SMOOTHING,
        cramer_von_mises as cramer_von_mises,
        histogram as histogram,
        kullback_leibler as kullback_leibler,
    )
    from dialgauge.stats.intervals import (
        INTERVAL_METHODS as INTERVAL_METHODS,
        group_mean_interval as group_mean_interval,
        ratio_intervals as ratio_intervals,
    )
    from dialgauge.stats.one_more_unit import (
        amount_difference_interval as amount_difference_interval,
        amount_difference_p as amount_difference_p,
        amount_mean_interval as amount_mean_interval,
        counted_cases as counted_cases,
        share_difference_interval as share_difference_interval,
        share_interval as share_interval,
        share_mean_interval as share_mean_interval,
    )
    from dialgauge.stats.paired_units import (
        decide_amounts as decide_amounts,
        limit_shares as limit_shares,
        unit_differences as unit_differences,
    )
    from dialgauge.stats.randomisation import (
        PairedRandomisation as PairedRandomisation,
        paired_randomisation as paired_randomisation,
    )
    from dialgauge.stats.resampling import (
        Floats as Floats,
        bootstrap_weights as bootstrap_weights,
        divide as divide,
        quantiles as quantiles,
        swap_masks as swap_masks,
        varied as varied,
    )
    from dialgauge.stats.significance import (
        detectable as detectable,
        discriminative_power as discriminative_power,
        holm as holm,
        win_tie_loss as win_tie_loss,
    )
    from dialgauge.stats.vector_sums import (
        VectorSums as VectorSums,
        randomise_several as randomise_several,
        sums_interval as sums_interval,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
