"""One suite for every store: what a journal, its leases and its inbox promise."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from callgate.calls import (
    AttemptKind,
    CancelRequested,
    Decided,
    Entry,
    Refused,
    RunEnded,
    RunStarted,
    TurnAsked,
)
from callgate.errors import JournalUnavailableError, LeaseHeldError, LeaseLostError, UnknownRunError
from callgate.journal import GENESIS, Decision, Lease, Record, Store, encode_entry, open_journal
from tests.journal.examples import EVERY, KEY
from tests.journal.stores import (
    KINDS,
    NOW,
    address,
    asked,
    decided,
    decision,
    entries_of,
    key,
    opened,
    started,
)

pytestmark = pytest.mark.anyio


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path, anyio_backend: str) -> AsyncIterator[Store]:
    async with opened(address(request.param, tmp_path)) as it:
        yield it


async def held(store: Store, run: str = "r", holder: str = "me") -> Lease:
    return await store.acquire(run, holder, 30, NOW)


# ---------------------------------------------------------------- the record


async def test_every_kind_of_entry_is_read_as_it_was_appended(store: Store) -> None:
    lease = await held(store, KEY.run)
    await store.append(lease, EVERY)
    assert await entries_of(store, KEY.run) == list(EVERY)


async def test_the_record_is_in_the_order_of_the_appends(store: Store) -> None:
    lease = await held(store)
    for first in range(0, 12, 3):
        await store.append(lease, started("r", first, first + 1, first + 2))
    records = await store.read("r")
    assert [record.entry for record in records] == started("r", *range(12))
    assert [record.sequence for record in records] == list(range(12))
    assert await store.read("r", 7) == records[7:]
    assert await store.read("r", 1) == records[1:]
    assert await store.read("r", 12) == []


async def test_digests_chain_each_entry_to_all_before_it(store: Store) -> None:
    lease = await held(store)
    entries = started("r", 0, 1, 2)
    await store.append(lease, entries)
    digest = hashlib.sha256(GENESIS + b"r").digest()
    for record, entry in zip(await store.read("r"), entries, strict=True):
        digest = hashlib.sha256(digest + encode_entry(entry)).digest()
        assert record.digest == digest.hex()


async def test_the_same_entries_in_another_run_have_other_digests(store: Store) -> None:
    digests = set()
    for run in ("a", "b"):
        lease = await held(store, run)
        await store.append(lease, [RunStarted("r", NOW)])
        digests.add((await store.read(run))[0].digest)
    assert len(digests) == 2


async def test_runs_do_not_mix(store: Store) -> None:
    one, other = await held(store, "a"), await held(store, "b")
    for position in range(3):
        await store.append(one, started("a", position))
        await store.append(other, started("b", position))
    for run in ("a", "b"):
        assert await entries_of(store, run) == started(run, 0, 1, 2)
    assert await store.verify() == []


async def test_a_run_that_is_not_there_is_empty(store: Store) -> None:
    assert await store.read("r") == []
    assert await store.verify("r") == []
    assert await store.take("r") == []
    assert await store.waiting("r") == []
    assert await store.runs() == []


async def test_an_append_of_nothing_checks_the_lease_all_the_same(store: Store) -> None:
    lease = await held(store)
    await store.append(lease, [])
    await store.release(lease)
    with pytest.raises(LeaseLostError):
        await store.append(lease, [])
    assert await store.runs() == []


async def test_runs_are_listed_with_the_last_written_first(store: Store) -> None:
    leases = {run: await held(store, run) for run in ("a", "b", "c")}
    for run, moment in (("b", 1.0), ("a", 2.0), ("b", 3.0)):
        await store.append(leases[run], [RunStarted(run, moment)])
    listed = await store.runs()
    assert [(info.run, info.entries, info.first_at, info.last_at) for info in listed] == [
        ("b", 2, 1.0, 3.0),
        ("a", 1, 2.0, 2.0),
    ]
    assert {(info.holder, info.until) for info in listed} == {("me", NOW + 30)}


async def test_a_listed_run_tells_how_it_ended_until_it_goes_on(store: Store) -> None:
    lease = await held(store)
    await store.append(lease, [RunStarted("r", 1.0), RunEnded("r", 2.0, "done")])
    await store.append(lease, started("r", 0))
    assert [info.ended for info in await store.runs()] == ["done"]
    await store.append(lease, [TurnAsked("r", 1, 0, AttemptKind.FIRST, "m", "d", 3.0)])
    assert [info.ended for info in await store.runs()] == [""]


async def test_a_closed_journal_refuses_to_be_written_and_closes_twice(store: Store) -> None:
    lease = await held(store)
    await store.close()
    with pytest.raises(JournalUnavailableError):
        await store.append(lease, started("r", 0))
    with pytest.raises(JournalUnavailableError):
        await held(store)
    await store.close()


# ---------------------------------------------------------------- leases


async def test_a_run_has_one_holder(store: Store) -> None:
    await held(store, holder="me")
    with pytest.raises(LeaseHeldError) as caught:
        await store.acquire("r", "you", 30, NOW + 29.9)
    assert caught.value.facts == {"run": "r", "holder": "me", "until": NOW + 30}


async def test_a_lease_that_ran_out_is_taken_and_the_old_holder_can_write_no_more(store: Store) -> None:
    mine = await held(store)
    yours = await store.acquire("r", "you", 30, NOW + 30)
    assert yours.fence > mine.fence
    for entries in (started("r", 0), []):
        with pytest.raises(LeaseLostError):
            await store.append(mine, entries)
    with pytest.raises(LeaseLostError):
        await store.renew(mine, 30, NOW)
    await store.append(yours, started("r", 1))
    assert await entries_of(store, "r") == started("r", 1)


async def test_a_lease_that_ran_out_holds_until_another_takes_the_run(store: Store) -> None:
    mine = await store.acquire("r", "me", 1, NOW)
    await store.append(mine, started("r", 0))
    renewed = await store.renew(mine, 30, NOW + 100)
    assert (renewed.fence, renewed.until) == (mine.fence, NOW + 130)
    with pytest.raises(LeaseHeldError):
        await store.acquire("r", "you", 30, NOW + 129)


async def test_a_run_is_taken_from_a_holder_that_is_gone_and_from_no_other(store: Store) -> None:
    mine = await held(store)
    with pytest.raises(LeaseHeldError):
        await store.acquire("r", "you", 30, NOW, takes_over="someone")
    yours = await store.acquire("r", "you", 30, NOW, takes_over="me")
    assert yours.fence > mine.fence


async def test_the_holder_itself_takes_its_run_anew_under_a_new_fence(store: Store) -> None:
    first = await held(store)
    second = await held(store)
    assert second.fence > first.fence
    with pytest.raises(LeaseLostError):
        await store.append(first, started("r", 0))


async def test_a_lease_given_back_is_void_and_the_run_is_free(store: Store) -> None:
    mine = await held(store)
    await store.release(mine)
    with pytest.raises(LeaseLostError):
        await store.append(mine, started("r", 0))
    yours = await store.acquire("r", "you", 30, NOW)
    await store.release(mine)
    await store.append(yours, started("r", 0))


async def test_fences_only_grow(store: Store) -> None:
    fences = []
    for turn in range(4):
        lease = await store.acquire("r", f"h{turn}", 0, NOW)
        fences.append(lease.fence)
        if turn % 2:
            await store.release(lease)
    assert fences == sorted(set(fences))


async def test_a_lease_of_one_run_is_none_of_another(store: Store) -> None:
    lease = await held(store, "a")
    await held(store, "b")
    for run in ("b", "never"):
        with pytest.raises(LeaseLostError):
            await store.append(Lease(run, "me", lease.fence + 1, lease.until), started(run, 0))


# ---------------------------------------------------------------- the inbox


async def test_a_decision_waits_until_its_entry_confirms_it(store: Store) -> None:
    """R077: what a person said is neither lost nor taken twice, whenever the process dies."""
    lease = await held(store)
    await store.append(lease, [asked("r", 0), asked("r", 1)])
    assert await store.waiting("r") == [asked("r", 0), asked("r", 1)]
    assert await store.post(decision("r", 1))
    assert await store.post(decision("r", 0))
    for _ in range(2):
        assert await store.take("r") == [decision("r", 1), decision("r", 0)]
    await store.append(lease, [decided("r", 1)])
    assert await store.take("r") == [decision("r", 0)]
    assert await store.waiting() == [asked("r", 0)]
    await store.append(lease, [decided("r", 0)])
    assert (await store.take("r"), await store.waiting()) == ([], [])


async def test_the_second_answer_is_told_that_it_is_late(store: Store) -> None:
    """R077: answer yes, answer yes again."""
    lease = await held(store)
    await store.append(lease, [asked("r")])
    assert await store.post(decision("r"))
    assert not await store.post(decision("r", approved=False, by="bob"))
    assert await store.take("r") == [decision("r")]
    await store.append(lease, [decided("r")])
    assert not await store.post(decision("r", by="bob"))
    assert await store.take("r") == []


async def test_an_answer_to_another_digest_stands_in_nobodys_way(store: Store) -> None:
    lease = await held(store)
    await store.append(lease, [asked("r")])
    stale = Decision(key("r"), "another", approved=True, by="bob", reason="", at=NOW)
    assert await store.post(stale)
    assert await store.post(decision("r"))
    assert await store.take("r") == [stale, decision("r")]


async def test_a_call_that_waits_for_nobody_is_not_answered(store: Store) -> None:
    lease = await held(store)
    await store.append(lease, [asked("r", 0), asked("r", 1), asked("r", 2)])
    for position in range(3):
        assert await store.post(decision("r", position))
    await store.append(lease, [Refused(key("r", 0), NOW, ())])
    assert await store.waiting("r") == [asked("r", 1), asked("r", 2)]
    await store.append(lease, [CancelRequested("r", NOW, key=key("r", 2))])
    assert await store.take("r") == [decision("r", 1)]
    await store.append(lease, [CancelRequested("r", NOW)])
    assert (await store.take("r"), await store.waiting("r")) == ([], [])
    for position in range(4):
        assert not await store.post(decision("r", position))


async def test_a_decision_about_no_run_is_an_error(store: Store) -> None:
    with pytest.raises(UnknownRunError):
        await store.post(decision("never"))


async def test_questions_of_all_runs_are_listed(store: Store) -> None:
    for run in ("a", "b"):
        await store.append(await held(store, run), [asked(run, 1), asked(run, 0)])
    assert await store.waiting() == [asked("a", 1), asked("a", 0), asked("b", 1), asked("b", 0)]
    assert await store.waiting("b") == [asked("b", 1), asked("b", 0)]


async def test_a_call_asked_about_again_can_be_answered_again(store: Store) -> None:
    lease = await held(store)
    for _ in range(2):
        await store.append(lease, [asked("r")])
        assert await store.post(decision("r"))
        await store.append(lease, [decided("r")])
    assert await store.take("r") == []


async def test_odd_names_of_runs_are_kept_apart(store: Store) -> None:
    names = [
        "",
        "a",
        "A",
        "a ",
        "ä",
        "a\u0308",
        "a\x00b",
        "a\x00c",
        "*",
        "%",
        "'; DROP TABLE runs; --",
        "资料",
    ]
    for run in names:
        await store.append(await held(store, run), [RunStarted(run, NOW)])
    assert {info.run for info in await store.runs()} == set(names)
    for run in names:
        assert await entries_of(store, run) == [RunStarted(run, NOW)]


# ---------------------------------------------------------------- all of it, at random

RUNS = ["a", "b"]
runs = st.sampled_from(RUNS)
positions = st.integers(0, 2)


class _Run:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.inbox: list[Decision] = []
        self.fence, self.holder, self.until = 0, "", 0.0
        self.leases: list[Lease] = []

    def waiting(self) -> list[Any]:
        open_: dict[Any, Entry] = {}
        for entry in self.entries:
            if isinstance(entry, Decided):
                open_.pop(entry.key, None)
            elif entry == asked(entry.key.run, entry.key.position):  # type: ignore[union-attr] # all have a key
                open_[entry.key] = entry
        return list(open_.values())


class StoreMachine(RuleBasedStateMachine):
    """Appends, leases, decisions and restarts in random order; what is read is what the model holds."""

    kind = "memory"

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.store: Store = self.do(open_journal(self.address))
        self.model = {run: _Run() for run in RUNS}
        self.now = NOW

    @property
    def address(self) -> str:
        return address(self.kind, Path(self.folder.name))

    def do(self, work: Any) -> Any:
        return self.loop.run(work)

    @rule(run=runs, holder=st.sampled_from("xy"), takes_over=st.sampled_from(["", "", "x", "y"]))
    def acquire(self, run: str, holder: str, takes_over: str) -> None:
        kept = self.model[run]
        may = kept.holder in {"", holder, takes_over} or kept.until <= self.now
        try:
            lease = self.do(self.store.acquire(run, holder, 10, self.now, takes_over=takes_over))
        except LeaseHeldError:
            assert not may
            return
        assert may
        assert lease.fence > kept.fence
        kept.fence, kept.holder, kept.until = lease.fence, holder, self.now + 10
        kept.leases.append(lease)

    def lease(self, data: st.DataObject, run: str) -> Lease | None:
        leases = self.model[run].leases
        return data.draw(st.sampled_from(leases[-2:])) if leases else None

    @rule(run=runs, data=st.data(), count=st.integers(1, 3))
    def append(self, run: str, data: st.DataObject, count: int) -> None:
        lease, kept = self.lease(data, run), self.model[run]
        if lease is None:
            return
        make = st.one_of(*[st.builds(made, st.just(run), positions) for made in (asked, decided)])
        entries = data.draw(st.lists(make, min_size=count, max_size=count))
        try:
            self.do(self.store.append(lease, entries))
        except LeaseLostError:
            assert lease.fence != kept.fence
            return
        assert lease.fence == kept.fence
        kept.entries += entries
        if any(isinstance(entry, Decided) for entry in entries):
            waiting = {entry.key for entry in kept.waiting()}
            kept.inbox = [one for one in kept.inbox if one.key in waiting]

    @rule(run=runs, data=st.data())
    def release(self, run: str, data: st.DataObject) -> None:
        lease, kept = self.lease(data, run), self.model[run]
        if lease is None:
            return
        self.do(self.store.release(lease))
        if lease.fence == kept.fence:
            # What fence is next is the store's business; that this one is void is not.
            kept.fence, kept.holder, kept.until = kept.fence + 0.5, "", 0.0  # type: ignore[assignment] # between two

    @rule(run=runs, data=st.data())
    def renew(self, run: str, data: st.DataObject) -> None:
        lease, kept = self.lease(data, run), self.model[run]
        if lease is None:
            return
        try:
            renewed = self.do(self.store.renew(lease, 10, self.now))
        except LeaseLostError:
            assert lease.fence != kept.fence
            return
        assert (renewed.fence, renewed.until) == (kept.fence, self.now + 10)
        kept.until = self.now + 10

    @rule(seconds=st.sampled_from([1.0, 10.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(run=runs, position=positions, approved=st.booleans())
    def post(self, run: str, position: int, approved: bool) -> None:
        kept, one = self.model[run], decision(run, position, approved=approved)
        if not kept.leases:
            with pytest.raises(UnknownRunError):
                self.do(self.store.post(one))
            return
        fresh = any(entry.key == one.key for entry in kept.waiting()) and all(
            other.key != one.key for other in kept.inbox
        )
        assert self.do(self.store.post(one)) == fresh
        if fresh:
            kept.inbox.append(one)

    @precondition(lambda self: self.kind != "memory")
    @rule()
    def restart(self) -> None:
        self.do(self.store.close())
        self.store = self.do(open_journal(self.address))

    @rule(run=runs, start=st.integers(0, 6))
    def read(self, run: str, start: int) -> None:
        kept = self.model[run]
        records: list[Record] = self.do(self.store.read(run, start))
        assert [record.entry for record in records] == kept.entries[start:]
        assert [record.sequence for record in records] == list(range(start, start + len(records)))
        assert self.do(self.store.take(run)) == kept.inbox
        assert self.do(self.store.waiting(run)) == kept.waiting()

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        for run in RUNS:
            self.read(run, 0)
        assert self.do(self.store.verify()) == []
        listed = {info.run: info.entries for info in self.do(self.store.runs())}
        assert listed == {run: len(kept.entries) for run, kept in self.model.items() if kept.entries}
        self.do(self.store.close())
        self.loop.close()
        self.folder.cleanup()


class SqliteMachine(StoreMachine):
    """The same on a file, closed and opened again in between."""

    kind = "sqlite"


TestMemory = StoreMachine.TestCase
TestMemory.settings = settings(stateful_step_count=30)
TestSqlite = SqliteMachine.TestCase
TestSqlite.settings = settings(
    max_examples=15, stateful_step_count=30, suppress_health_check=[HealthCheck.too_slow]
)
