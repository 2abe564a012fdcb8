"""Do profile and conversations go together? What cannot be meant is refused, what looks odd is said.

A profile that recognises nothing gives scores all the same: a user that seems to say nothing scores 0. So every result
carries two shares, of acts that the profile recognises and of goal slots that anybody uttered, and the cases in which
no number could be meant are errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted, some_of
from dialgauge.users.verdicts import DialogueScore, ProfileFit

if TYPE_CHECKING:
    from dialgauge.users.scoring import ScoredConversations

#: Shares below which something is said.
_FEW_ACTS = 0.5
_FEW_SLOTS = 0.1
_SHOWN = 5
_OTHER_PROFILE = "name another profile with --dataset, or write one (docs/users.md)"


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
    return "; ".join(parts)


def refuse_misfits(scored: ScoredConversations) -> None:
    """Refuse conversations and a profile that cannot be meant for each other."""
    profile = scored.settings.profile
    if not scored.results:
        _refuse_domains(scored, Counter(domain for goal in _goals(scored.dialogues) for domain in goal))
        return
    fit = fit_of(scored.results)
    if not any(result.acting for result in scored.results) and any(result.worded for result in scored.results):
        raise DialgaugeError(
            "no turn of any conversation has a dialogue act, and GCDF1 measures acts, not words; annotate them",
            file=scored.source,
        )
    wordy = any(result.worded for result in scored.results)
    if wordy and not any(turn.acts for dialogue in scored.dialogues for turn in dialogue.user_turns()):
        raise DialgaugeError(
            "no user turn of any conversation has a dialogue act, so there is nothing to measure the user by; annotate "
            "what the user says",
            file=scored.source,
        )
    if fit.acts_in_domains and not fit.acts_known:
        raise DialgaugeError(
            f"the profile {profile.name} recognises none of the {counted(fit.acts_in_domains, 'act')} "
            f"({_listed(_unknown_acts(scored.results))}); {_OTHER_PROFILE}",
            file=scored.source,
        )
    _refuse_domains(scored, _goal_domains(scored.results))
    requests, odd = fit.slots_requested, fit.requests_misnamed
    if odd == requests > 0:
        form = "'service-slot'" if profile.requests_carry_service else "bare slots"
        raise DialgaugeError(
            f"the profile {profile.name} expects requested slots written as {form}, and none of the {requests:,} is; "
            "change requests_carry_service in the profile, or choose another one",
            file=scored.source,
        )


def _refuse_domains(scored: ScoredConversations, domains: Counter[str]) -> None:
    profile = scored.settings.profile
    if domains and all(profile.domain(domain) is None for domain in domains):
        raise DialgaugeError(
            f"the profile {profile.name} knows none of the domains of the goals ({_listed(domains)}); {_OTHER_PROFILE}",
            file=scored.source,
        )


def fit_sentences(scored: ScoredConversations, fit: ProfileFit) -> Iterator[str]:
    """What looks odd and can be scored."""
    profile = scored.settings.profile
    if fit.acts_in_domains and fit.acts_known < _FEW_ACTS * fit.acts_in_domains:
        yield (
            f"the profile {profile.name} recognises only {fit.acts_known:,} of {counted(fit.acts_in_domains, 'act')}; "
            f"not recognised: {_listed(_unknown_acts(scored.results))}"
        )
    if fit.slots_wanted and fit.slots_uttered < _FEW_SLOTS * fit.slots_wanted:
        yield (
            f"only {fit.slots_uttered:,} of {counted(fit.slots_wanted, 'slot')} of the goals "
            f"{'was' if fit.slots_wanted == 1 else 'were'} ever uttered; do acts and goals use the same "
            "slot names (slot_names of the profile)?"
        )
    domains = _goal_domains(scored.results)
    for domain in domains:
        if profile.domain(domain) is None:
            yield (
                f"the profile {profile.name} does not know the domain '{domain}' of {counted(domains[domain], 'goal')}."
                f"{nearest(domain, profile.domains)}"
            )
    requests, odd = fit.slots_requested, fit.requests_misnamed
    if 0 < odd < requests:
        form = "'service-slot'" if profile.requests_carry_service else "bare slots"
        yield f"{odd:,} of {requests:,} requested slots are not written as {form}, which the profile expects"


def _goals(dialogues: Iterable[Dialogue]) -> Iterator[Iterable[str]]:
    return (dialogue.goal.tasks for dialogue in dialogues if dialogue.goal is not None)


def _goal_domains(results: Iterable[DialogueScore]) -> Counter[str]:
    return Counter(domain for result in results for domain in result.goal.tasks)


def _unknown_acts(results: Iterable[DialogueScore]) -> Counter[str]:
    return Counter(name for result in results for name in result.unknown_acts)


def _listed(counts: Counter[str]) -> str:
    return some_of((name for name, _ in counts.most_common()), _SHOWN)
