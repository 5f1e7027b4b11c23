# needs: nvcc-or-clang

Tables of the papers' experiments that were given no time say how long all of them take, and have a chapter for each paper; the page
says of each headline that it is missing:

  $ "$HEDDLE_DATA/scripts/papers" --heddle heddle --cache none --jobs 1 --seconds 0.000001 --tables all -o page.md 2>err; sed -n 1p page.md; test $(grep -c '| missing' page.md) -gt 30 && echo missing; sed -n 1p hopper.md; grep '^## ' all/README.md; sed -nE 's/^[0-9]+ (predictions to make: about) [0-9.]+ (core-hours).*/\1 \2/p' err; sed -n 1p all/core-hours.csv
  # The model beside the papers
  missing
  # What is left of the papers' levers on Hopper
  ## CLU: CTA clustering
  ## CLU by listing 5
  ## BYP: bypassing by warps
  ## BYP: other caches and overheads
  ## MAP: mapping CTAs along x or y
  ## MAP: causes put in
  ## SCH: schedules of threads
  ## SMC: affinity and workers bound to SMs
  ## SMC: causes put in
  ## On an H100
  predictions to make: about core-hours
  of,predictions,core-hours

The chapters and tables of papers that are not named stay as they are:

  $ mkdir old; printf '# Old\n\n## CLU: CTA clustering\n\nold text\n\n## SMC: affinity and workers bound to SMs\n\n### Co-runs\n\nold rows\n' >old/README.md; echo old >old/smc-overhead.csv
  $ "$HEDDLE_DATA/scripts/papers" --heddle heddle --cache none --only map --jobs 1 --seconds 0.000001 --tables old -o old.md 2>/dev/null; grep -E '^(#|old)' old/README.md | grep -v '^### [^C]'; cat old/smc-overhead.csv; diff <(sed -n '/^## MAP: m/,/^## MAP: c/p' old/README.md) <(sed -n '/^## MAP: m/,/^## MAP: c/p' all/README.md) && echo made
  # Tables of the papers' experiments
  ## CLU: CTA clustering
  old text
  ## CLU by listing 5
  ## BYP: bypassing by warps
  ## BYP: other caches and overheads
  ## MAP: mapping CTAs along x or y
  ## MAP: causes put in
  ## SCH: schedules of threads
  ## SMC: affinity and workers bound to SMs
  ### Co-runs
  old rows
  ## SMC: causes put in
  ## On an H100
  old
  made

The page takes its numbers from the tables, and judges them by the tolerance of each:

  $ mkdir few; printf 'application,"workload, size",speedup\nsum,"sum, paper",1.30x\n,arithmetic mean of 8,1.10x\n,geometric mean of 8,0.90x\n' >few/some.csv
  $ cat >judge.py <<'END'
  > import os, sys
  > sys.dont_write_bytecode = True
  > sys.path.insert(0, os.environ["HEDDLE_DATA"] + "/scripts")
  > from experiments.headlines import Headline, fill, line
  > of = lambda ours, theirs, judge="factor", within=0.15: print(line("few", Headline("f", "p", theirs, ours, within, judge, "")))
  > print(fill("few", "[[some | sum + sum, paper | speedup]] [[some | nothing | speedup]] [[none | sum | speedup]] [[some | all rows | speedup]]"))
  > of(["some | sum | speedup"], [1.4])
  > of(["some | arithmetic mean | speedup"], [1.25])
  > of(["some | geometric mean | speedup"], [1.2])
  > of([("one", ["some | sum | speedup"]), ("other", ["some | geometric mean | speedup"])], [1.3])
  > of(["some | sum | speedup", "some | arithmetic mean | speedup"], [1.3, 2])
  > of(["some | sum | speedup"], [1.6], "gain")
  > of(["some | nothing | speedup"], [1.6])
  > END
  $ python3 judge.py
  1.30x - - 1.09x
  | f | p | 1.30x | agrees (-7%) |  |
  | f | p | 1.10x | agrees; under half of the gain (-12%) |  |
  | f | p | 0.90x | differs; its sign differs (-25%) |  |
  | f | p | 1.30x one; 0.90x other | one: agrees; other: differs; its sign differs (+0%; -31%) |  |
  | f | p | 1.30x, 1.10x | 1 of 2 agree (+0%, -45%) |  |
  | f | p | 1.30x | differs (0.5 of the gain) |  |
  | f | p | - | missing |  |

Parts, as of a Slurm array, together make what one run does:

  $ for s in 1/1 1/2 auto; do SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_STEP=4 "$HEDDLE_DATA/scripts/papers" --heddle heddle --cache none --only byp --estimate --shard $s 2>&1; done | awk '{ n[NR] = $1 } END { print (n[1] > 0), (n[2] > 0), (n[1] == n[2] + n[3]) }'
  1 1 1
  $ "$HEDDLE_DATA/scripts/papers" --shard auto 2>&1 | tail -n 1
  papers: error: argument --shard: invalid shard value: 'auto'

