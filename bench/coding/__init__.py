"""Does the decision that a coding task hinges on stand before the model? `python -m bench.coding`."""
