"""HTML pages that atc shows in a browser: escaped markup, formatted figures and the document."""
