"""refdp's own trainer: no paper prints it, so its module's docstring is its paper."""
