"""Text from anywhere, made safe for where it is printed: a terminal, Markdown or LaTeX."""

from __future__ import annotations

import re

from dialgauge.text import plain

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&])")

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "…": r"\ldots{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "Δ": r"$\Delta$",
    "²": r"$^{2}$",
}


def markdown(text: str) -> str:
    """The text with every character escaped that Markdown would act upon.

    >>> markdown("a|b_c*")
    'a\\\\|b\\\\_c\\\\*'
    """
    return _MARKDOWN.sub(r"\\\1", plain(text))


def latex(text: str) -> str:
    """The text with every character escaped that LaTeX would act upon.

    >>> latex("50% of R&D_1")
    '50\\\\% of R\\\\&D\\\\_1'
    """
    return "".join(_LATEX.get(character, character) for character in plain(text))
