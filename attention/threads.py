"""One thread for torch, unless the environment asks for more.

The matrices here are small, and a page's server shares few cores with a browser and with other readers: measured on
two busy cores, a run of 512 tokens takes 0.13 s on one thread, and anything from 0.1 to 5 s on two that wait for each
other.
"""

import os

import torch

if "OMP_NUM_THREADS" not in os.environ:
    torch.set_num_threads(1)
