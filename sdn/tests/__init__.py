"""Tests of tidemark-sdn."""
