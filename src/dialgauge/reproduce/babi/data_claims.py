"""What the paper says of its data, judged by the released files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from dialgauge.rankers import RankingTask
from dialgauge.reproduce.reproduction import UNEXPLAINED


def in_percent(value: float) -> str:
    """A share with one digit, without its sign."""
    return f"{100 * value:.1f}"


#: Whether a claim holds, the numbers, and why it does not where it does not.
_Judgement = tuple[bool, str, str]

_FIELDS = ("any preference", "where should", "how many people", "which price")
_UPDATES = ("instead could it be", "actually i would prefer")
_MORE_UPDATES = "sure is there anything else"
_REAL_QUESTIONS = ("What kind of food", "What part of town", "Would you like something in the")
_WORLD = ("R_cuisine", "R_location", "R_price", "R_rating", "R_number")
_QUERIED = ("R_cuisine", "R_location", "R_price", "R_number")
_SPLITS = ("trn", "dev", "tst")
_ALL_SPLITS = (*_SPLITS, "tst-OOV")
#: How far from its share a count may be, in all that is drawn at random.
_NEAR = 0.05


def _halves(simulated: Sequence[RankingTask]) -> list[dict[str, set[str]]]:
    """The facts of either half of the knowledge base: relation to values, and ``entity`` to restaurants.

    A half is known by the places that dialogs in, or out of, the vocabulary call for.
    """
    places = [
        {
            text.split()[2]
            for task in simulated
            for replies in _bot_lines(task, splits)
            for text in replies
            if _is_call(text)
        }
        for splits in (_SPLITS, ("tst-OOV",))
    ]
    facts = simulated[0].facts
    town = {fact.entity: fact.value for fact in facts if fact.relation == "R_location"}
    halves: list[dict[str, set[str]]] = [{}, {}]
    for fact in facts:
        for half, towns in zip(halves, places, strict=True):
            if town[fact.entity] in towns:
                half.setdefault(fact.relation, set()).add(fact.value)
                half.setdefault("entity", set()).add(fact.entity)
    return halves


def _knowledge(*simulated: RankingTask) -> _Judgement:
    halves = _halves(simulated)
    facts = simulated[0].facts
    sizes = [(sum(fact.entity in half["entity"] for fact in facts), len(half["entity"])) for half in halves]
    shown = " and ".join(f"{count:,} facts, {places} restaurants" for count, places in sizes)
    return sizes == [(4200, 600), (4200, 600)], shown, UNEXPLAINED


def _disjoint(*simulated: RankingTask) -> _Judgement:
    first, second = _halves(simulated)
    shared = {name for name in first if first[name] & second[name]}
    return shared == {"R_price", "R_rating", "R_number"}, f"shared: {', '.join(sorted(shared))}", UNEXPLAINED


def _product(*simulated: RankingTask) -> _Judgement:
    counts = [[len(half[name]) for name in _WORLD[:4]] for half in _halves(simulated)]
    return counts == [[5, 5, 3, 8]] * 2, " and ".join(" × ".join(map(str, row)) for row in counts), UNEXPLAINED


def _complete(task: RankingTask) -> _Judgement:
    of_place: dict[str, list[str]] = {}
    for fact in task.facts:
        of_place.setdefault(fact.entity, []).append(fact.relation)
    whole = sum(sorted(names) == sorted(set(names)) and len(names) == 7 for names in of_place.values())
    return whole == len(of_place), f"{whole:,} of {len(of_place):,} restaurants have one value of each", UNEXPLAINED


def _query_results(task: RankingTask) -> _Judgement:
    of_place: dict[str, dict[str, str]] = {}
    for fact in task.facts:
        of_place.setdefault(fact.entity, {})[fact.relation] = fact.value
    results = Counter(tuple(values[name] for name in _QUERIED) for values in of_place.values())
    counts = Counter(results.values())
    possible = 2 * 5 * 5 * 3 * 4
    shown = f"none {possible - len(results)}, one {counts[1]}, several {len(results) - counts[1]} of {possible} queries"
    return 0 < counts[1] < len(results) < possible, shown, UNEXPLAINED


def _four_fields(*simulated: RankingTask) -> _Judgement:
    fields = Counter(len(text.split()) - 1 for task in simulated for replies in _bot_lines(task, _ALL_SPLITS)
                     for text in replies if _is_call(text))  # fmt: skip
    return set(fields) == {4}, f"{fields[4]:,} of {fields.total():,} calls have four", UNEXPLAINED


def _three_fields(task: RankingTask) -> _Judgement:
    fields = Counter(len(text.split()) - 1 for replies in _bot_lines(task) for text in replies if _is_call(text))
    return set(fields) == {3}, f"{fields[3]:,} of {fields.total():,} calls have three", UNEXPLAINED


#: What says one field, wherever it stands: alone, or after an opening.
_FIELD = re.compile(
    r"in <R_location>|in a <R_price> price range|for <R_number> people|for <R_number>|"
    r"with <R_cuisine> (?:food|cuisine)|at <name>"
)


def _patterns(simulated: Sequence[RankingTask], kind: str) -> set[str]:
    """What is said with values replaced, cut into openings and fields."""
    facts = simulated[0].facts
    kinds = {fact.value: f"<{fact.relation}>" for fact in facts} | {fact.entity: "<name>" for fact in facts}
    texts = {line.text for task in simulated for dialogs in task.splits.values() for dialog in dialogs
             for line in dialog.lines if line.kind == kind}  # fmt: skip
    patterns = set()
    for text in {" ".join(kinds.get(word, word) for word in text.split()) for text in texts}:
        fields = _FIELD.findall(text)
        opening = text.removesuffix(" ".join(fields)) if fields else text
        cut = fields and opening != text
        patterns.update([*fields, *filter(None, [opening.strip()])] if cut else [text])
    return patterns


def _pattern_counts(*simulated: RankingTask) -> _Judgement:
    user, bot = (len(_patterns(simulated, kind)) for kind in ("user", "bot"))
    why = "43 for the user, silence among them; the release's bot and its candidates have 16, no more"
    return (user, bot) == (43, 20), f"{user} and {bot}", why


def _utterances(*simulated: RankingTask) -> _Judgement:
    texts = {line.text for task in simulated for dialogs in task.splits.values() for dialog in dialogs
             for line in dialog.lines if line.kind != "fact"}  # fmt: skip
    return len(texts) > 2000, f"{len(texts):,}", UNEXPLAINED


def _requests_differ(*simulated: RankingTask) -> _Judgement:
    """A dialog is based on its first request; T2 and T5 update it."""
    first, updated = [], []
    shared_first = 0
    for number, task in enumerate(simulated, start=1):
        known, asked = (_requests(task, split) for split in ("trn", "tst"))
        opening = {requests[0] for requests in known}, {requests[0] for requests in asked}
        shared_first += len(opening[0] & opening[1])
        first.append(f"T{number} {len(opening[0] & opening[1])} of {len(opening[1])}")
        if any(len(requests) > 1 for requests in asked):
            last = {requests[-1] for requests in known}, {requests[-1] for requests in asked}
            updated.append(f"T{number} {len(last[0] & last[1])} of {len(last[1])}")
    shown = f"of the test, first requests in training: {', '.join(first)}; updated ones: {', '.join(updated)}"
    return not shared_first, shown, UNEXPLAINED


def _requests(task: RankingTask, split: str) -> list[list[str]]:
    """The requests of each dialog in turn: its calls; where it has none, what all facts have in common."""
    requests = []
    for dialog in task.split(split):
        calls = [line.text for line in dialog.lines if line.kind == "bot" and _is_call(line.text)]
        fields = {line.text.split(maxsplit=1)[1] for line in dialog.lines if line.kind == "fact"
                  and line.text.split()[1] in _QUERIED}  # fmt: skip
        requests.append(calls or [", ".join(sorted(fields))])
    return requests


#: What T3's user does to which the bot answers without naming anything, by the beginning of that answer.
_ANSWERED = {"greetings": "hello what can i help", "acceptances": "great let me do", "refusals": "sure let me find"}


def _ways(task: RankingTask) -> _Judgement:
    exchanges = [
        (request.text, answer.text)
        for split in _ALL_SPLITS
        for dialog in task.split(split)
        for request, answer in pairwise(line for line in dialog.lines if line.kind != "fact")
        if answer.kind == "bot"
    ]
    ways, answers = [], []
    for beginning in _ANSWERED.values():
        alike = [exchange for exchange in exchanges if exchange[1].startswith(beginning)]
        ways.append(len({request for request, _ in alike}))
        answers.append(len({answer for _, answer in alike}))
    shown = ", ".join(f"{count} {what}" for what, count in zip(_ANSWERED, ways, strict=True))
    counts = f"{shown}; the bot's answers to each: {', '.join(map(str, answers))}"
    return max(ways) == 4 and set(answers) == {1}, counts, UNEXPLAINED


def _question_order(task: RankingTask) -> _Judgement:
    asked = [[_FIELDS.index(field) for text in replies for field in _FIELDS if text.startswith(field)]
             for replies in _bot_lines(task, _ALL_SPLITS)]  # fmt: skip
    ordered = sum(order == sorted(order) for order in asked)
    return ordered == len(asked), f"one order in {ordered:,} of {len(asked):,} dialogs", UNEXPLAINED


def _update_order(task: RankingTask) -> _Judgement:
    kinds = {fact.value: fact.relation for fact in task.facts}
    first: Counter[str] = Counter()
    for split in _SPLITS:
        for dialog in task.split(split):
            updates = (line.text for line in dialog.lines if line.kind == "user" and line.text.startswith(_UPDATES))
            first.update([next(kinds[word] for word in text.split() if word in kinds) for text in [*updates][:1]])
    shares = {name: first[name] / first.total() for name in sorted(first)}
    shown = ", ".join(f"{name} {in_percent(share)}" for name, share in shares.items())
    return all(abs(share - 0.25) <= _NEAR for share in shares.values()), f"first update: {shown}", UNEXPLAINED


def _updated_call(task: RankingTask) -> _Judgement:
    dialogs = list(_bot_lines(task, _ALL_SPLITS))
    good = 0
    for dialog in dialogs:
        calls = [text for text in dialog if _is_call(text)]
        good += len(calls) == 2 and calls[0] != calls[1] and any(text.startswith(_MORE_UPDATES) for text in dialog)
    return good == len(dialogs), f"in {good:,} of {len(dialogs):,} dialogs", UNEXPLAINED


def _places_and_bot_lines(task: RankingTask, splits: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Of each dialog, how many restaurants its facts are about, and what the bot says."""
    for split in splits:
        for dialog in task.split(split):
            places = {line.text.split()[0] for line in dialog.lines if line.kind == "fact"}
            yield len(places), [line.text for line in dialog.lines if line.kind == "bot"]


