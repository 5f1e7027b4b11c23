Tasks that read each other's output are found:

  $ heddle check $SOURCE/tests/cli/data/racy --plan order=reverse 2>&1 | sed "s|$SOURCE|S|g"; exit ${PIPESTATUS[0]}
  heddle: racy: the original's result depends on its schedule: racy:14:1: race between CTAs: load of 4 bytes at 0x700000000104 meets what CTA (0,0,0) wrote: ld.global.u32 %r2, [%rd3];, in chain, CTA (1,0,0), thread (0,0,0)
  [1]
  $ heddle check $SOURCE/tests/cli/data/racy --plan order=reverse --json 2>/dev/null | grep -E '"(equal|race_free)"'
    "equal": false,
    "race_free": false,

So are warps that do not wait for each other, and results that follow the order in which CTAs come:

  $ heddle check $SOURCE/tests/cli/data/racy-shared --plan baseline 2>&1 | grep -o "the original's result depends on its schedule\|race inside a CTA: store\|at line 20"
  the original's result depends on its schedule
  race inside a CTA: store
  at line 20
  $ heddle check $SOURCE/tests/cli/data/scheduled --plan order=reverse 2>&1 | grep -o "the original's result depends on its schedule"
  the original's result depends on its schedule

CTAs that wait for one that has no place end the check:

  $ heddle check $SOURCE/tests/cli/data/waiting --plan baseline --sms 1 2>&1 | grep -o 'waiting:17:1: deadlock: the loop at lines 17 to 19'
  waiting:17:1: deadlock: the loop at lines 17 to 19

Usage:

  $ heddle check
  heddle: check: name one workload ('heddle list' shows them)
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
