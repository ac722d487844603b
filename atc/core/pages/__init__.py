"""Pages that atc shows in a browser: markup that is escaped by construction, figures, and the document around both."""
