"""Do profile and conversations go together? A profile that recognises nothing would give scores all the same.

Every result carries two shares, of acts that the profile recognises and of goal slots that anybody uttered; where no
number could be meant, that is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted, some_of
from dialgauge.users.verdicts import DialogueScore, ProfileFit

if TYPE_CHECKING:
    from dialgauge.users.scoring import ScoredConversations

#: The share of recognised acts below which something is said.
_FEW_ACTS = 0.5
_SHOWN = 5


def fit_of(results: Iterable[DialogueScore]) -> ProfileFit:
    """The sums over all conversations."""
    fits = [result.fit for result in results]
    return ProfileFit(*(sum(getattr(fit, name) for fit in fits) for name in ProfileFit.__struct_fields__))


def fit_line(fit: ProfileFit, profile: str) -> str:
    """The two shares in one line."""
    parts = []
    if fit.acts_in_domains:
        share = 100 * fit.acts_known / fit.acts_in_domains
        parts.append(f"{share:.1f}% of {counted(fit.acts_in_domains, 'act')} recognised by the profile {profile}")
    if fit.slots_wanted:
        share = 100 * fit.slots_uttered / fit.slots_wanted
        parts.append(f"{share:.1f}% of {counted(fit.slots_wanted, 'slot')} of the goals uttered by either side")
    return f"{'; '.join(parts)}." if parts else ""


def refuse_misfits(scored: ScoredConversations) -> None:
    """Refuse conversations and a profile that cannot be meant for each other."""
    profile, fit = scored.settings.profile, fit_of(scored.results)
    if any(result.worded for result in scored.results) and not any(result.acting for result in scored.results):
        raise DialgaugeError(
            "no user turn of any conversation has a dialogue act, and GCDF1 measures acts, not words; annotate them",
            file=scored.source,
        )
    if fit.acts_in_domains and not fit.acts_known:
        raise DialgaugeError(
            f"the profile {profile.name} recognises none of the {counted(fit.acts_in_domains, 'act')} "
            f"({_unknown_acts(scored)}); name another profile with --dataset, or write one (docs/users.md)",
            file=scored.source,
        )
    domains = _goal_domains(scored)
    if domains and all(profile.domain(domain) is None for domain in domains):
        raise DialgaugeError(
            f"the profile {profile.name} knows none of the domains of the goals ({some_of(list(domains), _SHOWN)}); "
            "name another profile with --dataset, or write one (docs/users.md)",
            file=scored.source,
        )
    if fit.requests_misnamed == fit.slots_requested > 0:
        form = "'service-slot'" if profile.requests_carry_service else "bare slots"
        raise DialgaugeError(
            f"the profile {profile.name} expects requested slots written as {form}, and none of the "
            f"{fit.slots_requested:,} is; change requests_carry_service in the profile, or choose another one",
            file=scored.source,
        )


def fit_sentences(scored: ScoredConversations) -> Iterator[str]:
    """What looks odd and can be scored."""
    profile, fit = scored.settings.profile, fit_of(scored.results)
    if fit.acts_known < _FEW_ACTS * fit.acts_in_domains:
        yield (
            f"the profile {profile.name} recognises only {fit.acts_known:,} of {counted(fit.acts_in_domains, 'act')}; "
            f"not recognised: {_unknown_acts(scored)}"
        )
    for domain, goals in _goal_domains(scored).items():
        if profile.domain(domain) is None:
            yield (
                f"the profile {profile.name} does not know the domain '{domain}' of {counted(goals, 'goal')}."
                f"{nearest(domain, profile.domains)}"
            )


def _goal_domains(scored: ScoredConversations) -> Counter[str]:
    """The domains of all goals; where no conversation was scored, those of the dialogues."""
    if scored.results:
        return Counter(domain for result in scored.results for domain in result.goal.tasks)
    goals = (dialogue.goal for dialogue in scored.dialogues)
    return Counter(domain for goal in goals if goal is not None for domain in goal.tasks)


def _unknown_acts(scored: ScoredConversations) -> str:
    counts = Counter(name for result in scored.results for name in result.unknown_acts)
    return some_of([name for name, _ in counts.most_common()], _SHOWN)
