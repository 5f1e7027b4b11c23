What a newcomer meets in the first hour. A file without its launch shows what there is to be filled in, and a wrong name
of a kernel is told first:

  $ cp $SOURCE/tests/cli/data/scale.ptx .; heddle optimize scale.ptx -k scale
  heddle: scale.ptx: scale needs its launch, with an --arg for each parameter: 1: .u64, 2: .u64, 3: .f32, 4: .u32; fill in: --grid X,Y,Z --block X,Y,Z --arg 'f32[COUNT]=uniform(-1, 1)' --arg 'f32[COUNT]=uniform(-1, 1)' --arg f32:VALUE --arg u32:VALUE
  [2]
  $ heddle optimize scale.ptx -k scales
  heddle: scale.ptx: no kernel 'scales'; did you mean scale?
  [2]
  $ heddle check $SOURCE/tests/cli/data/own.ptx -k row_sums 2>&1 | sed "s,.*/own,own,"
  own.ptx: row_sums needs its launch, with an --arg for each parameter: 1: int const* (.u64), 2: int const* (.u64), 3: float const* (.u64), 4: float const* (.u64), 5: float* (.u64), 6: int (.u32); fill in: --grid X,Y,Z --block X,Y,Z --arg 's32[COUNT]=iota' --arg 's32[COUNT]=iota' --arg 'f32[COUNT]=uniform(-1, 1)' --arg 'f32[COUNT]=uniform(-1, 1)' --arg 'f32[COUNT]=uniform(-1, 1)' --arg s32:VALUE

An argument of another type is named, and so is the buffer that a kernel leaves:

  $ heddle check scale.ptx -k scale --grid 1 --block 64 --arg 'f32[64]=none' --arg 'f32[64]=iota' --arg f32:2.5 --arg f32:64
  heddle: scale-scale: argument 4 of kernel 'scale' is .u32, the workload gives f32
  [2]
  $ heddle check scale.ptx -k scale --grid 1 --block 64 --arg 'f32[64]=none' --arg 'f32[64]=iota' --arg s32:2 --arg u32:64
  heddle: scale-scale: argument 3 of kernel 'scale' is .f32, the workload gives s32
  [2]
  $ heddle check scale.ptx -k scale --grid 1 --block 64 --arg 'out=f32[64]=none' --arg 'f32[32]=iota' --arg f32:2.5 --arg u32:64 2>&1 | grep -o 'allocation at .*: ld' | sed 's/0x[0-9a-f]*/X/'
  allocation at X, which is arg2, f32[32]: ld

--save makes folders, and the names of files are bytes:

  $ heddle check scale.ptx -k scale --grid 1 --block 64 --arg 'f32[64]=none' --arg 'f32[64]=iota' --arg f32:2.5 --arg u32:64 --save a/b/c | head -1; ls a/b/c
  scale-scale (small), plan baseline: equal
  module.ptx
  workload.toml
  $ name=$(printf 's\377a.ptx'); mkdir bytes; cp scale.ptx "bytes/$name"; heddle check "bytes/$name" -k scale --grid 1 --block 64 --arg 'f32[64]=none' --arg 'f32[64]=iota' --arg f32:2.5 --arg u32:64 | head -1
  s_a-scale (small), plan baseline: equal

heddle list, and a workload's name, do not mean files of the working folder:

  $ echo text > matmul-naive; heddle list | grep -c '^matmul-naive '; heddle simulate matmul-naive --size tiny --gpu gtx580 | head -1
  1
  heddle: matmul-naive is heddle's own workload; the file of that name is ./matmul-naive
  matmul-naive (tiny) on GeForce GTX 580 (Fermi), round-robin dispatch, plan baseline
  $ heddle simulate ./matmul-naive --size tiny
  heddle: ./matmul-naive:1:1: expected .version, found 'text'
  [2]
  $ rm matmul-naive

A sweep's row of a plan that failed has no numbers, but the reason:

  $ heddle sweep matmul-naive --size tiny --gpu gtx580 --plans 'order=col order=table:none' | sed -n '/failed/s/,,*/,/gp'
  "order=table:none",failed,cannot open: No such file or directory

What Ctrl-C ends has the rows that were there by then, and exit code 130:

  $ plans=$(for a in {1..60}; do for b in {1..60}; do echo order=tile:${a}x$b; done; done); heddle sweep matmul-naive --size small --gpu gtx580 --plans "$plans" --threads 1 -o rows.csv & p=$!; until grep -q 'SigCgt:.*[2367abef]$' /proc/$p/status; do sleep 0.1; done; sleep 0.3; kill -INT $p; wait $p; echo $?; grep -c ',not tried,.*stopped' rows.csv | grep -c '[0-9][0-9]'; wc -l < rows.csv
  heddle: stopping when what is under way is done; Ctrl-C again: at once
  130
  1
  3602

What to do with a rewritten kernel is printed beside it; docs/after.md goes on from there:

  $ heddle rewrite scale.ptx -k scale --plan bind=agents -o new.ptx
  // Launch scale as before, but with these parameters behind its own:
  //   .u64 at 24: the address of 17024 bytes of device memory, zero at first; each launch leaves them zero.
  //     Launches that may run at once need one such buffer each.
  //   .u32 at 32, twice more behind it: the dimensions of the grid it had before
  // and in a grid of one dimension: the number of SMs times the CTAs that fit on one, no more than tasks.
  $ heddle rewrite scale.ptx -k scale --plan order=reverse -o new.ptx
  // Launch scale as before.

A proof that takes long says so before it begins:

  $ timeout 1 heddle check scale.ptx -k scale --grid 200000000 --block 256 --arg 'f32[1024]=none' --arg 'f32[1024]=iota' --arg f32:2.5 --arg u32:1024
  heddle: 9 runs on the emulator: about 3.1 h, longer where kernels loop
  [124]
