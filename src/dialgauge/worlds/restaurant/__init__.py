"""The restaurant world of the bAbI dialog tasks: knowledge base, phrases, what its users want."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.restaurant.database import FactDatabase, PlannedAnswers
    from dialgauge.worlds.restaurant.dstc2 import (
        WELCOME,
        Dstc2Ontology,
        Lexicon,
        Venues,
        convert,
        read_ontology,
        read_sessions,
        system_text,
        venues_mentioned,
        venues_of,
    )
    from dialgauge.worlds.restaurant.goals import HALF_OF, SPLITS, Setting, UserPlan, draw_plan, prepare
    from dialgauge.worlds.restaurant.knowledge import (
        KnowledgeBase,
        WorldLexicon,
        draw_knowledge_base,
        knowledge_base_of,
        lexicon_of,
        lexicon_of_world,
        world_candidates,
    )
    from dialgauge.worlds.restaurant.phrases import FIELDS, INFO, BotKind, Heard, Phrases
    from dialgauge.worlds.restaurant.world import DEFAULT_WORLD, TASKS, Half, Parameters, Range, Request, SimulatorWorld
    from dialgauge.worlds.restaurant.world_file import check_world, load_world

__all__ = [
    "DEFAULT_WORLD",
    "FIELDS",
    "HALF_OF",
    "INFO",
    "SPLITS",
    "TASKS",
    "WELCOME",
    "BotKind",
    "Dstc2Ontology",
    "FactDatabase",
    "Half",
    "Heard",
    "KnowledgeBase",
    "Lexicon",
    "Parameters",
    "Phrases",
    "PlannedAnswers",
    "Range",
    "Request",
    "Setting",
    "SimulatorWorld",
    "UserPlan",
    "Venues",
    "WorldLexicon",
    "check_world",
    "convert",
    "draw_knowledge_base",
    "draw_plan",
    "knowledge_base_of",
    "lexicon_of",
    "lexicon_of_world",
    "load_world",
    "prepare",
    "read_ontology",
    "read_sessions",
    "system_text",
    "venues_mentioned",
    "venues_of",
    "world_candidates",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
