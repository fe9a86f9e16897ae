"""The local model as a caller of tools.

In: a request in words, and the tools on offer. Out: the bytes of one JSON object, as they are decoded: a call
``{"tool": …, "arguments": …}`` or an answer ``{"text": …}``, then a line break, the form that the dialect
``json-mode`` reads. Promise: deterministic; the model alone decides what stands in the arguments; a stream
that ran out of tokens, or that the model broke off, has no line break at its end and says why in ``finish``.

The tool is routed, not decoded: the one under whose description and examples the request is most probable
(a noisy channel, Min et al. 2022, arXiv:2108.04106), because a small model judges a text better than it
chooses a name.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from callgate.calls import Finish, ToolDefinition
from callgate.errors import ModelError
from callgate.wire import wire_name

from ._engine import Engine
from ._gguf import Floats
from ._prompt import ARGUMENTS, NO_TOOL, REQUEST, Message, chat_ids, one_line, tool_part
from ._write import Copying, ObjectScan, constants, openers

# What was read of more parts than this is forgotten: a part of 250 tokens takes 12 MB.
_PARTS_KEPT = 32


@dataclass(frozen=True, slots=True)
class CallerOptions:
    """How the local model is asked.

    Args:
        call_tokens: At most this many tokens of arguments.
        answer_tokens: At most this many tokens of an answer in words.
        examples: At most this many examples of each tool are shown; their count is memory and time.
        no_tool_bias: Added to the log probability (in nats) of the request needing no tool. 4 was the best of
            -8 to 8 on 32 development requests.
        copy_bias: How strongly string arguments prefer what the request says, in logits; 0 turns it off.
            3 gave 21 of 24 development calls exactly right, 0 gave 17.
    """

    call_tokens: int = 256
    answer_tokens: int = 120
    examples: int = 6
    no_tool_bias: float = 4.0
    copy_bias: float = 3.0


@dataclass(slots=True)
class Proposal:
    """What the model says, decoded while it is iterated over.

    ``scores`` are the log probabilities of the request under each tool offered and, under None, under no
    tool. ``finish`` is None until the end is reached. ``completion_tokens`` are those that it wrote.
    """

    tool: str | None
    scores: dict[str | None, float]
    completion_tokens: int = 0
    finish: Finish | None = None
    chunks: Iterator[bytes] = field(default=iter(()), repr=False)

    def __iter__(self) -> Iterator[bytes]:
        return self.chunks


class LocalCaller:
    """Routes requests to tools and writes their arguments, or answers in words.

    Args:
        engine: The model; it is forked, never moved.
        options: How it is asked.
    """

    def __init__(self, engine: Engine, options: CallerOptions | None = None) -> None:
        self._options = options or CallerOptions()
        self._root = engine.fork()
        self._root.truncate(0)
        self._copying = Copying(engine, self._options.copy_bias)
        self._openers = openers(engine)
        self._read: dict[str, Engine] = {}

    def propose(self, request: str, tools: Sequence[ToolDefinition]) -> Proposal:
        """What the model makes of a request: the tool is chosen here, bytes are decoded as they are taken.

        Raises:
            ModelError: the request holds a byte for which the model has no token, or is longer than its
            context.
        """
        if not tools:
            return self.answer([Message("user", request)])
        branches, scores = self._route(request, tools)
        tool = max(scores, key=lambda name: scores[name])
        if tool is None:
            said = self.answer([Message("user", request)])
            said.scores = scores
            return said
        definition = next(each for each in tools if each.name == tool)
        proposal = Proposal(tool, scores)
        proposal.chunks = self._call(proposal, branches[tool], request, definition)
        return proposal

    def answer(self, messages: Sequence[Message]) -> Proposal:
        """What the model answers in words, without any tool.

        Raises:
            ModelError: as `propose`.
        """
        engine = self._root.fork()
        logits = engine.eval(chat_ids(engine, messages))
        proposal = Proposal(None, {})
        proposal.chunks = self._talk(proposal, engine, logits)
        return proposal

    def _route(
        self, request: str, tools: Sequence[ToolDefinition]
    ) -> tuple[dict[str | None, Engine], dict[str | None, float]]:
        parts: dict[str | None, str] = {tool.name: tool_part(tool, self._options.examples) for tool in tools}
        if len(parts) < len(tools):
            raise ModelError("Two of the tools offered have one name", tools=[tool.name for tool in tools])
        parts[None] = NO_TOOL
        if len(self._read) > _PARTS_KEPT:
            self._read = {part: self._read[part] for part in parts.values() if part in self._read}
        # The last token of the frame is left for the batch: its logits are the first of the request.
        frame = self._root.encode(REQUEST)
        branches = {name: self._after(part, frame[:-1]) for name, part in parts.items()}
        ids = [*frame[-1:], *self._root.encode(f" {one_line(request)}\n")]
        found = self._root.logprobs(list(branches.values()), ids)
        scores = {name: float(each.sum(dtype=float)) for name, each in zip(parts, found, strict=True)}
        scores[None] += self._options.no_tool_bias
        return branches, scores

    def _after(self, part: str, frame: Sequence[int]) -> Engine:
        known = self._read.get(part)
        if known is None:
            known = self._root.fork()
            known.eval([*known.encode(part), *frame])
            self._read[part] = known
        return known.fork()

    def _call(
        self, proposal: Proposal, engine: Engine, request: str, tool: ToolDefinition
    ) -> Iterator[bytes]:
        name = json.dumps(wire_name(tool.name))
        yield f'{{"tool": {name}, "arguments":'.encode()
        shown = [(each.request, each.arguments) for each in tool.examples[: self._options.examples]]
        steered = self._copying.steer(request, constants(shown))
        logits = engine.eval(engine.encode(ARGUMENTS))
        scan = ObjectScan()
        token = int(self._openers[_best(logits[self._openers])])
        while token not in engine.control_ids:
            proposal.completion_tokens += 1
            raw = engine.token_bytes[token]
            closed = scan.feed(raw)
            if scan.broken and closed is None:
                break
            yield raw[:closed]
            if closed is not None:
                proposal.finish = Finish.TOOL_CALLS
                yield b"}\n"
                return
            if proposal.completion_tokens >= self._options.call_tokens:
                proposal.finish = Finish.LENGTH
                return
            logits = engine.eval([token])
            value = scan.value
            token = _best(logits if value is None else steered(value, logits))
        proposal.finish = Finish.CUT

    def _talk(self, proposal: Proposal, engine: Engine, logits: Floats) -> Iterator[bytes]:
        yield b'{"text": "'
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while (token := _best(logits)) not in engine.control_ids:
            if proposal.completion_tokens >= self._options.answer_tokens:
                proposal.finish = Finish.LENGTH
                return
            proposal.completion_tokens += 1
            piece = decoder.decode(engine.token_bytes[token])
            if piece:
                yield json.dumps(piece, ensure_ascii=False)[1:-1].encode()
            logits = engine.eval([token])
        proposal.finish = Finish.STOP
        yield json.dumps(decoder.decode(b"", final=True), ensure_ascii=False)[1:-1].encode() + b'"}\n'


def _best(logits: Floats) -> int:
    return int(np.argmax(logits))
