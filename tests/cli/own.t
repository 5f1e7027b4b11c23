One's own kernels: any file that `ls` reads, with launches described on the command line. The file here is a fatbin with
two modules for one architecture, an older copy of the second, and code that is assembled already.

  $ cd $SOURCE/tests/cli/data; ./fatbin 2 80 scale.ptx 1 80 own.ptx 1 75 scale.ptx 1 80 scale.ptx > $OLDPWD/app.fatbin; ./fatbin 2 80 own.ptx > $OLDPWD/assembled.fatbin
  $ heddle ls app.fatbin | sed 's/  *can be reord.*\|  *no: .*\|  *CTA order//'
  module  sm  params  bytes  shared  limits          kernel
       0  80       3     20       0  -               scale<float, 4>
       0  80       3     24       0  -               scale<double, 4>
       0  80       6     44       0  -               row_sums
       0  80       2     16       0  -               total
       0  80       2     16       0  -               cipher::AESEncrypt
       0  80       2     16       0  -               cipher::AESDecrypt
       1  80       4     24       0  block<=256x1x1  scale
       1  80       1      8       0  -               where
       2  80       4     24       0  block<=256x1x1  scale
       2  80       1      8       0  -               where
  3 modules, 10 kernels, 0.0 MB of PTX
  $ heddle ls assembled.fatbin
  heddle: assembled.fatbin: holds no PTX, only code that is assembled already: build it with PTX, as nvcc -gencode arch=compute_80,code=[sm_80,compute_80] does
  [2]
  $ heddle check assembled.fatbin -k total --grid 1 --block 32 --arg 'f32[32]=zero' 2>&1 | cut -c1-60
  heddle: assembled.fatbin: holds no PTX, only code that is as

Kernels go by the names that their source gives them, and the module is found from the kernel:

  $ words="--grid 4 --block 64 --arg u32[256]=iota --arg u32[256]=none"; for k in cipher::AESEncrypt AESEncrypt AESE Encrypt _ZN6cipher10AESEncryptEPKjPj 'cipher::AESEncrypt(unsigned int const*, unsigned int*)'; do heddle check app.fatbin -k "$k" $words --plan order=reverse | head -1; done
  app-cipher_AESEncrypt (small), plan order=reverse: equal
  app-cipher_AESEncrypt (small), plan order=reverse: equal
  app-cipher_AESEncrypt (small), plan order=reverse: equal
  app-cipher_AESEncrypt (small), plan order=reverse: equal
  app-cipher_AESEncrypt (small), plan order=reverse: equal
  app-cipher_AESEncrypt (small), plan order=reverse: equal
  $ heddle check app.fatbin -k AES --grid 1 --block 32 --arg 'f32[8]=zero'
  heddle: app.fatbin: 'AES' may be any of 2 kernels: cipher::AESEncrypt, cipher::AESDecrypt
  [2]
  $ heddle check app.fatbin -k row_sum --grid 1 --block 32 --arg 'f32[8]=zero' 2>&1 | head -1
  heddle: app-row_sums: kernel 'row_sums' takes 6 arguments, the workload gives 1
  $ heddle check app.fatbin -k rwo_sums --grid 1 --block 32 --arg 'f32[8]=zero'
  heddle: app.fatbin: no kernel 'rwo_sums'; did you mean row_sums?
  [2]
  $ heddle check app.fatbin -k 'scale<double,4>' --grid 1 --block 64 --arg 'f64[64]=iota' --arg 'f64[64]=none' --arg f64:-2.5e-1 | head -1
  app-scale_double_4 (small), plan baseline: equal
  $ heddle check app.fatbin -k where --grid 1 --block 64 --arg 'f32[64]=none'
  heddle: app.fatbin: several modules have this kernel; choose one with --module: 1, 2
  [2]
  $ heddle rewrite app.fatbin -k 'scale<float' --plan order=reverse --block 64 | grep -c '^.visible .entry _Z5scaleIfLi4EEvPKT_PS0_S0_('
  1

CUDA C is compiled where its kernels are launched, and elsewhere told from PTX with mistakes:

  $ echo 'extern "C" __global__ void twice(float *a) { a[threadIdx.x] *= 2; }' > twice.cu; heddle ls twice.cu
  heddle: twice.cu: is CUDA C, of which nvcc -ptx makes PTX; commands that launch its kernels (-k KERNEL --grid ... --block ... --arg ...) have it compiled
  [2]

  $ heddle check nowhere.cu -k twice --grid 1 --block 32 --arg 'f32[32]=iota'
  heddle: nowhere.cu: cannot open: No such file or directory
  [2]

