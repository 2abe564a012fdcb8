"""The agents of the town: what they say, what they understand, and how they decide."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.town.nlg import STYLES, TemplateNlg, Utterance
    from dialgauge.agents.town.phrase_book import PhraseBook

__all__ = ["STYLES", "PhraseBook", "TemplateNlg", "Utterance"]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
