"""The experiment of the GCDF1 paper again, in our lab: does a user with the same faults fail in the same way?

The paper's user and system talked to each other through text, each understanding the other with a trained NLU. Those
models are not to be had; how they erred is in the recorded conversations, and the channel ``paper2021`` errs so. Our
rebuilt user and system pursue the same goals, through text and that channel. Beside them the user that comes with the
lab, whose rules were written against what the paper found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from dialgauge.agents import Limits
from dialgauge.dialogue import Dialogue
from dialgauge.formats import read
from dialgauge.lab import AgentSpec, LabConfig, hold_conversations, open_town
from dialgauge.report import Column, Table
from dialgauge.reproduce.reproduction import Reproduction
from dialgauge.runs import Run
from dialgauge.tasks import judge_outcomes
from dialgauge.users import paper_figures, score_users
from dialgauge.worlds.domain import DomainSearch

PART = "The experiment again, in the lab"
_CHANNEL = {"channel": "paper2021"}
#: The paper's conversations have at most 42 utterances.
_EXCHANGES = 21
#: So many equal user turns in a row are a loop.
_LOOP = 3
_DOMAINS = ("attraction", "train", "hotel", "taxi", "restaurant")
_BOOKED = ("restaurant", "hotel")


class _Experiment(Struct, frozen=True):
    """Conversations of one user, and what GCDF1 says of them."""

    name: str
    held: Sequence[Dialogue]
    users: Run
    compat: float
    strict: float | None

    def share(self, is_so: Callable[[Dialogue], bool]) -> float:
        return sum(map(is_so, self.held)) / len(self.held)

    def never_mentioned(self, domain: str) -> float:
        """Of the goals with a domain, those in which the user never speaks of it."""
        having = [dialogue for dialogue in self.held if dialogue.goal and domain in dialogue.goal.tasks]
        mentioned = sum(
            any(act.domain == domain for turn in dialogue.user_turns() for act in turn.acts or ())
            for dialogue in having
        )
        return 1 - mentioned / len(having)


def experiment_again(
    record: Reproduction, conversations: Path, values: Path, goals: Path, tell: Callable[[str], None]
) -> None:
    """Add the experiment to the record; ``tell`` hears which conversations are held."""
    paper = open_town(str(goals), failures="paper")
    live = open_town(str(goals))
    recorded = read(conversations).dialogues
    search = paper.search
    runs = [_experiment("recorded", recorded, values, search)]
    for name, town, user, system in (
        ("baseline", paper, "agenda-baseline", "rule-baseline"),
        ("agenda", live, "agenda", "rule-baseline"),
        ("agenda, our system", live, "agenda", "rule-system"),
    ):
        tell(f"holding 1,000 conversations: {user} and {system}")
        runs.append(_experiment(name, _held(town, user, system), values, search))
    record.tables[PART] = [_table(runs), _behaviours(runs)]
    record.notes[PART] = [
        "recorded: the paper's conversations. baseline: agenda-baseline and rule-baseline. agenda: the lab's own user "
        "in front of rule-baseline, and of rule-system. All through text, both sides with the channel paper2021, at "
        "most 21 exchanges; the agenda user pursues live failures only.",
    ]
    _claims(record, runs[0], runs[1])


def _held(town: Any, user: str, system: str) -> list[Dialogue]:
    sitting = LabConfig(
        user=AgentSpec(user, _CHANNEL),
        system=AgentSpec(system, _CHANNEL),
        level="text",
        limits=Limits(exchanges=_EXCHANGES, characters=2_000, acts=20),
    )
    return list(hold_conversations(town.again, town.goals, sitting))


def _experiment(name: str, held: Sequence[Dialogue], values: Path, search: DomainSearch) -> _Experiment:
    judged = list(judge_outcomes(held, search, failures="paper"))
    strict = [outcome.strict.success for outcome in judged if outcome.strict is not None]
    return _Experiment(
        name,
        held,
        score_users(held, canonical_map=values, resamples=0)[0],
        sum(outcome.compat is not None and outcome.compat.success for outcome in judged) / len(judged),
        sum(strict) / len(strict) if strict else None,
    )


def _table(runs: Sequence[_Experiment]) -> Table:
    table = Table(
        "Does our baseline fail in the same way, and does the mended user?",
        ["", *(Column(run.name, digits=3) for run in runs)],
    )
    table.add("I-GCDF1", *(run.users.scores["I-GCDF1"].value for run in runs))
    for domain in _DOMAINS:
        table.add(f"  {domain}", *(run.users.scores[f"I-GCDF1[{domain}]"].value for run in runs))
    table.add("R-GCDF1", *(run.users.scores["R-GCDF1"].value for run in runs))
    table.add("conversations at the limit", *(run.share(_at_limit) for run in runs))
    table.add("... that repeat a booking", *(run.share(_repeats_booking) for run in runs))
    for domain in _DOMAINS:
        table.add(f"{domain} never mentioned", *(run.never_mentioned(domain) for run in runs))
    table.add("success, compat", *(run.compat for run in runs))
    table.add("success, strict", *(run.strict for run in runs))
    return table


def _behaviours(runs: Sequence[_Experiment]) -> Table:
    """Figure 2 of the paper, all domains together: why users repeat constraints."""
    figures = [
        next(paper_figure for paper_figure in paper_figures(run.users) if paper_figure.key == "2") for run in runs
    ]
    table = Table("Why users repeat themselves (Figure 2, counts)", ["", *(run.name for run in runs)])
    for bar in dict.fromkeys(bar for figure in figures for bar in figure.bars):
        table.add(bar, *(int(sum(figure.bars.get(bar, {}).values())) for figure in figures))
    return table


def _at_limit(dialogue: Dialogue) -> bool:
    return len(dialogue.turns) >= 2 * _EXCHANGES


def _repeats_booking(dialogue: Dialogue) -> bool:
    """At the limit, with the same booking slots in the last turns before the goodbye."""
    last = [frozenset(turn.acts or ()) for turn in dialogue.user_turns()][-_LOOP - 1 : -1]
    slots = {act.slot for act in last[0] if act.domain in _BOOKED} if last else set()
    return _at_limit(dialogue) and len(set(last)) == 1 and bool(slots & {"people", "day", "time", "stay"})


def _claims(record: Reproduction, recorded: _Experiment, baseline: _Experiment) -> None:
    limit = baseline.share(_at_limit)
    record.claim(
        PART,
        "about half of the conversations run into the limit (0.4 to 0.6)",
        holds=0.4 <= limit <= 0.6,
        ours=f"{limit:.1%}",
        note=f"recorded: {recorded.share(_at_limit):.1%}",
    )
    missed = {domain: baseline.never_mentioned(domain) for domain in _DOMAINS}
    record.claim(
        PART,
        "taxis are what is never mentioned most often",
        holds=max(missed, key=lambda domain: missed[domain]) == "taxi",
        ours=f"{missed['taxi']:.1%}",
        note=f"recorded: {recorded.never_mentioned('taxi'):.1%}",
    )
    order = sorted(_DOMAINS, key=lambda domain: -(baseline.users.scores[f"I-GCDF1[{domain}]"].value or 0.0))
    theirs = sorted(_DOMAINS, key=lambda domain: -(recorded.users.scores[f"I-GCDF1[{domain}]"].value or 0.0))
    record.claim(
        PART,
        f"by I-GCDF1 the best domains are {', '.join(theirs[:3])}, in this order",
        holds=order[:3] == theirs[:3],
        ours=", ".join(order),
        note=f"recorded: {', '.join(theirs)}",
    )
