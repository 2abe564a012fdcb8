"""What the GCDF1 paper says of single turns and of people's conversations: what was said, heard, and then done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dialgauge.dialogue import Act, Dialogue, Turn
from dialgauge.reproduce.gcdf1_statements import CONSTRAINTS, PHRASES, SETUP
from dialgauge.reproduce.reproduction import Reproduction
from dialgauge.runs import Run

_FREE = "dontcare"
_MOST = 0.5
_NO_PEOPLE = "multiwoz-2.1/test.json is not present (data get multiwoz-2.1)"
_MEANT, _HEARD = "meant", "heard only"
#: Where the paper lists behaviours: its words, and the evaluator's names.
_REPETITIONS = {
    "a search fails": "elicited_by_no_offers",
    "a booking fails": "elicited_by_booking_failure",
    "the system asks again": "elicited_by_sys_question",
}
#: Reasons that the evaluator tells apart by what was heard: without it, every repetition is a misunderstanding.
_UNHEARD = {
    "Section 3.1": (
        "constraints are repeated as a transaction is discussed, a choice is confirmed, another question is answered, "
        "several domains are discussed, or the system misunderstands"
    ),
    "Section 3.2": "requests are repeated as the system misunderstands",
}
_OUTSIDE = {
    "an entity of several is named": "elicited_by_sys_offer",
    "an alternative is named": "elicited_by_booking_failure",
    "an attribute of the system is taken up": "elicited_by_recommendation",
    "the system asks for it": "auto_matched_value",
}
_REQUESTS = {
    "the answer comes late": "delayed_response",
    "the request comes before the constraints": "user_prempted_request",
}


def of_people(record: Reproduction, people: Run | None) -> None:
    """Sections 1 and 3: what people do in MultiWOZ 2.1, judged on the test set."""
    named = (
        ("Section 3.1", "not-in-goal constraints occur in MultiWOZ for the reasons listed", "constraints_not_in_goal",
         _OUTSIDE),
        ("Section 3.1", "constraints are repeated in MultiWOZ as nothing is found or booked, or the system asks again",
         "multiple_constraint_informs", _REPETITIONS),
        ("Section 3.2", "requests are repeated in MultiWOZ as the answer comes late or a constraint is missing",
         "multiple_slot_requests", _REQUESTS),
    )  # fmt: skip
    simple = (
        ("Section 1", "people repeat constraints", ("repeated_inform",)),
        ("Section 3.1", "MultiWOZ's system states constraints before the user does", ("sys_preempted_constraint",)),
        ("Section 3.2", "MultiWOZ's system answers before it is asked", ("provision_slots", "provision_entire_domain")),
    )  # fmt: skip
    if people is None:
        for part, what, *_ in (*simple, *named):
            record.impossible(part, what, "claimed", _NO_PEOPLE)
        return
    for part, what in _UNHEARD.items():
        record.impossible(part, f"{what} (MultiWOZ)", "claimed", "people's conversations record no understanding")
    counts, dialogues = Counter(people.table("behaviours")["behaviour"].to_list()), people.coverage["dialogues"]
    whose = f"by people, in the {dialogues.scored:,} of {dialogues.read:,} test dialogues of MultiWOZ 2.1 that " + (
        "reference mode scores (the others have acts without a value)"
    )
    for part, what, names in simple:
        times = sum(counts[name] for name in names)
        record.claim(part, what, holds=times > 0, ours=f"{times} times", note=whose)
    for part, what, family, reasons in named:
        times_of = {words: counts[f"{family}/{name}"] for words, name in reasons.items()}
        record.claim(
            part, what, holds=all(times_of.values()),
            ours=", ".join(f"{words} {count}" for words, count in times_of.items()), note=f"times, {whose}",
        )  # fmt: skip


def of_turns(record: Reproduction, held: Sequence[Dialogue], people: Sequence[Dialogue] | None, run: Run) -> None:
    """Sections 4.1 and 4.2.1 on what was said and heard in the paper's conversations."""
    turns = [turn for dialogue in held for turn in dialogue.turns]
    whole = sum(bool(turn.text) and turn.acts is not None for turn in turns)
    heard = sum(turn.heard is not None for dialogue in held for turn in dialogue.turns[:-1])
    record.claim(
        SETUP, "utterances, and input and output actions of both agents, are collected", holds=whole == len(turns),
        ours=f"{whole:,} of {len(turns):,} utterances with what was meant, {heard:,} with what was heard",
        note="nobody hears the last utterance of a conversation",
    )  # fmt: skip
    failing = sum(any(task.fail_book for task in dialogue.goal.tasks.values()) for dialogue in held if dialogue.goal)
    record.claim(
        SETUP, "goals of MultiWOZ have booking failures, which ConvLab-2's goal model lacks", holds=failing > 0,
        ours=f"{failing} of {len(held):,} goals", note="of the goal model nothing is released here",
    )  # fmt: skip
    _misheard_attractions(record, held)
    _dontcare(record, held)
    _train_confirmations(record, run)
    notes = Counter(act.slot for dialogue in people or () for turn in dialogue.turns for act in turn.acts or ())
    what = "MultiWOZ 2.1 does not annotate notbook=none"
    if people is None:
        record.impossible(CONSTRAINTS, what, "claimed", _NO_PEOPLE)
    else:
        shown = f"{notes['notbook']} of {notes.total():,} acts of the test set have the slot notbook"
        record.claim(CONSTRAINTS, what, holds=not notes["notbook"], ours=shown)