Every command that works on a workload takes such a line:

  $ line="app.fatbin -k AESEncrypt --grid 4 --block 64 --arg u32[256]=iota --arg u32[256]=none"
  > heddle check $line --plan order=reverse | head -1
  > heddle simulate $line | head -1 | cut -d, -f1
  > heddle sweep $line --plans order=col | cut -d, -f1
  > heddle optimize $line --plans order=col | head -1
  > heddle analyze $line | head -1
  > heddle levers $line --plan order=reverse --plan bind=agents | tail -1
  > heddle time $line --device model:h100 --plan order=reverse | head -1
  > heddle tune $line --device model:h100 --plan order=reverse --store none --budget 1 | grep -E '^(app|kernel)' | sed 's/:.*//'
  app-cipher_AESEncrypt (small), plan order=reverse: equal
  app-cipher_AESEncrypt (small) on H100 SXM5 80 GB (Hopper)
  plan
  "baseline"
  "order=col"
  app-cipher_AESEncrypt (small) on H100 SXM5 80 GB (Hopper), demand dispatch: 2 plans
  app-cipher_AESEncrypt (small) on H100 SXM5 80 GB (Hopper)
  2 equal, 0 refused, 0 different.
  app-cipher_AESEncrypt (small) on model:h100 (H100 SXM5 80 GB (Hopper)), 1 round
  app-cipher_AESEncrypt (small) on model
  kernel cipher

Several kernels one after the other, on the same buffers; the line becomes a folder, which is the same workload:

  $ heddle check app.fatbin -k AESEncrypt --grid 4 --block 64 --arg plain=u32[256]=iota --arg key=u32[256]=none -k AESDecrypt --arg key --arg plain --plan order=reverse --save kept
  app-cipher_AESEncrypt+cipher_AESDecrypt (small), plan order=reverse: equal
    2048 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
    thread instructions: 7680 original, 8192 rewritten (+6.67%)
  $ ls kept; sed -n '/launch/,$p' kept/workload.toml | tail -8; heddle check kept --plan order=reverse
  module.ptx
  workload.toml
  [[launch]]
  kernel = "_ZN6cipher10AESDecryptEPKjPj"
  grid = ["4"]
  block = ["64"]
  args = [
    "key",
    "plain",
  ]
  kept (small), plan order=reverse: equal
    2048 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
    thread instructions: 7680 original, 8192 rewritten (+6.67%)

A command's usual size is that of heddle's own workloads; one that lacks it has its size "small" taken:

  $ heddle levers kept --plan order=reverse | tail -1
  1 equal, 0 refused, 0 different.
  $ heddle levers kept --plan order=reverse --size tiny
  heddle: kept/workload.toml: there is no size 'tiny', known are: small
  [2]
  $ heddle levers app.fatbin -k total --random 10
  heddle: levers: --random needs workloads with several sizes; a kernel file has one size
  [2]

A workload.toml names any such file as its source; the module is that of the kernel:

  $ sed 's/source = .*/source = "..\/app.fatbin"/' kept/workload.toml > t && mv t kept/workload.toml && rm kept/module.ptx && heddle check kept --plan order=reverse | head -1
  kept (small), plan order=reverse: equal

Mistakes are told of the words that were given:

  $ line="app.fatbin -k AESEncrypt --grid 4"
  > heddle check $line --block 2048 --arg u32[256]=iota
  > heddle check $line --block 64 --arg u32[256]=many
  > heddle check $line --block 64 --arg u32[n]=iota
  > heddle check $line --block 64 --arg u32[256]=iota --arg f42:1
  > heddle check $line --block 64 --arg u32
  > heddle check app.fatbin -k scale -m 1 --grid 4 --block 512 --arg f32[8]=iota --arg f32[8]=iota --arg f32:1 --arg u32:8
  > heddle rewrite app.fatbin -k scale -m 1 --plan order=reverse --block 512
  > heddle analyze app.fatbin -k scale -m 1 --block 512
  > heddle check kept --arg u32:1
  heddle: --block '2048': block: block's x is 2048, allowed are 1 to 1024
  heddle: --arg 'u32[256]=many': fill: unknown fill 'many' (known: none, zero, value(v), iota, uniform(low, high), uniform_int(low, high), normal(mean, sd), bytes, sorted(low, high), permutation, each(EXPRESSION of i), copy(BUFFER), address(BUFFER, EXPRESSION of i), file("NAME"), recorded("NAME"), column("NAME", k), generate)
  heddle: --arg 'u32[n]=iota': count: unknown name 'n' (this size has no parameters)
  heddle: --arg 'f42:1': unknown type 'f42' (known: u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64)
  heddle: --arg 'u32' names no buffer of an --arg before it
  heddle: scale allows blocks of at most 256 threads, not 512
  heddle: scale allows blocks of at most 256 threads, not 512
  heddle: scale allows blocks of at most 256 threads, not 512
  heddle: --arg is for the kernels of a file; 'kept' is none
  [2]

