// Copies of every shape: of three dimensions, between arrays, pitched and linear memory, in parts, on a stream.
#include "check.h"
#include <vector>

int main() {
  const int w = 20, h = 6, d = 4;
  std::vector<short> in(w * h * d), out(w * h * d, -1);
  for (size_t i = 0; i < in.size(); i++) in[i] = short(i);
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  cudaExtent extent = make_cudaExtent(w * 2, h, d);
  cudaPitchedPtr a, b;
  OK(cudaMalloc3D(&a, extent));
  OK(cudaMalloc3D(&b, extent));
  CHECK(a.xsize == w * 2 && a.ysize == h && a.pitch >= w * 2);
  OK(cudaMemset3D(b, 0xAB, extent));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(in.data(), w * 2, w * 2, h);
  p.dstPtr = a;
  p.extent = extent;
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  /* A box out of the middle, to another place. */
  cudaMemcpy3DParms q = {};
  q.srcPtr = a;
  q.srcPos = make_cudaPos(4 * 2, 1, 1);
  q.dstPtr = b;
  q.dstPos = make_cudaPos(0, 2, 2);
  q.extent = make_cudaExtent(8 * 2, 3, 2);
  q.kind = cudaMemcpyDeviceToDevice;
  OK(cudaMemcpy3DAsync(&q, s));
  cudaMemcpy3DParms r = {};
  r.srcPtr = b;
  r.dstPtr = make_cudaPitchedPtr(out.data(), w * 2, w * 2, h);
  r.extent = extent;
  r.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3DAsync(&r, s));
  OK(cudaStreamSynchronize(s));
  for (int z = 0; z < d; z++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        const bool inside = x < 8 && y >= 2 && y < 5 && z >= 2;
        const short want = inside ? in[((z - 1) * h + y - 1) * w + x + 4] : short(0xABAB);
        CHECK(out[(z * h + y) * w + x] == want);
      }
  /* Through an array, and from one array to another. */
  cudaChannelFormatDesc f = cudaCreateChannelDesc<short>();
  cudaArray_t x, y;
  OK(cudaMallocArray(&x, &f, w, h));
  OK(cudaMallocArray(&y, &f, w, h));
  OK(cudaMemcpy2DToArrayAsync(x, 0, 0, in.data(), w * 2, w * 2, h, cudaMemcpyHostToDevice, s));
  OK(cudaMemcpy2DArrayToArray(y, 4, 1, x, 0, 0, 10, 2, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy2DFromArrayAsync(out.data(), 10, y, 4, 1, 10, 2, cudaMemcpyDeviceToHost, s));
  OK(cudaStreamSynchronize(s));
  for (int i = 0; i < 5; i++) CHECK(out[i] == in[i] && out[5 + i] == in[w + i]);
  /* Bytes across the ends of rows, into an array with other rows. */
  cudaArray_t narrow;
  std::vector<short> row(3 * w);
  OK(cudaMallocArray(&narrow, &f, w / 2, 2 * h));
  OK(cudaMemcpyArrayToArray(narrow, 4, 1, x, 6, 0, 3 * w, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpyFromArray(row.data(), narrow, 4, 1, 3 * w, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 3 * w / 2; i++) CHECK(row[i] == in[3 + i]);
  OK(cudaFreeArray(narrow));
  /* Linear memory: in parts, onto itself elsewhere, with a default direction. */
  char *m;
  std::vector<char> text(1000), back(1000);
  for (int i = 0; i < 1000; i++) text[i] = char(i * 11);
  OK(cudaMalloc(&m, 1000));
  for (int i = 0; i < 1000; i += 130)
    OK(cudaMemcpyAsync(m + i, text.data() + i, i + 130 < 1000 ? 130 : 1000 - i, cudaMemcpyDefault, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(m + 500, m, 500, cudaMemcpyDeviceToDevice));
  OK(cudaMemset(m + 250, 7, 100));
  OK(cudaMemcpy(back.data(), m, 1000, cudaMemcpyDefault));
  for (int i = 0; i < 1000; i++) CHECK(back[i] == (i >= 250 && i < 350 ? 7 : text[i % 500]));
  OK(cudaMemcpy(back.data(), text.data(), 1000, cudaMemcpyHostToHost));
  CHECK(back == text);
  OK(cudaMemcpy(m, text.data(), 0, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DAsync(back.data(), 10, m, 100, 5, 10, cudaMemcpyDeviceToHost, s));
  OK(cudaStreamSynchronize(s));
  for (int i = 0; i < 10; i++) CHECK(back[i * 10 + 4] == (i == 3 ? 7 : text[(i * 100 + 4) % 500]) || i == 2);
  OK(cudaFreeArray(x));
  OK(cudaFreeArray(y));
  OK(cudaFree(a.ptr));
  OK(cudaFree(b.ptr));
  OK(cudaFree(m));
  OK(cudaStreamDestroy(s));
  puts("copies: ok");
}
