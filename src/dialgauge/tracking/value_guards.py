"""Guards of predicted values: words for absent slots, true and false, spellings that gold never has, joined slots."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from dialgauge.text import counted, some_of
from dialgauge.tracking.encode import Item
from dialgauge.tracking.guard_evidence import GuardEvidence, means_absent
from dialgauge.tracking.guard_findings import (
    ABSENT,
    BOOLEANS,
    FEW,
    JOINED,
    LISTED,
    MANY,
    NOTABLE,
    SEVERAL,
    SPELLINGS,
    GuardFinding,
    slot_fills,
    slot_text,
)
from dialgauge.values import Pair, Profile, profile_named

#: The share of filled slots from which values are told that only another profile reads.
_SPELLED = 0.005
#: The share of a slot's values that gold never has from which gold spells them in another way.
_MOSTLY = 0.8
#: What a slot has where the user does not care, and in how many slots a word must stand that may mean it.
_ANYTHING, _SEVERAL_SLOTS = "dontcare", 3
_DIGIT = re.compile("[0-9]")
#: What programs write for what gold calls yes and no.
_YES_NO = {"true": "yes", "false": "no"}
#: Of values that a program changed: how much more often than unchanged ones they are predicted, and how many differ.
_RATHER, _DIFFERENT = 4, 3
#: What stands between alternatives.
_BETWEEN = "|"
_ARTICLE = re.compile(r"^(?:the|an|a) (?=.)")
_SIGNS = re.compile(r"[^\w]|_")
_LOST = {
    "their article": _ARTICLE,
    "their accents": re.compile(r"[^\x00-\x7f]"),
    "their signs": re.compile(r"[^\w\s:]"),
}
#: Slots whose values are names, which people spell in many ways.
_NAMES = ("name", "departure", "destination")


def absent_findings(evidence: GuardEvidence, profile: Profile) -> list[GuardFinding]:
    """A word that most predicted slots have and gold never has: it says that the slot is absent."""
    filled = evidence.predicted
    total = sum(filled.values())
    strange = evidence.absent_words
    if total < FEW or not strange:
        return []
    kept: Counter[Pair] = Counter()
    fills: Counter[Pair] = Counter()
    for (domain, slot, values), count in filled.items():
        fills[domain, slot] += count
        pair = profile.pair(domain, slot)
        if pair and len(values) == 1 and values[0] in strange and profile.normalise(pair, values, "predicted"):
            kept[domain, slot] += count
    mostly = any(count >= FEW and 2 * count > fills[slot] for slot, count in kept.items())
    surely = mostly or kept.total() > MANY * total
    if not surely and kept.total() < max(FEW, NOTABLE * total):
        return []
    shown = some_of([f"'{word[:40]}'" for word in sorted(strange)], LISTED)
    helps = ", or use a profile that knows the word (-p llm)" if all(map(means_absent, strange)) else ""
    message = (
        f"{shown} {'fills' if len(strange) == 1 else 'fill'} {kept.total():,} of {total:,} predicted slots, and gold "
        f"never has it: it seems to mean that the slot is absent; leave such slots out of the file{helps}"
    )
    return [GuardFinding(ABSENT, message, stops=surely)]


def boolean_findings(evidence: GuardEvidence, profile: Profile) -> list[GuardFinding]:
    """True and false in slots of gold, which has yes and no instead, where the profile tells them apart."""
    known = evidence.gold_values
    if not known.isdisjoint(_YES_NO) or known.isdisjoint(_YES_NO.values()):
        return []
    if not any(len(values) == 1 and values[0].lower() in _YES_NO for _, _, values in evidence.predicted):
        return []
    slots = {profile.pair(*name) for name in evidence.gold or ()} - {None}
    fills: Counter[Pair] = Counter()
    strange: Counter[Pair] = Counter()
    for (domain, slot, values), count in evidence.predicted.items():
        pair = profile.pair(domain, slot)
        if pair is None or pair not in slots:
            continue
        fills[pair] += count
        word = values[0].lower() if len(values) == 1 else ""
        if word in _YES_NO and not _reads_as(profile, pair, word, _YES_NO[word]):
            strange[pair] += count
    total = sum(evidence.predicted.values())
    if total < FEW or strange.total() < max(1, NOTABLE * total):
        return []
    llm = profile_named("llm")
    helps = all(_reads_as(llm, pair, *words) for pair in strange for words in _YES_NO.items())
    message = (
        f"true and false fill {strange.total():,} of {total:,} predicted slots "
        f"({some_of(sorted(map(slot_text, strange)), LISTED)}), where gold has yes and no; write yes and no in the file"
        f"{', or use a profile that reads them so (-p llm)' if helps else ''}"
    )
    return [GuardFinding(BOOLEANS, message, stops=any(2 * count > fills[pair] for pair, count in strange.items()))]


def _reads_as(profile: Profile, pair: Pair, word: str, gold: str) -> bool:
    """Are the predicted word and that of gold the same to the profile?"""
    meant = profile.normalise(pair, (gold,), "gold")
    return not set(meant).isdisjoint(profile.normalise(pair, (word,), "predicted"))


def spelling_findings(evidence: GuardEvidence, profile: Profile) -> list[GuardFinding]:
    """Values that gold never has in a slot: where they fill most of it, gold spells them in another way.

    Few are told where the profile for language models reads them as gold's (``any`` for dontcare), but for names, which
    gold itself spells in several ways. Trackers of MultiWOZ have up to 2% values that gold lacks, up to 26% in a slot.
    """
    known = _GoldWords(evidence, profile)
    total = sum(evidence.predicted.values())
    fills: Counter[Pair] = Counter()
    unlike: dict[Item, Pair] = {}
    unlike_fills: Counter[Pair] = Counter()
    for item, count in evidence.predicted.items():
        if (pair := profile.pair(*item[:2])) is None:
            continue
        fills[pair] += count
        if len(item[2]) == 1 and item[2][0].lower() not in known.words(pair):
            unlike[item] = pair
            unlike_fills[pair] += count
    variants = _variant_findings(evidence, unlike, known)
    # Whatever a profile makes of them, only these can be told.
    telling = {pair for pair, count in unlike_fills.items() if 2 * count > fills[pair]}
    others = {pair: count for pair, count in unlike_fills.items() if pair[1] not in _NAMES}
    if sum(others.values()) >= max(FEW, _SPELLED * total):
        telling.update(others)
    if not telling:
        return variants
    unseen = {item: pair for item, pair in unlike.items() if pair in telling and not known.has(pair, item[2])}
    llm, absent, joined = profile_named("llm"), evidence.absent_words, _joined(evidence, unseen)
    strange: dict[Pair, Counter[str]] = {}
    read: Counter[Pair] = Counter()
    for item, pair in unseen.items():
        domain, slot, values = item
        if values[0].lower() in _YES_NO or values[0] in absent or item in joined:  # another guard tells it
            continue
        count = evidence.predicted[item]
        strange.setdefault(pair, Counter())[values[0]] += count
        if (named := llm.pair(domain, slot)) and known.has(pair, llm.normalise(named, values, "predicted")):
            read[pair] += count
    mostly = {
        pair
        for pair, words in strange.items()
        if min(fills[pair], known.fills[pair]) >= 2 * FEW and words.total() >= _MOSTLY * fills[pair]
    }
    reworded = {pair for pair, count in read.items() if count >= FEW and 2 * count > fills[pair]}
    odd = mostly | reworded
    stops = {pair for pair in odd if pair[1] not in _NAMES}  # a small gold lacks names that are right elsewhere
    told = odd or {pair for pair in read if pair[1] not in _NAMES}
    often = sum(strange[pair].total() if odd else read[pair] for pair in told)
    if often < max(FEW, _SPELLED * total):
        return variants
    words = Counter({(pair, word): count for pair in told for word, count in strange[pair].items()})
    shown = [f"{slot_text(pair)} '{word[:40]}'" for pair, word in sorted(words, key=lambda each: (-words[each], each))]
    helps = 2 * sum(read[pair] for pair in told) > often
    first = min(told, key=lambda pair: (-strange[pair].total(), pair))
    instead = some_of([repr(word[:40]) for word in sorted(known.words(first))], 2)
    sentence = (
        f"gold never has {often:,} of {counted(total, 'predicted value')}: {some_of(shown, 3)}; gold has {instead} in "
        f"{slot_text(first)}; {'' if stops else 'where they are spelled otherwise, '}write values as gold does"
        f"{', or use a profile that reads them (-p llm)' if helps else ''}"
    )
    return [GuardFinding(SPELLINGS, sentence, stops=bool(stops))]


def alternative_findings(evidence: GuardEvidence, profile: Profile) -> list[GuardFinding]:
    """Values such as ``centre|center``, of which gold has a part, and which the profile does not know."""
    likely = [item for item in evidence.predicted if len(item[2]) == 1 and _BETWEEN in item[2][0]]
    known = _GoldWords(evidence, profile) if likely else None
    wrong: dict[Item, int] = {}
    for item in likely if known else ():
        pair, parts = profile.pair(*item[:2]), [part.strip() for part in item[2][0].split(_BETWEEN)]
        if known and pair and not known.has(pair, item[2]) and known.has(pair, [part for part in parts if part]):
            wrong[item] = evidence.predicted[item]
    often, total = sum(wrong.values()), sum(evidence.predicted.values())
    if often < max(FEW, _SPELLED * total):
        return []
    domain, slot, values = _most(wrong)
    sentence = (
        f"{often:,} of {counted(total, 'predicted value')} hold alternatives, of which gold has one, such as "
        f"{domain}-{slot} '{values[0][:40]}', and are wrong under this profile; write one value, as gold does"
    )
    return [GuardFinding(SPELLINGS, sentence)]


def anything_findings(evidence: GuardEvidence, profile: Profile) -> list[GuardFinding]:
    """A word of several slots that gold never has, where gold has dontcare in them and no prediction does."""
    gold = {slot for (_, slot), words in evidence.gold_words.items() if _ANYTHING in words}.difference(_NAMES)
    if len(gold) < _SEVERAL_SLOTS or any(values == (_ANYTHING,) for _, _, values in evidence.predicted):
        return []
    filled: dict[str, Counter[Pair]] = {}
    for (domain, slot, values), count in evidence.predicted.items():
        if len(values) == 1 and values[0].lower() not in _YES_NO and not _DIGIT.search(values[0]):
            filled.setdefault(values[0], Counter())[domain, slot] += count
    strange = {
        word: slots
        for word, slots in filled.items()
        if len({slot for _, slot in slots}.difference(_NAMES)) >= _SEVERAL_SLOTS
        and slots.total() >= FEW
        and not {word, word.lower()} & {*evidence.gold_values, *evidence.absent_words}
    }
    known = _GoldWords(evidence, profile) if strange else None
    pairs = {word: [pair for name in slots if (pair := profile.pair(*name))] for word, slots in strange.items()}
    if known:
        strange = {word: strange[word] for word in strange if not any(known.has(pair, (word,)) for pair in pairs[word])}
    if not strange:
        return []
    word = max(strange, key=lambda each: strange[each].total())
    names = some_of([slot_text(pair) for pair, _ in strange[word].most_common()], 3)
    sentence = (
        f"{strange[word].total():,} values of {names} are '{word[:40]}', which gold never has, and no prediction is "
        "dontcare, which gold has: if that is what is meant, write dontcare"
    )
    return [GuardFinding(SPELLINGS, sentence)]


def _variant_findings(evidence: GuardEvidence, unlike: Mapping[Item, Pair], known: _GoldWords) -> list[GuardFinding]:
    """Values that are gold's but for an article, accents or signs, which no prediction has: then a program
    took them away. Trackers that write them in another way themselves do so in up to 1.5% of the values, and add them
    as well."""
    total = sum(evidence.predicted.values())
    if sum(evidence.predicted[item] for item in unlike) < max(FEW, _SPELLED * total):
        return []
    by_skeleton: dict[Pair, dict[str, str]] = {}
    found: dict[str, dict[Item, str]] = {}
    for item, pair in unlike.items():
        if pair not in by_skeleton:
            by_skeleton[pair] = {_skeleton(word): word for word in sorted(known.words(pair))}
        meant = by_skeleton[pair].get(_skeleton(item[2][0]))
        lost = "" if meant is None else _lost(item[2][0].lower(), meant)
        if meant and lost:
            found.setdefault(lost, {})[item] = meant
    findings = []
    for lost, likely in found.items():
        if sum(evidence.predicted[item] for item in likely) < max(FEW, _SPELLED * total):
            continue  # a look at what the profile makes of them takes longer
        items = {item: meant for item, meant in likely.items() if not known.has(unlike[item], item[2])}
        often = sum(evidence.predicted[item] for item in items)
        if often < max(FEW, _SPELLED * total) or len({*items.values()}) < _DIFFERENT:
            continue
        kept = sum(evidence.predicted.get(item, 0) for item in {(*item[:2], (meant,)) for item, meant in items.items()})
        if often < _RATHER * kept:
            continue
        item = _most({item: evidence.predicted[item] for item in items})
        sentence = (
            f"{often:,} of {counted(total, 'predicted value')} are gold's without {lost}, such as "
            f"{slot_text(item[:2])} '{item[2][0][:40]}' for '{items[item][:40]}', and wrong under this profile; write "
            "values as gold does"
        )
        findings.append(GuardFinding(SPELLINGS, sentence))
    return findings


def _lost(predicted: str, gold: str) -> str:
    """What a value lacks of a gold one with the same skeleton; empty where it lacks nothing."""
    return next((what for what, sign in _LOST.items() if sign.search(gold) and not sign.search(predicted)), "")


@lru_cache(maxsize=1 << 15)
def _skeleton(value: str) -> str:
    """A value without what programs drop or add: case, accents, signs, spaces, an article."""
    plain = value.lower()
    if not plain.isascii():
        from unicodedata import combining, normalize

        plain = "".join(letter for letter in normalize("NFKD", plain) if not combining(letter))
    return _SIGNS.sub("", _ARTICLE.sub("", plain))


class _GoldWords:
    """The values that gold has in each slot, under the names and in the spelling of a profile."""

    def __init__(self, evidence: GuardEvidence, profile: Profile) -> None:
        self._profile = profile
        self._written: dict[Pair, set[str]] = {}
        self._spelled: dict[Pair, set[str]] = {}
        self.fills, _ = slot_fills(evidence.gold or {}, profile)
        for name, words in evidence.gold_words.items():
            if pair := profile.pair(*name):
                self._written.setdefault(pair, set()).update(words)

    def words(self, pair: Pair) -> set[str]:
        return self._written.get(pair, set())

    def has(self, pair: Pair, values: Sequence[str]) -> bool:
        """Has gold one of these values in the slot, or are they no values to the profile?"""
        written = self.words(pair)
        if not written.isdisjoint([value.lower() for value in values]):
            return True
        ours = self._profile.normalise(pair, tuple(values), "predicted")
        if pair not in self._spelled and ours:
            spelled = (self._profile.normalise(pair, (word,), "gold") for word in written)
            self._spelled[pair] = {word for words in spelled for word in words}
        return not ours or not self._spelled[pair].isdisjoint(ours)


def several_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """Slots with more than one predicted value, of which only the first counts."""
    filled = evidence.predicted
    several = {item: count for item, count in filled.items() if len(item[2]) > 1}
    if not several:
        return []
    domain, slot, values = _most(several)
    message = (
        f"{sum(several.values()):,} of {counted(sum(filled.values()), 'predicted slot')} have several values, such as "
        f"{domain}-{slot} = {some_of([repr(value[:40]) for value in values], 3)}; the first is scored"
    )
    return [GuardFinding(SEVERAL, message)]


def _most(items: dict[Item, int]) -> Item:
    """The most frequent, whatever the order in which the files were read."""
    return min(items, key=lambda item: (-items[item], item))


def _joined(evidence: GuardEvidence, items: Iterable[Item]) -> dict[Item, int]:
    """Values of the items that hold further slots, as where a text has nothing between them, or remarks.

    ``north hotel stars 4``: a slot with its domain; behind a gold value ``north stars 4``, ``north (he said)`` and
    ``north:0.93``.
    """
    pairs = [(re.escape(domain.lower()), re.escape(slot.lower())) for domain, slot in evidence.gold or ()]
    if not pairs:
        return {}
    named = re.compile(rf"\b(?:{'|'.join(sorted({f'{domain}[ -]{slot}' for domain, slot in pairs}))})\b")
    slots = "|".join(sorted({slot for _, slot in pairs}))
    behind = re.compile(rf"(\S.*?)(?:,? (?:\(|(?:{slots})[ :=]+\S)| ?[:|@(] ?[01]?\.[0-9]+\)?$)")

    def is_joined(value: str) -> bool:
        if value.isalnum() or value in evidence.gold_values:
            return False
        before = behind.match(value)
        return bool(named.search(value) or (before and before[1] in evidence.gold_values))

    return {
        item: evidence.predicted[item] for item in items if any(is_joined(value[:500].lower()) for value in item[2])
    }


def joined_findings(evidence: GuardEvidence) -> list[GuardFinding]:
    """Values that hold more than a value."""
    joined = _joined(evidence, evidence.predicted)
    often, total = sum(joined.values()), sum(evidence.predicted.values())
    if not joined or often < NOTABLE * total:
        return []
    domain, slot, values = _most(joined)
    message = (
        f"{often:,} of {counted(total, 'predicted value')} hold further slots or words, such as {domain}-{slot} = "
        f"'{values[0][:60]}'; write the value alone, as in hotel-area=north; hotel-stars=4"
    )
    return [GuardFinding(JOINED, message, stops=total >= FEW and often >= MANY * total)]
