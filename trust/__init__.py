"""What makes the checkers worth trusting: forgers, planted faults, fuzzing, the frozen corpus's writers."""
