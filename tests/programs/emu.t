Whole command lines of `heddle emu`, with their whole output. $PROGRAMS holds the programs of this folder.

The report, with its seconds cut out:

  $ heddle emu -- $PROGRAMS/program_driver_saxpy 2>&1 | sed 's/ *[0-9.]* s\( emulated\|$\)/ T s\1/'
  heddle: the program asks for kernel 'nothing', which its module lacks
  heddle: saxpy                                           2 launches          34528 thread instructions T s
  heddle: 1 kernel, 2 launches, 34528 thread instructions, T s emulated; 0 findings
  saxpy: equal

  $ heddle emu --json out.json -- $PROGRAMS/program_driver_saxpy; sed 's/"seconds": [0-9.]*/"seconds": T/' out.json
  heddle: the program asks for kernel 'nothing', which its module lacks
  saxpy: equal
  {"kernels": [
    {"kernel": "saxpy", "title": "saxpy", "launches": 2, "warp_instructions": 1152, "thread_instructions": 34528, "seconds": T}],
   "findings": []}

Where files may not be long, as in batch systems, device memory is as large as they may be:

  $ (ulimit -f 2000000; heddle emu --quiet -- $PROGRAMS/program_driver_saxpy)
  saxpy: equal
  $ (ulimit -f 4; heddle emu --quiet -- $PROGRAMS/program_driver_saxpy 2>&1) | grep -o 'device memory is a file.*' | head -n 1
  device memory is a file, which may have at most 4096 bytes here (ulimit -f)

Launches that would change nothing again are not run; with a check, they are:

  $ heddle emu -- $PROGRAMS/program_driver_repeats 2>&1 | grep -c 'launches would have changed nothing again, and were not run'
  1
  $ heddle emu --json out.json -- $PROGRAMS/program_driver_repeats >/dev/null; grep -c '"idle_launches": [1-9]' out.json
  1
  $ for check in --quiet --check=leak; do heddle emu $check --json out.json -- $PROGRAMS/program_driver_repeats >/dev/null; grep -o '"launches": [0-9]*\|"[a-z]*_instructions": [0-9]*' out.json; done | sort | uniq -c | grep -c '^ *2 '
  9
  $ heddle emu --check=leak -- $PROGRAMS/program_driver_repeats 2>&1 | grep -c 'changed nothing'
  0
  [1]

With each kernel's locality, in the words of `heddle analyze`:

  $ heddle emu --analyze -- $PROGRAMS/program_driver_saxpy 2>&1 | sed 's/ *[0-9.]* s\( emulated\|$\)/ T s\1/'
  heddle: the program asks for kernel 'nothing', which its module lacks
  heddle: saxpy                                           2 launches          34528 thread instructions T s
  heddle:   streaming: 0% of line reuse and 0% of word reuse cross CTAs. Of the lines that CTAs touch, 0% are shared with some other CTAs and 0% with all.
  heddle: 1 kernel, 2 launches, 34528 thread instructions, T s emulated; 0 findings
  saxpy: equal

  $ heddle emu --analyze --check --threads 1 --json out.json -- $PROGRAMS/program_driver_saxpy; sed 's/"seconds": [0-9.]*/"seconds": T/' out.json
  heddle: the program asks for kernel 'nothing', which its module lacks
  saxpy: equal
  {"kernels": [
    {"kernel": "saxpy", "title": "saxpy", "launches": 2, "warp_instructions": 1152, "thread_instructions": 34528, "seconds": T,
     "locality": {"category": "streaming", "exploitable": false, "ctas": 8, "line_requests": 96, "intra_warp": 32, "intra_cta": 0, "inter_cta": 0, "sectors": 375, "least_sectors": 375,
      "evidence": "0% of line reuse and 0% of word reuse cross CTAs. Of the lines that CTAs touch, 0% are shared with some other CTAs and 0% with all."}}],
   "findings": []}

  $ heddle emu --analyze --json out.json -- $PROGRAMS/program_driver_sharing; sed 's/"seconds": [0-9.]*/"seconds": T/' out.json
  sharing: equal
  {"kernels": [
    {"kernel": "rows", "title": "rows", "launches": 1, "warp_instructions": 2048, "thread_instructions": 65536, "seconds": T,
     "locality": {"category": "algorithm", "exploitable": true, "ctas": 64, "line_requests": 256, "intra_warp": 0, "intra_cta": 0, "inter_cta": 96, "sectors": 1024, "least_sectors": 1024,
      "evidence": "100% of line reuse and 100% of word reuse cross CTAs. Of the lines that CTAs touch, 50% are shared with some other CTAs and 0% with all. Most of it is parameter 1, 100% of whose used words other CTAs use too. CTAs use the same words."}}],
   "findings": []}

