# needs: nvcc-or-clang

Plans that need another launch say how, behind the kernel; or are left out. A slow L2 makes agents worth their while:

  $ sed 's/^bytes_per_cycle = 768 /bytes_per_cycle = 16 /' $SOURCE/gpus/k40.toml > slow.toml
  $ heddle optimize block-reuse --gpu ./slow.toml --size small --plans order=col,bind=agents | grep -E '^(Best|Proved|Wrote|Its)' | sed 's/predicted [0-9.]*x/predicted Nx/; s/, [+-][0-9.]*%.*//'
  Best: order=col,bind=agents, predicted Nx as fast as the default.
  Proved: 210964 bytes equal under 8 dispatchers
  Wrote ./block-reuse.ptx and ./block-reuse.html.
  Its launch differs from the original's: the comments at the file's end say how (--keep-launch leaves such plans out).
  $ grep '^//' block-reuse.ptx
  // Launch block_reuse as before, but with these parameters behind its own:
  //   .u64 at 24: the address of 2048 bytes of device memory, zero at first; each launch leaves them zero.
  //     Launches that may run at once need one such buffer each.
  // and in a grid of one dimension: the number of SMs times the CTAs that fit on one, no more than tasks.
  $ heddle optimize block-reuse --gpu ./slow.toml --size small --plans order=col,bind=agents --json | grep -E '"(best|keeps_launch|output)"'
    "best": "order=col,bind=agents",
    "output": "./block-reuse.ptx",
    "keeps_launch": false,
  $ heddle optimize block-reuse --gpu ./slow.toml --size small --keep-launch --json | grep -E '"(keeps_launch|plan)"' | grep -E 'agents|claim|sms|keeps'
    "keeps_launch": true,

One architecture for all: the text that is written is the one that was proved, whichever GPU is modelled:

  $ sed 's/^arch = 35 /arch = 90 /' slow.toml > g.toml; grep -c '^arch = 90' g.toml
  1
  $ heddle optimize block-reuse --gpu ./g.toml --size small --plans order=col,bind=agents | grep -o '^Proved'; grep '^.target' block-reuse.ptx
  Proved
  .target sm_80

Without [units] in the GPU's file there is no time that could choose a plan:

  $ sed '/^\[units\]/,/^$/d' $SOURCE/gpus/k40.toml > bare.toml; heddle optimize block-reuse --gpu ./bare.toml --size small
  heddle: GPU 'bare': its file has no [units], which a clock needs: simulate and sweep count its traffic, and nothing predicts times
  [2]
