Tasks that read each other's output are found:

  $ heddle check $SOURCE/tests/cli/data/racy --plan order=reverse 2>&1 | sed "s|$SOURCE|S|g"; exit ${PIPESTATUS[0]}
  heddle: racy: the original's result may depend on its schedule: racy's PTX:14:1: race between CTAs: load of 4 bytes at 0x700000000104 meets what CTA (0,0,0) wrote: ld.global.u32 %r2, [%rd3];, in chain, CTA (1,0,0), thread (0,0,0)
  [1]
  $ heddle check $SOURCE/tests/cli/data/racy --plan order=reverse --json 2>/dev/null | grep -E '"(equal|race_free)"'
    "equal": false,
    "race_free": false,

So are warps that do not wait for each other, and results that follow the order in which CTAs come:

  $ heddle check $SOURCE/tests/cli/data/racy-shared --plan baseline 2>&1 | grep -o "the original's result may depend on its schedule\|race inside a CTA: store\|at line 20"
  the original's result may depend on its schedule
  race inside a CTA: store
  at line 20
  $ heddle check $SOURCE/tests/cli/data/scheduled --plan order=reverse 2>&1 | grep -o "the original's result depends on its schedule"
  the original's result depends on its schedule

So is a load through the read-only cache of what the same launch wrote before, but not one in front of the write:

  $ for from in '%rd1' '%rd1+128'; do cat > nc.ptx <<END
  > .version 8.0
  > .target sm_80
  > .address_size 64
  > .visible .entry k(.param .u64 a)
  > {
  >   .reg .b32 %r<3>;
  >   .reg .b64 %rd<3>;
  >   ld.param.u64 %rd1, [a];
  >   mov.u32 %r1, %tid.x;
  >   mul.wide.u32 %rd2, %r1, 4;
  >   add.s64 %rd1, %rd1, %rd2;
  >   ld.global.nc.u32 %r2, [%rd1];
  >   st.global.u32 [%rd1], %r1;
  >   ld.global.nc.u32 %r2, [$from];
  >   st.global.u32 [%rd1+256], %r2;
  >   ret;
  > }
  > END
  > heddle check nc.ptx --grid 1 --block 32 --arg 'u32[128]=iota' --plan order=reverse 2>&1 | grep -oE "a non-coherent load.*written|equal"; done
  a non-coherent load of 4 bytes at 0x700000000100 reads what the launch has written
  equal

Dynamic shared memory that a kernel does not name, and reaches behind its own, moves with that under plans that put a
variable of their own there:

  $ cat > behind.ptx <<END
  > .version 8.0
  > .target sm_80
  > .address_size 64
  > .shared .align 16 .b8 own[512];
  > .visible .entry k(.param .u64 a)
  > {
  >   .reg .b32 %r<6>;
  >   .reg .b64 %rd<3>;
  >   ld.param.u64 %rd1, [a];
  >   mov.u32 %r1, %tid.x;
  >   mov.u32 %r2, %ctaid.x;
  >   mad.lo.u32 %r2, %r2, 128, %r1;
  >   mul.wide.u32 %rd2, %r2, 4;
  >   add.s64 %rd1, %rd1, %rd2;
  >   shl.b32 %r2, %r1, 2;
  >   mov.u32 %r3, own;
  >   add.u32 %r4, %r3, %r2;
  >   st.shared.u32 [%r4+512], %r1;
  >   bar.sync 0;
  >   ld.shared.u32 %r5, [%r4+512];
  >   st.global.u32 [%rd1], %r5;
  >   ret;
  > }
  > END
  $ for plan in order=reverse bind=agents; do heddle check behind.ptx --grid 8 --block 128 --shared 512 --arg 'u32[1024]=zero' --plan $plan 2>&1 | grep -oE "agree under|the launch has dynamic shared memory"; done
  agree under
  agree under

CTAs that wait for one that has no place end the check:

  $ heddle check $SOURCE/tests/cli/data/waiting --plan baseline --sms 1 2>&1 | grep -o "waiting's PTX:17:1: deadlock: the loop at lines 17 to 19"
  waiting's PTX:17:1: deadlock: the loop at lines 17 to 19

A loop that looks as if it waited is refused. The caller's word overrides that, is told, and is put to the test:

  $ heddle check $SOURCE/tests/cli/data/turns --plan order=reverse 2>&1 | grep -o 'a loop may wait here for what another CTA writes'
  a loop may wait here for what another CTA writes
  $ for how in all round-robin; do heddle check $SOURCE/tests/cli/data/turns --plan order=reverse --assume no-waits --dispatcher $how --resident 16 >out 2>&1; echo $?; grep -Eo "'no-waits' does not hold|turns's PTX:14:1: deadlock: the loop at lines 14 to 16|depends on its schedule" out; done
  1
  'no-waits' does not hold
  turns's PTX:14:1: deadlock: the loop at lines 14 to 16
  1
  'no-waits' does not hold
  turns's PTX:14:1: deadlock: the loop at lines 14 to 16
  $ heddle check $SOURCE/tests/cli/data/ready --plan order=reverse >/dev/null 2>&1
  [1]
  $ heddle check $SOURCE/tests/cli/data/ready --plan order=reverse --assume no-waits | grep -E 'equal|assumed'
  ready (small), plan order=reverse: equal
    assumed: no-waits
  $ heddle check $SOURCE/tests/cli/data/ready --plan order=reverse --assume no-waits --json | grep -E '"(equal|assume)"'
    "equal": true,
    "assume": "no-waits"

So it is for the tuner:

  $ for word in '' '--assume no-waits'; do heddle tune $SOURCE/tests/cli/data/ready --device model:h100 --plan order=reverse --store none $word | grep -Eo '1 plan tried, 1 of them refused|assumed: .*|order=reverse  .*x ' ; done
  1 plan tried, 1 of them refused
  assumed: no-waits
  order=reverse      0.972x 
  $ heddle tune $SOURCE/tests/cli/data/ready --device model:h100 --plan order=reverse --store none --assume no-waits --json | grep '"assume"'
      "assume": "no-waits",
  $ heddle optimize $SOURCE/tests/cli/data/ready --assume no-weights
  heddle: optimize: --assume takes no-waits or no-carry, not 'no-weights'; did you mean no-waits?
  [2]

Usage:

  $ heddle check
  heddle: check: name one workload ('heddle list' shows them) or file
  [2]
  $ heddle check no-such-workload --plan order=col 2>&1 | sed 's|among [0-9]*|among N|'
  heddle: there is no workload 'no-such-workload' among N
  $ heddle check matmul-navie --plan order=col
  heddle: there is no workload 'matmul-navie'; there is matmul-naive
  [2]
  $ heddle check $SOURCE/tests/cli/data/racy --size huge 2>&1 | sed "s|$SOURCE|S|g"
  heddle: S/tests/cli/data/racy/workload.toml: there is no size 'huge', known are: small
  $ heddle check $SOURCE/tests/cli/data/racy --dispatcher random
  heddle: no dispatcher 'random' (known: round-robin, demand, shuffled, one-sm, starved, late, serial, reverse)
  [2]
