"""Every way to show a row, one file each; `table.py` lists them in the order in which they are asked."""
