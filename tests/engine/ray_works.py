"""Work that ends its worker; and the command line that does it, for drivers that are killed."""

from __future__ import annotations

import ctypes
import resource
import sys
from pathlib import Path

from dialgauge.engine import Unit, WorkPlace, run
from dialgauge.errors import DialgaugeError
from engine.works import Folder, Orders, units_of


class DeadlyOrders(Orders):
    """Orders that may also end the worker, by a fault or by taking all memory."""

    def do(self, state: str, unit: Unit[str]) -> bytes:
        content = super().do(state, unit)
        if unit.payload == "segfault":
            ctypes.string_at(0)
        elif unit.payload == "hog":
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))
            content += bytes(64 << 30)
        return content


def main(address: str, out: str, *payloads: str) -> None:
    """Do the units on a cluster, ``here`` on one of its own, or ``alone``; each is stored, and all are in ``out``."""
    place = {"here": WorkPlace("ray", 2), "alone": WorkPlace("local")}.get(address, WorkPlace("ray", 2, address))
    done = list(run(DeadlyOrders(Path.cwd()), units_of(*payloads), workers=place, done=Folder(Path("stored"))))
    if any(one.failure for one in done):
        sys.exit("; ".join(one.failure or "" for one in done))
    Path(out).write_bytes(b"\n".join(one.content or b"" for one in done))


if __name__ == "__main__":
    from engine.ray_works import main as command  # workers find the work under this name, not in __main__

    try:
        command(*sys.argv[1:])
    except DialgaugeError as error:  # as the command line does; Ray itself ends a process with 1
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
