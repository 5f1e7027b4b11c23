# needs: nvcc-or-clang

Plans that need another launch say how, behind the kernel; or are left out. Without [units] in the GPU's file bounds
choose among them, and the output says so:

  $ sed '/^\[units\]/,/^$/d' $SOURCE/gpus/k40.toml > bare.toml
  $ heddle optimize block-reuse --gpu ./bare.toml --size small --plans order=col,bind=agents | grep -E '^(Best|Proved|Wrote|Its|The file)' | sed 's/predicted [0-9.]*x/predicted Nx/; s/, [+-][0-9.]*%.*//'
  The file of bare has no [units], which a clock needs.
  Best: order=col,bind=agents, predicted Nx as fast as the default, by bounds on the time.
  Proved: 210964 bytes equal under 8 dispatchers
  Wrote ./block-reuse.ptx and ./block-reuse.html.
  Its launch differs from the original's: the comments at the file's end say how (--keep-launch leaves such plans out).
  $ grep '^//' block-reuse.ptx
  // Launch block_reuse as before, but with these parameters behind its own:
  //   .u64 at 24: the address of 2048 bytes of device memory, zero at first; each launch leaves them zero.
  //     Launches that may run at once need one such buffer each.
  // and in a grid of one dimension: the number of SMs times the CTAs that fit on one, no more than tasks.
  $ heddle optimize block-reuse --gpu ./bare.toml --size small --plans order=col,bind=agents --json | grep -E '"(best|keeps_launch|output)"'
    "best": "order=col,bind=agents",
    "output": "./block-reuse.ptx",
    "keeps_launch": false,
  $ heddle optimize block-reuse --gpu ./bare.toml --size small --keep-launch --json | grep -E '"(keeps_launch|plan)"' | grep -E 'agents|claim|sms|keeps'
    "keeps_launch": true,

One architecture for all: the text that is written is the one that was proved, whichever GPU is modelled:

  $ sed 's/^arch = 35 /arch = 90 /' bare.toml > g.toml; grep -c '^arch = 90' g.toml
  1
  $ heddle optimize block-reuse --gpu ./g.toml --size small --plans order=col,bind=agents | grep -o '^Proved'; grep '^.target' block-reuse.ptx
  Proved
  .target sm_80
