def write(o,d): return d
