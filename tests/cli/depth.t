# needs: nvcc-or-clang

Replays bound a time by the busiest resource, or find it by a clock:

  $ heddle simulate copy-row --size tiny | sed -n 's/  [0-9.]* us.*//;2p'; heddle simulate copy-row --size tiny --depth traffic | sed -n 's/  [0-9.]* us.*//;2p'; heddle simulate copy-row --size tiny --gpu gtx580 | sed -n 's/  [0-9.]* us.*//;2p'
    predicted time
    bound on time
    bound on time
  $ heddle simulate copy-row --size tiny --depth timing | sed -n 's/  [0-9.]* us \(([a-z ]*\).*/ \1/;2p'
    predicted time (by a clock
  $ heddle simulate copy-row --size tiny --depth timing --json | grep depth
    "depth": "timing",

A kernel of one CTA takes as long as its loads and stores, which no resource's bound shows:

  $ for d in traffic timing; do heddle simulate copy-row --size tiny --depth $d --json | sed -n 's/.*"cycles": \([0-9]*\).*/\1/p'; done | sort -n | head -1 >least; heddle simulate copy-row --size tiny --depth traffic --json | sed -n 's/.*"cycles": \([0-9]*\).*/\1/p' | diff - least && echo the bound is less
  the bound is less

  $ heddle simulate copy-row --size tiny --depth cycles
  heddle: simulate: --depth takes timing or traffic, not 'cycles'
  [2]
  $ sed '/^\[units\]/,/^tensor_latency/d' "$HEDDLE_DATA/gpus/h100.toml" >plain.toml; heddle simulate copy-row --size tiny --gpu ./plain.toml >/dev/null && heddle simulate copy-row --size tiny --gpu ./plain.toml --depth timing
  heddle: GPU 'plain': its file has no [units], which a clock needs
  [2]
