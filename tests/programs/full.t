Programs die of files that may not grow (ulimit -f) under `heddle run` as they do without it:

  $ cat >writes <<'EOF'
  > ulimit -f 0; echo word >out || echo refused
  > EOF
  $ for start in '' 'heddle run -q --'; do ($start sh writes) 2>/dev/null; echo $?; done 2>/dev/null
  153
  153
  $ trap '' XFSZ; for start in '' 'heddle run -q --'; do $start sh writes 2>/dev/null; done | cat
  refused
  refused
