"""The reference checker: docs/certificate.md in rationals, written independently of check.py."""
