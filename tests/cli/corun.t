# needs: nvcc-or-clang

Two workloads at the same time, on a driver whose streams run beside each other.

  $ heddle corun copy-col matmul-naive --size tiny --repetitions 9 | sed -E '/^$/N; /carries/d; s/ +$//; s/[0-9]+\.[0-9]+/#/g; s/ +/ /g; /^---/d'
  on cuda:0 (Fake GPU), 9 rounds, medians (99% intervals)
  A: copy-col (tiny), 1 turn, # us alone
  B: matmul-naive (tiny), 1 turn, # us alone
  
  mode SMs CTAs per SM A us B us STP ANTT
  serial all, all # # # (# to #) # (# to #)
  streams all, all # # # (# to #) # (# to #)
  partition 1 + 3 7, all # # # (# to #) # (# to #)
  green 2 + 2 all, all # # # (# to #) # (# to #)
  
  partition: A under bind=agents:7,split=wave:1,sms=0, B under bind=agents,sms=1-3
  $ heddle corun copy-col matmul-naive --size tiny --repetitions 3 --plan order=col --json | grep -E 'mode|failed|"turns|tried|rounds'
    "turns": [
    "rounds": 3,
        "mode": "serial",
        "mode": "streams",
        "mode": "partition",
        "tried": 11
        "mode": "green",
        "tried": 3

The shorter one runs several turns:

  $ heddle corun copy-col matmul-naive --size small --repetitions 1 | grep turn | cut -d, -f1,2
  A: copy-col (small), 5 turns
  B: matmul-naive (small), 1 turn

A mode that the device lacks is one line of the table; a device that runs no two launches at a time, or fails, ends all:

  $ FAKE_CUDA_FAIL=cuGreenCtxCreate:2:2 heddle corun copy-col copy-row --size tiny --repetitions 1
  heddle: cuda:0: cuGreenCtxCreate of 2 SMs: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory
  [2]
  $ FAKE_CUDA_FAIL=cuDevSmResourceSplitByCount:1:1 heddle corun copy-col copy-row --size tiny --repetitions 1 | tail -1
  green: cuda:0: cuDevSmResourceSplitByCount of 1 SMs: unknown result (1): the driver has no text for this error
  $ FAKE_CUDA_FAIL=cuStreamWaitEvent:9:719 heddle corun copy-col copy-row --size tiny 2>&1 | cut -c1-40
  heddle: cuda:0: cuStreamWaitEvent, kerne
  $ heddle corun copy-col copy-row --size tiny --device emu
  heddle: device emu runs one launch at a time: it has no streams
  [2]
  $ heddle corun copy-col
  heddle: corun: name two workloads ('heddle list' shows them)
  [2]
  $ heddle corun copy-col copy-row --plan sms=0-1,bind=agents
  heddle: corun: corun finds bind and sms itself; leave them out of the plans
  [2]

On a modelled GPU, by its clock, with persistent threads beside the partitions:

  $ heddle corun copy-col matmul-naive --size tiny,tiny --device model:m2075 | sed -E 's/ +$//; s/[0-9]+\.[0-9]+/#/g; s/ +/ /g; s/sms=[0-9-]+/sms=#/g; s/agents:[0-9]/agents:#/g; s/[0-9]+ \+ [0-9]+ [0-9], [0-9]/# + # #, #/; /^---/d'
  on model:m2075 (Tesla M2075 (Fermi)), 3 rounds, medians (99% intervals)
  A: copy-col (tiny), 1 turn, # us alone
  B: matmul-naive (tiny), 1 turn, # us alone
  
  mode SMs CTAs per SM A us B us STP ANTT
  serial all, all # # # (# to #) # (# to #)
  streams all, all # # # (# to #) # (# to #)
  partition # + # #, # # # # (# to #) # (# to #)
  threads # + # #, # # # # (# to #) # (# to #)
  
  partition: A under bind=agents:#,sms=#, B under bind=agents:#,sms=#
  
  Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).
  $ heddle corun copy-col copy-row --size tiny --device model:m2075 --plan bypass=l1:1 | grep '^partition: '
  partition: copy-col: co-runs need whole traces, a clock, and plans that change no accesses
