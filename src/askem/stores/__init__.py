"""Where passages and vectors are kept: adapters behind the ports."""
