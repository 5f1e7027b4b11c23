The README's command, and what the README shows of its output: each of its lines comes, in this order.

  $ ln -s $SOURCE/examples; awk '/^```/ {inside = !inside; next} inside' $SOURCE/README.md > shown; sed -n 's/^  [$>] //p' shown > command; grep -c '^heddle' command
  1
  $ bash -e command > printed; echo $?
  0
  $ sed -n '/^  [^$>]/{s/^  //; /^[.][.][.]$/d; p}' shown > lines; grep -c . lines
  8
  $ awk 'NR == FNR {want[++n] = $0; next} $0 == want[at + 1] {at++} END {for (i = at + 1; i <= n; i++) print want[i]}' lines printed
  $ ls out
  columns-scale.html
  columns-scale.json
  columns-scale.ptx

Commands that README and the page of commands name are there, and the pages that README leads to:

  $ cat $SOURCE/README.md $SOURCE/docs/commands.md | grep -o '^    heddle [a-z]*\|`heddle [a-z]*' | sed 's/.*heddle //' | sort -u | grep -vx help > named; heddle -h | sed -n 's/^   *\([a-z]*\) .*/\1/p' | sort > there; comm -23 named there
  $ grep -o '](\([^)#]*\)' $SOURCE/README.md | sed 's/^](//' | while read -r page; do [ -e "$SOURCE/$page" ] || echo "$page"; done
