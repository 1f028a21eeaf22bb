"""Every way to show a row without a search, one file each."""
