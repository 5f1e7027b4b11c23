# needs: nvcc-or-clang

Replays find times by a clock, or count traffic without one:

  $ for o in '' '--depth traffic' '--gpu gtx580'; do heddle simulate copy-row --size tiny $o | sed -n 's/  [0-9.]* \(us\|MB\).*/ \1/;2p'; done
    predicted time us
    traffic      MB
    predicted time us
  $ heddle simulate copy-row --size tiny --depth timing | sed -n 's/  [0-9.]* us \(([a-z ]*\).*/ \1/;2p'
    predicted time (by a clock
  $ heddle simulate copy-row --size tiny --depth timing --json | grep depth
    "depth": "timing",

Nothing then speaks of time:

  $ heddle simulate copy-row --size tiny --depth traffic --json | grep -cE 'time|us"|cycles|stall|speedup'
  0
  [1]
  $ heddle sweep copy-row --size tiny --depth traffic --plans order=col | cut -d, -f3,5 | sed 's/,[0-9][0-9]*/,N/'
  time_us,l1_sectors
  ,N
  ,N

  $ heddle simulate copy-row --size tiny --depth cycles
  heddle: simulate: --depth takes timing or traffic, not 'cycles'
  [2]
  $ sed '/^\[units\]/,/^tensor_latency/d' "$HEDDLE_DATA/gpus/h100.toml" >plain.toml; heddle simulate copy-row --size tiny --gpu ./plain.toml >/dev/null && heddle simulate copy-row --size tiny --gpu ./plain.toml --depth timing
  heddle: GPU 'plain': its file has no [units], which a clock needs: simulate and sweep count its traffic, and nothing predicts times
  [2]

Launches cost nothing where the file does not say what they cost, and no other GPU than an H100 was compared. Without
[units] there are no times:

  $ for gpu in h100 gtx580 ./plain.toml; do heddle simulate copy-row --size tiny --gpu $gpu | sed -n '/^T[a-z]* are/,$p'; done | sed 's/off by [0-9.]*% (mean of [0-9]*/off by N% (mean of N/; s/sign of [0-9]*%/sign of N%/'
  Times are by a clock. Compared with such a GPU, it was off by N% (mean of N default launches), and right about the sign of N% of plans' effects over 5% (docs/decisions/clock.md).
  Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).
  The file of gtx580 has no [launch]: a launch costs nothing beside its CTAs' work.
  There are no times without a clock (the file of plain has no [units]): plans rank by traffic, the bytes that L2 and DRAM move.
  $ heddle simulate copy-row --size tiny --gpu gtx580 --depth traffic | sed -n '/^There/,$p'
  There are no times without a clock (--depth traffic): plans rank by traffic, the bytes that L2 and DRAM move.
  $ heddle simulate copy-row --size tiny --l1 32768 --gpu gtx480 | sed -n '/^Times/,$p' | cut -c1-60
  Times are by a clock that was not compared with such a GPU (
  The file of gtx480 has no [launch]: a launch costs nothing b

The page of a sweep says so, too:

  $ heddle sweep copy-row --size tiny --gpu gtx580 --plans order=col --html page.html >sweep.csv; grep -oE 'The file of gtx580 has no \[launch\]|"time":"[a-z]*"' page.html
  "time":"clock"
  The file of gtx580 has no [launch]
  $ heddle sweep copy-row --size tiny --gpu ./plain.toml --plans order=col --html page.html >sweep.csv; grep -oE 'the file of plain has no \[units\]|"time":"[a-z]*"' page.html
  the file of plain has no [units]

Parts of a GPU's file that heddle changes make another GPU of it:

  $ heddle simulate copy-row --size tiny --scheduler lrr | grep -o 'Times are by a clock that was not compared'
  Times are by a clock that was not compared
