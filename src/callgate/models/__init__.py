"""Where a turn comes from: hosted models, recordings, the embedded one, behind one port."""

from ._connect import connect
from ._estimate import ESTIMATOR, estimate_reply, estimate_tokens
from ._hosted import HostedModel, HostedOptions
from ._port import Model, Prepared
from ._replay import ReplayModel, ReplayOptions, guess_dialect

__all__ = [
    "ESTIMATOR",
    "HostedModel",
    "HostedOptions",
    "Model",
    "Prepared",
    "ReplayModel",
    "ReplayOptions",
    "connect",
    "estimate_reply",
    "estimate_tokens",
    "guess_dialect",
]
