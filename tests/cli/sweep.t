# needs: nvcc-or-clang

Thresholds of the read-only path are among the plans that are tried:

  $ heddle sweep decode-shared-prefix --size tiny --gpu h100 | grep -o '^"bypass=ro:[0-9]*"'
  "bypass=ro:4"
  "bypass=ro:0"

Lists of plans add up:

  $ heddle sweep decode-shared-prefix --size tiny --gpu h100 --plans order=reverse --plans 'order=col order=hilbert' | grep -o '^"[a-z=]*"'
  "baseline"
  "order=reverse"
  "order=col"
  "order=hilbert"
