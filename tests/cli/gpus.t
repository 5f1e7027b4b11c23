GPUs by the names that people give them:

  $ for g in H100 4090 "RTX 4090" a100 B200; do heddle simulate copy-row --size tiny --gpu "$g" | head -1; done
  copy-row (tiny) on H100 SXM5 80 GB (Hopper), demand dispatch, plan baseline
  copy-row (tiny) on GeForce RTX 4090 (Ada, AD102), demand dispatch, plan baseline
  copy-row (tiny) on GeForce RTX 4090 (Ada, AD102), demand dispatch, plan baseline
  copy-row (tiny) on A100 SXM4 40 GB (Ampere), demand dispatch, plan baseline
  copy-row (tiny) on B200 SXM (Blackwell), demand dispatch, plan baseline
  $ heddle check copy-row --size tiny --device model:4090 --plan order=reverse > /dev/null

No file stands in for another GPU's:

  $ heddle simulate copy-row --size tiny --gpu rtx4080
  heddle: there is no file of GeForce RTX 4080 (sm_89, 76 SMs, L2 of 64 MB, memory of 717 GB/s); the nearest is --gpu rtx4090 (sm_89, 128 SMs, L2 of 72 MB, memory of 1008 GB/s)
  [2]
  $ heddle simulate copy-row --size tiny --gpu sm_103
  heddle: there is no GPU 'sm_103'; the nearest by architecture is --gpu b200 (sm_100, 148 SMs, L2 of 126.5 MB, memory of 8000 GB/s)
  [2]

What times were compared with is said, and left out of a GPU that was changed:

  $ heddle simulate copy-row --size tiny --gpu b200 | grep -A1 compared | sed 's/[0-9][0-9.]*/N/g'
  Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).
  Beside N figures that others published of it, the clock was off by N% (mean); beside the N of them on which its file does not rest, by N% (docs/gpus.md).
  $ heddle simulate copy-row --size tiny --gpu b200 --scheduler lrr | grep -c published
  0
  [1]

A chase of pointers takes the file's latency for each hit (L1 of B200: 32 cycles, and one to issue):

  $ cat > chase.ptx <<'END'
  > .version 7.0
  > .target sm_80
  > .address_size 64
  > .visible .entry chase(.param .u64 p, .param .u32 n, .param .u64 o) {
  >   .reg .pred %p; .reg .b32 %r; .reg .b64 %a<2>;
  >   ld.param.u64 %a0, [p]; ld.param.u32 %r, [n];
  > LOOP:
  >   ld.u64 %a0, [%a0]; ld.u64 %a0, [%a0]; ld.u64 %a0, [%a0]; ld.u64 %a0, [%a0];
  >   ld.u64 %a0, [%a0]; ld.u64 %a0, [%a0]; ld.u64 %a0, [%a0]; ld.u64 %a0, [%a0];
  >   sub.s32 %r, %r, 8; setp.ne.s32 %p, %r, 0; @%p bra LOOP;
  >   ld.param.u64 %a1, [o]; st.u64 [%a1], %a0; ret;
  > }
  > END
  $ for n in 64 8256; do heddle simulate chase.ptx --grid 1 --block 1 --arg 'p=u64[1024]=address(p, (i + 16) % 1024)' --arg s32:$n --arg 'o=u64[1]=zero' --gpu b200 --exact --json | jq .cycles; done | jq -s '(.[1] - .[0]) / 8192'
  33
