import os, hashlib
os.environ["CUPY_COMPILE_WITH_PTX"] = "1"
import cupy
x = cupy.arange(1 << 20, dtype=cupy.float32)
f = cupy.ElementwiseKernel("float32 x, float32 a", "float32 y", "y = a * x + sinf(x)", "wave")
for _ in range(20):
    x = f(x, cupy.float32(0.5))
print("cupyptx", hashlib.sha256(cupy.asnumpy(x).tobytes()).hexdigest()[:16])
