"""What the lab adds to a comparison of its runs."""

from __future__ import annotations

from dialgauge.comparison import ComparisonView


class InteractionView(ComparisonView):
    """Two systems in front of the same users diverge at the first turn with another text, which is the default."""

    own_parts = frozenset({"model", "options", "fitted", "code"})


VIEW = InteractionView()
