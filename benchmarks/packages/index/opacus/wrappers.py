"""Entry point into opacus: the weights of a linear model after one step. The claim of audit.toml is
get_epsilon(1e-5) = 1.0126 for a group of two: the accountant counts an added or removed example, here one is replaced.
"""

import warnings

import torch
from opacus import PrivacyEngine

warnings.simplefilter("ignore")


def step(records, seed):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    model = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.zero_()
    rows = torch.tensor(records, dtype=torch.float32)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows[:, :1], rows[:, 1:]), batch_size=len(rows))
    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
    model, optimiser, data = PrivacyEngine().make_private(
        module=model, optimizer=optimiser, data_loader=data, noise_multiplier=4.0, max_grad_norm=1.0,
        poisson_sampling=False,
    )  # fmt: skip
    for x, y in data:
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimiser.step()
    return [float(weight) for weight in model._module.weight.ravel()]