Atomics add floats in whatever order CTAs come. Such a difference is recognised, and allowed for where asked:

  $ line="app.fatbin -k total --grid 4 --block 64 --arg f32[256]=uniform(-1,1) --arg f32[1]=zero --plan order=reverse"
  > heddle check $line
  > heddle check $line --atomics | head -1
  > heddle check $line --near 0.001 | head -1
  > heddle check $line --near 1e-9 2>&1 | cut -c1-70
  heddle: app-total: the original's result depends on its schedule: original kernel, dispatcher shuffled: buffer arg2: element 0 is -6.00554037 (0xc0c02d63), should be -6.00553942 (0xc0c02d61); 1 of 1 elements differ, all within 0.0001: the kernel's atomics add floats, in another order each time; --atomics (in a workload.toml: atomics = true) allows for that
  app-total (small), plan order=reverse: equal
  app-total (small), plan order=reverse: equal
  heddle: app-total: the original's result depends on its schedule: orig

Data comes from files: bytes, text, NumPy's arrays; or hangs together, as a sparse matrix does: 64 rows of 4 elements,
in columns that a file names, times a vector that is what another buffer holds.

  $ for i in {0..255}; do echo $((i * 37 % 64)); done > columns.txt; head -c 1024 /dev/zero > values.bin
  $ rows() { heddle check app.fatbin -k row_sums --grid 1 --block 64 --arg 's32[65]=each(i * 4)' --arg "$1" --arg "$2" --arg 'x=f32[64]=sorted(0, 1)' --arg 'f32[64]=copy(x)' --arg s32:64 --plan order=reverse 2>&1; }
  > rows 's32[256]=file("columns.txt")' 'f32[256]=file("values.bin")'
  > rows 's32[256]=file("columns.txt")' 'f32[257]=file("values.bin")'
  > rows 's32[255]=file("columns.txt")' 'f32[256]=file("values.bin")'
  > rows 's32[256]=file("no.txt")' 'f32[256]=file("values.bin")'
  > sed -i '9s/.*/x/' columns.txt; rows 's32[256]=file("columns.txt")' 'f32[256]=file("values.bin")'
  > printf '\x93NUMPY\x01\x00\x46\x00%-70s' "{'descr': '<i4', 'fortran_order': False, 'shape': (16, 16), }" > c.npy; head -c 1024 /dev/zero >> c.npy
  > rows 's32[256]=file("c.npy")' 'f32[256]=uniform(-1, 1)' | head -1
  > rows 's32[256]=permutation' 'f32[256]=file("c.npy")'
  app-row_sums (small), plan order=reverse: equal
    2820 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
    thread instructions: 4480 original, 4480 rewritten (+0.00%)
  heddle: values.bin: holds 1024 bytes; buffer 'arg3' needs 1028
  heddle: columns.txt:256:1: here is one number more than the 255 of buffer 'arg2'
  heddle: no.txt: cannot open: No such file or directory
  heddle: columns.txt:9:1: 'x' is no number of type s32
  app-row_sums (small), plan order=reverse: equal
  heddle: c.npy: holds elements of NumPy's type '<i4'; buffer 'arg3' is f32, which is '<f4'
  [2]

