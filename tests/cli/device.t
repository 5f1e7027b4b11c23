# needs: nvcc-or-clang

Commands on a GPU, on a driver that has none behind it but the emulator.

  $ heddle check copy-col --size tiny --plan order=reverse --device cuda:0
  copy-col (tiny), plan order=reverse: equal
    3256 bytes agree in 3 runs on the device; the original agrees with its reference
  $ heddle check matmul-naive --size tiny --plan order=tile:2x2,bind=redirect --device cuda:0 --runs 1 --no-reference
  matmul-naive (tiny), plan order=tile:2x2,bind=redirect: equal
    16428 bytes agree in 1 run on the device

Memory that holds addresses is written for where buffers lie, and again where a tuning moves them. Kept as a folder, a
file's kernels have one size, which every command takes:

  $ swap="$SOURCE/tests/cli/data/pointers.ptx -k swap --grid 4 --block 32 --buffer x=f32[4096]=uniform(-1,1)"; heddle check $swap --arg 'u64[256]=address(x, i)' --plan order=reverse --device cuda:0 --save swapped
  pointers-swap (small), plan order=reverse: equal
    18432 bytes agree in 3 runs on the device
  $ heddle tune swapped --plan order=reverse --rows 100 --store none --budget 1 > tuned.txt; grep -c 'plans tried' tuned.txt; grep -c 'element [0-9]* is' tuned.txt
  1
  0
  [1]
  $ heddle corun swapped copy-col --size small --repetitions 1 | grep -c '^A: swapped (small)'
  1
  $ heddle bench swapped --store none --budget 1 --no-counters -o results 2>&1 | grep -oE '^\[1/1\] swapped: [0-9.]+x|^swapped  ' | sed 's/: .*//' | sort -u
  [1/1] swapped
  swapped  

  $ heddle time matmul-naive --size tiny --plan order=col --repetitions 9 --no-counters --json | grep -vE '_us|median|low|high'
  {
    "workload": "matmul-naive",
    "size": "tiny",
    "time": "measured",
    "device": {
      "name": "cuda:0",
      "title": "Fake GPU",
      "uuid": "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1",
      "sms": 4,
      "driver": 13000,
      "mig": false
    },
    "pairs": 9,
    "rows": [
      {
        "plan": "baseline",
      },
      {
        "plan": "order=col",
        "speedup": {
          "confidence": 0.99
        }
      }
    ]
  }

A model's device goes by the clock of `heddle simulate`, one launch or many; without [units] it has no times.

  $ heddle time copy-col --size tiny --device model:h100 --plan order=col --repetitions 2 --no-counters | sed -n '3p;7,$p' | sed 's/ *$//; s/off by [0-9.]*% (mean of [0-9]*/off by N% (mean of N/; s/sign of [0-9]*%/sign of N%/'
  plan       predicted us  speedup  99% interval
  
  Times are by a clock. Compared with such a GPU, it was off by N% (mean of N default launches), and right about the sign of N% of plans' effects over 5% (docs/decisions/clock.md).
  $ heddle time copy-col --size tiny --device model:gtx580 --repetitions 1 --no-counters | sed -n '/^Times/,$p'
  Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).
  The file of gtx580 has no [launch]: a launch costs nothing beside its CTAs' work.
  $ for gpu in h100 gtx580; do for w in copy-col atax bfs; do heddle time $w --size tiny --device model:$gpu --repetitions 1 --json | jq '.rows[0].median_us'; heddle simulate $w --size tiny --gpu $gpu --exact --json | jq .time_us; done; done | uniq -c | sed 's/[0-9.]*$/us/'
        2 us
        2 us
        2 us
        2 us
        2 us
        2 us
  $ heddle time copy-col --size tiny --device model:h100 --repetitions 2 --no-counters --json | grep '"time"'
    "time": "clock",
  $ sed '/^\[units\]/,/^$/d' $SOURCE/gpus/gtx580.toml >bare.toml; heddle time copy-col --size tiny --device model:./bare.toml
  heddle: GPU 'bare': its file has no [units], which a clock needs: simulate and sweep count its traffic, and nothing predicts times
  [2]
  $ heddle time copy-col --size tiny --device emu
  heddle: device emu measures no times
  [2]

