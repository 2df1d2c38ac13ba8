"""Networks of other frameworks, as encrypted programs: ``from_onnx`` reads files of ONNX."""

from ringsmith.networks.network import Network, from_onnx
from ringsmith.networks.report import accuracy

__all__ = ["Network", "accuracy", "from_onnx"]
