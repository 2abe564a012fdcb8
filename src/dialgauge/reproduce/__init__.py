"""Every table, worked example and figure of the papers, theirs beside ours."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.reproduce.claims import (
        Claim as Claim,
        Example as Example,
        Grid as Grid,
        Paper as Paper,
        judge as judge,
        load as load,
        shipped as shipped,
    )
    from dialgauge.reproduce.evidence import (
        ClaimTables as ClaimTables,
        NotComputable as NotComputable,
        run_evidence as run_evidence,
    )
    from dialgauge.reproduce.papers import (
        PAPERS as PAPERS,
        get_commands as get_commands,
        how_to_get as how_to_get,
        reproduce as reproduce,
    )
    from dialgauge.reproduce.reproduction import (
        IMPOSSIBLE as IMPOSSIBLE,
        PrintedNumber as PrintedNumber,
        ReportedValue as ReportedValue,
        Reproduction as Reproduction,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
