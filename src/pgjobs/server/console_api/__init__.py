"""What the console asks."""
