"""What only the reproduction of the paper needs: its models, steps, published figures and report."""
