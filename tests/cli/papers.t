# needs: nvcc-or-clang

A page of the papers' experiments that was given no time says how long all of them take, has its tables' heads, and keeps
its notes:

  $ printf 'old\n<!-- notes -->\nkept\n' >page.md; "$HEDDLE_DATA/scripts/papers" --heddle heddle --cache none --jobs 1 --seconds 0.000001 -o page.md 2>err; sed -n '1p;$p' page.md; grep -c '^old' page.md; grep '^## ' page.md; sed -nE 's/^[0-9]+ (predictions to make: about) [0-9.]+ (core-hours).*/\1 \2/p' err
  # The model beside the papers
  kept
  0
  ## CLU: CTA clustering
  ## BYP: bypassing by warps
  ## MAP: mapping CTAs along x or y
  ## SCH: schedules of threads
  ## SMC: affinity and workers bound to SMs
  ## On an H100
  predictions to make: about core-hours

The chapters of papers that are not named stay as they are in the page:

  $ printf '# Old\n\n## CLU: CTA clustering\n\nold tables\n\n## SMC: affinity and workers bound to SMs\n\n### Co-runs\n\nold rows\n\n<!-- notes -->\nkept\n' >old.md; "$HEDDLE_DATA/scripts/papers" --heddle heddle --cache none --only map --jobs 1 --seconds 0.000001 -o old.md 2>/dev/null; grep -E '^(#|old|kept)' old.md | grep -v '^### [^C]'; diff <(sed -n '/^## MAP/,/^## SCH/p' old.md) <(sed -n '/^## MAP/,/^## SCH/p' page.md) && echo made
  # The model beside the papers
  ## CLU: CTA clustering
  old tables
  ## BYP: bypassing by warps
  ## MAP: mapping CTAs along x or y
  ## SCH: schedules of threads
  ## SMC: affinity and workers bound to SMs
  ### Co-runs
  old rows
  ## On an H100
  kept
  made

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
  >     ask(m, "baseline", "warps=ccws")
  >     rows = ask(m, "baseline", "order=col")
  >     if rows["order=col"]:
  >         ask(m, "bind=redirect")
  >     return m.wanted
  > model = Model("kept")
  > Work(model, "heddle", 2, 0).all(lambda: collect(model))
  > again = Model("kept")
  > rows = ask(again, "baseline", "warps=ccws", "order=col", "bind=redirect")
  > print(sorted(p for p, r in rows.items() if r["time_us"] > 0), len(again.wanted))
  > ask(again, "order=reverse")
  > slow = Work(again, "/nowhere", 1, 0)
  > slow.all(lambda: again.wanted)
  > print(list(slow.failed), ask(again, "order=reverse"))
  > print(len(sch_schedules()) * 2 * len(ACTIVE), len(set(sch_schedules())))
  > print(cta_of(512)(1024), "|", cta_of(512)(64), "|", cta_of(32)(512))
  > END
  $ python3 known.py 2>log; grep -c 'atax-tiny_cta=64-gtx480' log
  ['baseline', 'bind=redirect', 'order=col', 'warps=ccws'] 0
  ['atax-tiny_cta=64-gtx480'] {'order=reverse': None}
  2170 217
  x=512 y=2 | x=64 y=1 | x=32 y=16
  2

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
  100 order=row
  600 order=col
