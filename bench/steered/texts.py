"""texts.py FOLDER: launch.ptx, four kernels that do next to nothing, and thousand.cu, a program with 1,000 kernels, into FOLDER."""
import pathlib
import sys

out = pathlib.Path(sys.argv[1])
ptx = ".version 7.8\n.target sm_70\n.address_size 64\n"
for k in range(4):
    ptx += f""".visible .entry k{k}(.param .u64 out, .param .u64 count) {{
.reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .pred %p<2>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [count]; mov.u32 %r1, %ctaid.x;
cvt.u32.u64 %r3, %rd2; setp.ge.u32 %p1, %r1, %r3; @%p1 bra END;
mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], {k};
END: ret;
}}
"""
(out / "launch.ptx").write_text(ptx)
source = "#include <cstdio>\n#include <ctime>\n#include <cuda_runtime.h>\n"
for k in range(1000):
    source += (
        f"__global__ void kernel{k}(float *p, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; "
        f"if (i < n) p[i] = p[i] * {k}.5f + n; if (i < n / 2) p[i] -= {k + 1}; }}\n"
    )
source += r"""static double at(clockid_t c) { timespec t; clock_gettime(c, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
int main() {
  double cpu0 = at(CLOCK_PROCESS_CPUTIME_ID), w0 = at(CLOCK_MONOTONIC);
  float *p, h[8];
  cudaError_t r = cudaFree(0);
  double cpu1 = at(CLOCK_PROCESS_CPUTIME_ID), w1 = at(CLOCK_MONOTONIC);
  if (!r) r = cudaMalloc(&p, 4096);
  if (!r) r = cudaMemset(p, 0, 4096);
  for (int k = 0; k < 3; k++) { kernel0<<<8, 32>>>(p, 256); if (!r) r = cudaDeviceSynchronize(); }
  if (!r) r = cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  double cpu2 = at(CLOCK_PROCESS_CPUTIME_ID), w2 = at(CLOCK_MONOTONIC);
  printf("error %d first %g\n", (int)r, h[0]);
  fprintf(stderr, "CPU-before-main %.3f context-wall %.3f context-CPU %.3f launches-wall %.3f launches-CPU %.3f\n", cpu0, w1 - w0, cpu1 - cpu0, w2 - w1, cpu2 - cpu1);
  return r != 0;
}
"""
(out / "thousand.cu").write_text(source)