def _last_accepted(task: RankingTask) -> _Judgement:
    """Of the dialogs in which every restaurant is offered, those that end with a reservation."""
    exhausted = accepted = 0
    for places, replies in _places_and_bot_lines(task, _ALL_SPLITS):
        if len(_ratings_offered(replies)) == places:
            exhausted += 1
            accepted += replies[-1].startswith("great let me do the reservation")
    return accepted == exhausted, f"in {accepted:,} of {exhausted:,} such dialogs", UNEXPLAINED


def _facts_of_one_place(task: RankingTask) -> _Judgement:
    known = {(fact.entity, fact.relation, fact.value) for fact in task.facts}
    whole = otherwise = dialogs = 0
    for split in _ALL_SPLITS:
        for dialog in task.split(split):
            facts = [tuple(line.text.split()) for line in dialog.lines if line.kind == "fact"]
            dialogs += 1
            whole += len({fact[0] for fact in facts}) == 1 and len({fact[1] for fact in facts}) == 7
            otherwise += not known.issuperset(facts)
    shown = f"one restaurant with all 7 facts in {whole:,} of {dialogs:,} dialogs"
    return whole == dialogs, f"{shown}; {otherwise} have another party size than the released base", UNEXPLAINED


def _all_stages(task: RankingTask) -> _Judgement:
    stages = ("api_call", _MORE_UPDATES, "what do you think of this option", "here it is")
    dialogs = list(_bot_lines(task, _ALL_SPLITS))
    whole = sum(all(any(text.startswith(stage) for text in dialog) for stage in stages) for dialog in dialogs)
    return whole == len(dialogs), f"{whole:,} of {len(dialogs):,} dialogs call, update, offer and inform", UNEXPLAINED


