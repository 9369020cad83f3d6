"""Pages of a handbook in markdown to passages, one a section or part of one.

Needs the extra `markdown` (markdown-it-py, PyYAML).
"""

from askem.text.markdown.page import sections_of

__all__ = ["sections_of"]
