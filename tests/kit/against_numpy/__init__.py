"""against_numpy -- Arras compared with NumPy, operation by operation; driven by
../differential.py."""
