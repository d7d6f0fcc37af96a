"""Tables in and models out."""
