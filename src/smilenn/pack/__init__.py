"""A validation pack: what a model risk team asks for about one model, in one folder whose numbers can be followed."""
