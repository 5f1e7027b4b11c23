Where the clock on the wall ends a search, no line of its output is false. The clock of this case advances by a
millisecond with each look at it, so that a wall is a number of looks. Each run is told by whether it is an answer, and
checked: "tried" and "replayed" count the plans with figures, and nothing is said of all plans where some have none.

# needs: nvcc-or-clang

  $ cat > check <<'END'
  > # rc is the exit code. Rows of plans have seven columns, or "not tried" in the last.
  > /^plan  /      { table = 1; next }
  > /^Times are|^No answer|^$/ { table = 0 }
  > table && /not tried: / { untried++; next }
  > table && !/^baseline|^---|^\(/ { tried++ }
  > /^\([0-9]+ more plans? not tried/ { untried += substr($1, 2) }
  > /^\([0-9]+ more plans? tried/ { tried += substr($1, 2); if (/not tried/) untried += $5 }
  > / plans$/ { plans = $(NF - 1) - 1 }
  > /not proved/ { unproved = 1 }
  > /^No answer: nothing/ { none = 1; all = plans; next }
  > /^No answer: / { none = 1; replayed = $3; all = $5 }
  > /nothing beats it|no gain is predicted|no order tried|No order helps|^Best: / { final = $0 }
  > END { if ((rc == 3) != none) print "exit code " rc, none ? "without" : "with", "an answer"
  >       if (none && final) print "false: " final
  >       if (none && (replayed + 0 != tried + 0 || all != plans)) print "false: " replayed " of " all ", tried " tried " of " plans
  >       if (!none && untried) print untried " not tried, and an answer"
  >       if (none && all && replayed == all && !unproved) print "all were replayed, and no answer"
  >       if (tried + untried < plans - 1) print plans " plans, " tried " tried, " untried " not" }
  > END

  $ for wall in 1 3 5 9; do for rows in 3 100; do heddle optimize matmul-swapped --size small --threads 1 --wall $wall --rows $rows -o out > text; awk -v rc=$? -f check text; grep -q '^No answer' text && ! grep -q 'No answer' out/matmul-swapped.html 2>/dev/null && test -e out/matmul-swapped.html && echo the page has an answer; rm -rf out; done; done

Without a wall that ends it, it is an answer.

  $ heddle optimize matmul-swapped --size small --threads 1 --wall 86400 -o out > text; rc=$?; awk -v rc=$rc -f check text; grep -c '^Best: threads=' text
  1

Nor does a tuning say that no plan was faster where plans were not measured, and it leaves no verdict.

  $ for wall in 1 2 4; do heddle tune matmul-swapped --device model:h100 --size small --threads 1 --no-proof --store v.db --wall $wall > text 2>&1; rc=$?; grep -q 'no answer' text; none=$?; test $((rc == 3)) = $((none == 0)) || { echo exit code $rc; cat text; }; test $none = 0 && grep -E 'adopted|original stays|was faster|^  verdict' text; test $rc = 3 && heddle verdicts --store v.db 2>/dev/null | grep -c matmul; done | sort -u
  0
