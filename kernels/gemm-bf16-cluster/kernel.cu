// The same in clusters of two CTAs, one below the other: each copies half of the slice of b that both need, and
// TMA lays it into the shared memory of both. kernel.ptx is what scripts/kernel-ptx makes of this file.
#define PEERS 2
#include "../gemm-bf16-wgmma/kernel.cu"
