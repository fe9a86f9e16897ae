"""What the embedded model costs, and how often it is right.

SmolLM2-135M-Instruct, Q4_1, in the NumPy engine on one thread. Speed and memory are measured in a child
process that does nothing else, by the clock and by the processor time that it took: the second survives a
busy machine. Both are put beside what was once measured on an idle one, and are no target. What is right is
counted on the request sets of ``tests/models/local``, against the floors that the tests hold.

    python benchmarks/local.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from callgate.errors import ModelError
from callgate.models import DEFAULT_MODEL, find_model
from callgate.models.local import LocalCaller, NumpyEngine

ROOT: Final = Path(__file__).resolve().parent.parent
LOCAL: Final = ROOT / "tests" / "models" / "local"

READ_TOKENS = 512
WRITE_TOKENS = 64
IDLE: Final = {"load": 1.0, "written": 22.0, "read": 335.0}
"""Seconds to load, tokens a second written and read, as measured on an idle machine."""
LOGIT_TOLERANCE = 2e-4


class Watch:
    """Seconds since it was made, by the clock and of the processor."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    def seconds(self) -> tuple[float, float]:
        """Both."""
        return time.perf_counter() - self._start[0], time.process_time() - self._start[1]


def costs(rounds: int) -> dict[str, list[float]]:
    """Seconds to load and tokens a second, by the clock and of the processor (medians); memory in MB."""
    before = _peak()
    watch = Watch()
    engine = NumpyEngine.open(find_model())
    loaded = watch.seconds()
    text = "The gate asks who may pass, and writes down whom it let through. " * READ_TOKENS
    ids = engine.encode(text)[:READ_TOKENS]
    read, written = [], []
    for _ in range(rounds):
        sequence = engine.fork()
        watch = Watch()
        logits = sequence.eval(ids)
        read.append(watch.seconds())
        watch = Watch()
        for _ in range(WRITE_TOKENS):
            logits = sequence.eval([int(logits.argmax())])
        written.append(watch.seconds())
    return {
        "load": list(loaded),
        "written": [WRITE_TOKENS / statistics.median(spent) for spent in zip(*written, strict=True)],
        "read": [READ_TOKENS / statistics.median(spent) for spent in zip(*read, strict=True)],
        "memory": [before, _peak()],
    }


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB on Linux
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def in_a_child(rounds: int) -> dict[str, list[float]]:
    """Run `costs` in a process of its own."""
    command = [sys.executable, __file__, "--child", "--rounds", str(rounds)]
    found: dict[str, list[float]] = json.loads(
        subprocess.run(command, capture_output=True, check=True).stdout
    )
    return found


def farthest_logit(engine: NumpyEngine) -> float:
    """The largest difference from the golden logits of a float32 reference."""
    cases = json.loads((LOCAL / "golden" / "logits.json").read_text(encoding="utf-8"))["cases"]
    return max(
        float(np.abs(engine.fork().eval(case["ids"])[case["top_ids"]] - np.array(case["top_logits"])).max())
        for case in cases
    )


def report_costs(found: dict[str, list[float]]) -> None:
    """The table of what it costs."""
    titles = {
        "load": "seconds to load",
        "written": f"tokens a second written, after {READ_TOKENS}",
        "read": f"tokens a second read, {READ_TOKENS} of them",
    }
    print(f"{'':36}{'by the clock':>16}{'of processor':>16}{'times idle':>14}")
    for name, title in titles.items():
        clock, processor = found[name]
        print(f"{title:36}{clock:>16.1f}{processor:>16.1f}{processor / IDLE[name]:>14.2f}")
    before, peak = found["memory"]
    print(f"\n{peak:.0f} MB of memory at most, {before:.0f} MB before the weights are loaded")


def report_right(engine: NumpyEngine) -> dict[str, bool]:
    """The table of what is right, and whether each floor is reached."""
    sys.path.insert(0, str(ROOT))
    from tests.models.local.judging import FLOORS, REQUESTS, judged

    targets = {}
    print(f"\n{'requests':20}{'right tool':>14}{'right call':>14}{'left alone':>14}{'seconds each':>14}")
    for part, floor in FLOORS.items():
        requests: list[Any] = REQUESTS[part]
        talk = sum(tool is None for tool, *_ in requests)
        start = time.perf_counter()
        found = judged(LocalCaller(engine), requests)
        spent = (time.perf_counter() - start) / len(requests)
        of = (len(requests) - talk, len(requests) - talk, talk)
        shares = (f"{have} of {count}" for have, count in zip(found, of, strict=True))
        print(f"{part:20}{''.join(f'{share:>14}' for share in shares)}{spent:>14.1f}")
        words = f"{floor.tools} tools, {floor.calls} calls and {floor.none} left alone, or more"
        targets[f"{part}: {words}"] = found.reaches(floor)
    return targets


def main() -> int:
    """Measure, print the tables, and say which targets were met; 1 where one was missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of reading and writing")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(costs(asked.rounds)))
        return 0
    try:
        path = find_model()
    except ModelError as missing:
        print(f"left out: {missing}")
        return 0
    print(f"{DEFAULT_MODEL.file}, NumPy {np.__version__}, one thread, median of {asked.rounds} rounds\n")
    report_costs(in_a_child(asked.rounds))
    engine = NumpyEngine.open(path)
    targets = report_right(engine)
    difference = farthest_logit(engine)
    targets[f"logits within {LOGIT_TOLERANCE} of a float32 reference: {difference:.1e}"] = (
        difference < LOGIT_TOLERANCE
    )
    print()
    for target, met in targets.items():
        print(f"{'PASS' if met else 'FAIL'}  {target}")
    return 0 if all(targets.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