Findings have their places; with no list, everything is looked for:

  $ heddle emu --quiet --check -- $PROGRAMS/program_bugs streams
  heddle: streams: nothing orders kernel store in stream 4 at PTX line 11 (bugs.cu:30) and kernel increment in stream 5 at PTX line 18: both touch 0x700000000200 of cuMemAlloc of 256 bytes

  $ heddle emu --json out.json --check=streams -- $PROGRAMS/program_bugs streams 2>/dev/null; cat out.json | sed 's/"seconds": [0-9.]*/"seconds": T/'
  {"kernels": [
    {"kernel": "store", "title": "store", "launches": 1, "warp_instructions": 14, "thread_instructions": 448, "seconds": T},
    {"kernel": "increment", "title": "increment", "launches": 1, "warp_instructions": 18, "thread_instructions": 576, "seconds": T}],
   "findings": [
    {"kind": "streams", "text": "nothing orders kernel store in stream 4 at PTX line 11 (bugs.cu:30) and kernel increment in stream 5 at PTX line 18: both touch 0x700000000200 of cuMemAlloc of 256 bytes",
     "places": [
      {"kernel": "store", "line": 11, "source": {"file": "bugs.cu", "line": 30}},
      {"kernel": "increment", "line": 18}]}]}

  $ heddle emu --check=everything -- $PROGRAMS/program_bugs streams
  heddle: --check takes all or a list of init, race, leak and streams, not 'everything'
  [2]

For CI: an exit code of its own where anything is found, findings alone as SARIF or as lines of JSON, heddle's lines in a
file, and the kernels that are meant:

  $ heddle emu --quiet --check=streams --error-exitcode 9 --findings f.sarif --log-file log -- $PROGRAMS/program_bugs streams; echo $?; grep -c '^heddle: streams' log; python3 -c 'import json; r = json.load(open("f.sarif"))["runs"][0]; [f] = r["results"]; print(f["ruleId"], f["locations"][0]["physicalLocation"], [x["id"] for x in r["tool"]["driver"]["rules"]].count(f["ruleId"]))'
  9
  1
  streams {'artifactLocation': {'uri': 'bugs.cu'}, 'region': {'startLine': 30}} 1
  $ heddle emu --quiet --check=streams --findings f.jsonl -- $PROGRAMS/program_bugs streams 2>/dev/null; python3 -c 'import json; [f] = map(json.loads, open("f.jsonl")); print(f["kind"], f["times"], len(f["places"]))'
  streams 1 2
  $ heddle emu --quiet --check=streams --error-exitcode 9 -k 'incr*' -- $PROGRAMS/program_bugs streams 2>/dev/null; echo $?
  9
  $ heddle emu --quiet --check=streams --error-exitcode 9 -k other -- $PROGRAMS/program_bugs streams; echo $?
  0
  $ heddle emu --check=streams -k other -- $PROGRAMS/program_bugs streams 2>&1 | grep -o '[0-9]* findings.*'
  0 findings, and 1 in kernels other than other
  $ heddle emu --quiet --error-exitcode 9 --findings f.sarif -- $PROGRAMS/program_driver_saxpy; echo $?; grep -c ruleId f.sarif
  saxpy: equal
  0
  0
  [1]
  $ heddle emu --quiet --json /dev/full -- $PROGRAMS/program_driver_saxpy; echo $?
  heddle: /dev/full: cannot write: No space left on device
  saxpy: equal
  2
  $ heddle emu --quiet --check=streams --log-file /dev/full -- $PROGRAMS/program_bugs streams 2>&1 >/dev/null | grep -c '^heddle: streams'; exit ${PIPESTATUS[0]}
  1
  [2]
  $ heddle emu --findings missing/f.sarif -- $PROGRAMS/program_driver_saxpy
  heddle: cannot write 'missing/f.sarif': No such file or directory
  [2]

