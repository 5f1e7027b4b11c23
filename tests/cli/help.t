`heddle help COMMAND` is `heddle COMMAND -h`:

  $ heddle help tune > of-help; heddle tune -h | cmp - of-help
  $ heddle help sweeep
  heddle: no command 'sweeep'; did you mean sweep; 'heddle -h' lists them
  [2]

`heddle help words` prints docs/words.md, each row of its tables as one entry; no line is longer than 100 columns:

  $ heddle help words > words; grep -c '^  [^ ]' words > entries; grep '^| ' $SOURCE/docs/words.md | grep -cv '^| word \|^| ---' | cmp - entries
  $ awk 'length > 100' words
  $ grep -F '`' words
  [1]

A word, in any case of letters, or the beginning of one:

  $ heddle help sector
    sector                32 bytes of a line, the unit in which L1, L2 and DRAM move data
  $ heddle help words warps
  heddle: no word 'warps'; 'heddle help words' lists them
  [2]
  $ heddle help words DISPATCH | grep -o '^  [^ ][^ ]* [^ ]*'
    dispatcher 
    demand dispatch

A word that is a command, too, is the command's:

  $ heddle help check | head -1 | cut -c1-24
  usage: heddle check WORK
  $ heddle help words check | grep -o '^  [^ ][^ ]* [^ ]*'
    check, proof
