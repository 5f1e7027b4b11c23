The footprint of each access of a kernel:

  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx
  scale: 19 instructions, 0 loops, 2 accesses to global memory: 2 affine, 0 quasi-affine, 0 neither
  arrays: param1 read, param0 written
  order of the CTAs: nothing in the code bars changing it
  
  line  access  bytes  array   per tid.x  per ctaid.x  sectors  address                              threads of a warp
  ----  ------  -----  ------  ---------  -----------  -------  -----------------------------------  -----------------
    32  load        4  param1  4          4*ntid.x           -  4*tid.x + 4*ntid.x*ctaid.x + param1  coalesced
    36  store       4  param0  4          4*ntid.x           -  4*tid.x + 4*ntid.x*ctaid.x + param0  coalesced
  
  Some addresses hold only where 32-bit numbers did not wrap; -v lists the conditions.
  
  where: 4 instructions, 0 loops, 1 access to global memory: 1 affine, 0 quasi-affine, 0 neither
  arrays: param0 written
  order of the CTAs: fixed, line 49: mov.u32 %r1, %smid;: its value depends on where and when the CTA runs
  
  line  access  bytes  array   sectors  address  threads of a warp
  ----  ------  -----  ------  -------  -------  ------------------------------------
    50  store       4  param0        -  param0   one address for neighbouring threads

With the block, sectors per request; -v adds conditions:

  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx -k scale --block 128 -v
  scale: 19 instructions, 0 loops, 2 accesses to global memory: 2 affine, 0 quasi-affine, 0 neither
  arrays: param1 read, param0 written
  order of the CTAs: nothing in the code bars changing it
  
  line  access  bytes  array   per tid.x  per ctaid.x  sectors  address                              threads of a warp
  ----  ------  -----  ------  ---------  -----------  -------  -----------------------------------  -----------------
    32  load        4  param1  4          4*ntid.x           4  4*tid.x + 4*ntid.x*ctaid.x + param1  coalesced
    36  store       4  param0  4          4*ntid.x           4  4*tid.x + 4*ntid.x*ctaid.x + param0  coalesced
  
  line 32:
    runs if -tid.x - ntid.x*ctaid.x + param3 - 1 >= 0
    assuming 0 <= tid.x + ntid.x*ctaid.x < 2^32
  line 36:
    runs if -tid.x - ntid.x*ctaid.x + param3 - 1 >= 0
    assuming 0 <= tid.x + ntid.x*ctaid.x < 2^32

For programs:

  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx -k where --json | sed "/input/d"
  {
    "accesses": [
      {
        "line": 50,
        "kind": "store",
        "bytes": 4,
        "class": "launch",
        "base": {
          "param": 0,
          "name": "where_param_0",
          "offset": 0
        },
        "address": "param0",
        "strides": {},
        "pattern": "one-address",
        "verdict": "one address for neighbouring threads",
        "guards": [],
        "guards_complete": true,
        "assumptions": [],
        "kernel": "where"
      }
    ],
    "kernels": [
      {
        "kernel": "where",
        "instructions": 4,
        "blocks": 2,
        "over_budget": false,
        "loops": [],
        "accesses": [
          {
            "line": 50,
            "kind": "store",
            "bytes": 4,
            "class": "launch",
            "base": {
              "param": 0,
              "name": "where_param_0",
              "offset": 0
            },
            "address": "param0",
            "strides": {},
            "pattern": "one-address",
            "verdict": "one address for neighbouring threads",
            "guards": [],
            "guards_complete": true,
            "assumptions": []
          }
        ],
        "order_free": "no",
        "refusals": [
          {
            "kind": "special-register",
            "line": 49,
            "what": "mov.u32 %r1, %smid;: its value depends on where and when the CTA runs"
          }
        ]
      }
    ]
  }

The control-flow graph, and a whole file's accesses by class:

  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx -k where --dot cfg | grep -c -e "->"
  1
  $ heddle analyze --coverage $SOURCE/tests/cli/data/scale.ptx
  1 module, 2 kernels (0 failed, 0 over the budget), 3 accesses to global memory
  
  address  accesses  share  because of
  -------  --------  -----  ----------
  launch          1  33.3%  
  affine          2  66.7%  
  
  Affine or quasi-affine: 3 (100.0%).
  Files, at any launch: 3 of 3 accesses (100.0%).

