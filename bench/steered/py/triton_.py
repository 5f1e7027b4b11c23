import hashlib, torch, triton
import triton.language as tl
@triton.jit
def product(a, b, c, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    t = tl.cdiv(N, BN)
    r = pid // t * BM + tl.arange(0, BM)
    q = pid % t * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, N, BK):
        acc += tl.dot(tl.load(a + r[:, None] * N + (i + k)[None, :]), tl.load(b + (i + k)[:, None] * N + q[None, :]))
    tl.store(c + r[:, None] * N + q[None, :], acc)
@triton.jit
def norm(x, y, N, B: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, B)
    v = tl.load(x + r * N + o, mask=o < N, other=0.0)
    tl.store(y + r * N + o, v / tl.sqrt(tl.sum(v * v, 0) + 1e-6), mask=o < N)
torch.manual_seed(0)
N = 2048
a, b = (torch.randn(N, N, device="cuda", dtype=torch.float16) for _ in range(2))
c, d = (torch.empty(N, N, device="cuda", dtype=torch.float32) for _ in range(2))
for _ in range(30):
    product[(N // 64 * (N // 64),)](a, b, c, N, 64, 64, 32)
    norm[(N,)](c, d, N, triton.next_power_of_2(N))
torch.cuda.synchronize()
print("triton", hashlib.sha256(d.cpu().numpy().tobytes()).hexdigest()[:16])
