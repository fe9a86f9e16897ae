"""``callgate journal``: read the record, check its chain, answer what waits for a person.

A run that another process holds is read all the same; an answer goes into the inbox, and the holder takes
it from there.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
import typer
from msgspec.structs import asdict
from rich.table import Table
from rich.text import Text

from callgate.calls import CallKey, Entry, Returned, TurnHeard
from callgate.gate import PendingApproval, replay
from callgate.journal import Decision, Store, open_journal
from callgate.workspace import Workspace, restore

from ._board import short
from ._exits import Exit
from ._screen import plain, plainly, print_json, screen, stop, whole

journal = typer.Typer(
    help="Read the record, check its chain, answer what waits for a person.", no_args_is_help=True
)

Path_ = Annotated[Path, typer.Option("--journal", help="The journal's file.", envvar="CALLGATE_JOURNAL")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of words.")]
By = Annotated[str, typer.Option(help="Who decides; it stands in the record.", envvar="USER")]
Why = Annotated[str, typer.Option(help="Why; the model is told a no's reason.")]
Key = Annotated[
    str, typer.Argument(help="The call, as journal waiting prints it: run/turn.attempt.position.")
]
DEFAULT = Path("callgate.db")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a person said."""

    approved: bool
    by: str
    reason: str


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Store]:
    """The journal in a file, closed afterwards."""
    store = await open_journal(f"sqlite:{path}")
    try:
        yield store
    finally:
        await store.close()


def _with(path: Path, ask: Callable[[Store], Awaitable[T]]) -> T:
    async def asked() -> T:
        async with opened(path) as store:
            return await ask(store)

    if not path.exists():  # a file that is not there would be made
        stop(f"there is no journal at {str(path)!r}; name one with --journal", Exit.USAGE)
    with plainly():
        return anyio.run(asked)


@journal.command("list")
def list_runs(path: Path_ = DEFAULT, as_json: Json = False) -> None:
    """List the runs, the one written last first."""
    runs = _with(path, lambda store: store.runs())
    if as_json:
        print_json(runs)
        return
    table = Table("run", "entries", "last", "ended", "held by", box=None)
    for run in runs:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.last_at))
        ended = plain(run.ended) or "goes on"
        table.add_row(plain(run.run), str(run.entries), when, ended, plain(run.holder))
    screen.print(table)


@journal.command()
def show(
    run: Annotated[str, typer.Argument(help="The run.")],
    evidence: Annotated[str, typer.Option(help="Show only what stands under this evidence id, whole.")] = "",
    path: Path_ = DEFAULT,
    as_json: Json = False,
) -> None:
    """Show the entries of a run, or the details behind an evidence id."""
    records = _with(path, lambda store: store.read(run))
    if not records:
        stop(f"the journal has no run {run!r}", Exit.USAGE)
    if evidence:
        records = [record for record in records if getattr(record.entry, "evidence", "") == evidence]
        if not records:
            stop(f"nothing stands under evidence id {evidence!r}", Exit.USAGE)
    if as_json:
        print_json(
            [
                {"sequence": record.sequence, "digest": record.digest, **_fields(record.entry)}
                for record in records
            ]
        )
        return
    for record in records:
        entry = record.entry
        when = time.strftime("%H:%M:%S", time.localtime(entry.at))
        shown = {
            name: value
            for name, value in _fields(entry).items()
            if name not in {"type", "at", "run", "key"} and value
        }
        where = str(getattr(entry, "key", "")) or getattr(entry, "run", "")
        text = "  ".join(f"{name}={value}" for name, value in shown.items())
        line = f"{record.sequence:>4} {when} {type(entry).__name__:<15} {where}  "
        screen.print(plain(line + (text if evidence else short(text, 160)), lines=bool(evidence)))


def _fields(entry: Entry) -> dict[str, Any]:
    return {"type": type(entry).__name__, **asdict(entry)}


@journal.command()
def bodies(
    run: Annotated[str, typer.Argument(help="The run.")],
    folder: Annotated[Path, typer.Argument(help="Where the files go; made if it is missing.")],
    path: Path_ = DEFAULT,
    as_json: Json = False,
) -> None:
    """Write the replies of a run as the bytes they came as, a file a turn: --model replay:FOLDER plays them.

    The journal has them where the run was done with --keep-bodies.
    """
    heard = [record.entry for record in _with(path, lambda store: store.read(run))]
    # Of several attempts at a turn the last one counts.
    kept = {entry.turn: entry.body for entry in heard if isinstance(entry, TurnHeard) and entry.body}
    if not kept:
        stop(f"the journal has no bodies of run {run!r}", Exit.USAGE)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{turn:04}.sse" for turn in kept]
    for file, body in zip(files, kept.values(), strict=True):
        file.write_bytes(body)
    if as_json:
        print_json([str(file) for file in files])
    else:
        screen.print(plain(f"{len(files)} replies in {folder}"))


