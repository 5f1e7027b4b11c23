# needs: nvcc-or-clang

Tuning on a modelled GPU, whose times do not vary; of nvcc's code and clang's, one wins a little more by stream=l1:

  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db --rows 1 --no-advice | sed 's/in [0-9.]* s.*/in some s/; s/ *[0-9.]*x .*//; s/[0-9]* plans tried.*/so many plans/; s/  *speedup.*//; s/---* *.*/--/; s/,stream=l1//'
  matmul-swapped (tiny) on model:gtx580 (GeForce GTX 580 (Fermi)): tuned in some s
  
  kernel matmul_swapped
  plan
  --
  threads=cta:col
    so many plans
    verdict: threads=cta:col,
      proved on the emulator at size tiny, grid 2x5x1: 16428 bytes equal under 8 dispatchers
  
  Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).
  The file of gtx580 has no [launch]: a launch costs nothing beside its CTAs' work.
  

It goes by the clock of `heddle simulate`; without [units] there is none. For scan some plans that
change what caches keep promise a gain that is not beyond the clock's errors:

  $ for p in baseline threads=cta:col; do heddle simulate matmul-swapped --size tiny --gpu gtx580 --plan $p --exact --json | jq .time_us; done | jq -s '.[0] / .[1] * 1000 | round / 1000' >by-simulate; heddle tune matmul-swapped --device model:gtx580 --size tiny --store none --json | jq '.[].kernels[].trials[] | select(.plan == "threads=cta:col") | .speedup * 1000 | round / 1000' | diff - by-simulate && echo the same
  the same
  $ heddle tune scan --device model:gtx580 --size tiny --store none --no-advice --rows 0 | grep verdict | sed 's/[0-9.]* us/N us/; s/, of [0-9]*:/, of so many:/; s/at [0-9.]*x/at Nx/'
    verdict: the original stays, N us; no plan was faster, of so many: the best one runs at Nx
  $ sed '/^\[units\]/,/^$/d' "$HEDDLE_DATA/gpus/gtx580.toml" >bare.toml; heddle tune copy-col --device model:./bare.toml --size tiny --store none
  heddle: GPU 'bare': its file has no [units], which a clock needs: simulate and sweep count its traffic, and nothing predicts times
  [2]

A workload of one size, as a recorded launch is, has no smaller one for the advice and for the proof:

  $ mkdir one && cp $SOURCE/kernels/matmul-swapped/kernel.cu one && sed '/^reference/d; /^\[sizes.[spg]/,/^n = /d; s/sizes.tiny/sizes.small/' $SOURCE/kernels/matmul-swapped/workload.toml >one/workload.toml
  $ heddle tune one --device model:gtx580 --store none --budget 1 | grep proved
      proved on the emulator at size small, grid 2x5x1: 16428 bytes equal under 8 dispatchers

  $ heddle verdicts --store v.db --json | grep -E '"(name|plan|gpu|driver|launch)"' | sed 's/,stream=l1//'
        "launch": "grid=2x5x1 block=32x8x1 shared=0 args=any",
        "gpu": "model:gtx580",
        "driver": "none",
        "name": "matmul-swapped",
        "plan": "threads=cta:col",
  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db | sed 's/, [0-9.]*x.*//; s/,stream=l1//'
  matmul-swapped (tiny) on model:gtx580 (GeForce GTX 580 (Fermi)): kept from an earlier run; --again tunes again
  
  kernel matmul_swapped
    verdict: threads=cta:col
  
  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db --json | grep -cE '"recalled": true'
  1
  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db --again --no-advice --json | grep -E '"(recalled|emulator|size|dispatchers|any_grid|same_grid|device_bytes)": '
      "size": "tiny",
      "recalled": false,
            "emulator": "proved",
            "size": "tiny",
            "any_grid": false,
            "same_grid": true,
            "dispatchers": 8,
            "device_bytes": 0
  $ heddle tune matmul-swapped --device model:gtx580 --size tiny --store v.db --verify | sed 's/in [0-9.]* s/in some s/; s/, [0-9.]*x.*//; s/,stream=l1//'
  matmul-swapped (tiny) on model:gtx580 (GeForce GTX 580 (Fermi)): verified in some s
  
  kernel matmul_swapped
    verdict: threads=cta:col
  
  Times are by a clock that was not compared with such a GPU (docs/decisions/clock.md).
  The file of gtx580 has no [launch]: a launch costs nothing beside its CTAs' work.
  
  $ heddle tune copy-col --device model:gtx580 --size tiny --store v.db --verify
  heddle: copy-col (tiny): there is no verdict to verify
  [2]

