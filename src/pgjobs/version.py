"""Which release this is, or will be."""

VERSION = "0.2.0"
