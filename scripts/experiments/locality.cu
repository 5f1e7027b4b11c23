// CLU listing 3, for a model: thread 0 of each CTA reads one line. CTAs of a turn read at once, or one after the
// other, by `delay` additions that wait for each other. All read the same line: an SM's L1 sees what it would with
// lines of its own, and where a CTA runs does not decide what it reads, as in the listing. Nothing is stored, so
// that warps wait for this one load only.
extern "C" __global__ void locality(const float *input, float *output, unsigned delay, unsigned sms) {
  if (threadIdx.x != 0) return;
  float late = 0.0f;
  for (unsigned i = delay * (blockIdx.x / sms); i > 0; i--) late += 1.0f;
  float value = input[late < 0.0f ? 1 : 0];
  if (value < 0.0f) output[blockIdx.x] = value;
}
