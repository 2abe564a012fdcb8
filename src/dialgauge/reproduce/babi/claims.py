"""What the paper says in words, each sentence with the numbers by which it holds or does not.

Learned models are judged by the paper's training where its results are kept; what our training gives stands beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dialgauge.rankers import RankingTask
from dialgauge.reproduce.babi.data_claims import DATA_CLAIMS
from dialgauge.reproduce.babi.kept import OURS, PAPER, Kept
from dialgauge.reproduce.babi.layout import Accuracies
from dialgauge.reproduce.babi.reasons import FIXED, UNEXPLAINED
from dialgauge.reproduce.reproduction import Reproduction

PART = "Claims"
_PLAIN = ("T1", "T2", "T3", "T4", "T5", "T6")
_OOV = ("T1-OOV", "T2-OOV", "T3-OOV", "T4-OOV", "T5-OOV")
_ALL = (*_PLAIN[:5], *_OOV, "T6")
#: A tenth of a point counts as equal, as in the paper's bold print.
_EQUAL = 0.001
#: A dialog accuracy from which a task counts as solved, and one up to which it counts as not solved at all.
_SOLVED, _UNSOLVED = 0.99, 0.05
_SOLVED_BOUND = "solved: at least 99% of dialogs"
_UNSOLVED_BOUND = "no dialog: at most 5%"


class ClaimEvidence:
    """The accuracies of one training, and the numbers that a claim looked at."""

    def __init__(self, accuracies: Accuracies, training: str) -> None:
        self._accuracies, self._training = accuracies, training
        self.seen: list[str] = []

    def response(self, model: str, column: str) -> float:
        """Per-response accuracy."""
        return self._accuracies[self._training, model, column][0]

    def dialog(self, model: str, column: str) -> float:
        """Per-dialog accuracy."""
        return self._accuracies[self._training, model, column][1]

    def say(self, text: str) -> None:
        """Note a number."""
        self.seen.append(text)

    def failing(self, columns: tuple[str, ...], holds: Callable[[str], bool], shown: Callable[[str], str]) -> bool:
        """Whether something holds in every column; those in which it does not are noted."""
        broken = [column for column in columns if not holds(column)]
        self.say(f"in {len(columns) - len(broken)} of {len(columns)}")
        if broken:
            self.say("not " + ", ".join(f"{column} {shown(column)}" for column in broken))
        return not broken

    def above(self, better: str, worse: str, columns: tuple[str, ...], *, strict: bool = True) -> bool:
        """Whether one model is better than another (or, not strictly, as good) in every column."""
        least = _EQUAL if strict else -_EQUAL

        def gain(column: str) -> float:
            return self.response(better, column) - self.response(worse, column)

        return self.failing(
            columns,
            lambda column: gain(column) >= least - 1e-9,
            lambda column: (
                f"{_percent(self.response(better, column))} against {_percent(self.response(worse, column))}"
            ),
        )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


class _Claim(NamedTuple):
    """A sentence, where it stands, how it is judged, and what is known where it does not hold."""

    section: str
    sentence: str
    judged: Callable[[ClaimEvidence], bool]
    why: str = UNEXPLAINED
    #: Where it is a matter of degree: what counts.
    bound: str = ""


def _tfidf_is_worst(evidence: ClaimEvidence) -> bool:
    others = ("nearest", "embeddings", "memn2n")
    return evidence.failing(
        _ALL,
        lambda column: all(evidence.response("tfidf", column) <= evidence.response(model, column) for model in others),
        lambda column: _percent(evidence.response("tfidf", column)),
    )


def _types_help_tfidf(evidence: ClaimEvidence) -> bool:
    helped = evidence.above("tfidf-type", "tfidf", ("T1", "T2", "T5", "T1-OOV", "T2-OOV", "T5-OOV"))
    return helped and evidence.above("nearest", "tfidf-type", _ALL)


def _embeddings_beat_retrieval(evidence: ClaimEvidence) -> bool:
    parts = [evidence.above("embeddings", other, _ALL) for other in ("tfidf", "nearest")]
    return all(parts)


def _embeddings_solve_task_1_alone(evidence: ClaimEvidence) -> bool:
    evidence.say(f"per-dialog T1 {_percent(evidence.dialog('embeddings', 'T1'))}")
    most = max((column for column in _PLAIN[1:]), key=lambda column: evidence.dialog("embeddings", column))
    evidence.say(f"most elsewhere {_percent(evidence.dialog('embeddings', most))} ({most})")
    rest = evidence.dialog("embeddings", most)
    return evidence.dialog("embeddings", "T1") >= _SOLVED - 1e-9 and rest <= _UNSOLVED


def _solved(model: str, columns: tuple[str, ...]) -> Callable[[ClaimEvidence], bool]:
    def judged(evidence: ClaimEvidence) -> bool:
        evidence.say("per-dialog " + ", ".join(f"{c} {_percent(evidence.dialog(model, c))}" for c in columns))
        return all(evidence.dialog(model, column) >= _SOLVED - 1e-9 for column in columns)

    return judged


def _unsolved(model: str, columns: tuple[str, ...], most: float) -> Callable[[ClaimEvidence], bool]:
    def judged(evidence: ClaimEvidence) -> bool:
        evidence.say("per-dialog " + ", ".join(f"{c} {_percent(evidence.dialog(model, c))}" for c in columns))
        return all(evidence.dialog(model, column) <= most for column in columns)

    return judged


def _above(
    better: str, worse: str, columns: tuple[str, ...], *, strict: bool = True
) -> Callable[[ClaimEvidence], bool]:
    return lambda evidence: evidence.above(better, worse, columns, strict=strict)


def _memory_beats_all(evidence: ClaimEvidence) -> bool:
    parts = [evidence.above("memn2n", other, _ALL, strict=False) for other in ("tfidf", "nearest", "embeddings")]
    return all(parts)


def _known_words_only(evidence: ClaimEvidence) -> bool:
    return evidence.failing(
        _OOV,
        lambda column: evidence.response("memn2n", column) <= FIXED[column] + _EQUAL,
        lambda column: f"{_percent(evidence.response('memn2n', column))}, fixed sentences {_percent(FIXED[column])}",
    )


def _types_hurt_task_2(evidence: ClaimEvidence) -> bool:
    plain, typed = evidence.response("memn2n", "T2"), evidence.response("memn2n-type", "T2")
    evidence.say(f"{_percent(plain)} without, {_percent(typed)} with")
    return plain - 0.05 <= typed < plain


def _types_idle_on_task_6(evidence: ClaimEvidence) -> bool:
    plain, typed = evidence.response("memn2n", "T6"), evidence.response("memn2n-type", "T6")
    evidence.say(f"{_percent(plain)} without, {_percent(typed)} with")
    return typed <= plain + 0.005


def _memory_beats_rules(evidence: ClaimEvidence) -> bool:
    rules, memory = evidence.response("rules", "T6"), evidence.response("memn2n", "T6")
    evidence.say(f"memory network {_percent(memory)}, rules {_percent(rules)}")
    return memory > rules


def _same_order(evidence: ClaimEvidence) -> bool:
    values = [evidence.response(model, "T6") for model in ("memn2n", "embeddings", "nearest", "tfidf")]
    evidence.say("memory network, embeddings, nearest, TF-IDF: " + ", ".join(map(_percent, values)))
    return values[0] > values[1] > max(values[2:])


def _typed_embeddings_out_of_vocabulary(evidence: ClaimEvidence) -> bool:
    helped = evidence.above("embeddings-type", "embeddings", ("T1-OOV", "T5-OOV"))
    return helped and evidence.above("memn2n-type", "embeddings-type", ("T1-OOV", "T5-OOV"))


def _bigrams_hurt(evidence: ClaimEvidence) -> bool:
    columns = tuple(column for column in _ALL if column != "T5")
    lost = evidence.above("embeddings", "embeddings-bigrams", columns, strict=False)
    return lost and evidence.above("embeddings-bigrams", "embeddings", ("T5",))


_OUR_RULES = "our rules are others than the paper's (33.3 there), which were not published"
_CLAIMS = (
    _Claim("5", "TF-IDF match is the worst of all methods", _tfidf_is_worst),
    _Claim("5", "nearest neighbour is much better than TF-IDF match", _above("nearest", "tfidf", _ALL)),
    _Claim("5", "match types help TF-IDF, which stays behind nearest neighbour", _types_help_tfidf),
    _Claim(
        "5",
        "embeddings do better than both retrieval methods",
        _embeddings_beat_retrieval,
        "on T2 and T4 both get the fixed sentences and nothing else",
    ),
    _Claim("5", "embeddings solve T1 and complete no dialog elsewhere", _embeddings_solve_task_1_alone,
           bound=f"{_SOLVED_BOUND}; {_UNSOLVED_BOUND}"),
    _Claim("5", "memory networks do better than retrieval and embeddings on all tasks", _memory_beats_all),
    _Claim("5", "memory networks solve T1 and T2", _solved("memn2n", ("T1", "T2")), bound=_SOLVED_BOUND),
    _Claim("5", "memory networks complete next to no dialog of T3, T4", _unsolved("memn2n", ("T3", "T4"), _UNSOLVED),
           bound=_UNSOLVED_BOUND),
    _Claim("5", "without match types, gains out of vocabulary are on known words alone", _known_words_only),
    _Claim("5", "match types solve T4", _solved("memn2n-type", ("T4", "T4-OOV")), bound=_SOLVED_BOUND),
    _Claim(
        "5",
        "match types help out of vocabulary (T3 aside)",
        _above("memn2n-type", "memn2n", tuple(column for column in _OOV if column != "T3-OOV")),
    ),
    _Claim(
        "5",
        "with match types, T3 and T5 still fail",
        _unsolved("memn2n-type", ("T3", "T5"), 0.5),
        "ours learns T5 better than the paper's (19.7 per dialog there): unexplained",
        "fail: at most half of the dialogs",
    ),
    _Claim("5", "match types cost a little on T2", _types_hurt_task_2, "ours learns T2 fully with match types too"),
    _Claim("5", "match types do not help on T6", _types_idle_on_task_6),
    _Claim("4.1", "rules solve T1 to T5", _solved("rules", _PLAIN[:5]), bound=_SOLVED_BOUND),
    _Claim("5", "memory networks beat the rules on T6", _memory_beats_rules, _OUR_RULES),
    _Claim("5", "T6 ranks methods as the simulated tasks do: memory networks, embeddings, retrieval", _same_order),
    _Claim("D", "match types help embeddings on T1-OOV and T5-OOV, which stay behind memory networks with them",
           _typed_embeddings_out_of_vocabulary),
    _Claim("D", "bigrams hurt embeddings a little, but on T5", _bigrams_hurt),
)  # fmt: skip

_CONCIERGE = (
    "Concierge: the methods rank as on the tasks (Table 2)",
    "Concierge: the right answer is among the first 10 in 16.7% of replies (memory network)",
    "Concierge: the five best answers of Table 7 mean the same",
)
_NO_CONCIERGE = (
    "the conversations were never released; with chats of your own: dialgauge babi evaluate --logs FILE --model memn2n "
    "-m hits@10,per-dialog@10"
)


def claims(
    record: Reproduction, accuracies: Accuracies, kept: Mapping[str, Kept], tasks: list[RankingTask] | None
) -> None:
    """Every checkable sentence of the paper that is no cell of a table."""
    training = PAPER if PAPER in kept else OURS
    for claim in _CLAIMS:
        _judged(record, claim, accuracies, training)
    _hops(record, kept.get(PAPER))
    _tfidf_bigrams(record, kept.get(PAPER))
    what = "4.1: rules for T6: 28 rules and 21 patterns, 40.7% on validation"
    record.impossible(PART, what, "claimed", "the paper's rules were not published; ours are our own")
    _data_claims(record, tasks)
    for sentence in _CONCIERGE:
        record.impossible(PART, f"5: {sentence}", "claimed", _NO_CONCIERGE)
    named = "the paper's training" if training == PAPER else "our training"
    record.notes.setdefault(PART, []).append(
        f"Numbers before each claim are sections of the paper. Learned models are those of {named}; a tenth of a point "
        "counts as equal."
    )


def _judged(record: Reproduction, claim: _Claim, accuracies: Accuracies, training: str) -> None:
    what = f"{claim.section}: {claim.sentence}"
    evidence = ClaimEvidence(accuracies, training)
    try:
        holds = claim.judged(evidence)
    except KeyError as missing:
        model = missing.args[0][1]
        record.impossible(PART, what, "claimed", f"no accuracy of {model}: its data or kept results are not present")
        return
    _told(record, what, "; ".join(evidence.seen), claim.why, holds=holds, bound=claim.bound)


def _told(record: Reproduction, what: str, numbers: str, why: str, *, holds: bool, bound: str = "") -> None:
    note = "; ".join(text for text in (bound, "" if holds else why) if text)
    record.claim(PART, what, holds=holds, ours=numbers if holds else f"does not hold: {numbers}", note=note)


def _hops(record: Reproduction, kept: Kept | None) -> None:
    what = "5: on T3 a second hop lifts the memory network from 64.8% to 74.7%"
    cells = {hops: kept.of("memn2n", 3, "tst", f"hops={hops}") if kept else [] for hops in (1, 2)}
    if not all(cells.values()):
        command = "dialgauge babi search --data FOLDER --model memn2n --task 3 --preset paper --set hops=1,2"
        record.impossible(PART, what, "claimed", f"no kept result; {command}")
        return
    one, two = (cells[hops][0].per_response for hops in (1, 2))
    why = "ours gets all fixed sentences with one hop already (74.9%); what the paper's misses there is not said"
    holds = two - one > 0.05
    _told(record, what, f"{_percent(one)} with one, {_percent(two)} with two", why, holds=holds)


def _tfidf_bigrams(record: Reproduction, kept: Kept | None) -> None:
    what = "5: bigrams do nothing for TF-IDF match"
    pairs = []
    for task in (1, 2, 3, 4, 5, 6):
        plain, paired = (kept.of("tfidf", task, "tst", text) if kept else [] for text in ("", "bigrams=true"))
        if not (plain and paired):
            command = "dialgauge babi table --data FOLDER --models tfidf --set bigrams=true"
            record.impossible(PART, what, "claimed", f"no kept result; {command}")
            return
        pairs.append((task, plain[0].per_response, paired[0].per_response))
    shown = ", ".join(f"T{task} {_percent(before)} → {_percent(after)}" for task, before, after in pairs)
    holds = all(abs(after - before) <= 0.005 for _, before, after in pairs)
    why = "the paper does not say what its IDF is over; ours is over candidates, whose pairs are rarer than words"
    _told(record, what, shown, why, holds=holds)


def _data_claims(record: Reproduction, tasks: list[RankingTask] | None) -> None:
    by_number = {task.number: task for task in tasks or ()}
    for what, (number, judged) in DATA_CLAIMS.items():
        if number not in by_number:
            record.impossible(PART, what, "claimed", "the data is not present")
            continue
        holds, ours, note = judged(by_number[number])
        _told(record, what, ours, note, holds=holds)
    _candidates(record, [by_number[number] for number in range(1, 6) if number in by_number])


def _candidates(record: Reproduction, simulated: list[RankingTask]) -> None:
    what = "3.1.2: the candidates of T1 to T5 are all bot utterances of their files"
    if len(simulated) < 5:
        record.impossible(PART, what, "claimed", "the data is not present")
        return
    said = {
        line.text
        for task in simulated
        for dialogs in task.splits.values()
        for dialog in dialogs
        for line in dialog.lines
        if line.kind == "bot"
    }
    candidates = set(simulated[0].candidates)
    numbers = f"{len(candidates - said):,} of {len(candidates):,} are never said, {len(said - candidates)} are missing"
    _told(record, what, numbers, UNEXPLAINED, holds=said == candidates)
