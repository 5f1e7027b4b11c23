"""Compile the kernels of all workloads, and keep the text beside their sources: for a wheel, which is to run on
machines without a compiler."""

import heddle

for name in heddle.workloads():
    heddle.Workload(name).keep_ptx()
