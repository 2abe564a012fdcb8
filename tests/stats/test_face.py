from __future__ import annotations

import pkgutil

from dialgauge import engine, stats


def test_every_name_of_the_faces_is_there_and_no_module_hides_one() -> None:
    for face in (stats, engine):
        modules = {module.name for module in pkgutil.iter_modules(face.__path__)}
        assert not modules & set(face.__all__)
        for name in face.__all__:
            assert getattr(face, name) is not None
