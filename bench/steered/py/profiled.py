import hashlib, torch
from torch.profiler import profile, ProfilerActivity
torch.manual_seed(0)
x = torch.randn(512, 512, device="cuda")
with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU], acc_events=True) as p:
    for _ in range(5):
        x = torch.relu(x * 1.5 + 0.25).sort(dim=1).values
    torch.cuda.synchronize()
kernels = sum(e.count for e in p.key_averages() if e.device_type == torch.autograd.DeviceType.CUDA)
print("profiled", kernels, hashlib.sha256(x.cpu().numpy().tobytes()).hexdigest()[:16])
