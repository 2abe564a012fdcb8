"""``dialgauge lab study``: which measure of a tracker predicts whether the task gets done."""

from __future__ import annotations

from typing import Annotated

from dialgauge import lab, runs
from dialgauge.cli.choices import AGENTS, names_of
from dialgauge.cli.common import ProcessesOption
from dialgauge.cli.lab_options import Agents, ExchangesOption, LabSeedOption, LevelOption, Town, lab_config_from
from dialgauge.cli.options import Option, WholeNumber, command
from dialgauge.cli.output import AlwaysStoredOutput, OnScreen
from dialgauge.errors import DialgaugeError


class StudiedAgents(Agents, frozen=True):
    """The agents, of which the system is made to misunderstand."""

    system: Annotated[str, Option(metavar="AGENT", known=AGENTS, help="System whose understanding is degraded.")] = (
        "rule-system"
    )


@command()
def study(
    count: Annotated[
        int | None,
        WholeNumber("--count", "-n", of="goals", min=2, help="Number of goals. Default: all, or 200 drawn ones."),
    ] = None,
    errors: Annotated[
        str,
        Option(
            metavar="KINDS",
            known=names_of("agents.town", "ERROR_KINDS", several=True),
            help="Kinds of NLU error, comma-separated: drop, value, relabel, insert.",
        ),
    ] = "drop,value,relabel,insert",
    rates: Annotated[str, Option(metavar="SHARES", help="Error rates, comma-separated.")] = "0.02,0.05,0.1,0.2,0.4",
    level: LevelOption = "act",
    exchanges: ExchangesOption = 20,
    seed: LabSeedOption = 0,
    resamples: Annotated[
        int,
        WholeNumber(
            of="resamples",
            min=1,
            why="a study is its intervals",
            help="Bootstrap resamples of goals for the 95% intervals.",
        ),
    ] = 1000,
    workers: ProcessesOption = 1,
    *,
    agents: StudiedAgents,
    town: Town,
    output: AlwaysStoredOutput,
) -> None:
    """Degrade the system's understanding by kind and rate, and see which tracking measure predicts success.

    The same users pursue the same goals under every condition. The run is always stored; rerun an interrupted command
    to resume it.
    """
    loaded = town.open(count)
    config = lab_config_from(
        user=agents.given("user"), system=agents.given("system"), channel="clean", level=level, trials=1,
        seed=seed, exchanges=exchanges, seconds=300.0,
    )  # fmt: skip
    conditions = lab.channel_conditions(config.system, [kind.strip() for kind in errors.split(",")], _shares(rates))
    store = runs.Store(output.store)
    results = lab.run_study(
        loaded, config, conditions, store=store, workers=workers, resamples=resamples, progress=OnScreen()
    )
    output.present(results, "lab-study", tables=results.tables())


def _shares(text: str) -> list[float]:
    try:
        shares = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        shares = []
    if not shares or not all(0 < share <= 1 for share in shares):
        raise DialgaugeError(f"--rates expects comma-separated rates, each > 0 and ≤ 1 (got '{text}')")
    return list(dict.fromkeys(shares))
