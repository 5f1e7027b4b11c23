The parser and -h read one table per command; a long option has its text below it:

  $ heddle fmt -h
  usage: heddle fmt FILE
  
  parse a module and print it
  
    -m, --module N     module number, as ls shows it, when the file holds several
    --raw              print the text as it is stored, unparsed
    -o, --output OUT   write to a file
  $ heddle analyze --help
  usage: heddle analyze WORKLOAD | FILE [-k KERNEL --grid ... --block ... --arg ...]
  
  where the reuse is, whether a plan can use it, and which plans to try
  
    --size NAME        the workload's size (default: small)
    --param NAME=N     another value for one of the size's parameters; may be given several times
    --save DIR         keep the workload of a file in this folder
    -v, --verbose      of a file: conditions and whole formulas; of a workload: every launch, every access
    --static           the kernel's text only: do not run the workload
    --gpu NAME         the GPU to model (default: h100)
    --seconds N        for predicting what plans do, about (default: 10)
    --threads N        host threads (default: all)
    --dot cfg|affinity instead, in Graphviz' language: cfg, the kernel's control-flow graph; of a workload,
                       affinity, which CTAs share how much (the heaviest edges; --verbose: all)
    --coverage FILE... accesses by class over all kernels of these files instead
    --sample N         with --coverage: N modules of each file, spread evenly
    --directions WORKLOAD...
                       MAP's mapping directions, from the code, instead
    --json             print JSON
  
  The launches of a file's kernels:
  
    -k, --kernel NAME  the kernel, as its source calls it (default: the only one); again: another
                       launch, with the words behind it
    -m, --module N     module number (default: the one that has the kernel)
    --grid X[,Y[,Z]]   the launch's grid
    --block X[,Y[,Z]]  threads per CTA (default: as many as the kernel requires)
    --shared BYTES     shared memory that the launch adds
    --arg A            one per parameter, in order: a scalar (s32:512, f32:0.5, u64:7), a buffer
                       TYPE[COUNT]=FILL, e.g. 'f32[262144]=uniform(-1, 1)', 's32[1024]=zero', or a buffer of an
                       argument before it by its name, which is arg1, arg2, ... or given: 'x=f32[64]=iota', 'x';
                       a struct by value of such arguments, 'struct{x, s32:512, f32:0.5}', or an image over a buffer,
                       'texture{x, shape=8x8, filter=linear}', 'surface{...}', with the keys of a workload.toml
    --set NAME=V       a variable of the module: NAME=TYPE[COUNT]=FILL or NAME=TYPE:VALUE; NAME is the one in PTX
    --buffer NAME=B    a buffer TYPE[COUNT]=FILL that is no argument: other buffers hold addresses in it, by
                       'u64[8]=address(NAME, i * 64)', or an --arg NAME passes it
    --cooperative      all CTAs are resident at once, as for grid.sync()
    --atomics          atomics add floats in any order, so a result may differ from the original's,
                       by 1e-4 of f32, 1e-10 of f64, 1e-2 of f16
    --near TOL         as --atomics, by TOL, absolutely and relatively
    --unwritten A,B    buffers that nothing writes while the kernels run, whatever their text looks like, by
                       name: arg1 or as given; bypass=ro may rely on that
  
  Without --arg only the text of a file's kernels is examined; --grid and --block describe their
  launches. -k also chooses among the kernels that a workload launches.
  $ heddle header --output
  heddle: header: --output needs a value
  [2]
  $ heddle fmt --output= -x
  heddle: fmt: no option '-x'; 'heddle fmt -h' lists them
  [2]
  $ heddle fmt --raw=yes
  heddle: fmt: --raw takes no value
  [2]
  $ heddle check --sms 70000
  heddle: check: --sms takes a whole number of at most 65536, not '70000'
  [2]
  $ heddle check --sms two
  heddle: check: --sms takes a whole number of at most 65536, not 'two'
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx --plan order=col --grid 0x4
  heddle: rewrite: --grid takes X[,Y[,Z]], not '0x4'
  [2]
  $ heddle rewrite $SOURCE/tests/cli/data/scale.ptx --plan order=col --grid 1,2,3,4
  heddle: rewrite: --grid takes X[,Y[,Z]], not '1,2,3,4'
  [2]
  $ heddle no-such-command
  heddle: no command 'no-such-command'; 'heddle -h' lists them
  [2]

"--" ends the options, and a letter's value may touch it:

  $ heddle fmt -- --raw
  heddle: --raw: cannot open: No such file or directory
  [2]
  $ heddle fmt -m7 no-such-file
  heddle: no-such-file: cannot open: No such file or directory
  [2]
