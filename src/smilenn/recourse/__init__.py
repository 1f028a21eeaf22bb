"""What a person can change to get another decision, and how much of that is proved."""