def _best_rated_first(task: RankingTask) -> _Judgement:
    """After the results of a call, whether the restaurant that is named first is one of the best rated."""
    best = named = 0
    for split in _SPLITS:
        for dialog in task.split(split):
            ratings: dict[str, int] = {}
            waiting = False
            for line in dialog.lines:
                words = line.text.split()
                if line.kind == "fact":
                    waiting = True
                    ratings.update({words[0]: int(words[2])} if words[1] == "R_rating" else {})
                elif line.kind == "bot" and _is_call(line.text):
                    ratings = {}
                elif line.kind == "bot" and waiting:
                    waiting = False
                    offered = [name for name in ratings if _names(line.text, name)]
                    named += bool(offered)
                    best += any(ratings[name] == max(ratings.values()) for name in offered[:1])
    return best == named, f"{best:,} of {named:,} first offers", UNEXPLAINED


def _names(text: str, restaurant: str) -> bool:
    return text.startswith((f"{restaurant} ", f"{restaurant.replace('_', ' ')} "))


def _order_varies(task: RankingTask) -> _Judgement:
    orders = Counter(
        tuple(dict.fromkeys(opening for text in replies for opening in _REAL_QUESTIONS if text.startswith(opening)))
        for replies in _bot_lines(task)
    )
    several = {order: count for order, count in orders.items() if len(order) > 1}
    return (
        len(several) > 1,
        f"{len(several)} orders in {sum(several.values())} dialogs with several questions",
        UNEXPLAINED,
    )


