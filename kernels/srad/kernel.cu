// Speckle reducing anisotropic diffusion, after Rodinia's first version: CTAs of 512 threads (16 warps) along
// the image's columns, five kernels a step. srad_diffusion reads each pixel's four neighbours, whose
// coordinates it looks up, srad_update the coefficients below and to the right: CTAs share lines with those
// of the next columns.
//
// Every operation is rounded by itself, never contracted, and sums are exact in double precision: the image
// is the same in every order of the CTAs and on every machine.
#define THREADS 512

// The image and its squares, for the statistics.
extern "C" __global__ void srad_prepare(const float *image, float *sums, float *squares, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  sums[i] = image[i];
  squares[i] = __fmul_rn(image[i], image[i]);
}

static __device__ void add_up(double *sums, double *squares) {
  for (int stride = THREADS / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) {
      sums[threadIdx.x] += sums[threadIdx.x + stride];
      squares[threadIdx.x] += squares[threadIdx.x + stride];
    }
  }
}

extern "C" __global__ void srad_reduce(const float *sums, const float *squares, double *partial, int n) {
  __shared__ double sum[THREADS], square[THREADS];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[threadIdx.x] = i < n ? sums[i] : 0.0f;
  square[threadIdx.x] = i < n ? squares[i] : 0.0f;
  add_up(sum, square);
  if (threadIdx.x == 0) {
    partial[2 * blockIdx.x] = sum[0];
    partial[2 * blockIdx.x + 1] = square[0];
  }
}

// The speckle's squared coefficient of variation, q0^2 = variance / mean^2. One CTA.
extern "C" __global__ void srad_statistics(const double *partial, float *q0_squared, int n_partial, int n) {
  __shared__ double sum[THREADS], square[THREADS];
  double s = 0, q = 0;
  for (int i = threadIdx.x; i < n_partial; i += THREADS) {
    s += partial[2 * i];
    q += partial[2 * i + 1];
  }
  sum[threadIdx.x] = s;
  square[threadIdx.x] = q;
  add_up(sum, square);
  if (threadIdx.x == 0) {
    double mean = sum[0] / n, mean_squared = __dmul_rn(mean, mean);
    *q0_squared = (float)(__dadd_rn(square[0] / n, -mean_squared) / mean_squared);
  }
}

// Differences to the four neighbours, and how much may flow. Pixels are numbered down the columns.
extern "C" __global__ void srad_diffusion(const float *image, const int *north, const int *south,
                                          const int *west, const int *east, float *d_north, float *d_south,
                                          float *d_west, float *d_east, float *coefficient,
                                          const float *q0_squared, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int row = i % rows, column = i / rows;
  float centre = image[i], q0 = *q0_squared;
  float dn = __fsub_rn(image[north[row] + rows * column], centre);
  float ds = __fsub_rn(image[south[row] + rows * column], centre);
  float dw = __fsub_rn(image[row + rows * west[column]], centre);
  float de = __fsub_rn(image[row + rows * east[column]], centre);
  float squares = __fadd_rn(__fadd_rn(__fmul_rn(dn, dn), __fmul_rn(ds, ds)),
                            __fadd_rn(__fmul_rn(dw, dw), __fmul_rn(de, de)));
  float gradient = __fdiv_rn(squares, __fmul_rn(centre, centre));
  float laplacian = __fdiv_rn(__fadd_rn(__fadd_rn(dn, ds), __fadd_rn(dw, de)), centre);
  float numerator =
      __fsub_rn(0.5f * gradient, 0.0625f * __fmul_rn(laplacian, laplacian)); // powers of 2 are exact
  float denominator = __fadd_rn(1.0f, 0.25f * laplacian);
  float q = __fdiv_rn(numerator, __fmul_rn(denominator, denominator));
  float excess = __fdiv_rn(__fsub_rn(q, q0), __fmul_rn(q0, __fadd_rn(1.0f, q0)));
  float c = __fdiv_rn(1.0f, __fadd_rn(1.0f, excess));
  d_north[i] = dn;
  d_south[i] = ds;
  d_west[i] = dw;
  d_east[i] = de;
  coefficient[i] = c < 0 ? 0.0f : c > 1 ? 1.0f : c;
}

// With the step width lambda = 1/2: a quarter of lambda is 1/8.
extern "C" __global__ void srad_update(float *image, const int *south, const int *east, const float *d_north,
                                       const float *d_south, const float *d_west, const float *d_east,
                                       const float *coefficient, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int row = i % rows, column = i / rows;
  float c = coefficient[i], c_south = coefficient[south[row] + rows * column],
        c_east = coefficient[row + rows * east[column]];
  float flow = __fadd_rn(__fadd_rn(__fmul_rn(c, d_north[i]), __fmul_rn(c_south, d_south[i])),
                         __fadd_rn(__fmul_rn(c, d_west[i]), __fmul_rn(c_east, d_east[i])));
  image[i] = __fadd_rn(image[i], 0.125f * flow);
}
