"""What is asked and what is answered."""
