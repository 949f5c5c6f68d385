"""A coordinator: the verbs of a queue, each of which asks the nodes of a cluster."""
