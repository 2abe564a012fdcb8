"""Why numbers of ours differ from those that the paper on the bAbI dialogs printed, as far as it is known."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from dialgauge.reproduce.babi.kept import OURS, KeptCell
from dialgauge.reproduce.reproduction import UNEXPLAINED

_ROUNDED_UP = "ours, rounded up, is the printed number"
_ADDED = "the printed number is the sum of the printed, rounded parts"
_SHORTER = "unexplained: the released dialogues have one utterance of the user and one of the bot fewer than printed"
_MORE_RESULTS = "unexplained: the released training dialogues have more results of calls than printed"

#: Line of Table 1 to the reason.
_TABLE_1 = {
    "T1: utterances": _SHORTER,
    "T1: user": _SHORTER,
    "T1: bot": _SHORTER,
    "T2: utterances": _ADDED,
    "T2: user": _ROUNDED_UP,
    "T2: bot": _ROUNDED_UP,
    "T3: utterances": "the printed parts add up to 40, as ours do rounded",
    "T3: user": _ROUNDED_UP,
    "T4: utterances": _ADDED,
    "T6: utterances": f"{_ADDED}; of these, results of calls are fewer than released",
    "T6: bot": "ours, cut off, is the printed number",
    "T6: api_outputs": _MORE_RESULTS,
    "T1-T5: vocabulary": "perhaps a null or unknown word counts in the paper",
    "T6: vocabulary": (
        "the paper does not say what it counts; ours are lower-cased words between white space "
        "in dialogues, candidates and knowledge base"
    ),
    "T6: candidates": "the printed number is that of line breaks; the last line of the file has none",
}

_TFIDF_OPEN = "the paper does not say what its IDF is over, how counts are damped, or whether facts and bot turns count"
_TFIDF_INPUT = "with the last utterance as input, ours is the printed number"
_NEAREST_OPEN = "the paper says 'word overlap' only, not how it is counted or who wins a tie"
_NO_SILENCES = "the printed number is that of all silences wrong and all else right; how that came about is not known"

#: Models without training: the reason that holds in all columns.
_MODELS = {
    "rules": "the paper's rules for T6 were not published; ours are our own",
    "tfidf": _TFIDF_OPEN,
    "tfidf-dev": _TFIDF_OPEN,
    "tfidf-type": f"{_TFIDF_OPEN}; nor how much a type weighs",
    "tfidf-type-dev": f"{_TFIDF_OPEN}; nor how much a type weighs",
    "nearest": _NEAREST_OPEN,
}
#: Model and column to a closer reason.
CELLS = {
    ("tfidf", "T2"): _TFIDF_INPUT,
    ("tfidf", "T2-OOV"): _TFIDF_INPUT,
    ("tfidf", "T4"): "with the last utterance as input, ours comes near (the greetings are right)",
    ("tfidf", "T4-OOV"): _TFIDF_INPUT,
    ("tfidf-type", "T4"): "no weight of types that was tried gives the printed number",
    ("tfidf-type", "T4-OOV"): "no weight of types that was tried gives the printed number",
    ("nearest", "T2"): _NO_SILENCES,
    ("nearest", "T2-OOV"): _NO_SILENCES,
    ("nearest", "T4"): "no reading of the paper gives the printed number, that of the greetings alone",
    ("nearest", "T4-OOV"): "no reading of the paper gives the printed number",
    ("nearest", "T1-OOV"): f"{_NEAREST_OPEN}; no reading gives so large a drop",
    ("nearest", "T5-OOV"): f"{_NEAREST_OPEN}; no reading gives so large a drop",
}

#: Below Table 2.
SAME_ROW = (
    "tfidf and tfidf-dev stand beside the same row of the paper (TF-IDF, no type), tfidf-type and tfidf-type-dev "
    "beside the other (+ type): '-dev' chooses its input (history or last utterance) on dev, as the paper says; "
    "the others always take the history, which meets the printed T1."
)


def why_statistics(column: str, name: str) -> str:
    """Why a number of Table 1 differs, as far as it is known.

    >>> why_statistics("T2", "user")
    'ours, rounded up, is the printed number'
    """
    return _TABLE_1.get(f"{column}: {name}", UNEXPLAINED)


def why_untrained(model: str, column: str) -> str:
    """Why a model that is not trained differs from the paper's in a column of Table 2."""
    return CELLS.get((model, column), _MODELS[model])


#: Share of the replies that are fixed sentences, which need no entity: what is right when nothing else is.
FIXED = {
    "T1": 0.8315, "T2": 0.7887, "T3": 0.7490, "T4": 0.5718, "T5": 0.6769,
    "T1-OOV": 0.8339, "T2-OOV": 0.7886, "T3-OOV": 0.7528, "T4-OOV": 0.5698, "T5-OOV": 0.6783,
}  # fmt: skip
_FIXED_ONLY = "ours gets the fixed sentences right and nothing else"
_OTHER_TRAINING = "trained another way than in the paper; the line of the paper's training stands below"
#: How near a share must be to that of the fixed sentences to be told as that.
_SAME_SHARE = 0.002


def why_learned(training: str, column: str, cells: Sequence[KeptCell], *, above: bool) -> str:
    """Why a learned model differs from the paper's in a column: what is known, or that nothing is.

    A training that was cut short explains only what is below the paper (not ``above``).
    """
    reasons = []
    reached = mean(cell.per_response for cell in cells)
    if abs(reached - FIXED.get(column, -1.0)) <= _SAME_SHARE:
        reasons.append(_FIXED_ONLY)
    if training == OURS:
        reasons.append(_OTHER_TRAINING)
    stopped = [cell.epochs for cell in cells if cell.cut]
    if stopped and not above:
        reasons.append(f"stopped by the clock after {max(stopped)} epochs, before dev had ceased to rise")
    return "; ".join(reasons) or UNEXPLAINED
