"""Hosts of records in other processes and on other machines."""
