"""Who takes part in a conversation: simulated users, rule bots, rankers, endpoints, people; and the session loop."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.act_agents import ActSystem as ActSystem, ActUser as ActUser
    from dialgauge.agents.agenda import AgendaUser as AgendaUser
    from dialgauge.agents.baseline_user import BaselineUser as BaselineUser
    from dialgauge.agents.channel import (
        ERROR_KINDS as ERROR_KINDS,
        SHIPPED as SHIPPED,
        Channel as Channel,
        ChannelRates as ChannelRates,
        Damage as Damage,
        kind_of as kind_of,
    )
    from dialgauge.agents.history_bots import (
        CallableBot as CallableBot,
        HistoryBot as HistoryBot,
        ModelBot as ModelBot,
    )
    from dialgauge.agents.http_agent import HttpBot as HttpBot
    from dialgauge.agents.keyboard import (
        RESTART as RESTART,
        KeyboardSystem as KeyboardSystem,
        KeyboardUser as KeyboardUser,
    )
    from dialgauge.agents.listening import (
        AnswerReader as AnswerReader,
        SystemListener as SystemListener,
        UserListener as UserListener,
    )
    from dialgauge.agents.protocol import (
        AGENT_ERROR as AGENT_ERROR,
        BROKEN_ENDS as BROKEN_ENDS,
        END_WORDS as END_WORDS,
        ENDPOINT_ERROR as ENDPOINT_ERROR,
        MAX_EXCHANGES as MAX_EXCHANGES,
        SYSTEM_QUIT as SYSTEM_QUIT,
        TIME_BUDGET as TIME_BUDGET,
        TOKEN_BUDGET as TOKEN_BUDGET,
        USER_DONE as USER_DONE,
        USER_GAVE_UP as USER_GAVE_UP,
        Agent as Agent,
        Database as Database,
        Environment as Environment,
        Level as Level,
        Limits as Limits,
        Overrulable as Overrulable,
        RandomStreams as RandomStreams,
        Reply as Reply,
        SystemContext as SystemContext,
        Usage as Usage,
        UserContext as UserContext,
    )
    from dialgauge.agents.registry import (
        BUILT_IN as BUILT_IN,
        LANGUAGE_MODELS as LANGUAGE_MODELS,
        RULE_AGENTS as RULE_AGENTS,
        agent_names as agent_names,
        converted_options as converted_options,
        deciding_options as deciding_options,
        make_agent as make_agent,
    )
    from dialgauge.agents.replier import AgentReplier as AgentReplier
    from dialgauge.agents.restaurant_bot import RuleBot as RuleBot
    from dialgauge.agents.restaurant_user import RestaurantUser as RestaurantUser
    from dialgauge.agents.rule_system import Belief as Belief, RuleSystem as RuleSystem
    from dialgauge.agents.rules import RuleAgent as RuleAgent, Rules as Rules
    from dialgauge.agents.session import (
        EXPLANATION as EXPLANATION,
        Scenario as Scenario,
        converse as converse,
    )
    from dialgauge.agents.vocabulary import ServiceWords as ServiceWords, Vocabulary as Vocabulary
    from dialgauge.agents.wording import Wording as Wording


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
