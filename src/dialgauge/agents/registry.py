"""Agents by name: our own, those of other packages (entry points ``dialgauge.agents``), and classes of the user's."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from dialgauge import plugins
from dialgauge.agents.class_loader import is_class_name, load_class
from dialgauge.agents.llm.settings import FETCHING, LOCAL
from dialgauge.agents.protocol import Agent
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import without_secrets

#: What makes each agent: a class or a function whose keyword parameters are its options.
BUILT_IN = {
    "agenda": "dialgauge.agents.town.pipeline:agenda",
    "agenda-baseline": "dialgauge.agents.town.pipeline:agenda_baseline",
    "corpus-system": "dialgauge.agents.town.corpus_agents:corpus_system",
    "corpus-user": "dialgauge.agents.town.corpus_agents:corpus_user",
    "echo": "dialgauge.agents.town.corpus_agents:Echo",
    "http": "dialgauge.agents.history_bots:HttpBot",
    "llm-system": "dialgauge.agents.llm.language_system:llm_system",
    "llm-user": "dialgauge.agents.llm.language_user:llm_user",
    "restaurant-user": "dialgauge.agents.restaurant_user:restaurant_user",
    "rule-baseline": "dialgauge.agents.town.pipeline:rule_baseline",
    "rule-system": "dialgauge.agents.town.pipeline:rule_system",
    "rules": "dialgauge.agents.rules:RuleAgent",
    "silent": "dialgauge.agents.town.corpus_agents:Silent",
}


#: Agents that reach out, with the settings that change how, and never what is said: no part of a signature.
_REACHING_OUT = {
    "http": frozenset({"timeout"}),
    "llm-system": FETCHING,
    "llm-user": FETCHING,
}
_YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def deciding_options(name: str, options: Mapping[str, str]) -> dict[str, str]:
    """The settings that decide what an agent says, without what may be secret in an address."""
    reaching = _REACHING_OUT.get(name)
    if reaching is None:
        return dict(options)
    return {
        option: without_secrets(text) if option == "url" else text
        for option, text in options.items()
        if option not in reaching or (option, text) == ("endpoint", LOCAL)
    }


def agent_names() -> list[str]:
    """The names of all agents, in alphabetical order."""
    return plugins.names(plugins.AGENTS, BUILT_IN)


def make_agent(name: str, options: Mapping[str, str] | None = None) -> Agent:
    """A new agent of that name; an unknown name or option is an error with the nearest ones."""
    factory: Callable[..., Any] = (
        load_class(name) if is_class_name(name) else plugins.load(plugins.AGENTS, name, Callable, BUILT_IN)  # type: ignore[arg-type]
    )
    converted = converted_options(name, factory, options or {})
    try:
        agent = factory(**converted)
    except DialgaugeError:
        raise
    except (Exception, SystemExit) as error:
        raise DialgaugeError(f"the agent {name} cannot be made: {type(error).__name__}: {error}") from error
    if is_class_name(name) and not hasattr(agent, "name"):
        agent.name = name.rpartition(":")[2]
    if not isinstance(agent, Agent):
        raise DialgaugeError(
            f"'{name}' is not an agent: {type(agent).__name__} lacks name, start(context) or respond(turn)"
        )
    return agent


def converted_options(name: str, factory: Callable[..., Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Settings as texts made what a factory takes; one that it does not take, or cannot, is an error."""
    _check_options(name, factory, options)
    return {option: _converted(name, factory, option, text) for option, text in options.items()}


def _check_options(name: str, factory: Callable[..., Any], given: Mapping[str, str]) -> None:
    try:
        parameters = inspect.signature(factory).parameters
    except (TypeError, ValueError):  # some callables do not say what they take
        return
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    unknown = next((option for option in given if option not in parameters), None)
    if unknown is not None:
        raise DialgaugeError(f"there is no setting '{unknown}' of {name}.{nearest(unknown, parameters)}")
    missing = [
        parameter.name
        for parameter in parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind is not parameter.VAR_POSITIONAL
        and parameter.name not in given
    ]
    if missing:
        raise DialgaugeError(
            f"the agent {name} needs the setting {missing[0]}; give it with --set {missing[0]}=… "
            "(in the lab --user-set or --system-set)"
        )


def _converted(name: str, factory: Callable[..., Any], option: str, text: str) -> Any:
    """A setting as the kind of thing that its default is: a number, yes or no, or the text itself."""
    try:
        default = inspect.signature(factory).parameters[option].default
    except (KeyError, TypeError, ValueError):
        return text
    if isinstance(default, bool):
        if text.lower() not in _YES_NO:
            raise DialgaugeError(f"the setting {option} of {name} must be yes or no (got '{text}')")
        return _YES_NO[text.lower()]
    if not isinstance(default, int | float):
        return text
    try:
        number = type(default)(text)
    except (ValueError, OverflowError):
        number = None
    if number is None or not math.isfinite(number):
        kind = "whole number" if isinstance(default, int) else "number"
        raise DialgaugeError(f"the setting {option} of {name} must be a {kind} (got '{text}')")
    return number
