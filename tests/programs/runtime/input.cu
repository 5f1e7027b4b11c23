// A program that reads its input to the end and prints what the device made of it; arguments and environment are its own.
#include "check.h"
#include <string>

__global__ void rot13(char *text, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    char c = text[i], base = c >= 'a' && c <= 'z' ? 'a' : c >= 'A' && c <= 'Z' ? 'A' : 0;
    if (base) text[i] = char(base + (c - base + 13) % 26);
  }
}

int main(int argc, char **) {
  std::string text;
  for (int c; (c = getchar()) != EOF;) text += char(c);
  if (text.empty()) text = "Nothing was typed.";
  char *d;
  const int n = int(text.size());
  OK(cudaMalloc(&d, n));
  OK(cudaMemcpy(d, text.data(), n, cudaMemcpyHostToDevice));
  rot13<<<2, 64>>>(d, n);
  OK(cudaMemcpy(&text[0], d, n, cudaMemcpyDeviceToHost));
  OK(cudaFree(d));
  printf("%d argument: %s\n", argc, text.c_str());
}
