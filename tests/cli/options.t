One table a command is what is parsed and what -h prints; a long option has its text below it:

  $ heddle fmt -h
  usage: heddle fmt FILE
  
  parse a module and print it
  
    -m, --module N     module number, as ls shows it, when the file holds several
    --raw              print the text as it is stored, unparsed
    -o, --output OUT   write to a file
  $ heddle analyze --help
  usage: heddle analyze FILE [-k KERNEL] | WORKLOAD
  
  where the reuse is, whether it can be had, and what to do about it
  
    -k, --kernel NAME  the kernel (default: all of the file, or those the workload launches)
    -m, --module N     module number when the file holds several
    --grid X[,Y[,Z]]   what is known of the launches of a file's kernels
    --block X[,Y[,Z]]  likewise
    --size NAME        the workload's size (default: small)
    -v, --verbose      of a file: conditions and whole formulas; of a workload: every launch, every access
    --static           the kernel's text only: do not run the workload
    --gpu NAME         the GPU to model (default: h100)
    --seconds N        for predicting what plans do, about (default: 10)
    --threads N        host threads (default: all)
    --dot GRAPH        instead, in Graphviz' language: cfg, the kernel's control-flow graph; of a workload,
                       affinity, which CTAs share how much (the heaviest edges)
    --coverage FILE... accesses by class over all kernels of these files instead
    --directions WORKLOAD...
                       MAP's mapping directions, from the code, instead
    --json             print JSON
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
  $ heddle rewrite --grid 0x4
  heddle: rewrite: --grid takes X[,Y[,Z]], not '0x4'
  [2]
  $ heddle analyze --grid 1,2,3,4
  heddle: analyze: --grid takes X[,Y[,Z]], not '1,2,3,4'
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
