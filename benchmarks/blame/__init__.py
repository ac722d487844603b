"""How often attribution blames the right call and path, where the truth is known because the fault was put there."""
