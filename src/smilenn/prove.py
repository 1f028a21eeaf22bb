"""A name that is gone: `smilenn.prove` is a function, and what its modules held has moved."""

raise ImportError(
    "smilenn.prove is a function now, not a package: from smilenn import prove. Provers are in smilenn.provers, "
    "verdicts in smilenn.verdict, problems in smilenn.problem."
)
