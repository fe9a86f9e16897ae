"""The embedded model: an engine in this process, and the model as a caller of tools.

Importing this room needs NumPy, the extra ``local``.
"""

from ._caller import CallerOptions, LocalCaller, Proposal
from ._engine import Engine, NumpyEngine
from ._llama_cpp import LlamaCppEngine
from ._prompt import Message
from ._weights import DEFAULT_MODEL, GotModel, find_model, get_model

__all__ = [
    "DEFAULT_MODEL",
    "CallerOptions",
    "Engine",
    "GotModel",
    "LlamaCppEngine",
    "LocalCaller",
    "Message",
    "NumpyEngine",
    "Proposal",
    "find_model",
    "get_model",
]