def _candidates(*simulated: RankingTask) -> _Judgement:
    replies = {line.text for task in simulated for dialogs in task.splits.values() for dialog in dialogs
            for line in dialog.lines if line.kind == "bot"}  # fmt: skip
    candidates = set(simulated[0].candidates)
    calls = sum(_is_call(text) for text in candidates)
    shown = (
        f"{len(candidates - replies):,} of {len(candidates):,} are never said, {len(replies - candidates)} are missing"
    )
    why = f"the released file has all {calls} calls and three sentences for each of the 1,200 restaurants, said or not"
    return replies == candidates, shown, why


def _is_call(text: str) -> bool:
    return text.startswith("api_call")


def _extra_information(task: RankingTask) -> _Judgement:
    asked: Counter[tuple[bool, bool]] = Counter()
    for dialog in task.split("trn"):
        replies = [line.text for line in dialog.lines if line.kind == "bot"]
        asked[any(text.endswith("_phone") for text in replies), any(text.endswith("_address") for text in replies)] += 1
    shares = [asked[kind] / sum(asked.values()) for kind in ((True, False), (False, True), (True, True))]
    near = all(abs(share - meant) <= 0.05 for share, meant in zip(shares, (0.25, 0.25, 0.5), strict=True))
    return near, "phone, address, both: " + ", ".join(map(in_percent, shares)), UNEXPLAINED


def _fewest_options(wanted: int, why: str, task: RankingTask) -> _Judgement:
    """Whether so many restaurants are the fewest that any dialog of a task is given at once."""
    dialogs = (dialog for split in ("trn", "dev", "tst") for dialog in task.split(split))
    fewest = min(len({line.text.split()[0] for line in dialog.lines if line.kind == "fact"}) for dialog in dialogs)
    return fewest == wanted, f"fewest {fewest}", why


