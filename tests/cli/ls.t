The kernels of a PTX file, with the reasons why some cannot be reordered:

  $ heddle ls $SOURCE/tests/cli/data/scale.ptx
  module  sm  params  bytes  shared  limits          kernel  CTA order
       0  80       4     24       0  block<=256x1x1  scale   can be reordered
       0  80       1      8       0  -               where   no: line 49: mov.u32 %r1, %smid;: its value depends on where and when the CTA runs
  1 module, 2 kernels, 0.0 MB of PTX

Totals for programs:

  $ heddle ls --json $SOURCE/tests/cli/data/scale.ptx | sed '/seconds/d'
  {
    "modules": 1,
    "kernels": 2,
    "bytes": 1088,
    "failures": 0,
  }
  $ heddle ls --json -l $SOURCE/tests/cli/data/scale.ptx | sed "s|$SOURCE|S|" | grep -v seconds
  {
    "modules": 1,
    "kernels": 2,
    "bytes": 1088,
    "failures": 0,
    "list": [
      {
        "file": "S/tests/cli/data/scale.ptx",
        "module": 0,
        "sm": 80,
        "kernel": "scale",
        "parameters": 4,
        "parameter_bytes": 24,
        "shared_bytes": 0,
        "refusals": 0,
        "limits": "block<=256x1x1",
        "title": "scale",
        "name": "scale",
        "arguments": [
          {
            "type": "u64",
            "bytes": 8,
            "points": false
          },
          {
            "type": "u64",
            "bytes": 8,
            "points": false
          },
          {
            "type": "f32",
            "bytes": 4,
            "points": false
          },
          {
            "type": "u32",
            "bytes": 4,
            "points": false
          }
        ]
      },
      {
        "file": "S/tests/cli/data/scale.ptx",
        "module": 0,
        "sm": 80,
        "kernel": "where",
        "parameters": 1,
        "parameter_bytes": 8,
        "shared_bytes": 0,
        "refusals": 1,
        "limits": "",
        "title": "where",
        "name": "where",
        "arguments": [
          {
            "type": "u64",
            "bytes": 8,
            "points": false
          }
        ],
        "refused": {
          "kind": "special-register",
          "line": 49,
          "what": "mov.u32 %r1, %smid;: its value depends on where and when the CTA runs"
        }
      }
    ]
  }

Files that are none:

  $ heddle ls no-such-file
  heddle: no-such-file: cannot open: No such file or directory
  [2]
  $ : > empty; heddle ls empty
  heddle: empty: the file is empty
  [2]
  $ head -c 300 /dev/zero > zeros; heddle ls zeros
  heddle: zeros: not PTX, a fatbin, or an ELF file
  [2]
  $ heddle ls .
  heddle: .: cannot read: Is a directory
  [2]
  $ printf '.version 8.0\n.target sm_80\n.visible .entry k() {\n  add.u32 %%r1, %%r2' > cut.ptx; heddle ls cut.ptx
  heddle: cut.ptx:4:19: expected ',' or ';', found the end of the text
  1 module, 0 kernels, 0.0 MB of PTX
  [2]
  $ heddle ls
  heddle: ls: name a file
  [2]
  $ heddle ls --no-such-option x
  heddle: ls: no option '--no-such-option'; 'heddle ls -h' lists them
  [2]