A device that is not there, and one that goes away:

  $ heddle time copy-col --size tiny --device cuda:1
  heddle: no device cuda:1: the driver shows 1 GPU
  [2]
  $ FAKE_CUDA_FAIL=cuInit:1:100 heddle time copy-col --size tiny
  heddle: there is no NVIDIA GPU here, though there is a driver
  [2]
  $ FAKE_CUDA_FAIL=cuEventSynchronize:5:700 heddle time copy-col --size tiny
  heddle: cuda:0: cuEventSynchronize, kernel 'copy_col' in flight: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered
  [1]
  $ FAKE_CUDA_FAIL=cuMemAlloc_v2:2:2 heddle check copy-col --size tiny --device cuda
  heddle: cuda:0: cuMemAlloc_v2 of 1628 bytes: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory
  [2]
  $ LD_LIBRARY_PATH= heddle time copy-col --size tiny
  heddle: there is no NVIDIA driver here: libcuda.so.1: cannot open shared object file: No such file or directory; the device model:h100 stands in for a GPU
  [2]

A probe's file is a GPU to simulate on:

  $ heddle probe --device emu --launches 1 -o probed.toml | grep -E '^emulator|^Wrote'
  emulator (emu), 132 SMs, 985 MHz
  Wrote probed.toml.
  $ heddle probe --device emu --launches 1 -o probed.toml --html probed.html | tail -1; grep -oE '"(latency_by_footprint|l1_by_carveout|sector_cycles|launches)":' probed.html
  Wrote probed.toml and probed.html.
  "sector_cycles":
  "l1_by_carveout":
  "latency_by_footprint":
  "launches":
  $ heddle probe --device emu --launches 1 -o probed.toml --against h100 > told; echo $?; grep ^sm.count told
  1
  sm.count                     132          132           0  
  $ heddle simulate copy-col --size tiny --gpu ./probed.toml | head -1
  copy-col (tiny) on emulator, round-robin dispatch, plan baseline

Usage:

  $ heddle time
  heddle: time: name one workload ('heddle list' shows them) or file
  [2]
  $ heddle time copy-col --l2 drop
  heddle: time: --l2 takes flush or keep, not 'drop'
  [2]
  $ heddle check copy-col --device cuda:0 --dispatcher serial
  heddle: check: --dispatcher and parts are for the emulator, not for --device
  [2]

Random programs, the GPU in processes of its own:

  $ heddle difftest --programs 300 --threads 2 | sed 's/of [0-9]* instructions/of N instructions/'
  300 programs of N instructions on the emulator and cuda:0 (Fake GPU, sm_90): 0 differ within documented bounds, 0 by the optimizer of the device's compiler, 0 unexplained

A modelled GPU is what its file says.

  $ heddle probe --device model:h200 -o g.toml; heddle probe --device model:./g.toml -o again.toml | tail -1; cmp g.toml again.toml; grep -c = g.toml
  H200 SXM 141 GB (Hopper) (model:h200) is a model: these are its file's values, and nothing was measured.
  Wrote g.toml.
  Wrote again.toml.
  47
  $ heddle probe --device model:h200 -o g.toml --against h200 | tail -1
  46 of 46 keys agree within 10%.
  $ sed 's/^latency = 693/latency = 624/; s/^mshrs = 512/mshrs = 576/' g.toml > other.toml
  $ heddle probe --device model:h200 -o g.toml --against ./other.toml --json | jq -c '.beside | del(.keys), (.keys[] | select(.agrees | not))'
  {"file":"./other.toml","within_percent":10,"agree":44,"differ":2,"not_in_file":0,"not_measured":0}
  {"table":"l1","key":"mshrs","file":576,"probed":512,"percent":-11.11111111,"agrees":false}
  {"table":"dram","key":"latency","file":624,"probed":693,"percent":11.05769231,"agrees":false}
  $ heddle probe --device model:h200 -o g.toml --against ./other.toml --within 12 | tail -1
  46 of 46 keys agree within 12%.
  $ heddle probe --device model:h200 -o g.toml --against ./other.toml > told
  [1]
  $ grep differs told; heddle probe --device model:h200 -o g.toml --against h100 | tail -1
  l1.mshrs                   576       512      -11.1%  differs
  dram.latency               624       693      +11.1%  differs
  51 of its keys were not measured.
  $ heddle probe --device model:h200 -o g.toml --against h10
  heddle: there is no GPU 'h10'; there is h100
  [2]
  $ heddle probe --device model:h200 --html p.html
  heddle: --html: nothing is measured on a model
  [2]
