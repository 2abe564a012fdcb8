"""Agents by name: our own, those of other packages (entry points ``dialgauge.agents``), and classes of the user's."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from dialgauge import plugins
from dialgauge.agents.llm.settings import FETCHING, LOCAL
from dialgauge.agents.protocol import Agent
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import without_secrets

#: What makes each agent: a class or a function whose keyword parameters are its options.
BUILT_IN = {
    "agenda": "dialgauge.agents.act_agents:agenda",
    "agenda-baseline": "dialgauge.agents.act_agents:agenda_baseline",
    "corpus-system": "dialgauge.agents.stand_ins:corpus_system",
    "corpus-user": "dialgauge.agents.stand_ins:corpus_user",
    "echo": "dialgauge.agents.stand_ins:Echo",
    "http": "dialgauge.agents.http_agent:HttpBot",
    "llm-system": "dialgauge.agents.llm.language_agents:llm_system",
    "llm-user": "dialgauge.agents.llm.language_agents:llm_user",
    "restaurant-user": "dialgauge.agents.restaurant_user:restaurant_user",
    "rule-baseline": "dialgauge.agents.act_agents:rule_baseline",
    "rule-system": "dialgauge.agents.act_agents:rule_system",
    "rules": "dialgauge.agents.rules:RuleAgent",
    "silent": "dialgauge.agents.stand_ins:Silent",
}
#: Agents of ours that go by rules, and so hear through a channel; and those that are language models.
RULE_AGENTS = frozenset({"agenda", "agenda-baseline", "rule-system", "rule-baseline"})
LANGUAGE_MODELS = ("llm-system", "llm-user")
#: Agents that reach out, with the settings that change how, and never what is said: no part of a signature.
_REACHING_OUT = {
    "http": frozenset({"timeout"}),
    **dict.fromkeys(LANGUAGE_MODELS, FETCHING),
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


# An agent from a class of the user's: ``module:Class`` or ``file.py:Class``. Naming one runs its code.


def is_class_name(name: str) -> bool:
    """Is a class meant, and not the name of an agent?"""
    return ":" in name


def load_class(name: str) -> Callable[..., Any]:
    """The class or function that a name means; what it cannot be loaded for is told in a sentence."""
    source, _, attribute = name.rpartition(":")
    if not source or not attribute:
        raise DialgaugeError(f"'{name}' names no agent; write module:Class or file.py:Class")
    module = _from_file(Path(source)) if source.endswith(".py") else _imported(source)
    content = getattr(module, attribute, None)
    if content is None:
        known = [key for key, value in vars(module).items() if inspect.isclass(value) and not key.startswith("_")]
        raise DialgaugeError(f"there is no '{attribute}' in {source}.{nearest(attribute, known)}")
    if not callable(content):
        raise DialgaugeError(f"'{attribute}' in {source} is {type(content).__name__}, neither a class nor a function")
    made: Callable[..., Any] = content
    return made


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise DialgaugeError("there is no such file with an agent", file=str(path))
    called = f"dialgauge_agent_{path.stem}"
    spec = util.spec_from_file_location(called, path)
    if spec is None or spec.loader is None:
        raise DialgaugeError("it cannot be read as Python", file=str(path))
    module = util.module_from_spec(spec)
    sys.modules[called] = module  # dataclasses and pickles look their module up
    # Its neighbours may be imported, as when Python runs the file.
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        _run(lambda: spec.loader.exec_module(module), str(path))  # type: ignore[union-attr]
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _imported(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise DialgaugeError(f"'{name}' is neither a module nor a file that ends in .py")
    module: list[ModuleType] = []
    _run(lambda: module.append(import_module(name)), name)
    return module[0]


def _run(load: Callable[[], object], source: str) -> None:
    try:
        load()
    except ModuleNotFoundError as error:
        raise DialgaugeError(f"{source} cannot be loaded: there is no module '{error.name}'") from error
    except SyntaxError as error:
        raise DialgaugeError(f"{source} is not valid Python: {error.msg}", file=source, line=error.lineno) from error
    except (Exception, SystemExit) as error:
        raise DialgaugeError(f"{source} cannot be loaded: {type(error).__name__}: {error}") from error
