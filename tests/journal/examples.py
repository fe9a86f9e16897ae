"""One entry of each kind, with every field set, and what draws many more."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from callgate.calls import (
    Access,
    Admitted,
    ApprovalAsked,
    AttemptKind,
    CallKey,
    CallKind,
    CancelRequested,
    Decided,
    Effect,
    Entry,
    Finding,
    Finish,
    FrozenDict,
    FrozenList,
    LostSight,
    Mode,
    Offered,
    Raised,
    Range,
    Reconciled,
    Refused,
    Returned,
    RunEnded,
    RunStarted,
    ServerCall,
    Started,
    StreamFault,
    ToolCall,
    TurnAsked,
    TurnHeard,
    Usage,
    freeze,
)
from tests.strategies import json_objects, json_values, texts

KEY: Final = CallKey("näht/1", 2, 1, 3)
FINDING: Final = Finding("WRONG_TYPE", "/path", "a string", "Write it as text.")
CONTENT: Final = freeze(
    {"id": 2**70, "rate": 1.0, "small": -0.0, "nested": [[], {}, [None, True, "\u2028 \x00"]]}
)
CALL: Final = ToolCall(
    "write_file",
    FrozenDict(path="资料/说明.md", lines=FrozenList([1, FrozenDict(a=None)])),
    '{"path": "资料/说明.md", "lines": [1, {"a": null}]}',
    "call_1",
    KEY,
    complete=False,
    fault=FINDING,
    kind=CallKind.CUSTOM,
    digest="d1",
)

EVERY: Final[tuple[Entry, ...]] = (
    RunStarted("näht/1", 1.25, "Fix the tests.", "You are careful.", "p1", "serial"),
    TurnAsked(
        "näht/1",
        2,
        1,
        AttemptKind.RESENT,
        "gpt-5.1",
        "openai-chat",
        2.0,
        FrozenDict(temperature=0.0, stop=FrozenList(["x"])),
        (Offered("read_file", "f1"), Offered("write_file", "f2")),
        1200,
        310,
        "callgate",
        "m1",
    ),
    TurnHeard(
        "näht/1",
        2,
        1,
        3.0,
        Finish.TOOL_CALLS,
        "t1",
        "Now I write.",
        (CALL,),
        "TURN_CUT",
        "no end came",
        "tool_calls",
        Usage(10, 20, 5, 3, "callgate"),
        possibly_truncated=True,
        faults=(StreamFault("BAD_EVENT", "odd", "e9", retryable=True, fatal=False),),
        refusal="no",
        server_calls=(ServerCall("web_search", "ws_1", '{"q": 1}'),),
        kept=FrozenList([FrozenDict(type="reasoning", id="rs_1")]),
        response_id="resp_1",
        dialect="openai-chat",
        body_digest="b1",
        body=b"data: \xff\x00\n\n",
    ),
    Admitted(
        KEY,
        4.0,
        "d1",
        "f2",
        Effect.WRITE,
        idempotent=True,
        accesses=(Access("file:/资料/说明.md", Mode.WRITE), Access("*", Mode.READ)),
        serial=True,
        held=True,
    ),
    Refused(KEY, 5.0, (FINDING, Finding("FORBIDDEN"))),
    ApprovalAsked(KEY, 6.0, "d1", ("it deletes", "it sends"), 60.5),
    Decided(
        KEY, 7.0, "d1", approved=True, by="ada", reason="fine", code="APPROVAL_DENIED", findings=(FINDING,)
    ),
    Started(KEY, 8.0, "cg_0123", 4, 2),
    Returned(
        KEY,
        9.0,
        CONTENT,
        20000,
        "file:/a",
        "v8",
        Range(1, 40, "lines", 90),
        trusted=True,
        late=True,
        note="RESULT_UNREADABLE",
        kept=CONTENT,
    ),
    Raised(KEY, 10.0, "TOOL_ERROR", "no such row", "Traceback …", "ev_1", FrozenDict(row=7), late=True),
    LostSight(KEY, 11.0, "TIMED_OUT", "after 30 s", "ev_2"),
    Reconciled(
        KEY,
        12.0,
        happened=True,
        by="ada",
        content=CONTENT,
        note="seen in the mailbox",
        limit=300,
        resource="file:/a",
        version="v8",
        kept=CONTENT,
    ),
    CancelRequested("näht/1", 13.0, "ada", KEY),
    RunEnded("näht/1", 14.0, "done", "All is well."),
)

keys: Final = st.builds(CallKey, texts, *[st.integers(0, 9)] * 3)
moments: Final = st.floats(0, 2e9)
halves: Final = st.one_of(texts, st.text(st.characters(categories=["Cs", "L"]), max_size=4))
"""Text that may hold half of a surrogate pair, as providers send it."""

entries: Final[st.SearchStrategy[Entry]] = st.one_of(
    st.builds(RunStarted, texts, moments, halves),
    st.builds(Started, keys, moments, texts),
    st.builds(Returned, keys, moments, json_values.map(freeze), resource=texts),
    st.builds(Reconciled, keys, moments, st.booleans(), texts, json_values.map(freeze)),
    st.builds(Raised, keys, moments, texts, halves, facts=json_objects.map(freeze)),
    st.builds(
        TurnHeard,
        texts,
        st.integers(0, 5),
        st.integers(0, 5),
        moments,
        st.sampled_from(Finish),
        texts,
        halves,
        st.lists(st.builds(ToolCall, texts, json_objects.map(freeze), halves, key=keys), max_size=2).map(
            tuple
        ),
        kept=json_values.map(lambda value: freeze([value])),
        body=st.binary(max_size=9),
    ),
)
