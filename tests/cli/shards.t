# needs: nvcc-or-clang

Work done in parts, killed and gone on with: the bytes of one run.

  $ heddle sweep matmul-tiled --size tiny --gpu gtx580 -o one.csv
  $ for i in 3 1 2; do heddle sweep matmul-tiled --size tiny --gpu gtx580 -o sweep.csv --shard $i/3; done
  heddle: part 3 of 3 is done, in sweep.3-of-3.journal; 'heddle merge' puts all parts together
  heddle: part 1 of 3 is done, in sweep.1-of-3.journal; 'heddle merge' puts all parts together
  heddle: part 2 of 3 is done, in sweep.2-of-3.journal; 'heddle merge' puts all parts together
  $ test -e sweep.csv
  [1]
  $ heddle merge sweep.*.journal
  $ cmp one.csv sweep.csv
  $ SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=7 heddle sweep matmul-tiled --size tiny --gpu gtx580 --shard auto --journal of-slurm
  heddle: part 5 of 8 is done, in of-slurm; 'heddle merge' puts all parts together

A part that is missing or was cut off is named as such; --resume ends it:

  $ heddle merge sweep.1-of-3.journal sweep.3-of-3.journal 2>&1 | sed 's/[0-9]* of [0-9]*/K of N/'
  heddle: answers to K of N items are in none of these journals: a part is missing, or was not run to its end
  $ head -c 900 sweep.2-of-3.journal > cut; mv cut sweep.2-of-3.journal
  $ heddle merge sweep.*.journal 2>&1 | sed 's/[0-9]* of [0-9]*/K of N/'
  heddle: answers to K of N items are in none of these journals: a part is missing, or was not run to its end
  $ heddle sweep matmul-tiled --size tiny --gpu gtx580 -o sweep.csv --shard 2/3
  heddle: sweep.2-of-3.journal is there already; --resume goes on with it
  [2]
  $ heddle sweep matmul-tiled --size tiny --gpu gtx580 -o sweep.csv --shard 2/3 --resume
  heddle: part 2 of 3 is done, in sweep.2-of-3.journal; 'heddle merge' puts all parts together
  $ rm sweep.csv; heddle merge sweep.*.journal; cmp one.csv sweep.csv

One run, cut off and gone on with:

  $ heddle sweep matmul-tiled --size tiny --gpu gtx580 -o all.csv --journal all
  $ cmp one.csv all.csv; head -c 5000 all > cut; rm all.csv
  $ heddle sweep matmul-tiled --size tiny --gpu gtx580 -o all.csv --journal cut --resume; cmp one.csv all.csv

Other work is another's:

  $ heddle sweep matmul-tiled --size tiny --gpu gtx980 --journal all --resume
  heddle: all is the journal of other work: the command, its input, a GPU's file or heddle differ
  [2]
  $ heddle sweep matmul-tiled --size tiny --gpu gtx980 --journal other > other.csv
  $ heddle merge sweep.1-of-3.journal other
  heddle: other is the journal of other work: the command, its input, a GPU's file or heddle differ
  [2]
  $ heddle sweep copy-col --size tiny --gpu h100 --plans order=col --journal priced > priced.csv
  $ for o in --free-mapping --exact '--depth traffic' '--seed 5' '--dispatcher round-robin' '--scheduler gto' '--plans order=reverse'; do
  >   heddle sweep copy-col --size tiny --gpu h100 --plans order=col $o --journal priced --resume 2>&1 | cut -c1-43
  > done | sort | uniq -c | sed 's/^ *//'
  7 heddle: priced is the journal of other work
  $ heddle merge one.csv
  heddle: one.csv: not a journal of heddle's
  [2]
  $ heddle sweep copy-col --shard 4/3
  heddle: --shard takes I/N with I from 1 to N, or auto, not '4/3'
  [2]
  $ heddle sweep copy-col --resume
  heddle: sweep: --resume needs the --journal to go on with
  [2]

The table of levers:

  $ heddle levers matmul-tiled copy-col layernorm --plan order=col --plan bind=agents --plan order=col,bind=agents,split=cols -o one.md
  $ for i in 1 2; do heddle levers matmul-tiled copy-col layernorm --plan order=col --plan bind=agents --plan order=col,bind=agents,split=cols --shard $i/2 -o levers.md 2> log; done
  $ heddle merge levers.1-of-2.journal levers.2-of-2.journal; cmp one.md levers.md
  $ heddle levers --random 8 --shard 1/2
  heddle: levers: --random is split by its --seed, not into shards
  [2]

A proof, and one that fails:

  $ heddle check layernorm --size tiny --plan order=reverse,bind=agents > one
  $ for i in 1 2 3; do heddle check layernorm --size tiny --plan order=reverse,bind=agents --shard $i/3 2> log; done
  $ heddle merge check.?-of-3.journal > parts; cmp one parts
  $ heddle check $SOURCE/tests/cli/data/racy --plan order=reverse 2> one
  [1]
  $ for i in 1 2; do heddle check $SOURCE/tests/cli/data/racy --plan order=reverse --shard $i/2 2> log; done
  $ heddle merge check.?-of-2.journal 2> parts
  [1]
  $ cmp one parts; grep -c 'may depend on its schedule' one
  1
  $ heddle check layernorm --size tiny --plan order=reverse,bind=claim --journal check.1-of-3.journal --resume
  heddle: check.1-of-3.journal is the journal of other work: the command, its input, a GPU's file or heddle differ
  [2]
  $ heddle check layernorm --device emu --shard 1/2
  heddle: check: --dispatcher and parts are for the emulator, not for --device
  [2]

Random programs:

  $ heddle difftest --device emu:portable --programs 200 > one
  $ for i in 1 2; do heddle difftest --device emu:portable --programs 200 --shard $i/2 2> log; done
  $ heddle merge difftest.?-of-2.journal > parts; cmp one parts
  $ heddle difftest --device emu:portable --programs 200 --seed 2 --journal difftest.1-of-2.journal --resume
  heddle: difftest.1-of-2.journal is the journal of other work: the command, its input, a GPU's file or heddle differ
  [2]
