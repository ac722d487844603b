"""HTML pages that atc shows in a browser: escaped markup, formatted numbers and the document."""
