"""Answers of a running server, asked for and measured."""