@journal.command()
def verify(
    run: Annotated[str, typer.Argument(help="One run; all by default.")] = "",
    path: Path_ = DEFAULT,
    as_json: Json = False,
) -> None:
    """Check that no entry was edited, dropped or moved. Exit code 1 when one was."""
    faults = _with(path, lambda store: store.verify(run or None))
    if as_json:
        print_json(faults)
    elif not faults:
        screen.print("the chain is whole", style="green")
    for fault in () if as_json else faults:
        told = f"{fault.run} entry {fault.sequence}: {fault.code} - {fault.why}"
        screen.print(plain(told), style="red")
    raise typer.Exit(Exit.NOT_DONE if faults else Exit.OK)


@journal.command()
def waiting(path: Path_ = DEFAULT, as_json: Json = False) -> None:
    """List the calls that wait for a person, whole."""
    found = _with(path, _waiting)
    if as_json:
        print_json(
            [
                {"key": str(one.key), "digest": one.digest, "reasons": one.reasons, "call": one.call}
                for one in found
            ]
        )
        return
    for one in found:
        screen.print(Text.assemble((plain(str(one.key)), "bold"), f"  {whole(one.call)}"))
        screen.print(plain(f"    because {'; '.join(one.reasons)}"), style="dim")
    if not found:
        screen.print("nothing waits")


async def _waiting(store: Store) -> list[PendingApproval]:
    """What waits in each run with open questions; a question whose call was skipped since waits no more."""
    runs = dict.fromkeys(asked.key.run for asked in await store.waiting(None))
    found: list[PendingApproval] = []
    for run in runs:
        found.extend(replay(run, [record.entry for record in await store.read(run)]).pending)
    return found


@journal.command()
def approve(
    key: Key, by: By = "somebody", reason: Why = "", path: Path_ = DEFAULT, as_json: Json = False
) -> None:
    """Allow one waiting call, exactly as it was shown."""
    _decide(path, key, Answer(approved=True, by=by, reason=reason), as_json=as_json)


@journal.command()
def deny(
    key: Key, by: By = "somebody", reason: Why = "", path: Path_ = DEFAULT, as_json: Json = False
) -> None:
    """Refuse one waiting call; the model is told, with the reason."""
    _decide(path, key, Answer(approved=False, by=by, reason=reason), as_json=as_json)


def _decide(path: Path, text: str, answer: Answer, *, as_json: bool) -> None:
    async def ask(store: Store) -> str:
        key = CallKey.parse(text)
        digests = {asked.key: asked.digest for asked in await store.waiting(key.run)}
        if key not in digests:
            return "it does not wait: decided already, or never asked"
        decision = Decision(key, digests[key], answer.approved, answer.by, answer.reason, time.time())
        return "" if await store.post(decision) else "it was decided already"

    problem = _with(path, ask)
    if problem:
        stop(f"{text}: {problem}", Exit.NOT_DONE)
    word = "approved" if answer.approved else "denied"
    if as_json:
        print_json({"key": text, "decision": word, "by": answer.by})
    else:
        told = f"{text} {word}; whoever holds the run takes it from here, or: callgate run --resume"
        screen.print(plain(told))


@journal.command("restore")
def put_back(
    key: Key,
    workspace: Annotated[Path, typer.Option(help="The folder it was deleted from.")],
    path: Path_ = DEFAULT,
    as_json: Json = False,
) -> None:
    """Put back a file that delete_file deleted, from what the journal kept."""

    async def ask(store: Store) -> list[Returned]:
        wanted = CallKey.parse(key)
        entries = [record.entry for record in await store.read(wanted.run)]
        return [
            entry for entry in entries if isinstance(entry, Returned) and entry.key == wanted and entry.kept
        ]

    found = _with(path, ask)
    if not found:
        stop(f"nothing was kept for {key}", Exit.NOT_DONE)
    resource, kept = found[-1].resource, found[-1].kept
    relative = resource.removeprefix("file:/")
    with plainly():
        restore(Workspace(workspace), relative, kept)
    if as_json:
        print_json({"key": key, "path": relative})
    else:
        screen.print(plain(f"{relative} is back"))
