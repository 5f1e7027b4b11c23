The store of verdicts:

  $ cat > v.json <<'END'
  > {"heddle_verdicts": 1, "verdicts": [
  > {"kernel": "00112233445566778899aabbccddeeff", "launch": "grid=8x8x1 block=32x8x1 shared=0 args=any", "gpu": "H100", "driver": "580.1",
  >  "name": "matmul-naive", "plan": "order=band:8", "speedup": 1.25, "low": 1.2, "high": 1.3, "confidence": 0.99,
  >  "before_us": 100, "after_us": 80, "tried": 40, "made": 1000000000, "counters": ""},
  > {"kernel": "00112233445566778899aabbccddeef0", "launch": "grid=8x8x1 block=32x8x1 shared=0 args=any", "gpu": "H100", "driver": "580.1",
  >  "name": "copy", "plan": "baseline", "speedup": 1, "low": 1, "high": 1, "confidence": 0.99,
  >  "before_us": 10, "after_us": 10, "tried": 40, "made": 1700000000, "counters": ""}]}
  > END
  $ heddle verdicts --store v.db
  No verdicts: heddle tune and heddle bench find them.
  $ heddle verdicts import v.json --store v.db
  2 verdicts taken over
  $ heddle verdicts import v.json --store v.db
  0 verdicts taken over
  $ heddle verdicts --store v.db
  name          plan          speedup          99%  of  default us  plan us  GPU   driver  made
  ------------  ------------  -------  -----------  --  ----------  -------  ----  ------  ----------
  copy          baseline       1.000x  1.000-1.000            10.0     10.0  H100  580.1   2023-11-14
  matmul-naive  order=band:8   1.250x  1.200-1.300           100.0     80.0  H100  580.1   2001-09-09
  $ heddle verdicts list --store v.db --name 'mat*' --json
  {
    "heddle_verdicts": 4,
    "verdicts": [
      {
        "kernel": "00112233445566778899aabbccddeeff",
        "launch": "grid=8x8x1 block=32x8x1 shared=0 args=any",
        "gpu": "H100",
        "driver": "580.1",
        "size": "",
        "name": "matmul-naive",
        "plan": "order=band:8",
        "speedup": 1.25,
        "low": 1.2,
        "high": 1.3,
        "confidence": 0.98999999999999999,
        "before_us": 100.0,
        "after_us": 80.0,
        "tried": 40,
        "made": 1000000000,
        "counters": "",
        "assume": "",
        "basis": ""
      }
    ],
    "tables": []
  }
  $ heddle verdicts prune --store v.db
  heddle: verdicts: say what to drop (--name, --gpu, --driver, --older), or --all
  [2]
  $ heddle verdicts prune --store v.db --older 1000 --name 'm*'
  1 verdict dropped
  $ heddle verdicts export --store v.db -o w.json && grep -c kernel w.json
  1

An order that is a table brings it along, and it goes when nobody names it any more:

  $ cat > t.json <<'END'
  > {"heddle_verdicts": 2, "verdicts": [
  > {"kernel": "00112233445566778899aabbccddeeff", "launch": "grid=5x2x1 block=32x8x1 shared=0 args=any", "gpu": "H100", "driver": "580.1",
  >  "size": "gpu", "name": "spmm", "plan": "order=table:#e3ff36808ef368c87af4541c767dcc04,bind=agents", "speedup": 1.25, "low": 1.2, "high": 1.3,
  >  "confidence": 0.99, "before_us": 100, "after_us": 80, "tried": 40, "made": 1000000000, "counters": ""}],
  > "tables": [{"name": "e3ff36808ef368c87af4541c767dcc04", "tasks": 10, "packed": "KLUv/SAoXQAAGBIBAAIA4IoXYAE="}]}
  > END
  $ heddle verdicts import t.json --store t.db
  1 verdict taken over
  $ heddle verdicts --store t.db
  name  plan                                                       speedup          99%  of  default us  plan us  GPU   driver  made
  ----  ---------------------------------------------------------  -------  -----------  --  ----------  -------  ----  ------  ----------
  spmm  order=table:#e3ff36808ef368c87af4541c767dcc04,bind=agents   1.250x  1.200-1.300           100.0     80.0  H100  580.1   2001-09-09
  $ heddle verdicts export --store t.db | grep -A4 '"tables"'
    "tables": [
      {
        "name": "e3ff36808ef368c87af4541c767dcc04",
        "tasks": 10,
        "packed": "KLUv/SAoXQAAGBIBAAIA4IoXYAE="
  $ heddle verdicts export --store t.db | sed 's/"basis": ""/"basis": "8 places in memory"/; s/"made": 1000000000/"made": 1000000001/' >u.json; heddle verdicts import u.json --store t.db; heddle verdicts --store t.db | grep -o '1.200-1.300.*100.0'
  1 verdict taken over
  1.200-1.300  8 places in memory       100.0
  $ heddle verdicts prune --all --store t.db
  1 verdict dropped
  $ heddle verdicts export --store t.db
  {
    "heddle_verdicts": 4,
    "verdicts": [],
    "tables": []
  }

Tables that are none, are others or are missing keep the whole file out:

  $ echo 'sed "$1" t.json > bad.json; heddle verdicts import bad.json --store t.db' > bad.sh
  $ bash bad.sh 's/"tasks": 10/"tasks": 11/'
  heddle: bad.json: table 1: a packed table does not hold its 11 tasks
  [2]
  $ bash bad.sh 's/"packed": "K/"packed": "?/'
  heddle: bad.json: table 1: what is packed is not base 64
  [2]
  $ bash bad.sh 's/"name": "e3/"name": "00/'
  heddle: bad.json: table 1: the table 00ff36808ef368c87af4541c767dcc04 is another one: its entries are those of e3ff36808ef368c87af4541c767dcc04
  [2]
  $ bash bad.sh 's/grid=5x2x1/grid=5x3x1/'
  heddle: bad.json: verdict 1: its table has 10 tasks, which is not what is launched: grid=5x3x1 block=32x8x1 shared=0 args=any
  [2]
  $ bash bad.sh 's/table:#e3ff36808ef368c87af4541c767dcc04/table:spmm.table/'
  heddle: bad.json: verdict 1: its plan names a file, which did not come with it: order=table:spmm.table,bind=agents
  [2]
  $ bash bad.sh 's/order=table:#e3ff36808ef368c87af4541c767dcc04/order=col/'
  heddle: bad.json: table 1: no verdict names it
  [2]
  $ bash bad.sh 's/"tables".*/"tables": []}/'
  heddle: bad.json: verdict 1: its table e3ff36808ef368c87af4541c767dcc04 is missing
  [2]
  $ heddle verdicts --store t.db --json | grep -c kernel
  0
  [1]

Mistakes:

  $ heddle verdicts drop --store v.db
  heddle: verdicts: list, export, import FILE or prune, not 'drop'
  [2]
  $ heddle verdicts import
  heddle: verdicts: list, export, import FILE or prune
  [2]
  $ echo '{"heddle_verdicts": 1, "verdicts": [{}]}' > bad.json; heddle verdicts import bad.json --store v.db
  heddle: bad.json: verdict 1 lacks 'kernel'
  [2]
  $ echo text > bad.db; heddle verdicts --store bad.db
  heddle: bad.db: cannot open the store: file is not a database
  [2]
