"""Live events: the feed of the database, and Socket.IO."""
