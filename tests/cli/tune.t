# needs: nvcc-or-clang

Tuning on a modelled GPU, whose times do not vary:

  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db --rows 1 --no-advice | sed 's/in [0-9.]* s (.*)/in some s/; s/ *[0-9.]*x .*//; s/[0-9]* plans tried.*/so many plans/; s/  *speedup.*//; s/-- .*/--/'
  matmul-swapped (tiny) on model:gtx580 (GeForce GTX 580 (Fermi)): tuned in some s
  
  kernel matmul_swapped
  plan
  -----------
  threads=col
    so many plans
    verdict: threads=col,
  

The verdict is kept, listed, and used by the next run:

  $ heddle verdicts --store v.db --json | grep -E '"(name|plan|gpu|driver|launch)"'
        "launch": "grid=2x5x1 block=32x8x1 shared=0 args=any",
        "gpu": "model:gtx580",
        "driver": "none",
        "name": "matmul-swapped",
        "plan": "threads=col",
  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db | sed 's/, [0-9.]*x.*//'
  matmul-swapped (tiny) on model:gtx580 (GeForce GTX 580 (Fermi)): kept from an earlier run; --again tunes anew
  
  kernel matmul_swapped
    verdict: threads=col
  
  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db --json | grep -cE '"recalled": true'
  1
  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db --again --no-advice --json | grep -E '"(recalled|proof|proof_why)"'
      "recalled": false,
          "proof": "proved",
          "proof_why": "8 dispatchers",
  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db --verify | sed 's/in [0-9.]* s/in some s/; s/, [0-9.]*x.*//'
  matmul-swapped (tiny) on model:gtx580 (GeForce GTX 580 (Fermi)): verified in some s
  
  kernel matmul_swapped
    verdict: threads=col
  
  $ heddle tune copy-col --device model:gtx580 --size tiny --store v.db --verify
  heddle: copy-col (tiny): there is no verdict to verify
  [2]

On the fake driver every kernel gets a plan of its own; --whole gives all of them one:

  $ heddle tune atax --size tiny --store none --budget 1 --no-advice --json | grep -E '"(kernel|device)"'
      "device": "cuda:0",
          "kernel": "atax_rows",
          "kernel": "atax_columns",
  $ heddle tune atax --size tiny --store none --budget 1 --no-advice --whole --json | grep -E '"(kernel|device)"'
      "device": "cuda:0",
          "kernel": "",

Mistakes; what fails does not keep the rest from being tuned:

  $ heddle tune
  heddle: tune: name one workload or more ('heddle list' shows them)
  [2]
  $ heddle tune copy-col --again --verify
  heddle: tune: --again makes new verdicts, --verify measures those there are
  [2]
  $ heddle tune copy-col --l2 drop
  heddle: tune: --l2 takes flush or keep, not 'drop'
  [2]
  $ heddle tune copy-col --device emu --size tiny --store none
  heddle: device emu measures no times
  [2]
  $ heddle tune nosuch copy-col --device model:gtx580 --size tiny --store none --no-advice --rows 0 2>/dev/null | grep -c verdict
  1
  $ heddle tune nosuch --device model:gtx580 --store none 2>&1 | sed 's/ among.*//'
  heddle: there is no workload 'nosuch'
  $ heddle tune copy-col --device model:gtx580 --store none --plan order=nonsense 2>&1 | cut -c1-50
  heddle: plan, column 7: order=nonsense: no such or
