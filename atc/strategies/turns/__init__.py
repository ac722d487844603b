"""What strategies that act turn by turn share: a call asked for, made and told, and the conversation about it."""
