"""Parts of one run of a task: its record, its attempts and its conversation with the model."""
