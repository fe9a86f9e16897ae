"""Who holds a lease: a name that tells a living process from a dead one on the same machine.

After ``kill -9`` nobody gives the lease back; a restart on the same host need not wait for it to end when
it can see that the holder is no more. Of a holder on another host nothing is known, and the lease decides.
"""

from __future__ import annotations

import itertools
import os
import socket
from pathlib import Path
from typing import Final

_COUNT: Final = itertools.count(1)
_STARTED_FIELD: Final = 19
"""Place of ``starttime`` behind the command name in /proc/PID/stat (proc(5), field 22)."""


def new_holder() -> str:
    """A name for one gate of this process: host, process id, when that started, and a number."""
    return f"{socket.gethostname()}/{os.getpid()}/{_started_at(os.getpid())}/{next(_COUNT)}"


def is_dead(holder: str) -> bool:
    """Whether a holder was a process of this host that is no more; False where that cannot be known."""
    host, process, started, *_ = [*holder.split("/"), "", "", ""]
    if host != socket.gethostname() or not process.isdigit():
        return False
    return _started_at(int(process)) != started


def _started_at(process: int) -> str:
    """When a process started, in the kernel's clock ticks; "" when it is no more."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return _without_proc(process)
    return told.rpartition(")")[2].split()[_STARTED_FIELD]


def _without_proc(process: int) -> str:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        return "alive"
    return "alive"
