"""What the paper says of its data, judged by the released files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from dialgauge.rankers import RankingTask
from dialgauge.reproduce.babi.reasons import UNEXPLAINED


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


_Judgement = tuple[bool, str, str]


def _knowledge(task: RankingTask) -> _Judgement:
    facts = task.facts
    places = len({fact.entity for fact in facts})
    return (len(facts), places) == (8400, 1200), f"{len(facts)} facts, {places} restaurants in both halves", UNEXPLAINED


def _requests_differ(task: RankingTask) -> _Judgement:
    calls = {
        split: {line.text for dialog in task.split(split) for line in dialog.lines if line.text.startswith("api_call")}
        for split in ("trn", "tst")
    }
    shared = len(calls["trn"] & calls["tst"])
    return not shared, f"{shared} of {len(calls['tst'])} calls of T1's test occur in training", UNEXPLAINED


def _extra_information(task: RankingTask) -> _Judgement:
    asked: Counter[tuple[bool, bool]] = Counter()
    for dialog in task.split("trn"):
        said = [line.text for line in dialog.lines if line.kind == "bot"]
        asked[any(text.endswith("_phone") for text in said), any(text.endswith("_address") for text in said)] += 1
    shares = [asked[kind] / sum(asked.values()) for kind in ((True, False), (False, True), (True, True))]
    near = all(abs(share - meant) <= 0.05 for share, meant in zip(shares, (0.25, 0.25, 0.5), strict=True))
    return near, "phone, address, both: " + ", ".join(map(_percent, shares)), UNEXPLAINED


def _fewest_results(task: RankingTask) -> int:
    """The fewest restaurants that any dialog of a task is given at once."""
    fewest = []
    for split in ("trn", "dev", "tst"):
        for dialog in task.split(split):
            places = {line.text.split()[0] for line in dialog.lines if line.kind == "fact"}
            fewest.append(len(places))
    return min(fewest)


def _three_options(task: RankingTask) -> _Judgement:
    fewest = _fewest_results(task)
    return fewest == 3, f"fewest {fewest}", UNEXPLAINED


def _one_option(task: RankingTask) -> _Judgement:
    fewest = _fewest_results(task)
    note = "the release has three or more in T5 too; 'dialgauge babi simulate --min-results 5:1' makes the paper's"
    return fewest == 1, f"fewest {fewest}", note


_FIELDS = ("any preference", "where should", "how many people", "which price")
_SPLITS = ("trn", "dev", "tst")
#: How far from its share a count may be, in all that is drawn at random.
_NEAR = 0.05


def _bot_lines(task: RankingTask, splits: Sequence[str] = _SPLITS) -> Iterator[list[str]]:
    """What the bot says, dialog by dialog."""
    for split in splits:
        for dialog in task.split(split):
            yield [line.text for line in dialog.lines if line.kind == "bot"]


def _uniform(counts: Counter[int], values: range) -> _Judgement:
    shares = [counts[value] / counts.total() for value in values]
    near = set(counts) == set(values) and all(abs(share - 1 / len(values)) <= _NEAR for share in shares)
    return (
        near,
        ", ".join(f"{value}: {_percent(share)}" for value, share in zip(values, shares, strict=True)),
        (UNEXPLAINED),
    )


def _fields_given(task: RankingTask) -> _Judgement:
    asked = (sum(any(text.startswith(field) for text in said) for field in _FIELDS) for said in _bot_lines(task))
    return _uniform(Counter(len(_FIELDS) - count for count in asked), range(5))


def _updates(task: RankingTask) -> _Judgement:
    return _uniform(
        Counter(sum(text.startswith("sure is there anything") for text in said) for said in _bot_lines(task)),
        range(1, 5),
    )


def _ratings_offered(said: Sequence[str]) -> list[int]:
    offers = [text for text in said if text.startswith("what do you think of this option")]
    return [int(text.rpartition("_")[2].removesuffix("stars")) for text in offers]


def _sorted_options(task: RankingTask) -> _Judgement:
    offered = [_ratings_offered(said) for said in _bot_lines(task)]
    falling = sum(ratings == sorted(ratings, reverse=True) for ratings in offered)
    return falling == len(offered), f"in {falling:,} of {len(offered):,} dialogs", UNEXPLAINED


def _acceptance(task: RankingTask) -> _Judgement:
    """Of the offers that are not the last one possible, those after which none follows."""
    free = accepted = 0
    for split in _SPLITS:
        for dialog in task.split(split):
            places = {line.text.split()[0] for line in dialog.lines if line.kind == "fact"}
            offers = len(_ratings_offered([line.text for line in dialog.lines if line.kind == "bot"]))
            free += min(offers, len(places) - 1)
            accepted += offers < len(places)
    share = accepted / free
    return abs(share - 0.25) <= _NEAR, f"{_percent(share)} of {free:,} offers that are not the last", UNEXPLAINED


def _choices(task: RankingTask, relations: Sequence[str]) -> list[int]:
    """How many values each relation has in the knowledge base."""
    return [len({fact.value for fact in task.facts if fact.relation == relation}) for relation in relations]


def _world_choices(task: RankingTask) -> _Judgement:
    counts = _choices(task, ("R_cuisine", "R_location", "R_price", "R_rating", "R_number"))
    return counts == [10, 10, 3, 8, 4], ", ".join(map(str, counts)), UNEXPLAINED


def _real_choices(task: RankingTask) -> _Judgement:
    """The values that calls name; a call without a wish has the relation's name there."""
    named: list[set[str]] = [set(), set(), set()]
    for said in _bot_lines(task):
        for call in (text.split()[1:4] for text in said if text.startswith("api_call")):
            for values, value in zip(named, call, strict=False):
                values.update([] if value.startswith("R_") else [value])
    counts = [len(values) for values in named]
    known = _choices(task, ("R_cuisine", "R_location", "R_price"))
    told = f"{', '.join(map(str, counts))} in calls; {', '.join(map(str, known))} in the knowledge base"
    return counts == [91, 5, 3], told, "perhaps the paper counts DSTC2's ontology; the files name no more"


#: Claim to the task whose data it is about, and how it is judged.
DATA_CLAIMS: dict[str, tuple[int, Callable[[RankingTask], _Judgement]]] = {
    "3.1.2: the two knowledge bases have 4,200 facts and 600 restaurants each": (1, _knowledge),
    "3.1.2: training and test dialogs never have the same request": (1, _requests_differ),
    "3.1.2: cuisines, locations, prices, ratings and party sizes: 10, 10, 3, 8, 4": (1, _world_choices),
    "3.2: T6 has 91 cuisines, 5 locations and 3 prices": (6, _real_choices),
    "3.1.1: T1 gives 0 to 4 of the fields, each as often": (1, _fields_given),
    "3.1.1: T2 makes 1 to 4 updates, each as often": (2, _updates),
    "3.1.1: T3 offers options from the best rated down": (3, _sorted_options),
    "3.1.1: T3 accepts an option in 25%": (3, _acceptance),
    "3.1.1: T3 keeps requests with at least 3 options": (3, _three_options),
    "3.1.1: T4 asks for phone, address or both in 25, 25 and 50%": (4, _extra_information),
    "3.1.1: T5 keeps requests with at least 1 option": (5, _one_option),
}
