# needs: nvcc-or-clang

Tables of many workloads; one that fails is a line:

  $ heddle bench reduce nosuch --device model:gtx580 --size tiny --store none --no-advice -o out 2>&1 | grep -E 'model:gtx580|^reduce.*baseline|nosuch' | sed 's/  *[0-9].*x/ .../; s/ [0-9.]* s / some s /; s/ among.*//; s/heddle [0-9.]*$/heddle/'
  [2/2] nosuch: there is no workload 'nosuch'
  model:gtx580 (GeForce GTX 580 (Fermi)), 16 SMs, driver none, heddle
  reduce ...  -                some s  baseline
    nosuch (tiny): there is no workload 'nosuch'
  $ ls out
  commands.txt
  report.html
  results.jsonl
  table.txt
  $ wc -l < out/results.jsonl
  2
  $ cat out/commands.txt
  heddle bench reduce nosuch --device model:gtx580 --size tiny --store none --no-advice -o out

On a model the tables say what their times are:

  $ sed -n '/^Times/,/^$/p' out/table.txt; grep -c 'The file of gtx580 has no \[launch\]' out/report.html
  Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).
  The file of gtx580 has no [launch]: a launch costs nothing beside its CTAs' work.
  
  1

A folder with results is not written to unless asked; resuming runs the remaining and the failed workloads:

  $ heddle bench reduce --device model:gtx580 --size tiny --store none -o out
  heddle: out holds results already: --resume goes on, -o names another folder
  [2]
  $ heddle bench reduce nosuch matmul-swapped --device model:gtx580 --size tiny --store none --no-advice -o out --resume 2>&1 >/dev/null | sed 's/[0-9.]*x, //; s/,stream=l1//; s/, [0-9.]* s$//; s/ among.*//'
  [2/3] nosuch: there is no workload 'nosuch'
  [3/3] matmul-swapped: threads=cta:col
  $ grep -o '"workload":"[a-z-]*"' out/results.jsonl
  "workload":"reduce"
  "workload":"nosuch"
  "workload":"nosuch"
  "workload":"matmul-swapped"
  $ heddle bench reduce --device model:gtx580 --size tiny --store none -o out --resume --json | grep -E '"(clu_algorithm_n|n)"'
    "clu_algorithm_n": 0,
    "n": 2
  $ grep -o '"name":"[a-z.]*"' out/report.html
  "name":"results"
  "name":"table.txt"
  "name":"commands.txt"

Lines of another version are not taken, nor is one that was cut off:

  $ sed -i '1s/"heddle":"[^"]*"/"heddle":"0.0.0"/' out/results.jsonl; printf '{"heddle":"0.1' >> out/results.jsonl
  $ heddle bench reduce matmul-swapped --device model:gtx580 --size tiny --store none --no-advice -o out --resume 2>&1 >/dev/null | sed 's/[0-9.]*x, //; s/, [0-9.]* s$//'
  [1/2] reduce: baseline
  $ tail -1 out/results.jsonl | grep -o '"workload":"[a-z-]*"'
  "workload":"reduce"

Every verdict once more, elsewhere: the tables of orders come along, and the workload's size is known:

  $ heddle tune matmul-swapped reduce --device model:gtx580 --size tiny --store v.db --no-advice >/dev/null
  $ heddle verdicts export --store v.db > v.json; grep -cE '"size": "tiny"' v.json
  3
  $ sed 's|"threads=[^"]*"|"order=table:#e3ff36808ef368c87af4541c767dcc04"|; s|"tables": \[\]|"tables": [{"name": "e3ff36808ef368c87af4541c767dcc04", "tasks": 10, "packed": "KLUv/SAoXQAAGBIBAAIA4IoXYAE="}]|' v.json > w.json
  $ heddle verdicts import w.json --store w.db
  3 verdicts taken over
  $ heddle bench --verify --device model:gtx580 --store w.db -o verified 2>err.txt | grep -oE '^(reduce|matmul|workload|Verdicts).*' | sed 's/table:.*verdict-/table:.../; s/  *[0-9].*  \(or\)/ ... \1/' | sort
  Verdicts measured once more, slowest first: speedup over the default launch when it was tuned, and now. An original that was kept is the default launch itself.
  matmul-swapped  tiny ... order=table:...e3ff36808ef368c87af4541c767dcc04.table
  reduce          tiny ... original kept
  workload        size   tuned     now  99% interval    default us  plan us  plan
  $ ls verified
  commands.txt
  verify.jsonl
  verify.txt
  $ sed 's/.*"workload"/"workload"/; s/,"failed.*//' verified/verify.jsonl
  "workload":"matmul-swapped","size":"tiny"
  "workload":"reduce","size":"tiny"

Verdicts that were verified are not verified again on --resume; a workload's name and --size pick verdicts:

  $ heddle bench --verify --device model:gtx580 --store w.db -o verified --resume | grep Geometric | sed 's/mean [0-9.]*x/mean/; s/ Below.*//'
  Geometric mean over 2, of which 1 kept the original.
  $ heddle bench --verify reduce --device model:gtx580 --store w.db -o one --json 2>/dev/null | grep -E '"(n|workload|original|below_or_failed|other_workloads)"'
        "workload": "reduce",
        "original": true,
    "n": 1,
    "below_or_failed": 0,
    "other_workloads": 1,
  $ heddle bench --verify --device model:gtx580 --size small --store w.db -o other --json | grep '"n"'
    "n": 0,
  $ heddle bench --verify --device model:h100 --store w.db -o none
  heddle: there are no verdicts for model:h100 under driver none
  [2]
  $ heddle bench --verify --device model:gtx580 --store none -o nowhere
  heddle: bench: --verify needs a store of verdicts
  [2]

A verdict that cannot be applied is the answer no:

  $ sed 's|"baseline"|"stream=999"|; s|"threads=[^"]*"|"stream=l1"|' v.json > slow.json
  $ heddle verdicts import slow.json --store slow.db && heddle bench --verify --device model:gtx580 --store slow.db -o slow 2>/dev/null | grep -E 'Below|Not|tiny' | sed 's/ [ 0-9.x]*to.*stream/ ... stream/; s/mean [0-9.]*x/mean/; s/has [0-9]* loads/has some loads/'; echo ${PIPESTATUS[0]}
  3 verdicts taken over
  matmul-swapped  tiny ... stream=l1
  Geometric mean over 1, of which 0 kept the original. Below 0.99x: 1.
  Not measured:
    reduce (tiny): reduce_sum: measured again: reduce_sum: stream: the kernel has some loads of global memory, numbered from 0; there is no 999
  1

Mistakes:

  $ heddle bench --device emu -o none
  heddle: device emu measures no times
  [2]
  $ heddle bench --device model:nosuch -o none 2>&1 | sed 's/among [0-9]*/among N/'
  heddle: there is no GPU 'nosuch' among N; --gpu list names them
  $ heddle bench reduce --device model:gtx580 -o /dev/null/folder
  heddle: cannot write in the folder /dev/null/folder: Not a directory
  [2]
