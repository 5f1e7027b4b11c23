Files that may not grow (ulimit -f) are errors of heddle's, and no signals:

  $ (ulimit -f 0; heddle header 2>&1 >out; echo $? >&2) 2>&1 | cat
  heddle: stdout: cannot write: File too large
  2
  $ (ulimit -f 0; heddle header -o out.h; echo $?) 2>&1 | cat
  heddle: out.h: cannot write: File too large
  2
  $ (ulimit -f 0; XDG_CACHE_HOME=$PWD/cache heddle verdicts; echo $?) 2>&1 | sed "s|$PWD/||"
  heddle: cache/heddle/verdicts.db: cannot open the store: disk I/O error
  2

A full disk is named, whatever is printed:

  $ for c in --version help list; do heddle $c 2>&1 >/dev/full; echo $?; done
  heddle: cannot write to stdout: No space left on device
  2
  heddle: cannot write to stdout: No space left on device
  2
  heddle: cannot write to stdout: No space left on device
  2