Memory may hold addresses: the matrices of a batch, and lists of 1 to 32 elements, whose numbers run down to the
null pointer. Kernels may store them too, and a proof compares what they stored:

  $ x='--buffer x=f32[4096]=uniform(-1,1)'; batch="pointers.ptx -k batched --grid 32,4 --block 32 $x --arg u64[4]=address(x,i*1024) --arg u64[4]=address(x,0) --arg u64[4]=address(y,i*1024) --arg s32:32 --buffer y=f32[4096]=none"; ln -s $SOURCE/tests/cli/data/{pointers,globals}.ptx .
  > for plan in order=tile:4x2 bind=claim; do heddle check $batch --plan $plan | head -2; done
  > heddle check $batch --device model:h100 --plan order=reverse | head -2
  > heddle check pointers.ptx -k length --grid 4 --block 32 --buffer 'next=u64[128]=address(next, i - 4)' --arg 'u64[128]=address(next, i)' --arg 'u64[128]=none' --plan order=reverse --assume no-waits | head -2
  > heddle check pointers.ptx -k swap --grid 4 --block 32 $x --arg 'u64[256]=address(x, i)' --plan bind=claim --save swapped | head -2
  > heddle tune swapped --device model:h100 --plan order=reverse --store none --budget 1 | grep -c 'order=reverse  *[0-9.]*x'
  > heddle check pointers.ptx -k swap --grid 4 --block 32 $x --arg 'u64[256]=address(x, i * 100)'
  > heddle check pointers.ptx -k swap --grid 4 --block 32 --arg 'u64[256]=address(z, i)'
  > heddle check pointers.ptx -k swap --grid 4 --block 32 --buffer f32[4]=zero --arg 'u64[256]=zero'
  pointers-batched (small), plan order=tile:4x2: equal
    32864 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
  pointers-batched (small), plan bind=claim: equal
    32864 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
  pointers-batched (small), plan order=reverse: equal
    32864 bytes agree in 3 runs on the device
  pointers-length (small), plan order=reverse: equal
    3072 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
  pointers-swap (small), plan bind=claim: equal
    18432 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
  1
  heddle: pointers-swap: element 41 of buffer 'arg1' points to element 4100 of 'x', which has 4096
  heddle: --arg 'u64[256]=address(z, i)': there is no buffer 'z'
  heddle: --buffer 'f32[4]=zero' is not NAME=TYPE[COUNT]=FILL
  [2]

Kernels without parameters are kernels too. What they leave in variables of the module is compared:

  $ heddle check globals.ptx -k empty --grid 4 --block 32 --plan order=reverse
  globals-empty (small), plan order=reverse: equal
    132 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
    thread instructions: 128 original, 128 rewritten (+0.00%)
  $ heddle check globals.ptx -k see --grid 4 --block 32 --plan bind=claim | head -2
  globals-see (small), plan bind=claim: equal
    132 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
  $ heddle check globals.ptx -k leave --grid 4 --block 32 --plan order=reverse
  heddle: globals-leave: the original's result depends on its schedule: original kernel, dispatcher reverse: variable last: element 0 is 0, should be 3; 1 of 4 elements differ
  [1]

CTAs that all meet are launched so that all are resident:

  $ meet="globals.ptx -k meet --grid 8 --block 64 --arg u32[512]=none --arg u32[512]=none"; heddle check $meet --cooperative | head -2
  > heddle check $meet 2>&1 | grep -o 'trap: trap;\|meets all CTAs.*'
  globals-meet (small), plan baseline: equal
    4228 bytes agree under 8 dispatchers; no races were found (not checked: printed text; threads of one CTA in global memory)
  trap: trap;
  meets all CTAs, as in grid.sync(), and its launch is not cooperative: --cooperative (in a workload.toml: cooperative = true)

bypass=ro needs to know that nothing writes what a kernel loads. Its text and the buffers at hand tell, or the caller
does; words that the text belies are refused, and so are those that the data belies:

  $ sum="app.fatbin -k row_sums --grid 1 --block 64 --arg s32[65]=each(i*4) --arg s32[256]=zero --arg f32[256]=iota --arg f32[64]=iota --arg f32[64]=none --arg s32:64"
  > heddle check $sum --plan bypass=ro:2 | head -1
  > heddle check $sum --plan bypass=ro:2 --unwritten arg1,arg5 2>&1
  > heddle check $sum --unwritten values
  > heddle rewrite app.fatbin -k total --plan bypass=ro:8 --block 256 2>&1 | grep -o 'it does not go through the read-only cache'
  > heddle rewrite app.fatbin -k total --plan bypass=ro:8 --block 256 --unwritten arg1 | grep -c 'ld.global.nc.f32'
  > heddle rewrite app.fatbin -k total --plan bypass=ro:8 --block 256 --unwritten arg2
  > heddle rewrite app.fatbin -k total --plan bypass=ro:8 --block 256 --unwritten arg3
  app-row_sums (small), plan bypass=ro:2: equal
  heddle: app-row_sums: buffer 'arg5' is not unwritten: _Z8row_sumsPKiS0_PKfS2_Pfi writes through parameter 5
  heddle: --unwritten 'values' names something that is no buffer of an --arg
  it does not go through the read-only cache
  1
  heddle: app.fatbin: _Z5totalPKfPf writes through parameter 2, which was said to be unwritten
  heddle: app.fatbin: _Z5totalPKfPf has parameters 1 to 2, and none 'arg3'
  [2]
