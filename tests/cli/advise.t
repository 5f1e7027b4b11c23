# needs: nvcc-or-clang

A page on a workload:

  $ heddle analyze dct8x8 --size tiny --gpu gtx580 | sed '/^work/d'
  dct8x8 (tiny) on GeForce GTX 580 (Fermi)
  
  category    cache-line
              100% of line reuse and 0% of word reuse cross CTAs. Of the lines that CTAs touch, 100%
              are shared with some other CTAs and 0% with all. Most of it is coefficients, 0% of whose
              used words other CTAs use too. CTAs share lines rather than words.
  direction   x: with the next CTA along x, y, z are shared 60%, 0%, 0% (Y-P)
  order free  checked on this input: no refusal, no race
  occupancy   15 CTAs of 2 warps keep 15 of 16 SMs busy, each with 2 of 48 warps at once (8 CTAs would
              fit)
              Latency decides the time of so small a launch, not bandwidth.
  
  reuse of lines: where it happens; of the lines that CTAs touch: shared with all, with the next
  CTA along x, y, z, with others only
    array         requests  loads  in warp  in CTA  inter  by all    x   y   z  apart  sectors used  regular  address
    all                480    50%       0%      0%   100%      0%  60%  0%  0%    10%          100%     100%  -
    image              120   100%       0%      0%   100%      0%  60%  0%  0%    10%          100%     100%  affine
    coefficients       240    50%       0%      0%   100%      0%  60%  0%  0%    10%          100%     100%  affine
    restored           120     0%       0%      0%   100%      0%  60%  0%  0%    10%          100%     100%  affine
  
  proposals  plan                      time  L1 hits  L2 sectors  DRAM bytes  because
    1        stream=auto              1.00x     +0.0        -60%         +0%  0% of the data of some loads is requested again; it takes room in L1 from other loads' data
    2        bypass=l1:1,stream=auto  1.00x     +0.0        -60%         +0%  0% of the data of some loads is requested again; it takes room in L1 from other loads' data
  The file of gtx580 has no [launch]: a launch costs nothing beside its CTAs' work.
  
  forward_dct, reuse between CTAs from the code: direction x
  
  array         distance x  y  z  lines shared along x     y     z
  ------------  ----------  -  -  --------------------  ----  ----
  image                  4  0  0                 60.0%  0.0%  0.0%
  coefficients           4  0  0                 60.0%  0.0%  0.0%
  
  inverse_dct, reuse between CTAs from the code: direction x
  
  array         distance x  y  z  lines shared along x     y     z
  ------------  ----------  -  -  --------------------  ----  ----
  coefficients           4  0  0                 60.0%  0.0%  0.0%
  restored               4  0  0                 60.0%  0.0%  0.0%

The same for programs:

  $ heddle analyze backprop --size tiny --gpu gtx580 --json | grep -E '^  "(category|direction|partition|order_free)"'
    "category": "cache-line",
    "direction": "y",
    "partition": "X-P",
    "order_free": "checked on this input",

Which CTAs share with which:

  $ heddle analyze spmm-community --size tiny --dot affinity | head -2
  graph affinity {
    node [shape=point];
  $ for all in "" --verbose; do heddle analyze matmul-tiled --size small --param n=448 --dot affinity $all | awk '/--/ { n++ } END { print (n > 2000 ? n : "2000 at most") }'; done
  2000 at most
  2548
  $ heddle analyze dct8x8 --dot both
  heddle: analyze: --dot takes cfg or affinity, not 'both'
  [2]
  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx --dot affinity
  heddle: analyze: --dot affinity needs a workload, whose CTAs can be run
  [2]

Orders that a trace tells are found, proved and simulated like others:

  $ heddle check spmm-community --size tiny --plan order=affinity,bind=redirect | head -2
  spmm-community (tiny), plan order=affinity,bind=redirect: equal
    21264 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory); the original agrees with its reference
  $ heddle simulate spmm-community --size tiny --plan order=heavy-first --json | grep '"plan'
    "plan": "order=heavy-first",

One table fits one grid:

  $ heddle check nw --size tiny --plan order=affinity
  heddle: nw_growing: an order that is a table fits one grid only, and the grid is not known
  [1]

MAP's directions, from the code:

  $ heddle analyze --directions --size paper matmul-naive transpose
  workload      kernel        grid           distance x   y  z  direction  because of  arrays without numbers
  ------------  ------------  -------------  ----------  --  -  ---------  ----------  ----------------------
  matmul-naive  matmul_naive  16 x 64 x 1            15  63  0  y          b                           0 of 3
  transpose     transpose     256 x 256 x 1           1   1  0  x          in                          0 of 2
