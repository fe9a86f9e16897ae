"""A process that does a task and kills itself at a chosen append to the journal.

In: lines of JSON on standard input, one a run. Out: for each a line: the signal that ended it, negative, or
how often it appended. A run that is to die is a fork of this process; one that is not, and so the first one,
is done in the process itself, which warms up everything that the forks need.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from callgate.agent import Agent, Outcome
from callgate.calls import Effect, Entry
from callgate.errors import UnknownRunError
from callgate.gate import open_gate
from callgate.journal import Lease, Store, open_journal
from callgate.models import connect
from callgate.tools import Context, Toolset
from callgate.workspace import workspace_tools
from tests.agent.speaking import SPECS

RUN = "r1"
TASK = "Raise the version."


@dataclass(frozen=True)
class Order:
    """What to run where, and before or after which append, counted from 1, to die; 0 for never."""

    folder: str
    url: str
    dialect: str
    append: int = 0
    before: bool = True


class Deadly:
    """A store that kills the process at one append."""

    def __init__(self, store: Store, order: Order) -> None:
        self._store = store
        self._order = order
        self.appends = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, lease: Lease, entries: Sequence[Entry]) -> None:
        self.appends += 1
        if self.appends == self._order.append and self._order.before:
            os.kill(os.getpid(), signal.SIGKILL)
        await self._store.append(lease, entries)
        if self.appends == self._order.append:
            os.kill(os.getpid(), signal.SIGKILL)


def tools_for(folder: Path) -> Toolset:
    """The tools on files, which can tell after a crash what they did, and one that can't."""
    tools = workspace_tools()

    @tools.tool(Effect.WRITE)
    def append_line(line: str, ctx: Context) -> str:
        """Append a line to the log."""
        with (folder / "log").open("a", encoding="utf-8") as log:
            log.write(f"{ctx.key} {line}\n")
        return "appended"

    return tools


async def work(order: Order) -> tuple[Outcome, int]:
    """Do the task, or go on with it."""
    folder = Path(order.folder)
    store = Deadly(await open_journal(f"sqlite:{folder / 'run.db'}"), order)
    async with open_gate(tools_for(folder), folder / "files", journal=store) as gate:
        agent = Agent(gate, connect(SPECS[order.dialect], base_url=order.url, api_key="k"))
        try:
            outcome = await agent.resume(RUN)
        except UnknownRunError:
            outcome = await agent.run(TASK, run=RUN)
    await store.close()
    return outcome, store.appends


def main() -> None:
    for line in sys.stdin:
        order = Order(**json.loads(line))
        if not order.append:
            ended = anyio.run(work, order)[1]
            for thread in set(threading.enumerate()) - {threading.main_thread()}:
                thread.join(10)  # a fork would lose it
        elif child := os.fork():
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        else:
            os._exit(anyio.run(work, order)[1])
        print(ended, flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
