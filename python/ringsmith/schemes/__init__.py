"""CKKS and BFV: each plans programs, forecasts errors, encodes plaintexts and writes operations."""

from ringsmith.schemes.bfv.depth import bfv_parameters_for_depth
from ringsmith.schemes.bfv.forecast import NoiseForecast
from ringsmith.schemes.bfv.program import BfvProgram
from ringsmith.schemes.ckks.forecast import Forecast, OutputForecast
from ringsmith.schemes.ckks.program import CkksProgram
from ringsmith.schemes.trace import trace

__all__ = [
    "BfvProgram",
    "CkksProgram",
    "Forecast",
    "NoiseForecast",
    "OutputForecast",
    "bfv_parameters_for_depth",
    "trace",
]