What was found is kept, and not asked for again; a plan that two ask for is predicted once:

  $ cat >known.py <<'END'
  > import os, sys
  > sys.dont_write_bytecode = True
  > sys.path.insert(0, os.environ["HEDDLE_DATA"] + "/scripts")
  > from experiments.model import Model
  > from experiments.sch import ACTIVE, cta_of, sch_schedules
  > from experiments.work import Work
  > ask = lambda m, *plans: m.rows("atax", "gtx480", "tiny cta=64", plans)
  > def collect(m):
  >     m.wanted = []
  >     ask(m, "baseline", "order=hilbert")
  >     rows = ask(m, "baseline", "order=col")
  >     if rows["order=col"]:
  >         ask(m, "bind=redirect")
  >     return m.wanted
  > model = Model("kept")
  > Work(model, "heddle", 2, 0).all(lambda: collect(model))
  > again = Model("kept")
  > rows = ask(again, "baseline", "order=hilbert", "order=col", "bind=redirect")
  > print(sorted(p for p, r in rows.items() if r["time_us"] > 0), len(again.wanted))
  > ask(again, "order=reverse")
  > slow = Work(again, "/nowhere", 1, 0)
  > slow.all(lambda: again.wanted)
  > print(list(slow.failed), ask(again, "order=reverse"))
  > print(len(sch_schedules()) * 2 * len(ACTIVE), len(set(sch_schedules())))
  > print(cta_of(512)(1024), "|", cta_of(512)(64), "|", cta_of(32)(512))
  > END
  $ python3 known.py 2>log; grep -c 'atax-tiny_cta=64-gtx480' log
  ['baseline', 'bind=redirect', 'order=col', 'order=hilbert'] 0
  ['atax-tiny_cta=64-gtx480'] {'order=reverse': None}
  2170 217
  x=512 y=2 | x=64 y=1 | x=32 y=16
  2

SMC's partition has clusters of one size, and CTAs that share data in one, whatever it draws:

  $ cat >clusters.py <<'END'
  > import os, random, sys
  > sys.dont_write_bytecode = True
  > sys.path.insert(0, os.environ["HEDDLE_DATA"] + "/scripts")
  > from experiments.smc_causes import partition
  > groups = lambda order, k: [sorted(order[i * len(order) // k:(i + 1) * len(order) // k]) for i in range(k)]
  > apart = [{w: 0.5 for w in range(12) if w % 3 == v % 3 and w != v} for v in range(12)]
  > chain = [{w: 0.3 for w in (v - 1, v + 1) if 0 <= w < 11} for v in range(11)]
  > print({str(sorted(groups(partition(12, apart, 3, random.Random(s)), 3))) for s in range(20)})
  > print({len(set(partition(11, chain, 4, random.Random(s)))) for s in range(20)}, {len(set(partition(5, [{}] * 5, 5, random.Random(s)))) for s in range(5)})
  > END
  $ python3 clusters.py
  {'[[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]'}
  {11} {5}

A cause that is put into a GPU changes its own line of the file:

  $ cat >cause.py <<'END'
  > import difflib, os, sys
  > sys.dont_write_bytecode = True
  > sys.path.insert(0, os.environ["HEDDLE_DATA"] + "/scripts")
  > from experiments.model import Model
  > model = Model("causes")
  > read = lambda path: [line.split("#")[0].rstrip() for line in open(path)]
  > for put in ({"l2": 0.25}, {"mshrs": 32}, {"cta": 10}):
  >     print(*[line for line in difflib.ndiff(read(os.environ["HEDDLE_DATA"] + "/gpus/k40.toml"), read(model.variant("k40", **put))) if line[0] in "+-"], sep="\n")
  > END
  $ python3 cause.py
  - bytes_per_cycle = 768
  + bytes_per_cycle = 192
  - mshrs = 64
  + mshrs = 32
  + [launch]
  + first_us = 0
  + next_us = 0
  + cta_cycles = 10
  + 

Those of most weight come first, and with them what their values lead to:

  $ cat >first.py <<'END'
  > import os, sys
  > sys.dont_write_bytecode = True
  > sys.path.insert(0, os.environ["HEDDLE_DATA"] + "/scripts")
  > from experiments import work
  > from experiments.model import FIGURES, LARGE, Model
  > class Told(work.Work):
  >     def run(self, request):
  >         print(request.rank, *request.plans)
  >         return {p: {"time_us": 1.0} for p in request.plans}, 0.0
  > def collect(m):
  >     m.wanted = []
  >     for rank, plans in ((LARGE, ["baseline", "order=col"]), (FIGURES, ["baseline", "order=row"]), (0, ["baseline"])):
  >         with m.at(rank):
  >             rows = m.rows("atax", "gtx480", "tiny cta=64", plans)
  >     if rows["baseline"]:
  >         m.rows("atax", "gtx480", "tiny cta=64", ["bind=redirect"])
  >     return m.wanted
  > work.ANEW = 0
  > model = Model("first")
  > Told(model, "heddle", 1, 0).all(lambda: collect(model))
  > END
  $ python3 first.py 2>/dev/null
  0 baseline
  0 bind=redirect
  200 order=row
  700 order=col
