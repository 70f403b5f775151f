"""optimizer.py - how the weights move: Muon for matrices, AdamW for the rest; and their average.

Muon (K. Jordan and others, 2024): the momentum of a matrix, made nearly orthogonal.
Used by train_stories.py and train_chat.py.
"""
import torch


def orthogonal(m):
    """The nearest semi-orthogonal matrix, roughly: five steps of a Newton-Schulz iteration."""
    x = m / (m.norm() + 1e-12)
    tall = x.shape[0] > x.shape[1]
    x = x.t() if tall else x
    for _ in range(5):
        s = x @ x.t()
        x = 3.4445 * x + (-4.7750 * s + 2.0315 * s @ s) @ x
    return x.t() if tall else x


class Optimizer:
    def __init__(self, model, adam_rate, muon_rate, weight_decay=0.05):
        named = dict(model.named_parameters())
        inner = [n for n, p in named.items() if p.dim() == 2 and n != 'token_embd']
        self.parameters = list(named.values())
        self.matrices = [named[n] for n in inner]
        self.momentum = [torch.zeros_like(p) for p in self.matrices]
        self.adam = torch.optim.AdamW([p for n, p in named.items() if n not in inner],
                                      betas=(0.9, 0.98), eps=1e-9, weight_decay=0.0)
        self.adam_rate, self.muon_rate, self.weight_decay = adam_rate, muon_rate, weight_decay

    @torch.no_grad()
    def step(self, factor):
        """One step with the rates times the factor; the gradients are used up."""
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for group in self.adam.param_groups:
            group['lr'] = self.adam_rate * factor
        self.adam.step()
        rate = self.muon_rate * factor
        for p, m in zip(self.matrices, self.momentum):
            m.mul_(0.95).add_(p.grad, alpha=0.05)
            shape = max(1.0, p.shape[0] / p.shape[1]) ** 0.5
            p.mul_(1 - rate * self.weight_decay)
            p.add_(orthogonal(p.grad * 0.05 + m * 0.95), alpha=-rate * shape)
        for p in self.parameters:
            p.grad = None

    def state(self):
        return {'momentum': self.momentum, 'adam': self.adam.state_dict()}

    def restore(self, state):
        for mine, saved in zip(self.momentum, state['momentum']):
            mine.copy_(saved)
        self.adam.load_state_dict(state['adam'])


class Average:
    """A running average of the weights, which is better than the weights: it is what is saved."""

    def __init__(self, model, keep):
        self.model, self.keep, self.steps = model, keep, 0
        self.weights = {n: w.clone() for n, w in model.state_dict().items()}

    @torch.no_grad()
    def update(self):
        self.steps += 1
        keep = min(self.keep, self.steps / (self.steps + 9))    # short at first
        for n, w in self.model.state_dict().items():
            self.weights[n].lerp_(w, 1 - keep)

    def __enter__(self):
        """Within `with`, the model has the averaged weights."""
        self.own = {n: w.clone() for n, w in self.model.state_dict().items()}
        self.model.load_state_dict(self.weights)

    def __exit__(self, *_):
        self.model.load_state_dict(self.own)
