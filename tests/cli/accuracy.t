# needs: nvcc-or-clang

The model against itself is exact; a workload that fails is a line.

  $ heddle accuracy copy-col nosuch --size tiny --gpu h200 --device model:h200 | sed 's/ among.*//'
  H200 SXM 141 GB (Hopper) modelled, H200 SXM 141 GB (Hopper) (model:h200) measured, size tiny
  
  model / device  L1 sectors  L1 hits  L2 read sectors  L2 write sectors  L2 hits  DRAM read bytes  L2 read MB  DRAM read MB
  --------------  ----------  -------  ---------------  ----------------  -------  ---------------  ----------  ------------
  copy-col             1.000    1.000            1.000             1.000    1.000            1.000       0.002         0.002
  
  over all          workloads  median ratio  median error  within 10%  within 25%
  ----------------  ---------  ------------  ------------  ----------  ----------
  L1 sectors                1         1.000          0.0%      100.0%      100.0%
  L1 hits                   1         1.000          0.0%      100.0%      100.0%
  L2 read sectors           1         1.000          0.0%      100.0%      100.0%
  L2 write sectors          1         1.000          0.0%      100.0%      100.0%
  L2 hits                   1         1.000          0.0%      100.0%      100.0%
  DRAM read bytes           1         1.000          0.0%      100.0%      100.0%
  
  Farthest off in L2 read sectors: copy-col 1.00.
  
  Farthest off in DRAM read bytes: copy-col 1.00.
  
  nosuch: there is no workload 'nosuch'
  $ heddle accuracy copy-col nosuch --size tiny --device model:h100 --json | grep -A9 '"DRAM read bytes": {'
      "DRAM read bytes": {
        "workloads": 1,
        "median_ratio": 1.0,
        "median_error": 0.0,
        "within_10_percent": 1.0,
        "within_25_percent": 1.0,
        "worst": [
          "copy-col"
        ]
      }

Times, from a device and from a file:

  $ heddle accuracy copy-col --time --size tiny --device model:h100 | sed -n '1p;5p' | sed 's/copy-col .*/copy-col .../'
  H100 SXM5 80 GB (Hopper) modelled by a clock, measured: H100 SXM5 80 GB (Hopper), size tiny
  copy-col ...
  $ echo '{"copy-col": {"baseline": 12, "order=col": 8, "bind=agents": 20}, "bfs": {"baseline": 1}}' > times.json
  $ heddle accuracy --time --measured times.json --size tiny copy-col | sed -n '1p;3p;5p' | sed 's/12.0 .*/12.0 .../;s/ right .*/ right .../'
  H100 SXM5 80 GB (Hopper) modelled by a clock, measured: times.json, size tiny
  workload  measured us  model us  replayed  ratio  plans  effects  right ...
  copy-col         12.0 ...
  $ echo '{"copy-col": {"baseline": 12, "order=col": 8, "order=reverse": 12.1}}' > wrong.json
  $ heddle accuracy --time --measured wrong.json --size tiny | grep -A9 Contradicted
  Contradicted by the measured times:
    copy-col, order=col: measured 1.50x, modelled 1.00x, as good as no effect; model: cycles issuing +0%, L2 sectors +0%, DRAM reads +0%, warps wait for memory 95% of their time instead of 95%
  $ heddle accuracy --time --measured wrong.json --size tiny --json | grep -c '"contradicted": true'
  1
  $ heddle accuracy --time --measured wrong.json --size tiny --json >done.json
  $ "$SOURCE/scripts/accuracy-table" done.json | sed -n '$p' | sed 's/off by .* right/... right/;s/; tau.*; /; ... /'
  all 1: default launches ... right signs 0 of 1; ... 0 plans came too late to be replayed
  $ echo '{"rows": [{"workload": "late", "failed": "not modelled within 1 s", "plans": [{"plan": "baseline", "measured_us": 2,
  > "model_us": null, "contradicted": false}]}]}' >late.json
  $ "$SOURCE/scripts/accuracy-table" done.json late.json >both; "$SOURCE/scripts/accuracy-table" done.json | diff - both | sed "s/^>/+/;s/ *$//"
  5a6,7
  + late: failed: not modelled within 1 s
  +
  6a9
  + 1 of 2 workloads failed: late
  $ "$SOURCE/scripts/accuracy-table" late.json | tail -1
  1 of 1 workloads failed: late

The summaries of a folder become the keys that a GPU's file has them as; others stay. What is printed is the file's:

  $ mkdir told; echo 'all 9: default launches off by 12.5% (mean), 3% (median); right signs 3 of 4; tau' >told/accuracy.txt
  $ echo '5 replays: off by 1.5% (mean), 0.1% (median)' >told/sampling.txt; cp "$HEDDLE_DATA/gpus/gtx580.toml" made.toml
  $ "$SOURCE/scripts/accuracy-table" --check made.toml told
  made.toml: [compared] is not what told says; write it by --into
  [1]
  $ "$SOURCE/scripts/accuracy-table" --into made.toml told; sed -n '/^.compared/,$p' made.toml
  [compared]
  launches = 9           # told/accuracy.txt
  time_error = 12.5      # told/accuracy.txt
  right_signs = 3        # told/accuracy.txt
  effects = 4            # told/accuracy.txt
  sampled = 5            # told/sampling.txt
  sampled_error = 1.5    # told/sampling.txt
  $ heddle simulate copy-row --size tiny --gpu ./made.toml | grep ^Times
  Times are by a clock. Compared with such a GPU, it was off by 12.5% (mean of 9 default launches), and right about the sign of 75% of plans' effects over 5% (docs/decisions/clock.md).
  $ sed -i 's/of 4; tau/of 8; tau/' told/accuracy.txt; rm told/sampling.txt; "$SOURCE/scripts/accuracy-table" --into made.toml told
  $ "$SOURCE/scripts/accuracy-table" --check made.toml told; grep -E '^(effects|sampled) ' made.toml
  effects = 8            # told/accuracy.txt
  sampled = 5            # told/sampling.txt
  $ heddle accuracy --time --measured times.json matmul-naive
  heddle: times.json has no times of 'matmul-naive'
  [2]
  $ echo '{"copy-col": {"order=col": 8}}' > times.json; heddle accuracy --time --measured times.json
  heddle: times.json: workload 'copy-col': no "baseline" with its microseconds
  [2]
  $ echo '{"copy-col": ' > times.json; heddle accuracy --time --measured times.json
  heddle: times.json: not a JSON object of workloads: unexpected token near end of file
  [2]
  $ heddle accuracy --measured times.json
  heddle: accuracy: --measured goes with --time
  [2]
  $ heddle accuracy --time --depth traffic
  heddle: accuracy: --time needs a clock: --depth timing
  [2]
  $ heddle accuracy --time --depth soon
  heddle: accuracy: --depth takes timing or traffic, not 'soon'
  [2]

A workload that takes too long to model, a device without counters, and a faulty one:

  $ heddle accuracy matmul-naive --size gpu --seconds 1 --device model:h100 | tail -1
  matmul-naive: not modelled within 1 s
  $ heddle accuracy copy-col --size tiny --device emu | tail -1
  copy-col: device emu measures no times
  $ FAKE_CUDA_FAIL=cuStreamSynchronize:3:700 heddle accuracy copy-col --size tiny 2>&1 | cut -c1-60
  heddle: cuda:0: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDR
  $ heddle accuracy copy-col --seconds 0
  heddle: accuracy: --seconds is at least 1
  [2]
  $ heddle accuracy copy-col --gpu nosuch 2>&1 | cut -c1-8
  heddle: 
