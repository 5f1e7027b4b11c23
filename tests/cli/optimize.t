A kernel that no order helps is left as it is; the report is still written:

  $ heddle optimize $SOURCE/tests/cli/data/scale.ptx -k scale --gpu h100 --grid 64 --block 256 --arg 'f32[16384]=none' --arg 'f32[16384]=uniform(-1, 1)' --arg f32:2.5 --arg u32:16384 | sed '/^(/d' | tail -5
  The kernel is left as it is: no gain is predicted; latency bounds the time on h100, not bandwidth: 64 CTAs of 8 warps keep 64 of 132 SMs busy, each with 8 of 64 warps at once (8 CTAs would fit).
  Where the default's warps spend their time: 95% memory, 3% dependency, 1% throttle, 1% issuing.
  The model does not see the gain of loads on the read-only path, or of loads whose lines L2 gives up first. On a GPU, measure these, the most promising first:
    heddle time ... --device cuda:0 --plan bypass=ro:8 --plan bypass=ro:0 --plan bypass=l2:0 --plan bypass=ro:4 --plan bypass=ro:1 --plan bypass=l2:4
  Wrote ./scale-scale.html.
  $ ls
  scale-scale.html
  scale-scale.json

The seconds add up to the whole:

  $ heddle optimize $SOURCE/tests/cli/data/scale.ptx -k scale --gpu h100 --grid 64 --block 256 --arg 'f32[16384]=none' --arg 'f32[16384]=uniform(-1, 1)' --arg f32:2.5 --arg u32:16384 | sed -n 's/[0-9][0-9.]*/N/g; /traces/p'
  (N s: traces N, advice N, replays N, proof N, all else N)

The folder for both is made before the work begins, or refused:

  $ heddle optimize $SOURCE/tests/cli/data/scale.ptx -k scale --gpu h100 --grid 64 --block 256 --arg 'f32[16384]=none' --arg 'f32[16384]=uniform(-1, 1)' --arg f32:2.5 --arg u32:16384 -o new | grep Wrote; ls new
  Wrote new/scale-scale.html.
  scale-scale.html
  scale-scale.json
  $ heddle optimize transpose --size tiny -o new/scale-scale.html
  heddle: cannot write in the folder new/scale-scale.html: Not a directory
  [2]

Launches that are not described well:

  $ cd $SOURCE/tests/cli/data; heddle optimize scale.ptx -k scale --gpu h100
  heddle: scale.ptx: scale needs its launch, with an --arg for each parameter: 1: .u64, 2: .u64, 3: .f32, 4: .u32; fill in: --grid X,Y,Z --block X,Y,Z --arg 'f32[COUNT]=uniform(-1, 1)' --arg 'f32[COUNT]=uniform(-1, 1)' --arg f32:VALUE --arg u32:VALUE
  [2]
  $ cd $SOURCE/tests/cli/data; heddle optimize scale.ptx -k scale --gpu h100 --grid 64 --block 256 --arg 'f32[16]=none'
  heddle: scale-scale: kernel 'scale' takes 4 arguments, the workload gives 1
  [2]
  $ cd $SOURCE/tests/cli/data; heddle optimize scale.ptx -k scale --gpu h100 --grid 64 --block 256 --arg 'f32=3'
  heddle: --arg 'f32=3' is none of struct{FIELD, ...}, texture{MEMORY, KEY=VALUE, ...}, TYPE[COUNT]=FILL, TYPE:VALUE, a buffer's NAME
  [2]
