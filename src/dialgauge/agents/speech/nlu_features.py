"""What the NLU looks at: words and pairs and triples of words, mentions and what stands around them, and the context.

Two sets of features. Those of the *utterance* decide what is asked and said without a value that stands in the text;
those of each *mention* decide which act and slot it belongs to.
"""

from __future__ import annotations

from itertools import pairwise

from dialgauge.agents.speech.mentions import Delexicalised, ValueMention
from dialgauge.dialogue import Act
from dialgauge.worlds.town import spoken_town

#: Words that tell which domain is spoken of.
_DOMAIN_WORDS = {word: service for service, words in spoken_town().service_words.items() for word in words}
_STOPS = frozenset(".?!")
#: Acts of a turn that the context tells of.
_MOST_ACTS = 8
_WINDOW = 6
#: Longer texts are judged by their beginning.
_MOST_TOKENS = 400


def context_features(own: tuple[Act, ...], before: tuple[Act, ...], domain: str, pending: str) -> tuple[str, ...]:
    """The context without its values: own acts, the partner's before, the domain, the booking that waits."""
    features = [f"o={act.name}.{act.slot}" for act in own[:_MOST_ACTS]]
    features += dict.fromkeys([f"b={act.name}" for act in before[:_MOST_ACTS]])
    features.append(f"d={domain}")
    features.append(f"p={pending}")
    return tuple(dict.fromkeys(features))


def utterance_features(delexicalised: Delexicalised, context: tuple[str, ...]) -> list[str]:
    """Of the whole utterance."""
    words = ["^", *delexicalised.tokens[:_MOST_TOKENS], "$"]
    domains = _domains(words) or _of_context(context)
    pairs = [f"{name} {two}" for name, two in pairwise(words)]
    features = words + pairs
    features += [f"{pair} {word}" for pair, word in zip(pairs, words[2:], strict=False)]
    sentences = _sentences(delexicalised.tokens[:_MOST_TOKENS])
    features += sentences
    for domain in domains:
        features += [f"{domain}|{word}" for word in words]
        features += [f"{domain}|{sentence}" for sentence in sentences]
    features += context
    if len(words) < 9:
        features += [f"{name}|{word}" for name in context if name[0] == "o" for word in words[1:-1]]
    return list(dict.fromkeys(features))


def mention_features(delexicalised: Delexicalised, mention: ValueMention, context: tuple[str, ...]) -> list[str]:
    """Of one mention, each feature with the mention's kind."""
    words, index, kind = delexicalised.tokens, mention.place, mention.kind
    start, end = _sentence(words, index)
    left, right = words[max(start, index - _WINDOW) : index], words[index + 1 : min(end, index + 1 + _WINDOW)]
    near = [*("^^^"[: 3 - min(3, len(left))]), *left[-3:], *right[:2], *("$$"[: 2 - min(2, len(right))])]
    far, second, first, following, next_but_one = near
    domains = _domains(words[start:end]) or _domains(words) or _of_context(context)
    same = [value_mention for value_mention in delexicalised.mentions if value_mention.kind == kind]
    previous = words[_sentence(words, start - 2)[0] : start] if start > 1 else ()
    sentence = f"{' '.join(words[start:index])} = {' '.join(words[index + 1 : end])}"
    features = [
        "",
        f"-1 {first}",
        f"-2 {second}",
        f"-2-1 {second} {first}",
        f"-3-2-1 {far} {second} {first}",
        f"+1 {following}",
        f"+2 {next_but_one}",
        f"+1+2 {following} {next_but_one}",
        f"-1+1 {first} {following}",
        f"# {same.index(mention)} {len(same)}",
        f"end {words[end - 1]}",
        f"start {' '.join(words[start : start + 2])}",
        f"detail {mention.detail}",
        sentence,
        *[f"L {word}" for word in left],
        *[f"R {word}" for word in right],
        *[f"S {name} {two}" for name, two in pairwise(words[start:end])],
        *[f"P {word}" for word in previous],
        f"P= {' '.join(previous[:3])}",
        *context,
    ]
    for domain in domains:
        features += [
            domain,
            f"{domain} {sentence}",
            f"{domain} -1 {first}",
            f"{domain} +1 {following}",
            f"{domain} # {len(same)}",
        ]
        features += [f"{domain} {name}" for name in context if name[0] in "op"]
    return [f"{kind}|{feature}" for feature in dict.fromkeys(features)]


def _sentences(words: tuple[str, ...]) -> list[str]:
    """Each sentence as one feature: what is always said in the same words is known at once."""
    features, start = [], 0
    for index, word in enumerate(words):
        if word in _STOPS:
            features.append(f"={' '.join(words[start:index])}")
            start = index + 1
    return [*features, f"={' '.join(words[start:])}"] if start < len(words) else features


def _domains(words: tuple[str, ...] | list[str]) -> list[str]:
    return list(dict.fromkeys([_DOMAIN_WORDS[word] for word in words if word in _DOMAIN_WORDS]))


def _of_context(context: tuple[str, ...]) -> list[str]:
    return [feature for feature in context if feature.startswith("d=")]


def _sentence(words: tuple[str, ...], index: int) -> tuple[int, int]:
    """Where the sentence around a word begins and ends."""
    start, end = index, index
    while start > 0 and words[start - 1] not in _STOPS:
        start -= 1
    while end < len(words) and words[end] not in _STOPS:
        end += 1
    return start, min(end + 1, len(words))
