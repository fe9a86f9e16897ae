"""The durable record: entries chained by digests, who may write them, and what people decided."""

from ._chain import GENESIS, follow
from ._codec import FORMAT, decode_entry, encode_entry
from ._folds import open_questions
from ._memory import MemoryStore
from ._open import open_journal
from ._port import Decision, Fault, Inbox, Journal, Lease, Leases, Record, RunInfo, Store
from ._sqlite import SqliteStore

__all__ = [
    "FORMAT",
    "GENESIS",
    "Decision",
    "Fault",
    "Inbox",
    "Journal",
    "Lease",
    "Leases",
    "MemoryStore",
    "Record",
    "RunInfo",
    "SqliteStore",
    "Store",
    "decode_entry",
    "encode_entry",
    "follow",
    "open_journal",
    "open_questions",
]
