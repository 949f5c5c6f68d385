"""What not everybody needs: the rooms SDK, the generic manager, cleanup, metrics, testing."""
