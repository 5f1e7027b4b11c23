# needs: nvcc-or-clang

Tables of many workloads; one that fails is a line:

  $ heddle bench copy-col nosuch --device model:gtx580 --size tiny --store none --no-advice -o out 2>&1 | grep -E 'model:gtx580|^copy-col.*baseline|nosuch' | sed 's/  *[0-9].*x/ .../; s/ among.*//; s/heddle [0-9.]*$/heddle/'
  [2/2] nosuch: there is no workload 'nosuch'
  model:gtx580 (GeForce GTX 580 (Fermi)), 16 SMs, driver none, heddle
  copy-col ...  -             baseline
    nosuch (tiny): there is no workload 'nosuch'
  $ ls out
  commands.txt
  report.html
  results.jsonl
  table.txt
  $ wc -l < out/results.jsonl
  2
  $ cat out/commands.txt
  heddle bench copy-col nosuch --device model:gtx580 --size tiny --store none --no-advice -o out

A folder with results is not written to unless asked; resuming does what is left or failed:

  $ heddle bench copy-col --device model:gtx580 --size tiny --store none -o out
  heddle: out holds results already: --resume goes on, -o names another folder
  [2]
  $ heddle bench copy-col nosuch matmul-swapped --device model:gtx580 --size tiny --store none --no-advice -o out --resume 2>&1 >/dev/null | sed 's/[0-9.]*x, //; s/, [0-9.]* s$//; s/ among.*//'
  [2/3] nosuch: there is no workload 'nosuch'
  [3/3] matmul-swapped: threads=col
  $ grep -o '"workload":"[a-z-]*"' out/results.jsonl
  "workload":"copy-col"
  "workload":"nosuch"
  "workload":"nosuch"
  "workload":"matmul-swapped"
  $ heddle bench copy-col --device model:gtx580 --size tiny --store none -o out --resume --json | grep -E '"(clu_algorithm_n|n)"'
    "clu_algorithm_n": 0,
    "n": 2
  $ grep -c '<svg' out/report.html
  1

Lines of another version are not taken, nor is one that was cut off:

  $ sed -i '1s/"heddle":"[^"]*"/"heddle":"0.0.0"/' out/results.jsonl; printf '{"heddle":"0.1' >> out/results.jsonl
  $ heddle bench copy-col matmul-swapped --device model:gtx580 --size tiny --store none --no-advice -o out --resume 2>&1 >/dev/null | sed 's/[0-9.]*x, //; s/, [0-9.]* s$//'
  [1/2] copy-col: baseline
  $ tail -1 out/results.jsonl | grep -o '"workload":"[a-z-]*"'
  "workload":"copy-col"

Mistakes:

  $ heddle bench --device emu -o none
  heddle: device emu measures no times
  [2]
  $ heddle bench --device model:nosuch -o none 2>&1 | sed 's/.*gpus/gpus/'
  gpus/nosuch.toml: cannot open: No such file or directory
  $ heddle bench copy-col --device model:gtx580 -o no/such/folder
  heddle: no/such/folder: No such file or directory
  [2]
