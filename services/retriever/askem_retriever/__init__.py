"""The retriever: passages of scientific papers over HTTP."""
