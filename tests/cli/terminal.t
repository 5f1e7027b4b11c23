# needs: nvcc-or-clang

On a terminal each stage shows how far it is, and the line is gone at the end:

  $ script -qec "heddle optimize matmul-naive --size tiny --gpu gtx580 --threads 1 -o out" /dev/null </dev/null | tr '\r' '\n' | grep -aoE '(tracing|choosing plans to try|replaying plans) \[[.]{30}\] 0/1$|replaying plans \[[#.]{30}\] [0-9]+/[0-9]+' | sed 's|replaying plans.*|replaying plans [#...] K/N|' | uniq
  tracing [..............................] 0/1
  choosing plans to try [..............................] 0/1
  replaying plans [#...] K/N
  $ heddle optimize matmul-naive --size tiny --gpu gtx580 --threads 1 -o out 2>&1 | grep -c 'replaying plans'
  0
  [1]

So it is with other commands:

  $ cat > tells <<'EOF'
  > script -qec "$1" /dev/null </dev/null | tr '\r' '\n' | grep -aoE "($2)"' \[[#.]{30}\] [0-9]+/[0-9]+(, [0-9]+ (s|min) left)?' |
  >   sed 's/ \[.*//' | sort -u
  > EOF
  $ bash tells 'heddle simulate matmul-naive --size tiny --gpu gtx580' 'tracing|replaying'
  replaying
  tracing
  $ bash tells 'heddle analyze matmul-naive --size tiny' 'tracing|replaying|predicting plans'
  predicting plans
  replaying
  tracing
  $ bash tells 'heddle corun copy-col copy-col --size tiny --device model:gtx580 --sms 8' 'looking for partitions'
  looking for partitions
  $ bash tells 'heddle time copy-col --size tiny --plan order=col --device model:gtx580' 'checking plans|timing|counting'
  checking plans
  counting
  timing
  $ bash tells 'heddle tune copy-col --size tiny --device model:gtx580 --budget 1 --store none' 'copy-col: (traces|advice|screening)'
  copy-col: advice
  copy-col: screening
  copy-col: traces
  $ heddle simulate matmul-naive --size tiny --gpu gtx580 2>&1 | grep -c tracing
  0
  [1]

Where nothing is sampled, one line says how long it takes before it starts, on a terminal or not:

  $ cat > says <<'EOF'
  > : > line; "$@" > answer 2> line & p=$!
  > until [ -s line ] || ! kill -0 $p 2>/dev/null; do sleep 0.05; done
  > kill $p 2>/dev/null; wait $p 2>/dev/null
  > sed 's/[0-9][0-9.]*/N/g' line
  > EOF
  $ bash says heddle sweep matmul-naive --param n=4096 --gpu h100 --exact --threads 2
  heddle: N replays of whole launches: about N h on N threads
  $ bash says heddle optimize matmul-naive --param n=2048 --gpu h100 --exact --threads 1 --plans order=col
  heddle: N replays of whole launches: about N min on N thread
  $ bash says heddle simulate matmul-naive --param n=2048 --gpu h100 --exact --threads 2
  heddle: N replay of whole launches: about N min on N threads
  $ bash says heddle sweep matmul-naive --size tiny --gpu h100 --exact

Ctrl-C ends the search. The best plan so far is proved and written:

  $ plans=$(echo order=band:16; for a in {1..40}; do for b in {1..40}; do echo order=tile:${a}x$b; done; done); heddle optimize matmul-naive --size small --gpu gtx580 --plans "$plans" --threads 1 -o out > answer & p=$!; until grep -q 'SigCgt:.*[2367abef]$' /proc/$p/status; do sleep 0.1; done; kill -INT $p; wait $p; echo $?
  heddle: stopping when what is under way is done; Ctrl-C again: at once
  130
  $ grep -oE '^No answer: [0-9]+ of [0-9]+ plans replayed when the search was stopped|[0-9]+ not tried|more plans not tried|^Wrote out/matmul-naive.*html' answer | sed 's/[0-9][0-9]*/N/g; s|out/matmul-naive.ptx and ||; s/N not tried/more plans not tried/'
  more plans not tried
  Wrote out/matmul-naive.html
  No answer: N of N plans replayed when the search was stopped
