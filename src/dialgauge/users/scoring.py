"""Conversations of a source, scored one by one: those that fail are named, and the others go on.

Do profile and conversations go together? A profile that recognises nothing would give scores all the same, so every
result carries two shares, of acts that the profile recognises and of goal slots that anybody uttered; where no number
could be meant, that is an error.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import Corpus, Notes, hold, in_memory, stream, system_name
from dialgauge.runs import Run
from dialgauge.text import counted, some_of
from dialgauge.users.scorer import Failure, Scorer, ScorerSettings, UserOptions, profile_for
from dialgauge.users.verdicts import DialogueScore, ProfileFit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dialgauge.formats import AnyFrame

#: Files by name, or dialogues: a corpus, a run, a frame, any iterable.
Conversations: TypeAlias = "str | Path | Corpus | Run | AnyFrame | Iterable[Dialogue]"


#: The share of recognised acts below which something is said.
_FEW_ACTS = 0.5
_SHOWN = 5


class ScoredConversations(Struct):
    """What came of a source: results in the order of its dialogues, failures, and the dialogues themselves."""

    name: str
    settings: ScorerSettings
    results: list[DialogueScore] = []
    failures: list[Failure] = []
    #: The dialogues that could be read, each id once.
    dialogues: Sequence[Dialogue] = []
    #: What reading left out or changed, counted.
    notes: Counter[str] = field(default_factory=Counter)
    #: Dialogues that could not be read, and turns of those that could.
    unread: int = 0
    turns: int = 0
    #: The file or folder they come from.
    source: str | None = None


class _Given(Struct):
    """A dialogue with the file and the format it was read from."""

    dialogue: Dialogue
    format: str
    file: str | None = None


def score_conversations(
    source: Conversations,
    options: UserOptions | None = None,
    *,
    name: str | None = None,
    advance: Callable[[int], None] = lambda number: None,
) -> ScoredConversations:
    """Score all conversations of a source. A dialogue that cannot be read or scored is a failure; the others go on."""
    chosen, notes = options or UserOptions(), Notes(tolerant=True)
    given = _given(source, chosen, notes)
    first = next(given, None)
    file = os.fspath(source) if isinstance(source, str | Path) else None
    own = system_name(source) if isinstance(source, str | Path) else getattr(source, "name", "")
    settings = ScorerSettings.load(chosen, first.format if first else "")
    scored = ScoredConversations(name or own or "conversations", settings, source=file)
    if first is not None:
        rest = _of_one_profile(first, given, chosen)
        scored.dialogues = hold(_scoring(scored, settings.scorer(), rest, advance))
    scored.notes.update(notes.counts)
    scored.failures += [Failure.of(error) for error in notes.refused]
    scored.unread = len(notes.refused)
    return scored


def _given(source: Conversations, options: UserOptions, notes: Notes) -> Iterator[_Given]:
    if isinstance(source, str | Path):
        for part, form, dialogue in stream(source, format=options.format, limit=options.limit, notes=notes):
            yield _Given(dialogue, form.name, part.name)
    elif isinstance(source, Run):
        yield from (_Given(dialogue, "") for dialogue in source.dialogues())
    else:
        corpus = in_memory(source)
        yield from (_Given(dialogue, corpus.format) for dialogue in corpus)


def _of_one_profile(first: _Given, rest: Iterable[_Given], options: UserOptions) -> Iterator[_Given]:
    """All dialogues, or an error where their formats go with different profiles and none was named."""
    yield first
    for each in rest:
        if options.profile is None and profile_for(each.format) != profile_for(first.format):
            raise DialgaugeError(
                f"it holds conversations of several datasets (formats {first.format}, {each.format}); score them "
                "separately, or name a profile",
                file=each.file,
            )
        yield each


def _scoring(
    scored: ScoredConversations, scorer: Scorer, given: Iterable[_Given], advance: Callable[[int], None]
) -> Iterator[Dialogue]:
    """The dialogues, each of which is scored as it passes. The second one of an id is a failure and left out."""
    seen: set[str] = set()
    for each in given:
        key = dialogue_key(each.dialogue.id)
        if key in seen:
            why = "this id was already used by an earlier dialogue; ids must be unique"
            scored.failures.append(Failure(each.dialogue.id, why, file=each.file))
            continue
        seen.add(key)
        try:
            scored.results.append(scorer.score(each.dialogue))
        except DialgaugeError as error:
            scored.failures.append(Failure.of(error.at(file=each.file)))
        scored.turns += len(each.dialogue.turns)
        advance(1)
        yield each.dialogue


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
