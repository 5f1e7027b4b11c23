Without any compiler on the PATH no plan is blamed for that: what cannot be done is said, and has its own exit code.

  $ mkdir w && cp $SOURCE/examples/columns/columns.ptx w && cat > w/workload.toml <<'END'
  > title = "columns scaled"
  > source = "columns.ptx"
  > reference = "reference.c"
  > [sizes.small]
  > n = 256
  > [[buffer]]
  > name = "in"
  > type = "f32"
  > count = "n * n"
  > fill = "uniform(-1, 1)"
  > [[buffer]]
  > name = "out"
  > type = "f32"
  > count = "n * n"
  > compare = "exact"
  > [[launch]]
  > kernel = "_Z5scalePKfPffi"
  > grid = ["n / 32", "n / 8"]
  > block = [32, 8]
  > args = ["in", "out", { type = "f32", value = 2 }, { type = "s32", value = "n" }]
  > END
  $ cat > w/reference.c <<'END'
  > #include <heddle_reference.h>
  > void heddle_reference(const heddle_args *args) {
  >   const float *in = heddle_f32(args, "in");
  >   float *out = heddle_f32(args, "out");
  >   for (int64_t i = 0, n = heddle_size_of(args, "n"); i < n * n; i++) out[i] = 2 * in[i];
  > }
  > END
  $ printf '#!/bin/sh\nPATH=/nowhere exec %s "$@"\n' "$(command -v heddle)" > bare; chmod +x bare

A winner is proved against the original; only the reference in C is left out:

  $ ./bare optimize w --plans 'threads=col' | grep -E '^(Best|Proved|The original)'
  Best: threads=col, predicted 1.26x as fast as the default.
  Proved: 524288 bytes equal under 8 dispatchers, +63.64% instructions.
  The original was not compared with its reference: no C compiler is on the PATH (cc, gcc or clang).
  $ ./bare optimize w --plans 'threads=col' --json | grep -E '"(best|answered|no_reference)"'
    "best": "threads=col",
    "no_reference": "no C compiler is on the PATH (cc, gcc or clang)",
    "answered": true
  $ heddle optimize w --plans 'threads=col' | grep 'The original'
  [1]

A check is of the reference, too, unless it is to be left out; a tuning has no use for it:

  $ ./bare check w --plan order=col
  heddle: no answer: w/reference.c: no C compiler is on the PATH (cc, gcc or clang); --no-reference leaves it out
  [3]
  $ ./bare check w --plan order=col --no-reference | head -1
  w (small), plan order=col: equal
  $ ./bare tune w --device model:h100 --plan threads=col --store none | grep -cE '^  verdict: .*threads=|proved on the emulator'
  2

Data that a program in C makes, and kernels in CUDA C, cannot be had at all:

  $ mkdir made && sed 's/fill = "uniform.*/fill = "generate"/' w/workload.toml > made/workload.toml; cp w/columns.ptx w/reference.c made
  $ ./bare optimize made
  heddle: no answer: made/reference.c: no C compiler is on the PATH (cc, gcc or clang)
  [3]
  $ ./bare sweep made --plans order=col
  heddle: no answer: made/reference.c: no C compiler is on the PATH (cc, gcc or clang)
  [3]
  $ cp $SOURCE/examples/columns/columns.cu . && ./bare check columns.cu -k scale --grid 8,32 --block 32,8 --arg 'f32[65536]=iota' --arg 'f32[65536]=none' --arg f32:2 --arg s32:256
  heddle: no answer: columns.cu: compiling for sm_80 needs nvcc, or clang 14 or newer, on the PATH
  [3]