On the fake driver every kernel gets a plan of its own; --whole gives all of them one:

  $ heddle tune atax --size tiny --store none --budget 1 --no-advice --json | grep -E '"(kernel|device)"'
      "device": "cuda:0",
          "kernel": "atax_rows",
          "kernel": "atax_columns",
  $ heddle tune atax --size tiny --store none --budget 1 --no-advice --whole --json | grep -E '"(kernel|device)"'
      "device": "cuda:0",
          "kernel": "",

Warps that bypass L1 by the vote of the SMs, which run thresholds of their own during the same launches:

  $ mkdir blocks && cat > blocks/workload.toml <<'END'
  > title = "blocks"
  > source = "kernel.ptx"
  > [sizes.tiny]
  > blocks = 2048
  > [sizes.small]
  > blocks = 4096
  > [[buffer]]
  > name = "data"
  > type = "u32"
  > count = "blocks * 64"
  > fill = "iota"
  > [[buffer]]
  > name = "out"
  > type = "u32"
  > count = "blocks * 64"
  > compare = "exact"
  > [[launch]]
  > kernel = "copy"
  > grid = ["blocks"]
  > block = [64]
  > args = ["data", "out"]
  > END
  $ cat > blocks/kernel.ptx <<'END'
  > .version 7.8
  > .target sm_80
  > .address_size 64
  > .visible .entry copy(.param .u64 data, .param .u64 out)
  > {
  > .reg .b32 %r<5>;
  > .reg .b64 %rd<6>;
  > ld.param.u64 %rd1, [data];
  > ld.param.u64 %rd2, [out];
  > mov.u32 %r1, %ctaid.x;
  > mov.u32 %r2, %tid.x;
  > mad.lo.u32 %r3, %r1, 64, %r2;
  > mul.wide.u32 %rd3, %r3, 4;
  > add.s64 %rd4, %rd1, %rd3;
  > add.s64 %rd5, %rd2, %rd3;
  > ld.global.u32 %r4, [%rd4];
  > st.global.u32 [%rd5], %r4;
  > ret;
  > }
  > END
  $ heddle tune ./blocks --size tiny --store none --budget 1 --no-advice --no-proof --rows 0 --strategy compare | sed -n '/vote/,/plans/p' | sed 's/vote: . of/vote: N of/; s/[0-9.]* s)/some s)/; s/  [0-9.]*x$//; s/[0-9]\.[0-9]*/N/g; s/[0-9]* plans.*/so many plans/'
    vote: N of 2 warps use L1 (3 launches, some s); by that number, the CTAs that SMs ran, over the mean, and the speedup of whole launches:
       0  N
       1  N
       2  N
    no vote on agents: 32 numbers of agents, and 4 SMs to try them
    so many plans
  $ heddle tune ./blocks --size tiny --store none --budget 1 --no-advice --no-proof --json --strategy vote | grep -E '"(launches|winner)"' | sed 's/: [0-9]*/: N/'
            "winner": N,
            "launches": N,
