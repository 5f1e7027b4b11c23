// Functions of the mathematical library in single and double precision, beside the host's.
#include "check.h"
#include <cmath>

__global__ void singles(const float *x, float *out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  float r[] = {sinf(v), cosf(v), expf(v), logf(v), sqrtf(v), cbrtf(v), erff(v), tanhf(v), atan2f(v, 2), powf(v, 1.5f),
               rsqrtf(v), fmodf(v, 0.7f)};
  for (int k = 0; k < 12; k++) out[k * n + i] = r[k];
}
__global__ void doubles(const double *x, double *out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  double v = x[i];
  double r[] = {sin(v), cos(v), exp(v), log(v), sqrt(v), tgamma(v), erf(v), acos(v / 10), sinh(v), pow(v, 2.5),
                hypot(v, 3.0), log1p(v)};
  for (int k = 0; k < 12; k++) out[k * n + i] = r[k];
}

int main() {
  const int n = 32;
  float *x, *y;
  double *u, *v;
  OK(cudaMallocManaged(&x, n * sizeof *x));
  OK(cudaMallocManaged(&y, 12 * n * sizeof *y));
  OK(cudaMallocManaged(&u, n * sizeof *u));
  OK(cudaMallocManaged(&v, 12 * n * sizeof *v));
  for (int i = 0; i < n; i++) {
    x[i] = 0.1f + 0.3f * float(i);
    u[i] = 0.1 + 0.3 * i;
  }
  singles<<<1, 32>>>(x, y, n);
  doubles<<<1, 32>>>(u, v, n);
  OK(cudaDeviceSynchronize());
  int bad = 0;
  for (int i = 0; i < n; i++) {
    const float a = x[i];
    const double b = u[i];
    const double f[] = {std::sin((double)a),  std::cos((double)a),  std::exp((double)a),      std::log((double)a),
                        std::sqrt((double)a), std::cbrt((double)a), std::erf((double)a),      std::tanh((double)a),
                        std::atan2(a, 2.0),   std::pow(a, 1.5),     1 / std::sqrt((double)a), std::fmod(a, 0.7f)};
    const double d[] = {std::sin(b), std::cos(b),       std::exp(b),  std::log(b),      std::sqrt(b),    std::tgamma(b),
                        std::erf(b), std::acos(b / 10), std::sinh(b), std::pow(b, 2.5), std::hypot(b, 3), std::log1p(b)};
    for (int k = 0; k < 12; k++) {
      if (std::fabs(y[k * n + i] - f[k]) > 4e-7 * std::fmax(1, std::fabs(f[k])) && k != 11) bad++;
      if (std::fabs(v[k * n + i] - d[k]) > 1e-14 * std::fmax(1, std::fabs(d[k]))) bad++;
    }
  }
  printf("%d of %d values are wrong\n", bad, 24 * n);
  for (void *p : {(void *)x, (void *)y, (void *)u, (void *)v}) OK(cudaFree(p));
}
