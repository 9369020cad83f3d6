"""Fakes of the ports and contract suites, shipped so that others can test against them."""
