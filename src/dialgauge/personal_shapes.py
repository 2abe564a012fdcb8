"""What has a shape of its own in any text: e-mail addresses, keys, numbers of cards, accounts and phones.

A shape is an expression and, where that finds more, a check of what it found. Of an expression with a named group only
that group is personal: the words around it tell what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

#: Spaces and hyphens between digits, the ones that do not break too.
_SPACE = r" \u00a0\u2007\u2009\u202f"
_HYPHEN = r"\-\u2010\u2011\u2013"
_GAP = rf"[{_SPACE}{_HYPHEN}.]"
_DOT = r"(?:\.|[\[({] ?dot ?[\])}])"
_EMAIL = (
    r"(?<![\w.+-])[\w.+%&-]{1,64}(?:'[\w.+%&-]{1,64})?(?:[@＠]| [@＠] )"
    r"(?:[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}|localhost\b)"
    rf"|(?<![\w.+-])[\w.+-]{{1,64}} ?[\[({{] ?at ?[\])}}] ?[\w-]{{1,63}}(?: ?{_DOT} ?[\w-]{{2,63}}){{1,3}}"
    r"|(?<![\w.+-])[\w.+-]{1,64}(?: dot [\w.+-]{1,64}){0,3} at [\w-]{1,63}(?: dot [\w-]{2,63}){1,3}(?!\w)"
    r"|(?<![\w.+-])[\w.+-]{1,64} at (?:(?:g|hot|proton|fast)?mail|yahoo|outlook|icloud|gmx|aol|live|msn)"
    r"\.[a-z]{2,6}(?!\w)"
)
#: Keys by the beginnings that their makers give them.
_KEY = (
    r"(?<!\w)(?:(?:sk|pk|rk)[-_][\w-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}(?!\w)|gh[a-z]_\w{20,}|github_pat_\w{20,}"
    r"|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|AIza[\w-]{30,}|glpat-[\w-]{16,}"
    r"|(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/[\w/-]{20,}"
    r"|SG\.[\w-]{10,}\.[\w-]{10,}|whsec_[\w+/=]{10,}|ya29\.[\w-]{16,}"
    r"|[a-z]{2,10}[-_](?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}(?!\w)|hf_\w{16,}|[a-z]{2,10}_v\d_[0-9a-f]{32,}(?!\w))"
)
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{3,40}-----(?:(?:[^-]|-(?!----)){0,20000}-----END [A-Z0-9 ]{3,40}-----"
    r"|(?:\s{1,4}[A-Za-z0-9+/=]{20,200}){0,300})"
)
_LONG = (
    r"(?<![\w/+.-])(?:[0-9a-f]{32,}|[0-9A-F]{32,})(?![\w-])"
    r"|(?<![\w/+.-])(?=[A-Za-z_-]*\d)(?=[0-9_-]*[A-Za-z])[A-Za-z0-9_-]{40,}={0,2}(?![\w/+])"
    r"|(?<![\w/+.-])[A-Za-z0-9+/]{40,}={1,2}(?![\w/+=])"
)
#: A value behind the name of a secret: with a digit, in an assignment or, of a password, any word that says no state.
_OF_PASSWORDS = r"(?<![^\W_])(?:passw(?:or)?[dt]|pwd|passphrase|kennwort|mot de passe|contraseña|senha)\b"
_SECRET = (
    r"(?:(?<![^\W_])(?:(?:api|(?:shared)?access|private|secret|signing|license|account)[ _-]?key"
    r"|token|secret|passcode|bearer)\b"
    rf"|{_OF_PASSWORDS})[\"']?"
    r"(?:\s{0,9}=\s{0,9}[\"']?(?P<assigned>(?!\[)[^\s\"',;&]{4,})"
    r"|(?:\s{1,9}(?:is|ist|lautet|est|es|é)\b:?\s{0,9}|'s\s{1,9}|\s{0,9}:\s{0,9}|\s{1,9})[\"']?(?P<value>(?!\[)(?=[^\s\"',;]*\d)[^\s\"',;]{3,}[^\s\"',;.:?)]))"
)
_PASSWORD_WORD = (
    rf"{_OF_PASSWORDS}[\"']?(?:\s{{1,9}}(?:is|lautet)\b:?\s{{0,9}}|\s{{0,9}}:\s{{0,9}})[\"']?(?!\[|\w+(?:ed|en|ing|ly)\b)"
    r"(?!(?:incorrect|correct|invalid|secret|private|unknown|strong|(?:in)?secure|different|please|always|really)\b)"
    r"(?P<value>[^\s\"',;]{5,}[^\s\"',;.:?)])"
)
_AUTHORIZATION = (
    r"\bauthorization[\"']?\s{0,9}[:=]\s{0,9}[\"']?(?:[a-z]+ )?(?P<value>[^\s\"',;\[]{8,})"
    r"|\b(?:session(?:[_-]?id)?|sid|cookie)=(?P<session>[^\s\"',;&\[]{8,})"
)
_ONE_TIME = (
    r"\b(?:pin|cvv|cvc|otp|(?:one[- ]time|verification|security|access|authentication|sms|login) (?:code|pin))\b"
    r"(?: (?:code|number))?(?:\s{1,9}is\b)?\s{0,9}(?:[:=#]\s{0,9})?[\"']?(?P<value>\d{3,8})(?![\w-])"
)
#: Card numbers have a check digit; with dots only in the groups in which they are printed.
_CARD = (
    rf"(?<![\w.-])[2-68](?:[{_SPACE}{_HYPHEN}]?\d){{12,18}}(?![\w-])"
    r"|(?<![\w.-])[2-68]\d{3}(?:(?:\.\d{4}){3}|\.\d{6}\.\d{5})(?![\w-])"
)
#: The last digits of a card, as people tell them.
_CARD_END = (
    r"\b(?:end(?:s|ing)(?: in| with)|last (?:four|4)(?: digits)?(?: are| is|:)?) (?P<value>\d{4})(?!\w)"
    r"|(?:[*xX\u2022]{4}[ -]?){1,3}(?P<starred>\d{4})(?!\w)"
    r"|(?<![\w$.,-])(?P<before>\d{4})(?= (?:credit |debit )?card\b)"
)
_SSN = r"(?<![\w-])(?!000|666|9)\d{3}-\d{2}-\d{4}(?![\w-])"
_IBAN = rf"(?<!\w)[A-Z]{{2}}\d\d(?:[{_SPACE}]?[A-Z0-9]{{4}}){{2,7}}(?:[{_SPACE}]?[A-Z0-9]{{1,3}})?(?!\w)"
_PHONE = (
    rf"(?<![\d+])\+\d(?:(?:{_GAP}|[()/]){{0,3}}\d){{7,14}}(?!\w)"
    rf"|(?<!\w)(?:1{_GAP})?\(\d{{2,5}}\){_GAP}?\d{{3,8}}(?:{_GAP}\d{{2,5}}){{0,3}}(?!\w)"
    rf"|(?<![\w-])(?:1{_GAP})?\d{{3}}(?:{_GAP}|/)\d{{3}}{_GAP}\d{{4}}(?![\w-])|(?<![\w-])[2-9]\d\d{_GAP}[2-9]\d{{6}}(?![\w-])"
    rf"|(?<![\w.,:/#-])0\d{{1,5}}(?:(?:{_GAP}|/){{1,3}}\d{{2,8}}){{1,5}}(?![\w-]|[:/]\d)"
)
#: Ten digits as North America numbers its phones, or behind a zero as others do.
_BARE_PHONE = r"(?<![\w.,$/#-])(?:1?[2-9]\d\d[2-9]\d{6}|0[1-9]\d{8,9})(?![\w-]|[.,]\d)"
_NAMED_PHONE = (
    r"\b(?:(?:tele)?phone|tel|mobile|cell|fax|whats ?app|sms|call|ring|dial|text me|reach (?:me|him|her|us))\b[ .:=]*"
    r"(?:(?:number|no|me|us|him|her|back|on|at|is|under|my|line|home|work)\b[ .:=]*){0,4}"
    rf"(?P<value>\(?\d(?:(?:{_GAP}|[()/]){{0,2}}\d){{6,13}})(?![\w-]|[:/]\d)"
)


class PersonalShape(NamedTuple):
    """An expression for values of a kind, and a check of what it found."""

    kind: str
    pattern: re.Pattern[str]
    fits: Callable[[str], bool] = bool
    #: Whether ids of things look the same.
    like_ids: bool = False


def _digits(written: str) -> list[int]:
    return [int(letter) for letter in written if letter.isdigit()]


def _is_card(written: str) -> bool:
    """Whether a number has the check digit of card numbers (Luhn)."""
    digits = _digits(written)
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(written: str) -> bool:
    """Whether a number has the check digits of bank accounts (ISO 13616)."""
    plain = re.sub(r"\s", "", written)
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


def _is_random(written: str) -> bool:
    """Whether letters and digits stand in one long piece, as they do in no name that people give."""
    return any(
        len(piece) >= _PIECE and re.search(r"\d", piece) and re.search(r"[A-Za-z]", piece)
        for piece in re.split(r"[-_]", written)
    )


def _has_digits_of_a_phone(written: str) -> bool:
    return _FEWEST_DIGITS <= len(_digits(written)) <= _MOST_DIGITS and not _DATE.match(written)


_PIECE = 20
_FEWEST_DIGITS, _MOST_DIGITS = 9, 15
_DATE = re.compile(r"(?:19|20)\d\d(\D)\d{1,2}\1\d{1,2}(?!\d)|\d{1,2}(\D)\d{1,2}\2(?:19|20)\d\d(?!\d)")

#: Shapes that may hold a value known otherwise: they are looked for first.
OUTER = (
    PersonalShape("key", re.compile(_PEM)),
    PersonalShape("key", re.compile(_KEY)),
    PersonalShape("key", re.compile(_SECRET, re.IGNORECASE)),
    PersonalShape("key", re.compile(_PASSWORD_WORD, re.IGNORECASE)),
    PersonalShape("key", re.compile(_AUTHORIZATION, re.IGNORECASE)),
    PersonalShape("e-mail", re.compile(_EMAIL, re.IGNORECASE)),
)
#: The others, in the order in which they are looked for: all have digits.
INNER = (
    PersonalShape("key", re.compile(_LONG), _is_random, like_ids=True),
    PersonalShape("key", re.compile(_ONE_TIME, re.IGNORECASE)),
    PersonalShape("payment", re.compile(_IBAN), _is_iban),
    PersonalShape("card", re.compile(_CARD), _is_card),
    PersonalShape("card", re.compile(_CARD_END, re.IGNORECASE)),
    PersonalShape("id number", re.compile(_SSN)),
    PersonalShape("phone", re.compile(_PHONE), _has_digits_of_a_phone),
    PersonalShape("phone", re.compile(_BARE_PHONE), like_ids=True),
    PersonalShape("phone", re.compile(_NAMED_PHONE, re.IGNORECASE), lambda written: not _DATE.match(written)),
)
