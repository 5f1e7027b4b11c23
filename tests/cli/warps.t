# needs: nvcc-or-clang

Each warp scheduler runs the same accesses, barriers included, and all CTAs come to their end:

  $ for s in lrr gto oldest two-level two-level:3 ccws priority priority:1; do heddle simulate matmul-tiled --size tiny --gpu gtx480 --depth timing --scheduler $s --json | sed -n 's/.*"\(warp_instructions\|l1_sectors\)": \([0-9]*\).*/\2/p' | tr '\n' ' '; echo; done | sort -u | wc -l | tr -d ' '
  1

Schedulers that steer loads keep more of the warps' own data in L1; a plan's scheduler is as good as an option's:

  $ heddle sweep atax --size small --gpu gtx480 --depth timing --plans "warps=ccws warps=priority:2" | awk -F, 'NR == 2 { all = $6 } NR > 2 { print $1, ($6 > all ? "more" : "no more") }'
  "warps=ccws" more
  "warps=priority:2" more
  $ heddle simulate atax --size tiny --gpu gtx480 --depth timing --scheduler two-level:4 --json | grep '"cycles"' >option; heddle simulate atax --size tiny --gpu gtx480 --depth timing --plan warps=two-level:4 --json | grep '"cycles"' | cmp - option && echo the same
  the same

Groups without a number are as large as the launch's loads leave room for:

  $ heddle sweep mum --size small --gpu gtx480 --depth timing --plans "warps=priority warps=priority:48" | sed 's/".*"//' | awk -F, 'NR == 2 { all = $6 } NR > 2 { print ($6 > all ? "more" : $6 == all ? "all" : "fewer") }'
  more
  all

A scheduler that a GPU cannot have:

  $ heddle simulate atax --size tiny --gpu gtx980 --depth timing --scheduler ccws
  heddle: the warp scheduler ccws keeps data in L1, which gtx980 does not use for global loads
  [2]
  $ heddle simulate atax --size tiny --gpu gtx480 --depth timing --plan warps=priority:64
  heddle: the warp scheduler priority:64: an SM of gtx480 has 48 warps
  [2]
  $ heddle simulate atax --size tiny --gpu gtx480 --scheduler ccws --depth traffic
  heddle: the warp scheduler ccws needs a clock: --depth timing
  [2]
  $ heddle simulate atax --size tiny --gpu gtx480 --scheduler fifo
  heddle: no warp scheduler 'fifo': there are lrr, gto, two-level[:N], ccws, priority[:N], oldest
  [2]

A kernel does not carry its scheduler with it:

  $ heddle check atax --size tiny --plan warps=ccws
  heddle: atax_rows: warps: a GPU's warp schedulers are as they are; only modelled GPUs (simulate, sweep) have others
  [1]

A threshold register of the caches (BYP 6.2) changes no code and adds no instructions; a kernel cannot have one:

  $ heddle sweep hotspot --size tiny --gpu gtx570 --plans "bypass=l1:0,form=register bypass=l1:8,form=register order=col,bypass=l1:0,form=register bypass=l1:0+l2:4,form=register" | sed 's/".*"//' | awk -F, 'NR == 2 { all = $5 } NR > 2 { print ($5 == 0 ? "none" : $5 == all ? "all" : "some"), "of the loads go through L1" }'
  none of the loads go through L1
  all of the loads go through L1
  none of the loads go through L1
  none of the loads go through L1
  $ heddle check hotspot --size tiny --plan bypass=l1:1,form=register
  heddle: hotspot_steps: form=register: no GPU has a register of thresholds; only modelled ones (simulate, sweep) do
  [1]
