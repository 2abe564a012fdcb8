"""Do profile and conversations go together? What cannot be meant is refused, what looks odd is said.

A profile that recognises nothing gives scores all the same: a user that seems to say nothing scores 0. So every result
carries two shares, of acts that the profile recognises and of goal slots that anybody uttered, and the cases in which
no number could be meant are errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dialgauge.dialogue import Dialogue, Task
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted, some_of
from dialgauge.users.profile import DatasetProfile, load_profile, shipped
from dialgauge.users.records import DialogueScore, ProfileFit
from dialgauge.users.turns import ActLexicon

if TYPE_CHECKING:
    from dialgauge.users.scoring import ScoredConversations

#: Shares below which something is said.
_FEW_ACTS = 0.5
_FEW_SLOTS = 0.1
_SHOWN = 5
#: How much alike two names are, at least, of which one may be the other misspelt.
_ALIKE = 0.65
#: Conversations that are looked at to tell which profile would fit.
_LOOKED_AT = 50


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
            f"({_listed(_unknown_acts(scored.results))}); {_better(scored, profile)}",
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
            f"the profile {profile.name} knows none of the domains of the goals ({_listed(domains)}); "
            f"{_better(scored, profile)}",
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
    if misspelt := _misspelt_slots(scored):
        yield f"slots of the goals that nobody ever uttered, maybe misspelt: {'; '.join(misspelt)}"
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


def _misspelt_slots(scored: ScoredConversations) -> list[str]:
    """Slots of goals that are uttered in no conversation, and are much like one that is.

    A name that stands beside the slot in the same part of a goal is another slot, however alike the two are.
    """
    silent = Counter([pair for result in scored.results for pair in result.unuttered])
    if not silent:
        return []
    shapes = Counter([_shape(*pair) for result in scored.results for pair in result.goal.tasks.items()])
    wanted = Counter[tuple[str, str]]()
    for (domain, parts), count in shapes.items():
        for slot in {slot.lower() for part in parts for slot in part}:
            wanted[domain, slot] += count
    never = [pair for pair, count in silent.items() if count == wanted[pair]]
    if not never:
        return []
    beside: dict[tuple[str, str], set[str]] = {pair: set() for pair in never}
    for domain, parts in shapes:
        for part in parts:
            slots = {slot.lower() for slot in part}
            for slot in slots:
                if (domain, slot) in beside:
                    beside[domain, slot] |= slots
    uttered = _uttered_slots(scored)
    booked = uttered.get(scored.settings.profile.booking_service, set())
    hints = {
        (domain, slot): nearest(
            slot, (uttered.get(domain, set()) | booked) - beside[domain, slot], likeness=_ALIKE, listed=False
        )
        for domain, slot in never
    }
    return [
        f"'{slot}' of '{domain}' in {counted(wanted[domain, slot], 'goal')}.{hint}"
        for (domain, slot), hint in sorted(hints.items())
        if hint
    ][:_SHOWN]


def _shape(domain: str, task: Task) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """The domain of a task and the slots of each of its parts, which many goals share."""
    return domain, (tuple(task.info), tuple(task.fail_info), tuple(task.book), tuple(task.fail_book), task.requests)


def _uttered_slots(scored: ScoredConversations) -> dict[str, set[str]]:
    """The slots that either side speaks of, by service, as goals would call them."""
    lexicon = ActLexicon(scored.settings.profile, merge_values=False, strict=False)
    uttered: dict[str, set[str]] = {}
    for dialogue in scored.dialogues:
        for turn in dialogue.turns:
            for service, slot in lexicon.utterance(turn.acts or ()).slots:
                if slot:
                    uttered.setdefault(service, set()).add(slot)
    return uttered


def _goals(dialogues: Iterable[Dialogue]) -> Iterator[Iterable[str]]:
    return (dialogue.goal.tasks for dialogue in dialogues if dialogue.goal is not None)


def _goal_domains(results: Iterable[DialogueScore]) -> Counter[str]:
    return Counter(domain for result in results for domain in result.goal.tasks)


def _unknown_acts(results: Iterable[DialogueScore]) -> Counter[str]:
    return Counter(name for result in results for name in result.unknown_acts)


def _better(scored: ScoredConversations, profile: DatasetProfile) -> str:
    """Which shipped profile knows domains of the goals and most of the acts, if one does."""
    looked_at = scored.dialogues[:_LOOKED_AT]
    domains = {domain for goal in _goals(looked_at) for domain in goal}
    turns = (turn for dialogue in looked_at for turn in dialogue.turns)
    acts = Counter(act.name for turn in turns for act in turn.acts or ())
    fitting = []
    for name in shipped():
        other = load_profile(name)
        lexicon = ActLexicon(other, merge_values=False, strict=True)
        known = sum(count for act, count in acts.items() if lexicon.families(act))
        if name != profile.name and 2 * known >= acts.total() and any(other.domain(each) for each in domains):
            fitting.append(name)
    hint = f"; {' or '.join(fitting)} would fit" if fitting else ""
    return f"name another profile with --dataset, or write one (docs/users.md){hint}"


def _listed(counts: Counter[str]) -> str:
    return some_of((name for name, _ in counts.most_common()), _SHOWN)
