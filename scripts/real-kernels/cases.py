"""Calls of public packages, by source: small shapes, forward and backward, and some larger ones. Each reaches kernels of
the package."""
import importlib
import os

import torch
import torch.nn.functional as F


def r(*shape, dtype=torch.float32, grad=False, scale=1.0):
    return (torch.randn(*shape, dtype=torch.float32) * scale).to(dtype).requires_grad_(grad)


def both(call):
    """The call's results, and their gradients of sums."""
    def run():
        out = call()
        outs = [o for o in (out if isinstance(out, (tuple, list)) else [out])
                if isinstance(o, torch.Tensor) and o.requires_grad]
        if outs:
            torch.autograd.backward(outs, [torch.randn_like(o) for o in outs])
    return run


def get(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def lazily(path, *args, **kwargs):
    """A function by its name, on arguments that are made when it is called."""
    def run():
        made = [a() if callable(a) else a for a in args]
        return get(path)(*made, **{k: v() if callable(v) else v for k, v in kwargs.items()})
    return both(run)


def t(*shape, dtype=torch.float32, grad=True, scale=1.0):
    return lambda: r(*shape, dtype=dtype, grad=grad, scale=scale)


def ints(high, *shape, dtype=torch.int64):
    return lambda: torch.randint(0, high, shape, dtype=dtype)


def gate(*shape, grad=True):
    return lambda: F.logsigmoid(torch.randn(*shape)).detach().requires_grad_(grad)


def unit(*shape, dtype=torch.float32, grad=True):
    return lambda: F.normalize(torch.randn(*shape), dim=-1).to(dtype).detach().requires_grad_(grad)


def sig(*shape, grad=True):
    return lambda: torch.sigmoid(torch.randn(*shape)).detach().requires_grad_(grad)


# ---- Liger-Kernel ---------------------------------------------------------------------------------------------


def liger():
    def apply(name, *args):
        return both(lambda: get(f"liger_kernel.ops.{name}").apply(*[a() if callable(a) else a for a in args]))

    def rope():
        cos, sin = torch.randn(1, 48, 64), torch.randn(1, 48, 64)
        return get("liger_kernel.ops.rope.LigerRopeFunction").apply(r(2, 4, 48, 64, grad=True),
                                                                     r(2, 2, 48, 64, grad=True), cos, sin)

    def mrope():
        cos, sin = torch.randn(3, 2, 48, 64), torch.randn(3, 2, 48, 64)
        return get("liger_kernel.ops.qwen2vl_mrope.LigerQwen2VLMRopeFunction").apply(
            r(2, 4, 48, 64, grad=True), r(2, 2, 48, 64, grad=True), cos, sin, [8, 12, 12])

    def moe():
        top = torch.stack([torch.randperm(4)[:2] for _ in range(48)]).to(torch.int32)
        return get("liger_kernel.ops.fused_moe.LigerFusedMoEFunction").apply(
            r(48, 64, grad=True), r(4, 64, 64, grad=True, scale=0.1), r(4, 64, 32, grad=True, scale=0.1), top,
            torch.rand(48, 2).requires_grad_(True))

    probs = lambda: torch.softmax(torch.randn(40, 96), -1).detach().requires_grad_(True)
    return [
        ("rms_norm", apply("rms_norm.LigerRMSNormFunction", t(6, 40, 96), t(96), 1e-6, 0.0, "llama", False, None)),
        ("rms_norm rows", apply("rms_norm.LigerRMSNormFunction", t(600, 96), t(96), 1e-6, 0.0, "gemma", False, True)),
        ("layer_norm", apply("layer_norm.LigerLayerNormFunction", t(6, 40, 96), t(96), t(96), 1e-6)),
        ("fused_add_rms_norm", apply("fused_add_rms_norm.LigerFusedAddRMSNormFunction", t(40, 96), t(40, 96), t(96), 1e-6)),
        ("modulated_rms_norm", apply("modulated_rms_norm.LigerModulatedRMSNormFunction", t(2, 40, 96), t(96), t(2, 96),
                                     t(2, 96), 1e-6)),
        ("group_norm", apply("group_norm.LigerGroupNormFunction", t(3, 8, 100), t(8), t(8), 8, 4, 1e-6)),
        ("poly_norm", apply("poly_norm.LigerPolyNormFunction", t(40, 96), t(3), t(1))),
        ("geglu", apply("geglu.LigerGELUMulFunction", t(40, 200), t(40, 200))),
        ("swiglu", apply("swiglu.LigerSiLUMulFunction", t(40, 200), t(40, 200))),
        ("relu_squared", apply("relu_squared.LigerReLUSquaredFunction", t(40, 200))),
        ("dyt", apply("dyt.LigerDyTFunction", t(40, 96), t(1), t(96), t(96))),
        ("rope", both(rope)), ("qwen2vl_mrope", both(mrope)),
        ("llama4_rope", apply("llama4_rope.LigerLlama4RopeFunction", t(2, 24, 4, 64), t(2, 24, 2, 64),
                              lambda: torch.complex(torch.randn(24, 32), torch.randn(24, 32)))),
        ("softmax", apply("softmax.LigerSoftmaxFunction", t(40, 200))),
        ("softmax wide", apply("softmax.LigerSoftmaxFunction", t(4, 70000))),
        ("sparsemax", apply("sparsemax.LigerSparsemaxFunction", t(40, 100), -1)),
        ("cross_entropy", both(lambda: get("liger_kernel.ops.cross_entropy.LigerCrossEntropyFunction").apply(
            r(40, 300, grad=True), torch.randint(0, 300, (40,)), None)[0])),
        ("fused_linear_cross_entropy", both(
            lambda: get("liger_kernel.ops.fused_linear_cross_entropy.LigerFusedLinearCrossEntropyFunction").apply(
                r(40, 64, grad=True), r(300, 64, grad=True), torch.randint(0, 300, (40,)))[0])),
        ("jsd", apply("jsd.LigerJSDFunction", lambda: F.log_softmax(torch.randn(40, 96), -1).detach().requires_grad_(True),
                      lambda: F.log_softmax(torch.randn(40, 96), -1))),
        ("kl_div", apply("kl_div.LigerKLDivLossFunction",
                         lambda: F.log_softmax(torch.randn(40, 96), -1).detach().requires_grad_(True), probs)),
        ("tvd", apply("tvd.LigerTVDLossFunction", probs, probs)),
        ("fused_ce_tvd", apply("fused_ce_tvd.LigerFusedCETVDFunction", t(40, 96), t(40, 96, grad=False), ints(96, 40))),
        ("grpo_loss", both(lambda: get("liger_kernel.ops.grpo_loss.GrpoLossFunction").apply(
            r(2, 17, 96, grad=True), None, r(2, 16), torch.randint(0, 96, (2, 16)), torch.randn(2),
            torch.ones(2, 16, dtype=torch.int32), 0.9, 0.04, 0.2, 0.4, False))),
        ("fused_neighborhood_attention", apply(
            "fused_neighborhood_attention.LigerFusedNeighborhoodAttentionFunction", t(1, 2, 48, 32), t(1, 2, 48, 32),
            t(1, 2, 48, 32), 7, 1)),
        ("multi_token_attention", apply("multi_token_attention.LigerMultiTokenAttentionFunction", t(1, 2, 32, 32),
                                        t(2, 2, 3, 3), None, 1, 1)),
        ("attn_res", apply("attn_res.LigerAttnResFunction", t(4, 2, 24, 96), t(96), t(96), 1e-6)),
        ("fused_moe", both(moe)),
        ("embedding", apply("experimental.embedding.LigerEmbeddingFunction", t(50, 96), ints(50, 40))),
    ]


# ---- flash-linear-attention --------------------------------------------------------------------------------------


def fla():
    B, T, H, D = 1, 96, 2, 32
    q = k = v = t(B, T, H, D, dtype=torch.bfloat16)
    n, b, g1, gd = unit(B, T, H, D, dtype=torch.bfloat16), sig(B, T, H), gate(B, T, H), gate(B, T, H, D)
    cu = lambda: torch.tensor([0, 40, 96], dtype=torch.int32)
    o = lambda name, *a, **kw: (name, lazily("fla.ops." + name, *a, **kw))
    m = lambda label, path, *a, **kw: (label, lazily("fla." + path, *a, **kw))
    return [
        o("chunk_retention", q, k, v), o("fused_recurrent_retention", q, k, v), o("parallel_retention", q, k, v),
        o("fused_chunk_retention", q, k, v),
        o("chunk_linear_attn", q, k, v), o("fused_chunk_linear_attn", q, k, v), o("fused_recurrent_linear_attn", q, k, v),
        o("chunk_simple_gla", q, k, v, g1), o("parallel_simple_gla", q, k, v, g1),
        o("fused_recurrent_simple_gla", q, k, v, g1), o("fused_chunk_simple_gla", q, k, v, g1),
        o("chunk_gla", q, k, v, gd), o("fused_recurrent_gla", q, k, v, gd), o("fused_chunk_gla", q, k, v, gd),
        o("chunk_delta_rule", n, n, v, b), o("fused_recurrent_delta_rule", n, n, v, b),
        o("chunk_gated_delta_rule", n, n, v, g1, b), o("fused_recurrent_gated_delta_rule", n, n, v, g1, b),
        ("chunk_gated_delta_rule varlen", lazily("fla.ops.chunk_gated_delta_rule", n, n, v, g1, b, cu_seqlens=cu)),
        o("chunk_kda", n, n, v, gd, b), o("fused_recurrent_kda", n, n, v, gd, b),
        o("chunk_comba", n, n, v, n, g1, b), o("fused_recurrent_comba", n, n, v, n, g1, b),
        o("chunk_gsa", q, k, v, t(B, T, H, 32), gate(B, T, H, 32)),
        o("fused_recurrent_gsa", q, k, v, t(B, T, H, 32), gate(B, T, H, 32)),
        o("chunk_abc", q, k, v, t(B, T, H, 32)),
        ("chunk_hgrn", lazily("fla.ops.hgrn.chunk.chunk_hgrn", t(B, T, 64), gate(B, T, 64))),
        o("fused_recurrent_hgrn", t(B, T, 64), gate(B, T, 64)),
        o("chunk_rwkv6", q, k, v, gd, t(H, D)), o("fused_recurrent_rwkv6", q, k, v, gd, t(H, D)),
        o("chunk_rwkv7", q, gd, k, v, n, n), o("fused_recurrent_rwkv7", q, gd, k, v, n, n),
        ("fused_recurrent_rwkv4", lazily("fla.ops.rwkv4.fused_recurrent_rwkv4", t(64), t(64), t(1, 32, 64), t(1, 32, 64),
                                         lambda: torch.zeros(1, 3, 1, 64))),
        o("chunk_dplr_delta_rule", q, k, v, n, n, gd), o("chunk_iplr_delta_rule", q, k, v, n, n),
        o("fused_recurrent_dplr_delta_rule", q, k, v, n, n, gd), o("fused_recurrent_iplr_delta_rule", q, k, v, n, n),
        o("parallel_attn", q, k, v), ("parallel_attn varlen", lazily("fla.ops.parallel_attn", q, k, v, cu_seqlens=cu)),
        o("parallel_forgetting_attn", q, k, v, g1), o("parallel_stickbreaking_attn", q, k, v),
        o("parallel_path_attn", q, k, v, n, b, g1),
        o("fused_chunk_based", t(B, T, H, 16), t(B, T, H, 16), v), o("parallel_based", t(B, T, H, 16), t(B, T, H, 16), v),
        ("parallel_rebased", lazily("fla.ops.rebased.parallel_rebased", t(B, T, H, 16), t(B, T, H, 16), v)),
        o("chunk_lightning_attn", q, k, v, 1, 4), ("chunk_mesa_net", lazily(
            "fla.ops.chunk_mesa_net", n, n, v, g1, b, lambda: torch.rand(H, D).add(0.25).requires_grad_(True))),
        ("chunk_ttt_linear", lazily("fla.ops.ttt.chunk_ttt_linear", q, k, v, t(H, D), t(H, D), lambda: 0.1 * torch.rand(B, T, H, 1))),
        o("chunk_log_linear_attn", q, k, v, g1, lambda: torch.rand(B, T, H, 10).requires_grad_(True)),
        o("chunk_momentum_delta_rule", n, n, v, g1, g1, lambda: torch.rand(B, T, H), b, lambda: torch.rand(B, T, H)),
        o("chunk_precond_kda", n, n, v, gd, gd, b, b), o("fused_attnres", t(4, B, T, D), t(D), t(D)),
        ("parallel_nsa", lazily("fla.ops.parallel_nsa", t(B, T, 16, D, dtype=torch.bfloat16), t(B, T, 1, D, dtype=torch.bfloat16), t(B, T, 1, D, dtype=torch.bfloat16), sig(B, T, 16),
                                sig(B, T, 16), sig(B, T, 16), block_counts=2, block_size=32)),
        ("parallel_moba", lazily("fla.ops.moba.parallel_moba", q, k, v, chunk_size=64, topk=2)),
        m("mean_pooling", "ops.utils.pooling.mean_pooling", t(B, T, H, D), 32),
        m("softmax_fwd", "ops.utils.softmax.softmax_fwd", t(B, T, 64, grad=False)),
        m("softmax_bwd", "ops.utils.softmax.softmax_bwd", t(B, T, 64, grad=False), t(B, T, 64, grad=False)),
        m("logsumexp", "ops.utils.logsumexp.logsumexp_fwd", t(B, T, 64, grad=False)),
        m("matmul", "ops.utils.matmul.matmul", t(100, 96, grad=False), t(96, 80, grad=False)),
        m("addmm", "ops.utils.matmul.addmm", t(100, 80, grad=False), t(100, 96, grad=False), t(96, 80, grad=False)),
        m("global cumsum", "ops.utils.cumsum.chunk_global_cumsum", t(B, T, H, grad=False)),
        m("global cumsum of vectors", "ops.utils.cumsum.chunk_global_cumsum", t(B, T, H, D, grad=False)),
        m("pack", "ops.utils.pack.pack_sequence", t(3, 40, 32), lambda: torch.tensor([0, 20, 33, 73], dtype=torch.int32)),
        m("layer_norm", "modules.layernorm.layer_norm", t(T, 96), t(96), t(96)),
        m("rms_norm", "modules.layernorm.rms_norm", t(T, 96), t(96), None),
        m("group_norm", "modules.layernorm.group_norm", t(T, 96), t(96), t(96), num_groups=4),
        m("l2norm", "modules.l2norm.l2norm", t(T, 96)),
        m("rms_norm_gated", "modules.fused_norm_gate.rms_norm_gated", t(T, 96), t(T, 96), t(96), None),
        m("swiglu", "modules.activations.swiglu", t(T, 96), t(T, 96)),
        m("logsigmoid", "modules.activations.logsigmoid", t(T, 96)), m("swish", "modules.activations.swish", t(T, 96)),
        m("token_shift", "modules.token_shift.token_shift", t(B, T, 64)),
        m("causal_conv1d", "modules.convolution.causal_conv1d", t(B, T, 64), t(64, 4), None, activation="silu"),
        m("rotary", "modules.rotary.rotary_embedding", t(B, T, H, D), t(T, 32, grad=False), t(T, 32, grad=False)),
        m("cross_entropy", "modules.fused_cross_entropy.cross_entropy_loss", t(T, 300), ints(300, T)),
        m("fused_linear_cross_entropy", "modules.fused_linear_cross_entropy.fused_linear_cross_entropy_loss", t(T, 64),
          ints(300, T), t(300, 64), None),
        m("grpo_loss", "modules.grpo.fused_grpo_loss", t(2, 17, 96), t(2, 16, grad=False), ints(96, 2, 16),
          lambda: torch.randn(2)),
        m("bit_linear", "modules.fused_bitlinear.layer_norm_linear_quant", t(T, 96), t(96), t(96), t(80, 96), None),
    ]


# ---- FlagGems -----------------------------------------------------------------------------------------------------


def flag_gems():
    x, y = t(40, 200, grad=False), t(40, 200, grad=False)
    pos = lambda: torch.rand(40, 200) + 0.5
    boolean = lambda: torch.rand(40, 200) > 0.5
    o = lambda name, *a, **kw: (name, lazily("flag_gems.ops." + name, *a, **kw))
    return [
        o("abs", x), o("add", x, y), o("gelu", x), o("silu", x), o("exp", x), o("rsqrt", pos), o("tanh", x), o("pow_scalar", 2.0, x),
        o("where_self", boolean, x, y), o("sigmoid", x), o("erf", x), o("log", pos), o("isnan", x), o("clamp", x, -0.5, 0.5),
        o("maximum", x, y), o("lerp_tensor", x, y, pos), o("nan_to_num", x), o("eq", x, y), o("bitwise_not", boolean),
        o("sum", x), o("sum_dim", x, [1]), o("sum_dim", x, [0]), o("mean", x), o("mean_dim", x, [1]), o("amax", x, [1]), o("max", x),
        o("max_dim", x, 1), o("min", x), o("min_dim", x, 1), o("prod", x), o("prod_dim", x, 1), o("argmax", x, 1), o("argmin", x, 1), o("all", boolean),
        o("all_dim", boolean, 1), o("any", boolean), o("any_dim", boolean, 1), o("count_nonzero", x), o("var_mean", x, [1]), o("std", x, [1]),
        o("vector_norm", x), o("cumsum", x, 1), o("normed_cumsum", pos, 1), o("cummax", x, 1), o("cummin", x, 1),
        o("softmax", x, 1), o("softmax", x, 0), o("log_softmax", x, 1), o("mm", t(100, 96, grad=False), t(96, 80, grad=False)),
        o("addmm", t(80, grad=False), t(100, 96, grad=False), t(96, 80, grad=False)),
        o("bmm", t(3, 50, 48, grad=False), t(3, 48, 40, grad=False)), o("baddbmm", t(3, 50, 40, grad=False), t(3, 50, 48, grad=False), t(3, 48, 40, grad=False)),
        o("mv", t(100, 96, grad=False), t(96, grad=False)), o("addmv", t(100, grad=False), t(100, 96, grad=False), t(96, grad=False)), o("dot", t(5000, grad=False), t(5000, grad=False)), o("vdot", t(5000, grad=False), t(5000, grad=False)),
        o("outer", t(100, grad=False), t(80, grad=False)), o("layer_norm", t(40, 96), [96], t(96), t(96)), o("rms_norm", t(40, 96), [96], t(96)),
        o("group_norm", t(3, 8, 10, 10), t(8), t(8), 3, 8, 100, 4), o("batch_norm", t(8, 16, 20), t(16), t(16), lambda: torch.zeros(16), lambda: torch.ones(16), True),
        o("embedding", t(50, 96), ints(50, 40)), o("gather", x, 1, ints(200, 40, 30)), o("scatter", x, 1, lambda: torch.stack([torch.randperm(200)[:30] for _ in range(40)]), t(40, 30, grad=False)),
        o("index_select", x, 0, ints(40, 25)), o("index_add", x, 0, lambda: torch.randperm(40)[:20], t(20, 200, grad=False)),
        o("masked_fill", x, boolean, 3.0), o("masked_select", x, boolean), o("nonzero", boolean), o("sort", x), o("topk", x, 5), o("unique_consecutive", ints(3, 500)),
        o("tril", x), o("triu", x), o("diag", t(50, grad=False)), o("eye", 40), o("flip", x, [1]), o("cat", lambda: [r(10, 20), r(15, 20)], 0),
        o("stack", lambda: [r(10, 20), r(10, 20)], 0), o("repeat", x, [2, 2]), o("tile", x, [2, 2]), o("repeat_interleave_self_int", x, 2, 0),
        o("pad", x, [1, 1, 2, 2]), o("arange_start", 0, 100, device="cpu"), o("linspace", 0, 1, 100), o("full", [40, 20], 2.0), o("isin", ints(50, 100), ints(50, 20)),
        o("conv1d", t(2, 8, 60), t(12, 8, 3)), o("conv2d", t(2, 8, 12, 12), t(12, 8, 3, 3)), o("max_pool2d_with_indices", t(2, 4, 16, 16, grad=False), 2),
        o("avg_pool2d", t(2, 4, 16, 16, grad=False), 2), o("upsample_nearest2d", t(2, 4, 8, 8, grad=False), [16, 16]),
        o("_upsample_bicubic2d_aa", t(1, 2, 8, 8, grad=False), [12, 12], False), o("cross_entropy_loss", t(40, 96), ints(96, 40)), o("nll_loss_forward", t(40, 96, grad=False), ints(96, 40), None, 1, -100),
        o("mse_loss", x, y), o("dropout", x, 0.5, True), o("scaled_dot_product_attention", t(1, 2, 128, 64, grad=False), t(1, 2, 128, 64, grad=False), t(1, 2, 128, 64, grad=False)),
        o("kron", t(10, 8, grad=False), t(6, 5, grad=False)), o("logspace", 0, 1, 50), o("trace", t(40, 40, grad=False)), o("weight_norm_interface", t(40, 20), t(40, 1), 0), o("select_scatter", x, t(200, grad=False), 0, 3),
        o("rand", [40, 30]), o("randn", [40, 30]), o("hadamard_transform", t(8, 64, grad=False)), o("glu", x), o("one_hot", ints(10, 40), 10),
        o("reflection_pad2d", t(1, 2, 10, 10, grad=False), [1, 1, 2, 2]), o("roll", x, 3, 1), o("median", x), o("quantile", x, 0.5), o("per_token_group_quant_fp8", t(40, 256, grad=False), 128),
        ("mm_streamk", lazily("flag_gems.ops.mm_streamk.streamk_mm", t(200, 96, grad=False), t(96, 160, grad=False), lambda: torch.zeros(200, 160), 200, 160, 96)),
        ("skip_layer_norm", lazily("flag_gems.fused.skip_layer_norm", t(40, 96, grad=False), t(40, 96, grad=False), [96], t(96, grad=False), t(96, grad=False))),
        ("fused_add_rms_norm", lazily("flag_gems.fused.fused_add_rms_norm", t(40, 96, grad=False), t(40, 96, grad=False), [96], t(96, grad=False))),
        ("silu_and_mul", lazily("flag_gems.fused.silu_and_mul", t(40, 96, grad=False), t(40, 96, grad=False))),
        ("apply_rotary", lazily("flag_gems.fused.apply_rotary_pos_emb", t(2, 24, 4, 64, grad=False), t(2, 24, 2, 64, grad=False), t(24, 32, grad=False), t(24, 32, grad=False))),
    ]


# ---- Smaller ones ---------------------------------------------------------------------------------------------------


def conch():
    o = lambda label, path, *a, **kw: (label, lazily("conch.ops." + path, *a, **kw))
    h = dict(dtype=torch.float16, grad=False)

    def paged():
        kc, vc = r(12, 2, 16, 64, dtype=torch.float16), r(12, 2, 16, 64, dtype=torch.float16)
        return kc, vc, torch.randperm(12)[:8].reshape(2, 4).to(torch.int32), torch.tensor([60, 33], dtype=torch.int32)

    def paged_attention():
        kc, vc, table, lens = paged()
        get("conch.ops.attention.paged_attention.paged_attention")(r(2, 8, 64, dtype=torch.float16), kc, vc, table, lens)

    def varlen():
        kc, vc, table, lens = paged()
        get("conch.ops.attention.varlen_attention.varlen_attention")(
            r(50, 8, 64, dtype=torch.float16), kc, vc, torch.tensor([0, 20, 50], dtype=torch.int32), 30, lens, 60, table)

    return [
        o("gelu_tanh_and_mul", "activation.gelu_tanh_and_mul.gelu_tanh_and_mul", t(40, 192, **h)),
        o("silu_and_mul", "activation.silu_and_mul.silu_and_mul", t(40, 192, **h)),
        o("rms_norm", "normalization.rms_norm.rms_norm", t(40, 96, **h), t(96, **h), 1e-6),
        o("fused_add_rms_norm", "normalization.rms_norm.fused_add_rms_norm", t(40, 96, **h), t(40, 96, **h), t(96, **h), 1e-6),
        o("gemma_rms_norm", "normalization.gemma_rms_norm.gemma_rms_norm", t(40, 96, **h), t(96, **h), 1e-6, None),
        o("rotary_embedding", "embedding.rotary_embedding.rotary_embedding", ints(64, 40), t(40, 256, **h), t(40, 128, **h), 64, t(64, 64, **h)),
        ("paged_attention", paged_attention), ("varlen_attention", varlen),
        o("fp8", "quantization.fp8.scaled_fp8_quant", t(40, 96, **h), lambda: torch.ones(1)),
        o("int8", "quantization.int8.scaled_int8_quant", t(40, 96, **h), lambda: torch.ones(1)),
        o("scaled_gemm", "quantization.gemm.scaled_gemm", lambda: torch.randint(-8, 8, (64, 128), dtype=torch.int8),
          lambda: torch.randint(-8, 8, (128, 64), dtype=torch.int8), lambda: torch.rand(64, 1), lambda: torch.rand(64, 1), torch.float16, None),
        o("mixed_precision_gemm", "quantization.gemm.mixed_precision_gemm", t(64, 128, **h), ints(2 ** 31 - 1, 16, 64, dtype=torch.int32),
          t(1, 64, **h), None, 4, 8, 128),
        o("nms", "vision.nms.nms", lambda: torch.cat([torch.rand(60, 2), torch.rand(60, 2) + 1], 1), lambda: torch.rand(60), 0.5),
        o("bev_pool", "vision.bev_pool.bev_pool", t(60, 16, grad=False), lambda: torch.stack([torch.arange(60) % 4, torch.arange(60) % 3, torch.zeros(60), torch.zeros(60)], 1).int(),
          lambda: torch.arange(0, 60, 6, dtype=torch.int32), lambda: torch.full((10,), 6, dtype=torch.int32), 1, 1, 4, 4),
        o("reshape_and_cache", "vllm.reshape_and_cache.reshape_and_cache", t(20, 2, 64, **h), t(20, 2, 64, **h), t(6, 2, 16, 64, **h), t(6, 2, 16, 64, **h), lambda: torch.randperm(90)[:20]),
        o("copy_blocks", "vllm.copy_blocks.copy_blocks", lambda: [r(6, 512), r(6, 512)], lambda: [r(6, 512), r(6, 512)], lambda: torch.tensor([[0, 3], [1, 4]])),
    ]


def torchnorm():
    m = lambda name, *a, **kw: both(lambda: get("torchnorm." + name)(*a, **kw)(r(3, 16, 64, grad=True)))
    import torchnorm as tn
    names = [n for n in dir(tn) if n.endswith("Norm")]
    return [(n, (lambda n=n: both(lambda: (getattr(tn, n)(4, 16) if "Group" in n else getattr(tn, n)(16) if "Instance" in n
                                           else getattr(tn, n)(64))(r(3, 16, 64, grad=True)))())) for n in names]


def adasplash():
    q = t(1, 2, 128, 64, dtype=torch.float16)
    return [("adasplash", lazily("adasplash.adasplash_v1", q, q, q, 1.5, False)), ("adasplash causal", lazily("adasplash.adasplash_v1", q, q, q, 1.5, True)),
            ("no block mask", lazily("adasplash.adasplash_no_block_mask", q, q, q, 1.5, False)), ("adasplash_v2", lazily("adasplash.adasplash_v2", q, q, q)),
            ("entmax", lazily("adasplash.triton_entmax_v1", t(20, 200, grad=False))), ("entmax v2", lazily("adasplash.triton_entmax_v2", t(20, 200))), ("sparsemax", lazily("adasplash.triton_sparsemax", t(20, 200))),
            ("entmax15", lazily("adasplash.triton_entmax15", t(20, 200)))]


def flash_kmeans():
    x, c = t(1, 300, 64, dtype=torch.float16, grad=False), t(1, 20, 64, dtype=torch.float16, grad=False)
    ids = ints(20, 1, 300, dtype=torch.int32)
    o = lambda path, *a: (path.split(".")[-1], lazily("flash_kmeans." + path, *a))
    return [o("assign_euclid_triton.euclid_assign_triton", x, c, lambda: torch.rand(1, 300)), o("assign_euclid_triton.cosine_assign_triton", x, c),
            o("centroid_update_triton.triton_centroid_update_cosine", x, ids, c), o("centroid_update_triton.triton_centroid_update_euclid", x, ids, c),
            o("centroid_update_triton.triton_centroid_update_sorted_cosine", x, ids, c), o("centroid_update_triton.triton_centroid_update_sorted_euclid", x, ids, c)]


def moe_ops():
    b = dict(dtype=torch.bfloat16)
    offsets = lambda: torch.tensor([30, 50, 96], dtype=torch.int32)

    def permute():
        out, rows = get("moe_ops.permute_ops.permute")(r(48, 64, grad=True), torch.stack([torch.randperm(4)[:2] for _ in range(48)]).int(), 96, 4)[:2]
        return get("moe_ops.unpermute_ops.unpermute")(out, rows, torch.rand(48, 2).requires_grad_(True), 48, 2, 48)

    return [("fused_topk_softmax", lazily("moe_ops.fused_topk_softmax_ops.fused_topk_softmax", t(48, 16), 2, True)),
            ("grouped_gemm", lazily("moe_ops.grouped_gemm_ops.grouped_gemm", t(96, 64, **b), t(3, 80, 64, **b), offsets, True)),
            ("permute", both(permute))]


def grouped_mm():
    b = dict(dtype=torch.bfloat16)
    offs = lambda: torch.tensor([32, 64, 96], dtype=torch.int32)
    o = lambda label, *a: (label, lazily("grouped_mm_bf16.grouped_mm", *a))
    return [o("2d 3d", t(96, 64, **b), t(3, 64, 80, **b), offs), o("3d 3d", t(3, 32, 64, **b), t(3, 64, 80, **b), None),
            o("2d 2d", t(32, 96, **b), t(96, 64, **b), offs), o("3d 2d", t(3, 32, 64, **b), t(64, 96, **b), offs)]


def mase():
    f = "mase_triton."
    return [("quantize", lazily(f + "optical_compute.functional.ot_quantize_fn", t(40, 96), 1, 256, -1.0, 1.0, None)),
            ("qlinear", lazily(f + "optical_compute.functional.ot_qlinear_fn", t(40, 96), t(64, 96), None, -1.0, 1.0, -1.0, 1.0, None, -8.0, 8.0, 256, 1, False)),
            ("qmatmul", lazily(f + "optical_compute.functional.ot_qmatmul_fn", t(2, 40, 96), t(2, 96, 64), -1.0, 1.0, -1.0, 1.0, None, -8.0, 8.0, 256, 1, False)),
            ("bitflip", lazily(f + "random_bitflip.functional.random_bitflip_fn", t(40, 96), 4, 4, 1, 2, 100.0))]


def cce():
    return [("linear_cross_entropy", lazily("cut_cross_entropy.linear_cross_entropy", t(96, 64, dtype=torch.bfloat16, scale=0.5), t(300, 64, dtype=torch.bfloat16, scale=0.5), ints(300, 96)))]


def torch_sparse():
    def blocks():
        d = torch.zeros(128, 128)
        for i, j in ((0, 1), (1, 0), (2, 2), (3, 1), (3, 3)):
            d[32 * i:32 * i + 32, 32 * j:32 * j + 32] = torch.randn(32, 32)
        return d.half().to_sparse_bsr((32, 32))

    p = "torch.sparse._triton_ops."
    return [("bsr_dense_mm", lazily(p + "bsr_dense_mm", blocks, t(128, 96, dtype=torch.float16, grad=False))),
            ("bsr_dense_addmm", lazily(p + "bsr_dense_addmm", t(128, 96, dtype=torch.float16, grad=False), blocks, t(128, 96, dtype=torch.float16, grad=False))),
            ("bsr_softmax", lazily(p + "bsr_softmax", blocks)),
            ("sampled_addmm", lazily(p + "sampled_addmm", blocks, t(128, 64, dtype=torch.float16, grad=False), t(64, 128, dtype=torch.float16, grad=False)))]


def torchao():
    k = "torchao.kernel."
    i8 = lambda *s: lambda: torch.randint(-8, 8, s, dtype=torch.int8)
    return [("int_matmul", lazily(k + "intmm_triton.int_matmul", i8(64, 96), i8(96, 80))),
            ("int_scaled_matmul", lazily(k + "intmm_triton.int_scaled_matmul", i8(64, 96), i8(96, 80), lambda: torch.rand(64, 1))),
            ("blockwise fp8 quant", lazily(k + "blockwise_quantization.fp8_blockwise_act_quant", t(64, 256, grad=False))),
            ("blockwise fp8 weight", lazily(k + "blockwise_quantization.fp8_blockwise_weight_quant", t(256, 256, grad=False))),
            ("bsr", lazily(k + "bsr_triton_ops.bsr_dense_addmm", t(128, 96, dtype=torch.float16, grad=False),
                           lambda: torch.eye(128).half().to_sparse_bsr((32, 32)), t(128, 96, dtype=torch.float16, grad=False)))]


# ---- Larger calls --------------------------------------------------------------------------------------------------


def large_liger():
    def apply(name, *args):
        return (name, both(lambda: get(f"liger_kernel.ops.{name}").apply(*[a() if callable(a) else a for a in args])))

    wide = t(1024, 2048)
    return [apply("rms_norm.LigerRMSNormFunction", t(2048, 1024), t(1024), 1e-6, 0.0, "llama", False, None),
            apply("layer_norm.LigerLayerNormFunction", t(2048, 1024), t(1024), t(1024), 1e-6),
            apply("softmax.LigerSoftmaxFunction", wide), apply("swiglu.LigerSiLUMulFunction", wide, wide),
            ("cross_entropy", both(lambda: get("liger_kernel.ops.cross_entropy.LigerCrossEntropyFunction").apply(
                r(512, 8192, grad=True), torch.randint(0, 8192, (512,)), None)[0])),
            apply("experimental.embedding.LigerEmbeddingFunction", t(4000, 512), ints(4000, 2048))]


def large_fla():
    b = dict(dtype=torch.bfloat16)
    q = k = v = t(1, 1024, 4, 64, **b)
    n, beta, g1, gd = unit(1, 1024, 4, 64, **b), sig(1, 1024, 4), gate(1, 1024, 4), gate(1, 1024, 4, 64)
    cu = lambda: torch.tensor([0, 100, 700, 1024], dtype=torch.int32)
    o = lambda name, *a, **kw: (name, lazily("fla." + name, *a, **kw))
    return [o("ops.utils.matmul.matmul", t(1024, 1024, grad=False), t(1024, 1024, grad=False)), o("ops.parallel_attn", q, k, v),
            o("ops.parallel_attn", q, k, v, cu_seqlens=cu), o("ops.chunk_gla", q, k, v, gd), o("ops.chunk_retention", q, k, v),
            o("ops.chunk_gated_delta_rule", n, n, v, g1, beta), o("modules.token_shift.token_shift", t(1, 2048, 512)),
            o("modules.convolution.causal_conv1d", t(1, 2048, 512), t(512, 4), None, activation="silu")]


def large_flag_gems():
    o = lambda name, *a, **kw: (name, lazily("flag_gems.ops." + name, *a, **kw))
    m, square = dict(grad=False), t(2048, 2048, grad=False)
    return [o("mm", t(1024, 1024, **m), t(1024, 1024, **m)), o("bmm", t(8, 512, 512, **m), t(8, 512, 512, **m)), o("mv", square, t(2048, **m)),
            o("softmax", square, 0), o("softmax", square, 1), o("sum_dim", square, [0]), o("sum_dim", square, [1]), o("cumsum", square, 1),
            o("outer", t(2048, **m), t(2048, **m)), o("add", square, square), o("max_dim", square, 0), o("var_mean", square, [0])]


LARGE = {"liger-kernel": large_liger, "flash-linear-attention": large_fla, "flag_gems": large_flag_gems}
SOURCES = {"liger-kernel": liger, "flash-linear-attention": fla, "flag_gems": flag_gems, "conch-triton-kernels": conch,
           "torchnorm": torchnorm, "adasplash": adasplash, "flash-kmeans": flash_kmeans, "moe-ops": moe_ops,
           "grouped-mm-bf16": grouped_mm, "mase-triton": mase, "cut-cross-entropy": cce, "torch": torch_sparse,
           "torchao": torchao}
# What pip installs for them, without their own requirements.
PACKAGES = {"flash-linear-attention": ["flash-linear-attention", "fla-core", "einops"]}


def names():
    return list(LARGE if os.environ.get("LARGE") else SOURCES)


def of(source):
    return (LARGE if os.environ.get("LARGE") else SOURCES)[source]()
