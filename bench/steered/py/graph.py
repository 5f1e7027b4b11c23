import hashlib, torch
torch.manual_seed(0)
x = torch.randn(512, 512, device="cuda")
w = torch.randn(512, 512, device="cuda")
def step():
    return torch.relu(x @ w).cumsum(0) * 0.001 + x
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    y = step()
for _ in range(10):
    g.replay()
    x.copy_(y / y.abs().amax())
torch.cuda.synchronize()
print("graph", hashlib.sha256(x.cpu().numpy().tobytes()).hexdigest()[:16])
