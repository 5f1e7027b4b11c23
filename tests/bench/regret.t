# needs: nvcc-or-clang

Every plan of a kernel is measured and told as soon as that is done:

  $ bench_regret --size tiny --budget 1 --no-advice --most 20 -o r.jsonl copy-col >table 2>/dev/null; sed -n '1p;$p' table | sed 's/ in . of/ in N of/; s/  */ /g'
  workload kernel tuner's plan speedup best plan speedup regret plans
  The tuner's choice is within 2% of the best plan in N of 1 workloads.
  $ grep -c '"tuned"' r.jsonl; grep -c '"best"' r.jsonl
  1
  1
  $ plans() { grep '"ratio"\|"why"' $1 | grep -o '"plan":"[^"]*"' | sort; }; plans r.jsonl | uniq -d | wc -l; [ $(plans r.jsonl | wc -l) -ge 20 ] && echo enough
  0
  enough

A run that was cut off goes on where it ended: what is there is not measured again, half a line is left out.

  $ head -c 2000 r.jsonl >cut.jsonl; bench_regret --size tiny --budget 1 --no-advice --most 20 -o cut.jsonl copy-col >/dev/null 2>&1; grep '}$' cut.jsonl | grep -o '"plan":"[^"]*","\(ratio\|why\)' | sort | uniq -d | wc -l
  0
  $ bench_regret --size tiny --budget 1 --no-advice --most 20 -o r.jsonl copy-col 2>&1 >/dev/null | sed 's/: .* plans/: N plans/'
  copy-col copy_col: N plans, 0 measured now, more to come

Another tuner is compared with the plans that were measured: without the lines of the choice and of contests it chooses
again, and only what it or the candidates have besides is measured.

  $ plans() { grep '"ratio"\|"why"' $1 | grep -o '"plan":"[^"]*"' | sort; }; grep -v '"tuned":\|"best":\|"done":' r.jsonl >again.jsonl; bench_regret --size tiny --budget 1 --no-advice --most 20 -o again.jsonl copy-col >/dev/null 2>&1; grep -c '"tuned":' again.jsonl; grep -c '"best":' again.jsonl; plans again.jsonl | uniq -d | wc -l
  1
  1
  0
  $ plans() { grep '"ratio"\|"why"' $1 | grep -o '"plan":"[^"]*"' | sort; }; head -5 r.jsonl | grep '"ratio"' | head -2 >few.jsonl; bench_regret --size tiny --budget 1 --no-advice --most 20 -o few.jsonl copy-col >/dev/null 2>&1; plans few.jsonl | uniq -d | wc -l; [ $(plans few.jsonl | wc -l) -ge 20 ] && echo enough
  0
  enough

The advisor's GPU file is read first, and nothing is silent about one that cannot be:

  $ mkdir -p data/gpus && ln -s $SOURCE/kernels data/kernels && echo 'nonsense' >data/gpus/h100.toml; HEDDLE_DATA=data bench_regret --size tiny --budget 1 --most 1 -o other.jsonl no-such-workload 2>&1 | grep -o '^no advice: .*h100.toml'
  no advice: data/gpus/h100.toml

The table alone needs no GPU; what a workload fails with ends neither the others nor the table.

  $ bench_regret -o r.jsonl | tail -1 | sed 's/ in . of/ in N of/'
  The tuner's choice is within 2% of the best plan in N of 1 workloads.
  $ bench_regret --size tiny -o r.jsonl no-such-workload 2>&1 | head -1 | sed 's/among .*//'
  no-such-workload: there is no workload 'no-such-workload' 
