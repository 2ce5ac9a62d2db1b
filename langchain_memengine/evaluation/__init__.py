"""How well a memory finds: data sets, metrics, plain baselines, and a paired test against them."""
