"""What is learnt: facts from what people say, which of them still hold, and experiences."""
