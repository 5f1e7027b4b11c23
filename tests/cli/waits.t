Loops that may wait for another CTA's write are refused, however they read it:

  $ cat > try.sh <<'END'
  > { printf '%s\n' '.version 8.0' '.target sm_90' '.address_size 64' "$FUNCTIONS" '.visible .entry k(.param .u64 p, .param .u32 n) {' \
  >   '.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;' 'ld.param.u64 %rd1, [p]; ld.param.u32 %r8, [n]; mov.u32 %r7, %tid.x;' \
  >   "$@" 'ret; }'; } > k.ptx
  > heddle rewrite k.ptx -k k --plan order=reverse $ASSUME 2>&1 >k.out | sed 's/^heddle: k.ptx: line [0-9]*: /refused: /'
  > [ -s k.out ] && echo accepted
  > exit 0
  > END
  $ for load in ld.volatile.global.u32 ld.global.cg.u32 ld.global.cv.u32 ld.relaxed.gpu.global.u32; do bash try.sh "L: $load %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;"; done
  refused: ld.volatile.global.u32 %r1, [%rd1];: a loop may wait here for what another CTA writes
  refused: ld.global.cg.u32 %r1, [%rd1];: a loop may wait here for what another CTA writes
  refused: ld.global.cv.u32 %r1, [%rd1];: a loop may wait here for what another CTA writes
  refused: ld.relaxed.gpu.global.u32 %r1, [%rd1];: a loop may wait here for what another CTA writes
  $ bash try.sh 'L: membar.gl; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;'
  refused: ld.global.u32 %r1, [%rd1];: a loop may wait here for what another CTA writes
  $ for atom in 'cas.b32 %r1, [%rd1], 1, 2' 'exch.b32 %r1, [%rd1], 0' 'max.s32 %r1, [%rd1], -1' 'add.u32 %r1, [%rd1], %r8'; do bash try.sh "L: atom.global.$atom; setp.ne.u32 %p1, %r1, 1; @%p1 bra L;"; done
  refused: atom.global.cas.b32 %r1, [%rd1], 1, 2;: a loop may wait here for what another CTA writes
  refused: atom.global.exch.b32 %r1, [%rd1], 0;: a loop may wait here for what another CTA writes
  refused: atom.global.max.s32 %r1, [%rd1], -1;: a loop may wait here for what another CTA writes
  refused: atom.global.add.u32 %r1, [%rd1], %r8;: a loop may wait here for what another CTA writes
  $ bash try.sh 'mov.u32 %r2, %ctaid.x;' 'L: atom.global.cas.b32 %r1, [%rd1], %r2, %r2; setp.ne.u32 %p1, %r1, %r2; @%p1 bra L;'
  refused: atom.global.cas.b32 %r1, [%rd1], %r2, %r2;: a loop may wait here for what another CTA writes
  $ FUNCTIONS='.func (.reg .b32 o) look(.reg .b64 w) { ld.volatile.u32 o, [w]; ret; }' bash try.sh 'L: call (%r1), look, (%rd1);' 'setp.eq.u32 %p1, %r1, 0; @%p1 bra L;' | cut -c1-14
  refused: call 

A poll that gives up is one, and so are a lock that others open, work that is given back, and a list:

  $ bash try.sh 'mov.u32 %r2, 0;' 'L: ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 0; @%p1 bra M;' 'add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 1000; @%p2 bra L;' 'M:'
  refused: ld.volatile.global.u32 %r1, [%rd1];: a loop may wait here for what another CTA writes
  $ bash try.sh 'setp.eq.u32 %p2, %r8, 0; @%p2 bra O;' 'L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;' 'st.global.u32 [%rd1], 0; ret;' \
  >   'O: mul.wide.s32 %rd2, %r8, 4; add.s64 %rd3, %rd1, %rd2; red.global.add.u32 [%rd3], -1;'
  refused: atom.global.cas.b32 %r1, [%rd1], 0, 1;: a loop may wait here for what another CTA writes
  $ bash try.sh 'L: atom.global.add.u32 %r1, [%rd1], 1; setp.ge.u32 %p1, %r1, %r8; @%p1 bra M;' 'red.global.add.u32 [%rd1], -1; bra L;' 'M:'
  refused: atom.global.add.u32 %r1, [%rd1], 1;: a loop may wait here for what another CTA writes
  $ bash try.sh 'L: ld.global.u64 %rd1, [%rd1]; setp.ne.u64 %p1, %rd1, 0; @%p1 bra L;'
  refused: ld.global.u64 %rd1, [%rd1];: a loop may wait here for what another CTA writes

Loops that end whatever other CTAs do are not:

  $ bash try.sh 'L: ld.acquire.cta.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;'
  accepted
  $ bash try.sh 'membar.gl; atom.global.inc.u32 %r1, [%rd1], %r8; setp.ne.u32 %p1, %r1, 7; @%p1 bra M;' \
  >   'L: ld.volatile.global.u32 %r2, [%rd1+4]; add.s64 %rd1, %rd1, 4; add.u32 %r3, %r3, %r2; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r8; @%p2 bra L;' 'st.global.u32 [%rd1+8], %r3;' 'M:'
  accepted
  $ bash try.sh 'L: ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, 5; atom.global.cas.b32 %r1, [%rd1], %r2, %r3; setp.ne.u32 %p1, %r1, %r2; @%p1 bra L;'
  accepted
  $ bash try.sh 'L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra M;' \
  >   'ld.volatile.global.u32 %r3, [%rd1+4]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1+4], %r3; membar.gl; atom.global.exch.b32 %r2, [%rd1], 0;' 'M: @%p1 bra L;'
  accepted
  $ bash try.sh 'L: atom.global.add.u32 %r1, [%rd1], 1; setp.ge.u32 %p1, %r1, %r8; @%p1 bra M;' \
  >   'mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.volatile.global.u32 %r3, [%rd3+8]; st.global.u32 [%rd3+8], %r3; bra L;' 'M:'
  accepted

The user's word settles it, and the rewritten kernel says so:

  $ ASSUME='--assume no-waits' bash try.sh 'L: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;'; grep -c 'rests on the word that no loop waits' k.out
  accepted
  1
