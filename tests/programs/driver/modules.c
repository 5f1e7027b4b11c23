/* Modules: variables, several texts linked, libraries, attributes, occupancy, entry points by name. */
#include "cu.h"

static const char *const user = PTX_HEAD
    ".extern .func (.param .u32 r) twice(.param .u32 v);\n.extern .global .align 4 .u32 scale;\n"
    ".const .align 4 .u32 offset[2] = {5, 7};\n.visible .global .align 4 .u32 result;\n"
    ".visible .entry run(.param .u32 v, .param .align 8 .b8 pad[24], .param .u8 tail) {\n"
    ".reg .b32 %r<8>;\nld.param.u32 %r1, [v]; ld.const.u32 %r2, [offset+4]; ld.global.u32 %r3, [scale];\n"
    "mad.lo.u32 %r1, %r1, %r3, %r2;\n{ .param .u32 in; .param .u32 out; st.param.u32 [in], %r1;\n"
    "call (out), twice, (in); ld.param.u32 %r4, [out]; }\nst.global.u32 [result], %r4; ret; }\n"
    ".global .u32 own = 1;\n";
static const char *const helper =
    PTX_HEAD ".visible .global .align 4 .u32 scale = 3;\n.global .u32 own = 2;\n"
             ".visible .func (.param .u32 r) twice(.param .u32 v) { .reg .b32 %r<4>; ld.param.u32 %r1, [v];\n"
             "ld.global.u32 %r2, [own]; mul.lo.u32 %r1, %r1, %r2; st.param.u32 [r], %r1; ret; }\n";

static unsigned run(cu_module module, cu_function function, unsigned v) {
  char pad[24] = {0}, tail = 0;
  void *params[] = {&v, pad, &tail};
  cu_address result;
  size_t bytes;
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  OK(cuModuleGetGlobal_v2(&result, &bytes, module, "result"));
  CHECK(bytes == 4);
  OK(cuMemcpyDtoH_v2(&v, result, 4));
  return v;
}

static void linked(void) {
  cu_function function;
  cu_module module;
  cu_link link;
  void *image;
  size_t bytes, offset;
  cu_address scale;
  unsigned nine = 9;
  OK(cuLinkCreate_v2(0, NULL, NULL, &link));
  OK(cuLinkAddData_v2(link, 1, (void *)(uintptr_t)user, strlen(user) + 1, "user", 0, NULL, NULL));
  OK(cuLinkAddData_v2(link, 1, (void *)(uintptr_t)helper, strlen(helper) + 1, "helper", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, &bytes));
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunction(&function, module, "run"));
  CHECK(run(module, function, 10) == 2 * (10 * 3 + 7));
  OK(cuModuleGetGlobal_v2(&scale, &bytes, module, "scale"));
  OK(cuMemcpyHtoD_v2(scale, &nine, 4));
  CHECK(run(module, function, 10) == 2 * (10 * 9 + 7));
  OK(cuFuncGetParamInfo(function, 1, &offset, &bytes));
  CHECK(offset == 8 && bytes == 24);
  OK(cuFuncGetParamInfo(function, 2, &offset, &bytes));
  CHECK(offset == 32 && bytes == 1);
  EXPECT(cuFuncGetParamInfo(function, 3, &offset, &bytes), 1);
  EXPECT(cuModuleGetGlobal_v2(&scale, &bytes, module, "nothing"), 500);
  OK(cuModuleUnload(module));
}

/* Threads of an SM, and SMs. */
static int of_device(int attribute) {
  int value;
  OK(cuDeviceGetAttribute(&value, attribute, 0));
  return value;
}

static void library(void) {
  enum { THREADS_OF_SM = 39, SMS = 16 };
  cu_function kernel, function;
  cu_library library_;
  int n, grid, block, value;
  OK(cuLibraryLoadData(&library_, PTX_HEAD PTX_SAXPY, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&kernel, library_, "saxpy"));
  EXPECT(cuLibraryGetKernel(&kernel, library_, "nothing"), 500);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, 1024, 0));
  CHECK(n == of_device(THREADS_OF_SM) / 1024);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, 32, 0));
  CHECK(n == 32);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel, NULL, 0, 0));
  CHECK(block == 1024 && grid == of_device(THREADS_OF_SM) / 1024 * of_device(SMS));
  OK(cuKernelGetFunction(&function, kernel)); /* a kernel itself has no attributes without a device */
  OK(cuFuncGetAttribute(&value, 8, function));
  CHECK(value == 49152);
  EXPECT(cuFuncSetAttribute(function, 8, 300000), 1);
  OK(cuFuncSetAttribute(function, 8, 200000));
  OK(cuFuncGetAttribute(&value, 8, function));
  CHECK(value == 200000);
  OK(cuLibraryUnload(library_));
}

/* A name that is not found gives NULL; the call's own result differs from version to version. */
static void names(void) {
  int status, value;
  int (*get)(int *, int, int) = NULL;
  void *fn;
  OK(cuGetProcAddress_v2("cuDeviceGetAttribute", &fn, 12000, 0, &status));
  memcpy(&get, &fn, sizeof fn);
  CHECK(status == 0 && get && get(&value, 75, 0) == 0 && value >= 7);
  (void)cuGetProcAddress_v2("cuLibraryLoadData", &fn, 11000, 0, &status);
  CHECK(!fn && status == 2);
  (void)cuGetProcAddress_v2("cuNothing", &fn, 12000, 0, &status);
  CHECK(!fn && status == 1);
  (void)cuGetProcAddress_v2("cuNothing", &fn, 12000, 0, NULL);
  CHECK(!fn);
}

int main(void) {
  cu_context context = begin();
  linked();
  library();
  names();
  OK(cuCtxDestroy_v2(context));
  puts("modules: linked");
  return 0;
}
