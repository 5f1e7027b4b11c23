# needs: nvcc-or-clang
Which plans work on which workloads:

  $ heddle matrix matmul-naive micro/locality --plan order=reverse --plan threads=cta:col | sed 's/line [0-9]*: .*%smid/line N: ... %smid/'
  # Which plans work on which workloads
  
  Made by `heddle matrix` at size tiny. *yes*: the rewritten kernels compute the same bytes as the originals under
  every dispatcher of the emulator. A letter: the plan is refused, for the reason below the table.
  
  | workload | order=reverse | threads=cta:col |
  | --- | --- | --- |
  | matmul-naive | yes | yes |
  | micro/locality | a | a |
  
  2 equal, 2 refused, 0 different.
  
  Refused because
  
  - a: locality_temporal: line N: ... %smid;: its value depends on where and when the CTA runs
  $ heddle matrix copy-row --plan bind=agents --json
  {
    "copy-row": {
      "bind=agents": {
        "answer": "equal",
        "why": ""
      }
    }
  }
  $ heddle matrix no-such-workload
  heddle: there is no workload 'no-such-workload' among 68
  [2]
  $ heddle matrix copy-row --plan order=spiral
  heddle: plan, column 7: order=spiral: no such order; there are row, col, band, tile, zigzag, stride, hilbert, reverse, heavy-first, affinity, table
  [2]
