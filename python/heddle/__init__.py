"""heddle: steers the thread blocks of CUDA kernels, on PTX.

>>> import heddle
>>> plan = heddle.Plan("bind=agents,order=tile:4x4")
>>> plan
Plan('order=tile:4x4,bind=agents')

A workload is a kernel with its launches and data, by name or from a file of your own:

>>> w = heddle.Workload("matmul-naive", size="tiny")
>>> w.check("order=col").equal
True

Functions are called as the commands of the same name; results are objects that notebooks show as the commands' pages.
Failures are exceptions under heddle.Error.
"""

from ._arguments import Argument, ArgumentError, Parameter
from ._heddle import (
    BudgetError,
    Error,
    FaultError,
    InputError,
    MissingError,
    NoAnswerError,
    NotFoundError,
    RefusedError,
    SystemError,
    UnsupportedError,
    UsageError,
)
from ._kernels import Kernel, Refusal, Rewritten, kernel, kernels, rewrite
from ._plans import Plan
from ._programs import emu, optimize, profile, record, run
from ._results import (
    Analysis,
    Check,
    Emulation,
    Optimized,
    OptimizedProgram,
    Profile,
    Recording,
    Result,
    Run,
    Sweep,
    Tuned,
    TunedKernel,
)
from ._workloads import Launch, LaunchInfo, Study, Workload, analyze, check, gpus, sweep, tune, workloads

__version__ = "0.1.0"
__all__ = [
    "Analysis",
    "Argument",
    "ArgumentError",
    "BudgetError",
    "Check",
    "Emulation",
    "Error",
    "FaultError",
    "InputError",
    "Kernel",
    "Launch",
    "LaunchInfo",
    "MissingError",
    "NoAnswerError",
    "NotFoundError",
    "Optimized",
    "OptimizedProgram",
    "Parameter",
    "Plan",
    "Profile",
    "Recording",
    "RefusedError",
    "Refusal",
    "Result",
    "Rewritten",
    "Run",
    "Study",
    "Sweep",
    "SystemError",
    "Tuned",
    "TunedKernel",
    "UnsupportedError",
    "UsageError",
    "Workload",
    "analyze",
    "check",
    "emu",
    "gpus",
    "kernel",
    "kernels",
    "optimize",
    "profile",
    "record",
    "rewrite",
    "run",
    "sweep",
    "tune",
    "workloads",
]
