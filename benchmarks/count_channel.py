"""Count the rates of the error channel ``paper2021`` from the recorded conversations of the GCDF1 paper.

    python benchmarks/count_channel.py shared/data/gcdf1/conversations              # totals
    python benchmarks/count_channel.py shared/data/gcdf1/conversations rates.yaml   # also write the rates

The totals compare what the recordings heard with what the channel makes of the same acts: in all turns, where the
loops weigh most, and in the turns that say nothing for the second time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from dialgauge.agents.town import Channel, ChannelRates, Damage, count_rates
from dialgauge.agents.town.channel_counting import agreement, turns_of
from dialgauge.dialogue import Act, Dialogue, Speaker
from dialgauge.draws import Draws
from dialgauge.formats import read

HEADER = """\
# How the agents of the GCDF1 paper (Coca et al., 2021) understood each other: counted from its 1,000 recorded
# conversations by benchmarks/count_channel.py. A kind of act counts once in a conversation, the first time that it is
# said ('said': in how many conversations). "*" is the average of all, for kinds that were never said.
# 'again' has the rates of the very same act said again, where that happened at least 20 times.
# Shares: drop: not heard. relabel: heard as another act. value: heard with no value, a part of it, or another one.
# insert: heard beside it though nobody said it.
"""


def written(rates: ChannelRates) -> str:
    """The rates as the file has them."""
    lines = [HEADER]
    for side in ("user", "system"):
        lines.append(f"{side}:\n")
        lines += [f"  {_line(kind, damage)}\n" for kind, damage in getattr(rates, side).items()]
    return "".join(lines)


def _line(kind: str, damage: Damage) -> str:
    return f"{_quoted(kind)}: {_shares(damage)}"


def _shares(damage: Damage) -> str:
    parts = [f"said: {damage.said}"]
    if damage.drop:
        parts.append(f"drop: {damage.drop:g}")
    for field in ("relabel", "value", "insert"):
        shares = ", ".join(f"{_quoted(name)}: {rate:g}" for name, rate in getattr(damage, field).items())
        if shares:
            parts.append(f"{field}: {{{shares}}}")
    if damage.again is not None:
        parts.append(f"again: {_shares(damage.again)}")
    return f"{{{', '.join(parts)}}}"


def _quoted(kind: str) -> str:
    return kind if kind.isalpha() else f'"{kind}"'


def replayed(
    dialogues: Sequence[Dialogue], speaker: Speaker, channel: Channel | None, first: bool = False
) -> Iterator[tuple[Sequence[Act], Sequence[Act]]]:
    """What was said with what was heard, in the recording or through a channel; ``first``: turns without repetition."""
    for dialogue in dialogues:
        known: set[tuple[str, str]] = set()
        draws, before = Draws(0, "recount", dialogue.id), set[Act]()
        for _, said, heard in turns_of(dialogue, speaker):
            got = heard if channel is None else channel.damage(said, speaker, draws, None, before)
            kinds = {(act.name, act.slot) for act in said}
            if not first or not kinds & known:
                yield said, got
            known |= kinds


def main() -> None:
    """Print the totals; write the rates where a file is named."""
    dialogues = list(read(sys.argv[1]).dialogues)
    rates = count_rates(dialogues)
    for speaker in ("user", "system"):
        for label, channel in {"recorded": None, "channel": Channel(rates)}.items():
            for turns, first in {"all turns": False, "without repetition": True}.items():
                one = agreement(replayed(dialogues, speaker, channel, first))
                print(
                    f"{speaker:7} {label:9} {turns:18} said {one.said:6} heard {one.heard:6} "
                    f"recall {one.recall:.3f} precision {one.precision:.3f}"
                )
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(written(rates), encoding="utf-8")


if __name__ == "__main__":
    main()
