import hashlib, torch
torch.manual_seed(0)
torch.use_deterministic_algorithms(True, warn_only=True)
layer = torch.nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True).cuda()
best = torch.optim.SGD(layer.parameters(), 0.01)
x = torch.randn(8, 64, 256, device="cuda")
for _ in range(5):
    best.zero_grad()
    loss = layer(x).square().mean()
    loss.backward()
    best.step()
print("eager", hashlib.sha256(torch.cat([p.detach().flatten() for p in layer.parameters()]).cpu().numpy().tobytes()).hexdigest()[:16])