def _bot_lines(task: RankingTask, splits: Sequence[str] = _SPLITS) -> Iterator[list[str]]:
    for split in splits:
        for dialog in task.split(split):
            yield [line.text for line in dialog.lines if line.kind == "bot"]


def _uniform(counts: Counter[int], values: range) -> _Judgement:
    shares = [counts[value] / counts.total() for value in values]
    near = set(counts) == set(values) and all(abs(share - 1 / len(values)) <= _NEAR for share in shares)
    return (
        near,
        ", ".join(f"{value}: {in_percent(share)}" for value, share in zip(values, shares, strict=True)),
        UNEXPLAINED,
    )


def _fields_given(task: RankingTask) -> _Judgement:
    asked = (sum(any(text.startswith(field) for text in replies) for field in _FIELDS) for replies in _bot_lines(task))
    return _uniform(Counter(len(_FIELDS) - count for count in asked), range(5))


def _updates(task: RankingTask) -> _Judgement:
    return _uniform(
        Counter(sum(text.startswith(_MORE_UPDATES) for text in replies) for replies in _bot_lines(task)),
        range(1, 5),
    )


def _ratings_offered(replies: Sequence[str]) -> list[int]:
    offers = [text for text in replies if text.startswith("what do you think of this option")]
    return [int(text.rpartition("_")[2].removesuffix("stars")) for text in offers]


def _sorted_options(task: RankingTask) -> _Judgement:
    offered = [_ratings_offered(replies) for replies in _bot_lines(task)]
    falling = sum(ratings == sorted(ratings, reverse=True) for ratings in offered)
    return falling == len(offered), f"in {falling:,} of {len(offered):,} dialogs", UNEXPLAINED


def _acceptance(task: RankingTask) -> _Judgement:
    """Of the offers that are not the last one possible, those after which none follows."""
    free = accepted = 0
    for places, replies in _places_and_bot_lines(task, _SPLITS):
        offers = len(_ratings_offered(replies))
        free += min(offers, places - 1)
        accepted += offers < places
    share = accepted / free
    return abs(share - 0.25) <= _NEAR, f"{in_percent(share)} of {free:,} offers that are not the last", UNEXPLAINED


def _choices(task: RankingTask, relations: Sequence[str]) -> list[int]:
    """How many values each relation has in the knowledge base."""
    return [len({fact.value for fact in task.facts if fact.relation == relation}) for relation in relations]


def _world_choices(task: RankingTask) -> _Judgement:
    counts = _choices(task, _WORLD)
    return counts == [10, 10, 3, 8, 4], ", ".join(map(str, counts)), UNEXPLAINED


def _real_choices(task: RankingTask) -> _Judgement:
    """The values that calls name; a call without a wish has the relation's name there."""
    named: list[set[str]] = [set(), set(), set()]
    for replies in _bot_lines(task):
        for call in (text.split()[1:4] for text in replies if _is_call(text)):
            for values, value in zip(named, call, strict=False):
                values.update([] if value.startswith("R_") else [value])
    counts = [len(values) for values in named]
    known = _choices(task, ("R_cuisine", "R_location", "R_price"))
    numbers = f"{', '.join(map(str, counts))} in calls; {', '.join(map(str, known))} in the knowledge base"
    return counts == [91, 5, 3], numbers, "perhaps the paper counts DSTC2's ontology; the files name no more"


def _seven_types(task: RankingTask) -> _Judgement:
    kinds = sorted({fact.relation for fact in task.facts})
    return len(kinds) == 7, f"{len(kinds)}: {', '.join(kinds)}", UNEXPLAINED


class DataClaim(NamedTuple):
    """A sentence about the data: where it stands, the tasks whose files judge it, how, and what counts."""

    section: str
    sentence: str
    tasks: tuple[int, ...]
    judged: Callable[..., _Judgement]
    bound: str = ""