def configured(record: Reproduction, before: Mapping[str, float], after: Mapping[str, float]) -> None:
    """That pairs outside the goal can be listed: dialogues without a match, by domain, before and after."""
    record.claim(
        CONSTRAINTS, "a pair listed in the configuration, as notbook=none, is matched",
        holds=sum(after.values()) < sum(before.values()),
        ours=f"dialogues without a match: {_listed(before)}; with notbook=none listed: {_listed(after)}",
        note="what is left is choice=any",
    )  # fmt: skip


def _listed(bars: Mapping[str, float]) -> str:
    return ", ".join(f"{domain} {count:g}" for domain, count in sorted(bars.items()) if count) or "none"


def _exchanges(held: Sequence[Dialogue]) -> Iterator[tuple[Dialogue, int, Turn, Turn]]:
    """Each system turn with the user's answer to it."""
    for dialogue in held:
        for index, (turn, answer) in enumerate(zip(dialogue.turns, dialogue.turns[1:], strict=False)):
            if turn.speaker == "system":
                yield dialogue, index, turn, answer


def _asks(acts: Sequence[Act] | None, domain: str, slots: Sequence[str]) -> bool:
    return any(act.intent == "request" and act.domain == domain and act.slot in slots for act in acts or ())


def _misheard_attractions(record: Reproduction, held: Sequence[Dialogue]) -> None:
    domain, slots = "attraction", ("name", "type")
    asked = [
        (dialogue, number, answer)
        for dialogue, number, turn, answer in _exchanges(held)
        if _asks(turn.heard, domain, slots) and not _asks(turn.acts, domain, slots)
    ]
    free = sum(any(act.slot in slots and _FREE in act.values for act in answer.acts or ()) for *_, answer in asked)
    repeated = sum(
        any(act.domain == domain and act.values and _FREE not in act.values
            for turn in dialogue.turns[:number] if turn.speaker == "user" for act in turn.acts or ())
        for dialogue, number, _ in asked
    )  # fmt: skip
    phrased = [dialogue.id for dialogue in held for turn in dialogue.turns if _phrased(turn)]
    held_up = again = answered = unheard = 0
    for dialogue, number, turn, answer in _exchanges(held):
        if _phrased(turn):
            answered += 1
            indifferent = any(_FREE in act.values for act in answer.acts or ())
            held_up += indifferent
            unheard += not indifferent and not _asks(turn.heard, domain, slots)
            again += any(map(_phrased, dialogue.turns[number + 2 : number + 3]))
    having = sum(domain in dialogue.goal.tasks for dialogue in held if dialogue.goal)
    misheard = "misheard turns"
    what = "attraction: to such a question the user says dontcare about name or type"
    record.share(CONSTRAINTS, what, free, len(asked), misheard, more_than=_MOST)
    what, earlier = "attraction: the questions are superfluous, as constraints were given before", "in an earlier turn"
    record.share(
        CONSTRAINTS, what, repeated, len(asked), misheard, note=f"an attraction constraint with a value {earlier}"
    )
    what = "attraction: these questions are sampled very frequently"
    unit = f"conversations about attractions, {len(phrased)} times"
    record.share(CONSTRAINTS, what, len(set(phrased)), having, unit, more_than=0.1)
    record.claim(
        CONSTRAINTS, "attraction: the conversation only continues once these questions are not sampled",
        holds=held_up == answered,
        ours=f"dontcare after {held_up} of {answered} such questions, another answer at once after "
        f"{answered - held_up}; asked again next after {again}",
        note="continues: the answer is not dontcare",
        why=f"of these {answered - held_up}, {unheard} were not heard as a request",
    )  # fmt: skip


