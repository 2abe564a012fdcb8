"""Scores of a log, of any name: which are numbers, which are labels, and which of them says whether a task was done.

A log's own yes or no counts; a 0 or 1 that other conversations show to be an amount (``passed: 3``) is none, nor is the
status of a run beside a score that may be one. Where it has none, a score does that is 0 or 1 in every conversation, if
its name says that it judges and the log does not say that it may be more (``out_of: 10``); this is told. Of several,
one that is called success, passed, resolved, reward, correct or match does, in this order; where none is and they
differ, none does. All other scores are means or shares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from dialgauge.dialogue import read_details, read_owned_details
from dialgauge.errors import DialgaugeError
from dialgauge.formats import names_fault
from dialgauge.tasks.trials.score_scales import scale_of, stray_number
from dialgauge.text import counted

#: The kind of notes that what is counted as trials of one task is most likely something else.
MIXED_TRIALS = "mixed_trials"
#: Kinds of notes without which nobody should read pass^k: what it takes for a verdict, and for a trial.
PASS_NOTES = frozenset({"verdict", "trial_ids", MIXED_TRIALS})
#: Names of a yes or no by which somebody judged.
_SOMEBODY = re.compile(r"human|judge|grader|annotat|review|rater|expert|manual|label|^eval(?:uation)?\.", re.IGNORECASE)
#: Names of a yes or no by which somebody set a verdict right.
_OVERRULES = re.compile(r"overrid|overrul|adjudicat|corrected|correction", re.IGNORECASE)
#: Names of verdicts that may be those of a request or a run; others say success themselves.
_WORDS = frozenset(
    {"verdict", "result", "outcome", "evaluation", "eval", "judgement", "judgment", "testresult", "status"}
)
_TRUTHS = {"true": 1.0, "false": 0.0}
#: How graders write correct and incorrect, where they write nothing else.
_LETTERS = {"C": "true", "I": "false"}
#: The same in words, under names that judge.
_GRADES = {
    **dict.fromkeys(("pass", "passed", "t", "yes"), "true"),
    **dict.fromkeys(("fail", "failed", "f", "no"), "false"),
}
_JUDGES = re.compile(
    r"score|reward|success|pass|correct|accura|resolv|solve|match|goal|complet|grade|verdict", re.IGNORECASE
)
#: Further names of a true or false of which true is good.
_IS_DONE = re.compile(r"succe|achiev|accomplish|fulfil|(?:^|_)(?:ok|done|valid|utility)(?:_|$)", re.IGNORECASE)
#: Further names of scores of which more is better.
_QUALITY = re.compile(r"quality|helpful|faithful|factual|relevan|similar|coheren|rating|satisf|f1", re.IGNORECASE)
#: Names of numbers that judge nothing, whatever else they say: ``goal_id``, ``pass_number``.
_NUMBERS = re.compile(
    r"(?:^|[_.])(?:n|nr|no|num|number|count|total|id|idx|index|version|seed)(?:[_.]|$)|(?:Id|Idx|Index|Count|Number)$"
)
#: Logs whose scores are all grades, correct or incorrect, under the names of their scorers.
_OF_SCORERS = frozenset({"inspect"})
#: Names of scores that say whether a task was done; earlier ones come first.
_SUCCESS = (
    "success", "successful", "succeeded", "tasksuccess", "issuccess", "passed", "pass", "ispassed", "resolved",
    "isresolved", "solved", "reward", "cumreward", "correct", "iscorrect", "accuracy", "exactmatch", "match",
)  # fmt: skip
#: What failure and success are as numbers; other pairs than the first only where the name says success and both occur.
_PAIRS = ((0.0, 1.0), (0.0, 100.0), (-1.0, 1.0))
_SAYS_SUCCESS = _SUCCESS[: _SUCCESS.index("reward")]
_UNDECIDED = frozenset({*_SAYS_SUCCESS, "correct", "iscorrect", "verdict"})
#: The label of a verdict that is yes or no.
_DECIDED = "yes or no"
#: Larger numbers are no scores: the sum of two may be infinite.
_MOST = 1e15
#: A status that says success of all conversations but so many of them is how runs ended, where something else judges.
_NEARLY_ALL = 0.1
#: Labels of one score that get a share of their own; more of them are texts.
_MOST_LABELS = 12


class LogScores:
    """The scores of all conversations of a log, by name."""

    def __init__(self) -> None:
        self._given: list[dict[str, str]] = []
        self._numbered: list[dict[str, str]] = []
        self._stated: list[dict[str, str]] = []
        self._unclear: list[dict[str, str]] = []
        self._beside: list[dict[str, str]] = []
        self._sources: set[str] = set()
        #: How much scores may be at most, where that is more than 1.
        self.maxima: dict[str, str] = {}
        #: Numbers under the names of scores that no mean can hold, such as 1e308 or nan, and how often each occurs.
        self.unusable: dict[str, Counter[str]] = {}
        self.reported: dict[str, str] = {}
        self._grades: set[str] = set()

    def add(self, details: Mapping[str, str]) -> None:
        """The scores of one more conversation."""
        given = read_details("score", details)
        unusable = {name: text for name, text in given.items() if _is_unusable(text)}
        for name, text in unusable.items():
            self.unusable.setdefault(name, Counter())[text] += 1
        self._given.append({name: text for name, text in given.items() if name not in unusable})
        if details.get("benchmark") in _OF_SCORERS:
            self._grades |= self._given[-1].keys()
        self._numbered.append(read_details("numbered", details))
        self._stated.append(read_details("stated", details))
        self.maxima |= read_details("maximum", details)
        self._unclear.append(read_details("unclear", details))
        beside = read_owned_details("beside", details)
        self._sources |= {source for source, _ in beside} - {""}
        self._beside.append({name: text for (_, name), text in beside.items()})
        self.reported |= read_details("reported", details)

    @cached_property
    def _amounts(self) -> set[str]:
        """Names under which some conversations have a 0 or 1, and others numbers that are no verdict."""
        numbered = {name for each in self._numbered for name in each}
        return {name for each in self._given for name in numbered & each.keys() if score_number(each[name]) is not None}

    def is_amount(self, conversation: int) -> bool:
        """Is what looks like the verdict of a conversation an amount, which is among its scores instead?"""
        return not self._amounts.isdisjoint(self._numbered[conversation])

    @cached_property
    def run_status(self) -> str:
        """The word for how runs ended, where a score beside it may say whether the task was done; empty without one."""
        both = zip(self._stated, self._texts, strict=True)
        names = (name for stated, texts in both if not texts.keys().isdisjoint(self.candidates) for name in stated)
        return next(names, "")

    def is_run_status(self, conversation: int) -> bool:
        """Is what looks like the verdict of a conversation how its run ended?"""
        return bool(self.run_status) and self.run_status in self._stated[conversation]

    def is_broken_off(self, conversation: int) -> bool:
        """Is all that a conversation says how its run ended, while others have a score that is a verdict?"""
        stated = self._stated[conversation]
        return bool(self.verdict and stated) and self.verdict not in self._texts[conversation]

    @property
    def opposite(self) -> str:
        """The first field that is "no" where a conversation passed; empty if there is none."""
        return next((name for stated in self._stated for name, text in stated.items() if text == "no"), "")

    @cached_property
    def doubts(self) -> dict[str, int]:
        """Fields that are yes or no and not read beside a verdict, and in how many conversations they are no."""
        names = dict.fromkeys(name for each in self._beside for name in each)
        counts: dict[str, int] = {}
        for name in names:
            texts = [each[name] for each in self._beside if name in each]
            no = sum(text in ("0", "false") for text in texts)
            judges = _name_judges(name) and not _NUMBERS.search(name)
            varies = no < len(texts) and (_TRUTHS.keys() >= set(texts) or judges)
            if no and (_SOMEBODY.search(name) or varies):
                counts[name] = no
        amounts = {name for name in counts if name in self.names and not self.is_zero_or_one(name)}
        return {name: no for name, no in counts.items() if name not in amounts and not names_fault(name)}

    @property
    def doubted(self) -> str:
        """The verdict that others stand beside."""
        return next(iter(sorted(self._sources)), "")

    @cached_property
    def judgement(self) -> str:
        """The only field by which somebody judged, beside a word that may be said of the request or the run.

        Beside a success it is one that is somebody's success by its name: ``eval.passed``. Beside a status it is any
        whose name judges: ``goal_matched``.
        """
        names = [name for name in self.doubts if _SOMEBODY.search(name)]
        if self._is_of_runs:
            judging = [name for name in self.doubts if _name_judges(name)]
            names = names or [name for name in judging if _rank(name) is not None] or judging
        said_of_runs = self._is_of_runs or self._sources <= _WORDS
        return names[0] if len(names) == 1 and (said_of_runs or _rank(names[0]) is not None) else ""

    @property
    def _is_of_runs(self) -> bool:
        """Is the verdict that others stand beside said of runs, and not of tasks?"""
        return len(self._sources) == 1 and any(self._sources <= stated.keys() for stated in self._stated)

    def are_doubtful(self, verdicts: Sequence[bool | None]) -> bool:
        """Do verdicts say success of every conversation, or a status of nearly all, while something beside does not?"""
        nearly = _NEARLY_ALL * len(verdicts) if self.judgement and self._is_of_runs else 0
        return bool(self.doubts) and True in verdicts and verdicts.count(False) <= nearly

    def status_alone(self, verdicts: Sequence[bool | None]) -> str:
        """The word for how runs ended, where it is every verdict that there is, and always success; else empty."""
        both = zip(self._stated, verdicts, strict=True)
        names = {next(iter(stated), "") if success else "" for stated, success in both if success is not None}
        return names.pop() if len(names) == 1 else ""

    def contradictions(self, verdicts: Sequence[bool | None]) -> dict[str, int]:
        """Fields that are somebody's success, and in how many conversations they are not what the verdict is."""
        both = zip(self._beside, verdicts, strict=True)
        said = [(name, text in ("1", "true"), told) for each, told in both for name, text in each.items()]
        names = (name for name, success, told in said if told is not None and success is not told)
        return Counter(
            name for name in names if _OVERRULES.search(name) or (_SOMEBODY.search(name) and _rank(name) is not None)
        )

    def judged(self, conversation: int) -> bool | None:
        """What somebody's judgement says of a conversation."""
        text = self._beside[conversation].get(self.judgement)
        return None if text is None else text in ("1", "true")

    @cached_property
    def _texts(self) -> list[dict[str, str]]:
        return [
            {
                **{name: self._words.get(name, {}).get(text, text) for name, text in given.items()},
                **{name: text for name, text in numbered.items() if name in self._amounts},
            }
            for given, numbered in zip(self._given, self._numbered, strict=True)
        ]

    @property
    def lettered(self) -> set[str]:
        """Scores that are C or I in every conversation that has them."""
        return {name for name, words in self._words.items() if words is _LETTERS}

    def written(self, name: str) -> tuple[str, str]:
        """How failure and success are written under this name."""
        low, high = (f"{number:g}" for number in self.pair(name) or _PAIRS[0])
        words = {meaning: text for text, meaning in self._words.get(name, {}).items()}
        return (words["false"], words["true"]) if len(words) > 1 else (low, high)

    @cached_property
    def _words(self) -> dict[str, dict[str, str]]:
        """Scores that are words for yes and no in every conversation that has them, and what these words mean."""
        texts: dict[str, set[str]] = {}
        for each in self._given:
            for name, text in each.items():
                texts.setdefault(name, set()).add(text)
        letters = {name: _LETTERS for name, said in texts.items() if said <= _LETTERS.keys()}
        grades = {
            name: {text: _GRADES[text.lower()] for text in said}
            for name, said in texts.items()
            if {text.lower() for text in said} <= _GRADES.keys() and (_JUDGES.search(name) or _IS_DONE.search(name))
        }
        return grades | letters

    @cached_property
    def names(self) -> list[str]:
        """All scores, in the order in which they first come."""
        return list(dict.fromkeys(name for each in self._texts for name in each))

    @cached_property
    def numeric(self) -> list[str]:
        """Scores that are numbers wherever they are given."""
        return [name for name in self.names if all(score_number(text) is not None for text in self._values(name))]

    @cached_property
    def labelled(self) -> dict[str, list[str]]:
        """Scores that are labels, with their labels."""
        distinct = {name: sorted(set(self._values(name))) for name in self.names if name not in self.numeric}
        return {name: labels for name, labels in distinct.items() if len(labels) <= _MOST_LABELS}

    @cached_property
    def binary(self) -> list[str]:
        """Scores that are 0 or 1 in every conversation that has them, and say whether something was done."""
        return [name for name in self.numeric if self._is_binary(name)]

    @cached_property
    def candidates(self) -> list[str]:
        """Scores that may say whether a task was done, the likeliest first; only one of several that are equal."""
        good = [name for name in self.binary if self._says_success(name) and not names_fault(name)]
        named = sorted((name for name in good if _rank(name) is not None), key=lambda name: _rank(name) or 0)
        columns = {tuple(each.get(name) for each in self._numbers): name for name in reversed(good)}
        return named[:1] or [name for name in good if name in columns.values()]

    @property
    def flags(self) -> list[str]:
        """Scores that are true or false, of which no name says that true is good: ``polite``, ``aborted``."""
        return [name for name in self.binary if not self._says_success(name) and not names_fault(name)]

    def _says_success(self, name: str) -> bool:
        return name in self._grades | self.lettered or _name_judges(name)

    @property
    def verdict(self) -> str:
        """The score that says whether a task was done; empty where none does, or several may."""
        return self.candidates[0] if len(self.candidates) == 1 else ""

    @cached_property
    def _numbers(self) -> list[dict[str, float]]:
        return [self.numbers(index) for index in range(len(self._given))]

    def span(self, name: str) -> tuple[float, float]:
        """The lowest and the highest number of a score."""
        numbers = [each[name] for each in self._numbers if name in each]
        return min(numbers), max(numbers)

    def strays(self) -> list[str]:
        """Sentences about numbers that may say that nobody judged."""
        given = {name: [numbers[name] for numbers in self._numbers if name in numbers] for name in self.numeric}
        return [
            f"'{name}' is {stray:g} in {counted(numbers.count(stray), 'conversation')}, unlike in all others: if that "
            "says that nobody judged, leave it out there, as it counts in the mean"
            for name, numbers in given.items()
            if (stray := stray_number(numbers)) is not None
        ]

    def scale(self, name: str) -> tuple[float, float]:
        """Between which numbers a score lies."""
        maximum = score_number(self.maxima[name]) if name in self.maxima else None
        return scale_of([each[name] for each in self._numbers if name in each], maximum)

    @property
    def left_out(self) -> list[str]:
        """Scores with so many labels that they are texts."""
        return [name for name in self.names if name not in self.numeric and name not in self.labelled]

    def numbers(self, conversation: int) -> dict[str, float]:
        texts = self._texts[conversation]
        return {name: float(score_number(texts[name]) or 0.0) for name in self.numeric if name in texts}

    def labels(self, conversation: int, *, judged: bool = False) -> dict[str, str]:
        """The labels of a conversation; a yes or no is one beside the other words that stand in its place elsewhere."""
        texts = self._texts[conversation]
        decided = {name: _DECIDED for name in self.labelled if judged and _plain(name) in _UNDECIDED}
        return {**decided, **{name: texts[name] for name in self.labelled if name in texts}}

    def _values(self, name: str) -> Iterable[str]:
        return (each[name] for each in self._texts if name in each)

    def _is_binary(self, name: str) -> bool:
        judges = bool(_TRUTHS.keys() & set(self._values(name))) or _JUDGES.search(name) is not None
        return judges and self.is_zero_or_one(name)

    def is_zero_or_one(self, name: str) -> bool:
        """Is a score 0 or 1 in every conversation that has it, or another such pair, and cannot be more?"""
        return name in self.numeric and name not in self.maxima and self.pair(name) is not None

    def pair(self, name: str) -> tuple[float, float] | None:
        """The numbers for failure and success under this name; None if it has other numbers."""
        numbers = {score_number(text) for text in self._values(name)}
        if numbers <= {*_PAIRS[0]}:
            return _PAIRS[0]
        return next((pair for pair in _PAIRS if numbers == {*pair} and _plain(name) in (*_SUCCESS, "score")), None)

    def undecided(self, conversation: int) -> dict[str, str]:
        """What a conversation has under names that say success, and is neither yes nor no."""
        scores = {name: text for name, text in self._texts[conversation].items() if _plain(name) in _UNDECIDED}
        return {**self._unclear[conversation], **scores}


def _name_judges(name: str) -> bool:
    return any(names.search(name) for names in (_JUDGES, _IS_DONE))


def is_quality(name: str) -> bool:
    """Does the name of a score say that more is better?"""
    good = _name_judges(name) or _QUALITY.search(name) is not None
    return good and not names_fault(name) and not _NUMBERS.search(name)


def _rank(name: str) -> int | None:
    """The place of a score's name, or of its last part (``judge.correct``), among those that say success."""
    plain = _plain(name)
    return _SUCCESS.index(plain) if plain in _SUCCESS else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower().rpartition(".")[2])


def score_number(text: str) -> float | None:
    """The number that a score is; true is 1 and false 0, None is a label."""
    if text in _TRUTHS:
        return _TRUTHS[text]
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < _MOST else None


def _is_unusable(text: str) -> bool:
    """Is it a number that cannot be summed: infinite, too large, or the one that says that there is none?"""
    try:
        return not abs(float(text)) < _MOST
    except ValueError:
        return False


def reported_number(name: str, text: str) -> float:
    """A number that the log itself gives for all conversations."""
    value = score_number(text)
    if value is None:
        raise DialgaugeError(f"what the log reports of {name} must be a number (got '{text}')")
    return value
