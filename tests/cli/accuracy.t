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