def _phrased(turn: Turn) -> bool:
    """Whether a system turn has one of the misleading phrases."""
    return turn.speaker == "system" and any(phrase in (turn.text or "").casefold() for phrase in PHRASES)


def _dontcare(record: Reproduction, held: Sequence[Dialogue]) -> None:
    """What the system said, and what the user heard, before the user says dontcare."""
    before: dict[str, Counter[str]] = {}
    people: Counter[bool] = Counter()
    for _, _, turn, answer in _exchanges(held):
        for act in answer.acts or ():
            if _FREE not in act.values:
                continue
            asked = any(spoken.intent == "request" and spoken.slot == act.slot for spoken in turn.acts or ())
            misheard = any(
                heard_act.intent in ("request", "select")
                and (heard_act.slot, heard_act.domain) == (act.slot, act.domain)
                for heard_act in turn.heard or ()
            )
            cause = _MEANT if asked else _HEARD if misheard else "neither"
            before.setdefault(act.domain or "", Counter())[cause] += 1
            if (act.domain, act.slot) == ("train", "people"):
                people[any(spoken.intent == "offerbook" for spoken in turn.acts or ())] += 1
    for what, domain, cause, why in (
        ("attraction: dontcare is triggered by how the system speaks", "attraction", _HEARD, ""),
        ("train: dontcare is triggered by how the system speaks", "train", _HEARD,
         "half of it answers questions that the system does ask"),
        ("hotel: dontcare answers questions about what the goal does not say", "hotel", _MEANT,
         "no request of the system comes before: its words are only heard as a question"),
    ):  # fmt: skip
        causes = before.get(domain, Counter())
        record.claim(
            CONSTRAINTS, what, holds=causes[cause] > _MOST * causes.total(),
            ours=", ".join(f"{name} {count}" for name, count in causes.most_common()),
            note="times dontcare follows a question that the system meant, that was only heard in its words, or "
            f"neither; more than half {cause}", why=why,
        )  # fmt: skip
    invited, total = people[True], people.total()
    record.share(
        CONSTRAINTS, "train-people=dontcare declines an invitation to book", invited, total,
        "times after an invitation", more_than=_MOST, why="the others follow a time, a price or a train's name",
    )  # fmt: skip


def _train_confirmations(record: Reproduction, run: Run) -> None:
    heard = run.table("confusions")
    booked = heard.filter((heard["speaker"] == "system") & heard["said"].str.starts_with("train-offerbook"))
    names = Counter(text.partition("(")[0] or "nothing" for text in booked["heard"].to_list())
    other = booked.height - names["train-offerbook"] - names["train-offerbooked"]
    record.claim(
        CONSTRAINTS, "train: the act that confirms a booking is not identified", holds=other > _MOST * booked.height,
        ours=f"heard as another act {other} times of {booked.height}: "
        + ", ".join(f"{name} {count}" for name, count in names.most_common(4)),
        note="misheard train-offerbook; this system never says train-offerbooked",
    )  # fmt: skip
