"""Text in, passages out: decoding, sentences, terms, and preprocessing of papers."""
