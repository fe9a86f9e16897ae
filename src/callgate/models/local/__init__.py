"""The embedded model: an engine in this process, and the model as a caller of tools.

Importing this room needs NumPy, the extra ``local``.
"""

from ._caller import CallerOptions, LocalCaller, Proposal
from ._engine import Engine, NumpyEngine
from ._llama_cpp import LlamaCppEngine
from ._prompt import Message

__all__ = [
    "CallerOptions",
    "Engine",
    "LlamaCppEngine",
    "LocalCaller",
    "Message",
    "NumpyEngine",
    "Proposal",
]