On a GPU the adopted plan is compared byte for byte at the size that was tuned, too:

  $ heddle tune transpose --size small --store none --budget 1 --plan bind=agents --no-advice --rows 0 | grep -oE 'verdict: [a-z]+=|compared on the device at size small, this very text: 1206408 bytes equal' | sed 's/[a-z]*=/a plan/'
  verdict: a plan
  compared on the device at size small, this very text: 1206408 bytes equal

A model's SMs vote, too, here for L1, where all CTAs find the same data, each twice; where they get CTAs in turns, as
fast as they may be, no vote can tell:

  $ cp -r blocks same && sed -i 's/mad.lo.u32 %r3, %r1, 64, %r2/mov.u32 %r3, %r2/; s/^ld.global.*/&\nmul.wide.u32 %rd3, %r4, 0;\nadd.s64 %rd3, %rd3, %rd4;\nld.global.u32 %r4, [%rd3];/' same/kernel.ptx
  $ heddle tune ./same --device model:gtx570 --size tiny --store none --budget 1 --no-advice --no-proof --rows 0 --strategy vote | sed -n '/vote/,/plans/p' | sed 's/, [0-9.]* s)/, some s)/; s/0\.[0-9]*/fewer/; s/1\.[0-9]*/more/; s/[0-9]* plans.*/so many plans/'
    vote: 2 of 2 warps use L1 (1 launch, some s); by that number, the CTAs that SMs ran, over the mean:
       0  fewer
       1  fewer
       2  more
    vote: 8 of 8 agents, under bind=agents (1 launch, some s); by that number, the tasks that SMs did, over the mean:
       1  fewer
       2  fewer
       3  fewer
       4  more
       5  more
       6  more
       7  more
       8  more
    so many plans
  $ heddle tune ./same --device model:gtx570 --size tiny --store none --budget 1 --no-advice --no-proof --json --strategy compare | grep -E '"(launches|winner)"'
            "winner": 2,
            "launches": 1,
            "winner": 2,
            "launches": 0,
            "winner": 8,
            "launches": 1,

Single CTAs, each with another threshold, alone on a model; a GPU is for a vote:

  $ heddle tune ./same --device model:gtx570 --size tiny --store none --budget 1 --no-advice --no-proof --rows 0 --strategy sample | sed -n '/sample/,/plans/p' | sed 's/([0-9.]* s)/(some s)/; s/0\.[0-9]*/slower/; s/1\.[0-9]*/faster/; s/[0-9]* plans.*/so many plans/'
    sample: 2 of 2 warps use L1 (some s); by that number, the speed of one CTA alone, over the mean:
       0  slower
       1  slower
       2  faster
    so many plans
  $ heddle tune ./same --size tiny --store none --strategy sample
  heddle: device cuda:0: single CTAs are sampled on models only (model:NAME); a vote tries all thresholds on full SMs
  [2]
  $ heddle tune ./blocks --device model:gtx580 --size tiny --store none --budget 1 --no-advice --no-proof --rows 0 --strategy vote | grep -o '.*vote[^(]*'
    no vote: gtx580 hands out CTAs round-robin: faster SMs get no more of them
    vote: 8 of 8 agents, under bind=agents 
  $ heddle tune copy-col --device model:gtx570 --size tiny --store none --budget 1 --no-advice --rows 0 --strategy vote | grep vote
    no vote: 0 waves of CTAs: too few to compare SMs
    no vote on agents: 0 waves of CTAs: too few to compare SMs
  $ heddle rewrite blocks/kernel.ptx --plan bypass=auto --block 64 | grep -E 'smid|rem|sub|red\.|//'
  	mov.u32 %heddleb_sm, %smid;
  	rem.u32 %heddleb_limit, %heddleb_sm, 3;
  	sub.u32 %heddleb_limit, 2, %heddleb_limit;
  	@%heddleb_first red.global.add.u32 [%heddleb_ballot], 1;
  // Launch copy as before, but with these parameters behind its own:
  //   .u64 at 16: the address of 4096 bytes of device memory, zero at first: a u32 for each SM's number, which counts its CTAs.
  $ heddle check ./blocks --plan bypass=auto --size tiny | head -1
  blocks (tiny), plan bypass=auto: equal

