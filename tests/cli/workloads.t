# needs: nvcc-or-clang

A plan proved:

  $ heddle check copy-row --plan order=stride:8x1,bind=redirect | head -2
  copy-row (small), plan order=stride:8x1,bind=redirect: equal
    2400000 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory); the original agrees with its reference
  $ heddle check copy-row --plan order=col --any-grid --json | grep -E '"(equal|plan|workload|size|dispatchers)"'
    "equal": true,
    "workload": "copy-row",
    "size": "small",
    "plan": "order=col",
    "dispatchers": 8,

A table that is no bijection is no order:

  $ seq 0 18 > short; heddle check copy-row --plan order=table:short
  heddle: short: 19 entries for 20 tasks; task 19 is the first missing
  [1]
  $ (echo 5; seq 1 19) > twice; heddle check copy-row --plan order=table:twice
  heddle: twice:6:1: task 5 is repeated, it is on line 1 already
  [1]
  $ (seq 1 19; echo 20) > outside; heddle check copy-row --plan order=table:outside
  heddle: outside:20:1: task 20 is out of range: tasks are 0 to 19
  [1]
  $ echo x > text; heddle check copy-row --plan order=table:text
  heddle: text:1:1: 'x' is no task number; a line holds one decimal number
  [2]
  $ heddle check copy-row --plan order=table:nowhere
  heddle: nowhere: cannot open: No such file or directory
  [2]

Counters on a modelled GPU:

  $ heddle simulate copy-row --size small --gpu gtx580 --json | grep -oE '"[a-z0-9_]+"' | sort | tr '\n' ' '
  "baseline" "compulsory_bytes" "cycles" "cycles_dram" "cycles_issue" "cycles_l1" "cycles_l2" "depth" "dispatcher" "dram_busy" "dram_read_bytes" "dram_useful" "dram_write_bytes" "gpu" "gtx580" "l1_hits" "l1_sectors" "l2_hits" "l2_read_sectors" "l2_sectors" "l2_write_sectors" "plan" "replayed_part" "resident" "size" "small" "stall_barrier" "stall_dependency" "stall_issue" "stall_memory" "stall_throttle" "thread_instructions" "time_error_us" "time_us" "timing" "warp_cycles" "warp_instructions" "workload" 
  $ heddle simulate copy-row --gpu no-such-gpu
  heddle: there is no GPU 'no-such-gpu' among 22; --gpu list names them
  [2]
  $ heddle sweep copy-row --size small --gpu h100 --plans 'order=reverse order=stride:2x1' | cut -d, -f1,2
  plan,status
  "baseline",ok
  "order=reverse",ok
  "order=stride:2x1",ok
  $ heddle sweep copy-row --size small --gpu h100 --plans 'order=revers'
  heddle: plan, column 7: order=revers: no such order; there are row, col, band, tile, zigzag, stride, hilbert, reverse, heavy-first, affinity, table; did you mean reverse?
  [2]
