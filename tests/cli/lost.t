# needs: nvcc-or-clang

A GPU that goes away, runs out of memory or faults ends the command with a word that names the call and the kernel,
and leaves nothing half-written. All of it on the fake driver, which fails as it is told: CALL:WHICH:RESULT.

No verdict of a tuning that was cut short, wherever that was; a full one is kept:

  $ for n in 1 3 9; do FAKE_CUDA_FAIL=cuEventSynchronize:$n:719 heddle tune copy-col --size tiny --store v.db --budget 1 --no-advice --no-counters 2>&1 | sed 's/.*cuda:0/cuda:0/'; done | sort -u
  cuda:0: cuEventSynchronize, kernel 'copy_col' in flight: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure
  $ FAKE_CUDA_FAIL=cuStreamSynchronize:4:700 heddle tune copy-col --size tiny --store v.db --budget 1 --no-advice
  heddle: cuda:0: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered
  [1]
  $ FAKE_CUDA_FAIL=cuMemAlloc_v2:2:2 heddle tune copy-col --size tiny --store v.db --budget 1 --no-advice
  heddle: cuda:0: cuMemAlloc_v2 of 1628 bytes: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory
  [2]
  $ for n in 1 16; do FAKE_CUDA_FAIL=cuMemcpyDtoDAsync_v2:$n:719 heddle tune transpose --size small --store v.db --budget 1 --plan bind=agents --no-advice --no-counters 2>&1; done | sort -u
  heddle: cuda:0: cuMemcpyDtoDAsync_v2: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure
  $ heddle verdicts --store v.db --json
  {
    "heddle_verdicts": 4,
    "verdicts": [],
    "tables": []
  }

Those copies are of buffers that are put elsewhere, where the winner is tested. Want of memory ends neither that nor the
tuning:

  $ for n in 12 24; do FAKE_CUDA_FAIL=cuMemAlloc_v2:$n:2 heddle tune transpose --size small --store none --budget 1 --plan bind=agents --no-advice --no-counters --rows 0 | grep -c 'verdict:'; done
  1
  1

That test takes all memory that is free, unless others use the GPU: then no hundredth allocation is made, that would fail.

  $ FAKE_CUDA_FAIL=cuMemAlloc_v2:100:719 heddle tune transpose --size small --store none --budget 1 --plan bind=agents --no-advice --no-counters --rows 0 2>&1 | sed 's/.*cuda:0: //'
  cuMemAlloc_v2 of 2097152 bytes: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure
  $ FAKE_CUDA_FAIL=cuMemAlloc_v2:100:719 heddle tune transpose --size small --store none --budget 1 --plan bind=agents --no-advice --no-counters --rows 0 --shared | grep -c 'verdict:'
  1

A kernel that traps:

  $ mkdir trap && cat > trap/workload.toml <<'END'
  > title = "trap"
  > source = "kernel.ptx"
  > [sizes.small]
  > n = 4
  > [[buffer]]
  > name = "out"
  > type = "u32"
  > count = "n"
  > compare = "exact"
  > [[launch]]
  > kernel = "stop"
  > grid = ["n"]
  > block = [32]
  > args = ["out"]
  > END
  $ cat > trap/kernel.ptx <<'END'
  > .version 7.0
  > .target sm_70
  > .address_size 64
  > .visible .entry stop(.param .u64 out)
  > {
  > trap;
  > ret;
  > }
  > END
  $ heddle check trap --device cuda:0
  heddle: trap: original kernel: cuda:0: cuStreamSynchronize, kernel 'stop' in flight: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered
  [1]
  $ heddle time trap
  heddle: cuda:0: cuStreamSynchronize, kernel 'stop' in flight: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered
  [1]
  $ heddle tune trap --size small --store v.db --no-advice
  heddle: cuda:0: cuEventSynchronize, kernel 'stop' in flight: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered
  [1]
  $ heddle verdicts --store v.db --json
  {
    "heddle_verdicts": 4,
    "verdicts": [],
    "tables": []
  }

A probe that is cut short writes neither the GPU's file nor its page:

  $ FAKE_CUDA_FAIL=cuStreamSynchronize:9:719 heddle probe -o gpu.toml --html gpu.html
  heddle: cuda:0: cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure
  [1]
  $ FAKE_CUDA_FAIL=cuMemAlloc_v2:1:2 heddle probe -o gpu.toml --html gpu.html
  heddle: cuda:0: cuMemAlloc_v2 of 67108864 bytes: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory
  [2]
  $ ls gpu.toml gpu.html
  ls: cannot access 'gpu.toml': No such file or directory
  ls: cannot access 'gpu.html': No such file or directory
  [2]

A bench's results are whole lines, when the GPU is lost:

  $ FAKE_CUDA_FAIL=cuEventSynchronize:5:719 heddle bench copy-col copy-row --size tiny --budget 1 --no-advice --store v.db -o out 2>&1 | tail -1
    copy-row (tiny): cuda:0: cuEventSynchronize, kernel 'copy_row' in flight: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure
  $ [ ! -e out/results.jsonl ] || ! grep -v '^{.*}$' out/results.jsonl

A part of a GPU, on SMs whose numbers have holes:

  $ FAKE_CUDA_MIG=1 heddle check matmul-naive --size tiny --plan bind=agents,split=wave:2 --device cuda:0 --runs 1
  matmul-naive (tiny), plan bind=agents,split=wave:2: equal
    16428 bytes agree in 1 run on the device; the original agrees with its reference
  $ FAKE_CUDA_MIG=1 heddle check matmul-naive --size tiny --plan bind=claim --device cuda:0 --runs 1
  matmul-naive (tiny), plan bind=claim: equal
    16428 bytes agree in 1 run on the device; the original agrees with its reference
  $ FAKE_CUDA_MIG=1 heddle check matmul-naive --size tiny --plan bind=agents:1,sms=0-1 --device cuda:0 --runs 1
  matmul-naive (tiny), plan bind=agents:1,sms=0-1: equal
    16428 bytes agree in 1 run on the device; the original agrees with its reference
  $ FAKE_CUDA_MIG=1 heddle probe --launches 1 --dram 1 -o part.toml | grep -E '^Wrote|[0-9] SMs,'
  Fake GPU (cuda:0), 4 SMs, 1000 MHz
  Wrote part.toml.

Drivers that are none:

  $ HEDDLE_CUDA_DRIVER=/nonexistent/libcuda.so heddle time copy-col --size tiny
  heddle: there is no NVIDIA driver here: /nonexistent/libcuda.so: cannot open shared object file: No such file or directory; the device model:h100 stands in for a GPU
  [2]
  $ HEDDLE_CUDA_DRIVER=libm.so.6 heddle time copy-col --size tiny
  heddle: the NVIDIA driver is too old: it has no cuInit (CUDA 11.8 is needed)
  [2]
  $ FAKE_CUDA_FAIL=cuInit:1:803 heddle time copy-col --size tiny
  heddle: cuda:0: cuInit: unknown result (803): the driver has no text for this error
  [2]
