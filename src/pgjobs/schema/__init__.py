"""Installing and upgrading the schema: what belongs to a release, and how a database gets there."""