A program that is none of CUDA's; what it starts is not meant:

  $ heddle emu -- true
  heddle: true made no CUDA call
  $ heddle emu -- bash -c 'cat /dev/null; exit 3'
  heddle: bash made no CUDA call
  [3]
  $ heddle emu --quiet -- true
  $ heddle emu -- ./missing
  heddle: cannot start './missing': No such file or directory
  [2]
  $ heddle emu
  heddle: emu: which program?
  [2]

Input, output, exit code and signals are the program's own:

  $ echo text | heddle emu --quiet -- sh -c 'cat; exit 7'
  text
  [7]
  $ { heddle emu --quiet -- sh -c 'kill -SEGV $$'; } 2>/dev/null; echo $?
  139
  $ { heddle emu --quiet -- $PROGRAMS/program_bugs host_access >/dev/null; } 2>/dev/null; echo $?
  139
  $ { heddle emu --quiet -- sh -c 'kill -TERM $$'; } 2>/dev/null; echo $?
  143

What no driver takes is answered as a driver does, and said in one line:

  $ heddle emu -- $PROGRAMS/program_bad missing_kernel
  heddle: the program asks for kernel 'load', which its module lacks
  heddle: 0 kernels, 0 launches, 0 thread instructions, 0.000 s emulated; 0 findings
  the module: CUDA_SUCCESS
  another kernel: CUDA_ERROR_NOT_FOUND
  the kernel: CUDA_SUCCESS
  $ heddle emu --quiet --gpu h100 -- $PROGRAMS/program_bad newer
  heddle: PTX for sm_120 is newer than the GPU, sm_90
  PTX for a newer GPU: CUDA_ERROR_NO_BINARY_FOR_GPU
  $ heddle emu --quiet -- $PROGRAMS/program_bad newer
  PTX for a newer GPU: CUDA_SUCCESS
  $ heddle emu --quiet --gpu 5090 -- $PROGRAMS/program_bad newer
  PTX for a newer GPU: CUDA_SUCCESS
  $ heddle emu --quiet -- $PROGRAMS/program_bad machine_code
  heddle: the program loads machine code (a cubin); heddle runs PTX: have it keep the PTX
  machine code: CUDA_ERROR_NO_BINARY_FOR_GPU
  $ heddle emu --quiet -- $PROGRAMS/program_bad no_text
  heddle: the image is neither PTX, which begins with .version, nor a fatbin
  no PTX: CUDA_ERROR_INVALID_IMAGE
  $ heddle emu --quiet -- $PROGRAMS/program_bad unfinished
  heddle: the program's PTX:4:38: '{' is not closed
  half a kernel: CUDA_ERROR_INVALID_PTX
  $ heddle emu --quiet -- $PROGRAMS/program_bad lying_library
  heddle: the program's image: the fatbin entry at offset 0x10 holds 4192 bytes, but only 96 are left
  heddle: the program's image: the fatbin entry at offset 0x10 holds 18446744073709543519 bytes, but only 96 are left
  heddle: the program's image: the fatbin entry at offset 0x10 has a header of 1073741888 bytes: it is at least 64, and 160 are left
  heddle: the image is no fatbin
  the truth: CUDA_SUCCESS
  a text beyond its image: CUDA_ERROR_INVALID_PTX
  a text beyond all memory: CUDA_ERROR_INVALID_PTX
  an entry's head beyond its image: CUDA_ERROR_INVALID_PTX
  an image beyond all memory: CUDA_ERROR_INVALID_PTX
  $ heddle emu --memory 1G -- $PROGRAMS/program_bad memory
  heddle: an allocation of 2199023255552 bytes: device 0 has 1073741824 bytes left of 1073741824 (--memory)
  heddle: 0 kernels, 0 launches, 0 thread instructions, 0.000 s emulated; 0 findings
  more than there is: CUDA_ERROR_OUT_OF_MEMORY
  all that can be said: CUDA_ERROR_OUT_OF_MEMORY
  nothing: CUDA_ERROR_INVALID_VALUE
  a little: CUDA_SUCCESS
  $ heddle emu -- $PROGRAMS/program_bad again
  heddle: argument: launch of store: gridDim.x of 0, and the GPU takes at least 1
  heddle: the program asks for kernel 'load', which its module lacks
  heddle: 1000 times: argument: launch of store: gridDim.x of 0, and the GPU takes at least 1
  heddle: 3 times: the program asks for kernel 'load', which its module lacks
  heddle: 0 kernels, 0 launches, 0 thread instructions, 0.000 s emulated; 1 finding
  1000 launches refused, 3 kernels unknown
  $ heddle emu --json again.json -- $PROGRAMS/program_bad again >/dev/null 2>&1; grep -c '"times": 1000' again.json; rm again.json
  1
  $ { heddle emu -- $PROGRAMS/program_bad crash; } 2>&1 | grep -o 'heddle: .* at '
  heddle: the program itself fails: it accesses 0x8 at 
  $ { heddle emu -- $PROGRAMS/program_bad crash; } 2>/dev/null; echo $?
  139
  $ { heddle emu -- $PROGRAMS/program_bad early_crash; } 2>&1 | grep -o 'heddle: .* at '
  heddle: the program itself fails: it accesses 0x8 at 
  $ { heddle emu -- sh -c 'kill -SEGV $$'; } 2>&1 | grep -o 'heddle: .*'
  [1]

More memory than there is, and GPUs that are not known:

  $ heddle emu --memory 100 --quiet -- $PROGRAMS/program_bugs leak 2>&1 | grep -o 'cuMemAlloc.*'
  cuMemAlloc_v2(&p, bytes) gives 2, not 0
  $ heddle emu --devices 0 -- true
  heddle: --devices takes a number from 1 on
  [2]
  $ heddle emu --json /nowhere/out.json -- true
  heddle: cannot write '/nowhere/out.json': No such file or directory
  [2]
  $ heddle emu --memory nothing -- true
  heddle: --memory takes a size such as 40G, not 'nothing'
  [2]
  $ heddle emu --gpu nothing -- true
  heddle: there is no GPU 'nothing' among 22; --gpu list names them
  [2]

An access beside an allocation, which a GPU would not notice, happens; with checks it ends the kernel:

  $ heddle emu --quiet -- $PROGRAMS/program_bugs out_of_bounds 2>&1 | sed 's/ at 0x.*allocation at 0x[0-9a-f]*:/ ...:/'
  heddle: bounds: the program's PTX:11:1: out of bounds: store of 4 bytes ...: st.global.u32 [%rd3], %r1;, in store, CTA (0,0,0), thread (64,0,0), from bugs.cu:30; a GPU would not notice, and the kernel goes on

  $ heddle emu --quiet --check -- $PROGRAMS/program_bugs out_of_bounds 2>&1 | sed 's/ at 0x.*allocation at 0x[0-9a-f]*:/ ...:/'
  heddle: bounds: the program's PTX:11:1: out of bounds: store of 4 bytes ...: st.global.u32 [%rd3], %r1;, in store, CTA (0,0,0), thread (64,0,0), from bugs.cu:30
