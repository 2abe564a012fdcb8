"""What people call the facts of a conversation, without case and punctuation; earlier names come first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from dialgauge.text import CAMEL_CASE


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: Objects in which facts are looked for, too; those that hold scores; those in which somebody says how it went, a judge
#: or an evaluation beside a success of the record that may be that of a request; and those of tokens.
NESTED = frozenset(
    _names(
        "metadata meta info result results outcome evaluation eval extra stats summary task rewardinfo tags "
        "requestmetadata agentresult testresult"
    )
)
SCORES = frozenset(
    _names(
        "scores metrics rewards evaluation evaluations eval feedback labels annotations ratings grades judgement "
        "judgment rubric feedbackstats feedbackscores assertions evaluationresults evalresults assessments "
        "metricsdata judges"
    )
)
JUDGES = frozenset(_names("judge grader judgement judgment"))
#: What an object is called in which somebody says how it went, wherever it lies.
JUDGING = re.compile(r"eval|judg|grad|verdict|result|outcome|metric|analysis|assess|review|feedback|score|report", re.I)
EVALUATIONS = frozenset(_names("eval evaluation"))
USAGE = frozenset(_names("usage tokenusage modelusage modelsusage usagemetadata accumulatedtokenusage"))
#: Objects of what a conversation took, in which the tokens of a judge do not lie.
TAKEN = frozenset(_names("metrics stats metadata meta info extra summary"))
JUDGED = re.compile(r"(?:llm|model|human|final|overall|task|judge|grader|evaluator|judgement|judgment){1,3}verdict")
ID = _names(
    "conversationid dialogueid dialogid chatid sessionid threadid id uuid traceid convid senderid customid nodeid "
    "episodeid"
)
TASK = _names(
    "taskid task taskname scenarioid problemid questionid exampleid caseid testid instanceid itemid promptid sampleid "
    "scenario referenceexampleid datasetitemid usertaskid testidx testcase case casename testname scenarioname "
    "benchmarktask taskindex taskidx tasknumber sourcecasename"
)
#: What names a task beside another name, which then may be that of its domain; and what may name a mere row.
NUMBERS_OF_TASKS = frozenset(_names("taskindex taskidx tasknumber problemid questionid scenarioid"))
ROWS_OF_TASKS = frozenset(
    _names(
        "task taskname exampleid caseid instanceid itemid sampleid scenario scenarioname case casename testname index "
        "idx"
    )
)
#: What may name a task: all conversations say it together. A mere number does so only where there is no id.
GROUP, COUNTS = ("groupid",), ("index", "idx")
_TRIALS = _names("trial epoch repeat repetition attempt rollout iteration run")
TRIAL = (
    *_names("trial epoch trialid trialnumber"), *_TRIALS[2:], "sampleindex",
    *(f"{name}{number}" for name in _TRIALS for number in ("index", "idx", "number", "num", "no")),
)  # fmt: skip
#: How trials are called, as names of folders, members or columns; and what they may be called where others say so, too.
_TRIAL_WORDS = "trial|epoch|run|attempt|rollout|repeat|repetition"
TRIAL_WORDS = f"{_TRIAL_WORDS}|rep|seed|iteration|iter"
TRIAL_NAME = re.compile(rf"(?:{_TRIAL_WORDS})[-_ #]{{0,2}}([0-9]{{1,6}})", re.IGNORECASE)
#: How agents are called: families of models, or agents that are counted.
MODELS = (
    "(?:chat)?gpt|claude|sonnet|haiku|opus|llama|qwen|gemini|gemma|mistral|mixtral|deepseek|phi-?[0-9]|command-r|grok"
    "|glm|kimi|vicuna|falcon"
)
COUNTED_AGENT = "(?:agent|model|system|assistant|bot|baseline)[-_ #]{0,2}(?:[0-9]{1,3}|[a-z])"
AGENT_NAME = re.compile(rf"(?<![a-z])(?:{MODELS})(?![a-z])|\A{COUNTED_AGENT}\Z", re.IGNORECASE)
SUCCESS = _names(
    "success successful succeeded tasksuccess issuccess passed pass ispassed resolved isresolved solved correct "
    "iscorrect goalachieved passfail taskcompleted goalcompleted callsuccessful successevaluation"
)
#: What says the opposite, as yes or no; a number under these names may count what failed.
FAILED = _names("failed isfailed hasfailed taskfailed")
#: Scores that may say how the task went beside a success that is said of the call.
REWARDS = frozenset({"reward", "score"})
#: What may be said of a run instead of the task.
OF_RUNS = frozenset(("status", *FAILED))
#: What says success in files of some benchmarks, and something else in others: read as a score, which is told.
DONE = frozenset(_names("valid ok utility"))
#: What is a yes or no of another kind in them, and a score, too.
FLAGS = frozenset({"security"})
#: What a judge says, in an object of theirs; and words for an outcome.
OF_JUDGES = frozenset({"verdict", *SUCCESS})
VERDICTS = _names("verdict result outcome evaluation eval judgement judgment testresult status")
#: What says how much a score may be at most, and of which score it does; an empty name is that of any.
MAXIMA = {
    **{
        f"{most}{name}": name
        for most in ("max", "maximum", "possible")
        for name in _names("score points reward rating")
    },
    **dict.fromkeys(("scoremax", "fullscore", "maxmarks", "fullmarks"), "score"),
    "pointspossible": "points",
    "outof": "",
}
AMOUNTS = {
    "cost": _names("cost totalcost costusd totalcostusd price usdcost accumulatedcost estimatedcost statscumcost"),
    "agent_cost": ("agentcost",),
    "user_cost": ("usercost",),
    "duration": _names("duration durations latency elapsed totaltime elapsedseconds durationseconds"),
    "tokens": _names("totaltokens tokens numtokens tokencount ntokens totaltokencount"),
}
#: Costs in hundredths of a dollar.
CENTS = _names("costcents costincents costuscents totalcostcents")
AMOUNT = tuple(name for several in AMOUNTS.values() for name in several)
TOTALS = frozenset(_names("total totalcost totaltokens usd usageincludingcachedinference"))
INPUT_TOKENS = _names("inputtokens prompttokens totalinputtokens ninputtokens prompttokencount")
OUTPUT_TOKENS = _names("outputtokens completiontokens totaloutputtokens noutputtokens candidatestokencount")
TEXTS = {
    "agent": _names("agentmodel model modelname modelid llm agentllm agent"),
    "user": _names("usermodel userllm usersimulator simulator"),
    "seed": ("seed",),
}
INSTRUCTION = _names(
    "instruction instructions userinstruction userinstructions goal usergoal scenario userscenario taskdescription "
    "taskinstruction task"
)
KNOWLEDGE = _names("knows known knowninfo userknows userknowledge")
REASON = _names("terminationreason stopreason endreason finishreason exitreason stoppedby")
DOMAIN = _names("domain domains service environment env")
ERROR = _names("error exception errormessage exceptioninfo errmsg")
#: The calls that a task expects: objects with a name and arguments, as calls are written.
EXPECTED = _names("expectedactions expectedcalls expectedtoolcalls expected")
#: What tells agents apart that are not named as models: trials of one task that differ in it may be of several agents.
VARIANTS = frozenset(
    _names(
        "agentname assistantid system systemname provider temperature config configname promptversion experiment "
        "policy checkpoint variant arm group branch runname condition method setting approach version agentversion "
        "modelversion commit tag suite promptid usermodel userllm usersimulator language lang locale build release "
        "revision sha injectiontaskid attacktype"
    )
)
#: Objects that describe what ran: models in them are the agent's, and their members tell agents apart, too.
AGENTS = frozenset(
    _names("agent agentargs agentconfig agentinfo config configuration params parameters settings run system")
)
#: How many tasks and trials of each were planned, as a file says of the whole or of what ran.
PLANNED = {
    "planned_tasks": _names("numtasks ntasks totaltasks plannedtasks totalinstances"),
    "planned_trials": _names("numtrials ntrials trialspertask plannedtrials"),
}
#: Those that say it also beside a verdict, where others count what one record has.
PLAN = frozenset({"plannedtasks", "plannedtrials"})
#: What may name a task, and often names something else: it is only told where it repeats.
LABELS = _names(
    "name title persona prompt scenariodescription description question topic intent usecase template goalid queryid "
    "qid prompttext tasktext userprompt initialprompt initialmessage "
    "item instance ticket key dataid envid uid rowid userstory example query"
)
#: What is of no matter to a score: it is dropped without a word.
PASSED_OVER = _names(
    "timestamp created createdat updatedat startedat completedat starttime endtime time date object version tools "
    "functions promptidx provider source index idx temperature topp maxtokens systemfingerprint type name language "
    "lang toolchoice paralleltoolcalls usage responseformat servicetier store system systemprompt instructionsforagent"
)
#: What a yes or no, or a number, is called that is true, or more than 0, where something went wrong.
_FAULT = re.compile(
    r"error|fail|refus|violat|halluc|toxic|harm(?!less)|(?<!un)bias|unsafe|incorrect|wrong|leak|abus|offen[sc]|jailbreak"
    r"|attack|profan|insult|crash|timeout|time_out|penalt|risk|complain|escalat|unsucc|unresolv|unsolv"
    r"|exit_?(?:code|status)|return_?code|(?:^|_)loss|(?:^|_)not_",
    re.IGNORECASE,
)
_SCORE = re.compile(r"(?:^|_)(?:score|reward|rating|grade|accuracy|correctness|f1|points|csat)s?(?:_|$)")
#: What holds the calls of tools that were made, or their number; and what tools there are, or should have been called.
_CALLS = re.compile(r"tool|function|calls?$|called|actions?$|invocation|steps$")
_NOT_MADE = re.compile(
    r"^(?:expected|available|allowed|reference|gold|valid|max|disabled)|(?:choice|schema|definition)s?$"
)
_WHY = re.compile(r"_(?:rationale|justification|explanation|reasoning)$")
_SEPARATORS = re.compile(r"[- ./]")
_PUNCTUATION = re.compile(r"[^a-z0-9]")
#: How a heading says what its cells may be: ``Outcome (pass/fail)``.
_CHOICE = re.compile(r"\((?:pass/fail|yes/no|y/n|true/false|t/f|0/1|1/0|0 or 1)\)\s{0,9}\Z", re.IGNORECASE)

#: Objects of these names are read in a record, and not further inside.
OUTSIDE = frozenset((*NESTED, *SCORES, *USAGE, *ID, *TASK, *TRIAL, *SUCCESS, *VERDICTS))
#: What says how one conversation went, or what it took, beside scores.
_OF_ONE = frozenset(
    (*SUCCESS, *FAILED, *VERDICTS, *SCORES, *USAGE, *ERROR, *REASON, *INPUT_TOKENS, *OUTPUT_TOKENS, *AMOUNT)
)
#: What stands among metrics and is no score; what it took is read there, too.
AMONG_SCORES = frozenset((*AMOUNT, *INPUT_TOKENS, *OUTPUT_TOKENS))
NOT_SCORES = frozenset((*AMONG_SCORES, *ID, *TRIAL, *MAXIMA, "start", "end", "starttime", "endtime", "timestamp"))
#: What is either read or of no matter.
READ = frozenset(
    (*AMOUNT, *(name for several in TEXTS.values() for name in several), *ID, *TASK, *TRIAL, *SUCCESS, *VERDICTS,
     *PLAN, *INSTRUCTION, *KNOWLEDGE, *REASON, *DOMAIN, *ERROR, *INPUT_TOKENS, *OUTPUT_TOKENS, *NESTED, *SCORES, *USAGE,
     *PASSED_OVER, *MAXIMA, *CENTS)
)  # fmt: skip


@lru_cache(maxsize=1 << 12)
def plain_key(key: str) -> str:
    """A key without case and punctuation: ``taskId``, ``task_id`` and ``Task ID`` are one."""
    return _PUNCTUATION.sub("", _CHOICE.sub("", key).lower())


@lru_cache(maxsize=1 << 12)
def is_score(key: str) -> bool:
    """Does a key name a score, such as ``judge_score`` or ``finalReward``?"""
    words = _SEPARATORS.sub("_", CAMEL_CASE.sub("_", key).lower())
    return _SCORE.search(words) is not None and _WHY.search(words) is None


def names_fault(key: str) -> bool:
    """Does a key say that something went wrong, so that no, or 0, is good?"""
    return _FAULT.search(key) is not None


def may_be_calls(key: str) -> bool:
    """May a member that is not read hold the calls that were made, or their number?"""
    plain = plain_key(key)
    return _CALLS.search(plain) is not None and _NOT_MADE.search(plain) is None


def is_scores(key: str) -> bool:
    """Does a key name a score, or several?"""
    return plain_key(key) in SCORES or is_score(key)


def is_of_judge(owner: str, key: str) -> bool:
    """Is it a verdict or a score in an object of a judge? Those of one that is called as scores are read as such."""
    return plain_key(key) in OF_JUDGES or (plain_key(owner) not in SCORES and is_score(key))


def is_of_one(key: str) -> bool:
    """Does a key say how a conversation went, or what it took?"""
    return plain_key(key) in _OF_ONE or is_score(key)


def is_fact(key: str) -> bool:
    """Is it the name of something that a record says of a conversation, and so none of a task?"""
    return plain_key(key) in READ | VARIANTS | AGENTS | DONE or is_score(key)


def says_outcome(keys: Iterable[str]) -> bool:
    """Does one of these keys name a task or how it went, which only a log of an agent has beside what was said?"""
    known = list(keys)
    return not {*TASK, *SUCCESS, "verdict", "scores"}.isdisjoint(map(plain_key, known)) or any(map(is_score, known))
