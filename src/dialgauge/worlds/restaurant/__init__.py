"""The restaurant world of the bAbI dialog tasks: knowledge base, phrases, what its users want."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.worlds.restaurant.dstc2 import (
        WELCOME as WELCOME,
        Dstc2Ontology as Dstc2Ontology,
        Lexicon as Lexicon,
        Venues as Venues,
        convert as convert,
        read_ontology as read_ontology,
        read_sessions as read_sessions,
        system_text as system_text,
        venues_of as venues_of,
    )
    from dialgauge.worlds.restaurant.goals import (
        HALF_OF as HALF_OF,
        SPLITS as SPLITS,
        TASKS as TASKS,
        Parameters as Parameters,
        PlannedAnswers as PlannedAnswers,
        Setting as Setting,
        UserPlan as UserPlan,
        draw_plan as draw_plan,
        prepare as prepare,
    )
    from dialgauge.worlds.restaurant.knowledge import (
        FactDatabase as FactDatabase,
        KnowledgeBase as KnowledgeBase,
        Restaurant as Restaurant,
        WorldLexicon as WorldLexicon,
        draw_knowledge_base as draw_knowledge_base,
        lexicon_of as lexicon_of,
        lexicon_of_world as lexicon_of_world,
        world_candidates as world_candidates,
    )
    from dialgauge.worlds.restaurant.world import (
        BUILT_IN as BUILT_IN,
        DEFAULT_WORLD as DEFAULT_WORLD,
        FIELDS as FIELDS,
        INFO as INFO,
        BotKind as BotKind,
        Half as Half,
        Heard as Heard,
        Phrases as Phrases,
        Request as Request,
        SimulatorWorld as SimulatorWorld,
        check_world as check_world,
        load_world as load_world,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
