"""A model behind an address: predictions over HTTP, and a page to play with."""
