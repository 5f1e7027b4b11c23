What a user meets who does the near thing: the message names what to do.

  $ cp -r $SOURCE/tests/cli/data/{scale.ptx,filter.ptx,filter} .

One file of several that cannot be read does not hide the others; a workload's folder stands for its kernels:

  $ heddle ls scale.ptx missing filter
  heddle: missing: cannot open: No such file or directory
  scale.ptx:
  module  sm  params  bytes  shared  limits          kernel  CTA order
       0  80       4     24       0  block<=256x1x1  scale   can be reordered
       0  80       1      8       0  -               where   no: line 49: mov.u32 %r1, %smid;: its value depends on where and when the CTA runs
  1 module, 2 kernels, 0.0 MB of PTX
  filter:
  module  sm  params  bytes  shared  limits  kernel  CTA order
       0  80       2     24       0  -       blur    can be reordered
  1 module, 1 kernel, 0.0 MB of PTX
  [2]
  $ touch later.cu; heddle ls later.cu filter 2>&1 | sed 's/, of which.*//'
  heddle: later.cu: is CUDA C
  filter:
  module  sm  params  bytes  shared  limits  kernel  CTA order
       0  80       2     24       0  -       blur    can be reordered
  1 module, 1 kernel, 0.0 MB of PTX
  $ heddle ls --json scale.ptx missing | sed '/seconds/d'
  heddle: missing: cannot open: No such file or directory
  {
    "modules": 1,
    "kernels": 2,
    "bytes": 1088,
    "failures": 1,
  }
  $ heddle rewrite filter --plan order=reverse -o out.ptx
  // Launch blur as before.
  $ heddle fmt filter | head -1
  .version 7.8
  $ heddle ls .
  heddle: .: cannot read: Is a directory
  [2]

A program, and words that are no command's:

  $ heddle ./scale.ptx
  heddle: no command './scale.ptx'; a program's plans: heddle optimize -- ./scale.ptx
  [2]
  $ heddle foo
  heddle: no command 'foo'; 'heddle -h' lists them
  [2]
  $ heddle words
  heddle: no command 'words'; 'heddle -h' lists them
  [2]
  $ heddle optimize
  heddle: optimize: name one workload ('heddle list' shows them), one file, or a program: -- ./app
  [2]
  $ chmod +x scale.ptx; heddle optimize ./scale.ptx
  heddle: ./scale.ptx: choose a kernel with -k: scale, where; all of the program: heddle optimize -- ./scale.ptx
  [2]
  $ heddle manual tcsh
  heddle: manual: completions are for bash, zsh and fish, not for tcsh; a folder is ./tcsh
  [2]

A parameter that nothing asks for:

  $ heddle simulate scale.ptx -k scale --grid 1 --block 64 --arg 'f32[n]=none' --arg 'f32[n]=iota' --arg f32:2.5 --arg u32:64 --param n=64 --param m=3
  heddle: --param 'm=3': no word of the launch names m
  [2]

A folder that cannot be written, and one whose name is no UTF-8:

  $ launch="-k scale --grid 1 --block 64 --arg f32[64]=none --arg f32[64]=iota --arg f32:2.5 --arg u32:64"
  > heddle optimize scale.ptx $launch -o /proc/below
  > heddle optimize scale.ptx $launch -o $(printf 'out\377') | tail -2 | head -1 | od -An -c | tr -d ' \n'; ls out*/
  heddle: cannot write in the folder /proc/below: No such file or directory
  Wroteout377/scale-scale.html.\nscale-scale.html
  scale-scale.json

Without a driver:

  $ LD_LIBRARY_PATH= heddle difftest
  heddle: there is no NVIDIA driver here: libcuda.so.1: cannot open shared object file: No such file or directory; the device emu:portable compares two of the emulator's instruction sets
  [2]
  $ LD_LIBRARY_PATH= heddle difftest --device model:h100
  heddle: model:h100 is a model, which runs on the emulator itself: the other side is cuda:N, emu:portable, emu:avx2 or emu:avx512
  [2]
  $ LD_LIBRARY_PATH= heddle probe
  heddle: there is no NVIDIA driver here: libcuda.so.1: cannot open shared object file: No such file or directory; only a GPU can be measured
  [2]
  $ LD_LIBRARY_PATH= heddle bench filter; ls -d heddle-bench
  heddle: there is no NVIDIA driver here: libcuda.so.1: cannot open shared object file: No such file or directory; the device model:h100 stands in for a GPU
  ls: cannot access 'heddle-bench': No such file or directory
  [2]

Figures of one's own kernel are a table of them, not the page about all; a sweep is JSON, too:

  $ heddle overhead filter --plan order=reverse --plan bind=agents | awk '{ print $1, $2, $3, $4 }'
  workload plan +instructions/thread +warp
  filter order=reverse 1.0 2.0
  filter bind=agents 78.3 175.3
  $ heddle sweep filter --plans 'order=reverse order=table:none' --json | grep -E '"(plan|status|why|time_us)"'
      "plan": "baseline",
      "status": "ok",
      "time_us": 3.769292929,
      "plan": "order=reverse",
      "status": "ok",
      "time_us": 3.717777778,
      "plan": "order=table:none",
      "status": "failed",
      "why": "cannot open: No such file or directory"

A page in place of the predictions beside it:

  $ echo '<!doctype html>' >index.html; heddle run --pin index.html -- true
  heddle: index.html: is a page, not verdicts: predictions.json beside it, or what heddle verdicts export writes
  [2]
