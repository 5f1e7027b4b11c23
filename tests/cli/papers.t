# needs: nvcc-or-clang

A page of the papers' experiments that was given no time has its tables' heads and keeps its notes:

  $ printf 'old\n<!-- notes -->\nkept\n' >page.md; "$HEDDLE_DATA/scripts/papers" --heddle heddle --cache none --seconds 0.000001 -o page.md 2>/dev/null; sed -n '1p;$p' page.md; grep -c '^old' page.md; grep '^## ' page.md
  # The model beside the papers
  kept
  0
  ## CLU: CTA clustering
  ## BYP: bypassing by warps
  ## MAP: mapping CTAs along x or y
  ## SCH: schedules of threads
  ## SMC: affinity and workers bound to SMs

What was found is kept, and not asked for again:

  $ cat >known.py <<'END'
  > import os, sys
  > sys.dont_write_bytecode = True
  > sys.path.insert(0, os.environ["HEDDLE_DATA"] + "/scripts")
  > from experiments.model import Model
  > from experiments.sch import ACTIVE, cta_of, sch_schedules
  > model = Model("heddle", "kept", 0, 1)
  > rows = model.rows("atax", "gtx480", "tiny cta=64", ["baseline", "warps=ccws", "order=col"])
  > print(sorted(rows), rows["warps=ccws"]["time_us"] > 0)
  > again = Model("/nowhere", "kept", 0, 1).rows("atax", "gtx480", "tiny cta=64", ["baseline", "warps=ccws"])
  > print(again["warps=ccws"] == rows["warps=ccws"])
  > print(len(sch_schedules()) * 2 * len(ACTIVE), len(set(sch_schedules())))
  > print(cta_of(512)(1024), "|", cta_of(512)(64), "|", cta_of(32)(512))
  > END
  $ python3 known.py 2>/dev/null
  ['baseline', 'order=col', 'warps=ccws'] True
  True
  2170 217
  x=512 y=2 | x=64 y=1 | x=32 y=16
