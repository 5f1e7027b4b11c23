// DXT1 compression after the CUDA SDK's high-quality compressor: one CTA of 64 threads (2 warps) per block of
// 4 x 4 pixels. The 16 colours are sorted along their principal axis; the threads then try every way of
// splitting the sorted colours into the four steps between two end points, fit the end points by least
// squares, snap them to 5:6:5 bits, and keep the split of the least error. Splits come from a table that all
// CTAs read; nothing else is shared. Whole numbers throughout: equal errors are equal, and the least split
// number decides.
#define THREADS 64
#define PIXELS 16

struct shared_block {
  int colour[PIXELS][3];     // as in the picture
  int sorted[PIXELS];        // pixel number by rank along the axis
  int prefix[PIXELS + 1][3]; // sums of the first colours in that order
  int covariance[6];         // xx xy xz yy yz zz
  int key[PIXELS];
  int error[THREADS], split[THREADS];
};

// The principal axis by power iteration, kept to 12 bits a component.
static __device__ void principal_axis(const int *c, int *axis) {
  int x = 1, y = 1, z = 1;
  for (int i = 0; i < 8; i++) {
    long long nx = (long long)c[0] * x + (long long)c[1] * y + (long long)c[2] * z;
    long long ny = (long long)c[1] * x + (long long)c[3] * y + (long long)c[4] * z;
    long long nz = (long long)c[2] * x + (long long)c[4] * y + (long long)c[5] * z;
    long long m = max(max(llabs(nx), llabs(ny)), llabs(nz));
    while (m > 4095) {
      nx /= 2;
      ny /= 2;
      nz /= 2;
      m /= 2;
    }
    x = (int)nx;
    y = (int)ny;
    z = (int)nz;
  }
  axis[0] = x;
  axis[1] = y;
  axis[2] = z;
}

// Nearest of 0 .. limit to limit * numerator / denominator.
static __device__ int snap(int numerator, int denominator, int limit) {
  int v = (2 * limit * numerator + denominator) / (2 * denominator);
  return min(max(v, 0), limit);
}

static __device__ int expand(int v, int bits) { return v << (8 - bits) | v >> (2 * bits - 8); }

// Fit the end points to a split: the first n0 colours are one end point, those up to n1 and up to n2 the
// steps between, the others the other one. With weights a = 3 2 1 0 and b = 3 - a in thirds, the end points
// p, q solve
//   p sum(a a) + q sum(a b) = 3 sum(a c),   p sum(a b) + q sum(b b) = 3 sum(b c)
// and 9 times the squared error, less a constant, is p p saa + q q sbb + 2 p q sab - 6 p sac - 6 q sbc.
static __device__ int fit(const shared_block *s, unsigned split, unsigned *first, unsigned *second) {
  int n0 = split & 31, n1 = split >> 5 & 31, n2 = split >> 10 & 31;
  int saa = 9 * n0 + 4 * (n1 - n0) + (n2 - n1);
  int sbb = (n1 - n0) + 4 * (n2 - n1) + 9 * (PIXELS - n2);
  int sab = 2 * (n2 - n0);
  int determinant = saa * sbb - sab * sab;
  int error = 0;
  unsigned p565 = 0, q565 = 0;
  for (int k = 0; k < 3; k++) {
    int sac = s->prefix[n0][k] + s->prefix[n1][k] + s->prefix[n2][k];
    int sbc = 3 * s->prefix[PIXELS][k] - sac;
    int bits = k == 1 ? 6 : 5, limit = (1 << bits) - 1, p, q;
    if (determinant) {
      p = snap(3 * (sac * sbb - sbc * sab), 255 * determinant, limit);
      q = snap(3 * (sbc * saa - sac * sab), 255 * determinant, limit);
    } else { // all colours in one step: both end points at their mean
      p = q = snap(s->prefix[PIXELS][k], 255 * PIXELS, limit);
    }
    p565 = p565 << bits | p;
    q565 = q565 << bits | q;
    p = expand(p, bits);
    q = expand(q, bits);
    error += p * p * saa + q * q * sbb + 2 * p * q * sab - 6 * (p * sac + q * sbc);
  }
  *first = p565;
  *second = q565;
  return error;
}

extern "C" __global__ void dxtc(const unsigned *picture, const unsigned *splits, uint2 *compressed, int width,
                                int n_splits) {
  __shared__ shared_block s;
  int t = threadIdx.x, across = width / 4;
  int x0 = 4 * (blockIdx.x % across), y0 = 4 * (blockIdx.x / across);
  if (t < PIXELS) {
    unsigned rgb = picture[(y0 + t / 4) * width + x0 + t % 4];
    for (int k = 0; k < 3; k++) s.colour[t][k] = rgb >> 8 * k & 255;
  }
  __syncthreads();
  if (t < 6) { // 16 sum(u v) - sum(u) sum(v)
    int u = t < 3 ? 0 : t < 5 ? 1 : 2, v = t < 3 ? t : t < 5 ? t - 2 : 2, uv = 0, su = 0, sv = 0;
    for (int i = 0; i < PIXELS; i++) {
      uv += s.colour[i][u] * s.colour[i][v];
      su += s.colour[i][u];
      sv += s.colour[i][v];
    }
    s.covariance[t] = PIXELS * uv - su * sv;
  }
  __syncthreads();
  if (t < PIXELS) {
    int axis[3];
    principal_axis(s.covariance, axis);
    s.key[t] = s.colour[t][0] * axis[0] + s.colour[t][1] * axis[1] + s.colour[t][2] * axis[2];
  }
  __syncthreads();
  if (t < PIXELS) {
    int rank = 0;
    for (int i = 0; i < PIXELS; i++) rank += s.key[i] < s.key[t] || (s.key[i] == s.key[t] && i < t);
    s.sorted[rank] = t;
  }
  __syncthreads();
  if (t < 3) {
    s.prefix[0][t] = 0;
    for (int i = 0; i < PIXELS; i++) s.prefix[i + 1][t] = s.prefix[i][t] + s.colour[s.sorted[i]][t];
  }
  __syncthreads();

  int best = 0x7fffffff, best_split = 0;
  unsigned p, q;
  for (int i = t; i < n_splits; i += THREADS) {
    int error = fit(&s, splits[i], &p, &q);
    if (error < best) {
      best = error;
      best_split = i;
    }
  }
  s.error[t] = best;
  s.split[t] = best_split;
  for (int stride = THREADS / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (t < stride && (s.error[t + stride] < s.error[t] ||
                       (s.error[t + stride] == s.error[t] && s.split[t + stride] < s.split[t]))) {
      s.error[t] = s.error[t + stride];
      s.split[t] = s.split[t + stride];
    }
  }
  if (t == 0) {
    unsigned split = splits[s.split[0]], indices = 0;
    fit(&s, split, &p, &q);
    for (unsigned i = 0; i < PIXELS; i++) { // DXT1 numbers the steps 0 2 3 1 from the greater end point
      unsigned step = (i >= (split & 31)) + (i >= (split >> 5 & 31)) + (i >= (split >> 10 & 31));
      if (p < q) step = 3 - step;
      unsigned code = step == 0 ? 0 : step == 3 ? 1 : step + 1;
      indices |= (p == q ? 0 : code) << 2 * s.sorted[i];
    }
    compressed[blockIdx.x] = make_uint2(max(p, q) | min(p, q) << 16, indices);
  }
}
