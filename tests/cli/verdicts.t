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
  $ heddle verdicts import v.json --store v.db
  2 verdicts taken over
  $ heddle verdicts import v.json --store v.db
  0 verdicts taken over
  $ heddle verdicts --store v.db
  name          plan          speedup          99%  default us  plan us  GPU   driver  made
  ------------  ------------  -------  -----------  ----------  -------  ----  ------  ----------
  copy          baseline       1.000x  1.000-1.000        10.0     10.0  H100  580.1   2023-11-14
  matmul-naive  order=band:8   1.250x  1.200-1.300       100.0     80.0  H100  580.1   2001-09-09
  $ heddle verdicts list --store v.db --name 'mat*' --json
  {
    "heddle_verdicts": 1,
    "verdicts": [
      {
        "kernel": "00112233445566778899aabbccddeeff",
        "launch": "grid=8x8x1 block=32x8x1 shared=0 args=any",
        "gpu": "H100",
        "driver": "580.1",
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
        "counters": ""
      }
    ]
  }
  $ heddle verdicts prune --store v.db
  heddle: verdicts: say what to drop (--name, --gpu, --driver, --older), or --all
  [2]
  $ heddle verdicts prune --store v.db --older 1000 --name 'm*'
  1 verdicts dropped
  $ heddle verdicts export --store v.db -o w.json && grep -c kernel w.json
  1

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
