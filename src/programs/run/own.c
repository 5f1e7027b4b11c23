/* Kernels of heddle's own, for work on the program's memory. Each thread takes every N-th element. */
#include "run/watch.h"

enum { THREADS = 256, CTAS = 1024 };

static cu_function find(run_own *own, const char *name) {
  cu_function kernel, function;
  const run_driver *d = &run_real;
  if (!own->library &&
      d->cuLibraryLoadData(&own->library, own->text, NULL, NULL, 0, NULL, NULL, 0) != CU_SUCCESS)
    own->library = NULL;
  return own->library && d->cuLibraryGetKernel(&kernel, own->library, name) == CU_SUCCESS &&
                 d->cuKernelGetFunction(&function, kernel) == CU_SUCCESS
             ? function
             : NULL;
}

int run_own_launch(run_own *own, const char *name, uint64_t n, cu_stream stream, void **params) {
  const cu_function f = n ? find(own, name) : NULL;
  const uint64_t ctas = (n + THREADS - 1) / THREADS;
  if (!n) return CU_SUCCESS;
  return f ? run_real.cuLaunchKernel(f, ctas < CTAS ? (unsigned)ctas : CTAS, 1, 1, THREADS, 1, 1, 0, stream,
                                     params, NULL)
           : CU_NOT_SUPPORTED;
}
