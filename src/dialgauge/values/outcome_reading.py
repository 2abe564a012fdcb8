"""What a reply in anybody's words says came of an attempt: that it failed, that it was done, or nothing of the kind.

People say that something failed in countless ways, and often only by asking for something else. So any hint counts as
saying it: a negation, a regret, an alternative, a question. That it was done is read only where there is no such hint.

>>> [told_outcome(text) for text in ("Monday is taken. Another day?", "Great, it is booked!", "The sky is blue.")]
['failed', 'done', '']
>>> told_outcome("It's all set. Sorry for the wait! Can I help you with anything else?")
'done'
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from dialgauge.values.reply_text import ReplyText

ToldOutcome: TypeAlias = Literal["failed", "done", ""]

#: Politeness, which hints at nothing.
_FORMULA = re.compile(
    r"\b(?:no|not a|any) (?:problem|problems|worries|trouble|questions?|doubt)\b|\bnot only\b|\bno need\b"
    r"|\b(?:sorry|apologies|apologise|apologize) (?:for|about) (?:the|that|your|this|keeping|making)\b"
    r"|\bdo ?n't (?:hesitate|forget|worry|mind)\b|\bca ?n't wait\b|\bwithout (?:any|further|a)\b"
)
#: A sentence that offers further help.
_MORE_HELP = re.compile(
    r"\banything else\b|\banything (?:more|further)\b|\bany other\b|\bwhat else\b|\bsomething else i can\b"
    r"|\b(?:can|could|may|shall) i (?:help|assist|be of)\b|\belse \?$"
)
_FAILED = re.compile(
    r"\b(?:no|not|n't|never|none|neither|nor|nothing|nobody|cannot|dont|cant|wont|couldnt|isnt|without|unable|hardly"
    r"|unfortunately|sadly|regrettably|alas|sorry|afraid|regrets?|apolog\w+|pity|shame|oops|hmm?|however|but"
    r"|fail\w*|refus\w+|reject\w*|declin\w+|den(?:y|ied|ies)|unavailable|unsuccessful\w*|impossible|invalid|turned"
    r"|full|fully|sold|taken|gone|occupied|closed|blocked|clash\w*|conflict\w*|exceed\w*|limit\w*|too"
    r"|problem\w*|trouble|error|issue\w*|already|only|instead|another|other|different\w*|else|alternativ\w+|rather"
    r"|try|tried|retry|change|adjust|choose|pick|reconsider|waiting list|waitlist)\b"
)
_DONE = re.compile(
    r"\b(?:booked|reserved|confirmed|confirmation|scheduled|arranged|secured|ordered|placed|sorted|completed?|done|success\w*|made"
    r"|all set|in place|went through|is yours|are yours|see you|look forward|looking forward|enjoy|yes"
    r"|(?:reference|confirmation|booking|order) (?:number|code|id)|reference)\b"
)


def told_outcome(text: str) -> ToldOutcome:
    """What a reply says came of an attempt; empty where nothing in it says so."""
    reply = ReplyText(text)
    segments = [" ".join(reply.segment(number)) for number in dict.fromkeys(token.segment for token in reply.tokens)]
    said = [_FORMULA.sub(" ", words) for words in segments if not _MORE_HELP.search(words)]
    if any(map(_FAILED.search, said)):
        return "failed"
    asked = [words for words in said if words.endswith("?")]
    if any(_DONE.search(words) for words in said if words not in asked):
        return "done"
    return "failed" if asked else ""
