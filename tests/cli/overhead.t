# needs: nvcc-or-clang
The generated header for kernels edited by hand equals the repository's:

  $ heddle header | cmp - $SOURCE/include/heddle/cta_orders.h
  $ heddle header now
  heddle: header: takes no arguments, and so not 'now'
  [2]

A page of the costs of plans; notes written by hand stay when it is made again:

  $ heddle overhead copy-row --plan order=col --plan bind=agents:0 -o page.md
  heddle: plan, column 13: bind=agents:0: '0' is not a whole number from 1 to 4294967295
  [2]
  $ heddle overhead copy-row --plan order=reverse -o page.md; printf '\n## Notes\n\nKept.\n' >>page.md; heddle overhead copy-row --plan order=reverse -o page.md; grep -c '^## Instructions added' page.md; tail -3 page.md
  1
  ## Notes
  
  Kept.
  $ heddle overhead nobody 2>&1 | sed 's/nobody.*/nobody/'
  heddle: there is no workload 'nobody
