A struct by value, a texture and a constant filter are described in words. A variable that nothing sets is not taken for zeros:

  $ cd $SOURCE/tests/cli/data; heddle check filter.ptx --grid 32 --block 64 --arg 'struct{f32[2048]=none, u32:64}' --arg 'texture{f32[2048]=iota, shape=32x64}'
  heddle: filter-blur: kernel 'blur' reads the variable weights of 12 bytes, which nothing has set: give it a value with [[variable]] in workload.toml or --set 'weights=TYPE[COUNT]=FILL'; u8[12]=zero are zeros
  [2]
  $ cd $SOURCE/tests/cli/data; heddle check filter.ptx --grid 32 --block 64 --arg 'struct{f32[2048]=none, u32:64}' --arg 'texture{f32[2048]=iota, shape=32x64}' --set 'weights=f32[4]=iota'
  heddle: filter-blur: variable weights has 12 bytes, the workload gives 16
  [2]
  $ cd $SOURCE/tests/cli/data; heddle check filter.ptx --grid 32 --block 64 --arg 'struct{f32[2048]=none, u32:64}' --arg 'texture{f32[2048]=iota, shape=32x64}' --set 'weights=f32[3]=value(0.25)' --plan order=reverse
  filter-blur (small), plan order=reverse: equal
    16396 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
    thread instructions: 53248 original, 55296 rewritten (+3.85%)

An image that is none is told by its word:

  $ cd $SOURCE/tests/cli/data; heddle check filter.ptx --grid 32 --block 64 --arg 'struct{f32[2048]=none, u32:64}' --arg 'texture{f32[2048]=iota, shape=32x64, channels=3}'
  heddle: --arg 'texture{f32[2048]=iota, shape=32x64, channels=3}': arg2: a texel of 3 channels: 1, 2 or 4 are possible
  [2]

The same as a folder:

  $ heddle check $SOURCE/tests/cli/data/filter --plan order=reverse
  filter (small), plan order=reverse: equal
    16396 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
    thread instructions: 53248 original, 55296 rewritten (+3.85%)
