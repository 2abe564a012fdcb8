"""What should make a reader doubt the numbers of a system: signs that its responses are made for the evaluator."""

from __future__ import annotations

from dialgauge.runs import Run
from dialgauge.tasks.published import published_mode
from dialgauge.text import counted

#: When numbers look gamed: more than 1% of stuffed responses (humans: 2 of 7,372), less than 0.6 times the humans'
#: share of what they tell that was asked for, and more domains a turn than anybody talks about.
_MOST_STUFFED, LEAST_ASKED, _MOST_DOMAINS = 0.01, 0.6, 2.0
#: Public files have 0.57 to 0.98 domains a turn; a file whose placeholders name no domain has none.
_LEAST_DOMAINS = 0.1


def doubts(run: Run) -> list[str]:
    """What should make a reader doubt the numbers of a system."""
    sentences = []
    details = run.details
    turns = run.coverage["turns"].read or 0
    if details["stuffed_responses"] > _MOST_STUFFED * turns:
        sentences.append(
            f"{details['stuffed_responses']:,} of {counted(turns, 'response')} are stuffed (a venue and a train at "
            "once, or nearly everything that can be asked for): mwzeval rewards that, grounded gives them nothing"
        )
    precision, human = (details["request_precision"][side] for side in ("system", "human"))
    if human and precision is not None and precision < LEAST_ASKED * human:
        sentences.append(
            f"only {precision:.0%} of what it tells was asked for (human responses: {human:.0%}): "
            "telling everything pays off under mwzeval"
        )
    named = details["domains_per_turn"]
    if named is not None and named > _MOST_DOMAINS:
        sentences.append(
            f"it claims {named:.1f} active domains per turn; mwzeval trusts the list, and longer lists score higher"
        )
    if named is not None and named < _LEAST_DOMAINS:
        sentences.append(
            f"hardly a turn has an active domain ({named:.2f} on average), so almost nothing counts under mwzeval: "
            "a silent system would score the same"
        )
    published = published_mode(run.name)
    if published and published != details["domains"]:
        sentences.append(
            f"its published row was made with active domains from '{published}', this one with "
            f"'{details['domains']}': the two are not comparable; use --domains {published}"
        )
    return sentences
