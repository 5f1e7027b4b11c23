/* Streams and events. */
#include "cuda/runtime/front.h"

/* ---- Streams --------------------------------------------------------------------------------- */

cu_result rt_cudaStreamCreate(cu_stream *stream) { return rt_front_cuStreamCreate(stream, 0); }
cu_result rt_cudaStreamCreateWithFlags(cu_stream *stream, unsigned flags) {
  return rt_front_cuStreamCreate(stream, flags);
}
cu_result rt_cudaStreamCreateWithPriority(cu_stream *stream, unsigned flags, int priority) {
  return rt_front_cuStreamCreateWithPriority(stream, flags, priority);
}
cu_result rt_cudaStreamDestroy(cu_stream stream) { return rt_front_cuStreamDestroy_v2(stream); }
cu_result rt_cudaStreamSynchronize(cu_stream stream) { return rt_front_cuStreamSynchronize(stream); }
cu_result rt_cudaStreamQuery(cu_stream stream) { return drv_cuStreamQuery(stream); }
cu_result rt_cudaStreamGetFlags(cu_stream stream, unsigned *flags) {
  return drv_cuStreamGetFlags(stream, flags);
}
cu_result rt_cudaStreamGetPriority(cu_stream stream, int *priority) {
  return drv_cuStreamGetPriority(stream, priority);
}
cu_result rt_cudaStreamGetId(cu_stream stream, unsigned long long *id) {
  return drv_cuStreamGetId(stream, id);
}
cu_result rt_cudaStreamGetDevice(cu_stream stream, int *device) {
  return drv_cuStreamGetDevice(stream, device);
}
cu_result rt_cudaStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags) {
  return rt_front_cuStreamWaitEvent(stream, event, flags);
}
cu_result rt_cudaStreamAddCallback(cu_stream stream, cu_stream_callback *fn, void *data, unsigned flags) {
  return drv_cuStreamAddCallback(stream, fn, data, flags);
}
cu_result rt_cudaStreamAttachMemAsync(cu_stream stream, void *p, size_t bytes, unsigned flags) {
  return drv_cuStreamAttachMemAsync(stream, (uintptr_t)p, bytes, flags);
}
cu_result rt_cudaLaunchHostFunc(cu_stream stream, cu_host_fn *fn, void *data) {
  return drv_cuLaunchHostFunc(stream, fn, data);
}

/* ---- Events ---------------------------------------------------------------------------------- */

cu_result rt_cudaEventCreate(cu_event *event) { return drv_cuEventCreate(event, 0); }
cu_result rt_cudaEventCreateWithFlags(cu_event *event, unsigned flags) {
  return drv_cuEventCreate(event, flags);
}
cu_result rt_cudaEventDestroy(cu_event event) { return drv_cuEventDestroy_v2(event); }
cu_result rt_cudaEventRecord(cu_event event, cu_stream stream) { return drv_cuEventRecord(event, stream); }
cu_result rt_cudaEventRecordWithFlags(cu_event event, cu_stream stream, unsigned flags) {
  return drv_cuEventRecordWithFlags(event, stream, flags);
}
cu_result rt_cudaEventQuery(cu_event event) { return drv_cuEventQuery(event); }
cu_result rt_cudaEventSynchronize(cu_event event) { return rt_front_cuEventSynchronize(event); }
cu_result rt_cudaEventElapsedTime(float *ms, cu_event start, cu_event end) {
  return drv_cuEventElapsedTime(ms, start, end);
}
cu_result rt_cudaEventElapsedTime_v2(float *ms, cu_event start, cu_event end) {
  return drv_cuEventElapsedTime(ms, start, end);
}
