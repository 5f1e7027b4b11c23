The footprint of each access of a kernel:

  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx
  scale: 19 instructions, 0 loops, 2 accesses to global memory: 2 affine, 0 quasi-affine, 0 neither
  arrays: param1 read, param0 written
  order of the CTAs: nothing in the code bars changing it
  
  line  access  bytes  array   per tid.x  per ctaid.x  sectors  address
  ----  ------  -----  ------  ---------  -----------  -------  -----------------------------------
    32  load        4  param1  4          4*ntid.x           -  4*tid.x + 4*ntid.x*ctaid.x + param1
    36  store       4  param0  4          4*ntid.x           -  4*tid.x + 4*ntid.x*ctaid.x + param0
  
  Some addresses hold only where 32-bit numbers did not wrap; -v lists the conditions.
  
  where: 4 instructions, 0 loops, 1 accesses to global memory: 1 affine, 0 quasi-affine, 0 neither
  arrays: param0 written
  order of the CTAs: fixed, line 49: mov.u32 %r1, %smid;: its value depends on where and when the CTA runs
  
  line  access  bytes  array   sectors  address
  ----  ------  -----  ------  -------  -------
    50  store       4  param0        -  param0

With the block, sectors per request; -v adds conditions:

  $ heddle analyze $SOURCE/tests/cli/data/scale.ptx -k scale --block 128 -v
  scale: 19 instructions, 0 loops, 2 accesses to global memory: 2 affine, 0 quasi-affine, 0 neither
  arrays: param1 read, param0 written
  order of the CTAs: nothing in the code bars changing it
  
  line  access  bytes  array   per tid.x  per ctaid.x  sectors  address
  ----  ------  -----  ------  ---------  -----------  -------  -----------------------------------
    32  load        4  param1  4          4*ntid.x           4  4*tid.x + 4*ntid.x*ctaid.x + param1
    36  store       4  param0  4          4*ntid.x           4  4*tid.x + 4*ntid.x*ctaid.x + param0
  
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
  1 modules, 2 kernels (0 failed, 0 over the budget), 3 accesses to global memory
  
  address  accesses  share  because of
  -------  --------  -----  ----------
  launch          1  33.3%  
  affine          2  66.7%  

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
  heddle: analyze: --dot draws cfg or affinity, not 'tree'
  [2]