SMs vote on the number of active agents, too, in the company that a plan names. Here each CTA reads 8 KB of its own
again and again, of which L1 has room for two:

  $ cp -r blocks crowd && sed -i 's/^count = "blocks \* 64"$/count = "blocks * 128"/' crowd/workload.toml
  $ cat > crowd/kernel.ptx <<'END'
  > .version 7.8
  > .target sm_80
  > .address_size 64
  > .visible .entry copy(.param .u64 data, .param .u64 out)
  > {
  > .reg .pred %p;
  > .reg .b32 %r<7>;
  > .reg .b64 %rd<6>;
  > ld.param.u64 %rd1, [data];
  > ld.param.u64 %rd2, [out];
  > mov.u32 %r1, %ctaid.x;
  > mov.u32 %r2, %tid.x;
  > mad.lo.u32 %r3, %r1, 64, %r2;
  > mul.wide.u32 %rd3, %r3, 4;
  > add.s64 %rd5, %rd2, %rd3;
  > and.b32 %r3, %r3, 8191;
  > mul.wide.u32 %rd3, %r3, 128;
  > add.s64 %rd4, %rd1, %rd3;
  > mov.u32 %r4, 0;
  > mov.u32 %r5, 0;
  > again:
  > ld.global.u32 %r6, [%rd4];
  > add.u32 %r4, %r4, %r6;
  > add.u32 %r5, %r5, 1;
  > setp.lt.u32 %p, %r5, 32;
  > @%p bra again;
  > st.global.u32 [%rd5], %r4;
  > ret;
  > }
  > END
  $ heddle tune ./crowd --device model:gtx570 --size tiny --store none --budget 1 --no-advice --no-proof --rows 0 --strategy vote --plan order=reverse,bind=agents:auto | sed -n '/of 8 agents/,/plans/p' | sed 's/, [0-9.]* s)/, some s)/; s/0\.[0-9]*/fewer/; s/1\.[0-9]*/more/; s/[0-9]* plans.*/so many plans/'
    vote: 3 of 8 agents, under order=reverse,bind=agents (1 launch, some s); by that number, the tasks that SMs did, over the mean:
       1  fewer
       2  more
       3  more
       4  more
       5  fewer
       6  fewer
       7  fewer
       8  fewer
    so many plans
  $ heddle tune ./crowd --device model:gtx570 --size tiny --store none --budget 1 --no-advice --no-proof --rows 0 --strategy compare | sed -n '/of 8 agents/,/plans/p' | grep -c '^ *1 .*x$'
  1
  $ heddle tune ./crowd --device model:gtx570 --size tiny --store none --budget 1 --no-advice --no-proof --strategy vote --json | sed -n '/"agents"/,/}/p' | grep -E 'least|plan|winner'
            "winner": 3,
            "least": 1,
            "plan": "bind=agents"

