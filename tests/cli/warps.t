# needs: nvcc-or-clang

Each warp scheduler runs the same accesses, barriers included, and all CTAs come to their end:

  $ for s in lrr gto oldest two-level two-level:3 ccws priority priority:1; do heddle simulate matmul-tiled --size tiny --gpu gtx480 --depth timing --scheduler $s --json | sed -n 's/.*"\(warp_instructions\|l1_sectors\)": \([0-9]*\).*/\2/p' | tr '\n' ' '; echo; done | sort -u | wc -l | tr -d ' '
  1

Schedulers that steer loads keep more of the warps' own data in L1:

  $ for s in gto ccws priority:2; do heddle simulate atax --size small --gpu gtx480 --depth timing --exact --scheduler $s --json | jq .l1_hits; done | awk 'NR == 1 { all = $1 } NR > 1 { print ($1 > all ? "more" : "no more") }'
  more
  more

Groups without a number are as large as the launch's loads leave room for:

  $ for s in gto priority priority:48; do heddle sweep mum --size small --gpu gtx480 --depth timing --scheduler $s --plans baseline | sed -n 2p; done | sed 's/".*"//' | awk -F, 'NR == 1 { all = $6 } NR > 1 { print ($6 > all ? "more" : $6 == all ? "all" : "fewer") }'
  more
  all

A scheduler that a GPU cannot have:

  $ heddle simulate atax --size tiny --gpu gtx980 --depth timing --scheduler ccws
  heddle: the warp scheduler ccws keeps data in L1, which gtx980 does not use for global loads
  [2]
  $ heddle simulate atax --size tiny --gpu gtx480 --depth timing --scheduler priority:64
  heddle: the warp scheduler priority:64: an SM of gtx480 has 48 warps
  [2]
  $ heddle simulate atax --size tiny --gpu gtx480 --scheduler ccws --depth traffic
  heddle: the warp scheduler ccws needs a clock: --depth timing
  [2]
  $ heddle simulate atax --size tiny --gpu gtx480 --scheduler fifo
  heddle: no warp scheduler 'fifo': there are lrr, gto, two-level[:N], ccws, priority[:N], oldest
  [2]

A threshold register of the caches (BYP 6.2) changes no code and adds no instructions, unless a plan says how it is coded:

  $ heddle sweep hotspot --size tiny --gpu gtx570 --bypass-register --plans "bypass=l1:0 bypass=l1:8 order=col,bypass=l1:0 bypass=l1:0+l2:4" | sed 's/".*"//' | awk -F, 'NR == 2 { all = $5 } NR > 2 { print ($5 == 0 ? "none" : $5 == all ? "all" : "some"), "of the loads go through L1" }'
  none of the loads go through L1
  all of the loads go through L1
  none of the loads go through L1
  none of the loads go through L1
  $ for o in "" --bypass-register; do for p in baseline bypass=l1:4 bypass=l1:4,form=predicate; do heddle simulate matmul-tiled --size tiny --gpu gtx570 --plan $p $o --json | jq .warp_instructions; done; done | awk '{ print ($1 > first ? "more" : "as many"); if (NR == 1) first = $1 }' | sed 1d
  more
  more
  as many
  as many
  more
