"""An agent from a class of the user's: ``module:Class`` or ``file.py:Class``. Naming one runs its code."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from dialgauge.errors import DialgaugeError, nearest


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
