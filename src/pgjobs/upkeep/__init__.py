"""Upkeep in the background: sweeps and due schedules."""
