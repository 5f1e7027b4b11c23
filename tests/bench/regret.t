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

The table alone needs no GPU; what a workload fails with ends neither the others nor the table.

  $ bench_regret -o r.jsonl | tail -1 | sed 's/ in . of/ in N of/'
  The tuner's choice is within 2% of the best plan in N of 1 workloads.
  $ bench_regret --size tiny -o r.jsonl no-such-workload 2>&1 | head -1 | sed 's/among .*//'
  no-such-workload: there is no workload 'no-such-workload' 
