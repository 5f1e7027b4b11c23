import os, hashlib
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# Without these XLA picks another GEMM from run to run.
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true " + os.environ.get("XLA_FLAGS", "")
os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "highest"
import jax, jax.numpy as jnp, numpy
@jax.jit
def step(w, x):
    def loss(w):
        return jnp.mean(jnp.tanh(x @ w) ** 2)
    return w - 0.1 * jax.grad(loss)(w)
x = jnp.asarray(numpy.random.RandomState(0).randn(256, 128), dtype=jnp.float32)
w = jnp.asarray(numpy.random.RandomState(1).randn(128, 64), dtype=jnp.float32)
for _ in range(10):
    w = step(w, x)
print("jax", hashlib.sha256(numpy.asarray(w).tobytes()).hexdigest()[:16])
