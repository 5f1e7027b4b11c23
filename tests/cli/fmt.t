Statements stay on their source lines; printing again changes nothing.

  $ heddle fmt $SOURCE/tests/cli/data/scale.ptx | head -20
  .version 8.0
  .target sm_80
  .address_size 64
  
  
  .visible .entry scale(
  	.param .u64 scale_param_0,
  	.param .u64 scale_param_1,
  	.param .f32 scale_param_2,
  	.param .u32 scale_param_3
  )
  .maxntid 256, 1, 1
  {
  	.reg .pred %p<2>;
  	.reg .f32 %f<4>;
  	.reg .b32 %r<6>;
  	.reg .b64 %rd<8>;
  
  	ld.param.u64 %rd1, [scale_param_0];
  	ld.param.u64 %rd2, [scale_param_1];
  $ heddle fmt $SOURCE/tests/cli/data/scale.ptx -o once.ptx && heddle fmt once.ptx -o twice.ptx && cmp once.ptx twice.ptx
  $ heddle fmt --raw $SOURCE/tests/cli/data/scale.ptx | cmp - $SOURCE/tests/cli/data/scale.ptx

A full disk leaves nothing behind, a missing folder neither:

  $ heddle fmt $SOURCE/tests/cli/data/scale.ptx -o /dev/full
  heddle: /dev/full: cannot write: No space left on device
  [2]
  $ heddle fmt $SOURCE/tests/cli/data/scale.ptx -o no/such/folder/x.ptx; ls
  heddle: no/such/folder/x.ptx: cannot create: No such file or directory
  once.ptx
  twice.ptx
  $ heddle fmt $SOURCE/tests/cli/data/scale.ptx > /dev/full
  heddle: stdout: cannot write: No space left on device
  [2]
  $ cd $SOURCE/tests/cli/data; heddle fmt scale.ptx -m 3
  heddle: scale.ptx: no module 3
  [2]

Text that parses, and that ptxas refuses for every GPU that its .target names, is refused with its line, by ls and
rewrite, too:

  $ printf '.version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .f32 %%f<3>;\nredux.sync.min.f32 %%f1, %%f2, -1; ret; }\n' > new.ptx; heddle fmt new.ptx
  heddle: new.ptx:5:1: 'redux.sync.min.f32' needs sm_100, and the target is sm_90
  [2]
  $ heddle ls new.ptx
  heddle: new.ptx:5:1: 'redux.sync.min.f32' needs sm_100, and the target is sm_90
  1 module, 0 kernels, 0.0 MB of PTX
  [2]
  $ heddle rewrite --plan order=reverse new.ptx -o out.ptx; ls out.ptx 2>/dev/null
  heddle: new.ptx:5:1: 'redux.sync.min.f32' needs sm_100, and the target is sm_90
  [2]
  $ sed s/sm_90/sm_100a/ new.ptx > newer.ptx; heddle fmt newer.ptx | grep -c redux
  1
