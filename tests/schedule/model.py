"""What a schedule must do, said in the plainest way: every pair of calls is compared, every time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from callgate.calls import Access, CallKey, Mode

EARLIER: Final = "EARLIER_STOPPED"
PREDECESSOR: Final = "PREDECESSOR_FAILED"


def overlap(one: str, other: str) -> bool:
    """Whether a resource equals, contains or lies in another, by their texts."""
    if "*" in {one, other} or one == other:
        return True
    shorter, longer = sorted((one.rstrip("/"), other.rstrip("/")), key=len)
    return longer == shorter or longer.startswith(shorter + "/")


def clash(one: tuple[Access, ...], other: tuple[Access, ...]) -> bool:
    """Whether two calls conflict."""
    return any(Mode.WRITE in {a.mode, b.mode} and overlap(a.resource, b.resource) for a in one for b in other)


@dataclass(slots=True)
class Call:
    """A call as the model keeps it."""

    key: CallKey
    accesses: tuple[Access, ...]
    serial: bool
    held: bool
    running: bool = False

    @property
    def writes(self) -> bool:
        return any(access.mode is Mode.WRITE for access in self.accesses)


@dataclass(slots=True)
class Model:
    """Calls that are not over, in call order."""

    rows_writes: bool
    calls: list[Call] = field(default_factory=list)

    def __getitem__(self, key: CallKey) -> Call:
        return next(call for call in self.calls if call.key == key)

    def in_row(self, call: Call) -> bool:
        return call.serial or (self.rows_writes and call.writes)

    def is_blocked(self, call: Call) -> bool:
        """Whether something earlier is in the way, or a person must decide."""
        earlier = self.calls[: self.calls.index(call)]
        return call.held or any(
            clash(call.accesses, other.accesses) or (self.in_row(call) and self.in_row(other))
            for other in earlier
        )

    def start(self) -> list[CallKey]:
        """Start what may start."""
        ready = [call for call in self.calls if not call.running and not self.is_blocked(call)]
        for call in ready:
            call.running = True
        return [call.key for call in ready]

    def end(self, key: CallKey, *, ok: bool, stop: bool) -> dict[CallKey, tuple[str, bool]]:
        """End a call; code and heldness of each call that is skipped, in call order."""
        place = self.calls.index(self[key])
        ended, later = self.calls[place], self.calls[place + 1 :]
        codes: dict[CallKey, str] = {}
        if stop:
            codes = {c.key: EARLIER for c in later if c.serial and c.key[:3] == key[:3]}
        lost = [call for call in later if call.key in codes] + ([] if ok else [ended])
        while lost:
            cause = lost.pop()
            for call in self.calls[self.calls.index(cause) + 1 :]:
                if call.key not in codes and clash(call.accesses, cause.accesses):
                    codes[call.key] = PREDECESSOR
                    lost.append(call)
        skipped = {call.key: (codes[call.key], call.held) for call in later if call.key in codes}
        self.calls = [call for call in self.calls if call.key != key and call.key not in skipped]
        return skipped
