"""Entry points into dwork: a count with its noise. The generator is the system's and takes no seed."""

from dwork.mechanisms import geometric_noise, laplace_noise


def geometric(records, seed):
    return len(records) + geometric_noise(1.0)


def laplace(records, seed):
    return len(records) + laplace_noise(1.0)
