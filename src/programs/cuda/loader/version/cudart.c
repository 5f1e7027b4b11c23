/* A shared runtime's name and version, without its functions: those are the preloaded library's. */
extern void cuda_heddle_major(int major);

__attribute__((constructor)) static void begin(void) { cuda_heddle_major(HEDDLE_CUDART_MAJOR); }
