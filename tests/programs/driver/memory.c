/* Memory of every kind: pitched, managed, pinned, registered; fills; copies of rectangles; large ones. */
#include "cu.h"

static const char *const increment = PTX_HEAD
    ".visible .entry increment(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2; ret; }\n";
static cu_function function;

static void run_on(cu_address p) {
  void *params[] = {&p};
  OK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
  OK(cuCtxSynchronize());
}

static void shared_memory(void) {
  cu_address managed, device;
  int *pinned;
  unsigned type;
  OK(cuMemAllocManaged(&managed, 256, 1));
  int *m = (int *)(uintptr_t)managed;
  for (int k = 0; k < 64; k++) m[k] = k;
  run_on(managed);
  for (int k = 0; k < 64; k++) CHECK(m[k] == k + 1);
  OK(cuMemFree_v2(managed));
  OK(cuMemHostAlloc((void **)&pinned, 256, 2));
  memset(pinned, 0, 256);
  OK(cuMemHostGetDevicePointer_v2(&device, pinned, 0));
  run_on(device);
  CHECK(pinned[63] == 1);
  OK(cuPointerGetAttribute(&type, 2, device));
  CHECK(type == 1);
  OK(cuMemFreeHost(pinned));
  int *own = malloc(10000);
  for (int k = 0; k < 2500; k++) own[k] = k;
  OK(cuMemHostRegister_v2(own + 100, 4096, 2));
  EXPECT(cuMemHostRegister_v2(own + 100, 4096, 2), 712);
  OK(cuMemHostGetDevicePointer_v2(&device, own + 100, 0));
  run_on(device);
  for (int k = 0; k < 2500; k++) CHECK(own[k] == k + (k >= 100 && k < 164));
  OK(cuMemHostUnregister(own + 100));
  EXPECT(cuMemHostUnregister(own + 100), 713);
  for (int k = 0; k < 2500; k++) CHECK(own[k] == k + (k >= 100 && k < 164));
  free(own);
}

static void rectangles(void) {
  enum { WIDTH = 100, HEIGHT = 7 };
  cu_address p;
  size_t pitch;
  unsigned char host[HEIGHT][WIDTH], back[HEIGHT][WIDTH + 5];
  OK(cuMemAllocPitch_v2(&p, &pitch, WIDTH, HEIGHT, 4));
  CHECK(pitch >= WIDTH && pitch % 256 == 0);
  OK(cuMemsetD8_v2(p, 0xEE, pitch * HEIGHT));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) host[y][x] = (unsigned char)(x * 3 + y);
  cu_copy2d in = {.src.type = 1,
                  .src.host = host,
                  .src.pitch = WIDTH,
                  .dst.type = 2,
                  .dst.device = p,
                  .dst.pitch = pitch,
                  .width = WIDTH,
                  .height = HEIGHT};
  OK(cuMemcpy2D_v2(&in));
  memset(back, 1, sizeof back);
  cu_copy2d out = {.src.x = 10,
                   .src.y = 2,
                   .src.type = 2,
                   .src.device = p,
                   .src.pitch = pitch,
                   .dst.x = 3,
                   .dst.y = 1,
                   .dst.type = 1,
                   .dst.host = back,
                   .dst.pitch = WIDTH + 5,
                   .width = 50,
                   .height = 4};
  OK(cuMemcpy2D_v2(&out));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH + 5; x++)
      CHECK(back[y][x] == (y >= 1 && y < 5 && x >= 3 && x < 53 ? host[y + 1][x + 7] : 1));
  OK(cuMemsetD2D16_v2(p, pitch, 0x1234, 3, 2));
  unsigned short two[4];
  OK(cuMemcpyDtoH_v2(two, p + pitch, 8));
  CHECK(two[0] == 0x1234 && two[2] == 0x1234 && two[3] != 0x1234);
  OK(cuMemFree_v2(p));
}

/* Memory that an allocation takes is gone. Other programs on a GPU come and go between two questions. */
static int is_missed(size_t bytes) {
  cu_address p;
  size_t left, total, after;
  OK(cuMemGetInfo_v2(&left, &total));
  OK(cuMemAlloc_v2(&p, bytes));
  OK(cuMemGetInfo_v2(&after, &total));
  OK(cuMemFree_v2(p));
  return left > after && left - after >= bytes / 2;
}

static void large(void) {
  const size_t gb = (size_t)1 << 30, most = 5 * gb; /* beyond 32 bits */
  cu_address p, start;
  size_t bytes;
  unsigned v;
  int tries = 0;
  while (!is_missed(most)) CHECK(++tries < 50);
  OK(cuMemAlloc_v2(&p, most));
  OK(cuMemsetD32_v2(p + most - gb / 2, 77, 1024));
  OK(cuMemcpyDtoD_v2(p, p + most - gb / 2, 4096));
  OK(cuMemcpyDtoH_v2(&v, p + 4092, 4));
  CHECK(v == 77);
  OK(cuMemGetAddressRange_v2(&start, &bytes, p + 12345));
  CHECK(start == p && bytes == most);
  OK(cuMemFree_v2(p));
}

int main(void) {
  cu_context context = begin();
  cu_module module;
  function = kernel_of(increment, "increment", &module);
  shared_memory();
  rectangles();
  large();
  OK(cuCtxDestroy_v2(context));
  puts("memory: every kind");
  return 0;
}
