"""Assertions of the shipped contract explain themselves as those of tests do."""

import pytest

pytest.register_assert_rewrite("askem.testing.contract")
