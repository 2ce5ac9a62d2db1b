"""Build the parts from one config and join them: the only package that knows everyone."""
