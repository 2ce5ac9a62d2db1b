"""What LangChain and LangGraph see. Faces translate and decide nothing."""
