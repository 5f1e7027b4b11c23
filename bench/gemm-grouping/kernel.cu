#define GROUPED
#include "../../kernels/gemm-bf16-wgmma/kernel.cu"
