# needs: nvcc-or-clang

A replay's CTAs over SMs, and hits over time, as a file of trace events:

  $ ln -s $SOURCE/corpus/triton/matmul-sm80 w; heddle simulate w --size small --plan order=col --timeline t.json | head -1
  matmul-sm80 (small) on H100 SXM5 80 GB (Hopper), demand dispatch, plan order=col
  $ jq -r '.otherData.kernel, (.traceEvents[] | select(.name == "process_name") | .args.name)' t.json
  matmul
  order=col
  $ jq -c '[.traceEvents[] | select(.ph == "X")] | [length, ([.[].args.task] | unique | length)]' t.json
  [20,20]
  $ jq -r '[.traceEvents[] | select(.ph == "C") | .name] | unique | .[]' t.json
  DRAM, GB/s
  L2 hits, %

Without it the counters are the same:

  $ for t in "--timeline t.json" ""; do heddle simulate w --size small --json $t; done | jq -s '.[0] == .[1]'
  true

An optimization's file has the default and the plan kept. They are on its page, too, but not in its JSON, of which one
page of many is made:

  $ heddle optimize matmul-swapped --size tiny --gpu gtx580 --plans threads=cta:col --timeline both.json -o out >/dev/null; jq -r '.traceEvents[] | select(.name == "process_name") | .args.name' both.json
  baseline
  threads=cta:col
  $ grep -c '"timelines":' out/matmul-swapped.html; grep -c '"timelines":' out/matmul-swapped.json
  1
  0
  [1]
  $ heddle optimize w --size tiny --gpu gtx580 --plans order=col --timeline one.json -o out >/dev/null; jq -r '.traceEvents[] | select(.name == "process_name") | .args.name' one.json
  baseline

Without times there is no timeline; a file that cannot be written is an error:

  $ heddle simulate w --size tiny --depth traffic --timeline t.json
  heddle: a timeline needs a clock: a GPU whose file has [units], and --depth timing
  [2]
  $ heddle simulate w --size tiny --timeline nowhere/t.json >/dev/null
  heddle: nowhere/t.json: cannot create: No such file or directory
  [2]
  $ heddle optimize --timeline t.json -- true
  heddle: --timeline is for one workload; a program's kernels have theirs on their pages
  [2]
