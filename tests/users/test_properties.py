"""Laws of the measures, on random conversations."""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import HealthCheck, given, settings, strategies as st

from dialgauge.dialogue import Act, Dialogue, Goal, Task
from dialgauge.users import (
    MEASURES,
    Failure,
    GcdfConfig,
    ScoredConversations,
    Scorer,
    ScorerSettings,
    UserOptions,
    explanation,
    prf_score,
    users_run,
)
from support.soak import examples
from support.talks import configured, talk
from support.verdicts import assert_verdicts_add_up, final_goal

DOMAINS = ("hotel", "restaurant", "train", "taxi")
SLOTS = ("area", "day", "name", "food")
VALUES = ("north", "monday", "dontcare", "acorn")

pairs = st.dictionaries(st.sampled_from(SLOTS), st.sampled_from(VALUES), max_size=3)
tasks = st.builds(
    Task, info=pairs, fail_info=pairs, book=pairs, requests=st.lists(st.sampled_from(SLOTS), unique=True).map(tuple)
)
goals = st.dictionaries(st.sampled_from(DOMAINS), tasks, min_size=1, max_size=2)
user_acts = st.builds(
    lambda domain, kind, slot, value: f"{domain} {kind} {slot}" + (f"={value}" if kind == "inform" else ""),
    st.sampled_from(DOMAINS),
    st.sampled_from(["inform", "inform", "request"]),
    st.sampled_from(SLOTS),
    st.sampled_from(VALUES),
)
system_acts = st.builds(
    lambda domain, kind, slot, value: f"{domain} {kind} {slot}={value}",
    st.sampled_from(DOMAINS),
    st.sampled_from(["inform", "recommend", "request", "nooffer"]),
    st.sampled_from(SLOTS),
    st.sampled_from(VALUES),
)


@st.composite
def talks(draw: st.DrawFn) -> Dialogue:
    turns: list[list[str]] = []
    for _ in range(draw(st.integers(1, 5))):
        turns.append(draw(st.lists(user_acts, max_size=3)))
        turns.append(draw(st.lists(system_acts, max_size=3)))
    return talk(draw(goals), *turns)


#: A busy machine is no fault of the code.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SETTINGS = ScorerSettings.load(UserOptions())
RECOMMENDED = Scorer(GcdfConfig(mode="recommended"))
ONCE = {"igcd_f1.repetitions.count_fp": False, "rgcd_f1.repetitions.count_fp": False}
SEVERE = {"igcd_f1.repetitions.max_repetitions": 0, "igcd_f1.compensate_preemption": False}
SCORERS = (Scorer(), RECOMMENDED, *(Scorer(configured(options)) for options in (ONCE, SEVERE)))


@UNTIMED
@given(talks())
def test_verdicts_sum_to_the_counts(dialogue: Dialogue) -> None:
    for scorer in SCORERS:
        for result in scorer.score_all([dialogue]):
            if not isinstance(result, Failure):
                assert_verdicts_add_up(result)
                scored = ScoredConversations("talks", "", SETTINGS, [result], [], [dialogue])
                shown = explanation(users_run(scored, resamples=0), dialogue.id)
                assert sum(table.title.startswith(MEASURES) for table in shown) == sum(
                    map(bool, result.scores.values())
                )


@UNTIMED
@given(goals)
def test_a_perfect_user_scores_one(goal: dict[str, Task]) -> None:
    turns: list[list[str]] = []
    for domain, task in goal.items():
        stated = {
            f"{domain} inform {slot}={value}"
            for part in (task.info, task.fail_info, task.book)
            for slot, value in part.items()
        }
        turns += [[*sorted(stated), *(f"{domain} request {slot}" for slot in task.requests)], []]
    result = Scorer().score(talk(goal, *turns))
    for scores in result.scores.values():
        assert all(found.f1 == found.precision == found.recall == 1.0 for found in scores.values())


