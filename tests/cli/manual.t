Man pages and completions say what -h says.

  $ heddle manual pages; ls pages | wc -l | sed 's/^[2-9][0-9]$/many/'
  many
  $ for c in $(sed -n 's/^.BR heddle..\([a-z]*\) (1)$/\1/p' pages/heddle.1); do
  >   heddle $c -h | grep -o -- '--[a-z0-9-]*' | sort -u > said
  >   sed 's/\\-/-/g; s/\\f[BIR]//g' pages/heddle-$c.1 | grep -o -- '--[a-z0-9-]*' | sort -u > page
  >   comm -23 said page | sed "s/^/$c: /"
  >   heddle $c -h | sed -n 's/^  .*\(--[a-z0-9-]*\).*/\1/p' | sort -u > rows
  >   for s in bash zsh; do heddle manual $s | grep -o -- '--[a-z0-9-]*' | sort -u | comm -23 rows - | sed "s/^/$s $c: /"; done
  > done
  $ ! command -v groff > /dev/null || for p in pages/*.1; do groff -man -Tutf8 -ww -z $p; done
  $ heddle manual bash > completions; bash -n completions
  $ ! command -v zsh > /dev/null || { heddle manual zsh > _heddle; zsh -n _heddle; }
  $ ! command -v fish > /dev/null || { heddle manual fish > heddle.fish; fish -n heddle.fish; }
  $ heddle manual /proc/below
  heddle: cannot write in the folder /proc/below: No such file or directory
  [2]

bash completes commands, options, words of a choice, GPUs and workloads:

  $ cat > try.bash <<'END'
  > source ./completions
  > compopt() { :; }
  > complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _heddle; echo "${COMPREPLY[@]}"; }
  > complete_line heddle swe
  > complete_line heddle sweep --dep
  > complete_line heddle sweep --depth ti
  > complete_line heddle sweep --gpu gtx58
  > complete_line heddle sweep matmul-na
  > complete_line heddle verdicts --gpu x
  > END
  $ PATH=$(dirname $(command -v heddle)):$PATH bash try.bash
  sweep
  --depth
  timing
  gtx580
  matmul-naive
  

Names that there are not are answered by those that are near:

  $ heddle swep x
  heddle: no command 'swep'; did you mean sweep; 'heddle -h' lists them
  [2]
  $ heddle sweep copy-col --dpeth timing
  heddle: sweep: no option '--dpeth'; did you mean --depth; 'heddle sweep -h' lists them
  [2]
  $ heddle list --nmes
  heddle: list: no option '--nmes'; did you mean --names; 'heddle list -h' lists them
  [2]
  $ heddle list --zzzz
  heddle: list: no option '--zzzz'; 'heddle list -h' lists them
  [2]
  $ heddle simulate copy-col --gpu gtx59
  heddle: there is no GPU 'gtx59'; there is gtx570, gtx580, gtx690
  [2]
  $ heddle simulate --gpu list | grep -x h100
  h100
  $ heddle list --names | grep -x matmul-naive
  matmul-naive

  $ while IFS='|' read -r words near; do
  >   heddle $words > out 2>&1; [ $? = 2 ] && grep -qF "did you mean $near?" out || { echo "heddle $words:"; cat out; }
  > done <<'END'
  > check copy-col --plan ordr=col|order
  > check copy-col --plan order=hilbrt|hilbert
  > check copy-col --plan order=col,bind=agnts:2|agents
  > check copy-col --plan threads=bandd:2|band
  > check copy-col --plan form=predicat|predicate
  > check copy-col --plan prefetch=l3:4|l1 or l2
  > check copy-col --plan split=colz|cols
  > check copy-col --plan order=col --dispatcher revers|reverse
  > check copy-col --plan order=col --assume no-wait|no-waits
  > simulate copy-col --size smal|small
  > simulate copy-col --param hight=3|height
  > simulate copy-col --scheduler gtoo|gto
  > simulate copy-col --depth trafic|traffic
  > simulate copy-col --dispatcher demnd|demand
  > time copy-col --device modle:h100|model
  > time copy-col --l2 kep|keep
  > tune copy-col --strategy serch|search
  > analyze copy-col --dot afinity|affinity
  > END

Without words the program says what comes next:

  $ heddle | tail -1
  Next: heddle optimize matmul-naive --gpu h100, without a GPU; heddle list shows more

Bars:

  $ heddle sweep copy-col --size tiny --gpu gtx580 --depth traffic --plans 'order=col order=reverse' --plot
  baseline                           ██████████████████████████████      0.007 MB of traffic   +0.0%
  order=col                          ██████████████████████████████      0.007 MB of traffic   +0.0%
  order=reverse                      ██████████████████████████████      0.007 MB of traffic   +0.0%
