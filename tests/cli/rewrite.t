A known grid: constants are baked in.

  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan order=stride:4x1 --grid 1000 | sed -n '/entry scale/,/ret/p'
  .visible .entry scale(
  	.param .u64 scale_param_0,
  	.param .u64 scale_param_1,
  	.param .f32 scale_param_2,
  	.param .u32 scale_param_3
  )
  .maxntid 256, 1, 1
  {
  	.reg .b32 %heddle_r<10>;
  	.reg .b64 %heddle_d<10>;
  	.reg .pred %heddle_p<10>;
  	mov.u32 %heddle_r1, %ctaid.x;
  	mul.hi.u32 %heddle_r5, %heddle_r1, 17179870;
  	mad.lo.u32 %heddle_r7, %heddle_r1, 3, %heddle_r1;
  	mad.lo.u32 %heddle_r9, %heddle_r5, 4294966297, %heddle_r7;
  	.reg .pred %p<2>;
  	.reg .f32 %f<4>;
  	.reg .b32 %r<6>;
  	.reg .b64 %rd<8>;
  	ld.param.u64 %rd1, [scale_param_0];
  	ld.param.u64 %rd2, [scale_param_1];
  	ld.param.f32 %f1, [scale_param_2];
  	ld.param.u32 %r2, [scale_param_3];
  	mov.u32 %r4, %ntid.x;
  	mov.u32 %r5, %tid.x;
  	mad.lo.s32 %r1, %heddle_r9, %r4, %r5;
  	setp.ge.u32 %p1, %r1, %r2;
  	@%p1 bra $done;
  	cvta.to.global.u64 %rd3, %rd2;
  	mul.wide.u32 %rd4, %r1, 4;
  	add.s64 %rd5, %rd3, %rd4;
  	ld.global.f32 %f2, [%rd5];
  	mul.f32 %f3, %f1, %f2;
  	cvta.to.global.u64 %rd6, %rd1;
  	add.s64 %rd7, %rd6, %rd4;
  	st.global.f32 [%rd7], %f3;
  $done:
  	ret;

Any grid:

  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan order=reverse | sed -n '/entry scale/,/mad.lo.s32/p'
  .visible .entry scale(
  	.param .u64 scale_param_0,
  	.param .u64 scale_param_1,
  	.param .f32 scale_param_2,
  	.param .u32 scale_param_3
  )
  .maxntid 256, 1, 1
  {
  	.reg .b32 %heddle_r<13>;
  	.reg .b64 %heddle_d<13>;
  	.reg .pred %heddle_p<13>;
  	mov.u32 %heddle_r0, %nctaid.x;
  	mov.u32 %heddle_r3, %ctaid.x;
  	sub.u32 %heddle_r7, %heddle_r0, 1;
  	sub.u32 %heddle_r8, %heddle_r7, %heddle_r3;
  	.reg .pred %p<2>;
  	.reg .f32 %f<4>;
  	.reg .b32 %r<6>;
  	.reg .b64 %rd<8>;
  	ld.param.u64 %rd1, [scale_param_0];
  	ld.param.u64 %rd2, [scale_param_1];
  	ld.param.f32 %f1, [scale_param_2];
  	ld.param.u32 %r2, [scale_param_3];
  	mov.u32 %r4, %ntid.x;
  	mov.u32 %r5, %tid.x;
  	mad.lo.s32 %r1, %heddle_r8, %r4, %r5;

The empty plan changes nothing:

  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan baseline -o a.ptx; heddle fmt $SOURCE/tests/cli/data/scale.ptx | cmp - a.ptx
  // Launch scale as before.

A plan that changes the launch says how:

  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan bind=agents:2 | sed -n '/^.visible .entry scale/,/)/p; /^\/\//p'
  .visible .entry scale(
  	.param .u64 scale_param_0,
  	.param .u64 scale_param_1,
  	.param .f32 scale_param_2,
  	.param .u32 scale_param_3,
  	.param .u64 heddle_state,
  	.param .u32 heddle_nx,
  	.param .u32 heddle_ny,
  	.param .u32 heddle_nz
  )
  // Launch scale as before, but with these parameters behind its own:
  //   .u64 at 24: the address of 33920 bytes of device memory, zero at first; each launch leaves them zero.
  //     Launches that may run at once need one such buffer each.
  //   .u32 at 32, twice more behind it: the dimensions of the grid it had before
  // and in a grid of one dimension: the number of SMs times the CTAs that fit on one, no more than tasks.

A kernel that cannot be rewritten soundly is refused, with the instruction:

  $ cd $SOURCE/tests/cli/data; heddle rewrite scale.ptx -k where --plan order=reverse
  heddle: scale.ptx: line 49: mov.u32 %r1, %smid;: its value depends on where and when the CTA runs
  [1]

Wherever in an instruction the special register stands:

  $ for load in 'ld.shared.u32 %r1, [%smid]' 'ld.shared.u32 %r1, [%smid+4]' 'mov.u32 %r1, a[%smid]' 'mov.u32 %r1, a[%smid+4]'; do sed "s/mov.u32 %r1, %smid/$load/; s/^\.address_size 64/&\n.shared .b32 a[99];/" $SOURCE/tests/cli/data/scale.ptx > where.ptx; heddle rewrite where.ptx -k where --plan order=reverse -o out.ptx; done 2>&1 | grep -c 'its value depends on where and when the CTA runs'
  4

Every kernel of a module that is not refused, and why the others are:

  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx --all --plan order=band:8 -o all.ptx
  1 of 2 kernels in 1 module rewritten
  refused:
  1  special-register
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan order=band:8 -o one.ptx; sed -n '/entry scale/,/^}/p' one.ptx >a; sed -n '/entry scale/,/^}/p' all.ptx >b; cmp a b; grep -c smid all.ptx
  // Launch scale as before.
  1
  $ heddle rewrite $SOURCE/tests/cli/data/globals.ptx --all --plan stream=3 -o some.ptx
  1 of 4 kernels in 1 module rewritten
  refused:
  2  stream: the kernel has 0 loads of global memory, numbered from 0; there is no 3
  1  stream: the kernel has 1 loads of global memory, numbered from 0; there is no 3
  $ mkdir folder; heddle rewrite $SOURCE/tests/cli/data/scale.ptx --all --plan order=band:8 --json -o folder; ls folder
  {
    "modules": 1,
    "unread": 0,
    "kernels": 2,
    "rewritten": 1,
    "refused": {
      "special-register": 1
    },
    "files": [
      {
        "file": "folder/00000.ptx",
        "module": 0,
        "target": "sm_80",
        "rewritten": 1
      }
    ]
  }
  00000.ptx
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx --all --plan order=band:8 --json
  heddle: rewrite: --json needs -o, since stdout holds the module
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx --all -k scale --plan order=band:8
  heddle: rewrite: either --all or one kernel with -k
  [2]

Bad usage:

  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx --plan order=reverse 2>&1 | sed "s|$SOURCE|S|g"
  heddle: S/tests/cli/data/scale.ptx: choose a kernel with -k: scale, where
  $ cd $SOURCE/tests/cli/data; heddle rewrite scale.ptx -k nobody --plan order=reverse
  heddle: scale.ptx: no kernel 'nobody'; there is scale, where
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan order=spiral
  heddle: plan, column 7: order=spiral: no such order; there are row, col, band, tile, zigzag, stride, hilbert, reverse, heavy-first, affinity, table
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan order=tile:0x4
  heddle: plan, column 12: order=tile:0x4: '0' is not a whole number from 1 to 4294967295
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan order=reverse,order=col
  heddle: plan, column 15: order=col: the lever order is given twice
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan bind=agents:0
  heddle: plan, column 13: bind=agents:0: '0' is not a whole number from 1 to 4294967295
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan split=rows
  heddle: plan, column 1: split cuts an order into clusters; it needs bind=redirect, bind=claim or bind=agents
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan order=reverse --grid 0
  heddle: rewrite: --grid takes X[,Y[,Z]], not '0'
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan order=reverse --grid 5x5x5x5
  heddle: rewrite: --grid takes X[,Y[,Z]], not '5x5x5x5'
  [2]

Agents take no more registers than leave room for the original's CTAs:

  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx -k scale --plan bind=agents --registers 32 | grep maxnreg
  .maxnreg 32

shape=auto takes what the launch's grid and the kernel's constants say, here groups of rows:

  $ heddle rewrite $SOURCE/tests/cli/data/groups.ptx -k tiles --plan order=col,shape=auto --grid 60 -o auto.ptx
  // Launch tiles as before.
  $ heddle rewrite $SOURCE/tests/cli/data/groups.ptx -k tiles --plan order=col,shape=10x6:band:4 --grid 60 -o given.ptx; cmp auto.ptx given.ptx
  // Launch tiles as before.
  $ heddle rewrite $SOURCE/tests/cli/data/groups.ptx -k tiles --plan order=col,shape=auto 2>&1 | sed "s|$SOURCE|S|g"
  heddle: S/tests/cli/data/groups.ptx: shape=auto follows from a launch, and none is known here: --grid says it, or write shape=WxH

Where arguments decide, they are asked for. The block is the one that the kernel requires:

  $ heddle rewrite $SOURCE/tests/cli/data/groups.ptx -k wide --plan order=tile:2x2,shape=auto --grid 60 2>&1 | sed "s|$SOURCE|S|g"
  heddle: S/tests/cli/data/groups.ptx: shape=auto: line 50 divides the CTA's number by param1, so the launch's arguments decide the shape; --arg gives them
  $ heddle rewrite $SOURCE/tests/cli/data/groups.ptx -k wide --plan order=tile:2x2,shape=auto --grid 60 --arg 'u32[1920]=zero' --arg u32:6 -o auto.ptx
  // Launch wide as before.
  $ heddle rewrite $SOURCE/tests/cli/data/groups.ptx -k wide --plan order=tile:2x2,shape=6x10 --grid 60 -o given.ptx; sed '/^\/\//d' given.ptx | tr -d ' \t\n' >given; sed '/^\/\//d' auto.ptx | tr -d ' \t\n' | cmp - given
  // Launch wide as before.
  $ heddle rewrite $SOURCE/tests/cli/data/groups.ptx -k wide --plan order=affinity --grid 60 --arg 'u32[1920]=zero' --arg u32:6
  heddle: groups-wide: this order needs a table, which heddle optimize makes
  [2]
