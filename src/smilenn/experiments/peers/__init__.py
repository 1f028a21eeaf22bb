"""What certified models are compared with on tables: learners under the same rule, and the same learners without it."""
