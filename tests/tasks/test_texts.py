"""Responses as texts: clean-up, richness, and BLEU against sacreBLEU itself."""

from __future__ import annotations

import builtins
import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.tasks import (
    CLASSES,
    GoldTasks,
    References,
    TaskEvaluation,
    TaskOptions,
    bleu_of,
    bleu_signature,
    classed,
    cleaned,
    predictions_from,
    richness,
    surface,
    words,
)
from dialgauge.tasks.delexical import joined_tokens, moses_tokens
from support.town import responses, town


def test_there_are_nineteen_classes() -> None:
    assert len(set(CLASSES.values())) == 19
    assert CLASSES["arrive by"] == "TIME"
    assert CLASSES["hospital_id"] == "ID"
    assert "train_name" not in CLASSES


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("", ""),
        ("[HOTEL_NAME]s and [hotel_name]-es", "NAME and NAME"),
        ("a [weird thing] b", "a b"),
        ("non-smoking hotel -s", "nonmoking hotel"),
        ("leaves at 9:30 , ok ?", "leaves at 9: 30, ok?"),
        ("you 're and you're", "you 're and you're"),
        ("$ 5 ( about ) a/b", "$5 (about) a / b"),
    ],
)
def test_clean_up(raw: str, text: str) -> None:
    assert cleaned(raw) == text


@given(st.text("ab1 .,'\"-?![]()_", max_size=20))
def test_the_last_step_creates_and_destroys_no_class(text: str) -> None:
    """Inform and Success need no more than the classes."""
    response = f"{text} [hotel_name] {text}"
    assert "NAME" in classed(response)
    assert ("NAME" in cleaned(response)) == ("NAME" in classed(response))
    assert surface(text) == " ".join(surface(text).split())


def test_an_empty_response_is_one_empty_word() -> None:
    assert words("") == ("",)
    assert words("bye !") == ("bye", "")
    assert richness(["", "bye"])["tokens"] == 1.0


def test_richness_by_hand() -> None:
    values = richness(["a b", "a c"])
    assert values["unigrams"] == 3
    assert values["bigrams"] == 2
    assert values["trigrams"] == 0
    assert values["entropy"] == pytest.approx(1.5)
    assert values["conditional entropy"] == pytest.approx(0.5)
    assert values["MSTTR-50"] == 0.75
    long = richness([" ".join(["a"] * 50), " ".join(str(n) for n in range(60))])
    assert long["MSTTR-50"] == pytest.approx((1 / 50 + 1.0) / 2)


sentences = st.lists(st.sampled_from(["a", "b", "the", "NAME", ",", "b c", "a b a b"]), max_size=12).map(" ".join)
pairs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6)


@settings(deadline=None)
@given(pairs)
def test_bleu_is_sacrebleus(pairs: list[tuple[str, str]]) -> None:
    from sacrebleu.metrics.bleu import BLEU

    hypotheses, wanted = map(list, zip(*pairs, strict=True))
    references = References("mine", {str(place): [text] for place, text in enumerate(wanted)})
    sums = references.statistics({str(place): [text] for place, text in enumerate(hypotheses)})
    theirs = BLEU().corpus_score(hypotheses, [wanted])
    assert float(bleu_of(sums.sum(axis=0))) == pytest.approx(theirs.score, abs=1e-9)
    assert sums.sum(axis=0)[:4].tolist() == theirs.counts
    assert sums.sum(axis=0)[4:8].tolist() == theirs.totals


ODD_TEXTS = st.text("ab1.,-&;:!?<>'\"[]$ \n\t\u00a0", max_size=25) | st.sampled_from(
    ["a &quot;b&quot; c", "a<skipped>b", "1-2 -\nx"]
)


@given(ODD_TEXTS, ODD_TEXTS)
def test_tokens_of_a_text_are_those_of_its_words(text: str, wanted: str) -> None:
    from sacrebleu.metrics.bleu import BLEU

    [sums] = References("mine", {"d": [wanted]}).statistics({"d": [text]})
    theirs = BLEU().corpus_score([text.rstrip()], [[wanted.rstrip()]])
    assert [sums[:4].tolist(), sums[4:8].tolist()] == [theirs.counts, theirs.totals]


