"""HTTP, shared by the services: wire models, client, keys, limits, problems, composition."""
