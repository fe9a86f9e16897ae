"""Where a turn comes from: hosted models, recordings, the embedded one, behind one port."""

from ._connect import connect
from ._estimate import ESTIMATOR, estimate_reply, estimate_tokens
from ._port import Model, Prepared
from ._replay import ReplayModel, ReplayOptions, guess_dialect
from ._weights import DEFAULT_MODEL, GotModel, find_model, get_model

__all__ = [
    "DEFAULT_MODEL",
    "ESTIMATOR",
    "GotModel",
    "Model",
    "Prepared",
    "ReplayModel",
    "ReplayOptions",
    "connect",
    "estimate_reply",
    "estimate_tokens",
    "find_model",
    "get_model",
    "guess_dialect",
]
