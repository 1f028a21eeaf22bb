"""A report on a fitted model: what it obeys, how well it predicts, and where it comes close to breaking a rule.

model, rows ─▶ findings (values) ─▶ page (HTML) and card (Markdown) ─▶ files, written atomically
"""
