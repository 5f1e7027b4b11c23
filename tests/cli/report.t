One page of what lies in a folder; tests/report/page.py looks at it in a browser.

  $ mkdir empty && heddle report empty
  heddle: empty: nothing lies there that a page could show
  [2]
  $ heddle report nowhere
  heddle: nowhere: No such file or directory
  [2]

Files of the folder and of those in it travel as JSON, lists of like objects as columns; lines that were cut off are left
out, and what is no JSON is text:

  $ mkdir -p d/in && printf '[{"a":1,"b":"</script>"},{"a":2},{"a":3},{"a":4}]' > d/x.json && printf '{"n":1}\n{"n":' > d/in/y.jsonl && echo '{broken' > d/z.json && echo a,b > d/t.csv && touch d/other.bin
  $ heddle report d && grep -o '<script id="files".*' d/index.html | sed 's/<script>.*//'
  <script id="files" type="application/json">[{"name":"in/y.jsonl","json":[{"n":1}]},{"name":"t.csv","text":"a,b\n"},{"name":"x.json","json":{"$rows":4,"$columns":{"a":[1,2,3,4],"b":["\u003c/script>",null,null,null]}}},{"name":"z.json","text":"{broken\n"}]</script>
  $ (cd d; heddle report .); grep -oE '<(title|h1)>[^<]*' d/index.html
  <title>d
  <h1>d
  $ heddle report d -o - | head -c 15
  <!doctype html>

An optimization leaves its JSON beside its page:

  $ heddle optimize $SOURCE/corpus/triton/column-sum-sm80 --size tiny --gpu gtx580 -o o >/dev/null; ls o
  column-sum-sm80.html
  column-sum-sm80.json
  $ grep -c '"share": "' o/column-sum-sm80.json
  3
