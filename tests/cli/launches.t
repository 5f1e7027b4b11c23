The page about launches, followed word by word, but for the GPU, which is a model here:

  $ ln -s $SOURCE/examples; sed -n 's/^    //p' $SOURCE/docs/launches.md | sed 's/cuda:0/model:h100/; s/^heddle verdicts/& --store v.db/; s/^heddle tune.*/& --store v.db --budget 1/' > commands; grep -c '^heddle' commands
  10
  $ bash -ex commands > out 2> trace; echo $?; grep -c '^+ heddle' trace
  0
  10
  $ grep -E ': equal|^Proved|verdict: ' out | sed 's/ [0-9.]* us;.*//; s/, [-+][0-9.]*% instr.*//; s/verdict: .*/verdict/'; ls own own/spmv
  kernels-axpy_float_4 (small), plan order=reverse: equal
  Proved: 196608 bytes equal under 8 dispatchers
  kernels-convolve (small), plan order=tile:2x8: equal
  spmv (small), plan bind=agents: equal
  kernels-sample (small), plan order=reverse: equal
    verdict
  own:
  fast.ptx
  kernels-dense_product.html
  kernels-dense_product.json
  kernels-dense_product.ptx
  spmv
  
  own/spmv:
  module.ptx
  workload.toml
