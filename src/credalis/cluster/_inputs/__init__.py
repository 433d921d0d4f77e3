"""What methods make of X and of what is known about it."""
