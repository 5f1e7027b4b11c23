# needs: nvcc-or-clang
Which plans work on which workloads:

  $ heddle levers matmul-naive micro/locality --plan order=reverse --plan threads=cta:col | sed 's/line [0-9]*: .*%smid/line N: ... %smid/'
  # Which plans work on which workloads
  
  Made by `heddle levers` at size tiny. *yes*: the rewritten kernels compute the same bytes as the originals under
  every dispatcher of the emulator. A letter: the plan is refused, for the reason below the table.
  
  | workload | order=reverse | threads=cta:col |
  | --- | --- | --- |
  | matmul-naive | yes | yes |
  | micro/locality | a | a |
  
  2 equal, 2 refused, 0 different.
  
  Refused because
  
  - a: locality_temporal: line N: ... %smid;: its value depends on where and when the CTA runs
  $ heddle levers copy-row --plan bind=agents --json
  {
    "copy-row": {
      "bind=agents": {
        "answer": "equal",
        "why": ""
      }
    }
  }
  $ heddle levers no-such-workload
  heddle: there is no workload 'no-such-workload' among 77
  [2]
  $ heddle levers copy-row --plan order=spiral
  heddle: plan, column 7: order=spiral: no such order; there are row, col, band, tile, zigzag, stride, hilbert, reverse, heavy-first, affinity, table
  [2]

Random compositions of all levers at random sizes; a folder stands for the workloads in it:

  $ heddle levers --random 500 --threads 2 --json | grep -E '"(seed|sizes|different|differences)": ("|[0-9]|\[)' | sort -u
        "different": 0
    "differences": []
    "different": 0,
    "seed": 1,
    "sizes": 63,
  $ heddle levers $SOURCE/kernels/micro --random 32 --seed 7 --threads 1 | head -2
  32 compositions of levers on 2 workloads at 4 sizes, each under three dispatchers: one worker
  at a time, all at once, and one drawn (seed 7)
  $ heddle levers $SOURCE/kernels/micro --random 32 --seed 7 --threads 2 --json | sha256sum > one; heddle levers $SOURCE/kernels/micro --random 32 --seed 7 --threads 1 --json | sha256sum | cmp - one
  $ heddle levers --random 8 --plan order=col
  heddle: levers: --random draws its plans; --plan names them
  [2]
  $ heddle levers no-such-folder --random 8 2>&1 | sed 's/among [0-9]*/among N/'
  heddle: there is no workload 'no-such-folder' among N

A size's parameters, within the ranges that the workload gives:

  $ heddle check transpose --size tiny --param width=1 --param height=131 --plan order=hilbert,bind=agents:2 --dispatcher round-robin --resident 64 --sms 3 --seed 9 | head -2
  transpose (tiny), plan order=hilbert,bind=agents:2: equal
    1048 bytes agree under 1 dispatcher; no races were found (not checked: printed text; threads of one CTA in global memory); the original agrees with its reference
  $ heddle check nw --size tiny --param n=40
  heddle: nw: n is 40, allowed are 32 to 9223372036854775807 in steps of 16
  [2]
  $ heddle check nw --size tiny --param m=40
  heddle: nw: there is no parameter 'm', known are: n
  [2]
  $ heddle check nw --size tiny --param n
  heddle: nw: 'n' should be n=NUMBER
  [2]

Compositions that once gave wrong results:

  $ heddle check dct-naive --size tiny --param height=40 --param width=8 --plan order=stride:4x8 --sms 15 --dispatcher serial | head -1
  dct-naive (tiny), plan order=stride:4x8: equal
  $ heddle check conv3d --size tiny --plan threads=cta:stride:4x3 --dispatcher serial | head -1
  conv3d (tiny), plan threads=cta:stride:4x3: equal