def test_bleu_of_real_responses_is_sacrebleus(evaluation: TaskEvaluation, shared_data: Any) -> None:
    from sacrebleu.metrics.bleu import BLEU

    from dialgauge.tasks import read_predictions

    system = read_predictions(shared_data / "dst_predictions" / "mintl.json.gz")
    texts = {key: [cleaned(turn.response) for turn in turns] for key, turns in system.dialogues.items()}
    gold = evaluation.gold.references
    theirs = BLEU().corpus_score(
        [text for each in texts.values() for text in each],
        [[text for key, each in texts.items() for text in gold[key][: len(each)]]],
    )
    scores = evaluation.score(system, human=False)
    assert scores["BLEU"] == pytest.approx(theirs.score, abs=1e-9)
    assert "nrefs:1,case:mixed,eff:no,tok:13a,smooth:exp" in scores.scores["BLEU"].signature


def test_many_sums_at_once_are_each_alone() -> None:
    sums = np.array(
        [[3, 2, 1, 0, 4, 3, 2, 1, 4, 5], [0, 0, 0, 0, 1, 0, 0, 0, 1, 3], [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]], float
    )
    assert bleu_of(sums).tolist() == [float(bleu_of(row)) for row in sums]
    assert bleu_of(sums)[1] == 0.0
    assert bleu_of(sums)[2] == pytest.approx(100.0)


def test_intervals_of_bleu_and_combined(small: GoldTasks) -> None:
    scores = TaskEvaluation(small, town(), options=TaskOptions(resamples=200)).score(predictions_from("x", responses()))
    for name in ("BLEU", "Combined"):
        score = scores.scores[name]
        assert score.value is not None and score.low is not None and score.high is not None
        assert score.low <= score.value <= score.high
    inform, success, bleu, combined = (float(scores[name]) for name in ("Inform", "Success", "BLEU", "Combined"))
    assert combined == pytest.approx(bleu + 50 * (inform + success))


def test_without_sacrebleu_everything_else_works(small: GoldTasks, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *others: Any, **more: Any) -> Any:
        if name.startswith("sacrebleu"):
            raise ImportError(name)
        return real(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DialgaugeError, match=r"pip install 'dialgauge\[tasks\]'"):
        bleu_signature()
    scores = TaskEvaluation(small, town()).score(predictions_from("x", responses()))
    assert scores["Success"] == 1.0
    assert "BLEU" not in scores.scores
    assert any("pip install 'dialgauge[tasks]'" in note for note in scores.notes)
    asked = TaskEvaluation(small, town(), options=TaskOptions(measures=("Inform", "BLEU")))
    with pytest.raises(DialgaugeError, match="pip install"):
        asked.score(predictions_from("x", responses()))


def test_undefined_values_are_undefined(small: GoldTasks) -> None:
    silent = {key: [{"response": "", "state": {}}] * len(each.answers) for key, each in small.dialogues.items()}
    scores = TaskEvaluation(small, town(), options=TaskOptions(measures=("all",))).score(predictions_from("x", silent))
    assert scores["OfferP"].value is None
    assert all(score.value is None or math.isfinite(score.value) for score in scores.scores.values())


@settings(deadline=None)
@given(st.text("ab15 ,.'\"`-_?!:;()[]{}$%/\\é„“”…\x07\u00a0", max_size=25))
def test_the_surface_of_a_text_is_made_of_its_words_unless_these_look_around(text: str) -> None:
    written = " ".join(text.split())
    whole = written if written.isprintable() else "".join(char for char in written if char >= " ")
    assert surface(text) == joined_tokens(moses_tokens(whole))


@given(st.lists(st.lists(st.sampled_from(["a", "B", "b", "c-", "-", "the", "a's"])).map(" ".join), min_size=1))
def test_richness_counts_words_pairs_and_triples(texts: list[str]) -> None:
    told = [words(text) for text in texts]
    singles = Counter(word for each in told for word in each)
    pairs = Counter(pair for each in told for pair in pairwise(each))
    total = sum(singles.values())
    values = richness(texts)
    assert values["tokens"] == total / len(texts)
    assert values["unigrams"] == len(singles)
    assert values["bigrams"] == len(pairs)
    assert values["trigrams"] == len(
        {triple for each in told for triple in zip(each, each[1:], each[2:], strict=False)}
    )
    assert values["entropy"] == -math.fsum(n / total * math.log2(n / total) for n in singles.values())
    assert values["conditional entropy"] == -math.fsum(
        n / total * math.log2(n / singles[first]) for (first, _), n in pairs.items()
    )