With a launch at hand, its arguments say how the kernel divides the CTA's number:

  $ heddle analyze --coverage $SOURCE/corpus/triton/matmul-sm90
  1 module, 1 kernel (0 failed, 0 over the budget), 16 accesses to global memory
  
  address     accesses   share  because of
  ----------  --------  ------  ---------------------------------------------------
  non-linear        16  100.0%  
    division        16  100.0%  a division by a quantity that only the launch fixes
  
  Affine or quasi-affine: 0 (0.0%).
  Of workloads, with their launches' arguments: 16 of 16 accesses (100.0%).
  1 of their kernels divide the CTA's number; the tiles of 1 (100.0%) are known.
  $ heddle analyze $SOURCE/corpus/triton/matmul-sm90 --static | sed -n 1,3p
  matmul: 368 instructions, 1 loop, 16 accesses to global memory: 0 affine, 16 quasi-affine, 0 neither
  at this launch: numbers stand for its arguments
  tiles: line 38 divides the CTA's number, by param4 and param3; 4 x 5 x 1 tiles, shape=4x5:band:4
  $ heddle analyze $SOURCE/corpus/triton/matmul-persistent-sm90 --static | sed -n 3p
  tiles: loop k1, line 244, goes through them in steps of the grid's size; 3 x 4 x 1 tiles, shape=3x4:band:2
  $ heddle analyze $SOURCE/corpus/triton/matmul-persistent-tma-sm90 --static | sed -n 3p
  tiles: loop k1, line 140, goes through them in steps of the grid's size; 5 x 7 x 1 tiles, shape=5x7:band:4
  $ heddle check $SOURCE/corpus/triton/matmul-persistent-sm80 --plan bind=agents 2>&1 | sed 's/line [0-9]*/line N/'
  heddle: line N: the kernel goes through its tiles in a loop of its own, with as many CTAs as the launch has; bind=agents would put another loop around it
  $ heddle analyze $SOURCE/corpus/triton/matmul-sm90 --static --json | grep -A12 '"tiles": {' | grep -E 'answer|shape'
          "answer": "found",
          "shape": "4x5:band:4",

Every access in words, a row for the copies of one, and source lines where the PTX has them. An address rounded from
floats has no stride; a loop whose back edge is taken three times runs four times:

If constants divide the CTA's number, the grid alone gives the tiles, a last group with fewer rows among them. Else
the lines say whose values decide:

  $ heddle analyze $SOURCE/tests/cli/data/groups.ptx -k tiles --grid 60 | sed -n '2,3p; /^line/,/red/p'
  at this launch: numbers stand for its arguments
  tiles: line 18 divides the CTA's number, by constants; 10 x 6 x 1 tiles, shape=10x6:band:4
  line  access  bytes  array   per tid.x  per tile.x  per tile.y  sectors  address                                      threads of a warp
  ----  ------  -----  ------  ---------  ----------  ----------  -------  -------------------------------------------  ------------------------------------
    33  store       4  param0  4          128         1280              -  4*tid.x + param0 + 128*tile.x + 1280*tile.y  coalesced
    36  atomic      4  param0  0          0           4                 -  param0 + 4*tile.y + 7680                     one address for neighbouring threads
  $ heddle analyze $SOURCE/tests/cli/data/groups.ptx -k wide --grid 60 | sed -n 2p
  tiles: line 50 divides the CTA's number, by param1; no shape is known that names each tile once
  $ heddle analyze $SOURCE/tests/cli/data/groups.ptx -k wide --grid 60 --json | grep -A3 '"tiles": {'
        "tiles": {
          "answer": "unknown",
          "loop": null,
          "line": 50,

  $ heddle analyze $SOURCE/tests/cli/data/strides.ptx
  strides: 41 instructions, 1 loop, 9 accesses to global memory: 8 affine, 0 quasi-affine, 1 neither
  arrays: in read, out written
  loop k1: line 42, 1 blocks, runs 4 times
  order of the CTAs: nothing in the code bars changing it
  
  line  source        copies  access  bytes  array  per tid.x  per ctaid.x  per k1   sectors  address                                                            threads of a warp
  ----  ------------  ------  ------  -----  -----  ---------  -----------  -------  -------  -----------------------------------------------------------------  ----------------------------------------------------------
    28  strides.cu:3       1  load        4  in     unknown    unknown      unknown        -  non-linear                                                         unknown: an instruction without a polynomial form, line 24
    32  strides.cu:4       4  load        4  in     64         64*ntid.x    0              -  64*tid.x + 64*ntid.x*ctaid.x + in, and every 4000 bytes to +12000  uncoalesced: neighbouring threads are 64 bytes apart
    46  strides.cu:6       1  load        4  in     4*w        4*w*ntid.x   128            -  in + 128*k1 + 4*w*tid.x + 4*w*ntid.x*ctaid.x                       uncoalesced: neighbouring threads are 4*w bytes apart
    47  strides.cu:6       1  load        4  in     0          0            0              -  in + 16                                                            one address for neighbouring threads
    54  strides.cu:7       1  store       4  out    4          4*ntid.x     0              -  4*tid.x + 4*ntid.x*ctaid.x + out                                   coalesced
    57  strides.cu:7       1  store       4  out    8          8*ntid.x     0              -  8*tid.x + 8*ntid.x*ctaid.x + out                                   partly coalesced: neighbouring threads are 8 bytes apart
  
  Some addresses hold only where 32-bit numbers did not wrap; -v lists the conditions.
  $ heddle analyze $SOURCE/tests/cli/data/strides.ptx --block 64 | sed -n '/^line/,$p' | sed 's/.*  //'
  threads of a warp
  -------------------------------------------------------------------------------------------
  unknown: an instruction without a polynomial form, line 24
  uncoalesced: 32 sectors a warp where 4 would do, neighbouring threads are 64 bytes apart
  uncoalesced: neighbouring threads are 4*w bytes apart
  one address for the warp
  coalesced
  partly coalesced: 8 sectors a warp where 4 would do, neighbouring threads are 8 bytes apart
  
  Some addresses hold only where 32-bit numbers did not wrap; -v lists the conditions.
  $ heddle analyze $SOURCE/tests/cli/data/strides.ptx --json | grep -m2 -e '"runs"' -e '"back_edges"'
            "back_edges": "3",
            "runs": "4"
  $ heddle analyze $SOURCE/tests/cli/data/strides.ptx --json | sed -n '/"line": 32/,/guards/p' | sed '/guards/q'
        "line": 32,
        "kind": "load",
        "bytes": 4,
        "class": "affine",
        "base": {
          "param": 0,
          "name": "in",
          "offset": 0
        },
        "address": "64*tid.x + 64*ntid.x*ctaid.x + in",
        "strides": {
          "tid.x": "64",
          "ctaid.x": "64*ntid.x"
        },
        "pattern": "uncoalesced",
        "verdict": "uncoalesced: neighbouring threads are 64 bytes apart",
        "source": {
          "file": "strides.cu",
          "line": 4
        },
        "guards": [],

Means over launches that differ are those of all their CTAs:

  $ mkdir uneven; cp $SOURCE/tests/cli/data/scale.ptx uneven; cat > uneven/workload.toml <<'END'
  > title = "launches of one kernel that differ"
  > source = "scale.ptx"
  > [sizes.small]
  > n = 256
  > [[buffer]]
  > name = "y"
  > type = "f32"
  > count = "n"
  > [[buffer]]
  > name = "x"
  > type = "f32"
  > count = "n"
  > fill = "iota"
  > [[launch]]
  > kernel = "scale"
  > grid = [1]
  > block = [256]
  > args = ["y", "x", { type = "f32", value = 2 }, { type = "u32", value = "n" }]
  > [[launch]]
  > kernel = "scale"
  > grid = [3]
  > block = [256]
  > args = ["y", "x", { type = "f32", value = 2 }, { type = "u32", value = 0 }]
  > END
  $ heddle analyze ./uneven --gpu gtx580 | grep '^work'
  work        88 to 152 warp instructions a CTA (mean 104), 0 to 16 lines (mean 4)

Input that cannot be analysed:

  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx -k nothing 2>&1 | sed "s|$SOURCE|S|"
  heddle: S/tests/cli/data/scale.ptx: no kernel 'nothing'; there is scale, where
  $ heddle analyze
  heddle: analyze: name one file or workload
  [2]
  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx --dot tree
  heddle: analyze: --dot takes cfg or affinity, not 'tree'
  [2]
