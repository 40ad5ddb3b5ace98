"""Random problems of every kind: a fit ends with a proven result or with a typed error, and never otherwise."""
