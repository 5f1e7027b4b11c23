"""heddle: steers the thread blocks of CUDA kernels, on PTX.

>>> import heddle
>>> plan = heddle.Plan("bind=agents,order=tile:4x4")
>>> plan
Plan('order=tile:4x4,bind=agents')

A workload is a kernel with its launches and data, by name or from a file of your own:

>>> w = heddle.Workload("matmul-naive", size="tiny")
>>> w.check("order=col").equal
True

Results are plain objects: the JSON of the command of the same name, read into dictionaries, or columns that
pandas.DataFrame(columns) and polars.DataFrame(columns) take as they are.
"""

from ._heddle import (
    BudgetError,
    Error,
    FaultError,
    InputError,
    RefusedError,
    SystemError,
    UnsupportedError,
    UsageError,
)
from ._kernels import Plan, Rewritten, analyze, rewrite
from ._workloads import Check, Optimized, Study, Workload, gpus, workloads

__version__ = "0.1.0"
__all__ = [
    "BudgetError",
    "Check",
    "Error",
    "FaultError",
    "InputError",
    "Optimized",
    "Plan",
    "RefusedError",
    "Rewritten",
    "Study",
    "SystemError",
    "UnsupportedError",
    "UsageError",
    "Workload",
    "analyze",
    "gpus",
    "rewrite",
    "workloads",
]
