"""The tests' tensors are small: one thread is faster than two that wait for each other."""

import torch

torch.set_num_threads(1)
