// Cosine similarity of all pairs of documents, after Mars: documents are rows of feature counts. The first
// map has a thread per document, which computes its length, the second a thread per pair. Threads walk along
// rows one element at a time, so that those of a warp read a row apart; CTA c compares document c *
// blockDim.x / n and those after it with all others, which every CTA does.
extern "C" __global__ void document_lengths(const int *features, float *length, int n, int dims) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k < dims; k++) sum += features[i * dims + k] * features[i * dims + k];
  length[i] = sqrtf((float)sum);
}

extern "C" __global__ void similarity_scores(const int *features, const float *length, float *score, int n,
                                             int dims) {
  int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= n * n) return;
  int i = pair / n, j = pair % n, sum = 0;
  for (int k = 0; k < dims; k++) sum += features[i * dims + k] * features[j * dims + k];
  score[pair] = (float)sum / (length[i] * length[j]);
}