@UNTIMED
@given(talks(), st.data())
def test_dropping_a_stated_constraint_never_raises_recall(dialogue: Dialogue, data: st.DataObject) -> None:
    """Of a user that says everything once: repetitions can be credited, so dropping one of several may help."""
    seen: set[Act] = set()
    turns = []
    for each in dialogue.turns:
        kept = each.acts or ()
        if each.speaker == "user":
            kept = tuple(act for act in dict.fromkeys(kept) if act not in seen)
            seen.update(kept)
        turns.append(msgspec.structs.replace(each, acts=kept))
    full = msgspec.structs.replace(dialogue, turns=tuple(turns))
    places = [
        (place, act)
        for place, each in enumerate(full.turns)
        if each.speaker == "user"
        for act in each.acts or ()
        if act.name.endswith("-Inform") and act.domain in (full.goal or Goal()).tasks
    ]
    if not places:
        return
    place, dropped = data.draw(st.sampled_from(places))
    fewer = list(full.turns)
    acts = tuple(act for act in fewer[place].acts or () if act != dropped)
    fewer[place] = msgspec.structs.replace(fewer[place], acts=acts)
    before = RECOMMENDED.score(full).scores["I-GCDF1"].get(dropped.domain)
    after = RECOMMENDED.score(msgspec.structs.replace(full, turns=tuple(fewer)))
    wanted = f"{dropped.slot}==={dropped.values[0]}"
    excused = any(each.verdict in ("excused", "pre-empted") for each in after.verdicts)
    found = after.scores["I-GCDF1"].get(dropped.domain)
    if before is not None and found is not None and not excused and wanted in _goal_texts(full, dropped.domain):
        assert found.recall <= before.recall


def _goal_texts(dialogue: Dialogue, domain: str) -> set[str]:
    task = (dialogue.goal or Goal()).tasks[domain]
    return {f"{slot}==={value}" for part in (task.info, task.fail_info, task.book) for slot, value in part.items()}


@UNTIMED
@given(talks(), st.randoms(use_true_random=False))
def test_the_order_of_acts_of_different_services_does_not_matter(dialogue: Dialogue, random: object) -> None:
    turns = []
    for each in dialogue.turns:
        services = list(dict.fromkeys(act.domain for act in each.acts or ()))
        random.shuffle(services)  # type: ignore[attr-defined]
        acts = tuple(act for service in services for act in each.acts or () if act.domain == service)
        turns.append(msgspec.structs.replace(each, acts=acts))
    shuffled = RECOMMENDED.score(msgspec.structs.replace(dialogue, turns=tuple(turns)))
    plain = RECOMMENDED.score(dialogue)
    assert shuffled.scores == plain.scores
    assert Counter(shuffled.behaviours) == Counter(plain.behaviours)


@settings(UNTIMED, max_examples=examples(20))
@given(st.lists(talks(), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_dialogues_does_not_matter(dialogues: list[Dialogue], random: object) -> None:
    named = [msgspec.structs.replace(each, id=f"d{place}") for place, each in enumerate(dialogues)]
    first = {each.id: each for each in Scorer(RECOMMENDED.config).score_all(named) if not isinstance(each, Failure)}
    random.shuffle(named)  # type: ignore[attr-defined]
    second = {each.id: each for each in Scorer(RECOMMENDED.config).score_all(named) if not isinstance(each, Failure)}
    assert first == second


items = st.lists(st.sampled_from("abcd"), max_size=6).map(Counter)


@given(items, items)
def test_the_f_score_is_that_of_the_definition(truth: Counter[str], said: Counter[str]) -> None:
    found = prf_score(truth, said)
    if not truth and not said:
        assert found is None
        return
    assert found is not None
    hits = (truth & said).total()
    precision = hits / said.total() if said else 1.0
    recall = hits / truth.total() if truth else 1.0
    assert (found.precision, found.recall) == (precision, recall)
    assert (found.tp, found.fp, found.fn) == (hits, said.total() - hits, truth.total() - hits)
    assert found.f1 == (2.0 * precision * recall / (precision + recall) if precision + recall else 0.0)


def test_the_caller_s_dialogue_is_not_changed() -> None:
    goal = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
    dialogue = talk(goal, ("hotel inform area=north",), ("hotel nooffer area=north",))
    copy = msgspec.convert(msgspec.to_builtins(dialogue), Dialogue)
    result = Scorer().score(dialogue)
    assert result.requests_removed == ("hotel",)
    assert final_goal(result).tasks["hotel"].requests == ()
    assert dialogue == copy


@UNTIMED
@given(st.lists(talks(), min_size=2, max_size=6))
def test_one_scorer_gives_every_dialogue_what_a_fresh_one_gives(dialogues: list[Dialogue]) -> None:
    """What a scorer remembers goes by the identity of acts; those of a dialogue that is gone may be taken by others."""
    packed = [msgspec.msgpack.encode(dialogue) for dialogue in dialogues]
    fresh = [Scorer(GcdfConfig(mode="recommended")).score(dialogue) for dialogue in dialogues]
    one = Scorer(GcdfConfig(mode="recommended"))
    assert [one.score(msgspec.msgpack.decode(content, type=Dialogue)) for content in packed] == fresh
