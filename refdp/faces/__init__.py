"""The faces: registry, scikit-learn, the shell, the demonstration."""