On a GPU; the fake driver's times do not follow the loop, and a short one will do:

  $ sed -i 's/block = \[64\]/block = [512]/; s/blocks \* 128/blocks * 1024/' crowd/workload.toml && sed -i '/setp/s/32/2/2' crowd/kernel.ptx && grep setp crowd/kernel.ptx
  setp.lt.u32 %p, %r5, 2;
  $ heddle tune ./crowd --size tiny --store none --budget 1 --no-advice --no-proof --rows 0 --strategy compare | sed -n '/ agents/,/ 4 /p' | sed 's/vote: ./vote: N/; s/[0-9.]* s)/some s)/; s/  [0-9.]*x$//; s/[0-9]\.[0-9]*/S/g'
    vote: N of 4 agents, under bind=agents (3 launches, some s); by that number, the tasks that SMs did, over the mean, and the speedup of whole launches:
       1  S
       2  S
       3  S
       4  S
  $ heddle tune ./crowd --size tiny --store none --plan bind=agents:auto
  heddle: bind=agents:auto is decided by measuring: name a number, or have the vote taken (--strategy vote)
  [2]
  $ heddle tune ./crowd --device model:gtx570 --size tiny --store none --plan bind=agents:auto --strategy sample
  heddle: bind=agents:auto is decided by measuring: name a number, or have the vote taken (--strategy vote)
  [2]
  $ heddle check ./crowd --plan order=reverse,bind=agents:auto --size tiny | head -1
  crowd (tiny), plan order=reverse,bind=agents:auto: equal
  $ heddle rewrite crowd/kernel.ptx --plan bind=agents:auto --block 64 | grep -E 'rem|red\.|//'
  	// heddle: bind=agents:auto, claims by warp (the warps of a CTA share nothing)
  	// heddle: tasks one at a time, the next one while the present one is done; 132 queues by SM number; any grid
  	rem.u32 %heddle_k, %heddle_i, %heddle_k;
  	@%heddle_lead red.global.add.u32 [%heddle_queue+33920], 1;
  // Launch copy as before, but with these parameters behind its own:
  //   .u64 at 16: the address of 38016 bytes of device memory, zero at first; each launch leaves them zero.
  //     Launches that may run at once need one such buffer each.
  //     But for those from byte 33920 on: a u32 for each SM's queue, which counts the tasks that the SM does.
  //   .u32 at 24, twice more behind it: the dimensions of the grid it had before
  // and in a grid of one dimension: the number of SMs times the CTAs that fit on one, no more than tasks.
  $ heddle check ./crowd --plan bind=agents:auto,take=segments --size tiny
  heddle: plan, column 1: bind=agents:auto takes its vote with order, shape and split alone; other levers come after it
  [2]

  $ heddle tune copy-col --strategy dice
  heddle: tune: --strategy takes search, vote, sample or compare, not 'dice'
  [2]

Mistakes; a workload that fails does not keep the others from being tuned:

  $ heddle tune
  heddle: tune: name one workload or more ('heddle list' shows them)
  [2]
  $ heddle tune copy-col --again --verify
  heddle: tune: --again makes new verdicts, --verify measures those there are
  [2]
  $ heddle tune copy-col --l2 drop
  heddle: tune: --l2 takes flush or keep, not 'drop'
  [2]
  $ heddle tune copy-col --device emu --size tiny --store none
  heddle: device emu measures no times
  [2]
  $ heddle tune nosuch copy-col --device model:gtx580 --size tiny --store none --no-advice --rows 0 2>/dev/null | grep -c verdict
  1
  $ heddle tune nosuch --device model:gtx580 --store none 2>&1 | sed 's/ among.*//'
  heddle: there is no workload 'nosuch'
  $ heddle tune copy-col --device model:gtx580 --store none --plan order=nonsense 2>&1 | cut -c1-50
  heddle: plan, column 7: order=nonsense: no such or

In parts, whose results merge tells in the names' order, those that failed among them:

  $ for i in 1 2; do heddle tune matmul-swapped nosuch copy-col --device model:gtx580 --size tiny --store parts.db --no-advice --shard $i/2; done
  heddle: part 1 of 2 is done, in tune.1-of-2.journal; 'heddle merge' puts all parts together
  heddle: part 2 of 2 is done, in tune.2-of-2.journal; 'heddle merge' puts all parts together
  $ heddle merge tune.2-of-2.journal tune.1-of-2.journal 2>&1 | grep -E '^(matmul|copy|heddle)' | sed 's/: tuned.*//'
  matmul-swapped (tiny) on model:gtx580 (GeForce GTX 580 (Fermi))
  heddle: there is no workload 'nosuch' among 77
  copy-col (tiny) on model:gtx580 (GeForce GTX 580 (Fermi))
  $ heddle verdicts --store parts.db | grep -cE '^(matmul-swapped|copy-col)'
  2
