"""A stage for a loop: a model's server on loopback, real tools, a real journal."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from callgate.agent import Agent, AgentOptions, Limits, Outcome
from callgate.calls import Effect, Entry, TurnAsked, TurnHeard
from callgate.gate import Gate, GateOptions, open_gate
from callgate.journal import Store, open_journal
from callgate.models import connect
from callgate.tools import Toolset
from tests.agent.speaking import SPECS, Script, scripted
from tests.models.loopback import Answer, Loopback, Received


@dataclass
class Desk:
    """Notes, the tools on them, and what was really done, in order."""

    notes: dict[str, str] = field(default_factory=lambda: {"a": "one", "b": "two"})
    done: list[str] = field(default_factory=list)
    begun: anyio.Event = field(default_factory=anyio.Event)

    def tools(self) -> Toolset:
        tools = Toolset("desk")
        tools.tool(Effect.READ)(self.read_note)
        tools.tool(Effect.READ)(self.list_notes)
        tools.tool(Effect.READ, polling=True)(self.get_progress)
        tools.tool(Effect.WRITE)(self.write_note)
        tools.tool(Effect.WRITE)(self.create_slowly)
        tools.tool(Effect.IRREVERSIBLE)(self.delete_note)
        return tools

    def read_note(self, title: str) -> str:
        """Read a note."""
        self.done.append(f"read {title}")
        return self.notes[title]

    def list_notes(self, label: str = "", attempt: int = 0) -> list[str]:
        """List the notes with a label."""
        self.done.append("list")
        return []

    def get_progress(self) -> str:
        """Say how far it is."""
        return "still running"

    def write_note(self, title: str, content: str) -> str:
        """Write a note."""
        self.done.append(f"write {title}")
        self.notes[title] = content
        return "written"

    async def create_slowly(self, title: str) -> str:
        """Create a note, slowly."""
        self.done.append(f"begin {title}")
        self.begun.set()
        await anyio.sleep(30)
        return "created"

    def delete_note(self, title: str) -> str:
        """Delete a note for ever."""
        self.done.append(f"delete {title}")
        del self.notes[title]
        return "deleted"


@dataclass
class Stage:
    """Everything a test may look at."""

    server: Loopback
    desk: Desk
    store: Store
    gate: Gate
    dialect: str

    def agent(
        self, limits: Limits | None = None, *, system: str = "", tools_for: Any = None, **options: Any
    ) -> Agent:
        spec = SPECS[self.dialect]
        model = connect(spec, base_url=self.server.url, api_key="k", attempts=2, backoff_seconds=0.01)
        return Agent(
            self.gate,
            model,
            limits=limits,
            system=system,
            tools_for=tools_for,
            options=AgentOptions(**{"pause_seconds": 0.01, **options}),
        )

    async def run(self, limits: Limits | None = None, **told: Any) -> Outcome:
        return await self.agent(limits, **told).run("Do it.", run="r")

    async def run_until_begun(self) -> None:
        """Cancel the loop while the slow tool runs."""
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:

                async def cancel() -> None:
                    await self.desk.begun.wait()
                    scope.cancel()

                tasks.start_soon(cancel)
                await self.run()

    async def entries(self, run: str = "r") -> list[Entry]:
        return [record.entry for record in await self.store.read(run)]

    async def asked(self) -> list[TurnAsked]:
        return [entry for entry in await self.entries() if isinstance(entry, TurnAsked)]

    async def heard(self) -> list[TurnHeard]:
        return [entry for entry in await self.entries() if isinstance(entry, TurnHeard)]


@asynccontextmanager
async def stage(
    script: Script | Callable[[Received], Answer],
    dialect: str = "openai-chat",
    options: GateOptions | None = None,
) -> AsyncIterator[Stage]:
    answer = script if callable(script) else scripted(dialect, script)
    desk, store = Desk(), await open_journal("memory:")
    with Loopback(answer) as server:
        async with open_gate(desk.tools(), journal=store, options=options) as gate:
            yield Stage(server, desk, store, gate, dialect)
    await store.close()
