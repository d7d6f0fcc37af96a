"""Audits: replay a training run on neighbours and compute its exact privacy loss."""
