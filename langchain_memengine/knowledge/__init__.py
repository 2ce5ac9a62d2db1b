"""What is learnt: facts from what people say, and which of them still hold."""
