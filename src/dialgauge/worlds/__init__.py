"""Where dialogues can happen: venues, databases, goals and phrases. No agents."""