_T1_TO_T5 = (1, 2, 3, 4, 5)
_RANDOM = "within 5 points"
_MORE_IN_T5 = "the release has three or more in T5 too; 'dialgauge babi simulate --min-results 5:1' makes the paper's"
DATA_CLAIMS = (
    DataClaim("3.1", "cuisines, locations, prices, ratings and party sizes: 10, 10, 3, 8, 4", (1,), _world_choices),
    DataClaim("3.1", "a restaurant has one party size, an address and a phone number", (1,), _complete),
    DataClaim("3.1", "a query has four fields", (1, 2, 5), _four_fields),
    DataClaim("3.1", "a query can return one, several or no restaurant", (1,), _query_results),
    DataClaim("3.1", "there are 43 patterns for the user and 20 for the bot", _T1_TO_T5, _pattern_counts,
              "utterances with values replaced, cut into openings and fields"),
    DataClaim("3.1", "the user has up to 4 ways to say something, the bot one", (3,), _ways, "in T3, all splits"),
    DataClaim("3.1", "patterns and entities form thousands of utterances", _T1_TO_T5, _utterances),
    DataClaim("3.1.1", "T1 gives 0 to 4 of the fields, each as often", (1,), _fields_given, _RANDOM),
    DataClaim("3.1.1", "T1's bot asks in a deterministic order", (1,), _question_order),
    DataClaim("3.1.1", "T2 makes 1 to 4 updates, each as often", (2,), _updates, _RANDOM),
    DataClaim("3.1.1", "T2 updates fields in random order", (2,), _update_order, f"each first in 25%, {_RANDOM}"),
    DataClaim("3.1.1", "T2's bot asks whether that is all, and issues an updated call", (2,), _updated_call),
    DataClaim("3.1.1", "T3 offers options from the best rated down", (3,), _sorted_options),
    DataClaim("3.1.1", "T3 accepts an option in 25%", (3,), _acceptance, _RANDOM),
    DataClaim("3.1.1", "T3 always accepts the last remaining option", (3,), _last_accepted),
    DataClaim("3.1.1", "T3 keeps requests with at least 3 options", (3,), partial(_fewest_options, 3, UNEXPLAINED)),
    DataClaim("3.1.1", "T4 adds all facts of one restaurant", (4,), _facts_of_one_place),
    DataClaim("3.1.1", "T4 asks for phone, address or both in 25, 25 and 50%", (4,), _extra_information, _RANDOM),
    DataClaim("3.1.1", "T5 combines T1 to T4", (5,), _all_stages),
    DataClaim("3.1.1", "T5 keeps requests with at least 1 option", (5,), partial(_fewest_options, 1, _MORE_IN_T5)),
    DataClaim("3.1.2", "the two knowledge bases have 4,200 facts and 600 restaurants each", _T1_TO_T5, _knowledge),
    DataClaim("3.1.2", "each has 5 cuisines × 5 locations × 3 prices × 8 ratings", _T1_TO_T5, _product),
    DataClaim("3.1.2", "they share prices, ratings and party sizes only", _T1_TO_T5, _disjoint),
    DataClaim("3.1.2", "training and test dialogs are never based on the same request", _T1_TO_T5, _requests_differ,
              "based on: the first request, from the calls or, in T3 and T4, from the facts"),
    DataClaim("3.1.2", "the candidates of T1 to T5 are all bot utterances of their files", _T1_TO_T5, _candidates),
    DataClaim("3.2", "T6's requests need 3 fields", (6,), _three_fields),
    DataClaim("3.2", "T6 has 91 cuisines, 5 locations and 3 prices", (6,), _real_choices),
    DataClaim("3.2", "T6 offers the best rated restaurant first", (6,), _best_rated_first),
    DataClaim("3.2", "T6's bot asks for information in varying order", (6,), _order_varies),
    DataClaim("4.5", "the knowledge base has 7 entity types, each of which gets a word", (1,), _seven_types),
)  # fmt: skip
